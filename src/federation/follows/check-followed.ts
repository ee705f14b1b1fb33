import { eachLimit, isDomainError } from '../../kernel/index.ts';
import { actorTtlMs } from '../actors/remote-actors.ts';
import type { FederationDeps } from '../deps.ts';

/** Repositories of one run of the task. */
const perRun = 1_000;
const atOnce = 4;

/**
 * Asks for followed repositories that have sent nothing for hours: one that was deleted, or made private, tells no
 * follower. Its follow stays, because it may become public again, and says so. Those that were there the last time come
 * first: servers that never answer hold no others up. For the scheduled task.
 */
export async function checkFollowed({ db, clock, remoteActors }: FederationDeps): Promise<void> {
  const followed: { id: string }[] = await db.read.query(
    `SELECT a.id FROM remote_actors a
      WHERE a.fetched_at < ? AND EXISTS (SELECT 1 FROM remote_follows f WHERE f.remote_actor_id = a.id)
      ORDER BY a.fetched_at DESC LIMIT ?`,
    [clock.now() - actorTtlMs, perRun],
  );
  await eachLimit(followed, atOnce, async ({ id }) => {
    try {
      await remoteActors.actor(id, { fresh: true });
    } catch (error) {
      // A server that does not answer says nothing about the repository.
      if (!isDomainError(error)) throw error;
      if (error.reason !== 'document_missing') return;
      await db.write(({ manager, now }) =>
        manager.query('UPDATE remote_follows SET gone_at = ? WHERE remote_actor_id = ? AND gone_at IS NULL', [now, id]),
      );
    }
  });
}
