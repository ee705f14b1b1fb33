// Pull requests: a push to refs/for beside a push to a branch; merges by CPU of the server; the page of changes at its
// first view; pages of others while the merge states of fifty pull requests are computed.
// Then lists of 100,000 pull requests, and a comment that five hundred people watch.
// usage: bench/pulls [--rounds N] [--pulls N] [--repository PATH] [--executable PATH]
import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { localAdministrator } from '../src/access/index.ts';
import { openModules } from '../src/app.ts';
import { loadConfig } from '../src/config/index.ts';
import { silentLogger } from '../src/kernel/index.ts';
import { startHearthServer } from './hearth-server.ts';
import { cpuOfTree } from './process-usage.ts';
import { compare, comparisonHead, median, option, row, spread } from './rounds.ts';
import type { Side } from './rounds.ts';
import { fillRepository } from './sample-history.ts';
import { fillTracker } from './sample-issues.ts';

const rounds = option('rounds', 15);
const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const work = path.join(hearth.folder, 'work');
execFileSync('git', ['clone', '-q', `file://${hearth.repository}`, work]);
const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Alice', '-c', 'user.email=alice@example.org', '-C', work, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 1e9,
  })
    .toString()
    .trim();
const url = `${hearth.url}/git/alice/bench.git`;
const main = git('symbolic-ref', '--short', 'HEAD');
const push = (...refs: string[]): string =>
  git('-c', `http.extraHeader=Authorization: Bearer ${hearth.token}`, 'push', '-q', url, ...refs);
