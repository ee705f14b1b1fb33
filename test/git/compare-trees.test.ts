import t from 'tap';
import type { Test } from 'tap';
import { CompareTrees, OutOfTime } from '../../src/git/last-commits/compare-trees.ts';
import { walkLastCommits } from '../../src/git/last-commits/history-walk.ts';
import { defaultLimits } from '../../src/git/limits.ts';
import type { BrowseDeps } from '../../src/git/objects/browse.ts';
import { createObjectReaders } from '../../src/git/objects/object-readers.ts';
import { launchDirectly } from '../../src/git/processes/child.ts';
import { createGitRunner } from '../../src/git/processes/git-runner.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { clientEnvironment, gitSync } from './git-fixture.ts';

const changes = 240;
const files = 200;

/** A history in which each commit changes one file of a root with many, and `never` changes in none but the first. */
function repositoryWithLargeRoot(t: Test): string {
  const repository = `${temporaryFolder(t)}/r.git`;
  gitSync(['init', '--quiet', '--bare', repository]);
  const name = (at: number): string => `a-name-of-some-length-${at % files}`;
  const commit = (at: number, lines: string[]): string =>
    `commit refs/heads/main\ncommitter Alice <alice@example.org> ${1_700_000_000 + at} +0000\ndata 2\nc\n${lines.join('')}`;
  const file = (path: string, text: string): string => `M 100644 inline ${path}\ndata ${text.length}\n${text}\n`;
  const first = Array.from({ length: files }, (_, at) => file(name(at), 'first'));
  const later = Array.from({ length: changes }, (_, at) => commit(at + 1, [file(name(at), `text ${at}`)]));
  const input = [commit(0, [...first, file('never', 'x')]), ...later, 'done\n'].join('');
  gitSync(['-C', repository, 'fast-import', '--quiet', '--done'], { input });
  return repository;
}

function openDeps(t: Test): { deps: BrowseDeps; started: () => number } {
  let count = 0;
  const settings = { environment: clientEnvironment, home: temporaryFolder(t), file: '' };
  const runner = createGitRunner('/usr/bin/git', settings, silentLogger, (launch) => {
    if (launch.argv.includes('diff-tree')) count += 1;
    return launchDirectly(launch);
  });
  const readers = createObjectReaders(runner, defaultLimits);
  t.teardown(async () => {
    await readers.close();
    await runner.close(0);
  });
  return { deps: { runner, readers, limits: defaultLimits } as BrowseDeps, started: () => count };
}

const enter = async (): Promise<void> => {};

t.test('a process that holds too much is replaced by another, which goes on where it was', async (t) => {
  const repository = repositoryWithLargeRoot(t);
  const trees = gitSync(['-C', repository, 'log', '--format=%T', 'main']).split('\n');
  const pairs = trees.slice(1).map((parent, at) => ({ tree: trees[at]!, parent }));
  t.equal(pairs.length, changes);
  const expected = pairs.map((_, at) => [`a-name-of-some-length-${(changes - 1 - at) % files}`]);

  for (const [maxHeldBytes, processes] of [
    [0, 4],
    [2 ** 40, 1],
  ] as const) {
    const { deps, started } = openDeps(t);
    const compare = new CompareTrees(deps, repository, {
      folder: Buffer.from(''),
      timeLimitMs: 30_000,
      enter,
      maxHeldBytes,
    });
    const found: string[][] = [];
    for (let at = 0; at < pairs.length; at += 60)
      found.push(...(await compare.differences(pairs.slice(at, at + 60))).map((names) => [...names]));
    await compare.close();
    t.same(found, expected);
    t.equal(started(), processes);
  }
});

t.test('a walk whose time is over while git compares trees ends without an error', async (t) => {
  const repository = repositoryWithLargeRoot(t);
  const trees = gitSync(['-C', repository, 'log', '--format=%T', 'main']).split('\n');
  const { deps, started } = openDeps(t);
  const compare = new CompareTrees(deps, repository, { folder: Buffer.from(''), timeLimitMs: 0, enter });
  const pairs = trees.slice(1).map((parent, at) => ({ tree: trees[at]!, parent }));
  t.type(await compare.differences(pairs).catch((error: unknown) => error), OutOfTime);
  await compare.close();

  const [oid = ''] = gitSync(['-C', repository, 'rev-parse', 'main']).split('\n');
  const found: string[] = [];
  const isWhole = await walkLastCommits(deps, repository, {
    oid,
    folder: Buffer.from(''),
    names: ['never'],
    storedAt: new Set(),
    stored: async () => null,
    found: (name) => void found.push(name),
    foundStored: () => {},
    timeLimitMs: 0,
    enter: async () => () => {},
  });
  t.equal(isWhole, false);
  t.same(found, []);
  t.ok(started() >= 2, 'git was asked in both');
});
