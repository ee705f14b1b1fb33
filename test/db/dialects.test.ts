// The schema that an empty PostgreSQL gets (the baseline, and the steps after it) is compared with SQLite's: tables,
// columns, keys, checks, indexes, triggers, views and the rows that are there from the beginning. A step in one dialect
// only fails here (docs/decisions/034).
import { DatabaseSync } from 'node:sqlite';
import path from 'node:path';
import t from 'tap';
import { QueryFailedError } from 'typeorm';
import { claim, dueKeys } from '../../src/outbox/claim.ts';
import { isForeignKeyViolation, isUniqueViolation, uniqueRules } from '../../src/db/constraint-errors.ts';
import type { UniqueRule } from '../../src/db/constraint-errors.ts';
import {
  contains,
  containsIndexed,
  greatest,
  idsIn,
  inList,
  inPostgres,
  isoTime,
  listTable,
  numbered,
  positioned,
  type rows,
  rowsTable,
  skipLocked,
  upsert,
} from '../../src/db/dialect.ts';
import type { Dialect } from '../../src/db/dialect.ts';
import { postgresBaseline } from '../../migrations/postgres-baseline.ts';
import { migrations } from '../../migrations/index.ts';
import { statementsInPostgres } from '../../src/db/postgres/apply-migrations.ts';
import { schemaInPostgres } from '../../src/db/postgres/schema-words.ts';
import { startPostgres } from '../fixtures/postgres.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { copyTestDatabase } from '../fixtures/test-database.ts';

/** Search uses an index of SQLite (FTS5); PostgreSQL has another, so its tables have no counterpart. */
const ownOfSqlite = /^(sqlite_|search_\w+_trigrams)/;
/** Columns that SQLite derives, and PostgreSQL leaves empty. */
const derived: Readonly<Record<string, string>> = { search_repositories: 'deleted_at' };

interface SchemaObject {
  type: 'table' | 'index' | 'trigger' | 'view';
  name: string;
  table: string;
  sql: string;
}

/** All statements that an empty PostgreSQL gets. */
const postgresStatements = [
  ...postgresBaseline.statements,
  ...migrations
    .filter(({ version }) => !postgresBaseline.versions.includes(version))
    .toSorted((a, b) => a.version - b.version)
    .flatMap(statementsInPostgres),
];
/** The tables of a database as the program makes them. */
const tablesOf = (names: readonly string[], objects: readonly SchemaObject[]): string[] =>
  objects.filter(({ name }) => names.includes(name)).flatMap(({ sql }) => schemaInPostgres(sql));

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
  const typeOf = (type: string): string => {
    const word = type.toUpperCase();
    return { INTEGER: 'bigint', BIGINT: 'bigint', TEXT: 'text', VARCHAR: 'text', BLOB: 'bytea' }[word] ?? word;
  };
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
      type: typeOf(column.type),
      // A primary key is never null; SQLite reports that only where the statement says so.
      isNullable: column.notnull === 0 && column.pk === 0,
      default: column.dflt_value,
    })),
    primaryKey: columns
      .filter(({ pk }) => pk > 0)
      .sort((a, b) => a.pk - b.pk)
      .map((column) => column.name),
    foreignKeys: keys.map((key) => `${key.from} -> ${key.table} ${key.on_delete}`).sort(),
    checks: named(sql).sort(),
  };
}

