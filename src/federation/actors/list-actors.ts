import { localAdministrator } from '../../access/index.ts';
import { followerSchema } from '../follows/follower-schema.ts';
import type { FollowerRow } from '../follows/follower-schema.ts';
import type { FederationRoom } from '../room.ts';
import { keySchema } from './key-schema.ts';
import type { KeyRow } from './key-schema.ts';

/** A local actor and its key, without the private half. */
export interface ListedKey extends Pick<KeyRow, 'kind' | 'ownerId' | 'createdAt' | 'publicKeyPem'> {
  actorId: string;
  keyId: string;
}

/** Every actor that has a key, for the administrator. */
export async function listKeys({ db, localActors }: FederationRoom): Promise<ListedKey[]> {
  const rows = await db.read.find(keySchema, { order: { createdAt: 'ASC', apPath: 'ASC' } });
  return rows.map(({ apPath, kind, ownerId, createdAt, publicKeyPem }) => {
    const actorId = localActors.idOf(apPath);
    return { actorId, keyId: `${actorId}#main-key`, kind, ownerId, createdAt, publicKeyPem };
  });
}

/** Who follows a repository from elsewhere, for the administrator. Refuses `repository_not_found`. */
export async function followersOf({ db, repositories }: FederationRoom, owner: string, name: string): Promise<FollowerRow[]> {
  const { repository } = await repositories.find(localAdministrator, owner, name);
  return db.read.find(followerSchema, { where: { repositoryId: repository.id }, order: { createdAt: 'ASC', actorId: 'ASC' } });
}
