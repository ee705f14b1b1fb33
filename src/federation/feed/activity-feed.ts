import { In } from 'typeorm';
import type { PersonViewer, Viewer } from '../../access/index.ts';
import { idsIn, selectRaw } from '../../db/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { RecentPush } from '../../repositories/index.ts';
import type { FederationDeps } from '../deps.ts';
import type { ListedPush } from '../follows/following.ts';
import { receivedEventSchema } from '../schema/received-event-schema.ts';
import type { ReceivedEvent } from '../schema/received-event-schema.ts';
import { receivedPushSchema } from '../schema/received-push-schema.ts';
import type { PushedCommit } from '../schema/received-push-schema.ts';
import { remoteFollowSchema } from '../schema/remote-follow-schema.ts';
import type { RemoteFollow } from '../schema/remote-follow-schema.ts';
import { feedKinds, localKeys, remoteKeys } from './feed-keys.ts';
import type { FeedKey, FeedKind, FeedPosition, FeedScope } from './feed-keys.ts';

/** An event in a subject that a user follows. */
export type FeedEntry = { id: string; at: number } & (
  | { kind: 'push'; push: RecentPush }
  | { kind: 'remote-push'; push: ListedPush }
  | { kind: 'remote-event'; event: ListedEvent }
  | {
      kind: 'release';
      repository: NamedRepository;
      tag: string;
      title: string;
      author: string | null;
      authorId: string | null;
    }
  | {
      kind: 'opened' | 'merged';
      repository: NamedRepository;
      isPull: boolean;
      number: number;
      title: string;
      author: string | null;
      authorId: string | null;
    }
);

/** An event in a repository on another server. */
export interface ListedEvent extends ReceivedEvent {
  /** The followed repository. */
  handle: string;
  /** Its page. */
  repositoryUrl: string | null;
}

export interface RepositoryName {
  owner: string;
  name: string;
}

/** With its id. */
interface NamedRepository extends RepositoryName {
  id: string;
}

interface FeedFilter {
  /** Kinds of entries; all by default. */
  kinds?: readonly FeedKind[];
  /** From this server or other servers; both by default. */
  place?: 'here' | 'elsewhere' | null;
  /** `next` of the previous page. */
  after?: string | null;
  limit: number;
}

const beginning: FeedPosition = { at: Number.MAX_SAFE_INTEGER, id: '' };

/**
 * Events in everything that a user follows, local and remote, newest first: pushes, releases, opened issues and pull
 * requests, and merged pull requests. Omits entries that the user cannot read. Throws `invalid_page`.
 */
export async function activityFeed(
  deps: FederationDeps,
  viewer: PersonViewer,
  { kinds = feedKinds, place = null, after = null, limit }: FeedFilter,
): Promise<{ entries: FeedEntry[]; next: string | null }> {
  const paging = { before: after === null ? beginning : readPosition(after), limit: limit + 1 };
  const scope = { kind: 'followed', id: viewer.id } as const;
  const lists = await Promise.all([
    ...(place === 'elsewhere' ? [] : kinds.map((kind) => localKeys(deps, viewer, scope, kind, paging))),
    ...(place === 'here' ? [] : kinds.map((kind) => remoteKeys(deps, viewer, kind, paging))),
  ]);
  return pageOf(deps, viewer, lists.flat(), limit);
}

interface ScopeFilter {
  /** Only events by this user. */
  actorId?: string | null;
  /** Start and end of a time range, in epoch milliseconds. */
  between?: { from: number; until: number } | null;
  after?: string | null;
  limit: number;
}

/** Events in the local repositories of a scope that the viewer can read, newest first. Throws `invalid_page`. */
export async function activityIn(
  deps: FederationDeps,
  viewer: Viewer,
  scope: FeedScope,
  { actorId = null, between = null, after = null, limit }: ScopeFilter,
): Promise<{ entries: FeedEntry[]; next: string | null }> {
  const start = between === null ? beginning : { at: between.until, id: '' };
  const before = after === null ? start : readPosition(after);
  const lists = await Promise.all(
    feedKinds.map((kind) => localKeys(deps, viewer, scope, kind, { before, limit: limit + 1, actorId })),
  );
  const keys = lists.flat().filter(({ at }) => between === null || at >= between.from);
  return pageOf(deps, viewer, keys, limit);
}

async function pageOf(deps: FederationDeps, viewer: Viewer, all: readonly FeedKey[], limit: number) {
  const keys = all.toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
  const shown = keys.slice(0, limit);
  const last = shown.at(-1);
  const entries = await describe(deps, viewer, shown);
  return { entries, next: keys.length > limit && last !== undefined ? `${last.at}.${last.id}` : null };
}

function readPosition(text: string): FeedPosition {
  const [, at, id] = /^(\d{1,15})\.([0-9a-f-]{1,64})$/.exec(text) ?? [];
  if (at === undefined) throw invalid('invalid_page', 'This page address is not valid.');
  return { at: Number(at), id: id! };
}

