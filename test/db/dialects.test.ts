// Every table and index of the migrations is built on a real PostgreSQL, too, and compared: new tables use SQL that
// both dialects share (docs/decisions/034).
import { DatabaseSync } from 'node:sqlite';
import path from 'node:path';
import t from 'tap';
import { entities } from '../../src/app.ts';
import { startPostgres } from '../fixtures/postgres.ts';
import { toPostgres } from '../fixtures/postgres-schema.ts';
import type { SchemaObject } from '../fixtures/postgres-schema.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { copyTestDatabase } from '../fixtures/test-database.ts';

/** Search uses an index of SQLite (FTS5); PostgreSQL has another, so its tables have no counterpart. */
const ownOfSqlite = /^(sqlite_|search_)/;

interface ColumnFacts {
  name: string;
  type: string;
  isNullable: boolean;
  default: string | null;
}
interface TableFacts {
  columns: ColumnFacts[];
  primaryKey: string[];
  foreignKeys: string[];
  checks: string[];
}
interface IndexFacts {
  table: string;
  /** Null for an expression. */
  columns: (string | null)[];
  isUnique: boolean;
  isPartial: boolean;
}

const booleans = new Map<string, Set<string>>();
for (const { options } of entities) {
  const columns = Object.entries(options.columns as Record<string, { name?: string; type?: unknown } | undefined>)
    .filter(([, column]) => column?.type === 'boolean')
    .map(([property, column]) => column?.name ?? property);
  booleans.set(options.tableName ?? options.name, new Set(columns));
}
const isBoolean = (table: string, column: string): boolean => booleans.get(table)?.has(column) ?? false;

async function sqliteSchema(owner: Owner): Promise<DatabaseSync> {
  const file = path.join(temporaryFolder(owner), 'hearth.db');
  await copyTestDatabase(file);
  const database = new DatabaseSync(file, { readOnly: true });
  owner.teardown(() => database.close());
  return database;
}

const named = (text: string): string[] =>
  [...text.matchAll(/\bCONSTRAINT "?(\w+)"?\s+CHECK\b/g)].map(([, name]) => name!);

function factsOfSqlite(database: DatabaseSync, { name, sql }: SchemaObject): TableFacts {
  const columns = database.prepare(`PRAGMA table_xinfo("${name}")`).all() as {
    name: string;
    type: string;
    notnull: number;
    dflt_value: string | null;
    pk: number;
  }[];
  const typeOf = (column: string, type: string): string => {
    if (isBoolean(name, column)) return 'boolean';
    const word = type.toUpperCase();
    return { INTEGER: 'bigint', BIGINT: 'bigint', TEXT: 'text', VARCHAR: 'text', BLOB: 'bytea' }[word] ?? word;
  };
  const defaultOf = (column: string, value: string | null): string | null =>
    value !== null && isBoolean(name, column) ? String(value === '1') : value;
  const keys = database.prepare(`PRAGMA foreign_key_list("${name}")`).all() as {
    id: number;
    table: string;
    from: string;
    to: string | null;
    on_delete: string;
  }[];
  return {
    columns: columns.map((column) => ({
      name: column.name,
      type: typeOf(column.name, column.type),
      // A primary key is never null; SQLite reports that only where the statement says so.
      isNullable: column.notnull === 0 && column.pk === 0,
      default: defaultOf(column.name, column.dflt_value),
    })),
    primaryKey: columns
      .filter(({ pk }) => pk > 0)
      .sort((a, b) => a.pk - b.pk)
      .map((column) => column.name),
    foreignKeys: keys.map((key) => `${key.from} -> ${key.table} ${key.on_delete}`).sort(),
    checks: named(sql).sort(),
  };
}

