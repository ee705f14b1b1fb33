// The page of changes of a pull request with 30 files and 1,500 lines, as a person sees it who may comment: the first
// view after a start, first views of other pull requests, later views, its size, what the author changed between two
// rounds, and the requests of a browser.
// usage: bench/pull-changes [--rounds N] [--executable PATH]
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { openModules } from '../src/app/index.ts';
import { localAdministrator } from '../src/access/index.ts';
import { loadConfig } from '../src/config/index.ts';
import { silentLogger } from '../src/kernel/index.ts';
import { startHearthServer } from './hearth-server.ts';
import { readNumberOption, formatRow } from './harness.ts';

const rounds = readNumberOption('rounds', 40);
/** Pull requests whose page nobody has seen: each gives one first view. */
const fresh = readNumberOption('fresh', 20);
const files = 30;
/** Ten changed lines at each of two places make 54 rows of a file with their context and headers. */
const changedAt = (line: number): boolean => (line > 40 && line <= 50) || (line > 140 && line <= 150);

const hearth = await startHearthServer();
process.once('exit', () => hearth.kill());
const work = path.join(hearth.folder, 'work');
mkdirSync(work);
const author = ['-c', 'user.name=Alice', '-c', 'user.email=alice@example.org'];
const git = (...args: string[]): string =>
  execFileSync('git', [...author, ...args], { cwd: work, stdio: ['ignore', 'pipe', 'ignore'] })
    .toString()
    .trim();

const source = (seed: number, isChanged: (line: number) => boolean, change = 0): string =>
  Array.from({ length: 200 }, (_, at) =>
    isChanged(at)
      ? `  const changed${at} = compute(${seed}, 'value ${at * seed + change}', { deep: true });\n`
      : `  const value${at} = lookUp(table${(at * 7 + seed) % 13}, 'name ${at}', ${seed + at}); // line ${at}\n`,
  ).join('');

/** @param seed makes other blobs, so that nothing is known of them */
function commit(message: string, isChanged: (line: number) => boolean, seed = 0): void {
  for (let n = 0; n < files; n += 1) {
    const name = `src/part${n % 5}/file${n}.ts`;
    mkdirSync(path.dirname(path.join(work, name)), { recursive: true });
    writeFileSync(path.join(work, name), source(n + 1, isChanged, seed));
  }
  git('add', '--all');
  git('commit', '--quiet', '-m', message);
}

const push = (...branches: string[]): string => git('push', '--quiet', '--force', 'origin', ...branches);
git('init', '--quiet', '-b', 'main');
git('remote', 'add', 'origin', `${hearth.url.replace('://', `://alice:${hearth.token}@`)}/git/alice/bench.git`);
commit('Start', () => false);
git('checkout', '--quiet', '-b', 'topic');
commit('Change', changedAt);
const others = Array.from({ length: fresh }, (_, n) => `fresh${n}`);
for (const [n, branch] of others.entries()) {
  git('checkout', '--quiet', '-b', branch, 'main');
  commit('Change', changedAt, n + 1);
}
push('main', 'topic', ...others);

const { config } = loadConfig({
  env: { SERVICE_DATA_DIR: path.join(hearth.folder, 'data') },
  cwd: hearth.folder,
  readFile: () => '',
});
const modules = await openModules(config, { logger: silentLogger });
const alice = (await modules.accounts.personByUsername('alice'))!;
const bob = await modules.accounts.addPerson({ username: 'bob', password: 'correct horse battery' });
const { secret } = await modules.accounts.startSession(bob.id, { address: '127.0.0.1', userAgent: 'bench' });
const viewer = { ...localAdministrator, id: alice.id, username: 'alice', via: 'session' as const };
const at = { owner: 'alice', name: 'bench' };
const { issue } = await modules.pulls.open(viewer, at, { title: 'Change', head: 'topic', body: '' });
const addressOf = (number: number): string => `${hearth.url}/repos/alice/bench/pulls/${number}/changes`;
const url = addressOf(issue.number);

/** The whole response; another status than 200 is a mistake of this benchmark. */
async function read(query = '', page = url): Promise<string> {
  const response = await fetch(page + query, { headers: { Cookie: `hearth_session=${secret}` } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${page}${query} answered ${response.status}`);
  return text;
}

async function once(query = '', page = url): Promise<number> {
  const startedAt = performance.now();
  await read(query, page);
  return performance.now() - startedAt;
}

function spread(times: number[]): string {
  times.sort((a, b) => a - b);
  const share = (part: number): string =>
    (times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? NaN).toFixed(1);
  return `${share(0.5)} / ${share(0.95)}`;
}

async function shown(query = ''): Promise<string> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await once(query));
  return spread(times);
}

// What any page of the server loads once, its own templates and rules among it, is no cost of this page.
await fetch(`${hearth.url}/repos/alice/bench`, { headers: { Cookie: `hearth_session=${secret}` } });
console.log(`${formatRow(['Page of changes', 'Value'])}\n${formatRow(['---', '---:'])}`);
console.log(formatRow(['first view after the start, ms', (await once()).toFixed(0)]));
const firstViews: number[] = [];
for (const branch of others) {
  const { issue: other } = await modules.pulls.open(viewer, at, { title: branch, head: branch, body: '' });
  firstViews.push(await once('', addressOf(other.number)));
}
console.log(formatRow(['first view of another, ms p50 / p95', spread(firstViews)]));
for (let view = 0; view < 10; view += 1) await read();
console.log(formatRow(['later views, ms p50 / p95', await shown()]));
console.log(formatRow(['later views, split, ms p50 / p95', await shown('?view=split')]));
const page = await read();
const assets = [...page.matchAll(/(?:href|src)="(\/assets\/[^"#]+)/g)].map(([, address]) => address!);
const sizes = await Promise.all(
  [...new Set(assets)].map(async (address) => gzipSync(await (await fetch(hearth.url + address)).bytes()).length),
);
const lines = page.match(/class="sign"/g)?.length ?? 0;
console.log(formatRow(['lines with context', lines.toLocaleString('en')]));
console.log(formatRow(['page, kB gzipped', (gzipSync(page).length / 1000).toFixed(1)]));
console.log(
  formatRow([
    `with its ${sizes.length} other files, kB gzipped`,
    (sizes.reduce((a, b) => a + b, gzipSync(page).length) / 1000).toFixed(1),
  ]),
);

git('checkout', '--quiet', 'main');
writeFileSync(path.join(work, 'notes.txt'), 'base\n');
git('add', '--all');
git('commit', '--quiet', '-m', 'Base');
git('checkout', '--quiet', 'topic');
git('rebase', '--quiet', 'main');
writeFileSync(
  path.join(work, 'src/part0/file0.ts'),
  source(1, (line) => changedAt(line) || line === 45 || line === 100),
);
git('commit', '--quiet', '--all', '-m', 'Again');
push('main', 'topic');
for (let tries = 0; tries < 200 && !(await read()).includes('round 2 (the last)'); tries += 1)
  await new Promise((resolve) => setTimeout(resolve, 50));
console.log(formatRow(['what the author changed since round 1: first view, ms', (await once('?from=1')).toFixed(0)]));
console.log(formatRow(['later views, ms p50 / p95', await shown('?from=1')]));
await modules.close();
await hearth.stop();
