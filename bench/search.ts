// Search over 100,000 repositories and 100,000 people: Hearth's index beside the query that one would write first,
// then the running server under 20 connections, and what another page feels of it.
// usage: bench/search [--rows N] [--rounds N] [--seconds N]; with 100,000 rows it takes about two minutes
import { fork } from 'node:child_process';
import { once } from 'node:events';
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
const rounds = option('rounds', 7);
const seconds = option('seconds', 5);

const queries: Record<string, string> = {
  'one letter': 'a',
  'two letters': 'zu',
  'a frequent word': 'gen',
  'a word': 'verlin',
  'a rare word': 'zuphqu',
  'words with a space': 'ka lo',
  'nothing to find': 'xylophone',
  '240 characters': 'kalomitarenesopi'.repeat(15),
};
/** Ours is asked so much oftener in a round, for the sake of its slowest answers. */
const askedPerRound = 20;

if (process.argv[2] === 'load') await loadAsChild(process.argv[3]!, process.argv[4]!, Number(process.argv[5]));
else await measure();

async function measure(): Promise<void> {
  // The repositories are rows only: there is no code in them to index.
  const hearth = await startHearthServer({ SERVICE_SEARCH_CODE_INDEX_BUDGET: '0B' });
  process.once('exit', () => hearth.kill());
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

  console.log(`${rows.toLocaleString('en')} repositories and as many people, written with their index in ${fillS.toFixed(0)} s.\n`);
  console.log(row(['Query', 'Hearth, first 50, ms (–p99)', '`LIKE`, first 50, ms', 'Ratio', 'Hearth, all up to 1,000 each, ms (–p99)']));
  console.log(row(['---', '---:', '---:', '---:', '---:']));
  const everything: number[] = [];
  for (const [name, query] of Object.entries(queries)) {
    const ours: number[] = [];
    const theirs: number[] = [];
    const all: number[] = [];
    const ratios: number[] = [];
    for (let round = -1; round < rounds; round++) {
      const some: number[] = [];
      for (let turn = 0; turn < askedPerRound; turn++) some.push(await timed(() => search.findFirst(anonymous, query, 50)));
      const naively = await timed(() => naive(query, 50));
      const complete: number[] = [];
      for (let turn = 0; turn < askedPerRound; turn++) complete.push(await timed(() => search.findAll(anonymous, query)));
      if (round < 0) continue;
      ours.push(...some);
      theirs.push(naively);
      all.push(...complete);
      ratios.push(median(some) / naively);
    }
    everything.push(...ours);
    const written = query.length > 20 ? `${query.slice(0, 20)}…` : query;
    const withP99 = (samples: number[]) => `${median(samples).toFixed(2)} (–${percentile(samples, 0.99, 2)})`;
    console.log(row([`${name} (\`${written}\`)`, withP99(ours), spread(theirs, 1), `${median(ratios).toFixed(3)}×`, withP99(all)]));
  }
  console.log(`\nAll queries together, first 50: median ${percentile(everything, 0.5, 2)} ms, p99 ${percentile(everything, 0.99, 2)} ms.`);

  const line = (name: string, took: readonly number[]) =>
    row([name, String(Math.round(took.length / seconds)), percentile(took, 0.5), percentile(took, 0.95), percentile(took, 0.99)]);

  /** The load has a process of its own: what it costs to read long answers must not count as waiting for other pages. */
  async function searchers(address: string): Promise<number[]> {
    const child = fork(import.meta.filename, ['load', hearth.url, address, String(seconds * 1000)], { execArgv: ['--disable-warning=ExperimentalWarning'] });
    const [took] = (await once(child, 'message')) as [number[]];
    return took;
  }

  const page = () => '/login';
  await load(hearth.url, 20, () => '/search?q=verlin', 1_000);
  const alone = await load(hearth.url, 2, page, seconds * 1000);
  const json = await searchers('/api/v1/search');
  const html = await searchers('/search');
  const [, beside] = await Promise.all([searchers('/api/v1/search'), load(hearth.url, 2, page, seconds * 1000)]);
  const [, besideHtml] = await Promise.all([searchers('/search'), load(hearth.url, 2, page, seconds * 1000)]);
  console.log(`\n${row(['20 connections, a mix of queries', 'Answers/s', 'p50 ms', 'p95 ms', 'p99 ms'])}`);
  console.log(row(['---', '---:', '---:', '---:', '---:']));
  console.log(line('`/api/v1/search`', json));
  console.log(line('`/search`', html));
  console.log(line('another page, 2 connections, alone', alone));
  console.log(line('the same while 20 connections ask `/api/v1/search`', beside));
  console.log(line('the same while 20 connections ask `/search`', besideHtml));
  await search.close();
  await db.close();
  await hearth.stop();
}

/** Asks over so many connections until the time is over; how long each answer took, in milliseconds. */
async function load(url: string, connections: number, next: () => string, forMs: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const until = performance.now() + forMs;
  const took: number[] = [];
  const ask = (target: string) =>
    new Promise<void>((resolve, reject) => {
      get(url + target, { agent }, (response) => {
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

/** What people type: mostly words, sometimes the first letters of one. */
async function loadAsChild(url: string, address: string, ms: number): Promise<void> {
  const typed = ['verlin', 'zuphqu', 'xylophone', 'torgen', 'fabquex', 'ka lo', 'gen-ta', 'linsopi', 'zu', 'g'];
  let turn = 0;
  const took = await load(url, 20, () => `${address}?q=${encodeURIComponent(typed[turn++ % typed.length]!)}`, ms);
  process.send!(took, () => process.disconnect());
}

function percentile(values: readonly number[], part: number, digits = 1): string {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!.toFixed(digits);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
