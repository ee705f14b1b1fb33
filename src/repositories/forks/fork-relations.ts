import { maySync, repositoryLevel, visibleRepositories } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { idsIn } from '../../db/index.ts';
import { nullIfNotFound } from '../../kernel/index.ts';
import type { RepositoryDeps } from '../deps.ts';
import { findRepository, ownerIdOf, repositoryFacts } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { eachRow, listRepositories } from '../list-repositories.ts';
import type { RepositoryPage } from '../list-repositories.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { KeysetPaging } from '../../db/index.ts';
import type { Owner } from '../../owners/index.ts';
import { forkOf, isNameUsed } from './create-fork.ts';

/** Fork information in the header of a repository page. */
export interface ForkSummary {
  /** The source of the fork; null if this is not a fork or the viewer cannot read the source. */
  source: RepositoryAddress | null;
  /** Whether the source takes no pull requests, because it is archived. */
  isSourceArchived: boolean;
  /** Number of forks that the viewer can see. */
  forks: number;
}

/** The source of a fork; null if this is not a fork or the viewer cannot read the source. */
export async function readableSource(
  deps: Pick<RepositoryDeps, 'db' | 'organisations' | 'owners'>,
  viewer: Viewer,
  { forkedFromId }: Pick<Repository, 'forkedFromId'>,
): Promise<{ repository: Repository; owner: Owner } | null> {
  if (forkedFromId === null) return null;
  const [repository] = await deps.db.lookup(repositorySchema, { id: forkedFromId });
  if (repository === undefined || repository.deletedAt !== null) return null;
  const personId = viewer.kind === 'person' ? viewer.id : null;
  if (repositoryLevel(viewer, await repositoryFacts(deps, deps.db.lookup, personId, repository)) === 'none')
    return null;
  const owner = (await deps.owners.ownersById([ownerIdOf(repository)])).get(ownerIdOf(repository));
  return owner === undefined ? null : { repository, owner };
}

export async function forkSummary(deps: RepositoryDeps, viewer: Viewer, repository: Repository): Promise<ForkSummary> {
  const [source, hidden] = await Promise.all([
    readableSource(deps, viewer, repository),
    countPrivateForks(deps, viewer, repository.id),
  ]);
  return {
    source: source === null ? null : { owner: source.owner.handle, name: source.repository.name },
    isSourceArchived: source !== null && source.repository.archivedAt !== null,
    forks: Number(repository.forkCount) + hidden,
  };
}

/** Number of private forks that a viewer can see: their own, their organisations', and shared ones. */
async function countPrivateForks({ db }: RepositoryDeps, viewer: Viewer, repositoryId: string): Promise<number> {
  if (viewer.kind !== 'person') return 0;
  const { sql, parameters } = visibleRepositories(viewer, 'r');
  return db.read
    .createQueryBuilder(repositorySchema, 'r')
    .where("r.forked_from_id = :repositoryId AND r.visibility = 'PRIVATE'", { repositoryId })
    .andWhere(eachRow(`r.deleted_at IS NULL AND (${sql})`), parameters)
    .getCount();
}

/** The forks of a repository that the viewer can see, newest first. Throws `repository_not_found`, `invalid_page`. */
export async function listForks(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  paging: KeysetPaging,
): Promise<RepositoryPage> {
  const { repository } = await findRepository(deps, viewer, at);
  return listRepositories(deps, viewer, { ...paging, forkedFromId: repository.id, sort: 'created' });
}

/**
 * Number of forks of a repository, and how many are private. Only the owner can see it, to know how many copies exist
 * before making the repository private or deleting it. Throws `repository_not_found` for everyone else.
 */
export async function countAllForks(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
): Promise<{ forks: number; privateForks: number }> {
  const { repository } = await findRepository(deps, viewer, at, 'owner');
  const [row]: { n: number }[] = await deps.db.read.query(
    `SELECT count(*) AS n FROM repositories
      WHERE forked_from_id = ? AND visibility = 'PRIVATE' AND forked_from_id IS NOT NULL
        AND CASE WHEN deleted_at IS NULL THEN 1 ELSE 0 END = 1`,
    [repository.id],
  );
  const privateForks = Number(row?.n ?? 0);
  return { forks: Number(repository.forkCount) + privateForks, privateForks };
}

