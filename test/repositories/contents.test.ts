// Files changed by commits of the server: as pushes to branches, with conflicts, rules, odd paths and odd content.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { Viewer } from '../../src/access/index.ts';
import { parseFilePath } from '../../src/repositories/index.ts';
import type { FileChange, FileOperation } from '../../src/repositories/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { openModules, reasonOf, recordingListener, viewerOf, zeroId } from './repositories-fixture.ts';

/** alice/work, empty; bob writes. */
async function openWork(t: Owner) {
  const modules = await openModules(t);
  const { repositories, alice, bob } = modules;
  await repositories.create(alice, { name: 'work', visibility: 'PUBLIC' });
  await repositories.collaborators.add(alice, 'alice', 'work', { username: 'bob', role: 'write' });
  const { path: folder, repository } = await repositories.find(alice, 'alice', 'work');
  const git = (...args: string[]) =>
    execFileSync('git', [`--git-dir=${folder}`, ...args], { env: clientEnvironment, stdio: ['pipe', 'pipe', 'ignore'] })
      .toString()
      .trimEnd();
  const change = (operations: FileOperation[], more: Partial<FileChange> = {}, viewer: Viewer = bob) =>
    repositories.contents.change(viewer, 'alice', 'work', { operations, ...more });
  return {
    ...modules,
    folder,
    repository,
    git,
    change,
    files: (revision = 'main') => git('ls-tree', '-r', '--name-only', revision).split('\n').filter(Boolean),
    blob: (file: string, revision = 'main') => git('rev-parse', `${revision}:${file}`),
    merges: modules.git.merges,
    revert: (request: { commit: string; branch: string; newBranch?: string }) =>
      repositories.contents.revert(bob, 'alice', 'work', request),
    refuses: (operations: FileOperation[], more: Partial<FileChange> = {}, viewer: Viewer = bob) =>
      reasonOf(change(operations, more, viewer)),
    /** Writes a tree with git, as a client could push it. */
    plant: (listing: string, branch: string, parent?: string) => {
      const run = (args: string[], input: string) =>
        execFileSync('git', [`--git-dir=${folder}`, ...args], { env: clientEnvironment, input })
          .toString()
          .trim();
      const tree = run(['mktree', '--missing'], listing);
      const oid = run(['commit-tree', tree, '-m', 'planted', ...(parent ? ['-p', parent] : [])], '');
      run(['update-ref', `refs/heads/${branch}`, oid], '');
      return oid;
    },
  };
}

const create = (file: string, text: string): FileOperation => ({
  kind: 'create',
  path: file,
  content: Buffer.from(text),
});
const update = (file: string, text: string, more: object = {}): FileOperation => ({
  kind: 'update',
  path: file,
  content: Buffer.from(text),
  ...more,
});

t.test('files are created, changed, moved and deleted by commits of the person', async (t) => {
  const { change, git, files, blob, repositories, clock, log } = await openWork(t);
  const listener = recordingListener('test');
  repositories.pushes.onPush(listener);
  const first = await change([create('README.md', '# Work\n'), create('src/deep/a.txt', 'a\r\n')]);
  t.equal(first.parent, null);
  t.equal(git('rev-parse', 'main'), first.oid);
  t.same(files(), ['README.md', 'src/deep/a.txt']);
  t.equal(git('show', '-s', '--format=%s|%an|%cn', 'main'), 'Add 2 files|bob|bob');
  t.match(git('show', '-s', '--format=%ae', 'main'), /noreply/);
  clock.advance(1_000);
  const second = await change([update('src/deep/a.txt', 'b\r\n', { expected: blob('src/deep/a.txt') })], {
    message: 'Change a\r\n\r\nWith a body.\n\n',
  });
  t.equal(git('show', '-s', '--format=%B', 'main'), 'Change a\n\nWith a body.');
  t.equal(git('cat-file', '-s', 'main:src/deep/a.txt'), '3');
  t.equal(git('rev-parse', 'main~'), first.oid);
  t.same(second.files, [{ path: 'src/deep/a.txt', oid: blob('src/deep/a.txt') }]);
  await change([{ kind: 'update', from: 'src/deep/a.txt', path: 'src/b.txt', expected: blob('src/deep/a.txt') }]);
  t.same(files(), ['README.md', 'src/b.txt'], 'an empty folder goes');
  t.equal(git('show', '-s', '--format=%s', 'main'), 'Rename src/deep/a.txt to src/b.txt');
  await change([update('b', 'moved\n', { from: 'src/b.txt' }), { kind: 'delete', path: 'README.md' }]);
  t.same(files(), ['b']);
  await change([{ kind: 'delete', path: 'b' }]);
  t.same(files(), [], 'the last file may go');
  git('fsck', '--strict', '--no-dangling');
  t.equal(log.filter(({ event }) => event === 'contents.changed').length, 5);
  await repositories.stop();
  t.equal(listener.received.length, 5, 'each is announced as a push');
});

