import type { RecordedCredential } from '../../access/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict, diskFull, isDiskFull, unavailable } from '../../kernel/index.ts';
import { repositoryNotFound } from '../find-repository.ts';
import type { Found } from '../find-repository.ts';
import { isDiskLow } from '../disk-space.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';
import { setInitialDefaultBranch } from './set-initial-default-branch.ts';
import type { PushJournal, RefResult, RefUpdate } from './push-journal.ts';
import { pushSchema } from '../schema/push-schema.ts';
import type { PushRow } from '../schema/push-schema.ts';
import type { RunningPushes } from './receive-push.ts';
import { isMoving } from './pre-receive-check.ts';
import { inferPushResults } from './infer-push-results.ts';

/** Ref moves by the server: for a page, an undo or a mirror. */
export interface ServerPush {
  via: PushRow['via'];
  /** The user on whose behalf; `null` for the server itself. */
  userId: string | null;
  /** Limits of the user's credential; without it, the push has no effects in other repositories. */
  credential?: RecordedCredential | null;
  updates: readonly RefUpdate[];
  /** Checks inside the transaction; throws to reject. */
  authorize?(tx: Tx, row: Repository): Promise<void>;
  /** Records the purpose of the push, in the same transaction. */
  record?(tx: Tx, pushId: string): Promise<void>;
  /**
   * Records the effects once the refs have moved, in the transaction that settles the push. If that fails or is
   * interrupted, the push is settled without it, and a push listener does the same later.
   */
  settled?(tx: Tx, pushId: string): Promise<void>;
}

export interface AppliedPush {
  /** Id of the push in the journal. */
  pushId: string;
  results: readonly RefResult[];
  /** Whether `settled` recorded the effects. */
  isFollowed: boolean;
}

/**
 * Moves refs like a push: journalled before git may act, settled after, and settled by comparing refs if interrupted.
 * The caller announces it. All objects must exist. Throws `repository_not_found`, `repository_moves`, `disk_low`, and
 * what `admit` throws.
 */
export async function applyUpdates(
  deps: RepositoryDeps,
  journal: PushJournal,
  running: RunningPushes,
  { repository: { id: repositoryId }, path }: Pick<Found, 'repository' | 'path'>,
  { via, userId, credential = null, updates, authorize, record, settled }: ServerPush,
): Promise<AppliedPush> {
  if (await isDiskLow(path, deps.settings.lowDiskFloorBytes)) {
    throw unavailable('disk_low', 'The server is low on disk space. Read access still works.', {
      retryAfterSeconds: 600,
    });
  }
  const pushId = deps.random.uuid();
  // Added before its row is visible: an unsettled push missing here counts as abandoned.
  running.add(pushId);
  try {
    const repository = await deps.db.write(async (tx) => {
      const row = await tx.manager.findOneBy(repositorySchema, { id: repositoryId });
      if (row === null || row.deletedAt !== null) throw repositoryNotFound();
      if (await isMoving(deps, tx, { path }, row))
        throw conflict(
          'repository_moves',
          'This repository is being transferred to its new owner. Try again in a moment.',
        );
      await authorize?.(tx, row);
      await journal.begin(tx, { id: pushId, repositoryId, userId, via, credential, options: [], updates });
      await record?.(tx, pushId);
      return row;
    });
    const follow = settled && ((tx: Tx) => settled(tx, pushId));
    const { results, isSettled } = await act(deps, journal, pushId, path, updates, follow);
    const accepted = updates.filter((_, at) => results[at]?.ok === true);
    const isFollowed = isSettled && settled !== undefined && accepted.length > 0;
    await setInitialDefaultBranch(deps, { repository, path }, accepted).catch((error: unknown) =>
      deps.logger.error('push.follow_branch_failed', { pushId, error }),
    );
    return { pushId, results, isFollowed };
  } finally {
    running.delete(pushId);
  }
}

async function act(
  deps: RepositoryDeps,
  journal: PushJournal,
  pushId: string,
  path: string,
  updates: readonly RefUpdate[],
  record: ((tx: Tx) => Promise<void>) | undefined,
): Promise<{ results: readonly RefResult[]; isSettled: boolean }> {
  try {
    const results = await deps.git.refs.move(path, updates);
    await journal.settle(pushId, updates, results, { isAnnouncing: true, record });
    return { results, isSettled: true };
  } catch (error) {
    deps.logger.warn('push.settled_by_refs', { pushId, error });
    const push = await deps.db.read.findOneByOrFail(pushSchema, { id: pushId });
    const results = (await inferPushResults(journal, [push], await deps.git.refs.list(path))).get(pushId) ?? [];
    // Not for a conflicting ref: the caller learns why nothing moved.
    if (isDiskFull(error) && !results.some(({ ok }) => ok)) throw diskFull(error);
    return { results, isSettled: false };
  }
}
