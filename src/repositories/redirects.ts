import { IsNull } from 'typeorm';
import { repositoryLevel } from '../access/index.ts';
import type { Viewer } from '../access/index.ts';
import type { Tx } from '../db/index.ts';
import { ownerIdOf, repositoryFacts } from './find-repository.ts';
import type { RepositoryAddress } from './find-repository.ts';
import { foldRepositoryName, isRepositoryName } from './repository-name.ts';
import { repositorySchema } from './schema/repository-schema.ts';
import type { Repository } from './schema/repository-schema.ts';
import type { RepositoryDeps } from './deps.ts';
import { redirectSchema } from './schema/redirect-schema.ts';

/**
 * The current path of a repository that moved from a path by a rename, a transfer, or a rename of its owner. `null` if
 * nothing moved from there, if the name is in use again, or if the viewer cannot see the repository.
 */
export async function findRedirect(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
): Promise<RepositoryAddress | null> {
  if (!isRepositoryName(at.name)) return null;
  const ownerId = await deps.owners.idOfHandle(at.owner);
  if (ownerId === null) return null;
  const repository = await repositoryAtPath(deps, ownerId, foldRepositoryName(at.name));
  if (repository === null) return null;

  const personId = viewer.kind === 'person' ? viewer.id : null;
  const facts = await repositoryFacts(deps, deps.db.lookup, personId, repository);
  if (facts.deleted || repositoryLevel(viewer, facts) === 'none') return null;
  const owner = (await deps.owners.ownersById([ownerIdOf(repository)])).get(ownerIdOf(repository));
  if (owner === undefined) return null;
  const isThere =
    owner.handle.toLowerCase() === at.owner.toLowerCase() && repository.nameFolded === foldRepositoryName(at.name);
  return isThere ? null : { owner: owner.handle, name: repository.name };
}

/** Old paths that redirect to a repository: from renames, from transfers, and from renames of its owner. */
export async function listFormerPaths(deps: RepositoryDeps, repository: Repository): Promise<string[]> {
  const ownerId = ownerIdOf(repository);
  const rows = await deps.db.read.find(redirectSchema, {
    where: { repositoryId: repository.id },
    order: { createdAt: 'ASC' },
  });
  const owners = await deps.owners.ownersById(rows.map((row) => row.ownerId));
  const former = (await deps.owners.listReleased(ownerId)).map(({ handle }) => `${handle}/${repository.name}`);
  return [
    ...rows.flatMap((row) => (owners.has(row.ownerId) ? [`${owners.get(row.ownerId)!.handle}/${row.nameFolded}`] : [])),
    ...former,
  ];
}

/** The repository now at a path of an owner; else the one that was there before. */
async function repositoryAtPath(
  { db }: RepositoryDeps,
  ownerId: string,
  nameFolded: string,
): Promise<Repository | null> {
  const live = { nameFolded, deletedAt: IsNull() };
  const here = await db.read.findOneBy(repositorySchema, [
    { ...live, ownerUserId: ownerId },
    { ...live, ownerOrganisationId: ownerId },
  ]);
  if (here !== null) return here;
  const redirect = await db.read.findOneBy(redirectSchema, { ownerId, nameFolded });
  return redirect === null ? null : db.read.findOneBy(repositorySchema, { id: redirect.repositoryId });
}

/** Removes the redirect from a path that a repository takes over. Runs inside that transaction. */
export async function endRedirect({ manager }: Tx, ownerId: string, nameFolded: string): Promise<void> {
  await manager.delete(redirectSchema, { ownerId, nameFolded });
}

/**
 * Adds a redirect from the path of the row `before`. Runs inside the transaction that moves the repository, before the
 * row changes.
 */
export async function addRedirectFrom({ manager, now }: Tx, before: Repository): Promise<void> {
  const row = { ownerId: ownerIdOf(before), nameFolded: before.nameFolded, repositoryId: before.id, createdAt: now };
  await manager.upsert(redirectSchema, row, ['ownerId', 'nameFolded']);
}
