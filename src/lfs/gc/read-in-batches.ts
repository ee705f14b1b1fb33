import type { LfsDeps } from '../deps.ts';
import { lfsObjectSchema } from '../schema/lfs-schema.ts';
import type { LfsObjectRow } from '../schema/lfs-schema.ts';

/** Number of rows read in one step. */
const batchRows = 500;

/** The objects of a repository by id, in batches of some hundred. */
export async function* readObjectsInBatches(
  { db }: Pick<LfsDeps, 'db'>,
  repositoryId: string,
): AsyncGenerator<LfsObjectRow[]> {
  for (let after = ''; ; ) {
    const rows = await db.read
      .createQueryBuilder(lfsObjectSchema, 'o')
      .where('o.repository_id = :repositoryId AND o.oid > :after', { repositoryId, after })
      .orderBy('o.oid')
      .limit(batchRows)
      .getMany();
    if (rows.length > 0) yield rows;
    if (rows.length < batchRows) return;
    after = rows.at(-1)!.oid;
  }
}

/** Ids of repositories that have or had objects, in batches. */
export async function* readRepositoriesInBatches({ db }: Pick<LfsDeps, 'db'>): AsyncGenerator<string[]> {
  for (let after = ''; ; ) {
    const rows: { id: string }[] = await db.read.query(
      `SELECT l.repository_id AS id FROM lfs_repositories l WHERE l.repository_id > ? ORDER BY l.repository_id LIMIT ?`,
      [after, batchRows],
    );
    if (rows.length > 0) yield rows.map(({ id }) => id);
    if (rows.length < batchRows) return;
    after = rows.at(-1)!.id;
  }
}