t.test('who executes a file still can, and files of all bytes are kept', async (t) => {
  const { change, git, blob, folder } = await openWork(t);
  const bytes = randomBytes(300_000);
  await change([
    { kind: 'create', path: 'run', content: Buffer.from('#!/bin/sh\n'), isExecutable: true },
    { kind: 'put', path: 'data.bin', content: bytes },
  ]);
  await change([update('run', '#!/bin/sh\ntrue\n'), { kind: 'put', path: 'new', content: Buffer.alloc(0) }]);
  await change([{ kind: 'update', from: 'run', path: 'bin/run' }]);
  t.match(git('ls-tree', 'main', 'bin/run'), /^100755 /);
  const stored = execFileSync('git', [`--git-dir=${folder}`, 'cat-file', 'blob', blob('data.bin')]);
  t.ok(stored.equals(bytes));
});

t.test('names that sort as folders do, and files that become folders', async (t) => {
  const { change, files, git, refuses } = await openWork(t);
  await change(['a.b', 'a/x', 'a0', 'a-b', 'a/b/c'].map((file) => create(file, file)));
  t.same(files(), ['a-b', 'a.b', 'a/b/c', 'a/x', 'a0']);
  t.equal(await refuses([create('a', '')]), 'file_exists');
  t.equal(await refuses([create('a-b/x', '')]), 'file_in_the_way');
  t.equal(await refuses([create('new', ''), create('new/x', '')]), 'file_in_the_way');
  await change([{ kind: 'update', from: 'a-b', path: 'a-b/inside' }]);
  t.same(files(), ['a-b/inside', 'a.b', 'a/b/c', 'a/x', 'a0']);
  await change([{ kind: 'update', from: 'a-b/inside', path: 'a-c' }]);
  t.same(files(), ['a-c', 'a.b', 'a/b/c', 'a/x', 'a0']);
  git('fsck', '--strict', '--no-dangling');
});

t.test('a file that changed meanwhile is not overwritten; another change does not matter', async (t) => {
  const { change, blob, git, refuses } = await openWork(t);
  await change([create('a', 'one\n'), create('b', 'one\n')]);
  const seen = blob('a');
  await change([update('b', 'two\n')]);
  await change([update('a', 'two\n', { expected: seen })]);
  t.equal(git('rev-list', '--count', 'main'), '3', 'on top of the other change');
  t.equal(await refuses([update('a', 'three\n', { expected: seen })]), 'file_changed');
  t.equal(await refuses([{ kind: 'delete', path: 'a', expected: seen }]), 'file_changed');
  t.equal(await refuses([{ kind: 'update', from: 'a', path: 'c', expected: seen }]), 'file_changed');
  t.equal(await refuses([update('a', 'two\n')]), 'nothing_changed');
  t.equal(await refuses([{ kind: 'update', from: 'a', path: 'b' }]), 'file_exists');
  await change([{ kind: 'delete', path: 'a' }]);
  t.equal(await refuses([update('a', 'three\n', { expected: seen })]), 'file_not_found');
  t.equal(await refuses([{ kind: 'delete', path: 'a' }]), 'file_not_found');
  t.equal(await refuses([{ kind: 'delete', path: 'nowhere/a' }]), 'file_not_found');
});

t.test('changes at the same time all arrive, or are refused', async (t) => {
  const { change, files, git, folder } = await openWork(t);
  await change([create('a', 'one\n')]);
  const results = await Promise.allSettled(
    Array.from({ length: 6 }, (_, at) => change([create(`file-${at}`, `${at}`)])),
  );
  const made = results.filter(({ status }) => status === 'fulfilled').length;
  t.ok(made >= 3, `${made} of 6`);
  for (const result of results)
    if (result.status === 'rejected') t.match(result.reason, { reason: 'branch_moves_too_fast' });
  t.equal(files().length, made + 1);
  git('fsck', '--strict', '--no-dangling');
  t.same(
    readdirSync(path.join(folder, 'objects')).filter((name) => name.startsWith('tmp_')),
    [],
  );
});

