import type { EntitySchema } from 'typeorm';
import type { RowCache } from '../row-cache.ts';
import { mappedColumns, mapRow } from '../select-rows.ts';
import type { MappedColumn } from '../select-rows.ts';
import type { Freshness } from './freshness.ts';

const maxRows = 16;
/** About a kilobyte each. */
const maxCachedRows = 2_000;

interface Prepared {
  sql: string;
  columns: readonly MappedColumn[];
}

/**
 * Rows by the values of their columns, cached as long as PostgreSQL reports the same visible transactions.
 * @param query of the reading pool
 */
export function createPostgresRowCache(
  freshness: Freshness,
  query: (sql: string, values: unknown[]) => Promise<Record<string, unknown>[]>,
): RowCache {
  const statements = new WeakMap<object, Map<string, Prepared>>();
  let cached = new Map<string, Promise<object[]>>();
  let answer: string | null = null;
  let changes = 0;

  function forget(): void {
    changes += 1;
    answer = null;
    cached = new Map();
  }

  async function current(): Promise<void> {
    const now = await freshness.ask();
    if (now === answer && cached.size <= maxCachedRows) return;
    forget();
    answer = now;
  }

  function prepare(schema: EntitySchema<never>, conditions: readonly (readonly [string, boolean])[]): Prepared {
    let ofSchema = statements.get(schema);
    if (ofSchema === undefined) statements.set(schema, (ofSchema = new Map()));
    const name = conditions.join();
    let found = ofSchema.get(name);
    if (found === undefined) {
      const columns = mappedColumns(schema);
      const columnOf = new Map(columns.map(({ property, column }) => [property, column]));
      const where = conditions.map(([property, isNull]) => `"${columnOf.get(property)}" ${isNull ? 'IS NULL' : '= ?'}`);
      const selected = columns.map(({ column }) => `"${column}"`).join(', ');
      const sql = `SELECT ${selected} FROM "${schema.options.tableName}" WHERE ${where.join(' AND ')} LIMIT ${maxRows}`;
      ofSchema.set(name, (found = { sql, columns }));
    }
    return found;
  }

  return {
    async lookup<Row extends object>(schema: EntitySchema<Row>, where: Partial<Row>): Promise<Row[]> {
      await current();
      const conditions = Object.entries(where).map(([property, value]) => [property, value === null] as const);
      const { sql, columns } = prepare(schema as unknown as EntitySchema<never>, conditions);
      const values = Object.values(where).filter((value) => value !== null);
      const question = `${sql}\0${JSON.stringify(values)}`;
      let rows = cached.get(question) as Promise<Row[]> | undefined;
      if (rows === undefined) {
        const asked = query(sql, values).then((found) => found.map((row) => mapRow(columns, row) as Row));
        const kept = cached;
        kept.set(question, (rows = asked));
        asked.catch(() => kept.delete(question));
      }
      // Copies: the caller may change its rows.
      return (await rows).map((row) => ({ ...row }));
    },
    async state() {
      await current();
      return changes;
    },
    forget,
  };
}