t.test('everything of the schema is the same on PostgreSQL', async (t) => {
  const [database, postgres] = [await sqliteSchema(t), await startPostgres(t)];
  const objects = (
    database
      .prepare(`SELECT type, name, tbl_name AS "table", sql FROM sqlite_master WHERE sql IS NOT NULL`)
      .all() as unknown as SchemaObject[]
  ).filter(({ name, table }) => !ownOfSqlite.test(name) && !ownOfSqlite.test(table));
  const tables = objects.filter(({ type }) => type === 'table');
  t.ok(tables.length > 50 && objects.length > tables.length + 50, 'the schema is there');

  try {
    postgres.run(postgresStatements.map((statement) => `${statement};`).join('\n'));
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
        .flatMap((key) =>
          key.columns.map((column) => `${column} -> ${key.other?.replaceAll('"', '')} ${actions[key.action]}`),
        )
        .sort(),
      checks: own
        .filter(({ kind, name }) => kind === 'c' && checkNames.includes(name))
        .map(({ name }) => name)
        .sort(),
    };
    const wanted = factsOfSqlite(database, table);
    for (const facts of [found, wanted])
      facts.columns = facts.columns.filter(({ name }) => name !== derived[table.name]);
    t.strictSame(found, wanted, `table ${table.name}`);
    if (table.name === 'migrations') continue;
    const rowsOf = (rows: Record<string, unknown>[]): string[] => rows.map((row) => JSON.stringify({ ...row })).sort();
    t.strictSame(
      rowsOf(postgres.query(`SELECT * FROM "${table.name}"`)),
      rowsOf(database.prepare(`SELECT * FROM "${table.name}"`).all()),
      `rows of ${table.name}`,
    );
  }
  const namesOf = (kind: string): string[] => objects.filter(({ type }) => type === kind).map(({ name }) => name);
  t.strictSame(
    postgres
      .query<{ name: string }>(
        "SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind = 'r'",
      )
      .map(({ name }) => name)
      .sort(),
    namesOf('table').sort(),
    'no table more, none less',
  );
  t.strictSame(
    postgres
      .query<{ name: string; table: string; deletes: boolean; updates: boolean; inserts: boolean; before: boolean }>(
        `SELECT tgname AS name, tgrelid::regclass::text AS "table", (tgtype & 8) > 0 AS deletes, (tgtype & 16) > 0 AS updates,
           (tgtype & 4) > 0 AS inserts, (tgtype & 2) > 0 AS before FROM pg_trigger WHERE NOT tgisinternal ORDER BY tgname`,
      )
      .map((each) => [
        each.name,
        each.table,
        each.before ? 'BEFORE' : 'AFTER',
        each.deletes ? 'DELETE' : each.updates ? 'UPDATE' : 'INSERT',
      ]),
    objects
      .filter(({ type }) => type === 'trigger')
      .map(({ name, table, sql }) => {
        const [, time, event] = /\s(BEFORE|AFTER)\s+(INSERT|UPDATE|DELETE)\b/.exec(sql)!;
        return [name, table, time, event];
      })
      .sort(([a], [b]) => (a! < b! ? -1 : 1)),
    'triggers',
  );
  t.strictSame(
    postgres
      .query<{ name: string }>("SELECT viewname AS name FROM pg_views WHERE schemaname = 'public'")
      .map(({ name }) => name)
      .sort(),
    namesOf('view').sort(),
    'views',
  );

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
  postgres.run(schemaInPostgres('CREATE TABLE x (at INTEGER NOT NULL)')[0]!);
  postgres.run('INSERT INTO x (at) VALUES (1800000000000)');
  t.strictSame(postgres.query('SELECT at FROM x'), [{ at: 1_800_000_000_000 }]);
});

/** A statement with its values written into it, for a client that takes text only. */
const withValues = (sql: string, values: readonly (string | number)[]): string =>
  numbered(sql).replace(/\$(\d+)/g, (_all, at) => {
    const value = values[Number(at) - 1]!;
    return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;
  });

