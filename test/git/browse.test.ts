import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { chargeCpuTime } from '../../src/kernel/index.ts';
import type { Git } from '../../src/git/index.ts';
import { parseCommit, parseTree } from '../../src/git/objects/parse-objects.ts';
import { errorWithReason, clientEnvironment, gitSync, killBelow, openGit, sampleRepository } from './git-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const sample = sampleRepository();
const idOf = (revision: string) => gitSync(['rev-parse', revision], { cwd: sample });

function fill(repository: string): void {
  gitSync(['push', '--quiet', repository, 'main', 'topic', '--tags'], { cwd: sample });
}

/** Writes an object without the checks of a push. */
function writeObject(repository: string, type: string, content: Buffer | string): string {
  const argv = ['hash-object', '-w', '-t', type, '--literally', '--stdin'];
  return execFileSync('git', argv, { cwd: repository, env: clientEnvironment, input: content }).toString().trim();
}

const entry = (mode: string, name: string | Buffer, id: string) =>
  Buffer.concat([Buffer.from(`${mode} `), Buffer.from(name as string), Buffer.from([0]), Buffer.from(id, 'hex')]);

function commitOf(
  repository: string,
  tree: string,
  head = 'author A <a@example.org> 1 +0000\ncommitter A <a@example.org> 1 +0000\n\nx\n',
) {
  return writeObject(repository, 'commit', `tree ${tree}\n${head}`);
}

t.test('an empty repository has a default branch without commits', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  t.same(await git.refs.head(repository), { branch: 'main', oid: null });
  t.same([(await git.refs.list(repository)).size, (await git.queries.cachedRefs(repository)).size], [0, 0]);
  await t.rejects(git.refs.resolve(repository, 'main'), { code: 'not_found' });
  await git.refs.setHead(repository, 'trunk/1');
  t.same(await git.refs.head(repository), { branch: 'trunk/1', oid: null });
  await t.rejects(git.refs.setHead(repository, '--delete'), errorWithReason('invalid_branch_name'));
});

t.test('what pages read of HEAD is what it names', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  const agree = async (state: string, wanted: { branch: string | null; oid: string | null }) => {
    t.same(await git.refs.head(repository), wanted, state);
    t.same(await git.queries.cachedHead(repository), wanted, `${state}, for pages`);
  };
  await agree('empty', { branch: 'main', oid: null });
  fill(repository);
  await agree('filled', { branch: 'main', oid: idOf('main') });
  gitSync(['update-ref', 'refs/heads/main', idOf('topic')], { cwd: repository });
  await agree('moved', { branch: 'main', oid: idOf('topic') });
  gitSync(['pack-refs', '--all'], { cwd: repository });
  await agree('packed', { branch: 'main', oid: idOf('topic') });
  gitSync(['branch', 'zweig/äöü', 'topic'], { cwd: repository });
  await git.refs.setHead(repository, 'zweig/äöü');
  await agree('a name beyond ASCII', { branch: 'zweig/äöü', oid: idOf('topic') });
  await git.refs.setHead(repository, 'other');
  await agree('a branch without commits', { branch: 'other', oid: null });
  writeFileSync(path.join(repository, 'HEAD'), `${idOf('main')}\n`);
  await agree('detached', { branch: null, oid: idOf('main') });
});

