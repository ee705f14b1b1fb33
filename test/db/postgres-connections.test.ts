// What a start says about a real PostgreSQL behind TLS: certificates of another authority or another host, passwords,
// rights, a standby. One sentence with the remedy each, and the password in none and in no log. What no real server of
// this machine can be is in postgres-refusals.test.ts.
// time limit: 300 s
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { migrations } from '../../migrations/index.ts';
import { postgresBaseline } from '../../migrations/postgres-baseline.ts';
import { createDatabase } from '../../src/db/index.ts';
import type { Database } from '../../src/db/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import type { LogFields, Logger } from '../../src/kernel/index.ts';
import { programs, startServerProcess } from '../e2e/server-process.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startPostgres } from '../fixtures/postgres.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { makeAuthority } from '../outbound/certificates.ts';

t.setTimeout(300_000);

const folder = temporaryFolder(t);
const write = (name: string, content: string): string => {
  const file = path.join(folder, name);
  writeFileSync(file, content, { mode: 0o600 });
  return file;
};
const [authority, other] = [makeAuthority('Own Authority'), makeAuthority('Strange Authority')];
const { key, cert } = authority.issue({ names: ['localhost'] });
const ca = write('ca.pem', authority.pem);
const otherCa = write('other.pem', other.pem);
const noCa = write('none.pem', 'This is no certificate.\n');

const port = await freePort();
const server = await startPostgres(t, {
  port,
  files: { 'server.key': key, 'server.crt': cert },
  hostRules: ['hostssl all alice 127.0.0.1/32 scram-sha-256', 'hostssl all carol 127.0.0.1/32 trust'],
});
for (const sql of [
  "CREATE ROLE alice LOGIN PASSWORD 'hunter2'",
  'CREATE ROLE carol LOGIN',
  "CREATE DATABASE garden OWNER alice ENCODING 'UTF8' TEMPLATE template0",
  "CREATE DATABASE shed OWNER alice ENCODING 'UTF8' TEMPLATE template0",
])
  server.run(sql);

const at = (rest: string, user = 'alice:hunter2', host = 'localhost'): string =>
  `postgres://${user}@${host}:${port}/${rest}`;

async function open(
  url: string,
  { migrate = 'never' as 'never' | 'always', poolSize = 2, tries = 5 } = {},
): Promise<{ db: Database | null; reason: string; sentence: string; logged: string }> {
  const lines: [string, LogFields | undefined][] = [];
  const note = (event: string, fields?: LogFields): void => void lines.push([event, fields]);
  const logger: Logger = { ...silentLogger, info: note, warn: note, error: note, child: () => logger };
  const opened = createDatabase({
    file: '',
    postgres: { url, poolSize, baseline: postgresBaseline },
    entities: [],
    migrations,
    clock: fixedClock(),
    logger,
    snapshotDirectory: '',
    migrate,
  });
  const result = await opened.then(
    (db) => ({ db, reason: 'opened', sentence: '' }),
    (error: Error & { reason: string }) => ({ db: null, reason: error.reason, sentence: error.message }),
  );
  // A connection has five seconds, which a busy machine may take for the first ones.
  if (result.reason === 'database_unreachable' && tries > 0) return open(url, { migrate, poolSize, tries: tries - 1 });
  return { ...result, logged: JSON.stringify(lines) };
}

for (const [title, url] of [
  ['the authority and the name are right', at(`garden?sslmode=verify-full&sslrootcert=${ca}`)],
  ['the authority without a mode', at(`garden?sslrootcert=${ca}`)],
  ['another name, which is not asked for', at(`garden?sslmode=verify-ca&sslrootcert=${ca}`, undefined, '127.0.0.1')],
  ['any certificate', at('garden?sslmode=require')],
] as const)
  t.test(title, async (t) => {
    const { db, sentence } = await open(url);
    t.equal(sentence, '');
    t.strictSame(await db?.read.query('SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()'), [{ ssl: 1 }]);
    await db?.close();
  });

const standbyPort = await freePort();
await startPostgres(t, {
  port: standbyPort,
  files: { 'standby.signal': '' },
  hostRules: ['host all all 127.0.0.1/32 trust'],
});

/** For a start that ends here, `database_unfit` and `database_url_invalid` are not tried again. */
const refused: [title: string, url: string, reason: string, sentence: RegExp][] = [
  [
    'another name',
    at(`garden?sslmode=verify-full&sslrootcert=${ca}`, undefined, '127.0.0.1'),
    'database_unfit',
    /for another host name; use that name in the address/,
  ],
  ...['verify-full', 'verify-ca', 'require'].map((mode): (typeof refused)[number] => [
    `another authority, ${mode}`,
    at(`garden?sslmode=${mode}&sslrootcert=${otherCa}`),
    'database_unfit',
    /an authority that is not known here; \?sslrootcert=FILE names/,
  ]),
  ['no authority', at('garden?sslmode=verify-full'), 'database_unfit', /not known here; \?sslrootcert=FILE names/],
  [
    'a file without a certificate',
    at(`garden?sslmode=verify-full&sslrootcert=${noCa}`),
    'database_url_invalid',
    /holds no certificate in PEM/,
  ],
  ['without TLS', at('garden'), 'database_unfit', /with TLS only; add \?sslmode=verify-full/],
  ['a wrong password', at('garden?sslmode=require', 'alice:hunter22'), 'database_unfit', /refuses the password; check/],
  ['no password', at('garden?sslmode=require', 'alice'), 'database_unfit', /none is given; put it into the address/],
  ['no such person', at('garden?sslmode=require', 'bob:hunter2'), 'database_unfit', /see pg_hba\.conf/],
  ['no such database', at('missing?sslmode=require'), 'database_unfit', /make it with createdb/],
  ['no right to the extension', at('garden?sslmode=require', 'carol'), 'database_unfit', /CREATE EXTENSION pg_trgm/],
  [
    'a standby',
    `postgres://hearth@127.0.0.1:${standbyPort}/postgres`,
    'database_unfit',
    /a standby, which takes no writes\. Give the address of the primary/,
  ],
  ...['12#hunter2', '12?hunter2', '12/hunter2'].map((password): (typeof refused)[number] => [
    `a password such as ${password}`,
    at('garden?sslmode=require', `alice:${password}`),
    'database_url_invalid',
    /write \/ \? # @ % in the user, the password or a file as %2F %3F %23 %40 %25/,
  ]),
  ['a password with %', at('garden', 'alice:hunter2%'), 'database_url_invalid', /write it as %25/],
  ['no number as port', at('garden?port=hearth'), 'database_url_invalid', /a number from 1 to 65535/],
];
for (const [title, url, reason, sentence] of refused)
  t.test(title, async (t) => {
    const result = await open(url);
    await result.db?.close();
    t.equal(result.reason, reason);
    t.match(result.sentence, sentence);
    t.match(result.sentence, /^[^\n]+[.;]$/, 'one line');
    t.notMatch(result.sentence + result.logged, /hunter2/, 'without the password');
  });