t.test('each function of the dialects gives the same rows in both', async (t) => {
  const [sqlite, postgres] = [new DatabaseSync(':memory:'), await startPostgres(t)];
  t.teardown(() => sqlite.close());
  const both = (sql: string, of: Dialect = 'sqlite'): void => (of === 'sqlite' ? sqlite.exec(sql) : postgres.run(sql));
  for (const dialect of ['sqlite', 'postgres'] as const) {
    const text = dialect === 'sqlite' ? 'TEXT' : 'TEXT COLLATE "C"';
    both(`CREATE TABLE things (id ${text} PRIMARY KEY, number BIGINT, name ${text})`, dialect);
    both(
      "INSERT INTO things VALUES ('a', 1, 'one'), ('b', 1800000000123, 'it''s 100%_?'), ('c', 3, 'Straße')",
      dialect,
    );
  }
  const same = (what: string, sql: (dialect: Dialect) => string, values: (string | number)[], expected: unknown[]) => {
    const found = sqlite.prepare(sql('sqlite')).all(...values);
    t.strictSame(
      found.map((row) => ({ ...row })),
      expected,
      `${what}, SQLite`,
    );
    t.equal(inPostgres(sql('sqlite')), numbered(sql('postgres')), `${what}, as the connection says it`);
    postgres.run(`PREPARE statement AS ${numbered(sql('postgres'))}`);
    t.strictSame(postgres.query(withValues(sql('postgres'), values)), expected, `${what}, PostgreSQL`);
  };
  const list = JSON.stringify(['a', 'c', "'", '?']);

  same(
    'inList',
    (of) => `SELECT id FROM things WHERE ${inList('id', {}, of)} ORDER BY id`,
    [list],
    [{ id: 'a' }, { id: 'c' }],
  );
  same('inList of nothing', (of) => `SELECT id FROM things WHERE ${inList('id', {}, of)}`, ['[]'], []);
  same(
    'inList of numbers',
    (of) => `SELECT id FROM things WHERE ${inList('number', { type: 'bigint' }, of)} ORDER BY id`,
    ['[1800000000123, 1, 7]'],
    [{ id: 'a' }, { id: 'b' }],
  );
  same(
    'idsIn',
    (of) => `SELECT id FROM things WHERE ${idsIn('id', new Set(['b']), 'wanted', of)[0].replace(':wanted', '?')}`,
    [idsIn('id', ['b'], 'wanted')[1]['wanted']!],
    [{ id: 'b' }],
  );
  same(
    'listTable',
    (of) => `SELECT value FROM ${listTable({}, of)} ORDER BY value`,
    ['["y", "x"]'],
    [{ value: 'x' }, { value: 'y' }],
  );
  same(
    'listTable of numbers, joined',
    (of) => `SELECT id FROM ${listTable({ type: 'bigint' }, of)} JOIN things t ON t.number = list.value ORDER BY id`,
    ['[3, 1]'],
    [{ id: 'a' }, { id: 'c' }],
  );
  const columns = { number: 'bigint', name: 'text' } as const;
  same(
    'rowsTable',
    (of) => `SELECT number, name FROM ${rowsTable(columns, '?', of)} ORDER BY number`,
    [
      JSON.stringify([
        [1800000000123, 'ünï'],
        [2, null],
      ]),
    ],
    [
      { number: 2, name: null },
      { number: 1_800_000_000_123, name: 'ünï' },
    ],
  );
  for (const [part, ids] of [
    ['100%_?', ['b']],
    ['STRASSE', []],
    ['ß', ['c']],
    ['e', ['a', 'c']],
    ['\\\\', []],
  ] as const)
    for (const [name, has] of [
      ['contains', contains],
      ['containsIndexed', containsIndexed],
    ] as const)
      same(
        `${name} ${part}`,
        (of) => `SELECT id FROM things WHERE ${has('name', '?', of)} ORDER BY id`,
        [part],
        ids.map((id) => ({ id })),
      );
  same(
    'isoTime',
    (of) => `SELECT ${isoTime('number', of)} AS at FROM things ORDER BY id`,
    [],
    [
      { at: '1970-01-01T00:00:00.001Z' },
      { at: new Date(1_800_000_000_123).toISOString() },
      { at: '1970-01-01T00:00:00.003Z' },
    ],
  );
  same(
    'greatest',
    (of) => `SELECT ${greatest('number', '2', of)} AS n FROM things ORDER BY id`,
    [],
    [{ n: 2 }, { n: 1_800_000_000_123 }, { n: 3 }],
  );
  same(
    'numbered leaves quoted text alone',
    () => `SELECT '?' AS "a?", id FROM things WHERE name = ?`,
    ['one'],
    [{ 'a?': '?', id: 'a' }],
  );

  const write = upsert('things', ['id'], ['number', 'name']);
  for (const values of [
    ['a', 8, 'eight'],
    ['d', 9, 'nine'],
  ]) {
    sqlite.prepare(write).run(...values);
    postgres.run(withValues(write, values));
  }
  same(
    'upsert',
    () => 'SELECT id, number, name FROM things WHERE number BETWEEN 8 AND 9 ORDER BY id',
    [],
    [
      { id: 'a', number: 8, name: 'eight' },
      { id: 'd', number: 9, name: 'nine' },
    ],
  );
  const claim = (of: Dialect): string =>
    `UPDATE things SET number = 0 WHERE id IN (SELECT id FROM things WHERE number > 0 ORDER BY id LIMIT 1 ${skipLocked(of)}) RETURNING id`;
  t.strictSame(
    sqlite
      .prepare(claim('sqlite'))
      .all()
      .map((row) => ({ ...row })),
    [{ id: 'a' }],
  );
  postgres.run(claim('postgres'));
  same('skipLocked', () => 'SELECT id FROM things WHERE number = 0', [], [{ id: 'a' }]);
});

