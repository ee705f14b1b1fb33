// An instance's database on PostgreSQL: what the module promises there. The server is Debian's, or the one that
// SERVICE_TEST_DATABASE_URL names.
import t from 'tap';
import pg from 'pg';
import { migrations } from '../../migrations/index.ts';
import { postgresBaseline } from '../../migrations/postgres-baseline.ts';
import { createDatabase } from '../../src/db/index.ts';
import type { Database } from '../../src/db/index.ts';
import { boundValue } from '../../src/db/postgres/query-runner.ts';
import { clientSettings, shownUrl } from '../../src/db/postgres/connection-settings.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { startPostgres } from '../fixtures/postgres.ts';
import { createPostgresDatabaseFor, emptyPostgresFor, testPostgresUrl } from '../fixtures/test-postgres.ts';
import { freePort } from '../fixtures/free-port.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

const server = testPostgresUrl ?? (await startPostgres(t)).url;

const open = async (
  t: Owner,
  url: string,
  more: { busyTimeoutMs?: number; migrate?: 'when-new' } = {},
): Promise<Database> => {
  const db = await createDatabase({
    file: '',
    postgres: { url, poolSize: 4, baseline: postgresBaseline },
    entities: [],
    migrations,
    clock: fixedClock(),
    logger: silentLogger,
    snapshotDirectory: '',
    migrate: 'always',
    ...more,
  });
  t.teardown(() => db.close());
  return db;
};
const reasonOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'accepted',
    (error: Error & { reason?: string }) =>
      error.reason === 'internal' ? error.message : (error.reason ?? error.message),
  );
const raise = 'UPDATE counts SET value = value + 1 WHERE name = ?';
const valueOf = async (db: Database): Promise<number> =>
  ((await db.read.query("SELECT value FROM counts WHERE name = 'people'")) as { value: number }[])[0]!.value;

t.test('a write is whole or nothing, and is seen when it has ended', async (t) => {
  const db = await open(t, await createPostgresDatabaseFor(t, server));
  t.equal(db.dialect, 'postgres');
  const before = await db.state();
  await db.write(({ manager }) => manager.query(raise, ['people']));
  t.equal(await valueOf(db), 1);
  t.not(await db.state(), before, 'the state changes with every commit');
  const same = await db.state();
  t.equal(await db.state(), same, 'and with nothing else');
  t.equal(
    await reasonOf(
      db.write(async ({ manager }) => {
        await manager.query(raise, ['people']);
        throw new Error('on purpose');
      }),
    ),
    'on purpose',
  );
  t.equal(await valueOf(db), 1);
  t.match(await reasonOf(db.write(() => db.write(async () => {}))), /inside a write/);
  t.match(await reasonOf(db.write(async () => db.read)), /through tx.manager/);
  t.match(await reasonOf(db.read.query(raise, ['people'])), /read-only/);
  await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      db.write(({ manager }) => manager.query(raise, ['people']), at % 2 === 0 ? { scope: `task:${at % 4}` } : {}),
    ),
  );
  t.equal(await valueOf(db), 21);
});

t.test('another process sees each commit at once, and its lock is waited for no longer than was said', async (t) => {
  const url = await createPostgresDatabaseFor(t, server);
  const [db, other] = [await open(t, url, { busyTimeoutMs: 200 }), await open(t, url)];
  for (let round = 1; round <= 20; round += 1) {
    const before = await db.state();
    await other.write(({ manager }) => manager.query(raise, ['people']));
    t.not(await db.state(), before);
  }
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const writing = other.write(async ({ manager }) => {
    await manager.query(raise, ['people']);
    await held;
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.equal(await reasonOf(db.write(async () => {})), 'database_locked');
  release();
  await writing;
  t.equal(await reasonOf(db.write(async () => {})), 'accepted');
});

t.test('a connection that is cut changes nothing, and the next request has another one', async (t) => {
  const url = await createPostgresDatabaseFor(t, server);
  const db = await open(t, url);
  const cut = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()',
    );
    await client.end();
  };
  await db.write(({ manager }) => manager.query(raise, ['people']));
  await cut();
  await db.write(({ manager }) => manager.query(raise, ['people']));
  t.equal(await valueOf(db), 2, 'idle connections are replaced');
  const failed = await reasonOf(
    db.write(async ({ manager }) => {
      await manager.query(raise, ['people']);
      await cut();
      await manager.query(raise, ['people']);
    }),
  );
  t.equal(failed, 'database_unavailable');
  t.equal(await valueOf(db), 2, 'a read is tried again, and the write has changed nothing');
});

