import t from 'tap';
import type { Git } from '../../src/git/index.ts';
import { gitSync, openGit } from './git-fixture.ts';

let git: Git;
let path: string;
/** Commits of a random history, oldest first: several roots, merges of two and three, times that run backwards. */
let commits: string[];

/** A sequence that looks random and is always the same. */
function sequence(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const runGit = (input: string | undefined, ...args: string[]): string =>
  gitSync(['-C', path, ...args], input === undefined ? {} : { input });

t.before(async () => {
  const deps = await openGit(t);
  git = deps.git;
  path = await deps.newRepository();
  const random = sequence(7);
  const parts: string[] = [];
  for (let mark = 1; mark <= 400; mark++) {
    const parents = mark <= 2 || random(60) === 0 ? [] : Array.from({ length: 1 + random(3) }, () => parentOf(mark));
    const [first, ...merged] = [...new Set(parents)].map((parent) => `:${parent}\n`);
    parts.push(
      `reset refs/heads/b${mark}\ncommit refs/heads/b${mark}\nmark :${mark}\n`,
      `committer carol <carol@example.org> ${1_700_000_000 + random(1_000) * 60} +0000\ndata 0\n`,
      first === undefined ? '' : `from ${first}`,
      ...merged.map((parent) => `merge ${parent}`),
      '\n',
    );
  }
  runGit(parts.join(''), 'fast-import', '--quiet');
  commits = Array.from({ length: 400 }, (_, index) => runGit(undefined, 'rev-parse', `b${index + 1}`));

  /** Mostly a near one, so that the history is long as well as wide. */
  function parentOf(mark: number): number {
    return Math.max(1, mark - 1 - (random(4) === 0 ? random(60) : random(4)));
  }
});

/** As git counts. */
function counted(from: string, to: string): { ahead: number; behind: number } {
  const [behind, ahead] = runGit(undefined, 'rev-list', '--left-right', '--count', `${from}...${to}`).split('\t');
  return { ahead: Number(ahead), behind: Number(behind) };
}

t.test('distances of many commits are those that git counts for each', async (t) => {
  const random = sequence(11);
  for (const size of [1, 2, 3, 8, 31]) {
    for (let round = 0; round < 3; round++) {
      const from = commits[200 + random(200)]!;
      const tips = [...new Set(Array.from({ length: size }, () => commits[random(400)]!))];
      const expected = Object.fromEntries(tips.map((tip) => [tip, counted(from, tip)]));
      t.same(Object.fromEntries(await git.queries.distances(path, from, tips)), expected, `${tips.length} of ${from}`);
    }
  }
});

t.test('a commit beside itself, an ancestor and a descendant', async (t) => {
  const [from, tip] = [commits[150]!, commits[399]!];
  t.same((await git.queries.distances(path, tip, [tip])).get(tip), { ahead: 0, behind: 0 });
  t.same((await git.queries.distances(path, tip, [from, tip])).get(tip), { ahead: 0, behind: 0 });
  t.same(await git.queries.distances(path, tip, []), new Map());
});

t.test('one that is missing, and more than one walk takes, are counted one by one', async (t) => {
  const missing = '1'.repeat(40);
  const [from, tip] = [commits[300]!, commits[399]!];
  const found = await git.queries.distances(path, from, [tip, missing]);
  t.same(found.get(missing), null);
  t.same(found.get(tip), counted(from, tip));
  const many = commits.slice(0, 32);
  const all = await git.queries.distances(path, from, many);
  t.same([...all.keys()], many);
  for (const oid of [many[0]!, many[31]!]) t.same(all.get(oid), counted(from, oid));
});
