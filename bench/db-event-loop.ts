/**
 * How long the event loop waits while the database writes (target: p99 under 20 ms, also on a slow disk). Run: node
 * bench/db-event-loop.ts [seconds] [folder]
 *
 * Three phases of the same length: no writes, small writes as fast as they are acknowledged, and large ones that make
 * each fsync slow. A last phase writes in the main thread, to show the effect of the writing thread.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { migrations } from '../migrations/index.ts';
import { createDatabase } from '../src/db/index.ts';
import { silentLogger, systemClock } from '../src/kernel/index.ts';

const seconds = Number(process.argv[2] ?? 5);
const folder = mkdtempSync(path.join(process.argv[3] ?? tmpdir(), 'hearth-bench-'));
const small = 'x'.repeat(100);
const large = 'x'.repeat(4 * 1024 * 1024);

const db = await createDatabase({
  file: path.join(folder, 'hearth.db'),
  entities: [],
  migrations,
  clock: systemClock,
  logger: silentLogger,
  snapshotDirectory: path.join(folder, 'backups'),
  migrate: 'always',
});

async function measure(name: string, step: (turn: number) => Promise<unknown>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const until = performance.now() + seconds * 1000;
  let count = 0;
  let longestMs = 0;
  delay.enable();
  while (performance.now() < until) {
    const startedAt = performance.now();
    await step(count++);
    longestMs = Math.max(longestMs, performance.now() - startedAt);
  }
  delay.disable();
  const ms = (ns: number): string => (ns / 1e6).toFixed(1).padStart(8);
  console.log(
    `${name.padEnd(34)} ${String(count).padStart(7)} ${longestMs.toFixed(1).padStart(10)} ` +
      `${ms(delay.percentile(50))} ${ms(delay.percentile(99))} ${ms(delay.max)}`,
  );
}

const insert = (text: string) => (turn: number) =>
  db.write((tx) =>
    tx.manager.query('INSERT OR REPLACE INTO setup_tokens VALUES (?, 1, 2, NULL)', [`${turn % 20}${text}`]),
  );

console.log('phase                               writes  slowest ms   p50 ms   p99 ms   max ms   (event-loop delay)');
await measure('idle', () => wait(10));
await measure('100-byte writes', insert(small));
await measure('4-MiB writes', insert(large));
await db.close();

const inline = new DatabaseSync(path.join(folder, 'hearth.db'));
const statement = inline.prepare('INSERT OR REPLACE INTO setup_tokens VALUES (?, 1, 2, NULL)');
await measure('4-MiB writes in the main thread', async (turn) => {
  statement.run(`${turn % 20}${large}`);
  await wait(0);
});
inline.close();
rmSync(folder, { recursive: true });
