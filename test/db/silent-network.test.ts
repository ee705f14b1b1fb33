// A network between Hearth and PostgreSQL that drops packets: no connection ends, nothing answers. It is said within a
// second, and when the network is back, what hung on the old connections is over, too.
import t from 'tap';
import { migrations } from '../../migrations/index.ts';
import { postgresBaseline } from '../../migrations/postgres-baseline.ts';
import { createDatabase } from '../../src/db/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { startPostgres } from '../fixtures/postgres.ts';
import { placeOfPostgres, startRelay, throughRelay } from '../fixtures/relay.ts';
import { createPostgresDatabaseFor, testPostgresUrl } from '../fixtures/test-postgres.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(120_000);

const address = await createPostgresDatabaseFor(t, testPostgresUrl ?? (await startPostgres(t)).url);
const relay = await startRelay(t, placeOfPostgres(address));
const db = await createDatabase({
  file: '',
  postgres: { url: throughRelay(address, relay), poolSize: 2, baseline: postgresBaseline },
  entities: [],
  migrations,
  clock: fixedClock(),
  logger: silentLogger,
  snapshotDirectory: '',
  migrate: 'never',
});
t.teardown(() => db.close());

const outcomeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: Error & { reason?: string }) => error.reason ?? error.message,
  );
const mark = (number: number) =>
  db.write(({ manager }) =>
    manager.query("INSERT INTO instance_marks (number, mark, made_at) VALUES ($1, 'mark', 1)", [number]),
  );
const count = async (): Promise<number> =>
  Number(((await db.read.query('SELECT count(*) AS count FROM instance_marks')) as { count: number }[])[0]!.count);

for (const how of ['silence', 'refuse'] as const) {
  t.test(`cut: ${how}`, async (t) => {
    const before = await count();
    await mark(before + 1);
    // All connections of both pools are in use, or idle and dead soon.
    await Promise.all([db.read.query('SELECT 1'), db.read.query('SELECT 2'), db.state()]);
    let begun = 0;
    const gate = Promise.withResolvers<void>();
    const writing = db.write(async ({ manager }) => {
      await manager.query("INSERT INTO instance_marks (number, mark, made_at) VALUES ($1, 'mark', 1)", [before + 2]);
      begun += 1;
      await gate.promise;
      await manager.query('SELECT 1');
    });
    await waitUntil(() => begun !== 0);
    relay.cut(how);
    gate.resolve();
    const reading = [db.read.query('SELECT 3'), db.read.query('SELECT 4'), db.read.query('SELECT 5')].map(outcomeOf);
    t.equal(await outcomeOf(db.state()), 'database_unavailable');
    t.equal(await outcomeOf(db.state()), 'database_unavailable', 'and so is the next one');
    relay.heal();
    await waitUntil(async () => (await outcomeOf(db.state())) === 'done');
    t.equal(await outcomeOf(db.state()), 'done');
    // None of them waits for minutes: each is done again on a new connection, or was said not to be.
    await Promise.all(reading);
    t.not(await outcomeOf(writing), 'done');
    t.equal(await count(), before + 1, 'a write that was cut has changed nothing');
    await mark(before + 2);
    t.equal(await count(), before + 2);
  });
}

t.test('a statement that runs too long is ended, in a sentence', async (t) => {
  const [row] = (await db.read.query('SHOW statement_timeout')) as { statement_timeout: string }[];
  t.equal(row!.statement_timeout, '30s');
  const asked = db.write(async ({ manager }) => {
    const [own] = (await manager.query('SHOW statement_timeout')) as { statement_timeout: string }[];
    t.equal(own!.statement_timeout, '5min');
    await manager.query('SET LOCAL statement_timeout = 100');
    await manager.query('SELECT pg_sleep(30)');
  });
  t.equal(await outcomeOf(asked), 'took_too_long');
  t.equal(await outcomeOf(db.state()), 'done');
});
