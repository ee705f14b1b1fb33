// PgBouncer in front of PostgreSQL: how a start without its setting is refused, that writes have their time limits
// without those that a connection begins with, and how the doctor finds its mode.
// time limit: 300 s
import { spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import t from 'tap';
import { migrations } from '../../migrations/index.ts';
import { postgresBaseline } from '../../migrations/postgres-baseline.ts';
import { createDatabase } from '../../src/db/index.ts';
import type { Database } from '../../src/db/index.ts';
import { judgeServer } from '../../src/doctor/checks/database.ts';
import { readDatabaseFacts } from '../../src/doctor/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startPostgres } from '../fixtures/postgres.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { createPostgresDatabaseFor } from '../fixtures/test-postgres.ts';
import { startFakePostgres } from './fake-postgres-server.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(300_000);

const open = (url: string): Promise<Database> =>
  createDatabase({
    file: '',
    postgres: { url, poolSize: 2, baseline: postgresBaseline },
    entities: [],
    migrations,
    clock: fixedClock(),
    logger: silentLogger,
    snapshotDirectory: '',
    migrate: 'when-new',
  });

t.test('a PgBouncer that refuses the limits of connections', async (t) => {
  const behaviour = { kind: 'error', code: '08P01', message: 'unsupported startup parameter: options' } as const;
  await t.rejects(open(await startFakePostgres(t, behaviour)), {
    reason: 'database_unfit',
    message: /PgBouncer is between them; put into its pgbouncer\.ini: ignore_startup_parameters = options/,
  });
});

/** Debian has it outside the PATH of people. */
const program = '/usr/sbin/pgbouncer';

t.test('a real one', async (t) => {
  const server = await startPostgres(t);
  const direct = await createPostgresDatabaseFor(t, server.url);
  const name = new URL(direct).pathname.slice(1);
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755);

  async function start(mode: string, more = 'ignore_startup_parameters = options'): Promise<string> {
    const port = await freePort();
    const file = path.join(folder, `${port}.ini`);
    const settings = [
      '[databases]',
      `* = host=${server.folder} port=5432 user=hearth`,
      '[pgbouncer]',
      `listen_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =`,
      `auth_type = any\npool_mode = ${mode}\n${more}\n`,
    ];
    writeFileSync(file, settings.join('\n'));
    // It refuses to run as root.
    const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
    const pooler = spawn(program, ['-q', ...user, file], { stdio: 'ignore' });
    t.teardown(() => void pooler.kill('SIGKILL'));
    const isListening = (): Promise<boolean> =>
      new Promise((resolve) => {
        const socket = net.connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
        socket.once('connect', () => socket.destroy());
      });
    await waitUntil(async () => pooler.exitCode !== null || (await isListening()));
    return `postgres://hearth@127.0.0.1:${port}/${name}`;
  }

  const raise = "UPDATE counts SET value = value + 1 WHERE name = 'people'";
  const limits = `SELECT current_setting('statement_timeout') AS statement,
    current_setting('idle_in_transaction_session_timeout') AS idle`;
  for (const mode of ['session', 'transaction'] as const)
    await t.test(mode, async (t) => {
      const db = await open(await start(mode));
      t.teardown(() => db.close());
      t.equal(await db.pooler(), mode);
      t.strictSame(
        await db.read.query(limits),
        [{ statement: '0', idle: '0' }],
        'it drops what a connection begins with',
      );
      const inWrite = await db.write(({ manager }) => manager.query(limits));
      t.strictSame(inWrite, [{ statement: '5min', idle: '3s' }], 'a write begins with its own');
      const before = await db.state();
      await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          db.write(({ manager }) => manager.query(raise), at % 2 === 0 ? { scope: `task:${at}` } : {}),
        ),
      );
      t.not(await db.state(), before);
    });
  await t.test('statement', async (t) => {
    const opened = start('statement')
      .then(open)
      .then((db) => db.write(({ manager }) => manager.query(raise)).finally(() => db.close()));
    await t.rejects(opened, {
      reason: 'database_unfit',
      message: /set pool_mode = transaction in its pgbouncer\.ini/,
    });
  });
  await t.test('the limit that the doctor asks for is given to the user', async (t) => {
    const remedyOf = async (db: Database): Promise<string | null | undefined> =>
      judgeServer((await readDatabaseFacts(db)).server!, await db.pooler()).find(
        ({ check }) => check === 'database.limits',
      )?.remedy;
    const before = await open(await start('transaction'));
    t.teardown(() => before.close());
    const [sql] = /ALTER ROLE CURRENT_USER SET statement_timeout = '30s'/.exec((await remedyOf(before)) ?? '') ?? [];
    server.run(sql ?? '');
    const after = await open(await start('transaction'));
    t.teardown(() => after.close());
    t.strictSame(await after.read.query(limits), [{ statement: '30s', idle: '0' }]);
    t.equal(await remedyOf(after), undefined);
    t.strictSame(await after.write(({ manager }) => manager.query(limits)), [{ statement: '5min', idle: '3s' }]);
    server.run('ALTER ROLE hearth RESET statement_timeout');
  });
  await t.test('none', async (t) => {
    const db = await open(direct);
    t.teardown(() => db.close());
    t.equal(await db.pooler(), null);
    t.strictSame(await db.read.query("SELECT value FROM counts WHERE name = 'people'"), [{ value: 40 }]);
  });
  await t.test('without its setting', async (t) => {
    await t.rejects(start('session', '').then(open), {
      reason: 'database_unfit',
      message: /ignore_startup_parameters/,
    });
  });
});
