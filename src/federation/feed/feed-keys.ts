import { visibleRepositories } from '../../access/index.ts';
import type { PersonViewer, Viewer } from '../../access/index.ts';
import { selectRaw } from '../../db/index.ts';
import type { FederationDeps } from '../deps.ts';

export const feedKinds = ['push', 'release', 'opened', 'merged'] as const;
export type FeedKind = (typeof feedKinds)[number];

/** Position in a feed, which is sorted by both fields, newest first. */
export interface FeedKey {
  kind: FeedKind;
  isElsewhere: boolean;
  /** Id of a push, a release or an issue, or of a received push or event. */
  id: string;
  at: number;
}

export type FeedPosition = Pick<FeedKey, 'at' | 'id'>;

/** The repositories of a feed: those that a user follows, one repository, or those of an owner or a team. */
export type FeedScope = { kind: 'followed' | 'repository' | 'user' | 'organisation' | 'team'; id: string };

interface Source {
  kind: FeedKind;
  /** Column of the acting user. */
  actor: string;
  table: string;
  id: string;
  at: string;
  /** A condition on the table. @param x its alias */
  where(x: string): string;
}

const sources: readonly Source[] = [
  {
    kind: 'push',
    actor: 'user_id',
    table: 'pushes',
    id: 'id',
    at: 'created_at',
    where: (x) => `${x}.settled_at IS NOT NULL AND ${x}.moved > 0`,
  },
  {
    kind: 'release',
    actor: 'author_id',
    table: 'releases',
    id: 'id',
    at: 'listed_at',
    where: (x) => `${x}.is_draft = 0`,
  },
  {
    kind: 'opened',
    actor: 'author_id',
    table: 'issues',
    id: 'id',
    at: 'created_at',
    where: (x) => `${x}.deleted_at IS NULL AND ${x}.held_at IS NULL`,
  },
  {
    kind: 'merged',
    actor: 'merged_by',
    table: 'pulls',
    id: 'issue_id',
    at: 'merged_at',
    where: (x) => `${x}.merged_at IS NOT NULL`,
  },
];

/** Limits of an owner's repositories in its feed, because each costs a look-up per kind. */
const mostPushed = 400;
const mostUnpushed = 100;

/** The repositories of an owner with the latest pushes, and some without any. */
const ofOwner = (column: string, visible: string): string => {
  const own = `SELECT o.id AS id FROM repositories o WHERE o.${column} = :scopeId AND o.deleted_at IS NULL AND (${visible})`;
  return `SELECT pushed.id FROM (${own} AND o.pushed_at IS NOT NULL
      ORDER BY o.pushed_at DESC, o.id DESC LIMIT ${mostPushed}) pushed
  UNION ALL SELECT unpushed.id FROM (${own} AND o.pushed_at IS NULL ORDER BY o.id LIMIT ${mostUnpushed}) unpushed`;
};

/**
 * Ids of repositories by scope. Followed repositories are starred or belong to followed users and organisations.
 * @param visible condition on the repositories `o` that the viewer can see
 */
const scopes: Readonly<Record<FeedScope['kind'], (visible: string) => string>> = {
  followed: () => `SELECT s.repository_id AS id FROM stars s WHERE s.user_id = :scopeId
  UNION SELECT o.id FROM user_follows f CROSS JOIN repositories o
    WHERE f.follower_id = :scopeId AND o.owner_user_id = f.followed_id AND o.deleted_at IS NULL
  UNION SELECT o.id FROM organisation_follows f CROSS JOIN repositories o
    WHERE f.user_id = :scopeId AND o.owner_org_id = f.organisation_id AND o.deleted_at IS NULL`,
  repository: () => 'SELECT o.id FROM repositories o WHERE o.id = :scopeId',
  user: (visible) => ofOwner('owner_user_id', visible),
  organisation: (visible) => ofOwner('owner_org_id', visible),
  team: () => 'SELECT tr.repository_id AS id FROM team_repositories tr WHERE tr.team_id = :scopeId',
};

