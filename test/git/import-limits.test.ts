import { existsSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { makeBareRepository, runGit } from '../fixtures/git-repositories.ts';
import { openGit } from './git-fixture.ts';

const { git, folder } = await openGit(t, { limits: { maxUpdatesPerPush: 5, maxRefs: 8 } });
const { bundles } = git.remotes;
const at = (name: string): string => path.join(folder, name);

const source = await makeBareRepository(folder, { commits: 2, branches: [] });
const tip = (await runGit(['rev-parse', 'main'], { cwd: source })).trim();
const addBranches = async (from: number, to: number): Promise<void> => {
  for (let index = from; index <= to; index += 1) await runGit(['branch', `b${index}`, 'main'], { cwd: source });
};
const read = async (from: string, name: string) => {
  await bundles.read(from, at(name));
  return (await git.refs.list(at(name))).size;
};
const refusal = { reason: 'refs_exceed_push', message: / refs, which come in as one push\. .* Nothing was changed\.$/ };
/** An export bundle with this many branches. */
const exported = async (branches: number): Promise<string> => {
  const target = at(`export-${branches}`);
  await bundles.write({
    path: source,
    refs: new Map(Array.from({ length: branches }, (_, index) => [`refs/heads/b${index + 1}`, tip])),
    defaultBranch: 'b1',
    files: [],
    message: 'Export',
    at: 0,
    target,
    scratch: at(`export-${branches}.git`),
  });
  return target;
};

t.test('a repository with as many refs as one push may bring is read, one with more is refused', async (t) => {
  await addBranches(1, 4);
  await runGit(['update-ref', 'refs/remotes/origin/main', 'main'], { cwd: source });
  await runGit(['update-ref', 'refs/pull/1/head', 'main'], { cwd: source });
  t.equal(await read(source, 'five.git'), 5, 'refs that are not taken do not count');
  await addBranches(5, 5);
  await t.rejects(read(source, 'six.git'), { ...refusal, message: / has 6 refs, .*A push brings at most 5\. / });
  t.notOk(existsSync(at('six.git')), 'and nothing is copied');
  await addBranches(6, 12);
  await t.rejects(read(source, 'many.git'), { ...refusal, message: / has more than 8 refs, / });
});

t.test('a bundle is refused in the same way', async (t) => {
  const file = at('plain.bundle');
  await runGit(['bundle', 'create', '-q', file, 'b1', 'b2', 'b3', 'b4', 'b5', 'b6'], { cwd: source });
  await t.rejects(read(file, 'plain.git'), refusal);
  await t.rejects(read(at('absent'), 'absent.git'), { reason: 'parcel_unreadable', message: /cannot be read/ });
});

t.test('an export of a repository may have as many refs as a repository', async (t) => {
  t.equal(await read(await exported(7), 'seven.git'), 8, 'seven branches and the description');
  await t.rejects(read(await exported(8), 'eight.git'), { ...refusal, message: / has more than 8 refs, / });
});
