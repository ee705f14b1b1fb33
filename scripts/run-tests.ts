/**
 * Runs the test files, two more processes at a time than there are cores, and parses their TAP. Small files of a folder
 * share a process (scripts/run-test-files.ts), because the modules of the server load and compile once for all of them.
 * Files of test/e2e, long ones, and those with a line `// runs alone: REASON` among their first ten have a process of
 * their own. The command of `tap` starts every file twice.
 *
 * The time limit of a file is 120 seconds, or that of a line `// time limit: 300 s` among its first ten; after the
 * limits of all its files a process and everything it started is killed. When a shared process is killed, crashes, or
 * fails without a failed assertion, each of its files runs again in a process of its own, and that result counts.
 *
 * When few of several files fail, at most three or a fiftieth, each runs once more after all others, alone: files on a
 * loaded machine delay each other. A file that passes then is counted as passed and named at the end, because it
 * depends on time, or on what ran before it, and is to be mended.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { globSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { availableParallelism, freemem, tmpdir } from 'node:os';
import { join, relative, resolve as absolute } from 'node:path';
import { Parser, type Result } from 'tap-parser';
import { defaultLimitSeconds, readTimeLimit, runsAlone } from './test-limits.ts';

const project = join(import.meta.dirname, '..');
const cache = join(project, 'node_modules/.cache/hearth-tests');
const durationsFile = join(cache, 'seconds.json');
/** Files wait for timers, disks and other processes for a third of their time. */
const jobs = availableParallelism() + 2;
/** Three of few files, a fiftieth of many: a slow machine delays no more than that. */
const filesRunAgain = (count: number): number => Math.max(3, Math.floor(count / 50));
const mostExpensiveShown = 10;
const maxFilesTogether = 12;
/** Expected time of the files of one process; with much more the last process would end long after the others. */
const maxSecondsTogether = 40;
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
  needsExecutable?: boolean;
  /** The outcomes of the steps or files of the job. */
  run: () => Promise<Map<string, TimedOutcome>>;
}
interface TimedOutcome extends Outcome {
  seconds: number;
  /** Of the process and its children; 0 where it is not measured. */
  processorSeconds: number;
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

interface FileResults {
  passed: number;
  skipped: number;
  failures: Result[];
  seconds: number;
  processorSeconds: number;
}

const emptyResults = (): FileResults => ({ passed: 0, skipped: 0, failures: [], seconds: 0, processorSeconds: 0 });

/** What a process of scripts/run-test-files.ts said of each file that began in it. */
function readTap(text: string): Promise<{ files: Map<string, FileResults>; problems: string[] }> {
  return new Promise((resolve) => {
    const files = new Map<string, FileResults>();
    const problems: string[] = [];
    const listen = (parser: Parser, results: FileResults): void => {
      parser.on('child', (child: Parser) => listen(child, results));
      parser.on('bailout', (reason: string) => problems.push(`bailed out: ${reason}`));
      parser.on('assert', (result: Result) => {
        // The closing line of a subtest repeats what was counted inside it.
        if (result.closingTestPoint) return;
        if (result.skip || result.todo) results.skipped += 1;
        else if (result.ok) results.passed += 1;
        else results.failures.push(result);
      });
    };
    const parser = new Parser((whole) => {
      const hasFailures = [...files.values()].some(({ failures }) => failures.length > 0);
      if (!whole.ok && !hasFailures) problems.push('its TAP says not ok, or ends early');
      resolve({ files, problems });
    });
    parser.on('comment', (comment: string) => {
      const [, seconds, file = ''] = /^# processor seconds: ([\d.]+) (.+)$/m.exec(comment) ?? [];
      const results = files.get(file);
      if (results) results.processorSeconds = Number(seconds);
    });
    parser.on('child', (file: Parser) => {
      const results = emptyResults();
      files.set(file.name, results);
      listen(file, results);
    });
    parser.on('assert', ({ name, ok, time }: Result) => {
      const results = files.get(name);
      if (results) results.seconds = (time ?? 0) / 1000;
      if (!ok && !results?.failures.length) problems.push(`not ok: ${name}`);
    });
    parser.end(text);
  });
}

function describeFailure(result: Result): string {
  const { diff, at, source, ...rest } = (result.diag ?? {}) as Record<string, unknown>;
  delete rest['compare'];
  const place = at as { fileName?: string; lineNumber?: number } | undefined;
  return [
    // Without the path of the file, which is the name of its subtest.
    `not ok: ${result.fullname.split(' > ').slice(1).join(' > ')}`,
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

/**
 * Where temporary folders are made: in memory, where files need no disk to be synchronised and removed, as long as
 * there is enough for some large tests at a time. A TMPDIR that is set is used instead.
 */
async function folderForFiles(): Promise<string> {
  if (process.env['TMPDIR'] !== undefined) return tmpdir();
  const { bavail, bsize, type } = await statfs(inMemory).catch(() => ({ bavail: 0, bsize: 0, type: 0 }));
  return type === tmpfsMagic && Math.min(bavail * bsize, freemem()) > neededInMemory ? inMemory : tmpdir();
}

/** Runs the files in one process; on any trouble that no assertion shows, each again in its own. */
async function runFiles(files: readonly string[]): Promise<Map<string, TimedOutcome>> {
  const folder = await mkdtemp(join(await folderForFiles(), 'hearth-test-'));
  // Tests that become another user must still have access.
  await chmod(folder, 0o711);
  const limitSeconds = files.reduce((sum, file) => sum + sources.get(file)!.limitSeconds, 0);
  try {
    const ended = await runNode(
      ['--disable-warning=ExperimentalWarning', 'scripts/run-test-files.ts', ...files],
      limitSeconds,
      {
        TMPDIR: folder,
        TAP_TIMEOUT: String(limitSeconds),
        NODE_COMPILE_CACHE: join(cache, 'compiled'),
        // For test/e2e/server-process.ts.
        ...(executableIsNew ? { HEARTH_TESTS_BUILT_EXECUTABLE: '1' } : {}),
      },
    );
    const { files: results, problems } = await readTap(ended.stdout);
    const failedAssertions = [...results.values()].reduce((sum, { failures }) => sum + failures.length, 0);
    if (ended.problem && (failedAssertions === 0 || !/^exit code/.test(ended.problem))) problems.push(ended.problem);
    const outcomes = new Map<string, TimedOutcome>();
    for (const file of files) {
      if (files.length > 1 && (problems.length > 0 || !results.has(file)))
        outcomes.set(file, (await runFiles([file])).get(file)!);
      else outcomes.set(file, judge(results.get(file), problems, ended.stderr));
    }
    return outcomes;
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** What the results of a file, and the problems of its process, amount to. */
function judge(results: FileResults | undefined, found: readonly string[], stderr: string): TimedOutcome {
  const { passed, skipped, failures, seconds, processorSeconds } = results ?? emptyResults();
  const problems = [...found];
  if (passed + failures.length === 0) problems.push('no assertion ran');
  const failed = failures.length + problems.length;
  const details = [...failures.map(describeFailure), ...problems, failed > 0 ? stderr.slice(-8000) : ''];
  return { passed, failed, skipped, seconds, processorSeconds, details: details.filter(Boolean).join('\n') };
}

async function runStep(name: string, args: string[]): Promise<Map<string, TimedOutcome>> {
  const startedAt = performance.now();
  const ended = await runNode(args, 600);
  const seconds = (performance.now() - startedAt) / 1000;
  const details = ended.problem && `${ended.problem}\n${ended.stdout}${ended.stderr}`;
  const [passed, failed] = ended.problem ? [0, 1] : [1, 0];
  return new Map([[name, { passed, failed, skipped: 0, seconds, processorSeconds: 0, details }]]);
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
const lastSeconds = await readFile(durationsFile, 'utf8').then(
  (text) => JSON.parse(text) as Record<string, number>,
  () => ({}) as Record<string, number>,
);

interface Source {
  limitSeconds: number;
  /** What it took last time; of a file that has not run here, a guess from its time limit and size. */
  expectedSeconds: number;
  runsAlone: boolean;
  /** Runs after the build: it needs the executable, or takes less CPU time with it. */
  usesExecutable: boolean;
}
/** The files that exist. */
const sources = new Map<string, Source>();
for (const file of files) {
  const source = await readFile(join(project, file), 'utf8').catch(() => null);
  if (source === null) continue;
  const declared = readTimeLimit(source);
  sources.set(file, {
    limitSeconds: declared ?? defaultLimitSeconds,
    expectedSeconds: lastSeconds[file] ?? (declared ?? 0) / 4 + source.length / 8000,
    runsAlone: declared !== undefined || file.startsWith('test/e2e/') || runsAlone(source),
    usesExecutable:
      file.startsWith('test/e2e/') || /^import .*(?:server-process|crash-recovery-fixture)\.ts'/m.test(source),
  });
}

/** Files that share a process: neighbours in the order of their paths, below one folder of test/. */
function groupFiles(): string[][] {
  const groups: string[][] = [];
  let together: string[] = [];
  let expected = 0;
  let folder = '';
  for (const [file, { expectedSeconds, runsAlone: alone }] of sources) {
    if (alone) {
      groups.push([file]);
      continue;
    }
    const folderOfFile = file.split('/', 2).join('/');
    const fits = together.length < maxFilesTogether && expected + expectedSeconds <= maxSecondsTogether;
    if (folderOfFile !== folder || !fits || together.length === 0) {
      groups.push((together = []));
      expected = 0;
    }
    folder = folderOfFile;
    together.push(file);
    expected += expectedSeconds;
  }
  return groups;
}

const absent: TimedOutcome = {
  passed: 0,
  failed: 1,
  skipped: 0,
  seconds: 0,
  processorSeconds: 0,
  details: 'there is no such file',
};

const built = Promise.withResolvers<void>();
let isBuilt = false;
let executableIsNew = false;
const queue: Job[] = [];
const usesExecutable = (file: string): boolean => sources.get(file)?.usesExecutable === true;
if (wholeSuite || files.some((file) => file.startsWith('test/e2e/'))) {
  queue.push({
    async run() {
      const outcomes = await runStep('the executable builds', ['scripts/build-executable.ts', '--if-changed']);
      executableIsNew = [...outcomes.values()].every(({ failed }) => failed === 0);
      isBuilt = true;
      built.resolve();
      return outcomes;
    },
  });
} else isBuilt = true;
if (wholeSuite) {
  const buildInfo = join(cache, 'types.tsbuildinfo');
  const tsc = ['node_modules/typescript/bin/tsc', '--noEmit', '--incremental', '--tsBuildInfoFile', buildInfo];
  queue.push({ run: () => runStep('the types check', tsc) });
  const biome = ['node_modules/@biomejs/biome/bin/biome', 'ci', '--error-on-warnings', '.'];
  queue.push({ run: () => runStep('the code is formatted and linted', biome) });
  queue.push({ run: () => runStep('commits say what they do and why', ['scripts/check-commits.ts']) });
}
// The longest first, so that the last one to end is a short one.
const timeOf = (group: readonly string[]): number =>
  group.reduce((sum, file) => sum + sources.get(file)!.expectedSeconds, 0);
for (const group of groupFiles().sort((a, b) => timeOf(b) - timeOf(a))) {
  queue.push({ needsExecutable: group.some(usesExecutable), run: () => runFiles(group) });
}

for (const file of files) {
  if (!sources.has(file)) queue.push({ run: async () => new Map([[file, absent]]) });
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    for (const child of running) endGroup(child, 'SIGKILL');
    process.exit(130);
  });
}

const outcomes = new Map<string, TimedOutcome>();
async function runJob(job: Job): Promise<void> {
  for (const [name, outcome] of await job.run()) {
    if (!name.startsWith('..')) lastSeconds[name] = Math.round(outcome.seconds * 100) / 100;
    outcomes.set(name, outcome);
    const verdict = outcome.failed > 0 ? 'FAIL' : 'ok  ';
    console.log(`${verdict} ${name} (${outcome.passed + outcome.failed}, ${outcome.seconds.toFixed(1)} s)`);
    if (outcome.details) console.log(outcome.details.replace(/^(?=.)/gm, '       '));
  }
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

const failedFiles = [...sources.keys()].filter((file) => (outcomes.get(file)?.failed ?? 0) > 0);
const passedLater: string[] = [];
if (files.length > 1 && failedFiles.length <= filesRunAgain(files.length)) {
  for (const file of failedFiles) {
    await runJob({ run: () => runFiles([file]) });
    if (outcomes.get(file)?.failed === 0) passedLater.push(file);
  }
}
await writeFile(durationsFile, JSON.stringify(lastSeconds, null, 1));

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
const costs = [...outcomes].map(([name, { processorSeconds }]) => ({ name, seconds: processorSeconds }));
const spent = costs.reduce((sum, { seconds }) => sum + seconds, 0);
if (costs.length > mostExpensiveShown && spent > 0) {
  console.log(`${spent.toFixed(0)} s of processor time in test files, most of it in:`);
  for (const { name, seconds } of costs.sort((a, b) => b.seconds - a.seconds).slice(0, mostExpensiveShown))
    console.log(`${seconds.toFixed(1).padStart(8)} s ${name}`);
}
for (const file of passedLater) console.log(`${file} failed first and passed when it ran alone`);
if (total.skipped > 0) console.log(`${total.skipped} skipped`);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exit(total.failed === 0 ? 0 : 1);
