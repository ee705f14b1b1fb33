import type { EntityManager } from 'typeorm';
import { anonymous, visibleRepositories } from '../../access/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import type { Owner } from '../../owners/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { FederationRoom } from '../room.ts';

/** What everybody may read, and nothing else, exists for other servers. */
export interface PublicRepository {
  repository: Repository;
  owner: Owner;
}

type Room = Pick<FederationRoom, 'db' | 'owners' | 'repositories'>;

/** The entity of the repositories room; asking under its policy as a stranger would. */
const repositoryEntity = 'repository';

const everybody = visibleRepositories(anonymous, 'r');

const publicRows = (manager: EntityManager) =>
  manager.createQueryBuilder<Repository>(repositoryEntity, 'r').where(everybody.sql, everybody.parameters);

/** A stranger's condition has no parameters, so it can be written once: this is asked before each delivery. */
const isPublicSql = `SELECT 1 FROM repositories r WHERE r.id = ? AND ${everybody.sql}`;

/** Whether a repository is there and public, as this manager sees it: inside a write, give that of the write. */
export async function isPublicRepository(manager: EntityManager, repositoryId: string): Promise<boolean> {
  const rows: unknown[] = await manager.query(isPublicSql, [repositoryId]);
  return rows.length > 0;
}

/** By id; `null` when it is absent, private, in the trash, or its owner has no handle. */
export async function publicRepositoryById({ db, owners }: Room, repositoryId: string): Promise<PublicRepository | null> {
  const repository = await publicRows(db.read).andWhere('r.id = :id', { id: repositoryId }).getOne();
  const ownerId = repository?.ownerUserId ?? repository?.ownerOrganisationId;
  if (repository === null || ownerId == null) return null;
  const owner = (await owners.ownersById([ownerId])).get(ownerId);
  return owner === undefined ? null : { repository, owner };
}

/** By its present address, in any case. */
export async function publicRepositoryAt({ repositories }: Room, owner: string, name: string): Promise<PublicRepository | null> {
  try {
    return await repositories.find(anonymous, owner, name);
  } catch (error) {
    if (isDomainError(error) && error.code === 'not_found') return null;
    throw error;
  }
}

/**
 * A person's public repositories, changed last first: other servers read the
 * first page only (SPEC §8), and what is new must be on it.
 */
export async function publicRepositoriesOf(
  { db }: Room,
  personId: string,
  { limit, skip }: { limit: number; skip: number },
): Promise<{ total: number; repositories: Repository[] }> {
  const [repositories, total] = await publicRows(db.read)
    .andWhere('r.owner_user_id = :personId', { personId })
    .orderBy('r.updated_at', 'DESC')
    .addOrderBy('r.id', 'DESC')
    .skip(skip)
    .take(limit)
    .getManyAndCount();
  return { total, repositories };
}
