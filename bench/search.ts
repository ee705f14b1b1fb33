// Search over 100,000 repositories and 100,000 people: Hearth's index beside the obvious query, generated hard queries,
// then the running server under 20 connections, and the effect on another page. The load comes from wrk (a Debian
// package) with one thread, because it competes with the server for processors.
// usage: bench/search [--rows N] [--rounds N] [--seconds N] [--hard N] [--url OTHER-FORGE]
// With 100,000 rows it takes about three minutes. OTHER-FORGE is the URL of a search elsewhere, to which the query is
// appended: https://forge.example.org/api/v1/repos/search?q=
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { migrations } from '../migrations/index.ts';
import { anonymous } from '../src/access/index.ts';
import { createDatabase } from '../src/db/index.ts';
import { silentLogger, systemClock } from '../src/kernel/index.ts';
import { createSearch } from '../src/search/index.ts';
import { seededRandom } from '../test/fixtures/seeded-random.ts';
import { startHearthServer } from './hearth-server.ts';
import type { HearthServer } from './hearth-server.ts';
import { median, readNumberOption, formatRow, formatSpread, readTextOption } from './harness.ts';
import { cpuOfTree } from './process-usage.ts';
import { drawHardQuery, fillNames } from './sample-names.ts';

const rows = readNumberOption('rows', 100_000);
const rounds = readNumberOption('rounds', 7);
const seconds = readNumberOption('seconds', 5);
const hard = readNumberOption('hard', 1_000);
/** Rounds on the running server, of `seconds` each. */
const loadRounds = 3;
const connections = 20;
/** Requests of the other page. At full speed it would be a second load on the two processors. */
const fetchesPerS = 50;
const externalUrl = readTextOption('url');

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
/** Typical queries: mostly words, sometimes the first letters of one. */
const typed = ['verlin', 'zuphqu', 'xylophone', 'torgen', 'fabquex', 'ka lo', 'gen-ta', 'linsopi', 'zu', 'g'];
/** Ours is queried more often in a round, to catch its slowest responses. */
const requestsPerRound = 20;

const database = (dataFolder: string, migrate: 'always' | 'never') =>
  createDatabase({
    file: path.join(dataFolder, 'hearth.db'),
    entities: [],
    migrations,
    clock: systemClock,
    logger: silentLogger,
    snapshotDirectory: path.join(dataFolder, '../backups'),
    migrate,
  });

await measure();

/** Rows first and the index afterwards, as in the first start with an index. */
async function fill(dataFolder: string): Promise<void> {
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  const db = await database(dataFolder, 'always');
  const startedAt = performance.now();
  await fillNames(db, rows);
  const filledAt = performance.now();
  const search = createSearch({ db, logger: silentLogger });
  await search.recover();
  const inS = (ms: number) => `${(ms / 1000).toFixed(0)} s`;
  console.log(
    `${rows.toLocaleString('en')} repositories and as many people, written in ${inS(filledAt - startedAt)}, their index in ${inS(performance.now() - filledAt)}.`,
  );
  const sizes: { part: string; mb: number }[] = await db.read.query(
    `SELECT iif(name GLOB '*trigrams*', 'trigrams', 'texts') AS part, sum(pgsize) / 1e6 AS mb FROM dbstat WHERE name GLOB 'search_*' GROUP BY 1 ORDER BY 1`,
  );
  console.log(`The index takes ${sizes.map(({ part, mb }) => `${mb.toFixed(0)} MB of ${part}`).join(' and ')}.\n`);
  await search.close();
  await db.close();
}

