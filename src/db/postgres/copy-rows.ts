import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import type { Pool, PoolClient } from 'pg';
import { conflict, internal, unavailable } from '../../kernel/index.ts';
import type { Clock, Logger } from '../../kernel/index.ts';
import { openDatabaseThread } from '../database-thread.ts';
import type { DatabaseThread } from '../database-thread.ts';
import { recordedName } from '../migrations.ts';
import type { Baseline, Migration } from '../migrations.ts';
import type { ThreadStatement } from '../thread-protocol.ts';
import { applyInPostgres } from './apply-migrations.ts';
import { checkServer } from './check-server.ts';
import { clientSettings, shownUrl } from './connection-settings.ts';
import { connectionRefused } from './faults.ts';
import { instanceLock } from './locks.ts';
import { openPool } from './pools.ts';
import { boundValue } from './query-runner.ts';

/** A table, its row count, and the SHA-256 of its rows in key order, equal on both sides. */
export interface CopiedTable {
  name: string;
  rows: number;
  sha256: string;
}

interface Table {
  name: string;
  columns: string[];
  /** Sort order of its rows in both databases. */
  order: string;
  /** The column whose numbers are allocated only once. */
  identity: string | null;
}

export interface CopyOptions {
  url: string;
  /** The SQLite file. */
  file: string;
  migrations: readonly Migration[];
  baseline: Baseline;
  clock: Clock;
  logger: Logger;
}

const rowsAtOnce = 1_000;
const limits = { requestMs: 6 * 3_600_000, queue: 16 };
/** Derived from other rows, and regenerated. */
const notCopied = /^(sqlite_|search_)|^migrations$/;
/** Marks everything searchable as changed: the next start indexes it. */
const searched = [
  "INSERT INTO search_changes (kind, id) SELECT 'repository', id FROM repositories WHERE true ON CONFLICT DO NOTHING",
  "INSERT INTO search_changes (kind, id) SELECT 'person', id FROM users WHERE true ON CONFLICT DO NOTHING",
  `INSERT INTO search_changes (kind, id) SELECT 'entry', issue_id || ' ' || position FROM issue_entries
    WHERE body IS NOT NULL OR position = 0 ON CONFLICT DO NOTHING`,
];

const quoted = (name: string): string => `"${name}"`;
const plain = (sql: string, parameters: unknown[] = []): ThreadStatement => ({ sql, parameters });

/** A row in a form shared by both sides. */
function addToHash(hash: Hash, { columns }: Table, row: Record<string, unknown>): void {
  hash.update(JSON.stringify(columns.map((column) => boundValue(row[column], false)))).update('\n');
}

type Ask = (sql: string) => Promise<Record<string, unknown>[]>;

/** The tables of the schema as described by SQLite, identical on both sides. */
async function tablesOf(ask: Ask): Promise<Table[]> {
  const found = await ask("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name");
  const tables: Table[] = [];
  for (const { name, sql } of found as { name: string; sql: string }[]) {
    if (notCopied.test(name)) continue;
    const columns = (await ask(`SELECT name, pk FROM pragma_table_info('${name}') ORDER BY cid`)) as {
      name: string;
      pk: number;
    }[];
    const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk);
    const order =
      key.length > 0
        ? key.map((column) => quoted(column.name))
        : columns.map((column) => `${quoted(column.name)} NULLS FIRST`);
    tables.push({
      name,
      columns: columns.map((column) => column.name),
      order: order.join(', '),
      identity: /\bINTEGER PRIMARY KEY\b/i.test(sql) ? key[0]!.name : null,
    });
  }
  return tables;
}

const selectAll = ({ name, columns, order }: Table): string =>
  `SELECT ${columns.map(quoted).join(', ')} FROM ${quoted(name)} ORDER BY ${order}`;

async function* rowsInPostgres(client: PoolClient, table: Table): AsyncGenerator<Record<string, unknown>[]> {
  await client.query(`DECLARE copied NO SCROLL CURSOR FOR ${selectAll(table)}`);
  for (;;) {
    const { rows } = await client.query(`FETCH ${rowsAtOnce} FROM copied`);
    if (rows.length === 0) break;
    yield rows as Record<string, unknown>[];
  }
  await client.query('CLOSE copied');
}

async function hashInPostgres(client: PoolClient, table: Table): Promise<CopiedTable> {
  const hash = createHash('sha256');
  let count = 0;
  for await (const rows of rowsInPostgres(client, table)) {
    for (const row of rows) addToHash(hash, table, row);
    count += rows.length;
  }
  return { name: table.name, rows: count, sha256: hash.digest('hex') };
}

function compare(written: CopiedTable, read: CopiedTable): void {
  if (written.rows !== read.rows || written.sha256 !== read.sha256)
    throw internal(`the copy of ${written.name} differs: ${read.rows} of ${written.rows} rows`);
}

