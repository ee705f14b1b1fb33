import type { RestoreListener } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { pullSchema, unknownState } from '../schema/pull-schema.ts';
import { publishHeadOf } from './publish-head.ts';
import { catchUpWithHead } from './current-head.ts';

/** Updates the last round of a pull request to its head branch, and the fetchable ref to the last round. */
export async function catchUp(deps: PullDeps, issueId: string): Promise<void> {
  await catchUpWithHead(deps, issueId);
  await publishHeadOf(deps, issueId);
}

/** Rows read at a time. */
const batch = 500;

/**
 * At start: catches up with open pull requests without a merge state for their last round, because a crash may have
 * happened after the row of that round and before its ref. Also computes the merge states of the first ones; others are
 * computed when a page needs them, because an import may have brought a hundred thousand.
 */
export async function recoverPulls(deps: PullDeps): Promise<void> {
  let isMore = true;
  for (let after = '', computed = 0; isMore; computed += batch) {
    const rows: { issueId: string }[] = await deps.db.read.query(
      `SELECT p.issue_id AS "issueId" FROM pulls p
       WHERE p.is_open = 1 AND p.merge_state = 'UNKNOWN' AND p.merge_state_reason IS NULL AND p.issue_id > ?
       ORDER BY p.issue_id LIMIT ${batch}`,
      [after],
    );
    const ids = rows.map(({ issueId }) => issueId);
    if (!(await catchUpAll(deps, ids))) return;
    deps.mergeStates.add(ids.slice(0, Math.max(0, limits.mergeStates - computed)));
    isMore = ids.length === batch;
    after = ids.at(-1) ?? after;
  }
}

/** Returns false if the server stops. */
async function catchUpAll(deps: PullDeps, issueIds: readonly string[]): Promise<boolean> {
  for (const issueId of issueIds) {
    if (deps.mergeStates.isStopped) return false;
    await catchUp(deps, issueId).catch((error: unknown) => deps.logger.warn('pull.not_caught_up', { issueId, error }));
  }
  return true;
}

/**
 * Listener for repositories restored from the trash: pushes to the repository or its forks during that time, or just
 * before, are missing in the rounds of its pull requests and of those whose head it contains. Also discards their merge
 * states, so that a start after a crash finds them.
 */
export function onRestore(deps: PullDeps): RestoreListener {
  const columns = ['repositoryId', 'headRepositoryId'] as const;
  return {
    async record({ manager }, repositoryId) {
      for (const column of columns)
        await manager.update(pullSchema, { [column]: repositoryId, isOpen: true }, unknownState);
    },
    async restored(repositoryId) {
      const ids = new Set<string>();
      for (const column of columns) {
        const where = { [column]: repositoryId, isOpen: true };
        const rows = await deps.db.read.find(pullSchema, {
          select: { issueId: true },
          where,
          take: limits.mergeStates,
        });
        for (const { issueId } of rows) ids.add(issueId);
      }
      await catchUpAll(deps, [...ids]);
      deps.mergeStates.add([...ids]);
      // Handles the rest beyond the limit.
      if (ids.size >= limits.mergeStates) void deps.mergeStates.track(recoverPulls(deps));
    },
  };
}