t.test('HEAD, branches, tags and revisions resolve', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  fill(repository);
  t.same(await git.refs.head(repository), { branch: 'main', oid: idOf('main') });
  const refs = await git.queries.cachedRefs(repository);
  t.same(refs.page('refs/heads/', 0, 9), [
    { name: 'main', oid: idOf('main') },
    { name: 'topic', oid: idOf('topic') },
  ]);
  t.same(refs.page('refs/tags/', 0, 9), [
    { name: 'light', oid: idOf('light') },
    { name: 'v1', oid: idOf('v1') },
  ]);

  const main = idOf('main');
  for (const name of ['main', 'HEAD', 'v1', 'light', 'refs/heads/main', 'refs/tags/v1', main, main.slice(0, 7)]) {
    t.equal(await git.refs.resolve(repository, name), main, name);
  }
  const absent = [
    'absent',
    '',
    '-',
    '--all',
    '--output=x',
    'main~1',
    'main^',
    'main^{tree}',
    'main:README.md',
    ':/Begin',
    '@',
    '@{-1}',
    'main@{0}',
    'main..topic',
    'a b',
    'main\nHEAD',
    '../main',
    'refs/heads/../../HEAD',
    '0'.repeat(40),
    'ffff',
    idOf('main^{tree}'),
    'refs/hearth/x',
  ];
  for (const name of absent)
    await t.rejects(git.refs.resolve(repository, name), errorWithReason('revision_not_found'), JSON.stringify(name));

  gitSync(['update-ref', 'refs/heads/main-like', idOf('topic')], { cwd: repository });
  gitSync(['update-ref', `refs/heads/${main.slice(0, 8)}`, idOf('topic')], { cwd: repository });
  t.equal(
    await git.refs.resolve(repository, main.slice(0, 8)),
    idOf('topic'),
    'a branch whose name looks like an id is a branch',
  );
});

t.test('trees, blobs and history are read', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  fill(repository);
  const main = idOf('main');
  const root = await git.objects.tree(repository, main, '');
  t.match(root, { oid: idOf('main^{tree}'), truncated: false });
  t.same(
    root.entries.map(({ name, kind, type, mode, size }) => [name, kind, type, mode, size]),
    [
      ['README.md', 'file', 'blob', '100644', null],
      ['docs', 'folder', 'tree', '040000', null],
    ],
  );
  for (const folder of ['docs', '/docs/', 'docs//', Buffer.from('docs')]) {
    t.match((await git.objects.tree(repository, main, folder, { withSizes: true })).entries, [
      { name: 'guide.txt', size: 6 },
    ]);
  }
  t.match(await git.objects.tree(repository, main, '', { maxEntries: 1 }), { truncated: true, entries: { length: 1 } });
  for (const folder of [
    'README.md',
    'absent',
    'docs/absent',
    '..',
    '.',
    'docs/..',
    'README.md/x',
    'docs\0',
    '*',
    ':/',
  ]) {
    await t.rejects(git.objects.tree(repository, main, folder), errorWithReason('revision_not_found'), folder);
  }
  await t.rejects(git.objects.tree(repository, 'main', ''), errorWithReason('invalid_object_id'));

  const guide = await git.objects.entryAt(repository, main, 'docs/guide.txt');
  t.match(guide, { kind: 'file', oid: idOf('main:docs/guide.txt') });
  t.same(await git.objects.blob(repository, guide.oid, { maxBytes: 100 }), {
    oid: guide.oid,
    size: 6,
    content: Buffer.from('three\n'),
  });
  t.same(await git.objects.blob(repository, guide.oid, { maxBytes: 5 }), { oid: guide.oid, size: 6, content: null });
  await t.rejects(
    git.objects.blob(repository, main, { maxBytes: 5 }),
    errorWithReason('revision_not_found'),
    'a commit is no blob',
  );

  const log = await git.objects.log(repository, main, { limit: 2 });
  t.same(
    log.map(({ oid, subject, parents }) => [oid, subject, parents]),
    [
      [main, 'Say three', [idOf('main~1')]],
      [idOf('main~1'), 'Say two', [idOf('main~2')]],
    ],
  );
  t.match(await git.objects.log(repository, main, { limit: 9, skip: 2 }), [{ subject: 'Begin', parents: [] }]);
  await t.rejects(git.objects.log(repository, '--all', { limit: 1 }), errorWithReason('invalid_object_id'));
  await t.rejects(git.objects.log(repository, '9'.repeat(40), { limit: 1 }), errorWithReason('revision_not_found'));
  t.match(await git.objects.commit(repository, main), {
    message: 'Say three\n\nA longer text.\n',
    author: { name: 'Alice', email: 'alice@example.org', at: Date.parse('2026-01-02T02:04:05Z'), offsetMinutes: 60 },
    committer: { name: 'Bob' },
  });
});

