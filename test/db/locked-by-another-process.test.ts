import t from 'tap';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync } from 'node:fs';
import path from 'node:path';
import { createDatabase } from '../../src/db/index.ts';
import type { Database } from '../../src/db/index.ts';
import { databaseOptions, insertRow, openTestDatabase } from '../fixtures/test-database.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

const otherProgram = `
  const { DatabaseSync } = require('node:sqlite');
  const [file, sql] = process.argv.slice(1);
  const database = new DatabaseSync(file, { timeout: 2000 });
  database.exec(sql);
  process.stdout.write('held');
  process.stdin.once('data', () => { database.close(); process.stdout.end('freed'); });
  process.stdin.once('end', () => process.exit());
`;

/** Another process takes the lock and holds it until `release`. */
async function holdLock(t: Owner, file: string, sql = 'BEGIN IMMEDIATE') {
  const child = spawn(process.execPath, ['-e', otherProgram, file, sql], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.teardown(() => child.kill());
  await once(child.stdout, 'data');
  return {
    async release() {
      child.stdin.end('now');
      await once(child, 'close');
    },
  };
}

const write = (db: Database, hash: string) =>
  db.write((tx) => insertRow(tx, 'setup_tokens', { token_hash: hash, created_at: 1, expires_at: 2 }));

t.test('a lock held by another process: writes are refused with a message, reads go on, and it recovers', async (t) => {
  const { db, file } = await openTestDatabase(t, { more: { busyTimeoutMs: 150 } });
  const lock = await holdLock(t, file);
  const startedAt = performance.now();
  let ticks = 0;
  const ticking = setInterval(() => ticks++, 5);

  const refused = Promise.allSettled(Array.from({ length: 40 }, (_, index) => write(db, `refused-${index}`)));
  t.same(await db.read.query('SELECT COUNT(*) AS n FROM setup_tokens'), [{ n: 0 }]);
  for (const result of await refused) {
    if (result.status === 'fulfilled') t.fail('a write was acknowledged');
    else t.match(result.reason, { code: 'unavailable', reason: 'database_locked', retryAfterSeconds: 5 });
  }
  const tookMs = performance.now() - startedAt;
  clearInterval(ticking);
  t.ok(tookMs < 150 * 10, `40 writes waited for the lock together, ${Math.round(tookMs)} ms, not one after the other`);
  t.ok(ticks > 5, 'the event loop went on meanwhile');

  await lock.release();
  await write(db, 'afterwards');
  t.same(await db.read.query('SELECT token_hash FROM setup_tokens'), [{ token_hash: 'afterwards' }]);
});

t.test('a lock that is released in time only delays a write', async (t) => {
  const { db, file } = await openTestDatabase(t);
  const lock = await holdLock(t, file);
  const patient = write(db, 'patient');
  await lock.release();
  await t.resolves(patient);
});

t.test('opening a locked database is refused with the same reason', async (t) => {
  const { db, file, folder } = await openTestDatabase(t);
  // A file that is not yet in WAL mode needs the lock for its first setting.
  const plain = path.join(folder, 'plain.db');
  await db.write((tx) => tx.manager.query('SELECT 1'));
  await db.close();
  copyFileSync(file, plain);
  const lock = await holdLock(t, plain, 'PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE');
  await t.rejects(createDatabase(databaseOptions(plain, { busyTimeoutMs: 50 })), {
    code: 'unavailable',
    reason: 'database_locked',
  });
  await lock.release();
  await (await createDatabase(databaseOptions(plain, { busyTimeoutMs: 50 }))).close();
});

t.test('a second process reads and writes the same database concurrently', async (t) => {
  const { db, file } = await openTestDatabase(t);
  await write(db, 'here');
  const other = await holdLock(t, file, "INSERT INTO setup_tokens VALUES ('there', 1, 2, NULL)");
  await other.release();
  t.same(await db.read.query('SELECT token_hash FROM setup_tokens ORDER BY 1'), [
    { token_hash: 'here' },
    { token_hash: 'there' },
  ]);
  await db.close();
  t.notOk(existsSync(`${file}-wal`), 'a closed database is one file');
});
