import { In } from 'typeorm';
import type { Owner } from '../owners/index.ts';
import { ownerIdOf } from './find-repository.ts';
import { repositorySchema } from './schema/repository-schema.ts';
import type { Repository } from './schema/repository-schema.ts';
import type { RepositoryDeps } from './deps.ts';

/** A repository by its id, for modules that act for the instance rather than a viewer. */
export interface Located {
  repository: Repository;
  owner: Owner;
  /** The bare repository on disk. */
  path: string;
}

/** Existing repositories of these ids, except for trashed ones. No access check. */
export async function locateRepositories(
  { db, owners, git }: Pick<RepositoryDeps, 'db' | 'owners' | 'git'>,
  ids: Iterable<string>,
): Promise<Map<string, Located>> {
  const unique = [...new Set(ids)];
  const rows: Repository[] = [];
  for (let start = 0; start < unique.length; start += 500) {
    rows.push(...(await db.read.findBy(repositorySchema, { id: In(unique.slice(start, start + 500)) })));
  }
  const live = rows.filter(({ deletedAt }) => deletedAt === null);
  const byId = await owners.ownersById(live.map(ownerIdOf));
  return new Map(
    live.flatMap((repository) => {
      const owner = byId.get(ownerIdOf(repository));
      if (owner === undefined) return [];
      return [[repository.id, { repository, owner, path: git.storage.pathOf(owner.id, repository.id) }] as const];
    }),
  );
}