t.test('the outbox, and the view of its webhook deliveries, are asked in the same words in both', async (t) => {
  const [database, postgres] = [await sqliteSchema(t), await startPostgres(t)];
  const objects = database
    .prepare(
      `SELECT type, name, tbl_name AS "table", sql FROM sqlite_master
        WHERE name IN ('outbox', 'webhook_messages', 'webhook_deliveries', 'outbox_due') ORDER BY type = 'view'`,
    )
    .all() as unknown as (SchemaObject | { type: 'view'; sql: string })[];
  t.equal(objects.length, 4);
  const tables = objects.filter((object): object is SchemaObject => object.type !== 'view');
  tables.sort((a, b) => Number(a.type === 'index') - Number(b.type === 'index') || (a.name < b.name ? -1 : 1));
  postgres.run('CREATE TABLE webhooks (id TEXT COLLATE "C" PRIMARY KEY)');
  for (const sql of tablesOf(['webhook_messages', 'outbox', 'outbox_due'], tables)) postgres.run(sql);
  for (const { type, sql } of objects) if (type === 'view') postgres.run(sql);
  postgres.run(`INSERT INTO webhooks VALUES ('a'), ('b');
    INSERT INTO outbox (id, kind, key, state, next_at, lease_until, created_at) VALUES
      (1, 'webhook', 'a', 'PENDING', 5, 0, 1), (2, 'webhook', 'a', 'PENDING', 4, 0, 1), (3, 'webhook', 'a', 'PENDING', 6, 0, 1),
      (4, 'webhook', 'b', 'PENDING', 1, 99, 1), (5, 'webhook', 'c', 'PENDING', 99, 0, 1), (6, 'mail', 'd', 'PENDING', 1, 0, 1);
    INSERT INTO webhook_messages (id, uuid, webhook_id, event) VALUES (1, 'u', 'a', 'push')`);
  const manager = {
    connection: { options: { type: 'better-sqlite3' } },
    query: async (sql: string, values: (string | number)[]) =>
      sql.startsWith('UPDATE') ? [] : postgres.query(withValues(sql, values)),
  } as unknown as Parameters<typeof rows>[0];
  t.strictSame(await dueKeys(manager, 'webhook', 10), ['a'], 'what is leased, later or of another kind is not due');
  const wanted = [
    { key: 'a', limit: 2 },
    { key: 'b', limit: 2 },
  ];
  const claimed = await claim({ manager, now: 10 } as Parameters<typeof claim>[0], 'webhook', wanted);
  t.strictSame(
    claimed.map(({ id, key, nextAt }) => [id, key, nextAt]),
    [
      [2, 'a', 4],
      [1, 'a', 5],
    ],
    'the longest due first, no more than wanted',
  );
  t.match(postgres.query('SELECT * FROM webhook_deliveries'), [
    { id: 1, uuid: 'u', webhook_id: 'a', event: 'push', state: 'PENDING', attempts: 0, next_attempt_at: 5 },
  ]);
});

