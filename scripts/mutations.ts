/**
 * Measures what the tests notice: puts each mutation of test/mutations/ into a temporary copy of the project, one at a
 * time, runs its test files there and prints the score. A mutation is a plausible bug; it is noticed when a test file
 * fails. Not part of the suite: a run takes as long as its test files, once for each mutation and once without any.
 *
 * A mutation is UNFIT when its text does not occur exactly once in its file, a test file of it is missing, or one fails
 * without it. An unfit mutation fails the script; a survivor does not.
 *
 * usage: scripts/mutations [--check] [--at-once N] [WORD...]
 *   --check      only look whether each mutation applies to the present source
 *   --at-once N  as many mutations at a time, each in a copy of its own (1)
 *   WORD         only mutations whose title, file or list contains one of the words
 */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** A plausible bug, as an edit of one file. */
export interface Mutation {
  /** What goes wrong, as a sentence. */
  title: string;
  file: string;
  /** Must occur exactly once in the file. */
  from: string;
  to: string;
  /** Test files that ought to notice; run in this order until one fails. */
  tests: readonly string[];
}

const project = join(import.meta.dirname, '..');
const limitMs = 300_000;
/** A test file that takes this many times longer than without the mutation hangs. */
const slowerThanHealthy = 4;
const shortestLimitMs = 60_000;

async function readMutations(words: readonly string[]): Promise<Mutation[]> {
  const lists = globSync('test/mutations/*.ts', { cwd: project }).sort();
  const chosen: Mutation[] = [];
  for (const list of lists) {
    const { mutations } = (await import(join(project, list))) as { mutations: readonly Mutation[] };
    const isChosen = (text: string): boolean => words.length === 0 || words.some((word) => text.includes(word));
    chosen.push(...mutations.filter(({ title, file }) => isChosen(`${title}\n${file}\n${list}`)));
  }
  return chosen;
}

/** Why a mutation does not apply to the present source; null when it does. */
function unfitness({ file, from, to, tests }: Mutation): string | null {
  const path = join(project, file);
  if (!existsSync(path)) return 'there is no such file';
  const found = readFileSync(path, 'utf8').split(from).length - 1;
  if (found !== 1) return `its text occurs ${found} times`;
  if (from === to) return 'it changes nothing';
  const missing = tests.find((test) => !existsSync(join(project, test)));
  if (missing !== undefined) return `${missing} is missing`;
  return tests.length === 0 ? 'it names no test file' : null;
}

/** Copies what git tracks, and new files that it does not ignore. Packages are shared by a link. */
function copyProject(): string {
  const copy = mkdtempSync(join(tmpdir(), 'hearth-mutations-'));
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: project });
  for (const file of list.toString().split('\0')) {
    if (file !== '' && existsSync(join(project, file))) cpSync(join(project, file), join(copy, file), { force: true });
  }
  symlinkSync(join(project, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

interface Run {
  passed: boolean;
  ms: number;
}

/** Runs a test file until its first failure. One that hangs is killed, with all that it started. */
function runTest(copy: string, test: string, limit: number): Promise<Run> {
  const startedAt = performance.now();
  // A test that is killed leaves its temporary folders.
  const temporary = mkdtempSync(join(tmpdir(), 'hearth-mutation-'));
  const run = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', test], {
    cwd: copy,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, TAP_TIMEOUT: '300', TMPDIR: temporary, NODE_COMPILE_CACHE: `${copy}/.compiled` },
    detached: true,
  });
  const kill = () => {
    try {
      process.kill(-run.pid!, 'SIGKILL');
    } catch {
      // Nothing of the group is left.
    }
  };
  let failed = false;
  let rest = '';
  run.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    if (failed || !lines.some((line) => /^ *not ok (?!.*# (?:TODO|SKIP))/i.test(line))) return;
    failed = true;
    kill();
  });
  const timer = setTimeout(kill, limit);
  return new Promise((resolve, reject) => {
    run.on('error', reject);
    run.on('exit', (code) => {
      clearTimeout(timer);
      kill();
      rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
      resolve({ passed: code === 0 && !failed, ms: performance.now() - startedAt });
    });
  });
}

type Result = 'noticed' | 'SURVIVED' | 'UNFIT';

async function main(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { check: { type: 'boolean' }, 'at-once': { type: 'string', default: '1' } },
  });
  const mutations = await readMutations(positionals);
  const counts: Record<Result, number> = { noticed: 0, SURVIVED: 0, UNFIT: 0 };
  const report = (result: Result, { file, title }: Mutation, note = ''): void => {
    counts[result] += 1;
    console.log(`${result.padEnd(9)} ${file}: ${title}${note && ` (${note})`}`);
  };

  const queue: Mutation[] = [];
  for (const mutation of mutations) {
    const reason = unfitness(mutation);
    if (reason === null) queue.push(mutation);
    else report('UNFIT', mutation, reason);
  }
  if (values.check === true) {
    console.log(`${mutations.length} mutations, ${counts.UNFIT} unfit`);
    process.exitCode = counts.UNFIT === 0 ? 0 : 1;
    return;
  }

  const healthy = new Map<string, Promise<Run>>();
  const runHealthy = (copy: string, test: string): Promise<Run> => {
    const known = healthy.get(test) ?? runTest(copy, test, limitMs);
    healthy.set(test, known);
    return known;
  };

  async function tryOut(copy: string, mutation: Mutation): Promise<void> {
    const at = join(copy, mutation.file);
    const whole = readFileSync(at, 'utf8');
    const startedAt = performance.now();
    for (const test of mutation.tests) {
      // Without it a file only has to run where it has failed with it: most bugs are noticed by the first or by none.
      const known = await healthy.get(test);
      if (known?.passed === false) return report('UNFIT', mutation, `${test} fails without it`);
      writeFileSync(
        at,
        whole.replace(mutation.from, () => mutation.to),
      );
      const limit = known === undefined ? limitMs : Math.max(shortestLimitMs, known.ms * slowerThanHealthy);
      const { passed } = await runTest(copy, test, Math.min(limitMs, limit)).finally(() => writeFileSync(at, whole));
      if (passed) continue;
      const without = await runHealthy(copy, test);
      if (!without.passed) return report('UNFIT', mutation, `${test} fails without it`);
      return report('noticed', mutation, `${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    }
    report('SURVIVED', mutation);
  }

  const copies = Array.from({ length: Number(values['at-once']) }, copyProject);
  try {
    await Promise.all(
      copies.map(async (copy) => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) await tryOut(copy, next);
      }),
    );
  } finally {
    for (const copy of copies) rmSync(copy, { recursive: true, force: true });
  }
  const share = mutations.length === 0 ? 0 : (100 * counts.noticed) / mutations.length;
  console.log(`${counts.noticed} of ${mutations.length} noticed (${share.toFixed(1)} %), ${counts.UNFIT} unfit`);
  process.exitCode = counts.UNFIT === 0 ? 0 : 1;
}

if (import.meta.main) await main(process.argv.slice(2));
