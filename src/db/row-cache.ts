import type { EntityManager, EntitySchema, FindOptionsWhere } from 'typeorm';
import { mappedColumns, mapRow } from './select-rows.ts';
import type { MappedColumn } from './select-rows.ts';

/**
 * Returns the rows of a table whose columns have these values, at most `maxRows`. For the few queries of nearly every
 * request: prepares the statement once, and bypasses the mapper, which would dominate a short response. Caches rows
 * until this process commits, or SQLite reports a commit of another process; checks that at most every two
 * milliseconds.
 */
export type Lookup = <Row extends object>(schema: EntitySchema<Row>, where: Partial<Row>) => Promise<Row[]>;

/** Source of a query: the row cache, or the manager of the dependent write. */
export type RowSource = EntityManager | Lookup;

/** The row with these values, or null. */
export async function rowBy<Row extends object>(
  source: RowSource,
  schema: EntitySchema<Row>,
  where: Partial<Row>,
): Promise<Row | null> {
  return typeof source === 'function'
    ? ((await source(schema, where))[0] ?? null)
    : source.findOneBy(schema, where as FindOptionsWhere<Row>);
}

export interface RowCache {
  lookup: Lookup;
  /** Changes with every commit of any process: data read at the same number is still current. */
  state(): Promise<number>;
  /** Must be called at every commit of this process, before its caller is notified. */
  forget(): void;
}

const maxRows = 16;
/** About a kilobyte each. */
const maxCachedRows = 2_000;
/** The check costs as much as a lookup: it takes and releases the locks of a transaction. */
const agreesForMs = 2;

interface Statement {
  all(...parameters: unknown[]): unknown[];
}

interface Prepared {
  statement: Statement;
  columns: readonly MappedColumn[];
  /** Rows by the values of the query, as of state `keptAt`. */
  cached: Map<string, object[]>;
}

type QueryCondition = readonly [property: string, isNull: boolean];

/** @param prepare of the read connection */
export function createRowCache(prepare: (sql: string) => Statement): RowCache {
  const known = new WeakMap<object, Map<string, Prepared>>();
  let versionOf: Statement | undefined;
  const filled = new Set<Prepared['cached']>();
  let version: unknown;
  let askedAtMs = -Infinity;
  let cachedRows = 0;
  let changes = 0;

  /** Commits of other connections change SQLite's counter; this connection only reads. */
  function evictOldest(): void {
    const nowMs = performance.now();
    if (nowMs - askedAtMs < agreesForMs) return;
    askedAtMs = nowMs;
    versionOf ??= prepare('PRAGMA data_version');
    const [now] = versionOf.all() as [{ data_version: number }];
    if (now.data_version !== version || cachedRows > maxCachedRows) forget();
    version = now.data_version;
  }

  function forget(): void {
    changes += 1;
    cachedRows = 0;
    for (const cached of filled) cached.clear();
    filled.clear();
  }

  function preparedFor(schema: EntitySchema<never>, conditions: readonly QueryCondition[]): Prepared {
    let ofSchema = known.get(schema);
    if (ofSchema === undefined) known.set(schema, (ofSchema = new Map()));
    const name = conditions.join();
    let found = ofSchema.get(name);
    if (found === undefined) ofSchema.set(name, (found = prepareFor(schema, conditions)));
    return found;
  }

  function prepareFor(schema: EntitySchema<never>, conditions: readonly QueryCondition[]): Prepared {
    const columns = mappedColumns(schema);
    const columnOf = new Map(columns.map(({ property, column }) => [property, column]));
    const where = conditions
      .map(([property, isNull]) => `"${columnOf.get(property)}" ${isNull ? 'IS NULL' : '= ?'}`)
      .join(' AND ');
    const selected = columns.map(({ column }) => `"${column}"`).join(', ');
    const statement = prepare(`SELECT ${selected} FROM "${schema.options.tableName}" WHERE ${where} LIMIT ${maxRows}`);
    return { statement, columns, cached: new Map() };
  }

  // A promise, because another database returns rows over a connection; here they are available at once.
  const lookup = async <Row extends object>(schema: EntitySchema<Row>, where: Partial<Row>): Promise<Row[]> => {
    const conditions = Object.entries(where).map(([property, value]) => [property, value === null] as const);
    evictOldest();
    const { statement, columns, cached } = preparedFor(schema as unknown as EntitySchema<never>, conditions);
    const values = Object.values(where).filter((value) => value !== null);
    const question = JSON.stringify(values);
    let rows = cached.get(question) as Row[] | undefined;
    if (rows === undefined) {
      rows = (statement.all(...values) as Record<string, unknown>[]).map((row) => mapRow(columns, row) as Row);
      cached.set(question, rows);
      filled.add(cached);
      cachedRows += 1;
    }
    // Copies: the caller may change its rows.
    return rows.map((row) => ({ ...row }));
  };
  const state = async (): Promise<number> => {
    evictOldest();
    return changes;
  };
  return { lookup, state, forget };
}