t.test('parameters are numbered, and text in quotes is left alone', (t) => {
  const cases: [string, string][] = [
    [
      "DELETE FROM things WHERE id = ? AND name <> '?' RETURNING id",
      "DELETE FROM things WHERE id = $1 AND name <> '?' RETURNING id",
    ],
    [
      'SELECT "a?" FROM t WHERE a > ?1 AND b <= ?2 AND c = ?1',
      'SELECT "a?" FROM t WHERE a > $1 AND b <= $2 AND c = $1',
    ],
    ["SELECT ? || 'it''s ?' || ?", "SELECT $1 || 'it''s ?' || $2"],
    ['SELECT $1', 'SELECT $1'],
    [
      'SELECT 1 FROM a CROSS JOIN b x ON x.id = a.id CROSS JOIN c y',
      'SELECT 1 FROM a JOIN b x ON x.id = a.id CROSS JOIN c y',
    ],
  ];
  for (const [sql, expected] of cases) t.equal(inPostgres(sql), expected);
  t.strictSame(positioned("SELECT :a, ':b', x::text, :b, :a", { a: 1, b: 'two' }), [
    "SELECT ?, ':b', x::text, ?, ?",
    [1, 'two', 1],
  ]);
  t.end();
});

t.test('a broken rule is recognised by one name in both', async (t) => {
  const [database, postgres] = [await sqliteSchema(t), await startPostgres(t)];
  const names = Object.keys(uniqueRules) as UniqueRule[];
  for (const rule of names) {
    const [column = ''] = uniqueRules[rule];
    const [table = ''] = column.split('.');
    const columns = uniqueRules[rule].map((each) => each.slice(table.length + 1));
    const parts = rule.endsWith('_pkey')
      ? database.prepare(`SELECT name FROM pragma_table_info('${table}') WHERE pk > 0 ORDER BY pk`).all()
      : database.prepare(`SELECT name FROM pragma_index_info('${rule}')`).all();
    t.strictSame(
      parts.map(({ name }) => name),
      columns,
      `${rule} in SQLite`,
    );
    const indexSql = rule.endsWith('_pkey')
      ? `CREATE TABLE ${table} (${columns[0]} TEXT PRIMARY KEY)`
      : `CREATE TABLE IF NOT EXISTS ${table} (${columns.map((name) => `${name} TEXT`).join(', ')}); CREATE UNIQUE INDEX ${rule} ON ${table} (${columns.join(', ')})`;
    postgres.run(`DROP TABLE IF EXISTS ${table}; ${indexSql}`);
    const insert = `INSERT INTO ${table} VALUES (${columns.map(() => "'x'").join(', ')})`;
    const error = postgresError(() => postgres.run(`\\set VERBOSITY verbose\n${insert}; ${insert}`));
    t.strictSame(
      names.filter((name) => isUniqueViolation(error, name)),
      [rule],
      `${rule} in PostgreSQL`,
    );
    t.notOk(isForeignKeyViolation(error));
  }
  postgres.run('CREATE TABLE up (id TEXT PRIMARY KEY); CREATE TABLE down (id TEXT REFERENCES up (id))');
  const orphan = postgresError(() => postgres.run("\\set VERBOSITY verbose\nINSERT INTO down VALUES ('x')"));
  t.ok(isForeignKeyViolation(orphan));
  t.notOk(isUniqueViolation(orphan, 'handles_pkey'));
});

/** As the client library for PostgreSQL reports what psql prints. */
function postgresError(work: () => void): QueryFailedError {
  try {
    work();
  } catch (error) {
    const stderr = String((error as { stderr?: unknown }).stderr);
    const [, code] = /ERROR:\s+(\w{5}):/.exec(stderr) ?? [];
    const [, constraint] = /CONSTRAINT NAME:\s+(\w+)/.exec(stderr) ?? [];
    return new QueryFailedError('', [], Object.assign(new Error(stderr), { code, constraint }));
  }
  throw new Error('PostgreSQL took it');
}
