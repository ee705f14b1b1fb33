import type { EntityManager } from 'typeorm';

/**
 * SQL that the two dialects write differently. Statements outside `db` are text that both understand, with these
 * functions where they do not (docs/decisions/034-two-dialects-from-now-on.md). `test/db/dialects.test.ts` runs each on
 * a real PostgreSQL, too.
 */
export type Dialect = 'sqlite' | 'postgres';

/** What the program runs on; the other one has its connection still to come. */
const present: Dialect = 'sqlite';

/** Types of the columns that a list brings. */
export type ColumnType = 'text' | 'bigint';

interface ListOptions {
  /** The parameter that has the list as JSON: `?` or `:name`. */
  parameter?: string;
  type?: ColumnType;
}

/**
 * A condition: the expression is one of a list that is given as one parameter, a JSON array. A list as one parameter
 * makes one statement of any number of values, so its plan is made once, and no limit of parameters is met.
 */
export function inList(
  expression: string,
  { parameter = '?', type = 'text' }: ListOptions = {},
  dialect: Dialect = present,
): string {
  if (dialect === 'sqlite') return `${expression} IN (SELECT value FROM json_each(${parameter}))`;
  const elements = `jsonb_array_elements_text(CAST(${parameter} AS jsonb))`;
  return `${expression} IN (SELECT ${type === 'text' ? elements : `CAST(${elements} AS ${type})`})`;
}

/** The same with its parameter, for `where(...)` of a query builder and for `selectRows`. */
export function idsIn(
  expression: string,
  ids: Iterable<string>,
  name = 'ids',
  dialect: Dialect = present,
): [condition: string, parameters: Record<string, string>] {
  return [inList(expression, { parameter: `:${name}` }, dialect), { [name]: JSON.stringify([...ids]) }];
}

/** A table of one column, `value`: the elements of a JSON array. Behind `FROM`; it is called `list`. */
export function listTable({ parameter = '?', type = 'text' }: ListOptions = {}, dialect: Dialect = present): string {
  if (dialect === 'sqlite') return `(SELECT value FROM json_each(${parameter})) AS list`;
  const elements = `jsonb_array_elements_text(CAST(${parameter} AS jsonb)) AS element (value)`;
  return `(SELECT CAST(value AS ${type}) AS value FROM ${elements}) AS list`;
}

/**
 * A table of rows that are given as a JSON array of arrays, each with a value for every column in their order. Behind
 * `FROM`; it is called `list`.
 */
export function rowsTable(
  columns: Readonly<Record<string, ColumnType>>,
  parameter = '?',
  dialect: Dialect = present,
): string {
  const entries = Object.entries(columns);
  if (dialect === 'sqlite') {
    const values = entries.map(([name], at) => `value ->> ${at} AS ${name}`);
    return `(SELECT ${values.join(', ')} FROM json_each(${parameter})) AS list`;
  }
  const values = entries.map(([name, type], at) => `CAST(value ->> ${at} AS ${type}) AS ${name}`);
  return `(SELECT ${values.join(', ')} FROM jsonb_array_elements(CAST(${parameter} AS jsonb)) AS element (value)) AS list`;
}

/** A condition: one text occurs in another, byte for byte. */
export const contains = (text: string, part: string, dialect: Dialect = present): string =>
  dialect === 'sqlite' ? `instr(${text}, ${part}) > 0` : `strpos(${text}, ${part}) > 0`;

/** Milliseconds since the epoch as `2026-01-31T12:34:56.789Z`. */
export const isoTime = (milliseconds: string, dialect: Dialect = present): string =>
  dialect === 'sqlite'
    ? `strftime('%Y-%m-%dT%H:%M:%fZ', ${milliseconds} / 1000.0, 'unixepoch')`
    : `to_char(to_timestamp(${milliseconds} / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The larger of two numbers. */
export const greatest = (one: string, other: string, dialect: Dialect = present): string =>
  `${dialect === 'sqlite' ? 'max' : 'greatest'}(${one}, ${other})`;

/** Inserts a row, or gives the one with the same key these values. One `?` for each column, in their order. */
export function upsert(table: string, key: readonly string[], columns: readonly string[]): string {
  const all = [...key, ...columns];
  const set = columns.map((column) => `${column} = excluded.${column}`);
  return `INSERT INTO ${table} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')})
    ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${set.join(', ')}`;
}

/**
 * Behind the `SELECT` that picks the rows of a queue that an `UPDATE` claims: workers that look at the same time get
 * different rows. SQLite has one writer at a time, and needs no words.
 */
export const skipLocked = (dialect: Dialect = present): string =>
  dialect === 'sqlite' ? '' : 'FOR UPDATE SKIP LOCKED';

/** `?` of a statement as PostgreSQL numbers them; those inside quotes are text. */
export function numbered(sql: string): string {
  let count = 0;
  return sql.replace(/'(?:[^']|'')*'|"[^"]*"|\?/g, (found) => (found === '?' ? `$${(count += 1)}` : found));
}

/**
 * The rows of a statement that is written with `?`, those of `RETURNING` included: of such a statement the mapper's
 * `query` gives rows in one dialect, and rows with their number in the other.
 */
export async function rows<Row extends object>(
  manager: EntityManager,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  if (manager.connection.options.type !== 'postgres') return (await manager.query(sql, [...values])) as Row[];
  const result: unknown = await manager.query(numbered(sql), [...values]);
  const [first, affected] = result as [unknown, unknown];
  return (Array.isArray(first) && typeof affected === 'number' ? first : result) as Row[];
}
