/**
 * Measures what the tests notice: puts each mutation of test/mutations/ into a temporary copy of the project, one at a
 * time, runs its test files there and prints the score. A mutation is a plausible bug; it is noticed when a test file
 * fails. Not part of the suite: a run takes as long as its test files, once for each mutation and once without any.
 *
 * usage: scripts/mutations [WORD...]     only mutations whose title or file contains one of the words
 */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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

async function readMutations(words: readonly string[]): Promise<Mutation[]> {
  const lists = globSync('test/mutations/*.ts', { cwd: project }).sort();
  const modules = await Promise.all(lists.map((file) => import(join(project, file))));
  const all = modules.flatMap(({ mutations }) => mutations as Mutation[]);
  return all.filter(
    ({ title, file }) => words.length === 0 || words.some((word) => title.includes(word) || file.includes(word)),
  );
}

/** Copies what git tracks, and new files that it does not ignore. Packages are shared by a link. */
function copyProject(): string {
  const copy = mkdtempSync(join(tmpdir(), 'hearth-mutations-'));
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: project });
  for (const file of list.toString().split('\0')) {
    if (file !== '') cpSync(join(project, file), join(copy, file), { force: true });
  }
  symlinkSync(join(project, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** Whether a test file passes. The process group of one that hangs is killed, with all that it started. */
function passes(copy: string, test: string): Promise<boolean> {
  const run = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', test], {
    cwd: copy,
    stdio: 'ignore',
    detached: true,
  });
  const kill = () => {
    try {
      process.kill(-run.pid!, 'SIGKILL');
    } catch {
      // Nothing of the group is left.
    }
  };
  const limit = setTimeout(kill, limitMs);
  return new Promise((resolve, reject) => {
    run.on('error', reject);
    run.on('exit', (code) => {
      clearTimeout(limit);
      kill();
      resolve(code === 0);
    });
  });
}

type Result = 'noticed' | 'SURVIVED' | 'UNFIT';

async function main(words: readonly string[]): Promise<void> {
  const mutations = await readMutations(words);
  const copy = copyProject();
  const healthy = new Map<string, Promise<boolean>>();
  const isHealthy = (test: string): Promise<boolean> => {
    const known = healthy.get(test) ?? passes(copy, test);
    healthy.set(test, known);
    return known;
  };

  /** UNFIT: the text does not occur exactly once, or a test file fails without the mutation. */
  async function tryOut({ file, from, to, tests }: Mutation): Promise<Result> {
    const at = join(copy, file);
    const whole = readFileSync(at, 'utf8');
    if (whole.split(from).length !== 2) return 'UNFIT';
    for (const test of tests) if (!(await isHealthy(test))) return 'UNFIT';
    writeFileSync(
      at,
      whole.replace(from, () => to),
    );
    try {
      for (const test of tests) if (!(await passes(copy, test))) return 'noticed';
      return 'SURVIVED';
    } finally {
      writeFileSync(at, whole);
    }
  }

  const counts: Record<Result, number> = { noticed: 0, SURVIVED: 0, UNFIT: 0 };
  try {
    for (const mutation of mutations) {
      const result = await tryOut(mutation);
      counts[result] += 1;
      console.log(`${result.padEnd(9)} ${mutation.file}: ${mutation.title}`);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
  const share = mutations.length === 0 ? 0 : (100 * counts.noticed) / mutations.length;
  console.log(`${counts.noticed} of ${mutations.length} noticed (${share.toFixed(1)} %), ${counts.UNFIT} unfit`);
}

if (import.meta.main) await main(process.argv.slice(2));