async function measure(): Promise<void> {
  // The repositories are rows only, without code to index.
  const hearth = await startHearthServer({ SERVICE_SEARCH_CODE_INDEX_BUDGET: '0B' }, fill);
  process.once('exit', () => hearth.kill());
  const db = await database(path.join(hearth.folder, 'data'), 'never');
  const search = createSearch({ db, logger: silentLogger });

  /** The obvious query: ASCII case only, `%` and `_` special, and everything on the connection of the pages. */
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

  console.log(
    formatRow([
      'Query',
      'Hearth, first 50, ms (–p99)',
      '`LIKE`, first 50, ms',
      'Ratio',
      'Hearth, all up to 1,000 each, ms (–p99)',
    ]),
  );
  console.log(formatRow(['---', '---:', '---:', '---:', '---:']));
  const everything: number[] = [];
  for (const [name, query] of Object.entries(queries)) {
    const ours: number[] = [];
    const theirs: number[] = [];
    const all: number[] = [];
    const ratios: number[] = [];
    for (let round = -1; round < rounds; round++) {
      const some: number[] = [];
      for (let turn = 0; turn < requestsPerRound; turn++)
        some.push(await timed(() => search.findFirst(anonymous, query, 50)));
      const naively = await timed(() => naive(query, 50));
      const complete: number[] = [];
      for (let turn = 0; turn < requestsPerRound; turn++)
        complete.push(await timed(() => search.findAll(anonymous, query)));
      if (round < 0) continue;
      ours.push(...some);
      theirs.push(naively);
      all.push(...complete);
      ratios.push(median(some) / naively);
    }
    everything.push(...ours);
    const written = query.length > 20 ? `${query.slice(0, 20)}…` : query;
    const withP99 = (samples: number[]) => `${median(samples).toFixed(2)} (–${percentile(samples, 0.99, 2)})`;
    console.log(
      formatRow([
        `${name} (\`${written}\`)`,
        withP99(ours),
        formatSpread(theirs, 1),
        `${median(ratios).toFixed(3)}×`,
        withP99(all),
      ]),
    );
  }
  console.log(
    `\nAll queries together, first 50: median ${percentile(everything, 0.5, 2)} ms, p99 ${percentile(everything, 0.99, 2)} ms.`,
  );

  const random = seededRandom(5);
  const drawn = Array.from({ length: hard }, () => drawHardQuery(random));
  const hardest: { first: number; all: number }[] = [];
  for (const query of drawn) {
    const first = await timed(() => search.findFirst(anonymous, query, 50));
    hardest.push({ first, all: await timed(() => search.findAll(anonymous, query)) });
  }
  const firsts = hardest.map(({ first }) => first);
  const alls = hardest.map(({ all }) => all);
  console.log(
    `${hard.toLocaleString('en')} queries made of the syllables that all names are made of, most of them nowhere, each asked once: ` +
      `first 50 median ${percentile(firsts, 0.5, 2)} ms, p99 ${percentile(firsts, 0.99, 2)} ms, slowest ${percentile(firsts, 1, 2)} ms; ` +
      `all median ${percentile(alls, 0.5, 2)} ms, p99 ${percentile(alls, 0.99, 2)} ms, slowest ${percentile(alls, 1, 2)} ms.`,
  );
  await search.close();
  await db.close();

  const addresses = ['/api/v1/search?q=', '/search?q='];
  const page = () => fetchPage(`${hearth.url}/login`, fetchesPerS, seconds);
  for (const address of addresses) await searchers(hearth, address, 2);
  await page();
  const alone: string[][] = [];
  const searching = addresses.map((): string[][] => []);
  const concurrent = addresses.map((): string[][] => []);
  for (let round = 0; round < loadRounds; round++) {
    alone.push(await page());
    for (const [at, address] of addresses.entries()) {
      searching[at]!.push(await searchers(hearth, address, seconds));
      concurrent[at]!.push((await Promise.all([page(), searchers(hearth, address, seconds)]))[0]);
    }
  }
  console.log(`\nMedians of ${loadRounds} rounds, in turns:\n`);
  console.log(
    formatRow([
      `${connections} connections, a mix of queries`,
      'Answers/s',
      'p50 ms',
      'p95 ms',
      'p99 ms',
      'Server CPU ms each',
    ]),
  );
  console.log(formatRow(['---', '---:', '---:', '---:', '---:', '---:']));
  for (const [at, address] of addresses.entries())
    console.log(formatRow([`\`${address.replace('?q=', '')}\``, ...medians(searching[at]!)]));
  if (externalUrl !== null) {
    const other = new URL(externalUrl);
    const [perS, p50, p95, p99] = await searchers(hearth, other.pathname + other.search, seconds, other.origin);
    console.log(formatRow(['the other forge, over what it has', perS!, p50!, p95!, p99!, '']));
  }
  console.log(formatRow([`another page, asked for ${fetchesPerS} times a second, alone`, ...medians(alone), '']));
  for (const [at, address] of addresses.entries()) {
    console.log(
      formatRow([
        `the same while ${connections} connections ask \`${address.replace('?q=', '')}\``,
        ...medians(concurrent[at]!),
        '',
      ]),
    );
  }
  await hearth.stop();
}

