import type { FederationDeps } from '../deps.ts';
import { everything } from '../paging.ts';
import type { Paging } from '../paging.ts';
import { keySchema } from '../schema/key-schema.ts';
import type { KeyRow } from '../schema/key-schema.ts';

/** A local actor and its public key. */
export interface ListedKey extends Pick<KeyRow, 'kind' | 'ownerId' | 'createdAt' | 'publicKeyPem'> {
  actorId: string;
  keyId: string;
}

/** The actors that have a key, oldest first; for administrators. */
export async function listKeys(
  { db, localActors }: FederationDeps,
  { limit = everything, skip = 0 }: Paging = {},
): Promise<ListedKey[]> {
  const rows = await db.read.find(keySchema, { order: { createdAt: 'ASC', apPath: 'ASC' }, take: limit, skip });
  return rows.map(({ apPath, kind, ownerId, createdAt, publicKeyPem }) => {
    const actorId = localActors.idOf(apPath);
    return { actorId, keyId: `${actorId}#main-key`, kind, ownerId, createdAt, publicKeyPem };
  });
}
