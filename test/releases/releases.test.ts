// Releases: tags that come with them, drafts, the latest one, rights, files with quotas and hostile names, tags that
// are deleted by a push, notes from pull requests and commits.
import { execFileSync } from 'node:child_process';
import { buffer } from 'node:stream/consumers';
import t from 'tap';
import { anonymous } from '../../src/access/index.ts';
import type { TaskViewer, Viewer } from '../../src/access/index.ts';
import { commitsOfPulls } from '../../src/releases/notes/generate-notes.ts';
import { formatNotes } from '../../src/releases/notes/format-notes.ts';
import {
  announced,
  commit,
  content,
  openReleases,
  pushTip,
  reasonOf,
  roof,
  stored,
  tipOf,
  viewerOf,
} from './releases-fixture.ts';
import type { ReleaseModules } from './releases-fixture.ts';

const dayMs = 86_400_000;
const gitIn = (folder: string, ...args: string[]): string =>
  execFileSync('git', [`--git-dir=${folder}`, ...args])
    .toString()
    .trim();

const upload = (
  { releases }: Pick<ReleaseModules, 'releases'>,
  viewer: Viewer,
  tag: string,
  name: string,
  text = 'hello',
) => releases.files.upload(viewer, roof, { tag }, { name, content: content(text) });

const tagsOf = async ({ releases }: ReleaseModules, viewer: Viewer): Promise<string[]> =>
  (await releases.list(viewer, roof, { limit: 50 })).rows.map(({ tag }) => tag);

t.test('a release makes its tag, as a journalled push, lightweight or annotated', async (t) => {
  const modules = await openReleases(t);
  const { releases, bob, carol, path, base, db, clock, told } = modules;
  const first = await releases.create(bob, roof, { tag: 'v1.0', title: 'One', body: 'First.' });
  t.match(first, { tag: 'v1.0', tagOid: base, isDraft: false, authorId: bob.id, target: 'main', revision: 1 });
  t.equal(await tipOf(modules, path, 'refs/tags/v1.0'), base);
  const [push] = (await db.read.query(
    `SELECT p.user_id AS "userId", p.via, u.ref FROM pushes p JOIN push_updates u ON u.push_id = p.id
     WHERE u.ref = 'refs/tags/v1.0'`,
  )) as { userId: string; via: string; ref: string }[];
  t.match(push, { userId: bob.id, via: 'web', ref: 'refs/tags/v1.0' });

  clock.advance(1);
  const second = await releases.create(bob, roof, { tag: 'v1.1', target: 'main', tagMessage: 'Second <one>\n\nMore' });
  t.not(second.tagOid, base, 'the ref names a tag object');
  t.equal(gitIn(path, 'cat-file', '-t', 'v1.1'), 'tag');
  t.match(gitIn(path, 'cat-file', 'tag', 'v1.1'), new RegExp(`^object ${base}\ntype commit\ntag v1.1\ntagger .+`));
  t.equal(gitIn(path, 'tag', '-l', '--format=%(contents)', 'v1.1'), 'Second <one>\n\nMore');
  t.equal(gitIn(path, 'fsck', '--strict'), '', 'git finds no fault with the object');

  clock.advance(1);
  const known = await releases.create(bob, roof, { tag: 'v1.1-notes', target: base });
  t.equal(known.tagOid, base);
  t.strictSame(await tagsOf(modules, carol), ['v1.1-notes', 'v1.1', 'v1.0']);
  t.strictSame(told, ['published v1.0', 'published v1.1', 'published v1.1-notes']);
  t.equal(await reasonOf(releases.create(bob, roof, { tag: 'v1.0' })), 'release_exists');
  for (const tag of ['', 'a b', '../x', 'x..y', 'a\u202eb\u0000', '-x', 'refs:x'])
    t.equal(await reasonOf(releases.create(bob, roof, { tag })), 'invalid_tag_name', JSON.stringify(tag));
  t.equal(await reasonOf(releases.create(bob, roof, { tag: 'v9', target: 'absent' })), 'start_not_found');
  t.equal(await reasonOf(releases.create(bob, roof, { tag: 'v1.0/x' })), 'tag_in_the_way');
  t.equal(await reasonOf(releases.create(bob, roof, { tag: 'v9', title: 'a\u202eb' })), 'invalid_text');
  t.equal(await reasonOf(releases.create(bob, roof, { tag: 'v9', body: 'x'.repeat(65_537) })), 'text_too_long');
  t.equal(await tipOf(modules, path, 'refs/tags/v9'), null, 'what is refused makes no tag');
});

