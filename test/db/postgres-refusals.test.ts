// What a start says about a PostgreSQL that it cannot use: one sentence with the remedy each, without the password. The
// servers are made up; what needs a real one is in postgres-database.test.ts.
import t from 'tap';
import { migrations } from '../../migrations/index.ts';
import { postgresBaseline } from '../../migrations/postgres-baseline.ts';
import { createDatabase } from '../../src/db/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import type { LogFields, Logger } from '../../src/kernel/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import type { Behaviour } from './fake-postgres-server.ts';
import { startFakePostgres } from './fake-postgres-server.ts';

const fit = {
  version: 150_000,
  shown: '15.0',
  standby: 0,
  encoding: 'UTF8',
  readOnly: 'off',
  trigrams: 1,
  available: 1,
  idleLimit: '3s',
  mayCreate: 1,
  name: 'hearth',
};
const unfit = (facts: Partial<typeof fit>): Behaviour => ({ kind: 'facts', facts: { ...fit, ...facts } });
const error = (code: string, message = 'no'): Behaviour => ({ kind: 'error', code, message });

/** Lasting faults are `database_unfit`; a restart does not help there. */
const cases: [title: string, behaviour: Behaviour, reason: string, sentence: RegExp][] = [
  ['a wrong password', error('28P01'), 'database_unfit', /refuses the password; check it in SERVICE_DATABASE_URL/],
  ['a password in its words', error('28P01', 'hunter2 is wrong'), 'database_unfit', /refuses the password/],
  ['a refused address', error('28000'), 'database_unfit', /see pg_hba\.conf/],
  ['no such database', error('3D000'), 'database_unfit', /make it with createdb/],
  ['no connection left', error('53300'), 'database_unreachable', /lower database\.pool, or raise max_connections/],
  ['a server that starts', error('57P03'), 'database_unreachable', /try again in a moment/],
  [
    'an older server',
    unfit({ version: 130_011, shown: '13.11' }),
    'database_unfit',
    /13\.11 is too old[^]*14 or newer/,
  ],
  ['a standby', unfit({ standby: 1 }), 'database_unfit', /address of the primary server/],
  ['a read-only database', unfit({ readOnly: 'on' }), 'database_unfit', /Reset default_transaction_read_only/],
  ['another encoding', unfit({ encoding: 'SQL_ASCII' }), 'database_unfit', /createdb -E UTF8 -T template0 hearth/],
  [
    'no extension to be had',
    unfit({ trigrams: 0, available: 0 }),
    'database_unfit',
    /apt-get install postgresql-contrib/,
  ],
  ['no right to it', unfit({ trigrams: 0, mayCreate: 0 }), 'database_unfit', /CREATE EXTENSION pg_trgm;/],
  ['a server that never answers', { kind: 'silent' }, 'database_unreachable', /does not answer; look for a firewall/],
  [
    'one that stalls after signing in',
    { kind: 'stalls' },
    'database_unreachable',
    /does not answer; look for a firewall/,
  ],
  ['one that hangs up', { kind: 'closes' }, 'database_unreachable', /ended the connection[^]*host and port/],
  ['a web server', { kind: 'says', text: 'HTTP/1.1 400 Bad Request\r\n\r\n' }, 'database_unreachable', /host and port/],
];

for (const [title, behaviour, reason, sentence] of cases)
  t.test(title, async (t) => {
    const logged: [string, LogFields | undefined][] = [];
    const note = (event: string, fields?: LogFields): void => void logged.push([event, fields]);
    const logger: Logger = { ...silentLogger, info: note, warn: note, error: note, child: () => logger };
    const opened = createDatabase({
      file: '',
      postgres: { url: await startFakePostgres(t, behaviour), poolSize: 2, baseline: postgresBaseline },
      entities: [],
      migrations,
      clock: fixedClock(),
      logger,
      snapshotDirectory: '',
      migrate: 'never',
    });
    const thrown = await opened.then(
      () => ({ reason: 'accepted', message: '' }),
      (fault: Error & { reason: string }) => fault,
    );
    t.equal(thrown.reason, reason);
    t.match(thrown.message, sentence);
    t.match(thrown.message, /^[^\n]+[.;]?$/, 'one line');
    t.notMatch(`${thrown.message} ${JSON.stringify(logged)}`, /hunter2/, 'without the password');
  });

t.test('a host without an address', async (t) => {
  const opened = createDatabase({
    file: '',
    postgres: { url: 'postgres://hearth:hunter2@no.invalid/hearth', poolSize: 2, baseline: postgresBaseline },
    entities: [],
    migrations,
    clock: fixedClock(),
    logger: silentLogger,
    snapshotDirectory: '',
    migrate: 'never',
  });
  await t.rejects(opened, {
    reason: 'database_unreachable',
    message: /^The database postgres:\/\/hearth@no\.invalid\/hearth cannot be opened: [^\n]*host[^\n]*\.$/,
  });
});
