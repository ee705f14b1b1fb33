import type { EntityManager } from 'typeorm';
import { IsNull } from 'typeorm';
import { inList } from '../../db/index.ts';
import { lfsObjectSchema } from '../schema/lfs-schema.ts';
import type { LfsObjectRow } from '../schema/lfs-schema.ts';

/** The objects with these ids in a repository, by id. An object that is being removed counts as absent. */
export async function findObjects(
  manager: EntityManager,
  repositoryId: string,
  oids: readonly string[],
): Promise<Map<string, LfsObjectRow>> {
  const found = await manager
    .createQueryBuilder(lfsObjectSchema, 'o')
    .where('o.repository_id = :repositoryId AND o.removing_at IS NULL', { repositoryId })
    .andWhere(inList('o.oid', { parameter: ':oids' }), { oids: JSON.stringify(oids) })
    .getMany();
  return new Map(found.map((row) => [row.oid, row]));
}

export const findObject = (manager: EntityManager, repositoryId: string, oid: string): Promise<LfsObjectRow | null> =>
  manager.findOneBy(lfsObjectSchema, { repositoryId, oid, removingAt: IsNull() });
