import { AsyncLocalStorage } from 'node:async_hooks';
import type { StatusListener } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullSchema } from '../schema/pull-schema.ts';

/** Statuses of a commit arrive in bursts, each inside a write that is not durable yet. */
const waitMs = 250;

/** Limit of remembered commits; the scheduled task handles the others. */
const maxCommits = 1_000;

/**
 * Listener for `repositories.statuses.onChange`: a successful check may be the last one that a scheduled merge waits
 * for.
 */
export function retryMergeOnStatus(deps: Pick<PullDeps, 'db' | 'mergeStates' | 'logger'>): StatusListener {
  const succeeded = new Map<string, Set<string>>();
  let isWaiting = false;
  // A timer inherits the context that sets it, here a write, which forbids other reads while it is open.
  const outsideOfWrites = AsyncLocalStorage.snapshot();

  async function reconsider(): Promise<void> {
    // An empty write runs only after the writes with the statuses have ended.
    await deps.db.write(async () => {});
    const commits = [...succeeded];
    succeeded.clear();
    isWaiting = false;
    for (const [repositoryId, shas] of commits) {
      const waiting = await deps.db.read
        .createQueryBuilder(pullSchema, 'p')
        .select('p.issue_id', 'issueId')
        .where('p.repository_id = :repositoryId AND p.is_open = :open', { repositoryId, open: true })
        .andWhere('p.merge_when_ready_by IS NOT NULL AND p.head_oid IN (:...shas)', { shas: [...shas] })
        .getRawMany<{ issueId: string }>();
      deps.mergeStates.add(waiting.map(({ issueId }) => issueId));
    }
  }

  return ({ repositoryId, sha, state }) => {
    if (state !== 'success') return;
    const shas = succeeded.get(repositoryId) ?? new Set();
    if (shas.size < maxCommits) shas.add(sha);
    succeeded.set(repositoryId, shas);
    if (isWaiting) return;
    isWaiting = true;
    const follow = () => {
      void reconsider().catch((error: unknown) => deps.logger.warn('pull.status_not_followed', { error }));
    };
    setTimeout(() => outsideOfWrites(follow), waitMs).unref();
  };
}