t.test('tag rules decide, and keep a release with a tag that may not go', async (t) => {
  const modules = await openReleases(t);
  const { releases, repositories, alice, bob, path } = modules;
  await releases.create(bob, roof, { tag: 'v1' });
  const grant = { level: 'admin', people: [], tasks: false } as const;
  await repositories.rules.add(alice, roof.owner, roof.name, {
    target: 'TAG',
    pattern: 'v*',
    grants: { create: grant, delete: grant },
  } as never);
  t.equal(await reasonOf(releases.create(bob, roof, { tag: 'v2' })), 'branch_protected');
  t.equal(await reasonOf(releases.delete(bob, roof, { tag: 'v1' }, { deletesTag: true })), 'branch_protected');
  t.strictSame(await tagsOf(modules, bob), ['v1']);
  await releases.create(alice, roof, { tag: 'v2' });
  await releases.delete(alice, roof, { tag: 'v1' }, { deletesTag: true });
  t.equal(await tipOf(modules, path, 'refs/tags/v1'), null);
  await releases.delete(bob, roof, { tag: 'v2' });
  t.ok(await tipOf(modules, path, 'refs/tags/v2'), 'the tag stays');
  t.strictSame(await tagsOf(modules, bob), []);
  t.strictSame(modules.told, ['published v1', 'published v2', 'deleted v1', 'deleted v2']);
});

t.test('drafts are for those who may write; publishing makes the tag', async (t) => {
  const modules = await openReleases(t);
  const { releases, repositories, alice, bob, carol, path, clock, base } = modules;
  await releases.create(bob, roof, { tag: 'v1' });
  clock.advance(1_000);
  const draft = await releases.create(bob, roof, { tag: 'v2', target: 'soon', isDraft: true, tagMessage: 'Two' });
  t.match(draft, { tagOid: null, publishedAt: null });
  t.equal(await tipOf(modules, path, 'refs/tags/v2'), null);
  await upload(modules, bob, 'v2', 'a.zip');
  t.strictSame(await tagsOf(modules, alice), ['v2', 'v1']);
  for (const viewer of [carol, anonymous, viewerOf({ id: bob.id, username: 'bob' } as never, { scope: 'read' })]) {
    t.strictSame(await tagsOf(modules, viewer), ['v1']);
    t.equal(await reasonOf(releases.find(viewer, roof, { tag: 'v2' })), 'release_not_found');
    t.equal(await reasonOf(releases.find(viewer, roof, { id: draft.id })), 'release_not_found');
    t.equal(await reasonOf(releases.files.find(viewer, roof, { tag: 'v2' }, { name: 'a.zip' })), 'release_not_found');
    const counted = await releases.listByPage(viewer, roof, { page: 1, limit: 10, isDraft: true });
    t.strictSame(counted.rows, []);
  }
  t.match(await releases.count((await repositories.find(bob, 'alice', 'roof')).repository.id), {
    published: 1,
    drafts: 1,
    bytes: 5,
  });
  t.equal(await reasonOf(releases.edit(bob, roof, { tag: 'v2' }, { isDraft: false })), 'start_not_found');
  clock.advance(1_000);
  const published = await releases.edit(bob, roof, { tag: 'v2' }, { isDraft: false, target: 'main' });
  t.match(published, { isDraft: false, publishedAt: clock.now(), listedAt: clock.now(), revision: 2 });
  t.equal(gitIn(path, 'rev-parse', 'v2^{commit}'), base);
  t.equal((await releases.find(carol, roof, 'latest')).tag, 'v2');
  t.equal(await reasonOf(releases.edit(bob, roof, { tag: 'v2' }, { tag: 'v3' })), 'release_published');
  t.equal(
    await reasonOf(releases.edit(bob, roof, { tag: 'v2' }, { title: 'x', revision: 1 })),
    'text_changed_meanwhile',
  );
  clock.advance(1_000);
  await releases.create(bob, roof, { tag: 'v3', isDraft: true });
  for (const viewer of [bob, carol])
    t.equal((await releases.find(viewer, roof, 'latest')).tag, 'v2', 'a draft is not the latest');
  await releases.delete(bob, roof, { tag: 'v3' });
  await releases.edit(bob, roof, { tag: 'v2' }, { isPrerelease: true });
  t.equal((await releases.find(carol, roof, 'latest')).tag, 'v1', 'a pre-release is not the latest');
  await releases.edit(bob, roof, { tag: 'v1' }, { isDraft: true });
  t.equal(await reasonOf(releases.find(carol, roof, 'latest')), 'release_not_found');
  t.strictSame(modules.told, ['published v1', 'published v2 a.zip', 'updated v2 a.zip', 'withdrawn v1']);
});