const api = async (method: string, at: string, body?: unknown): Promise<Record<string, unknown>> => {
  const response = await fetch(`${hearth.url}/api/v1/repos/alice/bench/${at}`, {
    method,
    headers: { authorization: `Bearer ${hearth.token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${at}: ${response.status} ${text}`);
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
};

let count = 0;
/** Each side adds one commit to a series of its own. */
const pushTo =
  (branch: string, target: string): Side =>
  async () => {
    git('checkout', '-q', '-B', branch, count === 0 ? `origin/${main}` : 'HEAD');
    git('commit', '-q', '--allow-empty', '-m', `Change ${count++}`);
    const startedAt = performance.now();
    push(`HEAD:${target}`);
    return { wallS: (performance.now() - startedAt) / 1000 };
  };
const pushes = await compare('Push of one commit to refs/for', rounds, {
  hearth: pushTo('for', `refs/for/${main}/bench`),
  'the same to a branch': pushTo('branch', 'refs/heads/bench-branch'),
});

/** A pull request that changes one line of a file of its own. */
async function openPull(name: string, content: string): Promise<number> {
  git('checkout', '-q', '-B', name, `origin/${main}`);
  writeFileSync(path.join(work, `${name}.txt`), content);
  git('add', '.');
  git('commit', '-q', '-m', `Change ${name}`);
  push(`HEAD:refs/heads/${name}`);
  return (await api('POST', 'pulls', { title: name, head: name, base: main }))['number'] as number;
}

const merges: { ms: number; cpuMs: number }[] = [];
for (let round = 0; round < rounds; round += 1) {
  const number = await openPull(`merge-${round}`, 'one line\n');
  await api('GET', `pulls/${number}`);
  const [startedAt, cpu] = [performance.now(), cpuOfTree([hearth.pid])];
  await api('POST', `pulls/${number}/merge`, { Do: 'merge' });
  merges.push({ ms: performance.now() - startedAt, cpuMs: (cpuOfTree([hearth.pid]) - cpu) * 1000 });
}

/** The page of changes of thirty files and 1,500 lines, asked for the first time. */
git('fetch', '-q', 'origin');
git('checkout', '-q', '-B', 'wide', `origin/${main}`);
for (let file = 0; file < 30; file += 1)
  writeFileSync(
    path.join(work, `wide-${file}.ts`),
    Array.from({ length: 50 }, (_, line) => `export const value${line} = compute(${file}, ${line * 7});\n`).join(''),
  );
git('add', '.');
git('commit', '-q', '-m', 'Thirty files');
push('HEAD:refs/heads/wide');
const wide = (await api('POST', 'pulls', { title: 'Wide', head: 'wide', base: main }))['number'] as number;
const page = async (at: string): Promise<{ ms: number; bytes: number }> => {
  const startedAt = performance.now();
  const response = await fetch(`${hearth.url}/repos/alice/bench/${at}`);
  const text = Buffer.from(await response.arrayBuffer());
  if (!response.ok) throw new Error(`${at}: ${response.status}`);
  return { ms: performance.now() - startedAt, bytes: gzipSync(text).length };
};
const first = await page(`pulls/${wide}/changes`);
const later: number[] = [];
for (let view = 0; view < 40; view += 1) later.push((await page(`pulls/${wide}/changes`)).ms);

/** Others' pages, alone and while merge states are computed. */
for (let pull = 0; pull < 50; pull += 1) await openPull(`open-${pull}`, `pull ${pull}\n`);
const timesOf = async (until: () => boolean): Promise<number[]> => {
  const times: number[] = [];
  while (!until()) times.push((await page(`commits/${main}?bench=${times.length}`)).ms);
  return times;
};
const p95 = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? NaN;
const ratios: number[] = [];
for (let round = 0; round < 5; round += 1) {
  const calmEnd = performance.now() + 2000;
  const calm = await timesOf(() => performance.now() > calmEnd);
  git('fetch', '-q', 'origin');
  git('checkout', '-q', '-B', 'onto', `origin/${main}`);
  git('commit', '-q', '--allow-empty', '-m', `Base ${round}`);
  push(`HEAD:refs/heads/${main}`);
  const busyEnd = performance.now() + 4000;
  ratios.push(p95(await timesOf(() => performance.now() > busyEnd)) / p95(calm));
}

/** A list of as many pull requests as a large project has, and a comment that five hundred people watch. */
const { config } = loadConfig({
  env: { SERVICE_DATA_DIR: path.join(hearth.folder, 'data') },
  cwd: hearth.folder,
  readFile: () => '',
});
const modules = await openModules(config, { logger: silentLogger });
const list = { owner: 'alice', name: 'list' };
await modules.repositories.create(localAdministrator, { ...list, visibility: 'PUBLIC' });
const { repository } = await modules.repositories.find(localAdministrator, list.owner, list.name);
const pulls = option('pulls', 100_000);
await fillTracker(modules.db, repository.id, { issues: pulls, entries: pulls, kind: 'PULL' });
const lists: Record<string, string> = {
  'open, newest first': 'is:open',
  'closed, newest first': 'is:closed',
  'open, by last change': 'is:open sort:updated',
  'open with a label': 'is:open label:area/token',
  'by an author': 'is:open author:person7',
};
const listed: string[][] = [];
for (const [name, words] of Object.entries(lists)) {
  const at = `${hearth.url}/repos/alice/list/pulls?${new URLSearchParams({ q: words })}`;
  const times: number[] = [];
  for (let round = 0; round < 40; round += 1) {
    const startedAt = performance.now();
    const response = await fetch(at);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${at}: ${response.status}`);
    if (round > 0) times.push(performance.now() - startedAt);
  }
  listed.push([`List of ${pulls.toLocaleString('en')}, ${name}: ms p50 / p95`, both(times), 'p95 30']);
}

const watchers = 500;
const { repository: bench } = await modules.repositories.find(localAdministrator, 'alice', 'bench');
await modules.db.write(async ({ manager, now }) => {
  for (let number = 0; number < watchers; number += 1) {
    const id = `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
    await manager.query('INSERT INTO users (id, username, created_at) VALUES (?, ?, ?)', [id, `watcher${number}`, now]);
    await manager.query(
      "INSERT INTO watches (user_id, repository_id, level, created_at) VALUES (?, ?, 'everything', ?)",
      [id, bench.id, now],
    );
  }
});
const comments: { answeredMs: number; toldMs: number }[] = [];
for (let round = 0; round < 7; round += 1) {
  const startedAt = performance.now();
  await api('POST', `issues/${wide}/comments`, { body: `Comment ${round}` });
  const answeredMs = performance.now() - startedAt;
  const [issue] = await modules.db.read.query(
    'SELECT id, last_position FROM issues WHERE repository_id = ? AND number = ?',
    [bench.id, wide],
  );
  const told = async (): Promise<number> => {
    const [counted] = await modules.db.read.query(
      'SELECT count(*) AS n FROM notifications WHERE issue_id = ? AND last_position >= ?',
      [issue.id, issue.last_position],
    );
    return Number(counted.n);
  };
  while ((await told()) < watchers) await new Promise((resolve) => setTimeout(resolve, 2));
  comments.push({ answeredMs, toldMs: performance.now() - startedAt });
}
await modules.close();

console.log(
  [
    ...comparisonHead,
    ...pushes,
    '',
    row(['What', 'Median (min–max)', 'Limit']),
    row(['---', '---:', '---:']),
    ...[
      ['Push of one commit to refs/for, to the same push to a branch', wallRatio(pushes), '1.15×'],
      ['Merge of a small change: ms', spread(merges.map(({ ms }) => ms)), ''],
      ['The same: CPU ms of the server', spread(merges.map(({ cpuMs }) => cpuMs)), '150'],
      ['Page of changes, 30 files, 1,500 lines, first view: ms', first.ms.toFixed(0), '150'],
      ['The same: kB gzipped', (first.bytes / 1000).toFixed(1), '60'],
      ['The same, later views: ms p50 / p95', both(later), ''],
      ['p95 of pages while 50 merge states are computed, to p95 without', `${median(ratios).toFixed(2)}×`, '2×'],
      ...listed,
      ['Comment on a pull request: ms', spread(comments.map(({ answeredMs }) => answeredMs)), '20'],
      [`The same, in the inboxes of ${watchers} watchers: ms`, spread(comments.map(({ toldMs }) => toldMs)), '1,000'],
    ].map(row),
  ].join('\n'),
);
await hearth.stop();

/** The ratio of wall times that the row of a comparison has. */
function wallRatio([compared = '']: readonly string[]): string {
  return compared.split(' | ').at(-2) ?? '';
}

/** Median and 95th percentile. */
function both(times: readonly number[]): string {
  return `${median(times).toFixed(1)} / ${p95(times).toFixed(1)}`;
}
