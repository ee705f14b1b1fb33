import { isNotNull } from '../../db/index.ts';

import { localAdministrator } from '../../access/index.ts';
import { followerSchema } from '../schema/follower-schema.ts';
import type { FollowerRow } from '../schema/follower-schema.ts';
import type { Owner } from '../../owners/index.ts';
import { peerSchema } from '../schema/peer-schema.ts';
import type { FederationDeps } from '../deps.ts';
import { everything } from '../paging.ts';
import type { Paging } from '../paging.ts';

/** A follower, and since when its server has been unreachable, once deliveries to it have ended. */
export interface ListedFollower extends FollowerRow {
  goneSince: number | null;
}

/**
 * Number of remote followers of a repository, or of all repositories of an owner: they stay after a rename, and keep
 * the first actor id.
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

/** Remote followers of a repository, for the administrator. Throws `repository_not_found`. */
export async function listFollowers(
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