async function connect({ url, logger }: Pick<CopyOptions, 'url' | 'logger'>): Promise<Pool> {
  const pool = openPool({ config: clientSettings(url), size: 2, limits: {}, isReadOnly: false, logger });
  await checkServer(pool).catch(async (error: unknown) => {
    await pool.end();
    throw connectionRefused(error, shownUrl(url));
  });
  return pool;
}

/** Throws `schema_differs` unless both have the same steps. */
function requireSameSchema(mine: readonly string[], others: readonly string[]): void {
  const missing = mine.filter((name) => !others.includes(name));
  if (missing.length > 0 || mine.length !== others.length)
    throw unavailable(
      'schema_differs',
      'Both databases must have the schema of this program: run hearth migrate on the source first. Nothing was changed.',
    );
}

/**
 * Writes a snapshot of all rows of a PostgreSQL database into an SQLite file that must not exist; the caller renames it
 * when it is complete. Throws `schema_differs`, `database_unreachable`, `database_unfit`.
 * @param makeFile creates the file with this program's schema
 */
export async function copyToSqlite(
  options: Omit<CopyOptions, 'baseline' | 'clock'>,
  makeFile: () => Promise<void>,
): Promise<CopiedTable[]> {
  const pool = await connect(options);
  let thread: DatabaseThread | undefined;
  try {
    await makeFile();
    const setUp = ['PRAGMA foreign_keys = OFF', 'PRAGMA synchronous = OFF'];
    thread = openDatabaseThread({ file: options.file, readOnly: false, setUp }, limits);
    const target = thread;
    const ask: Ask = async (sql) => (await target.run([plain(sql)]))[0]!;
    const tables = await tablesOf(ask);
    const triggers = (await ask("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")) as {
      name: string;
      sql: string;
    }[];
    await target.run([
      ...triggers.map(({ name }) => plain(`DROP TRIGGER ${name}`)),
      ...tables.map(({ name }) => plain(`DELETE FROM ${quoted(name)}`)),
    ]);
    const client = await pool.connect();
    const copied: CopiedTable[] = [];
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const { rows: steps } = await client.query('SELECT name, applied_at FROM migrations');
      requireSameSchema(
        options.migrations.map(recordedName),
        (steps as { name: string }[]).map(({ name }) => name),
      );
      for (const table of tables) copied.push(await toSqlite(client, target, table));
      await target.run([
        ...triggers.map(({ sql }) => plain(sql)),
        ...searched.map((sql) => plain(sql)),
        ...(await givenNumbers(client, tables)),
      ]);
      await client.query('COMMIT');
    } finally {
      client.release();
    }
    for (const [at, table] of tables.entries()) {
      const hash = createHash('sha256');
      let count = 0;
      for (let offset = 0; ; offset += rowsAtOnce) {
        const rows = await ask(`${selectAll(table)} LIMIT ${rowsAtOnce} OFFSET ${offset}`);
        for (const row of rows) addToHash(hash, table, row);
        count += rows.length;
        if (rows.length < rowsAtOnce) break;
      }
      compare(copied[at]!, { name: table.name, rows: count, sha256: hash.digest('hex') });
    }
    const orphans = await ask('PRAGMA foreign_key_check');
    if (orphans.length > 0) throw internal(`the copy would have ${orphans.length} rows without what they belong to`);
    return copied;
  } finally {
    await thread?.close();
    await pool.end();
  }
}

async function toSqlite(client: PoolClient, target: DatabaseThread, table: Table): Promise<CopiedTable> {
  const { name, columns } = table;
  const hash = createHash('sha256');
  let count = 0;
  const values = columns.map((_, at) => `value ->> ${at}`);
  const insert = `INSERT INTO ${quoted(name)} (${columns.map(quoted).join(', ')}) SELECT ${values.join(', ')} FROM json_each(?)`;
  for await (const rows of rowsInPostgres(client, table)) {
    for (const row of rows) addToHash(hash, table, row);
    count += rows.length;
    await target.run([plain(insert, [JSON.stringify(rows.map((row) => columns.map((column) => row[column])))])]);
  }
  return { name, rows: count, sha256: hash.digest('hex') };
}

/** Allocated numbers are never reused, even if their rows are gone. */
async function givenNumbers(client: PoolClient, tables: readonly Table[]): Promise<ThreadStatement[]> {
  const statements: ThreadStatement[] = [];
  for (const { name, identity } of tables) {
    if (identity === null) continue;
    const { rows } = await client.query(
      'SELECT last_value AS last FROM pg_sequences WHERE pg_get_serial_sequence($1, $2) = schemaname || $3 || sequencename',
      [name, identity, '.'],
    );
    const last = (rows as { last: number | null }[])[0]?.last;
    if (last == null) continue;
    statements.push(
      plain('UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?', [last, name]),
      plain(
        `INSERT INTO sqlite_sequence (name, seq) SELECT ?, ? WHERE EXISTS (SELECT 1 FROM sqlite_master WHERE name = ?
          AND sql LIKE '%AUTOINCREMENT%') AND NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?)`,
        [name, last, name, name],
      ),
    );
  }
  return statements;
}

