import { AsyncLocalStorage } from 'node:async_hooks';
import type { StatusListener } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullSchema } from '../schema/pull-schema.ts';

/** Statuses of one commit come in bursts, and each inside a write that is not durable yet. */
const waitMs = 250;

/** Commits that are remembered at once; what is beyond is found by the scheduled task. */
const maxCommits = 1_000;

/**
 * For `repositories.statuses.onChange`: a check that succeeds may be the last that a pull request waits for which is to
 * be merged when it is ready.
 */
export function retryMergeOnStatus(deps: Pick<PullDeps, 'db' | 'mergeStates' | 'logger'>): StatusListener {
  const succeeded = new Map<string, Set<string>>();
  let isWaiting = false;
  // A timer runs in the context that set it, here that of a write, in which reading is refused as long as it is open.
  const outsideOfWrites = AsyncLocalStorage.snapshot();

  async function reconsider(): Promise<void> {
    // An empty write has its turn once those that brought the statuses have ended, however long they take.
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