t.test('a tag that a push deletes makes its release a draft, whose publishing restores it', async (t) => {
  const modules = await openReleases(t);
  const { releases, repositories, bob, carol, path, base } = modules;
  const next = commit(path, { parents: [base], files: { 'c.txt': 'c' }, message: 'Next' });
  await pushTip(modules, bob, 'alice/roof', 'main', next);
  await releases.create(bob, roof, { tag: 'v1', target: base });
  await upload(modules, bob, 'v1', 'a.zip');
  await repositories.tags.delete(bob, 'alice', 'roof', { name: 'v1', expected: base });
  await announced(modules);
  t.equal(await reasonOf(releases.find(carol, roof, { tag: 'v1' })), 'release_not_found');
  const lost = await releases.find(bob, roof, { tag: 'v1' });
  t.match(lost, { isDraft: true, target: base, files: [{ name: 'a.zip' }] });
  await releases.edit(bob, roof, { tag: 'v1' }, { isDraft: false });
  t.equal(await tipOf(modules, path, 'refs/tags/v1'), base, 'not where the branch is by now');
  const { repository } = await repositories.find(bob, 'alice', 'roof');
  const deletion = { repository, updates: [{ ref: 'refs/tags/v1', oldId: base, newId: '0'.repeat(40) }] };
  t.equal(await releases.onPush.prepare!(deletion as never), null, 'the tag was made anew before this was announced');
  t.equal(await reasonOf(repositories.tags.delete(bob, 'alice', 'roof', { name: 'v1', expected: next })), 'tag_moved');
  t.equal(await reasonOf(repositories.tags.delete(bob, 'alice', 'roof', { name: 'x', expected: next })), 'tag_gone');
  t.equal(
    await reasonOf(repositories.tags.delete(carol, 'alice', 'roof', { name: 'v1', expected: base })),
    'repository_not_found',
  );
});

t.test('who may: by role, token, task and in an archived repository', async (t) => {
  const modules = await openReleases(t);
  const { releases, repositories, alice, bob, carol } = modules;
  await releases.create(bob, roof, { tag: 'v1' });
  const { id: repositoryId } = (await repositories.find(bob, 'alice', 'roof')).repository;
  const task: TaskViewer = { kind: 'task', taskId: 1, repositoryId, scope: 'write' };
  const reader: Viewer = { ...bob, via: 'token', scope: 'read' };
  const refused: [Viewer, string][] = [
    [carol, 'not_allowed_on_release'],
    [anonymous, 'sign_in_required'],
    [reader, 'token_may_not_write'],
    [{ ...task, scope: 'read' }, 'token_may_not_write'],
    [{ ...task, repositoryId: 'another' }, 'not_allowed_on_release'],
  ];
  for (const [viewer, reason] of refused) {
    const attempts = [
      releases.create(viewer, roof, { tag: 'v2' }),
      releases.edit(viewer, roof, { tag: 'v1' }, { title: 'x' }),
      releases.delete(viewer, roof, { tag: 'v1' }),
      upload(modules, viewer, 'v1', 'a.zip'),
      releases.files.receive(viewer, roof, { name: 'a.zip', content: content('x') }),
      releases.generateNotes(viewer, roof, { tag: 'v2' }),
    ];
    for (const attempt of attempts) attempt.catch(() => {});
    for (const attempt of attempts) t.equal(await reasonOf(attempt), reason);
    t.equal((await releases.find(viewer, roof, { tag: 'v1' })).tag, 'v1');
  }
  const byTask = await releases.create(task, roof, { tag: 'v2', tagMessage: 'By a workflow' });
  t.match(byTask, { authorId: null, authorName: 'workflow' });
  await upload(modules, task, 'v2', 'built.zip');
  await repositories.setArchived(alice, 'alice', 'roof', true);
  t.equal(await reasonOf(releases.create(alice, roof, { tag: 'v3' })), 'repository_archived');
  t.equal(await reasonOf(upload(modules, alice, 'v1', 'b.zip')), 'repository_archived');
  t.equal((await releases.find(anonymous, roof, { tag: 'v1' })).tag, 'v1');
  await repositories.setArchived(alice, 'alice', 'roof', false);

  await repositories.changeVisibility(alice, 'alice', 'roof', 'PRIVATE');
  t.equal(await reasonOf(releases.find(carol, roof, { tag: 'v1' })), 'repository_not_found');
  t.equal(
    await reasonOf(releases.files.find(anonymous, roof, { tag: 'v2' }, { name: 'built.zip' })),
    'repository_not_found',
  );
  await repositories.rename(alice, 'alice', 'roof', 'shed');
  t.equal((await releases.find(bob, { owner: 'alice', name: 'shed' }, { tag: 'v2' })).files[0]!.name, 'built.zip');
});