interface ForeignKey {
  table: string;
  name: string;
  definition: string;
}

/**
 * Writes all rows of an SQLite file into an empty PostgreSQL database, in one transaction. Use a separate process:
 * reading the file blocks. Throws `database_not_empty`, `schema_differs`, `database_unreachable`, `database_unfit`.
 */
export async function copyToPostgres(options: CopyOptions): Promise<CopiedTable[]> {
  const { migrations, baseline, clock, file } = options;
  const source = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  const pool = await connect(options);
  try {
    source.exec('BEGIN');
    const ask: Ask = async (sql) => source.prepare(sql).all() as Record<string, unknown>[];
    requireSameSchema(
      migrations.map(recordedName),
      ((await ask('SELECT name FROM migrations')) as { name: string }[]).map(({ name }) => name),
    );
    const tables = await tablesOf(ask);
    await applyInPostgres(pool, migrations, baseline, clock.now());
    const client = await pool.connect();
    try {
      await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${instanceLock})`);
      const { rows: there } = await client.query('SELECT 1 FROM handles UNION ALL SELECT 1 FROM users LIMIT 1');
      if (there.length > 0)
        throw conflict('database_not_empty', 'The database already has rows. Create another one with createdb.');
      const copied = await inOneTransaction(client, source, tables);
      await client.query('COMMIT');
      return copied;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {});
      throw error;
    } finally {
      client.release();
    }
  } finally {
    source.close();
    await pool.end();
  }
}

async function inOneTransaction(
  client: PoolClient,
  source: DatabaseSync,
  tables: readonly Table[],
): Promise<CopiedTable[]> {
  const { rows } = await client.query(
    `SELECT conrelid::regclass::text AS "table", conname AS name, pg_get_constraintdef(oid) AS definition
      FROM pg_constraint WHERE contype = 'f' AND connamespace = current_schema()::regnamespace`,
  );
  const keys = rows as ForeignKey[];
  // Rows refer to each other in any order, so foreign keys are checked at the end.
  for (const { table, name } of keys) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${quoted(name)}`);
  for (const { name } of tables) {
    await client.query(`ALTER TABLE ${quoted(name)} DISABLE TRIGGER USER`);
    await client.query(`DELETE FROM ${quoted(name)}`);
  }
  const copied: CopiedTable[] = [];
  for (const table of tables) {
    const written = await toPostgres(client, source, table);
    compare(written, await hashInPostgres(client, table));
    copied.push(written);
  }
  for (const { table, name, definition } of keys)
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${quoted(name)} ${definition}`);
  for (const { name, identity } of tables) {
    await client.query(`ALTER TABLE ${quoted(name)} ENABLE TRIGGER USER`);
    if (identity !== null) await continueNumbers(client, source, name, identity);
  }
  for (const sql of searched) await client.query(sql);
  return copied;
}

async function toPostgres(client: PoolClient, source: DatabaseSync, table: Table): Promise<CopiedTable> {
  const { name, columns } = table;
  const names = columns.map(quoted).join(', ');
  const insert = `INSERT INTO ${quoted(name)} (${names}) SELECT ${names} FROM json_populate_recordset(NULL::${quoted(name)}, $1::json)`;
  const hash = createHash('sha256');
  let count = 0;
  let waiting: Record<string, unknown>[] = [];
  const send = async (): Promise<void> => {
    if (waiting.length > 0) await client.query(insert, [JSON.stringify(waiting)]);
    count += waiting.length;
    waiting = [];
  };
  for (const row of source.prepare(selectAll(table)).iterate() as Iterable<Record<string, unknown>>) {
    addToHash(hash, table, row);
    waiting.push(Object.fromEntries(columns.map((column) => [column, boundValue(row[column], false)])));
    if (waiting.length === rowsAtOnce) await send();
  }
  await send();
  return { name, rows: count, sha256: hash.digest('hex') };
}

async function continueNumbers(
  client: PoolClient,
  source: DatabaseSync,
  name: string,
  identity: string,
): Promise<void> {
  const given = source.prepare('SELECT seq FROM sqlite_sequence WHERE name = ?').get(name) as
    | { seq: number }
    | undefined;
  await client.query(
    `SELECT setval(pg_get_serial_sequence($1, $2), greatest((SELECT coalesce(max(${quoted(identity)}), 0) FROM ${quoted(name)}), $3::bigint, 1),
      greatest((SELECT coalesce(max(${quoted(identity)}), 0) FROM ${quoted(name)}), $3::bigint) > 0)
     WHERE pg_get_serial_sequence($1, $2) IS NOT NULL`,
    [name, identity, given?.seq ?? 0],
  );
}
