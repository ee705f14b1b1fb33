// Search over 100,000 repositories and 100,000 people: Hearth's index beside the query that one would write first,
// then the running server under 20 connections, and what another page feels of it.
// usage: bench/search [--rows N] [--rounds N] [--seconds N]
import { Agent, get } from 'node:http';
import path from 'node:path';
import { migrations } from '../migrations/index.ts';
import { anonymous } from '../src/access/index.ts';
import { createDatabase } from '../src/db/index.ts';
import { silentLogger, systemClock } from '../src/kernel/index.ts';
import { createSearch } from '../src/search/index.ts';
import { startHearthServer } from './hearth-server.ts';
import { median, option, row, spread } from './rounds.ts';
import { fillNames } from './sample-names.ts';

const rows = option('rows', 100_000);
const rounds = option('rounds', 15);
const seconds = option('seconds', 5);

const queries: Record<string, string> = {
  'one letter': 'a',
  'two letters': 'zu',
  'a frequent word': 'gen',
  'a word': 'verlin',
  'a rare word': 'zuphqu',
  'words with a space': 'ka lo',
  'nothing to find': 'xylophone',
};

const hearth = await startHearthServer();
const db = await createDatabase({
  file: path.join(hearth.folder, 'data/hearth.db'),
  entities: [],
  migrations,
  clock: systemClock,
  logger: silentLogger,
  snapshotDirectory: path.join(hearth.folder, 'backups'),
  migrate: 'never',
});
const search = createSearch({ db, logger: silentLogger });
const filledAt = performance.now();
await fillNames(db, rows);
const fillS = (performance.now() - filledAt) / 1000;

/** What one would write first: ASCII case only, `%` and `_` special, and everything on the connection of the pages. */
const naive = async (query: string, limit: number): Promise<number> => {
  const like = `%${query}%`;
  const repositories: unknown[] = await db.read.query(
    `SELECT u.username AS owner, r.name, r.visibility, r.description, r.created_at FROM repositories r
     JOIN users u ON u.id = r.owner_user_id
     WHERE r.deleted_at IS NULL AND r.visibility = 'PUBLIC' AND (u.username LIKE ? OR r.name LIKE ? OR r.description LIKE ?)
     ORDER BY u.username, r.name LIMIT ?`,
    [like, like, like, limit],
  );
  const people: unknown[] = await db.read.query(
    `SELECT username, display_name FROM users WHERE username LIKE ? OR display_name LIKE ? ORDER BY username LIMIT ?`,
    [like, like, limit],
  );
  return repositories.length + people.length;
};

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

console.log(`${rows.toLocaleString('en')} repositories and as many people, written with their index in ${fillS.toFixed(0)} s.\n`);
console.log(row(['Query', 'Hearth, first 50, ms', 'LIKE, first 50, ms', 'Ratio', 'Hearth, all up to 1,000 each, ms']));
console.log(row(['---', '---:', '---:', '---:', '---:']));
for (const [name, query] of Object.entries(queries)) {
  const samples: [ours: number, theirs: number, all: number][] = [];
  for (let round = -1; round < rounds; round++) {
    const ours = await timed(() => search.findFirst(anonymous, query, 50));
    const theirs = await timed(() => naive(query, 50));
    const all = await timed(() => search.findAll(anonymous, query));
    if (round >= 0) samples.push([ours, theirs, all]);
  }
  const [ours, theirs, all] = [0, 1, 2].map((at) => samples.map((sample) => sample[at]!)) as [number[], number[], number[]];
  const ratio = median(samples.map(([ours, theirs]) => ours / theirs));
  console.log(row([`${name} (\`${query}\`)`, spread(ours, 2), spread(theirs, 1), `${ratio.toFixed(3)}×`, spread(all, 1)]));
}

/** Asks over so many connections until the time is over; how long each answer took, in milliseconds. */
async function load(connections: number, next: () => string, forMs: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const until = performance.now() + forMs;
  const took: number[] = [];
  const ask = (target: string) =>
    new Promise<void>((resolve, reject) => {
      get(hearth.url + target, { agent }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${target}: ${response.statusCode}`));
        response.resume().on('end', resolve).on('error', reject);
      }).on('error', reject);
    });
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < until) took.push(await timed(() => ask(next())));
    }),
  );
  agent.destroy();
  return took;
}

const percentile = (values: readonly number[], part: number): string => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!.toFixed(1);
};
const line = (name: string, took: readonly number[]) =>
  row([name, String(Math.round(took.length / seconds)), percentile(took, 0.5), percentile(took, 0.95), percentile(took, 0.99)]);

let turn = 0;
/** What people type: mostly words, sometimes the first letters of one. */
const typed = ['verlin', 'zuphqu', 'xylophone', 'torgen', 'fabquex', 'ka lo', 'gen-ta', 'linsopi', 'zu', 'g'];
const searching = (address: string) => () => `${address}?q=${encodeURIComponent(typed[turn++ % typed.length]!)}`;
const page = () => '/login';

await load(20, searching('/search'), 1_000);
const alone = await load(2, page, seconds * 1000);
const json = await load(20, searching('/api/v1/search'), seconds * 1000);
const html = await load(20, searching('/search'), seconds * 1000);
const [, beside] = await Promise.all([load(20, searching('/api/v1/search'), seconds * 1000), load(2, page, seconds * 1000)]);
console.log(`\n${row(['20 connections, a mix of queries', 'Answers/s', 'p50 ms', 'p95 ms', 'p99 ms'])}`);
console.log(row(['---', '---:', '---:', '---:', '---:']));
console.log(line('`/api/v1/search`', json));
console.log(line('`/search`', html));
console.log(line('another page, 2 connections, alone', alone));
console.log(line('the same while 20 connections search', beside));
await search.close();
await db.close();
await hearth.stop();
