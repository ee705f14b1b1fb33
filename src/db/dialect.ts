import type { EntityManager } from 'typeorm';

/**
 * SQL that differs between the two dialects. Statements outside `db` use text that both understand, and these functions
 * where they differ (docs/decisions/034-two-dialects-from-now-on.md). They return SQLite's syntax, which a connection
 * to PostgreSQL translates (`inPostgres`), so that a statement is the same constant on every instance.
 * `test/db/dialects.test.ts` also runs each on a real PostgreSQL.
 */
export type Dialect = 'sqlite' | 'postgres';

const present: Dialect = 'sqlite';

/** Column types of list parameters. */
type ColumnType = 'text' | 'bigint';

interface ListOptions {
  /** The parameter that contains the list as JSON: `?` or `:name`. */
  parameter?: string;
  type?: ColumnType;
}

/**
 * A condition: the expression is in a list passed as one parameter, a JSON array. One parameter for any number of
 * values gives a single statement, which is planned once and stays below the parameter limit.
 */
export function inList(
  expression: string,
  { parameter = '?', type = 'text' }: ListOptions = {},
  dialect: Dialect = present,
): string {
  if (dialect === 'sqlite') return `${expression} IN (SELECT ${typed(type)} FROM json_each(${parameter}))`;
  return `${expression} ${elementOf(parameter, type)}`;
}

/** SQLite needs no type: JSON values have one. */
const typed = (type: ColumnType): string => (type === 'text' ? 'value' : `CAST(value AS ${type})`);
/** To the planner an array is one value, for which it can use an index. */
const elementOf = (parameter: string, type: ColumnType): string => {
  const elements = `jsonb_array_elements_text(CAST(${parameter} AS jsonb))`;
  return `= ANY (ARRAY(SELECT ${type === 'text' ? elements : `CAST(${elements} AS ${type})`}))`;
};

/** The condition with its parameter, for `where(...)` of a query builder and for `selectRows`. */
export function idsIn(
  expression: string,
  ids: Iterable<string>,
  name = 'ids',
  dialect: Dialect = present,
): [condition: string, parameters: Record<string, string>] {
  return [inList(expression, { parameter: `:${name}` }, dialect), { [name]: JSON.stringify([...ids]) }];
}

/** A table `list` of one column, `value`: the elements of a JSON array. For use after `FROM`. */
export function listTable({ parameter = '?', type = 'text' }: ListOptions = {}, dialect: Dialect = present): string {
  if (dialect === 'sqlite') return `(SELECT ${typed(type)} AS value FROM json_each(${parameter})) AS list`;
  return `(SELECT ${listed(type)} AS value FROM ${elements(parameter)}) AS list`;
}

const listed = (type: string): string => `CAST(value #>> '{}' AS ${type})`;
const elements = (parameter: string): string => `jsonb_array_elements(CAST(${parameter} AS jsonb)) AS element (value)`;

/** A table `list` of rows from a JSON array of arrays, each with a value per column in order. For use after `FROM`. */
export function rowsTable(
  columns: Readonly<Record<string, ColumnType>>,
  parameter = '?',
  dialect: Dialect = present,
): string {
  const values = Object.entries(columns).map(([name, type], at) => `CAST(value ->> ${at} AS ${type}) AS ${name}`);
  const from = dialect === 'sqlite' ? `json_each(${parameter})` : elements(parameter);
  return `(SELECT ${values.join(', ')} FROM ${from}) AS list`;
}

/** A condition: one text contains another, byte for byte. */
export const contains = (text: string, part: string, dialect: Dialect = present): string =>
  dialect === 'sqlite' ? `instr(${text}, ${part}) > 0` : `strpos(${text}, ${part}) > 0`;

const inIndexed = 'instr(/* indexed */ ';
const likePart = (part: string): string =>
  `'%' || replace(replace(replace(${part}, '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%'`;

/** The same for a text with a trigram index, which PostgreSQL uses only for `LIKE`. */
export const containsIndexed = (text: string, part: string, dialect: Dialect = present): string =>
  dialect === 'sqlite' ? `${inIndexed}${text}, ${part}) > 0` : `${text} LIKE ${likePart(part)}`;