t.test('files: names, digests, limits, what is cut off, and what stays behind', async (t) => {
  const modules = await openReleases(t, {
    settings: { fileBytes: 1_000, filesPerRepositoryBytes: 1_500, filesPerOwnerBytes: 10_000 },
  });
  const { releases, bob, carol, clock, over } = modules;
  const release = await releases.create(bob, roof, { tag: 'v1' });
  const file = await upload(modules, bob, 'v1', 'garden-1.0 (x86).tar.gz', 'hello');
  t.match(file, { bytes: 5, sha256: '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824', downloads: 0 });
  t.equal(await reasonOf(upload(modules, bob, 'v1', 'garden-1.0 (x86).tar.gz')), 'release_file_exists');
  const hostile = [
    '',
    ' ',
    '.',
    '..',
    '../../etc/passwd',
    'a/b',
    'a\\b',
    'C:autoexec',
    'a\u202egnp.exe',
    'a\u0000b',
    'a\nb',
    'a\u200bb',
    '.hidden',
    'a'.repeat(256),
    '\ud800',
    'x"y',
  ];
  for (const name of hostile)
    t.equal(await reasonOf(upload(modules, bob, 'v1', name)), 'invalid_file_name', JSON.stringify(name));
  t.equal(stored(modules).length, 1, 'nothing of what was refused is stored');

  t.equal(await reasonOf(upload(modules, bob, 'v1', 'large', 'x'.repeat(1_001))), 'release_file_too_large');
  await upload(modules, bob, 'v1', 'largest', 'x'.repeat(1_000));
  t.equal(await reasonOf(upload(modules, bob, 'v1', 'more', 'x'.repeat(600))), 'release_quota');
  const ofOwner = over({ filesPerOwnerBytes: 1_005 });
  t.equal(
    await reasonOf(ofOwner.files.upload(bob, roof, { tag: 'v1' }, { name: 'more', content: content('x') })),
    'release_quota',
  );
  async function* cutOff(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('half');
    throw new Error('gone');
  }
  await t.rejects(releases.files.upload(bob, roof, { tag: 'v1' }, { name: 'half', content: cutOff() }), /gone/);
  t.equal(stored(modules).length, 2);

  const both = ['one', 'two'].map((text) => upload(modules, bob, 'v1', 'same', text));
  const settled = await Promise.allSettled(both);
  t.strictSame(settled.map(({ status }) => status).sort(), ['fulfilled', 'rejected'], 'the same name at once');
  t.equal(stored(modules).length, 3);

  const { file: found } = await releases.files.find(carol, roof, { id: release.id }, { name: 'largest' });
  const range = await releases.files.read(found, { first: 2, last: 4 });
  t.equal((await buffer(range.stream)).toString(), 'xxx');
  releases.files.countDownload(found.id);
  releases.files.countDownload(found.id);
  await releases.saveDownloads();
  t.equal((await releases.files.find(carol, roof, { tag: 'v1' }, { id: found.id })).file.downloads, 2);
  await releases.files.rename(bob, roof, { tag: 'v1' }, { name: 'largest' }, 'big');
  t.equal(
    await reasonOf(releases.files.rename(bob, roof, { tag: 'v1' }, { name: 'big' }, 'same')),
    'release_file_exists',
  );
  await releases.files.remove(bob, roof, { tag: 'v1' }, { name: 'big' });
  t.equal(await reasonOf(releases.files.find(carol, roof, { tag: 'v1' }, { name: 'big' })), 'release_file_not_found');
  t.equal((await releases.find(bob, roof, { tag: 'v1' })).files.length, 2);

  const pending = await releases.files.receive(bob, roof, { name: 'same', content: content('again') });
  t.equal(
    await reasonOf(releases.edit(bob, roof, { tag: 'v1' }, { title: 'x', files: [pending] })),
    'release_file_exists',
  );
  t.equal((await releases.find(bob, roof, { tag: 'v1' })).title, '', 'all or nothing');
  await releases.files.discard([pending]);
  t.equal(stored(modules).length, 3, 'the content of the removed file waits for the job');
  t.equal(await releases.removeOrphans(), 0);
  clock.advance(2 * dayMs + (Date.now() - clock.now()));
  t.equal(await releases.removeOrphans(), 1);
  t.equal(stored(modules).length, 2);
  await releases.delete(bob, roof, { tag: 'v1' });
  t.equal(await releases.removeOrphans(), 2);
  t.match(await releases.count(release.repositoryId), { published: 0, drafts: 0, bytes: 0 });
});

