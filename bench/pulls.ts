// Pull requests: a push to refs/for beside a push to a branch; merges by CPU of the server; the page of changes at its
// first view; pages of others while the merge states of fifty pull requests are computed.
// Then lists of 100,000 pull requests, comments that five hundred people watch, and the page of all those comments.
// Each limit of collaboration §14 for pull requests is a row, with whether it is held. What is measured elsewhere: the
// requests of a browser (`pull-changes`), the inbox (`notifications`), forks (`forks`), LFS (`lfs`).
// With `--url`, an empty repository at another forge with Gitea's API and the name and token of who may write there
// (`http://alice:TOKEN@127.0.0.1:3000/alice/peer.git`): pushes to refs/for and merges beside that.
// usage: bench/pulls [--rounds N] [--pulls N] [--open N] [--comments N] [--repository PATH] [--executable PATH]
//        [--url OTHER-FORGE]
// The smallest useful run, of about a minute: --rounds 2 --pulls 1000 --open 5 --comments 10
import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { localAdministrator } from '../src/access/index.ts';
import { openModules } from '../src/app/index.ts';
import { loadConfig } from '../src/config/index.ts';
import { silentLogger } from '../src/kernel/index.ts';
import { startHearthServer } from './hearth-server.ts';
import { cpuOfTree } from './process-usage.ts';
import {
  compare,
  comparisonHead,
  median,
  readNumberOption,
  formatRow,
  formatSpread,
  readTextOption,
} from './harness.ts';
import type { Measurement } from './harness.ts';
import { fillRepository } from './sample-history.ts';
import { fillTracker } from './sample-issues.ts';

/** What is measured, as it is shown, and the value that is compared with its limit; both in the unit of the title. */
type Row = [what: string, shown: string, goal?: { of: number; limit: number }];

const rounds = readNumberOption('rounds', 15);
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

interface Forge {
  push(...refs: string[]): string;
  api(method: string, at: string, body?: unknown): Promise<Record<string, unknown>>;
  /** CPU seconds of its server, when measurable. */
  cpuS(): number | undefined;
}

