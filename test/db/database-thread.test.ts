import t from 'tap';
import { readdirSync } from 'node:fs';
import { getPriority } from 'node:os';
import path from 'node:path';
import { setImmediate as tick } from 'node:timers/promises';
import { openDatabaseThread } from '../../src/db/index.ts';
import type { ThreadLimits } from '../../src/db/index.ts';
import { endedWorkers } from '../fixtures/ended-workers.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { insertRow, openTestDatabase } from '../fixtures/test-database.ts';

const limits: ThreadLimits = { requestMs: 5_000, queue: 10 };
const slow =
  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT count(*) AS count FROM n';

async function openThread(t: Owner, changed: Partial<ThreadLimits> = {}) {
  const { db, folder } = await openTestDatabase(t);
  const thread = db.openThread({ ...limits, ...changed });
  t.teardown(() => thread.close());
  return { db, thread, folder };
}

const runStatement = (
  thread: { run: Awaited<ReturnType<typeof openThread>>['thread']['run'] },
  sql: string,
  parameters: Record<string, unknown> | unknown[] = [],
) => thread.run([{ sql, parameters }]).then(([rows]) => rows);

t.test('worker threads yield the processor to the main thread', async (t) => {
  const { thread } = await openThread(t);
  await runStatement(thread, 'SELECT 1');
  const nicenesses = readdirSync('/proc/self/task').map((thread) => {
    try {
      return getPriority(Number(thread));
    } catch {
      return null; // The thread has ended.
    }
  });
  t.ok(nicenesses.includes(Math.min(19, getPriority(process.pid) + 5)), nicenesses.join(' '));
});

t.test('a worker thread reads committed rows, by name or position, and cannot write', async (t) => {
  const { db, thread } = await openThread(t);
  const count = () =>
    runStatement(thread, 'SELECT count(*) AS count FROM setup_tokens WHERE token_hash = :hash', {
      hash: 'x',
      unused: 1,
    });
  t.same(await count(), [{ count: 0 }]);
  await db.write((tx) => insertRow(tx, 'setup_tokens', { token_hash: 'x', created_at: 1, expires_at: 2 }));
  t.same(await count(), [{ count: 1 }], 'live');
  t.same(await runStatement(thread, 'SELECT ? AS a, ? AS b', ['1', 2]), [{ a: '1', b: 2 }]);
  await t.rejects(runStatement(thread, "DELETE FROM setup_tokens WHERE token_hash = 'x'"), /readonly/);
  await t.rejects(runStatement(thread, 'SELECT colour'), /no such column/);
  t.same(await count(), [{ count: 1 }], 'and goes on after a mistake');
});

t.test('an idle thread ends, and the next request starts another', async (t) => {
  const ended = endedWorkers(t);
  const { file } = await openTestDatabase(t);
  ended.length = 0;
  const thread = openDatabaseThread({ file, readOnly: true, setUp: [] }, { ...limits, idleMs: 5 });
  t.teardown(() => thread.close());
  t.same(await runStatement(thread, 'SELECT 1 AS one'), [{ one: 1 }]);
  await ended[0];
  t.same(await runStatement(thread, 'SELECT 2 AS two'), [{ two: 2 }]);
  t.equal(ended.length, 2);
});

t.test('the main thread continues while a statement runs', async (t) => {
  const { thread } = await openThread(t, { requestMs: 60_000 });
  let done = false;
  const counting = runStatement(thread, slow).finally(() => (done = true));
  let turns = 0;
  while (!done) {
    await tick();
    turns += 1;
  }
  t.same(await counting, [{ count: 3_000_000 }]);
  t.ok(turns > 100, `${turns} turns of the event loop meanwhile`);
});

t.test('a statement that takes too long is terminated, and the next request gets a new thread', async (t) => {
  const { thread } = await openThread(t, { requestMs: 30, queue: 2 });
  const endless = runStatement(thread, slow);
  const behind = runStatement(thread, 'SELECT 1');
  const third = runStatement(thread, 'SELECT 2');
  await t.rejects(third, { code: 'unavailable', reason: 'too_many_waiting' });
  await t.rejects(endless, { code: 'unavailable', reason: 'took_too_long' });
  await t.rejects(behind, { code: 'unavailable', reason: 'too_many_waiting' });
  t.same(await runStatement(thread, 'SELECT 3 AS three'), [{ three: 3 }]);
  await thread.close();
  await t.rejects(runStatement(thread, 'SELECT 4'), { code: 'unavailable', reason: 'stopping' });
});

t.test('a file of derived data is created, written in transactions, and read beside the database', async (t) => {
  const { db } = await openTestDatabase(t);
  const file = path.join(temporaryFolder(t), "it's derived.db");
  const setUp = ['PRAGMA journal_mode = WAL', 'CREATE TABLE IF NOT EXISTS notes (text TEXT NOT NULL)'];
  const derived = openDatabaseThread({ file, readOnly: false, setUp }, limits);
  t.teardown(() => derived.close());
  await derived.run(['a', 'b'].map((text) => ({ sql: 'INSERT INTO notes VALUES (?)', parameters: [text] })));
  const half = derived.run([
    { sql: "INSERT INTO notes VALUES ('c')", parameters: [] },
    { sql: 'INSERT INTO notes VALUES (NULL)', parameters: [] },
  ]);
  await t.rejects(half, /NOT NULL/);

  const both = db.openThread(limits, { derived: file });
  t.teardown(() => both.close());
  t.same(
    await runStatement(
      both,
      'SELECT (SELECT count(*) FROM derived.notes) AS notes, (SELECT count(*) FROM users) AS users',
    ),
    [{ notes: 2, users: 0 }],
  );
  await t.rejects(runStatement(both, "INSERT INTO derived.notes VALUES ('d')"), /readonly/);
});

t.test('the end of a write sees all of it, and is committed or rolled back with it', async (t) => {
  const { db } = await openTestDatabase(t);
  const count = async () =>
    ((await db.read.query('SELECT token_hash FROM setup_tokens ORDER BY 1')) as { token_hash: string }[]).map(
      (row) => row.token_hash,
    );
  db.beforeCommit(async (tx) => {
    const [{ rows }] = await tx.manager.query('SELECT count(*) AS rows FROM setup_tokens');
    if (rows > 2) throw new Error('too many');
    await insertRow(tx, 'setup_tokens', { token_hash: `after ${rows}`, created_at: 1, expires_at: 1 });
  });
  t.equal(
    await db.write((tx) =>
      insertRow(tx, 'setup_tokens', { token_hash: 'one', created_at: 1, expires_at: 1 }).then(() => 'result'),
    ),
    'result',
  );
  t.same(await count(), ['after 1', 'one']);
  await t.rejects(
    db.write((tx) => insertRow(tx, 'setup_tokens', { token_hash: 'two', created_at: 1, expires_at: 1 })),
    /too many/,
  );
  t.same(await count(), ['after 1', 'one']);
});