t.test('a branch that moves while a commit for it is being made keeps what it got', async (t) => {
  const { change, git, plant, merges, revert } = await openWork(t);
  await change([create('a', 'one\n')]);
  const { oid } = await change([update('a', 'two\n')]);
  const moving = async (work: () => Promise<unknown>) => {
    const original = merges.revert;
    let pushed = '';
    merges.revert = async (...given) => {
      const outcome = await original(...given);
      pushed ||= plant(`${git('ls-tree', 'main')}\n`, 'main', git('rev-parse', 'main'));
      return outcome;
    };
    const reason = await reasonOf(work()).finally(() => (merges.revert = original));
    return { reason, isKept: git('rev-parse', 'main') === pushed };
  };
  t.strictSame(await moving(() => revert({ commit: oid, branch: 'main' })), { reason: 'ref_moved', isKept: true });
  t.strictSame(
    await moving(() => revert({ commit: oid, branch: 'main', newBranch: 'back' })),
    { reason: 'accepted', isKept: true },
    'a branch of its own is not concerned',
  );
  t.equal(git('show', 'back:a'), 'one');
  t.equal(await reasonOf(revert({ commit: oid, branch: 'main', newBranch: 'back' })), 'branch_exists');
  t.equal(await reasonOf(revert({ commit: oid, branch: 'main' })), 'accepted');
  t.equal(git('show', 'main:a'), 'one');
});

t.test('a new branch begins at another one', async (t) => {
  const { change, files, refuses, git } = await openWork(t);
  await change([create('a', 'one\n')]);
  const { branch, parent } = await change([create('b', 'two\n')], { newBranch: 'topic/b' });
  t.equal(branch, 'topic/b');
  t.equal(parent, git('rev-parse', 'main'));
  t.same([files(), files('topic/b')], [['a'], ['a', 'b']]);
  t.equal(await refuses([create('c', '')], { newBranch: 'topic/b' }), 'branch_exists');
  t.equal(await refuses([create('c', '')], { newBranch: 'topic' }), 'branch_in_the_way');
  t.equal(await refuses([create('c', '')], { newBranch: 'to..pic' }), 'invalid_branch_name');
  t.equal(await refuses([create('c', '')], { branch: 'nowhere' }), 'no_such_branch');
  await change([create('c', '')], { branch: 'topic/b' });
  t.same(files('topic/b'), ['a', 'b', 'c']);
});

t.test('rules decide as about any push', async (t) => {
  const { change, refuses, repositories, alice, carol, git } = await openWork(t);
  await change([create('a', 'one\n')]);
  const tip = git('rev-parse', 'main');
  const [rule] = await repositories.rules.list(alice, 'alice', 'work');
  await repositories.rules.change(alice, 'alice', 'work', rule!.id, { grants: { push: { level: 'admin' } } });
  t.equal(await refuses([create('b', '')]), 'branch_protected');
  t.equal(git('rev-parse', 'main'), tip);
  await change([create('b', '')], { newBranch: 'topic' });
  await change([create('b', '')], {}, alice);
  t.equal(await refuses([create('c', '')], {}, carol), 'repository_not_found', 'who only reads');
  t.equal(await refuses([create('c', '')], {}, { kind: 'anonymous' } as Viewer), 'repository_not_found');
  t.equal(await refuses([create('c', '')], {}, viewerOf(alice, { scope: 'read' } as never)), 'repository_not_found');
  await repositories.setArchived(alice, 'alice', 'work', true);
  t.equal(await refuses([create('c', '')], {}, alice), 'repository_archived');
});

t.test('links, submodules and folders are not files', async (t) => {
  const { change, refuses, plant, folder } = await openWork(t);
  await change([create('a', 'one\n')]);
  const blob = execFileSync('git', [`--git-dir=${folder}`, 'hash-object', '-w', '--stdin'], { input: 'a' })
    .toString()
    .trim();
  const folderTree = execFileSync('git', [`--git-dir=${folder}`, 'mktree'], { input: `100644 blob ${blob}\tx\n` })
    .toString()
    .trim();
  plant(`120000 blob ${blob}\tlink\n160000 commit ${'1'.repeat(40)}\tmodule\n040000 tree ${folderTree}\tsub\n`, 'odd');
  for (const file of ['link', 'module', 'sub']) {
    t.equal(await refuses([update(file, 'x')], { branch: 'odd' }), 'not_a_file', file);
    t.equal(await refuses([{ kind: 'put', path: file, content: Buffer.from('x') }], { branch: 'odd' }), 'not_a_file');
    t.equal(await refuses([{ kind: 'delete', path: file }], { branch: 'odd' }), 'not_a_file');
    t.equal(await refuses([{ kind: 'update', from: file, path: 'new' }], { branch: 'odd' }), 'not_a_file');
    t.equal(await refuses([create(file, 'x')], { branch: 'odd' }), 'file_exists');
  }
  for (const file of ['link/x', 'module/x'])
    t.equal(await refuses([create(file, 'x')], { branch: 'odd' }), 'file_in_the_way', file);
  await change([create('sub/y', 'y')], { branch: 'odd' });
});

