// Rows of every kind from SQLite to PostgreSQL and back: each table has the same hash; a target that is not empty, and
// a copy that is ended, change nothing.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SQLInputValue } from 'node:sqlite';
import t from 'tap';
import pg from 'pg';
import { migrations } from '../../migrations/index.ts';
import { postgresBaseline } from '../../migrations/postgres-baseline.ts';
import { copyToPostgres, copyToSqlite } from '../../src/db/index.ts';
import { recordedName } from '../../src/db/migrations.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { startPostgres } from '../fixtures/postgres.ts';
import { copyTestDatabase } from '../fixtures/test-database.ts';
import { emptyPostgresFor, testPostgresUrl } from '../fixtures/test-postgres.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { rowsByVersion } from './rows-by-version.ts';

const server = testPostgresUrl ?? (await startPostgres(t)).url;
const folder = temporaryFolder(t);
const source = path.join(folder, 'hearth.db');

/** An instance with every kind of row, as its migrations have left them. */
const filled = new DatabaseSync(source);
t.teardown(() => filled.isOpen && filled.close());
filled.exec('PRAGMA foreign_keys = OFF; BEGIN');
filled.exec(
  'CREATE TABLE migrations (id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, timestamp BIGINT NOT NULL, name TEXT NOT NULL)',
);
for (const migration of migrations.toSorted((a, b) => a.version - b.version)) {
  for (const sql of migration.statements) filled.exec(sql);
  for (const [table, row] of rowsByVersion[migration.version] ?? []) {
    const columns = Object.keys(row);
    filled
      .prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`)
      .run(...(Object.values(row) as SQLInputValue[]));
  }
  filled
    .prepare('INSERT INTO migrations (timestamp, name) VALUES (?, ?)')
    .run(migration.version, recordedName(migration));
}
const tables = (
  filled
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name")
    .all() as { name: string }[]
)
  .map(({ name }) => name)
  .filter((name) => !/^(sqlite_|search_)|^migrations$/.test(name));
const strange = 'ü 🔥 \\ " \' \n\t %_ \u2028 {"a":[1]}';
filled.prepare("UPDATE users SET display_name = ? WHERE id = 'alice-id'").run(strange);
filled.exec(
  `INSERT INTO outbox (id, kind, key, state, next_at, lease_until, created_at) VALUES (9007199254740991, 'mail', 'x', 'PENDING', 1, 0, 1)`,
);
filled.exec('DELETE FROM outbox WHERE id = 9007199254740991');
filled.exec("UPDATE sqlite_sequence SET seq = 700 WHERE name = 'outbox'; COMMIT");
const countOf = (name: string): number =>
  (filled.prepare(`SELECT count(*) AS n FROM "${name}"`).get() as { n: number }).n;
const empty = tables.filter((name) => countOf(name) === 0);
const written = tables.reduce((sum, name) => sum + countOf(name), 0);
const people = countOf('users');
filled.close();

const options = { migrations, baseline: postgresBaseline, clock: fixedClock(), logger: silentLogger };

t.test('there and back, every table has the same rows', async (t) => {
  const url = await emptyPostgresFor(t, server);
  const there = await copyToPostgres({ ...options, url, file: source });
  t.strictSame(
    there.map(({ name }) => name),
    tables,
  );
  t.strictSame(empty, [], 'every table has rows');
  t.equal(
    there.reduce((sum, { rows }) => sum + rows, 0),
    written,
  );
  const back = path.join(folder, 'back.db');
  t.strictSame(await copyToSqlite({ ...options, url, file: back }), there);
  const database = new DatabaseSync(back);
  t.teardown(() => database.close());
  t.strictSame(
    database
      .prepare('PRAGMA integrity_check')
      .all()
      .map((row) => ({ ...row })),
    [{ integrity_check: 'ok' }],
  );
  t.match(database.prepare("SELECT display_name AS name FROM users WHERE id = 'alice-id'").get(), { name: strange });
  t.match(
    database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'").get(),
    { seq: 700 },
    'numbers go on',
  );
  const triggersOf = (file: DatabaseSync): unknown[] =>
    file
      .prepare("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
      .all()
      .map((row) => ({ ...row }));
  const before = new DatabaseSync(source);
  t.teardown(() => before.close());
  t.strictSame(triggersOf(database), triggersOf(before));
  t.ok(
    (database.prepare('SELECT count(*) AS n FROM search_changes').get() as { n: number }).n > 3,
    'the next start indexes all',
  );

  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const insert = await client.query(
    "INSERT INTO outbox (kind, key, state, next_at, lease_until, created_at) VALUES ('mail', 'x', 'PENDING', 1, 0, 1) RETURNING id",
  );
  t.equal(Number(insert.rows[0].id), 701);
  const count = async (): Promise<number> =>
    Number((await client.query("SELECT value FROM counts WHERE name = 'accounts'")).rows[0].value);
  const accounts = await count();
  await client.query("INSERT INTO users (id, created_at) VALUES ('new', 1)");
  t.equal(await count(), accounts + 1, 'triggers are on');
  await t.rejects(
    client.query(
      "INSERT INTO sessions (id, user_id, token_hash, created_at, last_seen_at, expires_at) VALUES ('x', 'nobody', 'x', 1, 1, 1)",
    ),
    /foreign key/,
  );
  await client.end();
  await t.rejects(copyToPostgres({ ...options, url, file: source }), /already has rows/);
});

t.test('a copy that is cut off leaves an empty database, and the next one succeeds', async (t) => {
  const url = await emptyPostgresFor(t, server);
  const rounds = Number(process.env['HEARTH_KILLS'] ?? 3);
  for (let round = 0; round < rounds; round += 1) {
    const copying = copyToPostgres({ ...options, url, file: source }).then(
      () => 'whole',
      () => 'cut',
    );
    await new Promise((resolve) => setTimeout(resolve, 100 + (round * 1_500) / rounds));
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()',
    );
    const outcome = await copying;
    const there = await client.query("SELECT to_regclass('users') IS NOT NULL AS made");
    const count = there.rows[0].made ? Number((await client.query('SELECT count(*) AS n FROM users')).rows[0].n) : 0;
    await client.end();
    t.equal(count, outcome === 'whole' ? people : 0, `round ${round}: ${outcome}`);
    if (outcome === 'whole') return;
  }
  await copyToPostgres({ ...options, url, file: source });
});

t.test('a source with another schema is refused, and nothing is made', async (t) => {
  const url = await emptyPostgresFor(t, server);
  const other = path.join(folder, 'other.db');
  await copyTestDatabase(other);
  const database = new DatabaseSync(other);
  database.exec("DELETE FROM migrations WHERE name LIKE 'V210%'");
  database.close();
  await t.rejects(copyToPostgres({ ...options, url, file: other }), /schema of this program/);
  t.ok(existsSync(other));
});