/** An owner that a viewer may fork into, with the fork that already exists there. */
interface ForkTarget {
  owner: Owner;
  fork: RepositoryAddress | null;
}

/** Owners under whom a viewer may create repositories, except for the repository's own owner. */
export async function listForkTargets(
  deps: RepositoryDeps,
  viewer: Viewer,
  repository: Repository,
): Promise<ForkTarget[]> {
  if (viewer.kind !== 'person') return [];
  const memberships = await deps.organisations.organisationsOf(viewer.id);
  const ids = [
    viewer.id,
    ...memberships.filter(({ role }) => role !== 'GUEST').map(({ organisation }) => organisation.id),
  ].filter((id) => id !== ownerIdOf(repository));
  const owners = await deps.owners.ownersById(ids);
  const known = ids.flatMap((id) => owners.get(id) ?? []);
  return Promise.all(
    known.map(async (owner) => {
      const fork = await forkOf(deps.db.lookup, repository.id, owner);
      return { owner, fork: fork === null ? null : { owner: owner.handle, name: fork.name } };
    }),
  );
}

const maxTriedNames = 20;

/** A free name for a fork: the name of the source, with a number if that is taken. */
export async function freeForkName(
  deps: RepositoryDeps,
  owner: Pick<Owner, 'kind' | 'id'>,
  name: string,
): Promise<string> {
  for (let count = 1; count <= maxTriedNames; count += 1) {
    const candidate = count === 1 ? name : `${name.slice(0, 96)}-${count}`;
    if (!(await isNameUsed(deps, owner, candidate))) return candidate;
  }
  return name;
}

/** The sources of forks by fork id; omits sources that the viewer cannot read. */
export async function sourcesOf(
  deps: RepositoryDeps,
  viewer: Viewer,
  repositories: readonly Repository[],
): Promise<Map<string, { repository: Repository; owner: Owner }>> {
  const ids = new Set(repositories.flatMap(({ forkedFromId }) => forkedFromId ?? []));
  if (ids.size === 0) return new Map();
  const visible = visibleRepositories(viewer, 'r');
  const rows = await deps.db.read
    .createQueryBuilder(repositorySchema, 'r')
    .where(...idsIn('r.id', ids))
    .andWhere(eachRow(`r.deleted_at IS NULL AND (${visible.sql})`), visible.parameters)
    .getMany();
  const owners = await deps.owners.ownersById(rows.map(ownerIdOf));
  const byId = new Map(
    rows.flatMap((repository) => {
      const owner = owners.get(ownerIdOf(repository));
      return owner === undefined ? [] : [[repository.id, { repository, owner }] as const];
    }),
  );
  return new Map(
    repositories.flatMap(({ id, forkedFromId }) => {
      const source = forkedFromId === null ? undefined : byId.get(forkedFromId);
      return source === undefined ? [] : [[id, source] as const];
    }),
  );
}

/**
 * Restores the link from an imported fork to its source, for users who administer both. Drops it if the source is not
 * on this server, is the repository itself, or has private commits that would become public.
 * @returns whether the fork has a source now
 */
export async function relateFork(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  source: RepositoryAddress,
): Promise<boolean> {
  const { repository } = await findRepository(deps, viewer, at, 'admin');
  const found = await findRepository(deps, viewer, source, 'admin').catch(nullIfNotFound);
  if (found === null || found.repository.id === repository.id || !maySync(found.repository, repository)) return false;
  const { id: forkedFromId } = found.repository;
  // Prevents cycles: the source must not be a fork of the repository itself.
  if (found.repository.forkedFromId === repository.id) return false;
  await deps.db.write(({ manager }) => manager.update(repositorySchema, { id: repository.id }, { forkedFromId }));
  return true;
}
