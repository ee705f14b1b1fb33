import type { EntityManager } from 'typeorm';

/**
 * SQL that the two dialects write differently. Statements outside `db` are text that both understand, with these
 * functions where they do not (docs/decisions/034-two-dialects-from-now-on.md). They give SQLite's words, of which a
 * connection to PostgreSQL makes its own (`inPostgres`), so that a statement is one constant whatever the instance runs
 * on. `test/db/dialects.test.ts` runs each on a real PostgreSQL, too.
 */
export type Dialect = 'sqlite' | 'postgres';

const present: Dialect = 'sqlite';

/** Types of the columns that a list brings. */
type ColumnType = 'text' | 'bigint';

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
  if (dialect === 'sqlite') return `${expression} IN (SELECT ${typed(type)} FROM json_each(${parameter}))`;
  return `${expression} ${elementOf(parameter, type)}`;
}

/** SQLite needs no type: a value of JSON has one. */
const typed = (type: ColumnType): string => (type === 'text' ? 'value' : `CAST(value AS ${type})`);
/** An array is one value for the planner, which uses an index for it. */
const elementOf = (parameter: string, type: ColumnType): string => {
  const elements = `jsonb_array_elements_text(CAST(${parameter} AS jsonb))`;
  return `= ANY (ARRAY(SELECT ${type === 'text' ? elements : `CAST(${elements} AS ${type})`}))`;
};

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
  if (dialect === 'sqlite') return `(SELECT ${typed(type)} AS value FROM json_each(${parameter})) AS list`;
  return `(SELECT ${listed(type)} AS value FROM ${elements(parameter)}) AS list`;
}

const listed = (type: string): string => `CAST(value #>> '{}' AS ${type})`;
const elements = (parameter: string): string => `jsonb_array_elements(CAST(${parameter} AS jsonb)) AS element (value)`;

/**
 * A table of rows that are given as a JSON array of arrays, each with a value for every column in their order. Behind
 * `FROM`; it is called `list`.
 */
export function rowsTable(
  columns: Readonly<Record<string, ColumnType>>,
  parameter = '?',
  dialect: Dialect = present,
): string {
  const values = Object.entries(columns).map(([name, type], at) => `CAST(value ->> ${at} AS ${type}) AS ${name}`);
  const from = dialect === 'sqlite' ? `json_each(${parameter})` : elements(parameter);
  return `(SELECT ${values.join(', ')} FROM ${from}) AS list`;
}

/** A condition: one text occurs in another, byte for byte. */
export const contains = (text: string, part: string, dialect: Dialect = present): string =>
  dialect === 'sqlite' ? `instr(${text}, ${part}) > 0` : `strpos(${text}, ${part}) > 0`;

const inIndexed = 'instr(/* indexed */ ';
const likePart = (part: string): string =>
  `'%' || replace(replace(replace(${part}, '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%'`;

/** The same for a text that an index of trigrams has: PostgreSQL uses it for `LIKE` only. */
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

/** The time by the clock of the database, in milliseconds since the epoch: the one that all its processes share. */
export const databaseTime = (dialect: Dialect = present): string =>
  dialect === 'sqlite' ? nowInSqlite : nowInPostgres;

/** SQLite's `max` of two values is told from that of a column by the comment. */
const ofTwo = 'max(/* of two */ ';

/** The larger of two numbers. */
export const greatest = (one: string, other: string, dialect: Dialect = present): string =>
  `${dialect === 'sqlite' ? ofTwo : 'greatest('}${one}, ${other})`;

/** Inserts a row, or gives the one with the same key these values. One `?` for each column, in their order. */
export function upsert(table: string, key: readonly string[], columns: readonly string[]): string {
  const all = [...key, ...columns];
  const set = columns.map((column) => `${column} = excluded.${column}`);
  return `INSERT INTO ${table} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')})
    ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${set.join(', ')}`;
}

const lockedRows = '/* skip locked */';

/**
 * Behind the `SELECT` that picks the rows of a queue that an `UPDATE` claims: workers that look at the same time get
 * different rows. SQLite has one writer at a time, and needs no words.
 */
export const skipLocked = (dialect: Dialect = present): string =>
  dialect === 'sqlite' ? lockedRows : 'FOR UPDATE SKIP LOCKED';

/** `?` of a statement as PostgreSQL numbers them, and `?1` as `$1`; those inside quotes are text. */
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
  // For SQLite's planner the words are an order; a condition belongs to a plain join there.
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

/** A statement of the program in PostgreSQL's words. */
export function inPostgres(sql: string): string {
  let found = translated.get(sql);
  if (found === undefined) {
    found = numbered(words.reduce((text, [pattern, replace]) => text.replace(pattern, replace), sql));
    if (translated.size >= maxTranslated) translated.clear();
    translated.set(sql, found);
  }
  return found;
}

/** `:name` of a statement as `?`, with the values in their order. */
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

/** What the database of a manager is. */
export const dialectOf = (manager: EntityManager): Dialect =>
  manager.connection.options.type === 'postgres' ? 'postgres' : 'sqlite';

/** The rows of a statement that is written with `?`, those of `RETURNING` included. */
export async function rows<Row extends object>(
  manager: EntityManager,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return (await manager.query(sql, [...values])) as Row[];
}
