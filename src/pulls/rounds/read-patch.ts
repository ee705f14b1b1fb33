import type { Readable } from 'node:stream';
import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull, pathOf } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { getRoundRow } from '../get-round-row.ts';

/** `diff` for `git apply`: the changes of a round; `patch` for `git am`: its commits as mails. */
export type PatchFormat = 'diff' | 'patch';

/**
 * Streams the changes of a round as git writes them: all, or the difference to an older round. Throws
 * `repository_not_found`, `pull_not_found`, `round_not_found`, `invalid_rounds`, `too_large_to_stream` for mails of
 * more than `limits.mailedCommits` commits, `git_busy`.
 * @param wanted.round the last one if omitted
 * @param wanted.since an older round: compares with its head as it is; commits are those that it lacks
 */
export async function readPatch(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { format, round: wanted, since }: { format: PatchFormat; round?: number | undefined; since?: number | undefined },
): Promise<{ range: { from: string; to: string }; text: Readable }> {
  const { issue, pull, repository } = await findPull(deps, viewer, at);
  const round = await getRoundRow(deps.db.lookup, issue.id, wanted ?? pull.lastRound);
  const older = since === undefined ? null : await getRoundRow(deps.db.lookup, issue.id, since);
  if (older !== null && older.round >= round.round)
    throw invalid('invalid_rounds', 'Choose an older round to compare with.', { field: 'from' });
  const path = pathOf(deps, repository);
  const range = { from: older?.headOid ?? round.baseOid, to: round.headOid };
  const { queries } = deps.git;
  // A round on another base also has commits of that base.
  const commits = older === null ? round.commitCount : (await queries.distance(path, range.from, range.to)).ahead;
  if (format === 'patch' && commits > limits.mailedCommits)
    throw invalid(
      'too_large_to_stream',
      `This pull request has more than ${limits.mailedCommits.toLocaleString('en')} commits. Fetch it with git instead.`,
    );
  const text = await (format === 'diff' ? queries.plainDiff(path, range) : queries.mailPatches(path, range));
  return { range, text };
}
