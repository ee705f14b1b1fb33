import type { Tx } from '../../db/index.ts';
import { handleOf, remoteActorSchema } from '../schema/remote-actor-schema.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';

/**
 * Inside a write: keeps a fetched actor, and gives its present name and pages to the follows of it. A
 * repository is renamed or transferred without a word to its followers, and another one may get its
 * former name.
 * @returns the actor with what WebFinger has called it, as long as its document says the same as then
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
  await manager.query(
    `UPDATE remote_user_follows SET handle = ?, url = ?
      WHERE remote_actor_id = ? AND (handle <> ? OR coalesce(url, '') <> ?)`,
    [handle, url, actor.id, handle, url ?? ''],
  );
  return actor;
}
