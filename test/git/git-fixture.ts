// openGit(t, {limits?}) → {git, folder, log, newRepository()}: a git module in a folder of its own. clientGit(args,
// {cwd?, env?, input?}) runs the git client as a person would, without this machine's settings.
// processesBelow(folder) lists processes that belong to a folder. sampleRepository() → path of a small work
// tree, made once per process: branches, tags, odd names.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { randomUUID } from 'node:crypto';
import { createGit } from '../../src/git/index.ts';
import type { Git, GitLimits } from '../../src/git/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import type { Logger, LogFields } from '../../src/kernel/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

export const clientEnvironment: Record<string, string> = {
  PATH: process.env.PATH ?? '/usr/bin:/bin',
  LC_ALL: 'C.UTF-8',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Alice',
  GIT_AUTHOR_EMAIL: 'alice@example.org',
  GIT_AUTHOR_DATE: '2026-01-02T03:04:05+01:00',
  GIT_COMMITTER_NAME: 'Bob',
  GIT_COMMITTER_EMAIL: 'bob@example.org',
  GIT_COMMITTER_DATE: '2026-01-02T03:04:05+01:00',
};

export interface ClientResponse {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface ClientOptions {
  cwd?: string;
  env?: Record<string, string>;
  input?: string | Buffer;
}

export function clientGit(
  args: readonly string[],
  { cwd = tmpdir(), env = {}, input }: ClientOptions = {},
): Promise<ClientResponse> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { cwd, env: { ...clientEnvironment, ...env } });
    const output = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
    child.on('error', reject).on('close', (code) => resolve({ code, ...output }));
  });
}

/** For set-up: the output, or an error with git's message. */
export function gitSync(args: readonly string[], { cwd, input, env = {} }: ClientOptions = {}): string {
  return execFileSync('git', args, {
    cwd,
    input,
    env: { ...clientEnvironment, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
    .toString()
    .trimEnd();
}

/** What `t.rejects` and `t.throws` compare a refusal with. */
export const errorWithReason = (reason: string): Error => ({ reason }) as unknown as Error;

export interface LogLine extends LogFields {
  event: string;
}

export interface TestGit {
  git: Git;
  /** The temporary folder: `data` in it is the data folder; the rest is the test's. */
  folder: string;
  log: LogLine[];
  /** A new empty repository of the module. */
  newRepository(): Promise<string>;
}

export async function openGit(t: Owner, { limits = {} }: { limits?: Partial<GitLimits> } = {}): Promise<TestGit> {
  const folder = temporaryFolder(t);
  const { logger, log } = recordingLogger();
  const git = await createGit({ config: gitConfig(folder), logger, limits });
  t.teardown(() => git.stop(0));
  const newRepository = async () => {
    const target = git.storage.pathOf(randomUUID(), randomUUID());
    await git.storage.create(target, { defaultBranch: 'main' });
    return target;
  };
  return { git, folder, log, newRepository };
}

export function gitConfig(folder: string, program = 'git') {
  const dataDir = path.join(folder, 'data');
  return {
    dataDir,
    storage: { root: path.join(dataDir, 'repositories'), lowDiskFloorBytes: 0 },
    git: {
      program,
      readSlots: 4,
      writeSlots: 4,
      queue: 64,
      queueWaitMs: 30_000,
      maxPushSizeBytes: 1024 ** 3,
      maxPushObjects: 10_000_000,
      maxPushMemoryBytes: 128 * 1024 ** 2,
      maxPushCpuMs: 60_000,
      readCommitGraph: true,
    },
  };
}

export function recordingLogger(): { logger: Logger; log: LogLine[] } {
  const log: LogLine[] = [];
  const record = (event: string, fields: LogFields = {}) => void log.push({ event, ...fields });
  const logger: Logger = { ...silentLogger, info: record, warn: record, error: record, child: () => logger };
  return { logger, log };
}

let sample: string | undefined;

/** A work tree with three commits on `main`, one on `topic`, an annotated and a lightweight tag. Not to be changed. */
export function sampleRepository(): string {
  if (sample !== undefined) return sample;
  const folder = mkdtempSync(path.join(tmpdir(), 'hearth-sample-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  sample = path.join(folder, 'work');
  mkdirSync(path.join(sample, 'docs'), { recursive: true });
  const git = (...args: string[]) => gitSync(args, { cwd: sample! });
  git('init', '--quiet', '--initial-branch=main');
  writeFileSync(path.join(sample, 'README.md'), '# Sample\n');
  writeFileSync(path.join(sample, 'docs', 'guide.txt'), 'one\n');
  git('add', '.');
  git('commit', '--quiet', '--message=Begin');
  for (const word of ['two', 'three']) {
    writeFileSync(path.join(sample, 'docs', 'guide.txt'), `${word}\n`);
    git('commit', '--quiet', '--all', `--message=Say ${word}\n\nA longer text.`);
  }
  git('tag', 'light');
  git('tag', '--annotate', '--message=First release', 'v1');
  git('checkout', '--quiet', '-b', 'topic');
  writeFileSync(path.join(sample, 'topic.txt'), 'topic\n');
  git('add', '.');
  git('commit', '--quiet', '--message=Try a topic');
  git('checkout', '--quiet', 'main');
  return sample;
}

/** Ids of processes whose environment, working directory or command line names `folder`, without this one. */
export async function processesBelow(folder: string): Promise<number[]> {
  const found: number[] = [];
  for (const id of await readdir('/proc')) {
    if (!/^\d+$/.test(id) || Number(id) === process.pid) continue;
    const read = (name: string) => readFile(`/proc/${id}/${name}`, 'latin1').catch(() => '');
    const cwd = await readlink(`/proc/${id}/cwd`).catch(() => '');
    if ([await read('environ'), await read('cmdline'), cwd].some((text) => text.includes(folder)))
      found.push(Number(id));
  }
  return found;
}

/** The command lines of the running processes of `folder`; one that exits meanwhile is left out. */
export async function commandLinesBelow(folder: string): Promise<string[]> {
  const read = async (pid: number) => {
    const text = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
    return text.replaceAll('\0', ' ').trim();
  };
  return (await Promise.all((await processesBelow(folder)).map(read))).filter((text) => text !== '');
}

/** Kills the processes of `folder` with SIGKILL. */
export async function killBelow(folder: string): Promise<void> {
  for (const pid of await processesBelow(folder)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has exited.
    }
  }
}