const tricks = [
  '',
  '/',
  '/etc/passwd',
  'a/',
  'a//b',
  './a',
  '../a',
  'a/../b',
  'a/..',
  '.',
  '..',
  'a\0b',
  'a\nb',
  '\x7f',
  'a\\b',
  '..\\a',
  '.git',
  '.git/config',
  'a/.git/hooks/x',
  '.GIT/x',
  '.Git',
  'git~1',
  'GIT~1/x',
  'git~2',
  '.git.',
  '.git ',
  '.git. . ',
  '.git::$INDEX_ALLOCATION/x',
  '.git:x',
  '.g\u200cit',
  '\ufeff.git',
  '.gi\u200dt/config',
  '.gitmodules ',
  'gitmod~1',
  '.GITMODULES',
  '.gitModules',
  '.gitmodules:x',
  'gi7eba~1',
  '.git\u200cmodules',
  '.gitattributes.',
  'gi7d29~4',
  'a'.repeat(256),
  `${'a/'.repeat(100)}a`,
  `${`${'a'.repeat(250)}/`.repeat(17)}a`,
  '\ud800',
];
const usual = [
  'a',
  'a b',
  'ä/ö.txt',
  '.github/x',
  'git',
  '.gitignore',
  'a/.gitmodules',
  'x.git',
  '.gitkeep',
  '-a',
  'a:b',
  'aux.c',
  '日本/語',
  'a~1',
  '…',
];

t.test('paths that lead elsewhere are refused everywhere', async (t) => {
  for (const trick of tricks)
    t.throws(() => parseFilePath(trick), { reason: 'invalid_path' } as never, JSON.stringify(trick).slice(0, 40));
  for (const name of usual) t.equal(parseFilePath(name), name);
  const { change, refuses, files, git } = await openWork(t);
  await change(
    usual.filter((name) => name !== 'a').map((name) => create(name, name.includes('.gitmodules') ? '' : 'x')),
  );
  t.equal(files().length, usual.length - 1);
  git('fsck', '--strict', '--no-dangling');
  const content = Buffer.from('x');
  for (const trick of ['../x', '.GIT/config', 'git~1', 'a//b', 'a\0b', '.gi\u200dt/x'])
    for (const operation of [
      { kind: 'create', path: trick, content },
      { kind: 'put', path: trick, content },
      { kind: 'update', path: trick, content },
      { kind: 'update', path: trick, from: 'git' },
      { kind: 'update', path: 'ok', from: trick },
      { kind: 'delete', path: trick },
    ] as FileOperation[])
      t.equal(await refuses([operation]), 'invalid_path');
});

t.test('security C07 new names do not read in another order; files that have such names can be changed', async (t) => {
  const { change, refuses, files, git, folder } = await openWork(t);
  const content = Buffer.from('x');
  await change([create('plain', 'x')]);
  for (const name of ['cod\u202etxt.exe', 'a\u2066/b', 'x\u200f.txt'])
    for (const operation of [
      { kind: 'create', path: name, content },
      { kind: 'put', path: name, content },
      { kind: 'update', path: name, from: 'plain' },
    ] as FileOperation[])
      t.equal(await refuses([operation]), 'invalid_path', `${operation.kind} ${encodeURIComponent(name)}`);
  t.same(files(), ['plain']);
  // As a push brings it.
  const old = 'cod\u202etxt.exe';
  const blob = git('rev-parse', 'main:plain');
  const tree = execFileSync('git', [`--git-dir=${folder}`, 'mktree', '-z'], {
    env: clientEnvironment,
    input: `100644 blob ${blob}\t${old}\0`,
  })
    .toString()
    .trim();
  git('update-ref', 'refs/heads/main', git('commit-tree', '-m', 'x', tree));
  await change([{ kind: 'put', path: old, content: Buffer.from('y') }]);
  await change([{ kind: 'update', path: old, content: Buffer.from('z') }]);
  await change([{ kind: 'update', path: 'cod.txt', from: old }]);
  t.same(files(), ['cod.txt']);
});

