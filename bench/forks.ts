// A fork of a repository of 500 MB beside `git clone --mirror --local` and a copy of the folder: time, and the disk
// space that is taken.
// usage: bench/forks [--rounds N] [--megabytes N]
import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createGit } from '../src/git/index.ts';
import { silentLogger } from '../src/kernel/index.ts';
import { readNumberOption } from './harness.ts';

const megabytes = readNumberOption('megabytes', 500);
const rounds = readNumberOption('rounds', 5);
const folder = mkdtempSync(path.join(tmpdir(), 'hearth-forks-'));
const dataDir = path.join(folder, 'data');
const git = await createGit({
  config: {
    dataDir,
    storage: { root: path.join(dataDir, 'repositories'), lowDiskFloorBytes: 0 },
    git: {
      program: 'git',
      readSlots: 4,
      writeSlots: 4,
      queue: 64,
      queueWaitMs: 30_000,
      maxPushSizeBytes: 4 * 1024 ** 3,
      maxPushObjects: 10_000_000,
      maxPushMemoryBytes: 128 * 1024 ** 2,
      maxPushCpuMs: 600_000,
      readCommitGraph: true,
    },
  },
  logger: silentLogger,
});
const newPath = (): string => git.storage.pathOf(randomUUID(), randomUUID());

/** Commits of small files beside what makes it large, as projects with pictures have them; a pack per push. */
function fill(bare: string): void {
  const work = path.join(folder, 'work');
  const run = (...args: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=Alice', '-c', 'user.email=alice@example.org', ...args], { cwd: work });
  mkdirSync(work);
  run('init', '--quiet', '-b', 'main');
  execFileSync('git', ['--git-dir', bare, 'config', 'receive.unpackLimit', '1']);
  const pushes = 10;
  for (let push = 0; push < pushes; push += 1) {
    for (let file = 0; file < 400; file += 1) {
      const name = path.join(work, `folder-${file % 40}`, `text-${file}.txt`);
      mkdirSync(path.dirname(name), { recursive: true });
      writeFileSync(name, `${push} ${file}\n`.repeat(20));
    }
    writeFileSync(path.join(work, `large-${push}.bin`), randomBytes((megabytes / pushes) * 1024 * 1024));
    run('add', '.');
    run('-c', 'core.compression=0', 'commit', '--quiet', '-m', `Change ${push}`);
    run('push', '--quiet', bare, 'main');
  }
  rmSync(work, { recursive: true, force: true });
}

/** Bytes that a step takes on the disk: what the file system has less. */
function freeBytes(): number {
  execFileSync('sync');
  const { bfree, bsize } = statfsSync(folder);
  return bfree * bsize;
}

/** Bytes of a folder that are in no other: blocks of files with one name, and of folders. */
const ownBytes = (target: string): number =>
  Number(
    execFileSync('sh', [
      '-c',
      `find "$1" \\( -type d -o -links 1 \\) -printf '%b\\n' | awk '{s+=$1} END {print s*512}'`,
      '-',
      target,
    ]),
  );

interface Sample {
  ms: number;
  own: number;
  free: number;
}

const samples = new Map<string, Sample[]>();
async function measure(name: string, make: (target: string) => Promise<void> | void): Promise<void> {
  const target = newPath();
  mkdirSync(path.dirname(target), { recursive: true });
  const before = freeBytes();
  const startedAt = performance.now();
  await make(target);
  const ms = performance.now() - startedAt;
  const sample = { ms, own: ownBytes(target), free: before - freeBytes() };
  samples.set(name, [...(samples.get(name) ?? []), sample]);
  rmSync(path.dirname(target), { recursive: true, force: true });
}

const source = newPath();
await git.storage.create(source, { defaultBranch: 'main' });
fill(source);
// As maintenance leaves it: a bitmap counts the objects that the refs reach.
execFileSync('git', [
  '--git-dir',
  source,
  'repack',
  '-q',
  '--geometric=2',
  '-d',
  '--write-midx',
  '--write-bitmap-index',
]);
const { bytes } = await git.storage.measure(source);
for (let round = 0; round < rounds; round += 1) {
  await measure('fork', (target) => git.storage.fork(source, target, { defaultBranch: 'main', onlyBranch: null }));
  await measure(
    'git clone --mirror --local',
    (target) => void execFileSync('git', ['clone', '-q', '--mirror', '--local', source, target]),
  );
  await measure(
    'git clone --mirror --no-local',
    (target) => void execFileSync('git', ['clone', '-q', '--mirror', '--no-local', source, target]),
  );
  await measure('copy of the folder', (target) => cpSync(source, target, { recursive: true }));
}

const middle = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const mb = (value: number): string => (value / 1e6).toFixed(1);
const rows = [...samples].map(([name, all]) => {
  const times = all.map(({ ms }) => ms);
  const spread = `${middle(times).toFixed(0)} (${Math.min(...times).toFixed(0)}–${Math.max(...times).toFixed(0)})`;
  return `| ${name} | ${spread} | ${mb(middle(all.map(({ own }) => own)))} | ${mb(middle(all.map(({ free }) => free)))} |`;
});
console.log(
  [
    `A repository of ${mb(bytes)} MB, forked ${rounds} times.`,
    '',
    '| What | ms, median (min–max) | MB of its own | MB less on the disk |',
    '| --- | ---: | ---: | ---: |',
    ...rows,
  ].join('\n'),
);
await git.stop(0);
rmSync(folder, { recursive: true, force: true });
