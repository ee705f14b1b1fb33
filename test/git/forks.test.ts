// A fork shares its objects by hard links and is a repository of its own: what happens to the source later, or while
// the fork is made, never breaks it; and it holds nothing that the source hides.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { randomBytes, randomUUID } from 'node:crypto';
import path from 'node:path';
import t from 'tap';
import type { Git } from '../../src/git/index.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { errorWithReason, clientGit, gitSync, openGit } from './git-fixture.ts';

const all = { defaultBranch: 'main', onlyBranch: null };

/** A repository with some commits in several packs, a tag of a tag, and a note. */
function fill(t: Owner, bare: string): { work: string; push(...refs: string[]): void; commit(text: string): string } {
  const work = temporaryFolder(t);
  gitSync(['init', '--quiet', '-b', 'main', work]);
  // As the server receives pushes: always a pack.
  gitSync(['--git-dir', bare, 'config', 'receive.unpackLimit', '1']);
  const commit = (text: string): string => {
    writeFileSync(path.join(work, 'file.txt'), text);
    writeFileSync(path.join(work, 'noise.bin'), randomBytes(20_000));
    gitSync(['add', '.'], { cwd: work });
    gitSync(['commit', '--quiet', '-m', text], { cwd: work });
    return gitSync(['rev-parse', 'HEAD'], { cwd: work });
  };
  const push = (...refs: string[]) => void gitSync(['push', '--quiet', '--force', bare, ...refs], { cwd: work });
  return { work, push, commit };
}

const refsOf = (repository: string): string => gitSync(['--git-dir', repository, 'show-ref', '--dereference']);
const fsck = (repository: string): string =>
  gitSync(['--git-dir', repository, 'fsck', '--full', '--strict', '--no-dangling']);
const has = async (repository: string, oid: string): Promise<boolean> =>
  (await clientGit(['--git-dir', repository, 'cat-file', '-e', oid])).code === 0;
const packsOf = (repository: string): string[] =>
  readdirSync(path.join(repository, 'objects', 'pack')).filter((name) => name.endsWith('.pack'));
const newPath = (git: Git): string => git.storage.pathOf(randomUUID(), randomUUID());