async function describe(deps: FederationDeps, viewer: Viewer, keys: readonly FeedKey[]): Promise<FeedEntry[]> {
  const idsOf = (kind: FeedKind, isElsewhere = false) =>
    keys.filter((key) => key.kind === kind && key.isElsewhere === isElsewhere).map(({ id }) => id);
  const remoteEventIds = keys.filter(({ kind, isElsewhere }) => isElsewhere && kind !== 'push').map(({ id }) => id);
  const [pushes, remote, remoteEntries, releases, issues] = await Promise.all([
    deps.repositories.pushes.describe(viewer, idsOf('push')),
    viewer.kind === 'person' ? remotePushes(deps, viewer.id, idsOf('push', true)) : new Map<string, ListedPush>(),
    viewer.kind === 'person' ? remoteEvents(deps, viewer.id, remoteEventIds) : new Map<string, ListedEvent>(),
    releaseRows(deps, idsOf('release')),
    issueRows(deps, [...idsOf('opened'), ...idsOf('merged')]),
  ]);
  return keys.flatMap(({ kind, isElsewhere, id, at }): FeedEntry[] => {
    if (isElsewhere && kind !== 'push') {
      const event = remoteEntries.get(id);
      return event === undefined ? [] : [{ id, kind: 'remote-event', at, event }];
    }
    if (isElsewhere) {
      const push = remote.get(id);
      return push === undefined ? [] : [{ id, kind: 'remote-push', at, push }];
    }
    if (kind === 'push') {
      const push = pushes.get(id);
      return push === undefined ? [] : [{ id, kind, at, push }];
    }
    const row = kind === 'release' ? releases.get(id) : issues.get(id);
    if (row === undefined) return [];
    const repository = { id: row.repositoryId, owner: row.owner, name: row.name };
    const { title, author, authorId } = row;
    if ('tag' in row) return [{ id, kind: 'release', at, repository, tag: row.tag, title, author, authorId }];
    const { isPull, number, mergedBy, mergedById } = row;
    const common = { id, at, repository, isPull, number, title };
    return kind === 'merged'
      ? [{ ...common, kind: 'merged', author: mergedBy, authorId: mergedById }]
      : [{ ...common, kind: 'opened', author, authorId }];
  });
}

async function remotePushes(
  { db }: FederationDeps,
  userId: string,
  ids: readonly string[],
): Promise<Map<string, ListedPush>> {
  const rows = await db.read.findBy(receivedPushSchema, { id: In([...ids]) });
  const byActor = await followsOf(db, userId, rows);
  return new Map(
    rows.flatMap((row): [string, ListedPush][] => {
      const follow = byActor.get(row.actorId);
      if (follow === undefined) return [];
      const { handle, url } = follow;
      return [[row.id, { ...row, commits: JSON.parse(row.commits) as PushedCommit[], handle, url }]];
    }),
  );
}

async function remoteEvents(
  { db }: FederationDeps,
  userId: string,
  ids: readonly string[],
): Promise<Map<string, ListedEvent>> {
  if (ids.length === 0) return new Map();
  const rows = await db.read.findBy(receivedEventSchema, { id: In([...ids]) });
  const byActor = await followsOf(db, userId, rows);
  return new Map(
    rows.flatMap((row): [string, ListedEvent][] => {
      const follow = byActor.get(row.actorId);
      return follow === undefined ? [] : [[row.id, { ...row, handle: follow.handle, repositoryUrl: follow.url }]];
    }),
  );
}

/** The user's follows of the repositories of rows, by actor. */
async function followsOf(
  db: FederationDeps['db'],
  userId: string,
  rows: readonly { actorId: string }[],
): Promise<Map<string, RemoteFollow>> {
  const actors = [...new Set(rows.map(({ actorId }) => actorId))];
  const follows = await db.read.findBy(remoteFollowSchema, { userId, remoteActorId: In(actors) });
  return new Map(follows.map((follow) => [follow.remoteActorId, follow]));
}

/** The current handle of an owner or user. @param id SQL expression of its id */
const handleFor = (id: string): string =>
  `(SELECT h.display FROM handles h WHERE h.owner_id = ${id} AND h.released_at IS NULL)`;

const ofRepository = `${handleFor('coalesce(r.owner_user_id, r.owner_org_id)')} AS owner, r.name AS name,
            r.id AS "repositoryId", e.author_id AS "authorId"`;

interface ReleaseRow extends RepositoryName {
  id: string;
  repositoryId: string;
  authorId: string | null;
  tag: string;
  title: string;
  author: string | null;
}

async function releaseRows({ db }: FederationDeps, ids: readonly string[]): Promise<Map<string, ReleaseRow>> {
  const [among, parameters] = idsIn('e.id', ids);
  const rows = await selectRaw<ReleaseRow>(
    db.read,
    `SELECT e.id AS id, e.tag AS tag, e.title AS title, ${handleFor('e.author_id')} AS author, ${ofRepository}
       FROM releases e JOIN repositories r ON r.id = e.repository_id WHERE ${among}`,
    parameters,
  );
  return new Map(rows.map((row) => [row.id, row]));
}

interface IssueRow extends RepositoryName {
  id: string;
  repositoryId: string;
  authorId: string | null;
  isPull: boolean;
  number: number;
  title: string;
  author: string | null;
  mergedBy: string | null;
  mergedById: string | null;
}

async function issueRows({ db }: FederationDeps, ids: readonly string[]): Promise<Map<string, IssueRow>> {
  const [among, parameters] = idsIn('e.id', ids);
  const rows = await selectRaw<Omit<IssueRow, 'isPull'> & { kind: string }>(
    db.read,
    `SELECT e.id AS id, e.kind AS kind, e.number AS number, e.title AS title, ${ofRepository},
            coalesce(${handleFor('e.author_id')}, e.author_name) AS author,
            coalesce(${handleFor('p.merged_by')}, p.merged_by_name) AS "mergedBy", p.merged_by AS "mergedById"
       FROM issues e JOIN repositories r ON r.id = e.repository_id LEFT JOIN pulls p ON p.issue_id = e.id
      WHERE ${among}`,
    parameters,
  );
  return new Map(
    rows.map(({ kind, number, ...row }) => [row.id, { ...row, number: Number(number), isPull: kind === 'PULL' }]),
  );
}