t.test('files that git would not take from a push are refused', async (t) => {
  const { change, refuses, git } = await openWork(t);
  await change([create('a', 'one\n')]);
  const module = (url: string, name = 'x') => `[submodule "${name}"]\n\tpath = x\n\turl = ${url}\n`;
  t.equal(await refuses([create('.gitmodules', module('-u./payload'))]), 'invalid_git_file');
  t.equal(await refuses([create('.gitmodules', module('https://example.org/x', '../../x'))]), 'invalid_git_file');
  t.equal(await refuses([create('sub/.gitmodules', module('--upload-pack=evil'))]), 'invalid_git_file');
  t.equal(await refuses([create('.gitattributes', `* ${'a'.repeat(3000)}\n`)]), 'invalid_git_file');
  await change([create('.gitmodules', module('https://example.org/x')), create('.gitattributes', '* text=auto\n')]);
  await change([create('big/.gitattributes', '# x\n'.repeat(10_000))]);
  git('fsck', '--strict', '--no-dangling');
});

t.test('limits, messages and people', async (t) => {
  const { change, refuses, git, alice, bob, accounts } = await openWork(t);
  t.equal(await refuses([]), 'no_files');
  t.equal(await refuses(Array.from({ length: 301 }, (_, at) => create(`f${at}`, ''))), 'too_many_files');
  t.equal(await refuses([create('a', ''), create('a', 'x')]), 'path_twice');
  t.equal(await refuses([create('a', ''), { kind: 'update', path: 'b', from: 'a' }]), 'path_twice');
  t.equal(await refuses([create('a', 'x'.repeat(600_000)), create('b', 'x'.repeat(600_000))]), 'change_too_large');
  t.equal(await refuses([create('a', '')], { message: 'x'.repeat(70_000) }), 'message_too_long');
  t.equal(await refuses([create('a', '')], { author: { name: 'a\nparent x' } }), 'invalid_author');
  t.equal(await refuses([create('a', '')], { committer: { name: 'a <b' } }), 'invalid_author');
  await change([create('bot', '')], { committer: { name: 'Bot', email: 'carol@example.org' } });
  t.equal(git('show', '-s', '--format=%ae|%cn', 'main'), 'carol@example.org|bob', 'somebody else is the author');
  const { email: foreign } = await accounts.addresses.commitIdentityOf(alice.id);
  await change([create('foreign', '')], { committer: { email: foreign } });
  t.equal(git('cat-file', 'commit', 'main').includes('gpgsig'), false, 'and nothing is signed in their name');
  const { email: own } = await accounts.addresses.commitIdentityOf(bob.id);
  await change([create('a', '')], {
    author: { name: 'Carol', email: 'carol@example.org', at: Date.UTC(2020, 0, 2) },
    committer: { name: 'Bob', email: own },
    message: 'Add a\0file\ud800',
  });
  t.equal(
    git('show', '-s', '--format=%an <%ae> %ad|%cn', '--date=short', 'main'),
    'Carol <carol@example.org> 2020-01-02|Bob',
  );
  t.equal(git('cat-file', 'commit', 'main').includes('gpgsig'), false);
  t.notMatch(zeroId, git('rev-parse', 'main'));
});

t.test('a lock of another git process is not a conflict', async (t) => {
  const { repositories, change, bob, folder } = await openWork(t);
  await change([create('a', 'one\n')]);
  const { branches, tags } = repositories;
  const acts: [ref: string, act: () => Promise<unknown>][] = [
    ['refs/heads/main', () => change([create('b', 'two\n')])],
    ['refs/heads/topic', () => change([create('c', 'two\n')], { newBranch: 'topic' })],
    ['refs/heads/side', () => branches.create(bob, 'alice', 'work', { name: 'side', from: 'main' })],
    ['refs/tags/v1', () => tags.create(bob, 'alice', 'work', { name: 'v1', from: 'main' })],
  ];
  for (const [ref, act] of acts) {
    const lock = path.join(folder, `${ref}.lock`);
    writeFileSync(lock, '');
    t.equal(await reasonOf(act()), 'ref_locked', ref);
    rmSync(lock);
    t.equal(await reasonOf(act()), 'accepted', `${ref} afterwards`);
  }
});