t.test('what a start refuses, each in a sentence without the password', async (t) => {
  const url = await emptyPostgresFor(t, server);
  const port = await freePort();
  const away = (change: (url: URL) => void): string => {
    const other = new URL(url);
    other.password = 'hunter2';
    change(other);
    return other.href;
  };
  const refused: [string, string, RegExp][] = [
    [
      'nothing listens',
      away((to) => Object.assign(to, { port: String(port), search: '', hostname: '127.0.0.1' })),
      /database_unreachable/,
    ],
    ['no such database', away((to) => (to.pathname = '/missing')), /database_unfit/],
    ['no address', 'db.example.org', /database_url_invalid/],
    ['another scheme', 'mysql://hearth:hunter2@db.example.org/hearth', /database_url_invalid/],
    ['no database', 'postgres://hearth:hunter2@db.example.org', /database_url_invalid/],
    ['an unknown parameter', away((to) => to.searchParams.set('color', 'red')), /database_url_invalid/],
    ['an unknown mode', away((to) => to.searchParams.set('sslmode', 'maybe')), /database_url_invalid/],
    ['no file of an authority', away((to) => (to.search = '?sslrootcert=/missing.pem')), /database_url_invalid/],
  ];
  for (const [title, address, reason] of refused) {
    const error = await open(t, address).then(
      () => null,
      (thrown: Error & { reason: string }) => thrown,
    );
    t.match(error?.reason, reason, title);
    t.match(error?.message, /^[^\n]+\.$/, `${title}: one sentence`);
    t.notMatch(JSON.stringify([error?.message, error?.reason]), /hunter2/, title);
  }
  t.equal(
    shownUrl('postgres://hearth:hunter2@db.example.org:5433/hearth?sslmode=require'),
    'postgres://hearth@db.example.org:5433/hearth',
  );
  t.match(clientSettings('postgres://a:b%2Fc@db.example.org/x'), {
    host: 'db.example.org',
    user: 'a',
    password: 'b/c',
    ssl: false,
  });
  t.match(clientSettings('postgres://a@localhost/x?host=/run/postgresql'), { host: '/run/postgresql', port: 5432 });
});

t.test('a newer schema, and one that is behind, are not served', async (t) => {
  const url = await createPostgresDatabaseFor(t, server);
  const db = await open(t, url);
  await db.write(({ manager }) => manager.query("DELETE FROM migrations WHERE name LIKE 'V210%'"));
  t.equal(await reasonOf(open(t, url, { migrate: 'when-new' })), 'schema_behind');
  await db.write(({ manager }) => manager.query("INSERT INTO migrations (timestamp, name) VALUES (9, 'V9999later')"));
  t.equal(await reasonOf(open(t, url, { migrate: 'when-new' })), 'schema_newer');
});

t.test('nodes that meet at an empty database make its schema once', async (t) => {
  const url = await emptyPostgresFor(t, server);
  const opened = await Promise.all([open(t, url), open(t, url, { migrate: 'when-new' }), open(t, url)]);
  for (const db of opened) t.equal((await db.schema()).filter(({ state }) => state === 'pending').length, 0);
  const names = (await opened[0]!.read.query('SELECT name FROM migrations')) as { name: string }[];
  t.equal(new Set(names.map(({ name }) => name)).size, migrations.length);
  t.equal(names.length, migrations.length);
});

t.test('values are bound as both databases have them', (t) => {
  t.equal(boundValue(true, false), 1);
  t.equal(boundValue(undefined, false), null);
  t.equal(boundValue('a\0b', false), 'a\ufffdb');
  t.equal(boundValue('["a\\u0000", "\\\\u0000"]', true), '["a\\ufffd", "\\\\u0000"]');
  t.equal(boundValue('\\u0000', false), '\\u0000');
  t.ok(Buffer.isBuffer(boundValue(new Uint8Array([1]), false)));
  t.end();
});

t.test('a number above 2^53 is an error, not another number', async (t) => {
  const db = await open(t, await createPostgresDatabaseFor(t, server));
  t.match(await reasonOf(db.read.query('SELECT 9007199254740993::bigint AS n')), /2\^53/);
  t.strictSame(await db.read.query('SELECT count(*) AS n, sum(1) AS s, 1 = 1 AS yes FROM (SELECT 1) x'), [
    { n: 1, s: 1, yes: 1 },
  ]);
});