t.test(
  'SECURITY A05, B02, B03: names are bytes, symbolic links and submodules are entries, dates are clamped',
  async (t) => {
    const { git, newRepository } = await openGit(t);
    const repository = await newRepository();
    const blob = writeObject(repository, 'blob', '../../etc/passwd');
    const latin = Buffer.from([0x66, 0xfc, 0x72]);
    const folder = writeObject(repository, 'tree', entry('100644', latin, blob));
    const names = ['a\nb', '<script>alert(1)<script>', '--output=x', ':(glob)**', '\u001b[2J', 'x'.repeat(4_000)];
    const tree = writeObject(
      repository,
      'tree',
      Buffer.concat([
        ...names.map((name) => entry('100644', name, blob)),
        entry('100755', 'run', blob),
        entry('120000', 'link', blob),
        entry('160000', 'module', '1'.repeat(40)),
        entry('40000', Buffer.from([0xe9, 0x20, 0xff]), folder),
      ]),
    );
    const commit = commitOf(
      repository,
      tree,
      'author  <> 99999999999999 +9999\ncommitter Z <z@example.org> -99999999999999 -9960\n\n\n',
    );
    const { entries } = await git.objects.tree(repository, commit, '', { withSizes: true });
    t.same(
      entries.slice(0, names.length).map(({ name }) => name),
      names,
    );
    t.match(entries.slice(names.length), [
      { name: 'run', kind: 'executable', type: 'blob', size: 16 },
      { name: 'link', kind: 'symlink', type: 'blob', size: 16 },
      { name: 'module', kind: 'submodule', type: 'commit', oid: '1'.repeat(40), size: null },
      { name: '\ufffd \ufffd', rawName: Buffer.from([0xe9, 0x20, 0xff]), kind: 'folder' },
    ]);
    t.match((await git.objects.tree(repository, commit, Buffer.from([0xe9, 0x20, 0xff]))).entries, [
      { rawName: latin },
    ]);
    await t.rejects(
      git.objects.tree(repository, commit, 'link/etc'),
      errorWithReason('revision_not_found'),
      'a link leads nowhere',
    );
    await t.rejects(git.objects.tree(repository, commit, 'module'), errorWithReason('revision_not_found'));
    for (const name of names) t.equal((await git.objects.entryAt(repository, commit, name)).oid, blob);

    const { author, committer, subject } = await git.objects.commit(repository, commit);
    t.same(author, { name: '', email: '', at: Date.UTC(9999, 11, 31, 23, 59, 59), offsetMinutes: 840 });
    t.match(committer, { at: Date.parse('0001-01-01T00:00:00Z'), offsetMinutes: -840 });
    t.equal(subject, '');
    t.doesNotThrow(() => [author, committer].map(({ at }) => new Date(at).toISOString()), 'such a date can be shown');
  },
);

