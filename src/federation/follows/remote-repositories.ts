import { isDomainError } from '../../kernel/index.ts';
import { asObject, idOf, itemsOf, webUrl } from '../documents/json-fields.ts';
import type { Json } from '../documents/json-fields.ts';
import { fetchDocument } from '../actors/fetch-document.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';
import type { FederationDeps } from '../deps.ts';

/** The first page of a remote person's public repositories. */
export interface RemoteRepositoryList {
  /** Actor ids, on the person's own host, each once. */
  ids: string[];
  /** How many there are in all, when the server says so. */
  totalItems: number | null;
}

/** Limit of items per page; the rest is ignored. */
const maxItems = 200;

/**
 * Reads the collection that a Person names (SPEC §3): the first page, embedded
 * or behind one further request, and never the next. Items on other hosts are
 * left out: an instance speaks only for its own repositories.
 * Refuses as `fetchDocument` does.
 */
export async function listRemoteRepositories(deps: FederationDeps, person: RemoteActor): Promise<RemoteRepositoryList> {
  const collection = await fetchDocument(deps, person.repositoriesUrl ?? `${person.id}/repositories`);
  const page = await firstPage(deps, person, collection);
  const ids = itemsOf(page).slice(0, maxItems).map(idOf);
  const own = ids.flatMap((id) => (webUrl(id)?.host === person.host ? [webUrl(id)!.href] : []));
  const total = collection['totalItems'];
  return {
    ids: [...new Set(own)],
    totalItems: typeof total === 'number' && Number.isSafeInteger(total) && total >= 0 ? total : null,
  };
}

/**
 * As `listRemoteRepositories`; `null` for a person who names no list and has none where one is looked for, as users of
 * microblogs. One that is named and cannot be read refuses: it is not the same as having none.
 */
export async function repositoriesOf(deps: FederationDeps, person: RemoteActor): Promise<RemoteRepositoryList | null> {
  try {
    return await listRemoteRepositories(deps, person);
  } catch (error) {
    const isNone = isDomainError(error) && /^document_(missing|unusable)$/.test(error.reason);
    if (person.repositoriesUrl === null && isNone) return null;
    throw error;
  }
}

async function firstPage(deps: FederationDeps, person: RemoteActor, collection: Json): Promise<Json> {
  const { first } = collection;
  if (itemsOf(collection).length > 0 || first === undefined) return collection;
  if (typeof first !== 'string') return asObject(first);
  return webUrl(first)?.host === person.host ? fetchDocument(deps, first) : {};
}

/** Time limit for reading the repositories of one person. */
const readingMs = 20_000;

/**
 * The repositories behind the ids, a few at a time; missing ones are left out.
 * @returns what was found, and whether time ran out before all were read
 */
export async function fetchRepositories(
  deps: FederationDeps,
  ids: readonly string[],
): Promise<{ found: RemoteActor[]; isCutShort: boolean }> {
  const deadline = performance.now() + readingMs;
  const waiting = [...ids];
  const found: RemoteActor[] = [];
  const work = async (): Promise<void> => {
    while (waiting.length > 0 && performance.now() < deadline) {
      const id = waiting.shift()!;
      const actor = await deps.remoteActors.actor(id).catch((error: unknown) => {
        if (!isDomainError(error)) throw error;
        deps.logger.info('follow.repository_skipped', { actor: id, reason: error.reason });
        return null;
      });
      if (actor?.type === 'Repository') found.push(actor);
    }
  };
  await Promise.all([work(), work(), work()]);
  return { found: found.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id)), isCutShort: waiting.length > 0 };
}
