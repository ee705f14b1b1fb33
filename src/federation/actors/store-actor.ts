import type { Tx } from '../../db/index.ts';
import { handleOf, remoteActorSchema } from '../schema/remote-actor-schema.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';

/**
 * Inside a write: stores a fetched actor, and updates name and pages of the follows of it. A repository can be renamed
 * or transferred without notice to its followers, and another one may get its former name.
 * @returns the actor with its WebFinger handle, as long as its document has not changed since
 */
export async function storeActor({ manager }: Tx, fetched: RemoteActor): Promise<RemoteActor> {
  const known = await manager.findOneBy(remoteActorSchema, { id: fetched.id });
  const isSameName = known !== null && known.handle === fetched.handle;
  const actor = {
    ...fetched,
    webfingerHandle: fetched.webfingerHandle ?? (isSameName ? known.webfingerHandle : null),
  };
  await manager.upsert(remoteActorSchema, actor, ['id']);
  const [handle, url] = [handleOf(actor), actor.url];
  await manager.query(
    `UPDATE remote_follows SET handle = ?, url = ?, remote_inbox = ?
      WHERE remote_actor_id = ? AND (handle <> ? OR coalesce(url, '') <> ? OR remote_inbox <> ?)`,
    [handle, url, actor.inbox, actor.id, handle, url ?? '', actor.inbox],
  );
  await manager.query('UPDATE remote_follows SET gone_at = NULL WHERE remote_actor_id = ? AND gone_at IS NOT NULL', [
    actor.id,
  ]);
  await manager.query(
    `UPDATE remote_user_follows SET handle = ?, url = ?
      WHERE remote_actor_id = ? AND (handle <> ? OR coalesce(url, '') <> ?)`,
    [handle, url, actor.id, handle, url ?? ''],
  );
  return actor;
}