t.test('notes name the pull requests that were merged since the last release, and other commits', async (t) => {
  const modules = await openReleases(t);
  const { releases, pulls, bob, path, base } = modules;
  const first = await releases.generateNotes(bob, roof, { tag: 'v1' });
  t.match(first.body, /^## What has changed\n\n\* Begin \([0-9a-f]{10}\)\n\n\*\*All commits\*\*/);
  await releases.create(bob, roof, { tag: 'v1' });
  const topic = commit(path, { parents: [base], files: { 'c.txt': 'c\n' }, message: 'wip', author: 'bob' });
  await pushTip(modules, bob, 'alice/roof', 'topic', topic);
  await pulls.open(bob, roof, { head: 'topic', title: 'Add *c* by <b>@carol</b>' });
  await pulls.merge(bob, { ...roof, number: 1 }, { style: 'merge', round: 1 });
  await announced(modules);
  const merged = (await tipOf(modules, path, 'refs/heads/main'))!;
  const direct = commit(path, { parents: [merged], files: { 'd.txt': 'd\n' }, message: 'Fix the gutter, see #1' });
  await pushTip(modules, bob, 'alice/roof', 'main', direct);
  const notes = await releases.generateNotes(bob, roof, { tag: 'v2' });
  t.equal(notes.previous, 'v1');
  t.equal(
    notes.body,
    `## What has changed

* Add \\*c\\* by \\<b\\>@carol\\</b\\> by @bob in #1

## Other commits

* Fix the gutter, see #1 (${direct.slice(0, 10)})

**All changes**: [v1...v2](/repos/alice/roof/compare/refs/tags/v1...refs/tags/v2)`,
  );
  t.equal(await reasonOf(releases.generateNotes(bob, roof, { tag: 'v2', target: 'absent' })), 'start_not_found');
  t.equal(await reasonOf(releases.generateNotes(bob, roof, { tag: 'v2', previous: 'absent' })), 'previous_not_found');
});

t.test('the commits of a merge, of a squash and of a rebase belong to their pull requests', async (t) => {
  const history = (...lines: string[]) =>
    lines.map((line) => {
      const [oid, ...parents] = line.split(' ');
      return { oid: oid!, parents };
    });
  // m2 merges t1 and t2, which began before m1; s is a squash; r1 and r2 are a rebase; d came without any.
  const commits = history('r2 r1', 'r1 d', 'd s', 's m2', 'm2 m1 t2', 't2 t1', 't1 old', 'm1 old');
  const pulls = [
    { mergedOid: 'm2', mergedOntoOid: 'm1', commits: ['t1', 't2'] },
    { mergedOid: 's', mergedOntoOid: 'm2', commits: ['x1', 'x2'] },
    { mergedOid: 'r2', mergedOntoOid: 'd', commits: ['y1', 'y2'] },
  ];
  const known = commitsOfPulls(commits, pulls);
  t.strictSame(
    commits.map(({ oid }) => oid).filter((oid) => !known.has(oid)),
    ['d', 'm1'],
  );
  const facts = { at: roof, tag: 'v2', previous: null, pulls: [], isCut: false };
  const many = Array.from({ length: 500 }, (_, index) => ({
    oid: 'f'.repeat(40),
    subject: `${index} ${'*'.repeat(200)}`,
  }));
  const text = formatNotes({ ...facts, commits: many, maxBytes: 65_536 });
  t.ok(Buffer.byteLength(text) <= 65_536, 'a text that is too long is cut');
  t.match(text, /\n\* …\n\n\*\*All commits\*\*/);
});

t.test('files that arrive at the same time share what is left of a quota', async (t) => {
  const { over, bob, releases, ...modules } = await openReleases(t);
  for (const [tag, settings] of [
    ['v1', { filesPerRepositoryBytes: 500 }],
    ['v2', { filesPerOwnerBytes: 800 }],
  ] as const) {
    await releases.create(bob, roof, { tag });
    // Both are within the quota when they begin, and have come before either is counted.
    const together = Promise.withResolvers<void>();
    let arrived = 0;
    async function* arriving(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(300);
      if ((arrived += 1) === 2) together.resolve();
      await together.promise;
    }
    const uploads = ['one', 'two'].map((name) =>
      reasonOf(over(settings).files.upload(bob, roof, { tag }, { name, content: arriving() })),
    );
    t.strictSame((await Promise.all(uploads)).sort(), ['accepted', 'release_quota'], tag);
    t.equal((await releases.find(bob, roof, { tag })).files.length, 1);
    t.equal(stored(modules).length, Number(tag.slice(1)), 'what was refused is not stored');
  }
});