t.test('a fork has the branches and tags of its source, shares its files, and clones with stock git', async (t) => {
  const { git, newRepository } = await openGit(t);
  const source = await newRepository();
  const { work, push, commit } = fill(t, source);
  commit('one');
  push('main');
  gitSync(['tag', '-a', '-m', 'first', 'v1'], { cwd: work });
  gitSync(['tag', '-a', '-m', 'of a tag', 'v1-signed', 'v1'], { cwd: work });
  commit('two');
  push('main', 'main:refs/heads/grün/ä', 'v1', 'v1-signed');
  gitSync(['notes', 'add', '-m', 'a note'], { cwd: work });
  push('refs/notes/commits');
  await git.objects.keep(source, [{ name: 'undo/x', oid: gitSync(['rev-parse', 'main'], { cwd: work }) }]);

  const fork = newPath(git);
  await git.storage.fork(source, fork, all);
  const [there, here] = [refsOf(source), refsOf(fork)];
  t.equal(
    here,
    there
      .split('\n')
      .filter((line) => /refs\/(heads|tags)\//.test(line))
      .join('\n'),
  );
  t.equal(readFileSync(path.join(fork, 'HEAD'), 'utf8'), 'ref: refs/heads/main\n');
  fsck(fork);
  t.ok(await git.refs.state(fork), 'the ref cache reads its packed refs without git');
  const usage = await git.storage.measure(fork);
  t.ok(usage.sharedBytes > 40_000 && usage.sharedBytes === usage.bytes, 'every object file is shared');
  t.equal((await git.storage.measure(source)).sharedBytes, usage.sharedBytes);
  t.notOk(existsSync(path.join(fork, 'objects', 'info', 'alternates')));

  const clone = path.join(temporaryFolder(t), 'clone');
  gitSync(['clone', '--quiet', fork, clone]);
  t.equal(gitSync(['rev-parse', 'HEAD'], { cwd: clone }), gitSync(['rev-parse', 'main'], { cwd: work }));
  gitSync(['commit', '--quiet', '--allow-empty', '-m', 'mine'], { cwd: clone });
  gitSync(['push', '--quiet', 'origin', 'main'], { cwd: clone });
  t.not(gitSync(['--git-dir', fork, 'rev-parse', 'main']), gitSync(['--git-dir', source, 'rev-parse', 'main']));
  fsck(source);
});

t.test('a fork of one branch has that ref alone', async (t) => {
  const { git, newRepository } = await openGit(t);
  const source = await newRepository();
  const { push, commit } = fill(t, source);
  commit('one');
  push('main', 'main:refs/heads/other', 'main:refs/tags/v1');
  const fork = newPath(git);
  await git.storage.fork(source, fork, { defaultBranch: 'main', onlyBranch: 'main' });
  t.same([...(await git.refs.list(fork)).keys()], ['refs/heads/main']);
  await t.rejects(
    git.storage.fork(source, newPath(git), { defaultBranch: 'main', onlyBranch: 'absent' }),
    errorWithReason('branch_not_found'),
  );
  await t.rejects(git.storage.fork(source, fork, all), errorWithReason('repository_exists'));
  await t.rejects(git.storage.fork(await newRepository(), newPath(git), all), errorWithReason('repository_empty'));
});

t.test('a fork holds no object that the source hides', async (t) => {
  const { git, newRepository } = await openGit(t);
  for (const kind of ['a pack of its own', 'the same pack', 'loose']) {
    const source = await newRepository();
    const { work, push, commit } = fill(t, source);
    const first = commit('one');
    push('main');
    const secret = commit('the password is swordfish');
    push('main');
    const blob = gitSync(['rev-parse', 'main:file.txt'], { cwd: work });
    gitSync(['reset', '--quiet', '--hard', first], { cwd: work });
    const last = commit('three');
    push('main');
    await git.objects.keep(source, [{ name: 'undo/x', oid: secret }]);
    if (kind === 'the same pack') gitSync(['--git-dir', source, 'repack', '-a', '-d', '--quiet']);
    if (kind === 'loose') {
      const packs = path.join(source, 'objects', 'pack');
      const kept = temporaryFolder(t);
      for (const name of readdirSync(packs)) {
        const content = readFileSync(path.join(packs, name));
        rmSync(path.join(packs, name), { force: true });
        writeFileSync(path.join(kept, name), content);
      }
      for (const name of readdirSync(kept).filter((each) => each.endsWith('.pack')))
        execFileSync('git', ['--git-dir', source, 'unpack-objects', '-q'], {
          input: readFileSync(path.join(kept, name)),
          env: { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null' },
        });
    }
    t.ok(await has(source, secret));
    const fork = newPath(git);
    await git.storage.fork(source, fork, all);
    fsck(fork);
    t.ok(await has(fork, last), kind);
    t.notOk(await has(fork, secret), `${kind}: the hidden commit is not there`);
    t.notOk(await has(fork, blob), `${kind}: nor its file`);
    if (kind === 'a pack of its own')
      t.ok((await git.storage.measure(fork)).sharedBytes > 30_000, 'the rest is shared');
    t.ok(await has(source, secret), 'the source keeps it');
    fsck(source);
  }
});

t.test('what becomes of one of the two does not touch the other', async (t) => {
  const { git, newRepository } = await openGit(t);
  const source = await newRepository();
  const { push, commit, work } = fill(t, source);
  for (const text of ['one', 'two', 'three']) {
    commit(text);
    push('main');
  }
  commit('to be deleted');
  push('main:refs/heads/gone');
  const [fork, second] = [newPath(git), newPath(git)];
  await git.storage.fork(source, fork, all);
  await git.storage.fork(fork, second, all);
  const gone = gitSync(['rev-parse', 'main'], { cwd: work });

  push(':refs/heads/gone');
  gitSync(['--git-dir', source, 'reflog', 'expire', '--expire=now', '--all']);
  gitSync(['--git-dir', source, 'repack', '-a', '-d', '-f', '--quiet']);
  gitSync(['--git-dir', source, 'prune', '--expire=now']);
  t.notOk(await has(source, gone), 'the source has dropped it');
  fsck(fork);
  t.ok(await has(fork, gone));
  gitSync(['--git-dir', fork, 'gc', '--quiet', '--prune=now']);
  fsck(second);
  fsck(source);
  await git.storage.remove(source);
  await git.storage.remove(fork);
  fsck(second);
  t.equal((await git.storage.measure(second)).sharedBytes, 0, 'the last one shares with nobody');
  t.equal(await git.maintenance.pack(second), true);
  t.equal(packsOf(second).length, 1, 'and is packed completely again');
});

t.test('shared packs are packed geometrically: the sharing stays', async (t) => {
  const { git, newRepository } = await openGit(t);
  const source = await newRepository();
  const { push, commit, work } = fill(t, source);
  writeFileSync(path.join(work, 'large.bin'), randomBytes(2_000_000));
  commit('one');
  push('main');
  const fork = newPath(git);
  await git.storage.fork(source, fork, all);
  const shared = (await git.storage.measure(fork)).sharedBytes;
  for (let count = 0; count < 4; count += 1) {
    commit(`of the fork ${count}`);
    gitSync(['push', '--quiet', fork, 'main'], { cwd: work });
  }
  t.equal(await git.maintenance.pack(fork), true);
  t.equal(packsOf(fork).length, 2, 'the large pack of the source, and one with what is new');
  const after = await git.storage.measure(fork);
  t.ok(after.sharedBytes > 2_000_000 && after.sharedBytes <= shared);
  t.ok(after.bytes - after.sharedBytes < 200_000, 'only what is new is its own');
  fsck(fork);
  fsck(source);
});

t.test('a source that is pushed to, repacked and deleted while it is forked', async (t) => {
  const { git, newRepository } = await openGit(t);
  const source = await newRepository();
  const { push, commit, work } = fill(t, source);
  commit('first');
  push('main');
  let isDone = false;
  const disturb = async () => {
    for (let count = 0; !isDone; count += 1) {
      writeFileSync(path.join(work, 'file.txt'), `more ${count}`);
      await clientGit(['commit', '--quiet', '-am', `more ${count}`], { cwd: work });
      await clientGit(['push', '--quiet', source, 'main'], { cwd: work });
      // As another process does it, of which the server knows nothing.
      await clientGit(['--git-dir', source, 'repack', '-d', '--quiet', ...(count % 2 === 0 ? ['-a'] : [])]);
    }
  };
  const disturbance = disturb();
  const forks: string[] = [];
  for (let count = 0; count < 12; count += 1) {
    const fork = newPath(git);
    await git.storage.fork(source, fork, all);
    forks.push(fork);
  }
  const several = await Promise.all(
    [newPath(git), newPath(git)].map((fork) => git.storage.fork(source, fork, all).then(() => fork)),
  );
  isDone = true;
  await disturbance;
  for (const fork of [...forks, ...several]) fsck(fork);

  for (let count = 0; count < 5; count += 1) {
    const [again, fork] = [newPath(git), newPath(git)];
    await git.storage.fork(source, again, all);
    const [outcome] = await Promise.allSettled([git.storage.fork(again, fork, all), git.storage.remove(again)]);
    if (outcome.status === 'fulfilled') fsck(fork);
    else {
      t.match(outcome.reason, { reason: /^(repository_moves|repository_empty|internal)$/ });
      t.notOk(existsSync(fork), 'nothing is left of it');
      t.notOk(existsSync(`${fork}.new`));
    }
  }
});

t.test('a branch of another repository is fetched and compared without touching either', async (t) => {
  const { git, newRepository } = await openGit(t);
  const source = await newRepository();
  const { push, commit, work } = fill(t, source);
  const first = commit('one');
  push('main');
  const fork = newPath(git);
  await git.storage.fork(source, fork, all);
  commit('two');
  const last = commit('three');
  push('main');
  t.same(await git.queries.distanceBetween(fork, first, source, last), { ahead: 2, behind: 0 });
  t.notOk(await has(fork, last), 'comparing brings nothing');
  t.equal(await git.remotes.fetchLocal(fork, source, 'main', 'one'), last);
  t.ok(await has(fork, last));
  t.equal((await git.refs.list(fork)).get('refs/heads/main'), first, 'no ref of its own has moved');
  t.equal(await git.refs.isForward(fork, first, last), true);
  await git.objects.release(fork, ['sync/one']);
  t.notMatch(refsOf(fork), /hearth/);
  await t.rejects(git.remotes.fetchLocal(fork, source, 'absent', 'one'));
  await t.rejects(git.remotes.fetchLocal(fork, source, '--upload-pack=x', 'one'));
  t.equal(gitSync(['rev-parse', 'main'], { cwd: work }), last);
});

t.test('an interrupted fork is no repository, and can be repeated', async (t) => {
  const { git, newRepository } = await openGit(t);
  const source = await newRepository();
  const { push, commit } = fill(t, source);
  commit('one');
  push('main');
  const fork = newPath(git);
  mkdirSync(path.join(`${fork}.new`, 'refs'), { recursive: true });
  t.notOk(await git.storage.exists(fork));
  await git.storage.fork(source, fork, all);
  t.notOk(existsSync(`${fork}.new`));
  t.equal(statSync(path.join(fork, 'packed-refs')).mode & 0o077, 0);
  await git.storage.remove(fork);
  mkdirSync(`${fork}.new`);
  await git.storage.remove(fork);
  t.notOk(existsSync(`${fork}.new`), 'a removal takes what an interruption left');
});
