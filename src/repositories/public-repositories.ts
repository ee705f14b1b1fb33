import type { EntityManager } from 'typeorm';
import { anonymous, visibleRepositories } from '../access/index.ts';
import type { RepositoryDeps } from './deps.ts';
import { repositorySchema } from './schema/repository-schema.ts';
import type { Repository } from './schema/repository-schema.ts';

const anonymousAccess = visibleRepositories(anonymous, 'r');

/** A copy of a remote repository has no actor of its own: only its origin federates. */
const isOwn = 'r.copied_from IS NULL';

/** The anonymous condition has no parameters, so its SQL is built once; each delivery evaluates it. */
const isPublicSql = `SELECT 1 FROM repositories r WHERE r.id = ? AND ${isOwn} AND ${anonymousAccess.sql}`;

/**
 * Whether a repository exists, is public and has an actor of its own.
 * @param manager the transaction's manager inside a write, so that its own changes are visible
 */
export async function isPublic(manager: EntityManager, repositoryId: string): Promise<boolean> {
  const rows: unknown[] = await manager.query(isPublicSql, [repositoryId]);
  return rows.length > 0;
}

/** A page of a user's public repositories except for copies of remote ones, last changed first, and their number. */
export async function listPublic(
  { db }: RepositoryDeps,
  ownerUserId: string,
  { limit, skip }: { limit: number; skip: number },
): Promise<{ total: number; repositories: Repository[] }> {
  const [repositories, total] = await db.read
    .createQueryBuilder(repositorySchema, 'r')
    .where(anonymousAccess.sql, anonymousAccess.parameters)
    .andWhere('r.owner_user_id = :ownerUserId', { ownerUserId })
    .andWhere(isOwn)
    .orderBy('r.updated_at', 'DESC')
    .addOrderBy('r.id', 'DESC')
    .skip(skip)
    .take(limit)
    .getManyAndCount();
  return { total, repositories };
}