t.test('commits in other encodings and malformed commits are read', async (t) => {
  const id = 'a'.repeat(40);
  const latin = Buffer.concat([
    Buffer.from('tree x\nauthor J'),
    Buffer.from([0xf6]),
    Buffer.from('rg <j@example.org> 5 -0330\nencoding ISO-8859-1\ngpgsig -----\n author Evil <e> 1 +0000\n\nGr'),
    Buffer.from([0xfc]),
    Buffer.from('n\nsecond line\n\nrest'),
  ]);
  t.equal(
    parseCommit(id, Buffer.from(`tree ${id}\n\nOne\r\n\r\nTwo\r\n`)).message,
    'One\n\nTwo\n',
    'DOS line ends are line ends',
  );
  t.match(parseCommit(id, latin), {
    author: { name: 'Jörg', at: 5_000, offsetMinutes: -210 },
    committer: { name: '', email: '', at: 0 },
    subject: 'Grün second line',
    message: 'Grün\nsecond line\n\nrest',
  });
  for (const text of [
    '',
    '\n\n',
    'tree',
    'author no mail',
    'author <a> 1',
    'author a<b>c>1 +0000 <x',
    'encoding nonsense\n\nä',
    'author A <a> NaN +0000',
  ]) {
    t.doesNotThrow(() => parseCommit(id, Buffer.from(text)), text);
  }
  t.throws(() => parseTree(Buffer.from('100644 x'), 20, 10), { code: 'internal' });
  t.throws(() => parseTree(entry('100644', 'x', '11'), 20, 10), { code: 'internal' });
});

t.test('refs are listed as git lists them: loose, packed, both, symbolic, unusual and broken', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  fill(repository);
  const update = (...lines: string[]) =>
    gitSync(['update-ref', '--stdin'], { cwd: repository, input: `${lines.join('\n')}\n` });
  const [main, topic] = [idOf('main'), idOf('topic')];
  update(
    ...Array.from({ length: 30 }, (_, n) => `create refs/heads/many/${n % 5}/${n} ${main}`),
    `create refs/heads/--exec=x ${main}`,
    `create refs/heads/ü ${main}`,
    `create refs/notes/commits ${main}`,
  );
  gitSync(['pack-refs', '--all'], { cwd: repository });
  update(`update refs/heads/many/0/0 ${topic}`, `delete refs/heads/many/1/1`, `create refs/heads/new ${topic}`);
  gitSync(['symbolic-ref', 'refs/heads/alias', 'refs/heads/topic'], { cwd: repository });
  writeFileSync(path.join(repository, 'refs/heads/new.lock'), '');
  const listed = gitSync(['for-each-ref', '--format=%(refname) %(objectname)'], { cwd: repository }).split('\n').sort();
  t.same([...(await git.refs.list(repository))].map(([name, id]) => `${name} ${id}`).sort(), listed);

  update(`create refs/hearth/pull/1 ${main}`, `create refs/replace/${main} ${topic}`);
  writeFileSync(path.join(repository, 'refs/heads/empty'), '');
  t.equal((await git.refs.list(repository)).size, listed.length, 'hidden and broken refs are left out');
});

t.test('SECURITY A06: a replace ref has no effect', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  fill(repository);
  gitSync(['update-ref', `refs/replace/${idOf('main')}`, idOf('topic')], { cwd: repository });
  t.match(await git.objects.commit(repository, idOf('main')), { subject: 'Say three' });
  t.match(await git.objects.log(repository, idOf('main'), { limit: 1 }), [{ subject: 'Say three' }]);
});

t.test('refs read during concurrent changes are consistent', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  fill(repository);
  const names = ['refs/heads/main', 'refs/heads/topic', 'refs/tags/light', 'refs/tags/v1'];
  let done = false;
  const packing = (async () => {
    for (let n = 0; n < 25; n += 1) {
      gitSync(['update-ref', 'refs/heads/topic', idOf(n % 2 === 0 ? 'main' : 'topic')], { cwd: repository });
      await new Promise((resolve) => setImmediate(resolve));
      gitSync(['pack-refs', '--all'], { cwd: repository });
      await new Promise((resolve) => setImmediate(resolve));
    }
    done = true;
  })();
  while (!done) {
    const refs = await git.refs.list(repository);
    if (![...refs.keys()].every((name, at) => name === names[at]) || refs.size !== 4)
      t.fail(`saw ${[...refs.keys()].join()}`);
  }
  await packing;
  t.pass('no ref was ever missing');
});

