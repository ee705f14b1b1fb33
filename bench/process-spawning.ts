// How long the event loop is blocked while git is started: by the server itself, and by the spawner process. And the
// event loop delay of a whole server while clients clone and push.
// usage: bench/process-spawning [--rounds N] [--ballast MB] [--executable PATH]
// There is no `--url`: the event loop is that of this process, or comes from Hearth's `/metrics`. The effect on another
// forge's pages is measured by page-beside-clones.
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { loadConfig } from '../src/config/index.ts';
import { createGit } from '../src/git/index.ts';
import type { Git } from '../src/git/index.ts';
import { silentLogger } from '../src/kernel/index.ts';
import { cloneRequest, drain, moveRefs } from './fetch-request.ts';
import { startHearthServer } from './hearth-server.ts';
import { readNumberOption, formatRow, formatSpread } from './harness.ts';
import { fillRepository } from './sample-history.ts';

const rounds = readNumberOption('rounds', 7);
/** As much memory as a server that has been in use. */
const ballast = Array.from({ length: readNumberOption('ballast', 80) }, (_, at) => Buffer.alloc(2 ** 20, at + 1));
const atOnce = 20;

const folder = mkdtempSync(path.join(tmpdir(), 'hearth-bench-'));
const { config } = loadConfig({
  env: { SERVICE_DATA_DIR: path.join(folder, 'data'), SERVICE_GIT_READ_SLOTS: '8' },
  cwd: folder,
  readFile: () => '',
});

async function open(isApart: boolean): Promise<{ git: Git; repository: string }> {
  const git = await createGit({
    config: { ...config, dataDir: path.join(folder, isApart ? 'apart' : 'here') },
    logger: silentLogger,
  });
  const repository = path.join(folder, `${isApart ? 'apart' : 'here'}.git`);
  execFileSync('git', ['init', '-q', '--bare', repository]);
  const tree = execFileSync('git', ['-C', repository, 'mktree'], { input: '' }).toString().trim();
  const commit = execFileSync('git', [
    '-C',
    repository,
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@example.org',
    'commit-tree',
    tree,
    '-m',
    'x',
  ])
    .toString()
    .trim();
  execFileSync('git', ['-C', repository, 'update-ref', 'refs/heads/main', commit]);
  if (isApart) {
    git.useSpawner();
    await sleep(1_000);
  }
  return { git, repository };
}

/** The programs of clones, pushes and pages: twenty at a time, five times over. */
async function work({
  git,
  repository,
}: {
  git: Git;
  repository: string;
}): Promise<{ stillMs: number; longestMs: number; tookMs: number }> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedAt = performance.now();
  for (let turn = 0; turn < 5; turn++) {
    await Promise.all(Array.from({ length: atOnce }, () => git.maintenance.check(repository)));
  }
  const tookMs = performance.now() - startedAt;
  delay.disable();
  return { stillMs: delay.percentile(99) / 1e6, longestMs: delay.max / 1e6, tookMs };
}

const sides = { 'by the server itself': await open(false), 'by the small process': await open(true) };
const samples: Record<string, Awaited<ReturnType<typeof work>>[]> = {};
for (let round = 0; round <= rounds; round++) {
  for (const [name, side] of Object.entries(sides)) {
    const sample = await work(side);
    // The first one warms up.
    if (round > 0) (samples[name] ??= []).push(sample);
  }
}
console.log(
  formatRow([`100 starts, ${atOnce} at a time`, 'Event loop late, p99, ms (min–max)', 'Longest, ms', 'All done, ms']),
);
console.log(formatRow(['---', '---:', '---:', '---:']));
for (const [name, all] of Object.entries(samples)) {
  console.log(
    formatRow([
      name,
      formatSpread(
        all.map(({ stillMs }) => stillMs),
        1,
      ),
      formatSpread(
        all.map(({ longestMs }) => longestMs),
        1,
      ),
      formatSpread(all.map(({ tookMs }) => tookMs)),
    ]),
  );
}
console.log(
  `\nMemory of this process: ${Math.round(process.memoryUsage().rss / 2 ** 20)} MB, of which ${ballast.length} MB for show.`,
);
for (const { git } of Object.values(sides)) await git.stop(0);
rmSync(folder, { recursive: true, force: true });

/** The event loop delay of a server since the last call, in milliseconds. */
async function lateness(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^hearth_event_loop_delay_seconds\{quantile="0.99"\} (\S+)$/m.exec(text)?.[1]) * 1000;
}

const server = await startHearthServer();
await fillRepository(server.repository);
const url = `${server.url}/git/alice/bench.git`;
const workTree = path.join(server.folder, 'work');
execFileSync('git', ['clone', '-q', '--depth', '1', `file://${server.repository}`, workTree]);
const inWork = (...args: string[]) =>
  promisify(execFile)('git', ['-c', 'user.name=Alice', '-c', 'user.email=alice@example.org', '-C', workTree, ...args]);
let pushes = 0;
async function push(): Promise<void> {
  await inWork('commit', '-q', '--allow-empty', '-m', `Change ${pushes++}`);
  await inWork(
    '-c',
    `http.extraHeader=Authorization: Bearer ${server.token}`,
    'push',
    '-q',
    url,
    'HEAD:refs/heads/pushed',
  );
}
const whole = cloneRequest(server.repository);
/** Of different depths, so that each needs a git process. */
const different = Array.from({ length: atOnce }, (_, at) => cloneRequest(server.repository, 100 + at));
const cloneAll = (requests: string[]) => Promise.all(requests.map((body) => drain(`${url}/git-upload-pack`, body)));
async function during(work: () => Promise<unknown>): Promise<number> {
  await lateness(server.url);
  await work();
  return lateness(server.url);
}
const situations: Record<string, () => Promise<unknown>> = {
  nothing: () => sleep(1_000),
  [`${atOnce} equal clones, a push beside`]: () => Promise.all([cloneAll(different.map(() => whole)), push()]),
  [`${atOnce} clones that differ, a push beside`]: () => Promise.all([cloneAll(different), push()]),
};
const late: Record<string, number[]> = {};
for (let round = 0; round <= rounds; round++) {
  for (const [name, work] of Object.entries(situations)) {
    moveRefs(server.repository);
    const sample = await during(work);
    if (round > 0) (late[name] ??= []).push(sample);
  }
}
console.log(`\n${formatRow(['A whole server, meanwhile', 'Event loop late, p99, ms (min–max)'])}`);
console.log(formatRow(['---', '---:']));
for (const [name, samples] of Object.entries(late)) console.log(formatRow([name, formatSpread(samples, 1)]));
await server.stop();
