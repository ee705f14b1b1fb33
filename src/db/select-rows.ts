import type { EntityManager, EntitySchema, EntitySchemaColumnOptions } from 'typeorm';
import { internal } from '../kernel/index.ts';

/** A column of a table, and the matching property of its rows. */
export interface MappedColumn {
  property: string;
  column: string;
  isBoolean: boolean;
}

/** The columns of a schema that only need renaming, and numbers that represent booleans. */
export function mappedColumns({ options }: EntitySchema<never>): MappedColumn[] {
  const entries = Object.entries<EntitySchemaColumnOptions | undefined>(options.columns);
  return entries.map(([property, column]) => {
    if (column === undefined || column.transformer !== undefined || column.type === 'simple-json')
      throw internal('rows are read without the mapper from plain columns only');
    return { property, column: column.name ?? property, isBoolean: column.type === 'boolean' };
  });
}

export function mapRow(columns: readonly MappedColumn[], row: Record<string, unknown>): Record<string, unknown> {
  const mapped: Record<string, unknown> = {};
  for (const { property, column, isBoolean } of columns) {
    const value = row[column];
    // A boolean is a number in SQLite.
    mapped[property] = isBoolean && value !== null ? Boolean(value) : value;
  }
  return mapped;
}

const known = new WeakMap<object, MappedColumn[]>();

/**
 * The rows of a statement `SELECT x.* …` of a table with this schema: for lists on frequently opened pages. The
 * mapper's query builder regenerates the text of a statement each time, which costs several times as much as running
 * it.
 * @param sql with `:name` for parameters; a list is one of them (`idsIn`)
 */
export async function selectRows<Row extends object>(
  manager: EntityManager,
  schema: EntitySchema<Row>,
  sql: string,
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<Row[]> {
  let columns = known.get(schema);
  if (columns === undefined) known.set(schema, (columns = mappedColumns(schema as unknown as EntitySchema<never>)));
  const rows = await selectRaw<Record<string, unknown>>(manager, sql, parameters);
  return rows.map((row) => mapRow(columns, row) as Row);
}

/** The rows of a statement as returned by the database. @param sql with `:name` for parameters */
export async function selectRaw<Row extends object>(
  manager: EntityManager,
  sql: string,
  parameters: Readonly<Record<string, unknown>> = {},
): Promise<Row[]> {
  return manager.query(...manager.connection.driver.escapeQueryWithParameters(sql, { ...parameters }));
}
