import { isNotNull } from '../../db/index.ts';

import { localAdministrator } from '../../access/index.ts';
import { followerSchema } from '../schema/follower-schema.ts';
import type { FollowerRow } from '../schema/follower-schema.ts';
import type { Owner } from '../../owners/index.ts';
import { peerSchema } from '../schema/peer-schema.ts';
import type { FederationDeps } from '../deps.ts';
import { keySchema } from '../schema/key-schema.ts';
import type { KeyRow } from '../schema/key-schema.ts';

/** A local actor and its key, without the private half. */
export interface ListedKey extends Pick<KeyRow, 'kind' | 'ownerId' | 'createdAt' | 'publicKeyPem'> {
  actorId: string;
  keyId: string;
}

/** A follower, and since when its server gives no answer, once that is given up. */
export interface ListedFollower extends FollowerRow {
  goneSince: number | null;
}

/** A part of a list; the whole of it when nothing is said. */
export interface Paging {
  limit?: number;
  skip?: number;
}

const everything = Number.MAX_SAFE_INTEGER;

/** The actors that have a key, the oldest first; for the administrator. */
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

/**
 * How many remote actors follow a repository, or any repository of an owner: they stay when it is renamed,
 * and go on knowing it by its first name.
 */
export async function countFollowers(
  { db }: FederationDeps,
  of: { repositoryId: string } | { owner: Pick<Owner, 'kind' | 'id'> },
): Promise<number> {
  const [sql, id] =
    'repositoryId' in of
      ? ['SELECT count(*) AS n FROM repository_followers WHERE repository_id = ?', of.repositoryId]
      : [
          `SELECT count(DISTINCT f.actor_id) AS n FROM repositories r CROSS JOIN repository_followers f
           WHERE r.deleted_at IS NULL AND r.owner_${of.owner.kind === 'user' ? 'user' : 'org'}_id = ? AND f.repository_id = r.id`,
          of.owner.id,
        ];
  const [row]: { n: number }[] = await db.read.query(sql, [id]);
  return Number(row?.n ?? 0);
}

/** Who follows a repository from elsewhere, for the administrator. Refuses `repository_not_found`. */
export async function followersOf(
  { db, repositories }: FederationDeps,
  owner: string,
  name: string,
  { limit = everything, skip = 0 }: Paging = {},
): Promise<ListedFollower[]> {
  const { repository } = await repositories.find(localAdministrator, owner, name);
  const where = { repositoryId: repository.id };
  const order = { createdAt: 'ASC', actorId: 'ASC' } as const;
  const rows = await db.read.find(followerSchema, { where, order, take: limit, skip });
  const gone = await db.read.find(peerSchema, { where: { goneAt: isNotNull() } });
  const goneSince = new Map(gone.map((peer) => [peer.host, peer.silentSince ?? peer.goneAt]));
  return rows.map((row) => ({ ...row, goneSince: goneSince.get(row.host) ?? null }));
}
