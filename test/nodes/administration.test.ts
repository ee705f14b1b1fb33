// time limit: 300 s
// What an administrator sees of the servers of one PostgreSQL: the page, the command, the doctor, metrics. Three rows:
// this server, one of another version whose clock is wrong, and one that was killed.
import t from 'tap';
import { judgeServer } from '../../src/doctor/checks/database.ts';
import type { PostgresState } from '../../src/doctor/database-facts.ts';
import { runCli } from '../cli/run-cli.ts';
import { startPostgres } from '../fixtures/postgres.ts';
import { createPostgresDatabaseFor, testPostgresUrl } from '../fixtures/test-postgres.ts';
import { extractMain, password, startWeb, visitor } from '../fixtures/web-fixture.ts';

t.setTimeout(280_000);

const postgres = testPostgresUrl ?? (await startPostgres(t)).url;
const env = { SERVICE_DATABASE_URL: await createPostgresDatabaseFor(t, postgres), SERVICE_METRICS_TOKEN: 'metrics' };
const web = await startWeb(t, { env });
const { db, nodes, accounts, config } = web.modules;
await accounts.addPerson({ username: 'alice', password, isAdministrator: true });
await accounts.addPerson({ username: 'bob', password });
await nodes.begin();
t.teardown(() => nodes.stop());
await db.write(async ({ manager }) => {
  for (const [id, version, print, ahead, until] of [
    ['node-b', '0.0.1', 'other', -3_600_000, 5_000_000_000_000],
    ['node-c', '0.0.1', 'other', 0, 1],
  ])
    await manager.query(
      `INSERT INTO nodes (id, host, version, run, key_print, clock_ahead_ms, started_at, seen_at, until)
        SELECT $1, $1 || '.example.org', $2, 'run', $3, $4, started_at + 1, seen_at, $5 FROM nodes WHERE id = $6`,
      [id, version, print, ahead, until, db.node],
    );
});
const cli = (...words: string[]) => runCli(words, { env: { SERVICE_DATA_DIR: config.dataDir, ...env } });

t.test('the page names each server; a member and a visitor do not get it', async (t) => {
  const administrator = visitor(web);
  await administrator.post('/login', { username: 'alice', password });
  const main = extractMain(await administrator.get('/admin/nodes'));
  t.match(main, /node-b\.example\.org[^]*serving[^]*0\.0\.1[^]*−3600\.0 s/);
  t.match(main, /node-c\.example\.org[^]*gone/);
  t.match(main, 'this one');
  const { body } = await administrator.get('/admin/health');
  t.match(body, 'href="/admin/nodes"', 'with a link beside the others');
  t.match(body, /PostgreSQL \d+\.\d+[^]*<code>postgres:\/\/hearth@/, 'the database is named');
  const member = visitor(web);
  await member.post('/login', { username: 'bob', password });
  t.not((await member.get('/admin/nodes')).status, 200);
  t.not((await visitor(web).get('/admin/nodes')).status, 200);
});

t.test('the command, as text and as JSON', async (t) => {
  const text = await cli('node', 'list');
  t.match(text, { code: 0, stdout: /serving[^]*node-b\.example\.org[^]*-3600000 ms[^]*node-c\.example\.org[^]*gone/ });
  const list = JSON.parse((await cli('node', 'list', '--json')).stdout) as { servers?: object[] } & object[];
  t.match(list.servers ?? list, [
    { state: 'serving', isThis: true },
    { id: 'node-b', state: 'serving', isThis: false, clockAheadMs: -3_600_000 },
    { id: 'node-c', state: 'gone' },
  ]);
});

t.test('the doctor says what is wrong with a PostgreSQL', async (t) => {
  const fine: PostgresState = {
    synchronousCommit: 'on',
    syncs: true,
    connections: { used: 90, most: 100 },
    oldestTransactionMs: 600_000,
    hasTrigrams: true,
    laterStandbys: 0,
    hasLimits: true,
  };
  const checks = (facts: Partial<PostgresState>): string[] =>
    judgeServer({ ...fine, ...facts }, 'transaction').map(
      ({ check, level, remedy }) => `${check} ${level} ${remedy === undefined}`,
    );
  t.strictSame(checks({}), []);
  t.strictSame(checks({ synchronousCommit: 'remote_write' }), []);
  for (const [facts, expected] of [
    [{ synchronousCommit: 'off' }, 'database.synchronous_commit warning'],
    [{ synchronousCommit: 'local' }, 'database.synchronous_commit warning'],
    [{ syncs: false }, 'database.fsync problem'],
    [{ connections: { used: 91, most: 100 } }, 'database.connections warning'],
    [{ oldestTransactionMs: 600_001 }, 'database.long_transaction warning'],
    [{ hasTrigrams: false }, 'database.pg_trgm problem'],
    [{ laterStandbys: 1 }, 'database.standby warning'],
    [{ hasLimits: false }, 'database.limits warning'],
  ] as const)
    t.strictSame(checks(facts), [`${expected} false`]);
});

t.test('the doctor says what keeps one from serving for another', async (t) => {
  const { code, stdout } = await cli('doctor', '--only', 'nodes', '--json');
  t.equal(code, 7);
  const { findings } = JSON.parse(stdout) as { findings: { check: string; level: string; remedy: string }[] };
  t.strictSame(findings.map(({ check, level }) => [check, level]).sort(), [
    // That of this server is the test's.
    ['nodes.clock', 'warning'],
    ['nodes.clock', 'warning'],
    ['nodes.gone', 'warning'],
    ['nodes.key', 'problem'],
    ['nodes.storage', 'problem'],
    ['nodes.version', 'problem'],
  ]);
  t.ok(findings.every(({ remedy }) => remedy.length > 10));
});

t.test('metrics', async (t) => {
  const { body } = await visitor(web).get('/metrics', { Authorization: 'Bearer metrics' });
  t.match(body, /^hearth_nodes\{state="serving"\} 2$/m);
  t.match(body, /^hearth_nodes\{state="gone"\} 1$/m);
  t.match(body, /^hearth_clock_ahead_seconds -?[\d.]+$/m);
  t.match(body, /^hearth_database_bytes [1-9]\d+$/m);
  t.match(body, /^hearth_database_connections\{state="used"\} [1-9]\d*$/m);
  t.match(body, /^hearth_database_connections\{state="free"\} [1-9]\d*$/m);
  t.match(body, /^hearth_database_oldest_transaction_seconds [\d.]+$/m);
  t.notMatch(body, /hearth_sqlite_/);
});
