import type { EntityManager } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import type { CommitStatus } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { skippedChecksSchema } from '../schema/skipped-check-schema.ts';
import type { SkippedChecksRow } from '../schema/skipped-check-schema.ts';

/**
 * Records which checks of a head the filters of their workflows leave out, so that a rule that requires them does not
 * wait for ever. They count for this pull request and base branch alone: another one of the same commit may start them.
 */
export async function recordSkippedChecks(
  { mergeStates }: Pick<PullDeps, 'mergeStates'>,
  { manager, now }: Tx,
  checks: Omit<SkippedChecksRow, 'createdAt'>,
): Promise<void> {
  const { issueId } = checks;
  await manager.delete(skippedChecksSchema, { issueId });
  if (checks.contexts.length === 0) return;
  await manager.insert(skippedChecksSchema, { ...checks, createdAt: now });
  // It may have been the last that was missing.
  mergeStates.add([issueId]);
}

/** The statuses of a head with those of skipped checks, which succeed; one that was reported counts instead. */
export async function withSkippedChecks(
  source: EntityManager,
  { issueId, repositoryId, headOid, baseBranch }: PullRow,
  statuses: readonly CommitStatus[],
): Promise<CommitStatus[]> {
  const row = await source.findOneBy(skippedChecksSchema, { issueId, headOid, baseBranch });
  const reported = new Set(statuses.map(({ context }) => context));
  const skipped = (row?.contexts ?? [])
    .filter((context) => !reported.has(context))
    .map(
      (context): CommitStatus => ({
        repositoryId,
        sha: headOid,
        context,
        state: 'success',
        description: 'Skipped: the filters of the workflow leave this change out',
        targetUrl: null,
        creatorId: null,
        createdAt: row!.createdAt,
        updatedAt: row!.createdAt,
      }),
    );
  return [...statuses, ...skipped];
}
