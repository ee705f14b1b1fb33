/**
 * Runs the test files, two more at a time than there are cores, each in its own Node process, and parses their TAP. The
 * command of `tap` does the same with loaders that start every file twice; here a file costs one plain start.
 *
 * The time limit of a file is 120 seconds, or that of a line `// time limit: 300 s` among its first ten; after it the
 * file and everything it started is killed and counts as failed.
 *
 * When at most three of several files fail, each runs once more after all others, alone: files on a
 * loaded machine delay each other. A file that passes then is counted as passed and named at the end, because it
 * depends on time and is to be mended.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { globSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { availableParallelism, freemem, tmpdir } from 'node:os';
import { join, relative, resolve as absolute } from 'node:path';
import { Parser, type Result } from 'tap-parser';

const project = join(import.meta.dirname, '..');
const cache = join(project, 'node_modules/.cache/hearth-tests');
const durationsFile = join(cache, 'seconds.json');
/** Files wait for timers, disks and other processes for a third of their time. */
const jobs = availableParallelism() + 2;
const defaultLimitSeconds = 120;
const filesRunAgain = 3;
const inMemory = '/dev/shm';
/** TMPFS_MAGIC in statfs(2). */
const tmpfsMagic = 0x01021994;
const neededInMemory = 4 * 2 ** 30;

interface Outcome {
  passed: number;
  failed: number;
  skipped: number;
  /** Shown below the line of a failed job. */
  details: string;
}
interface Job {
  name: string;
  needsExecutable?: boolean;
  run: () => Promise<Outcome>;
}

const running = new Set<ChildProcess>();

/** A negative pid addresses the process group: the job and all it started. */
function endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // It has ended already.
  }
}

interface Ended {
  stdout: string;
  stderr: string;
  /** Empty when it exited with 0. */
  problem: string;
}

function runNode(args: string[], limitSeconds: number, env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: project,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    running.add(child);
    const ended: Ended = { stdout: '', stderr: '', problem: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (ended.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (ended.stderr += text));
    const limit = setTimeout(() => {
      ended.problem = `did not end within ${limitSeconds} s`;
      // tap prints the name of the hanging test on SIGALRM.
      child.kill('SIGALRM');
      setTimeout(() => endGroup(child, 'SIGKILL'), 2000).unref();
    }, limitSeconds * 1000);
    child.on('error', (error) => (ended.problem ||= error.message));
    child.on('exit', (code, signal) => {
      clearTimeout(limit);
      if (code !== 0) ended.problem ||= signal ? `ended by ${signal}` : `exit code ${code}`;
      // Processes that it left behind would keep its output open.
      setTimeout(() => endGroup(child, 'SIGKILL'), 200);
    });
    child.on('close', () => {
      running.delete(child);
      resolve(ended);
    });
  });
}

function readTap(text: string): Promise<{ passed: number; skipped: number; failures: Result[]; problems: string[] }> {
  return new Promise((resolve) => {
    const read = { passed: 0, skipped: 0, failures: [] as Result[], problems: [] as string[] };
    const listen = (parser: Parser): void => {
      parser.on('child', listen);
      parser.on('bailout', (reason: string) => read.problems.push(`bailed out: ${reason}`));
      parser.on('assert', (result: Result) => {
        // The closing line of a subtest repeats what was counted inside it.
        if (result.closingTestPoint) return;
        if (result.skip || result.todo) read.skipped += 1;
        else if (result.ok) read.passed += 1;
        else read.failures.push(result);
      });
    };
    const parser = new Parser((results) => {
      if (!results.ok && read.failures.length === 0) read.problems.push('its TAP says not ok, or ends early');
      resolve(read);
    });
    listen(parser);
    parser.end(text);
  });
}