t.test('every table and index of SQLite is the same on PostgreSQL', async (t) => {
  const [database, postgres] = [await sqliteSchema(t), await startPostgres(t)];
  const objects = (
    database
      .prepare(
        `SELECT type, name, tbl_name AS "table", sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql IS NOT NULL`,
      )
      .all() as unknown as SchemaObject[]
  ).filter(({ name, table }) => !ownOfSqlite.test(name) && !ownOfSqlite.test(table));
  const tables = objects.filter(({ type }) => type === 'table');
  t.ok(tables.length > 50 && objects.length > tables.length + 50, 'the schema is there');

  const statements = toPostgres(objects, booleans);
  try {
    postgres.run(statements.map((statement) => `${statement};`).join('\n'));
  } catch (error) {
    t.fail(`PostgreSQL refuses: ${(error as { stderr?: string }).stderr ?? String(error)}`);
    return;
  }

  const columns = postgres.query<{
    table: string;
    name: string;
    type: string;
    nullable: string;
    default: string | null;
  }>(
    `SELECT table_name AS "table", column_name AS name, data_type AS type, is_nullable AS nullable,
            CASE WHEN is_identity = 'YES' THEN NULL ELSE column_default END AS "default"
     FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position`,
  );
  const constraints = postgres.query<{
    table: string;
    kind: string;
    name: string;
    columns: string[];
    other: string | null;
    action: string;
  }>(
    `SELECT c.conrelid::regclass::text AS "table", c.contype AS kind, c.conname AS name, c.confdeltype AS action,
            c.confrelid::regclass::text AS other,
            ARRAY(SELECT a.attname FROM unnest(c.conkey) WITH ORDINALITY AS k (number, place)
                  JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number ORDER BY k.place) AS columns
     FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace WHERE n.nspname = 'public'`,
  );
  const actions: Record<string, string> = { a: 'NO ACTION', r: 'RESTRICT', c: 'CASCADE', n: 'SET NULL' };
  for (const table of tables) {
    const own = constraints.filter((constraint) => constraint.table.replaceAll('"', '') === table.name);
    const checkNames = named(table.sql);
    const found: TableFacts = {
      columns: columns
        .filter((column) => column.table === table.name)
        .map((column) => ({
          name: column.name,
          type: column.type,
          isNullable: column.nullable === 'YES',
          default: column.default?.replace(/::[a-z ]+( COLLATE "C")?$/, '') ?? null,
        })),
      primaryKey: own.find(({ kind }) => kind === 'p')?.columns ?? [],
      foreignKeys: own
        .filter(({ kind }) => kind === 'f')
        .map((key) => `${key.columns[0]} -> ${key.other?.replaceAll('"', '')} ${actions[key.action]}`)
        .sort(),
      checks: own
        .filter(({ kind, name }) => kind === 'c' && checkNames.includes(name))
        .map(({ name }) => name)
        .sort(),
    };
    t.strictSame(found, factsOfSqlite(database, table), `table ${table.name}`);
  }

  const indexes = new Map(
    postgres
      .query<IndexFacts & { name: string }>(
        `SELECT i.indexrelid::regclass::text AS name, i.indrelid::regclass::text AS "table", i.indisunique AS "isUnique",
                i.indpred IS NOT NULL AS "isPartial",
                ARRAY(SELECT a.attname FROM unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place)
                      LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.number ORDER BY k.place) AS columns
         FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = 'public'`,
      )
      .map(({ name, ...facts }) => [name, facts]),
  );
  for (const { name, table } of objects.filter(({ type }) => type === 'index')) {
    const infos = database.prepare(`PRAGMA index_list("${table}")`).all() as {
      name: string;
      unique: number;
      partial: number;
    }[];
    const info = infos.find((each) => each.name === name)!;
    const parts = database.prepare(`PRAGMA index_info("${name}")`).all() as { name: string | null }[];
    t.strictSame(
      indexes.get(name),
      {
        table,
        columns: parts.map((part) => part.name),
        isUnique: info.unique === 1,
        isPartial: info.partial === 1,
      } satisfies IndexFacts,
      `index ${name}`,
    );
  }
});

t.test('times and counts of new tables fit: an INTEGER of SQLite is a BIGINT there', async (t) => {
  const postgres = await startPostgres(t);
  postgres.run(
    toPostgres([{ type: 'table', name: 'x', table: 'x', sql: 'CREATE TABLE x (at INTEGER NOT NULL)' }], new Map())[0]!,
  );
  postgres.run('INSERT INTO x (at) VALUES (1800000000000)');
  t.strictSame(postgres.query('SELECT at FROM x'), [{ at: 1_800_000_000_000 }]);
});
