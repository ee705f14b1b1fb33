import type { Readable } from 'node:stream';
import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull, pathOf } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { roundOf } from '../round-of.ts';
import type { RoundRow } from '../schema/round-schema.ts';

/** `diff` for `git apply`: what a round changes; `patch` for `git am`: its commits as mails. */
export type PatchFormat = 'diff' | 'patch';

/**
 * The changes of a round as git writes them, as a stream. Refuses `repository_not_found`, `pull_not_found`,
 * `round_not_found`, `too_large_to_stream` for mails of more than `limits.mailedCommits` commits, `git_busy`.
 * @param wanted.round the last one when left out
 */
export async function readPatch(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { format, round: wanted }: { format: PatchFormat; round?: number | undefined },
): Promise<{ round: RoundRow; text: Readable }> {
  const { issue, pull, repository } = await findPull(deps, viewer, at);
  const round = await roundOf(deps.db.lookup, issue.id, wanted ?? pull.lastRound);
  if (format === 'patch' && round.commitCount > limits.mailedCommits)
    throw invalid(
      'too_large_to_stream',
      `This pull request has more than ${limits.mailedCommits.toLocaleString('en')} commits. Fetch it with git instead.`,
    );
  const range = { from: round.baseOid, to: round.headOid };
  const { queries } = deps.git;
  const path = pathOf(deps, repository);
  const text = await (format === 'diff' ? queries.plainDiff(path, range) : queries.mailPatches(path, range));
  return { round, text };
}