function describeFailure(result: Result): string {
  const { diff, at, source, ...rest } = (result.diag ?? {}) as Record<string, unknown>;
  delete rest['compare'];
  const place = at as { fileName?: string; lineNumber?: number } | undefined;
  return [
    `not ok: ${result.fullname}`,
    place?.fileName ? `at ${place.fileName}:${place.lineNumber}` : '',
    String(source ?? ''),
    String(diff ?? ''),
    ...Object.entries(rest).map(
      ([key, value]) => `${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
    ),
  ]
    .join('\n')
    .replace(/\n\s*\n/g, '\n');
}

/** In seconds; undefined for a file without a line on it. */
function declaredLimit(source: string): number | undefined {
  const [, limit] = /^\/\/ time limit: (\d+) s$/m.exec(source.split('\n', 10).join('\n')) ?? [];
  return limit === undefined ? undefined : Number(limit);
}

/**
 * Where temporary folders are made: in memory, where files need no disk to be synchronised and removed, as long as
 * there is enough for some large tests at a time. A TMPDIR that is set is used instead.
 */
async function folderForFiles(): Promise<string> {
  if (process.env['TMPDIR'] !== undefined) return tmpdir();
  const { bavail, bsize, type } = await statfs(inMemory).catch(() => ({ bavail: 0, bsize: 0, type: 0 }));
  return type === tmpfsMagic && Math.min(bavail * bsize, freemem()) > neededInMemory ? inMemory : tmpdir();
}

async function runFile(file: string): Promise<Outcome> {
  const source = await readFile(join(project, file), 'utf8').catch(() => null);
  if (source === null) return { passed: 0, failed: 1, skipped: 0, details: 'there is no such file' };
  const limitSeconds = declaredLimit(source) ?? defaultLimitSeconds;
  const folder = await mkdtemp(join(await folderForFiles(), 'hearth-test-'));
  // Tests that become another user must still have access.
  await chmod(folder, 0o711);
  try {
    const ended = await runNode(
      ['--disable-warning=ExperimentalWarning', 'scripts/run-test-file.ts', file],
      limitSeconds,
      {
        TMPDIR: folder,
        TAP_TIMEOUT: String(limitSeconds),
        NODE_COMPILE_CACHE: join(cache, 'compiled'),
      },
    );
    const { passed, skipped, failures, problems } = await readTap(ended.stdout);
    if (ended.problem && (failures.length === 0 || !/^exit code/.test(ended.problem))) problems.push(ended.problem);
    if (passed + failures.length === 0) problems.push('no assertion ran');
    const failed = failures.length + problems.length;
    const details = [...failures.map(describeFailure), ...problems, failed > 0 ? ended.stderr.slice(-8000) : ''];
    return { passed, failed, skipped, details: details.filter(Boolean).join('\n') };
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function runStep(args: string[]): Promise<Outcome> {
  const ended = await runNode(args, 600);
  return ended.problem
    ? { passed: 0, failed: 1, skipped: 0, details: `${ended.problem}\n${ended.stdout}${ended.stderr}` }
    : { passed: 1, failed: 0, skipped: 0, details: '' };
}

/** The given files and folders, or all of test/, as paths from the project. */
async function findFiles(given: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of given.length > 0 ? given : [join(project, 'test')]) {
    const isFolder = await stat(path).then(
      (entry) => entry.isDirectory(),
      () => false,
    );
    if (isFolder) found.push(...globSync('**/*.test.ts', { cwd: path }).map((file) => join(path, file)));
    else found.push(path);
  }
  return [...new Set(found.map((file) => relative(project, file)))].sort();
}

const wholeSuite = process.argv.length === 2;
const files = await findFiles(process.argv.slice(2).map((path) => absolute(path)));
await mkdir(cache, { recursive: true });
const seconds = await readFile(durationsFile, 'utf8').then(
  (text) => JSON.parse(text) as Record<string, number>,
  () => ({}) as Record<string, number>,
);

const usesExecutable = (file: string): boolean => file.startsWith('test/e2e/');
const built = Promise.withResolvers<void>();
let isBuilt = false;
const queue: Job[] = [];
if (wholeSuite || files.some(usesExecutable)) {
  queue.push({
    name: 'the executable builds',
    run: () =>
      runStep(['scripts/build-executable.ts', '--if-changed']).finally(() => {
        isBuilt = true;
        built.resolve();
      }),
  });
}
if (wholeSuite) {
  const buildInfo = join(cache, 'types.tsbuildinfo');
  const tsc = ['node_modules/typescript/bin/tsc', '--noEmit', '--incremental', '--tsBuildInfoFile', buildInfo];
  queue.push({ name: 'the types check', run: () => runStep(tsc) });
  const biome = ['node_modules/@biomejs/biome/bin/biome', 'ci', '--error-on-warnings', '.'];
  queue.push({ name: 'the code is formatted and linted', run: () => runStep(biome) });
}
// The longest first, so that the last one to end is a short one. Of files that have not run here, those with a raised
// time limit count as long; of the others the larger ones.
const expected = new Map<string, number>();
for (const file of files) {
  const source = await readFile(join(project, file), 'utf8').catch(() => '');
  expected.set(file, seconds[file] ?? (declaredLimit(source) ?? 0) / 4 + source.length / 4000);
}
files.sort((a, b) => expected.get(b)! - expected.get(a)! || a.localeCompare(b));
for (const file of files) {
  queue.push({ name: file, needsExecutable: usesExecutable(file), run: () => runFile(file) });
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    for (const child of running) endGroup(child, 'SIGKILL');
    process.exit(130);
  });
}

const outcomes = new Map<string, Outcome>();
async function runJob(job: Job): Promise<void> {
  const startedAt = performance.now();
  const outcome = await job.run();
  const took = (performance.now() - startedAt) / 1000;
  if (!job.name.startsWith('..')) seconds[job.name] = Math.round(took * 100) / 100;
  outcomes.set(job.name, outcome);
  const verdict = outcome.failed > 0 ? 'FAIL' : 'ok  ';
  console.log(`${verdict} ${job.name} (${outcome.passed + outcome.failed}, ${took.toFixed(1)} s)`);
  if (outcome.details) console.log(outcome.details.replace(/^(?=.)/gm, '       '));
}
async function work(): Promise<void> {
  while (queue.length > 0) {
    // While the executable is being built, the others go first.
    const at = queue.findIndex((job) => isBuilt || !job.needsExecutable);
    if (at === -1) await built.promise;
    else for (const job of queue.splice(at, 1)) await runJob(job);
  }
}
await Promise.all(Array.from({ length: jobs }, work));

const failedFiles = files.filter((file) => (outcomes.get(file)?.failed ?? 0) > 0);
const passedLater: string[] = [];
if (files.length > 1 && failedFiles.length <= filesRunAgain) {
  for (const file of failedFiles) {
    await runJob({ name: file, run: () => runFile(file) });
    if (outcomes.get(file)?.failed === 0) passedLater.push(file);
  }
}
await writeFile(durationsFile, JSON.stringify(seconds, null, 1));

const total = { passed: 0, failed: 0, skipped: 0 };
for (const { passed, failed, skipped } of outcomes.values()) {
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
}
if (files.length === 0) {
  console.log('There are no test files.');
  total.failed += 1;
}
for (const file of passedLater) console.log(`${file} failed first and passed when it ran alone`);
if (total.skipped > 0) console.log(`${total.skipped} skipped`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 ? 0 : 1);
