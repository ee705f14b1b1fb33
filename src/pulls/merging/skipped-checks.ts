import type { EntityManager } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import type { CommitStatus } from '../../repositories/index.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { skippedChecksSchema } from '../schema/skipped-check-schema.ts';
import type { SkippedChecksRow } from '../schema/skipped-check-schema.ts';

/**
 * Records the checks of a head that the filters of their workflows exclude, so that a rule that requires them does not
 * wait forever. They count only for this pull request and base branch: another pull request of the same commit may run
 * them.
 */
export async function recordSkippedChecks(
  { manager, now }: Tx,
  checks: Omit<SkippedChecksRow, 'createdAt'>,
): Promise<void> {
  const { issueId } = checks;
  await manager.delete(skippedChecksSchema, { issueId });
  if (checks.contexts.length === 0) return;
  await manager.insert(skippedChecksSchema, { ...checks, createdAt: now });
}

/** The statuses of a head, with skipped checks as successes; reported statuses take precedence. */
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
