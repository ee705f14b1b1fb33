import type { EntityManager, EntitySchema, FindOptionsOrder, FindOptionsWhere } from 'typeorm';
import { activityStreams, pushContext } from '../documents/contexts.ts';
import { outboxSchema } from '../schema/outbox-schema.ts';
import { followerSchema } from '../schema/follower-schema.ts';
import { ownerFollowerSchema } from '../schema/owner-follower-schema.ts';
import type { FederationDeps } from '../deps.ts';
import type { Document } from './actor-documents.ts';
import { repositoryPath } from './actor-paths.ts';
import type { OrganisationActor, PersonActor, RepositoryActor } from './find-actor.ts';
import { repositoryActor } from './find-actor.ts';

/** Items per page; other servers read only the first page (SPEC §8). */
const pageSize = 100;
const maxPage = 10_000;

/** Reads `?page=`; `null` means the collection itself. Invalid page numbers mean the first page. */
export function pageNumber(text: string | null): number | null {
  if (text === null) return null;
  return /^[1-9]\d{0,4}$/.test(text) ? Math.min(Number(text), maxPage) : 1;
}

interface Collection {
  id: string;
  total: number;
  context?: unknown;
  items(paging: { limit: number; skip: number }): Promise<unknown[]>;
}

/** An actor's outbox; people and the instance have no public activities, so theirs are empty. */
export function outboxOf(
  deps: FederationDeps,
  found: { actor: { id: string; path: string } },
  page: number | null,
): Promise<Document> {
  const where = { actorPath: found.actor.path, isPublic: true };
  return collection(page, async () => ({
    id: `${found.actor.id}/outbox`,
    total: await deps.db.read.countBy(outboxSchema, where),
    context: pushContext,
    async items({ limit, skip }) {
      const rows = await deps.db.read.find(outboxSchema, {
        where,
        order: { createdAt: 'DESC', id: 'DESC' },
        take: limit,
        skip,
      });
      return rows.map((row) => JSON.parse(row.activity) as unknown);
    },
  }));
}

/** Remote actors that follow a repository, newest first, with the first page embedded. */
export const followersOf = (
  { db }: FederationDeps,
  { actor, repository }: RepositoryActor,
  page: number | null,
): Promise<Document> => listedFollowers(db.read, actor, followerSchema, { repositoryId: repository.id }, page);

/** Remote actors that follow a user or an organisation, as `followersOf`. */
export const ownerFollowersOf = (
  { db }: FederationDeps,
  { actor }: PersonActor | OrganisationActor,
  page: number | null,
): Promise<Document> => listedFollowers(db.read, actor, ownerFollowerSchema, { subjectId: actor.ownerId }, page);

function listedFollowers<Row extends { actorId: string; createdAt: number }>(
  manager: EntityManager,
  actor: { id: string },
  table: EntitySchema<Row>,
  where: FindOptionsWhere<Row>,
  page: number | null,
): Promise<Document> {
  const order = { createdAt: 'DESC', actorId: 'DESC' } as FindOptionsOrder<Row>;
  return withFirstPage(page, async () => ({
    id: `${actor.id}/followers`,
    total: await manager.countBy(table, where),
    async items({ limit, skip }) {
      const rows = await manager.find(table, { where, order, take: limit, skip });
      return rows.map((row) => row.actorId);
    },
  }));
}

/**
 * A user's public repositories, with the first page embedded. Ids are derived from names without creating keys:
 * creating a hundred keys would exceed the timeout of the requesting server.
 */
export function repositoriesOf(
  deps: FederationDeps,
  { actor, person }: PersonActor,
  page: number | null,
): Promise<Document> {
  const owner = { kind: 'user' as const, id: person.id, handle: person.username!, avatarAt: null };
  const listPublic = deps.repositories.listPublic;
  return withFirstPage(page, async () => ({
    id: `${actor.id}/repositories`,
    total: (await listPublic(person.id, { limit: 1, skip: 0 })).total,
    async items(paging) {
      const { repositories } = await listPublic(person.id, paging);
      const wanted = repositories.map(({ id, name }) => ({
        ownerId: id,
        wantedPath: repositoryPath(owner.handle, name),
      }));
      const ids = await deps.localActors.peekIds('repository', wanted);
      const items: string[] = [];
      // Another repository had this name before: its actor path is known only once it has a key.
      for (const repository of repositories)
        items.push(ids.get(repository.id) ?? (await repositoryActor(deps, { repository, owner })).actor.id);
      return items;
    },
  }));
}

async function collection(page: number | null, open: () => Promise<Collection>): Promise<Document> {
  const opened = await open();
  if (page !== null) return pageDocument(opened, page);
  return {
    '@context': activityStreams,
    id: opened.id,
    type: 'OrderedCollection',
    totalItems: opened.total,
    first: `${opened.id}?page=1`,
  };
}

async function withFirstPage(page: number | null, open: () => Promise<Collection>): Promise<Document> {
  const opened = await open();
  if (page !== null) return pageDocument(opened, page);
  const { '@context': context, ...first } = await pageDocument(opened, 1);
  return { '@context': context, id: opened.id, type: 'OrderedCollection', totalItems: opened.total, first };
}

async function pageDocument(
  { id, total, context = activityStreams, items }: Collection,
  page: number,
): Promise<Document> {
  const orderedItems = await items({ limit: pageSize, skip: (page - 1) * pageSize });
  return {
    '@context': context,
    id: `${id}?page=${page}`,
    type: 'OrderedCollectionPage',
    partOf: id,
    ...(total > page * pageSize ? { next: `${id}?page=${page + 1}` } : {}),
    orderedItems,
  };
}