/** Responses per second, p50, p95, p99 in milliseconds, and CPU time of the server per response. */
async function searchers(
  hearth: HearthServer,
  address: string,
  forS: number,
  origin: string = hearth.url,
): Promise<string[]> {
  const script = path.join(hearth.folder, 'queries.lua');
  const paths = typed.map((query) => `"${address}${encodeURIComponent(query)}"`).join(', ');
  writeFileSync(
    script,
    `local paths = { ${paths} }
     local turn = 0
     function request() turn = turn % #paths + 1; return wrk.format("GET", paths[turn]) end
     function done(summary, latency)
       local ms = function(part) return latency:percentile(part) / 1000 end
       local failed = summary.errors.status + summary.errors.read + summary.errors.connect + summary.errors.timeout
       print("RESULT", summary.requests, ms(50), ms(95), ms(99), failed)
     end`,
  );
  const before = cpuOfTree([hearth.pid]);
  const { stdout } = await promisify(execFile)('wrk', [
    '-t1',
    `-c${connections}`,
    `-d${forS}s`,
    '--timeout',
    '30s',
    '-s',
    script,
    origin,
  ]);
  const cpuS = cpuOfTree([hearth.pid]) - before;
  const [responses, p50, p95, p99, failed] = /^RESULT\s(.*)$/m.exec(stdout)![1]!.trim().split(/\s+/).map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ];
  if (failed > 0) throw new Error(`${failed} of ${responses} answers of ${address} failed`);
  return [
    (responses / forS).toFixed(0),
    ...[p50, p95, p99].map((ms) => ms.toFixed(1)),
    ((cpuS * 1000) / responses).toFixed(2),
  ];
}

/**
 * A page requested at a fixed rate, however long earlier responses take, since visitors are independent. Responses per
 * second, and p50, p95, p99 in milliseconds.
 */
async function fetchPage(address: string, perSecond: number, forS: number): Promise<string[]> {
  const agent = new Agent({ keepAlive: true });
  const search = () =>
    new Promise<void>((resolve, reject) => {
      get(address, { agent }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${address}: ${response.statusCode}`));
        response.resume().on('end', resolve).on('error', reject);
      }).on('error', reject);
    });
  const startedAt = performance.now();
  const fetches: Promise<number>[] = [];
  for (let at = 0; at < forS * perSecond; at += 1) {
    await sleep(Math.max(0, startedAt + (at * 1000) / perSecond - performance.now()));
    fetches.push(timed(search));
  }
  const took = await Promise.all(fetches);
  agent.destroy();
  return [String(Math.round(took.length / forS)), ...[0.5, 0.95, 0.99].map((part) => percentile(took, part, 2))];
}

/** The median of each column. */
function medians(table: readonly string[][]): string[] {
  return table[0]!.map((_, column) => String(median(table.map((row) => Number(row[column])))));
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