t.test('a column in the order of a language', async (t) => {
  const url = at('shed?sslmode=require');
  const first = await open(url, { migrate: 'always' });
  t.equal(first.sentence, '');
  await first.db?.close();
  server.run('\\c shed\nALTER TABLE handles ALTER COLUMN display TYPE text COLLATE "und-x-icu"');
  const second = await open(url);
  t.match(second, { reason: 'database_unfit', sentence: /another collation than "C" \(handles\.display\)/ });
  server.run('\\c shed\nALTER TABLE handles ALTER COLUMN display TYPE text COLLATE "C"');
});

t.test('one connection for reading and one for writing are enough, and what takes too long is ended', async (t) => {
  const { db } = await open(at('shed?sslmode=require'), { poolSize: 1 });
  if (db === null) throw new Error('it does not open');
  t.teardown(() => db.close());
  const mark = (number: number, scope?: string) =>
    db.write(
      async ({ manager }) => {
        await manager.query("INSERT INTO instance_marks (number, mark, made_at) VALUES ($1, 'a' || chr(1), 1)", [
          number,
        ]);
      },
      scope === undefined ? {} : { scope },
    );
  await Promise.all(
    Array.from({ length: 40 }, (_, at) => [
      mark(at + 1, at % 2 === 0 ? undefined : `task:${at}`),
      db.read.query('SELECT count(*) FROM instance_marks'),
      db.state(),
    ]).flat(),
  );
  t.strictSame(await db.read.query('SELECT count(*) AS n FROM instance_marks'), [{ n: 40 }]);
  const aside = db.openThread({ requestMs: 200, queue: 1 });
  t.teardown(() => aside.close());
  await t.rejects(aside.run([{ sql: 'SELECT pg_sleep(60)', parameters: [] }]), {
    reason: 'took_too_long',
    message: 'This takes the server too long. Ask for something more specific.',
  });
  await db.write(({ manager }) => manager.query('UPDATE instance_marks SET mark = ? WHERE number = 1', ['a\0b']));
  t.strictSame(await db.read.query('SELECT mark FROM instance_marks WHERE number = 1'), [{ mark: 'a\ufffdb' }]);
});

t.test('the address in a file, the password in .pgpass, and neither in the log', async (t) => {
  const address = `postgres://alice@localhost:${port}/shed?sslmode=verify-full&sslrootcert=${ca}`;
  const withPassword = address.replace('alice', 'alice:hunter2');
  const passwords = write('pgpass', `localhost:${port}:shed:alice:hunter2\n`);
  const instance = await startServerProcess(t, 'either', {
    env: {
      SERVICE_DATABASE_URL: '',
      SERVICE_DATABASE_URL_FILE: write('address', `${address}\n`),
      SERVICE_DATABASE_POOL: '1',
      PGPASSFILE: passwords,
    },
    wrapper: ['sh', '-c', 'exec "$@" 2>errors', 'sh'],
  });
  const shown = await instance.command('config', 'show');
  await instance.stop();
  const log = readFileSync(path.join(instance.folder, 'errors'), 'utf8');
  t.match(log, /"level":"info"/);
  t.match(shown, /database\.url/);
  t.notMatch(log + shown, /hunter2/);
  for (const env of [
    { SERVICE_DATABASE_URL_FILE: write('address', `${withPassword}\n`) },
    { SERVICE_DATABASE_URL: address, PGPASSWORD: 'hunter2' },
    { SERVICE_DATABASE_URL: withPassword },
  ]) {
    const { stdout, stderr } = await promisify(execFile)(programs.either, ['node', 'list', '--json'], {
      env: { PATH: '/usr/bin:/bin', HOME: '/nonexistent', SERVICE_DATA_DIR: instance.dataDir, ...env },
    });
    t.match(stdout, /"state": ?"stopped"/);
    t.notMatch(stdout + stderr, /hunter2/);
  }
});

t.test('a process with nothing else to do ends when it has closed the database, not before', async (t) => {
  const url = at(`garden?sslmode=verify-full&sslrootcert=${ca}`);
  for (let time = 0; time < 3; time += 1) {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      fileURLToPath(new URL('closing-process.ts', import.meta.url)),
      url,
    ]).catch((error: { stdout: string; stderr: string }) => error);
    t.strictSame([stdout, stderr], ['closed', '']);
  }
});