/** A repository at a forge that has Gitea's API. */
const forgeAt = (clone: string, api: string, token: string, cpuS: Forge['cpuS']): Forge => {
  const forge: Forge = {
    push: (...refs) => git('-c', `http.extraHeader=Authorization: Bearer ${token}`, 'push', '-q', clone, ...refs),
    async api(method, at, body) {
      const response = await fetch(`${api}/${at}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      // The limit of contributions per person; nothing that is measured comes near it.
      if (response.status === 503 && text.includes('too_many_contributions')) {
        await sleep(Number(response.headers.get('retry-after') ?? 5) * 1000);
        return forge.api(method, at, body);
      }
      if (!response.ok) throw new Error(`${method} ${at}: ${response.status} ${text}`);
      return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
    },
    cpuS,
  };
  return forge;
};
const cpuS = (): number => cpuOfTree([hearth.pid]);
const here = forgeAt(url, `${hearth.url}/api/v1/repos/alice/bench`, hearth.token, cpuS);
const { push, api } = here;

function otherForge(address: string): Forge {
  const { origin, pathname, username, password } = new URL(address);
  const [owner, name] = pathname
    .replace(/\.git$/, '')
    .split('/')
    .slice(-2);
  const credentials = Buffer.from(`${username}:${password}`).toString('base64');
  const forge = forgeAt(`${origin}${pathname}`, `${origin}/api/v1/repos/${owner}/${name}`, password, () => undefined);
  return {
    ...forge,
    // Other forges take tokens of git as passwords only.
    push: (...refs) =>
      git('-c', `http.extraHeader=Authorization: Basic ${credentials}`, 'push', '-q', `${origin}${pathname}`, ...refs),
  };
}
const address = readTextOption('url');
const there = address === null ? null : otherForge(address);
there?.push(`origin/${main}:refs/heads/${main}`);

let count = 0;
/** Each side adds one commit to a series of its own. */
const pushTo =
  (branch: string, target: string, forge = here): Measurement =>
  async () => {
    git('checkout', '-q', '-B', branch, count === 0 ? `origin/${main}` : 'HEAD');
    git('commit', '-q', '--allow-empty', '-m', `Change ${count++}`);
    const [startedAt, cpu] = [performance.now(), forge.cpuS()];
    forge.push(`HEAD:${target}`);
    const wallS = (performance.now() - startedAt) / 1000;
    // The round is recorded while the client gets its answer.
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { wallS, cpuS: cpu === undefined ? undefined : forge.cpuS()! - cpu };
  };
const pushes = await compare('Push of one commit to refs/for', rounds, {
  hearth: pushTo('for', `refs/for/${main}/bench`),
  'the same to a branch': pushTo('branch', 'refs/heads/bench-branch'),
  ...(there === null ? {} : { 'refs/for at the other forge': pushTo('other', `refs/for/${main}/bench`, there) }),
});

/** A pull request that changes one line of a file of its own. */
async function openPull(name: string, content: string, { push, api }: Forge = here): Promise<number> {
  git('checkout', '-q', '-B', name, `origin/${main}`);
  writeFileSync(path.join(work, `${name}.txt`), content);
  git('add', '.');
  git('commit', '-q', '-m', `Change ${name}`);
  push(`HEAD:refs/heads/${name}`);
  return (await api('POST', 'pulls', { title: name, head: name, base: main }))['number'] as number;
}

let merged = 0;
const mergeAt =
  (forge: Forge): Measurement =>
  async () => {
    const number = await openPull(`peer-${merged++}`, 'one line\n', forge);
    const path = `pulls/${number}`;
    // Others compute in the background whether it merges, and refuse until they know.
    for (let tries = 0; tries < 100 && (await forge.api('GET', path))['mergeable'] !== true; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 100));
    const startedAt = performance.now();
    await forge.api('POST', `${path}/merge`, { Do: 'merge' });
    return { wallS: (performance.now() - startedAt) / 1000 };
  };
const beside =
  there === null
    ? []
    : await compare('Merge of a small change', rounds, {
        hearth: mergeAt(here),
        'the other forge': mergeAt(there),
      });

const merges: { ms: number; cpuMs: number }[] = [];
for (let round = 0; round < rounds; round += 1) {
  const number = await openPull(`merge-${round}`, 'one line\n');
  await api('GET', `pulls/${number}`);
  const [startedAt, cpu] = [performance.now(), cpuS()];
  await api('POST', `pulls/${number}/merge`, { Do: 'merge' });
  merges.push({ ms: performance.now() - startedAt, cpuMs: (cpuS() - cpu) * 1000 });
}

/** A pull request of thirty files and 1,500 lines, whose page of changes is asked for the first time. */
async function openWide(name: string): Promise<number> {
  git('fetch', '-q', 'origin');
  git('checkout', '-q', '-B', name, `origin/${main}`);
  for (let file = 0; file < 30; file += 1)
    writeFileSync(
      path.join(work, `wide-${file}.ts`),
      Array.from({ length: 50 }, (_, line) => `export const ${name}${line} = compute(${file}, ${line * 7});\n`).join(
        '',
      ),
    );
  git('add', '.');
  git('commit', '-q', '-m', 'Thirty files');
  push(`HEAD:refs/heads/${name}`);
  return (await api('POST', 'pulls', { title: name, head: name, base: main }))['number'] as number;
}
const page = async (at: string): Promise<{ ms: number; bytes: number }> => {
  const startedAt = performance.now();
  const response = await fetch(`${hearth.url}/repos/alice/bench/${at}`);
  const text = Buffer.from(await response.arrayBuffer());
  if (!response.ok) throw new Error(`${at}: ${response.status}`);
  return { ms: performance.now() - startedAt, bytes: gzipSync(text).length };
};
const firsts: { ms: number; bytes: number; cpuMs: number }[] = [];
let wide = 0;
for (let view = 0; view < 6; view += 1) {
  wide = await openWide(`wide${view}`);
  // Its merge state is computed in the background.
  await api('GET', `pulls/${wide}`);
  const cpu = cpuS();
  firsts.push({ ...(await page(`pulls/${wide}/changes`)), cpuMs: (cpuS() - cpu) * 1000 });
}
const [cold, ...first] = firsts;
const later: number[] = [];
const cpuLater = cpuS();
for (let view = 0; view < 40; view += 1) later.push((await page(`pulls/${wide}/changes`)).ms);

const laterCpuMs = ((cpuS() - cpuLater) * 1000) / later.length;

/** Others' pages, alone and while merge states are computed. */
const openPulls = readNumberOption('open', 50);
for (let pull = 0; pull < openPulls; pull += 1) await openPull(`open-${pull}`, `pull ${pull}\n`);
const timesOf = async (until: () => boolean): Promise<number[]> => {
  const times: number[] = [];
  while (!until()) times.push((await page(`commits/${main}?bench=${times.length}`)).ms);
  return times;
};
const p95 = (times: readonly number[]): number =>
  [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.95)] ?? NaN;
const ratios: number[] = [];
for (let round = 0; round < Math.min(5, rounds); round += 1) {
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
const pulls = readNumberOption('pulls', 100_000);
await fillTracker(modules.db, repository.id, { issues: pulls, entries: pulls, kind: 'PULL' });
const lists: Record<string, string> = {
  'open, newest first': 'is:open',
  'closed, newest first': 'is:closed',
  'open, by last change': 'is:open sort:updated',
  'open with a label': 'is:open label:area/token',
  'by an author': 'is:open author:person7',
};
const listed: Row[] = [];
for (const [name, words] of Object.entries(lists)) {
  const at = `${hearth.url}/repos/alice/list/pulls?${new URLSearchParams({ q: words })}`;
  const times: number[] = [];
  let cpu = 0;
  // The first ten run code that is not compiled yet.
  for (let round = 0; round < 70; round += 1) {
    if (round === 10) cpu = cpuS();
    const startedAt = performance.now();
    const response = await fetch(at);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${at}: ${response.status}`);
    if (round >= 10) times.push(performance.now() - startedAt);
  }
  const title = `List of ${pulls.toLocaleString('en')}, ${name}`;
  listed.push([`${title}: ms p50 / p95`, both(times), { of: p95(times), limit: 30 }]);
  listed.push(['The same: CPU ms of the server', (((cpuS() - cpu) * 1000) / times.length).toFixed(1)]);
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
const cpuComments = cpuS();
const commentCount = readNumberOption('comments', 200);
const comments: { answeredMs: number; toldMs: number }[] = [];
for (let round = 0; round < commentCount; round += 1) {
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
const commentCpuMs = ((cpuS() - cpuComments) * 1000) / comments.length;
const talk: number[] = [];
for (let view = 0; view < 41; view += 1) {
  const { ms } = await page(`pulls/${wide}`);
  if (view > 0) talk.push(ms);
}
await modules.close();

const answered = comments.map(({ answeredMs }) => answeredMs);
const told = comments.map(({ toldMs }) => toldMs);
const mergeCpu = merges.map(({ cpuMs }) => cpuMs);
const firstMs = first.map(({ ms }) => ms);
const ratio = wallRatio(pushes);

console.log(
  [
    ...comparisonHead,
    ...pushes,
    ...beside,
    '',
    formatRow(['What', 'Median (min–max)', 'Limit', 'Held']),
    formatRow(['---', '---:', '---:', '---']),
    ...(
      [
        [
          'Push of one commit to refs/for, to the same push to a branch',
          ratio,
          { of: Number.parseFloat(ratio), limit: 1.15 },
        ],
        ['Merge of a small change: ms', formatSpread(merges.map(({ ms }) => ms))],
        ['The same: CPU ms of the server', formatSpread(mergeCpu), { of: median(mergeCpu), limit: 150 }],
        [
          'Page of changes, 30 files, 1,500 lines, first view: ms',
          formatSpread(firstMs),
          { of: median(firstMs), limit: 150 },
        ],
        ['The same: CPU ms of the server', formatSpread(first.map(({ cpuMs }) => cpuMs))],
        ['The first such page since the start: ms', cold!.ms.toFixed(0)],
        ['The same: CPU ms of the server', cold!.cpuMs.toFixed(0)],
        ['Page of changes: kB gzipped', (cold!.bytes / 1000).toFixed(1), { of: cold!.bytes / 1000, limit: 60 }],
        ['Page of changes, later views: ms p50 / p95', both(later)],
        ['The same: CPU ms of the server', laterCpuMs.toFixed(1)],
        [
          `p95 of pages while ${openPulls} merge states are computed, to p95 without`,
          `${median(ratios).toFixed(2)}×`,
          { of: median(ratios), limit: 2 },
        ],
        ...listed,
        ['Comment on a pull request: ms p50 / p95', both(answered), { of: p95(answered), limit: 20 }],
        [`The same, in the inboxes of ${watchers} watchers: ms p50 / p95`, both(told), { of: p95(told), limit: 1_000 }],
        ['The same: CPU ms of the server for all of it', commentCpuMs.toFixed(0)],
        [
          `Page of a pull request with ${commentCount} comments: ms p50 / p95`,
          both(talk),
          { of: p95(talk), limit: 60 },
        ],
      ] satisfies Row[] as Row[]
    ).map(([what, shown, goal]) =>
      formatRow([
        what,
        shown,
        goal === undefined ? '' : goal.limit.toLocaleString('en'),
        goal === undefined ? '' : goal.of <= goal.limit ? 'yes' : 'no',
      ]),
    ),
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