const timeInSqlite = ["strftime('%Y-%m-%dT%H:%M:%fZ', ", " / 1000.0, 'unixepoch')"] as const;
const timeInPostgres = (milliseconds: string): string =>
  `to_char(to_timestamp(${milliseconds} / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Milliseconds since the epoch as `2026-01-31T12:34:56.789Z`. */
export const isoTime = (milliseconds: string, dialect: Dialect = present): string =>
  dialect === 'sqlite' ? timeInSqlite.join(milliseconds) : timeInPostgres(milliseconds);

const nowInSqlite = "CAST(unixepoch('subsec') * 1000 AS BIGINT)";
const nowInPostgres = 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)';

/** The database's clock, shared by all its processes, in milliseconds since the epoch. */
export const databaseTime = (dialect: Dialect = present): string =>
  dialect === 'sqlite' ? nowInSqlite : nowInPostgres;

/** The comment distinguishes SQLite's `max` of two values from the aggregate. */
const ofTwo = 'max(/* of two */ ';

/** The larger of two numbers. */
export const greatest = (one: string, other: string, dialect: Dialect = present): string =>
  `${dialect === 'sqlite' ? ofTwo : 'greatest('}${one}, ${other})`;

/** Inserts a row, or updates the row with the same key. One `?` per column, in order. */
export function upsert(table: string, key: readonly string[], columns: readonly string[]): string {
  const all = [...key, ...columns];
  const set = columns.map((column) => `${column} = excluded.${column}`);
  return `INSERT INTO ${table} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')})
    ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${set.join(', ')}`;
}

const lockedRows = '/* skip locked */';

/**
 * Clause after the `SELECT` that picks queue rows for an `UPDATE` to claim, so that concurrent workers get different
 * rows. Empty for SQLite, which has one writer at a time.
 */
export const skipLocked = (dialect: Dialect = present): string =>
  dialect === 'sqlite' ? lockedRows : 'FOR UPDATE SKIP LOCKED';

/** Numbers the `?` of a statement for PostgreSQL, and converts `?1` to `$1`; ignores those inside quotes. */
export function numbered(sql: string): string {
  let count = 0;
  return sql.replace(/'(?:[^']|'')*'|"[^"]*"|\?(\d*)/g, (found, place: string | undefined) =>
    place === undefined ? found : `$${place === '' ? (count += 1) : place}`,
  );
}

const words: readonly (readonly [RegExp, (...found: string[]) => string])[] = [
  [
    /\bIN \(SELECT (?:value|CAST\(value AS (\w+)\)) FROM json_each\(([^()]+)\)\)/g,
    (_all, type, parameter) => elementOf(parameter!, (type ?? 'text') as ColumnType),
  ],
  [
    /\(SELECT (?:value|CAST\(value AS (\w+)\)) AS value FROM json_each\(([^()]+)\)\) AS list/g,
    (_all, type = 'text', parameter) => `(SELECT ${listed(type)} AS value FROM ${elements(parameter!)}) AS list`,
  ],
  [/\bFROM json_each\(([^()]+)\)/g, (_all, parameter) => `FROM ${elements(parameter!)}`],
  [/\binstr\(\/\* indexed \*\/ ([^,()]+), ([^,()]+)\) > 0/g, (_all, text, part) => `${text} LIKE ${likePart(part!)}`],
  [/\binstr\(/g, () => 'strpos('],
  // A value without a column beside it has no type.
  [/(?<=[\s(])\?(\d*) IS (NOT )?NULL\b/g, (_all, place, not = '') => `CAST(?${place} AS text) IS ${not}NULL`],
  // SQLite's planner treats these words as a fixed order; conditions belong to a plain join there.
  [/\bCROSS JOIN ([\w.]+(?: AS)? \w+)(\s+)ON\b/g, (_all, table, space) => `JOIN ${table}${space}ON`],
  [/\bgroup_concat\(/g, () => 'string_agg('],
  [/\bjson_quote\(/g, () => 'to_json('],
  [/\bjson_array\(/g, () => 'json_build_array('],
  [/\bjson_object\(/g, () => 'json_build_object('],
  [/\bjson_group_array\(/g, () => 'json_agg('],
  [/\bchar\(10\)/g, () => 'chr(10)'],
  [/strftime\('%Y-%m-%dT%H:%M:%fZ', (\S+) \/ 1000\.0, 'unixepoch'\)/g, (_all, time) => timeInPostgres(time!)],
  [/CAST\(unixepoch\('subsec'\) \* 1000 AS BIGINT\)/g, () => nowInPostgres],
  [/max\(\/\* of two \*\/ /g, () => 'greatest('],
  [/\/\* skip locked \*\//g, () => 'FOR UPDATE SKIP LOCKED'],
];

const translated = new Map<string, string>();
const maxTranslated = 5_000;

/** Translates a statement of the program to PostgreSQL. */
export function inPostgres(sql: string): string {
  let found = translated.get(sql);
  if (found === undefined) {
    found = numbered(words.reduce((text, [pattern, replace]) => text.replace(pattern, replace), sql));
    if (translated.size >= maxTranslated) translated.clear();
    translated.set(sql, found);
  }
  return found;
}

/** Replaces `:name` in a statement by `?`, with the values in order. */
export function positioned(
  sql: string,
  parameters: Readonly<Record<string, unknown>>,
): [sql: string, values: unknown[]] {
  const values: unknown[] = [];
  const text = sql.replace(/'(?:[^']|'')*'|"[^"]*"|(?<![:\w]):(\w+)/g, (found, name: string | undefined) => {
    if (name === undefined) return found;
    values.push(parameters[name] ?? null);
    return '?';
  });
  return [text, values];
}

/** The dialect of a manager's database. */
export const dialectOf = (manager: EntityManager): Dialect =>
  manager.connection.options.type === 'postgres' ? 'postgres' : 'sqlite';

/** Rows of a statement with `?` parameters, including those of `RETURNING`. */
export async function rows<Row extends object>(
  manager: EntityManager,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return (await manager.query(sql, [...values])) as Row[];
}
