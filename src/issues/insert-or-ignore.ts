import type { EntitySchema } from 'typeorm';
import type { Tx } from '../db/index.ts';

/** Inserts a row unless its key exists. */
export async function insertOrIgnore<Row extends object>(
  { manager }: Tx,
  schema: EntitySchema<Row>,
  row: Row,
): Promise<void> {
  await manager
    .createQueryBuilder()
    .insert()
    .into(schema)
    .values(row as never)
    .orIgnore()
    .execute();
}