const readMany = (git: Git, repositories: readonly string[]) =>
  Promise.all(repositories.map((repository) => git.objects.tree(repository, idOf('main'), '', { withSizes: true })));

t.test('object readers are shared, limited, replaced when killed, and stopped when idle', async (t) => {
  const { git, newRepository } = await openGit(t, { limits: { objectReaders: 2, objectReaderIdleMs: 150 } });
  const repositories = await Promise.all(Array.from({ length: 5 }, newRepository));
  for (const repository of repositories) fill(repository);
  const most: number[] = [];
  const watch = setInterval(() => most.push(git.load().processes), 1);
  const trees = await readMany(git, [...repositories, ...repositories, ...repositories]);
  clearInterval(watch);
  t.ok(trees.every(({ entries }) => entries.length === 2 && entries[0]!.size === 9));
  t.ok(Math.max(...most) <= 4, `two running, two ending: ${Math.max(...most)}`);

  const [victim] = repositories as [string];
  await git.refs.head(victim);
  await killBelow(victim);
  await git.refs.head(victim).catch((error: unknown) => t.match(error, { code: 'internal' }));
  t.match(await git.refs.head(victim), { oid: idOf('main') }, 'the next one is new');
  await waitUntil(() => git.load().processes === 0, 'idle readers ended');
});

t.test('an object reader sees objects pushed after its start', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  t.same(await git.refs.head(repository), { branch: 'main', oid: null });
  fill(repository);
  t.same(await git.refs.head(repository), { branch: 'main', oid: idOf('main') });
  gitSync(['update-ref', 'refs/heads/main', idOf('topic')], { cwd: repository });
  t.match(await git.objects.tree(repository, (await git.refs.head(repository)).oid!, ''), { entries: { length: 3 } });
});

t.test('one object reader reads large and many objects', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  const content = Buffer.alloc(3_000_000, 'abc\n');
  const large = writeObject(repository, 'blob', content);
  const empty = writeObject(repository, 'blob', '');
  const tree = writeObject(
    repository,
    'tree',
    Buffer.concat(
      Array.from({ length: 3_000 }, (_, n) => entry('100644', `f${String(n).padStart(5, '0')}`, n % 2 ? large : empty)),
    ),
  );
  const commit = commitOf(repository, tree);
  const [one, two, { entries }] = await Promise.all([
    git.objects.blob(repository, large, { maxBytes: 4_000_000 }),
    git.objects.blob(repository, empty, { maxBytes: 0 }),
    git.objects.tree(repository, commit, '', { withSizes: true }),
  ]);
  t.ok(one.content!.equals(content));
  t.same(two, { oid: empty, size: 0, content: Buffer.alloc(0) });
  t.same([entries.length, entries[0]!.size, entries[1]!.size], [3_000, 0, 3_000_000]);

  // CPU time of uncharged requests is not charged, and each caller is charged for its own reading alone.
  const startedAt = performance.now();
  for (let turn = 0; turn < 20; turn += 1) await git.objects.blob(repository, large, { maxBytes: 4_000_000 });
  const free = performance.now() - startedAt;
  let cost = 0;
  await chargeCpuTime(
    (ms) => (cost += ms),
    () => git.objects.blob(repository, large, { maxBytes: 4_000_000 }),
  );
  t.ok(cost > 0 && cost < free, `${cost} ms, after reads in ${free} ms`);
});

t.test('a damaged repository fails fast with a specific error', async (t) => {
  const { git, newRepository } = await openGit(t);
  const repository = await newRepository();
  fill(repository);
  const main = idOf('main');
  writeFileSync(path.join(repository, 'refs/heads/main'), `${'8'.repeat(40)}\n`);
  t.same(await git.refs.head(repository), { branch: 'main', oid: null });
  await t.rejects(git.objects.tree(repository, '8'.repeat(40), ''), errorWithReason('revision_not_found'));
  t.match(await git.objects.commit(repository, main), { subject: 'Say three' });
});
