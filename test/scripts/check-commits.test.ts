// Commits say what they do and why; the check reads those that a branch adds.
import t from 'tap';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkCommits, problemsOf } from '../../scripts/check-commits.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const good = { id: '1', parents: 1, subject: 'git: check refs in linear time', body: '', files: 3 };

t.test('subjects, bodies and parents', async (t) => {
  const cases: [change: Partial<typeof good>, problem: RegExp | null][] = [
    [{}, null],
    [{ subject: 'http-api, ssh: answer in one shape' }, null],
    [{ subject: 'test/fixtures: pass the clock' }, null],
    [{ subject: 'pages: address links by id' }, null],
    [{ subject: 'git: access packs by name' }, null],
    [{ subject: 'ci: need no lock' }, null],
    [{ subject: 'ci: bring artifacts along' }, null],
    [{ subject: `git: ${'x'.repeat(67)}` }, null],
    [{ subject: `git: ${'x'.repeat(68)}` }, /73 characters, at most 72/],
    [{ subject: 'Check refs in linear time' }, /not "module: verb/],
    [{ subject: 'git: Check refs' }, /not "module: verb/],
    [{ subject: 'git: checks refs' }, /not "module: verb/],
    [{ subject: 'git: checked refs' }, /not "module: verb/],
    [{ subject: 'git: checking refs' }, /not "module: verb/],
    [{ subject: 'git: the refs of a push' }, /not "module: verb/],
    [{ subject: 'git: no second walk' }, /not "module: verb/],
    [{ subject: 'git:check refs' }, /not "module: verb/],
    [{ subject: 'git: wip' }, /squash it/],
    [{ subject: 'fixup! git: check refs' }, /squash it/],
    [{ files: 4 }, /changes 4 files and has no body/],
    [{ files: 4, body: ' \n' }, /has no body/],
    [{ files: 4, body: 'The walk was quadratic.' }, null],
    [{ parents: 2, subject: 'Merge branch' }, /^is a merge commit/],
  ];
  for (const [change, problem] of cases) {
    const problems = problemsOf({ ...good, ...change });
    const title = JSON.stringify(change);
    if (problem === null) t.strictSame(problems, [], title);
    else t.match(problems.join('\n'), problem, title);
  }
});

t.test('only commits after the base are read, oldest first', async (t) => {
  const cwd = temporaryFolder(t);
  await runGit(['init', '--quiet', '--initial-branch=main'], { cwd });
  const commit = async (subject: string, files: number): Promise<string> => {
    for (let at = 0; at < files; at++) writeFileSync(join(cwd, `${at}.txt`), subject);
    await runGit(['add', '.'], { cwd });
    await runGit(['commit', '--quiet', '-m', subject], { cwd });
    return (await runGit(['rev-parse', 'HEAD'], { cwd })).trim();
  };
  const base = await commit('Anything goes', 9);
  t.strictSame(checkCommits(cwd, base), [], 'nothing was added');
  const vague = await commit('wip', 1);
  await commit('git: add a file', 1);
  const silent = await commit('git: change four files', 4);
  t.match(checkCommits(cwd, base), [
    new RegExp(`^${vague.slice(0, 8)} "wip" has a subject`),
    new RegExp(`^${vague.slice(0, 8)} "wip" is unfinished`),
    new RegExp(`^${silent.slice(0, 8)} .* changes 4 files`),
  ]);
  t.equal(checkCommits(cwd, base).length, 3);
  t.strictSame(checkCommits(cwd, null), [], 'a history that does not reach the base is not judged');
});
