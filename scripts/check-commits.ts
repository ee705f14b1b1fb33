/**
 * Checks the commits that a branch adds: subjects that say what a commit does, bodies that say why, no merge commits.
 * usage: node scripts/check-commits.ts [BASE]
 * BASE is the commit that the branch began at: by default the merge base with `origin/main`, and on `main` itself the
 * commit that added this file, because older commits do not keep the rules.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

interface CheckedCommit {
  id: string;
  parents: number;
  subject: string;
  body: string;
  /** Number of changed files. */
  files: number;
}

const maxSubjectLength = 72;
const filesWithoutReason = 3;

/** `module: verb …`; several modules are separated by commas. */
const subjectForm = /^(?<modules>[a-z0-9][a-z0-9./-]*(?:, [a-z0-9][a-z0-9./-]*)*): (?<verb>[a-z]+)(?: |$)/;

/** Verbs of the imperative whose ending looks like another form. */
const imperatives =
  /^(?:(?:ac|ad|com|ex|pro|sup|re|un)?(?:cess|dress|press|pass|guess|miss|cross|focus|bypass)|bring|string|need|feed|embed|shed|seed|speed)$/;
const otherForms = /(?:[^s]s|ed|ing)$/;

/** Words that begin a statement about the state, and no instruction. */
const noVerbs = new Set([
  'a',
  'an',
  'the',
  'no',
  'one',
  'all',
  'each',
  'every',
  'less',
  'more',
  'fewer',
  'some',
  'what',
  'wip',
]);

/** What is wrong with a commit, a sentence each. */
export function problemsOf({ parents, subject, body, files }: CheckedCommit): string[] {
  if (parents > 1) return ['is a merge commit: rebase the branch instead'];
  const verb = subjectForm.exec(subject)?.groups?.['verb'];
  const isImperative = verb !== undefined && !noVerbs.has(verb) && (imperatives.test(verb) || !otherForms.test(verb));
  return [
    ...(subject.length > maxSubjectLength
      ? [`has a subject of ${subject.length} characters, at most ${maxSubjectLength}`]
      : []),
    ...(isImperative ? [] : ['has a subject that is not "module: verb …" in the imperative']),
    ...(/\b(?:wip|fixup|squash)\b/i.test(subject) ? ['is unfinished by its own words: squash it'] : []),
    ...(files > filesWithoutReason && body.trim() === ''
      ? [`changes ${files} files and has no body with the reason`]
      : []),
  ];
}

const git = (folder: string, ...args: string[]): string =>
  execFileSync('git', ['-C', folder, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
    // Its error is in the exception; a clone without `origin/main` is no fault.
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

function tryGit(folder: string, ...args: string[]): string | null {
  try {
    return git(folder, ...args) || null;
  } catch {
    return null;
  }
}

/** The commit after which the rules count; null when the history does not reach back that far. */
function baseOf(folder: string): string | null {
  const head = git(folder, 'rev-parse', 'HEAD');
  const fork = tryGit(folder, 'merge-base', 'HEAD', 'origin/main');
  if (fork !== null && fork !== head) return fork;
  return tryGit(folder, 'log', '--diff-filter=A', '--format=%H', '-1', '--', 'scripts/check-commits.ts');
}

/** The commits after a base that break a rule, oldest first, a line each. */
export function checkCommits(folder: string, base: string | null = baseOf(folder)): string[] {
  if (base === null) return [];
  return git(folder, 'rev-list', '--reverse', `${base}..HEAD`)
    .split('\n')
    .filter((id) => id !== '')
    .flatMap((id) => {
      const [parents = '', subject = '', ...body] = git(folder, 'show', '--no-patch', '--format=%P%n%s%n%b', id).split(
        '\n',
      );
      const files = git(folder, 'diff-tree', '--no-commit-id', '--name-only', '-r', '--root', id).split('\n').length;
      const commit = { id, parents: parents.split(' ').length, subject, body: body.join('\n'), files };
      return problemsOf(commit).map((problem) => `${id.slice(0, 8)} ${JSON.stringify(subject)} ${problem}.`);
    });
}

if (import.meta.main) {
  const problems = checkCommits(join(import.meta.dirname, '..'), process.argv[2]);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
