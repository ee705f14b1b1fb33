import type { PullDeps } from '../deps.ts';
import { roundCommitSchema } from '../schema/round-schema.ts';
import type { RoundRow } from '../schema/round-schema.ts';
import { readRound } from './read-round.ts';

/** Rewrites the list of commits of a round from git, for `hearth doctor`. Throws `git_busy`. */
export async function recomputeCommits(
  deps: Pick<PullDeps, 'db' | 'git'>,
  path: string,
  { issueId, round, headOid, baseOid }: Pick<RoundRow, 'issueId' | 'round' | 'headOid' | 'baseOid'>,
): Promise<void> {
  const { commits } = await readRound(deps, path, headOid, baseOid);
  await deps.db.write(async ({ manager }) => {
    await manager.delete(roundCommitSchema, { issueId, round });
    for (let start = 0; start < commits.length; start += 50)
      await manager.insert(
        roundCommitSchema,
        commits.slice(start, start + 50).map(({ oid, subject, changeId }, at) => ({
          issueId,
          round,
          position: start + at + 1,
          oid,
          subject,
          changeId,
        })),
      );
  });
}