/**
 * The newest entries of one kind before a position. Reads only the repositories of the scope with the newest entries,
 * and of each at most as many entries as the page needs: an index has both in order, however many there are.
 */
export async function localKeys(
  { db }: Pick<FederationDeps, 'db'>,
  viewer: Viewer,
  scope: FeedScope,
  kind: FeedKind,
  { before, limit, actorId = null }: { before: FeedPosition; limit: number; actorId?: string | null },
): Promise<FeedKey[]> {
  const source = sources.find((each) => each.kind === kind)!;
  const { table, id, at, actor } = source;
  // Prevents an index on the actor, which does not have the order of the list.
  const where = (x: string) => source.where(x) + (actorId === null ? '' : ` AND (${x}.${actor} || '') = :actorId`);
  const visible = visibleRepositories(viewer, 'r');
  const earlier = (x: string) => `(${x}.${at}, ${x}.${id}) < (:at, :id)`;
  const newest = `SELECT y.${at} FROM ${table} y WHERE y.repository_id = r.id AND ${where('y')} AND ${earlier('y')}
      ORDER BY y.${at} DESC, y.${id} DESC LIMIT 1`;
  const own = scopes[scope.kind](visibleRepositories(viewer, 'o').sql);
  const rows = await selectRaw<{ id: string; at: number }>(
    db.read,
    `SELECT x.${id} AS id, x.${at} AS at FROM
       (SELECT r.id AS id, coalesce((${newest}), 0) AS newest FROM (${own}) own CROSS JOIN repositories r
         WHERE r.id = own.id AND ${visible.sql} ORDER BY newest DESC, r.id DESC LIMIT :limit) lately
       CROSS JOIN ${table} x WHERE x.${id} IN
         (SELECT n.${id} FROM ${table} n WHERE n.repository_id = lately.id AND ${where('n')} AND ${earlier('n')}
           ORDER BY n.${at} DESC, n.${id} DESC LIMIT :limit)
      ORDER BY x.${at} DESC, x.${id} DESC LIMIT :limit`,
    {
      ...visible.parameters,
      scopeId: scope.id,
      ...(actorId !== null && { actorId }),
      at: before.at,
      id: before.id,
      limit,
    },
  );
  return rows.map((row) => ({ kind, isElsewhere: false, id: row.id, at: Number(row.at) }));
}

/** The newest pushes to followed remote repositories, or events of a kind in them, read likewise. */
export async function remoteKeys(
  { db }: Pick<FederationDeps, 'db'>,
  viewer: PersonViewer,
  kind: FeedKind,
  { before, limit }: { before: FeedPosition; limit: number },
): Promise<FeedKey[]> {
  const [table, at] = kind === 'push' ? ['received_pushes', 'pushed_at'] : ['received_events', 'happened_at'];
  const among = (x: string) => `${kind === 'push' ? '' : `${x}.kind = :kind AND `}(${x}.${at}, ${x}.id) < (:at, :id)`;
  const rows = await selectRaw<{ id: string; at: number }>(
    db.read,
    `SELECT x.id AS id, x.${at} AS at FROM
       (SELECT f.remote_actor_id AS id, coalesce((SELECT y.${at} FROM ${table} y
           WHERE y.actor_id = f.remote_actor_id AND ${among('y')} ORDER BY y.${at} DESC LIMIT 1), 0) AS newest
         FROM remote_follows f WHERE f.user_id = :userId ORDER BY newest DESC, f.id DESC LIMIT :limit) lately
       CROSS JOIN ${table} x WHERE x.id IN
         (SELECT n.id FROM ${table} n WHERE n.actor_id = lately.id AND ${among('n')}
           ORDER BY n.${at} DESC, n.id DESC LIMIT :limit)
      ORDER BY x.${at} DESC, x.id DESC LIMIT :limit`,
    { userId: viewer.id, at: before.at, id: before.id, limit, ...(kind !== 'push' && { kind }) },
  );
  return rows.map((row) => ({ kind, isElsewhere: true, id: row.id, at: Number(row.at) }));
}
