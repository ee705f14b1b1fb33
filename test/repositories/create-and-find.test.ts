import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { anonymous, localAdministrator } from '../../src/access/index.ts';
import type { Viewer } from '../../src/access/index.ts';
import { isDomainError } from '../../src/kernel/index.ts';
import { parseRepositoryName } from '../../src/repositories/index.ts';
import type { Repositories } from '../../src/repositories/index.ts';
import { headOf, openModules, outcomes, reasonOf, viewerOf } from './repositories-fixture.ts';

const isName = (text: string): boolean => {
  try {
    return parseRepositoryName(text) === text;
  } catch (error) {
    if (isDomainError(error) && error.reason === 'invalid_repository_name' && error.field === 'name') return false;
    throw error;
  }
};

t.test('security B01 which names a repository may have', async (t) => {
  const good = [
    'a',
    'A',
    '1',
    'a1',
    'hello-world',
    'a_b.c-d',
    'Caf3',
    'x'.repeat(100),
    'a--b',
    'a.b.c',
    'git',
    'lock',
    'a.gitx',
    'toStringy',
    '.github',
    '.a',
    'a.',
    '-a',
    'a-',
    '_a',
    'a_',
  ];
  const bad = [
    '',
    ' ',
    'x'.repeat(101),
    '.',
    '..',
    'a..b',
    'a b',
    'a/b',
    'a\\b',
    'a\0b',
    'a\nb',
    'é',
    'ａ',
    'a%2e',
    'a.git',
    'a.GIT',
    'a.lock',
    'a.Wiki',
    'a.atom',
    'constructor',
    'toString',
    'TOSTRING',
    '__proto__',
    'hasOwnProperty',
    'valueOf',
    '\u212a',
  ];
  for (const name of good) t.ok(isName(name), name);
  for (const name of bad) t.notOk(isName(name), JSON.stringify(name));
});

t.test('security B01 creating makes a row and a bare repository whose path contains only UUIDs', async (t) => {
  const { repositories, alice, clock, folder } = await openModules(t);
  const made = await repositories.create(alice, {
    name: 'Work',
    visibility: 'PRIVATE',
    description: ' What I do\u0301 ',
    defaultBranch: 'trunk',
  });
  t.match(made, {
    name: 'Work',
    nameFolded: 'work',
    visibility: 'PRIVATE',
    description: 'What I d\u00f3',
    defaultBranch: 'trunk',
    ownerUserId: alice.id,
    ownerOrganisationId: null,
    createdAt: clock.now(),
    updatedAt: clock.now(),
    pushedAt: null,
    imageContentType: null,
    archivedAt: null,
    deletedAt: null,
  });
  const found = await repositories.find(alice, 'ALICE', 'wORK');
  t.same(found.repository, made);
  t.match(found, {
    level: 'admin',
    isOwner: true,
    canonical: { owner: 'alice', name: 'Work' },
    owner: { kind: 'user', id: alice.id },
  });
  t.match(await repositories.rules.list(alice, 'alice', 'work'), [
    { pattern: '~DEFAULT_BRANCH', target: 'BRANCH', grants: { push: { level: 'write' }, force: { level: 'nobody' } } },
  ]);
  t.equal(found.path, path.join(folder, 'repositories', alice.id, `${made.id}.git`));
  t.equal(headOf(found.path), 'ref: refs/heads/trunk');
});

t.test('a refused creation leaves neither row nor folder', async (t) => {
  const { repositories, organisations, accounts, alice, bob, carol, db, folder } = await openModules(t);
  await organisations.create(alice, { name: 'example' });
  await organisations.addMember(alice, 'example', { username: 'bob', role: 'MEMBER' });
  await organisations.addMember(alice, 'example', { username: 'carol', role: 'GUEST' });
  const unnamed = viewerOf(await accounts.addPerson({}));
  type Input = Partial<Parameters<Repositories['create']>[1]>;
  const create = (viewer: Parameters<Repositories['create']>[0], input: Input = {}) =>
    reasonOf(repositories.create(viewer, { name: 'work', visibility: 'PUBLIC', ...input }));
  const refusals: [string, Promise<string>][] = [
    ['sign_in_required', create(anonymous)],
    ['insufficient_scope', create({ ...alice, via: 'token', scope: 'read' })],
    ['insufficient_scope', create({ ...alice, via: 'token', repositoryIds: [] })],
    ['no_such_owner', create(unnamed)],
    ['no_such_owner', create(alice, { owner: 'bob' })],
    ['no_such_owner', create({ ...alice, isAdministrator: true }, { owner: 'bob' })],
    ['no_such_owner', create(alice, { owner: 'dave' })],
    ['no_such_owner', create(carol, { owner: 'example' })],
    ['no_such_owner', create(localAdministrator)],
    ['invalid_repository_name', create(alice, { name: '../work' })],
    ['invalid_description', create(alice, { description: 'x'.repeat(501) })],
    ['invalid_description', create(alice, { description: 'a\nb' })],
    ['invalid_description', create(alice, { description: '\ud800' })],
    ['invalid_branch_name', create(alice, { defaultBranch: '-x' })],
    ['invalid_branch_name', create(alice, { defaultBranch: 'a..b' })],
    ['invalid_branch_name', create(alice, { defaultBranch: 'a.lock' })],
    ['invalid_branch_name', create(alice, { defaultBranch: 'a b' })],
  ];
  for (const [expected, actual] of refusals) t.equal(await actual, expected);
  t.same(await db.read.query('SELECT * FROM repositories'), []);
  const left = existsSync(path.join(folder, 'repositories'))
    ? readdirSync(path.join(folder, 'repositories'), { recursive: true })
    : [];
  t.same(
    left.filter((name) => String(name).endsWith('.git')),
    [],
  );

  t.equal(await create(bob, { owner: 'example' }), 'accepted', 'a MEMBER creates for the organisation');
  t.equal(await create(localAdministrator, { owner: 'bob' }), 'accepted', 'the command line for everyone');
});

t.test(
  'SPEC §2.2 a name is unique per owner without regard to case; of concurrent creations one succeeds',
  async (t) => {
    const { repositories, alice, bob, db, folder } = await openModules(t);
    const attempts = Array.from({ length: 12 }, (_, at) =>
      repositories.create(alice, { name: at % 2 ? 'work' : 'Work', visibility: 'PUBLIC' }),
    );
    t.same(await outcomes(attempts), { accepted: 1, repository_name_taken: 11 });
    t.equal((await db.read.query('SELECT * FROM repositories')).length, 1);
    t.equal(readdirSync(path.join(folder, 'repositories', alice.id)).length, 1, 'the folders of the others are gone');
    t.equal(
      await reasonOf(repositories.create(bob, { name: 'WORK', visibility: 'PUBLIC' })),
      'accepted',
      'another owner may use it',
    );
  },
);

t.test('SPEC §5 hidden, absent, trashed and invalid are refused with the same message', async (t) => {
  const { repositories, alice, bob } = await openModules(t);
  for (const name of ['secret', 'gone']) await repositories.create(alice, { name, visibility: 'PRIVATE' });
  await repositories.trash.move(alice, 'alice', 'gone');
  const lookups: [typeof bob | typeof anonymous | typeof localAdministrator, string, string][] = [
    [bob, 'alice', 'secret'],
    [anonymous, 'alice', 'secret'],
    [{ ...bob, isAdministrator: true }, 'alice', 'secret'],
    [{ ...alice, via: 'token', repositoryIds: [] }, 'alice', 'secret'],
    [alice, 'alice', 'gone'],
    [localAdministrator, 'alice', 'gone'],
    [bob, 'alice', 'nothing'],
    [bob, 'nobody', 'secret'],
    [bob, 'alice', '../secret'],
    [bob, 'alice', 'secret\0'],
    [bob, '', ''],
    [bob, 'x'.repeat(5000), 'y'.repeat(5000)],
  ];
  const words = new Set<string>();
  for (const [viewer, owner, name] of lookups) {
    const error = await repositories.find(viewer, owner, name).then(
      () => null,
      (thrown: Error & { code: string; reason: string }) => thrown,
    );
    words.add(JSON.stringify([error?.code, error?.reason, error?.message]));
  }
  t.same([...words], ['["not_found","repository_not_found","Repository not found"]']);
});

t.test('insufficient access is refused as if the repository were absent', async (t) => {
  const { repositories, alice, bob } = await openModules(t);
  await repositories.create(alice, { name: 'work', visibility: 'PUBLIC' });
  await repositories.collaborators.add(alice, 'alice', 'work', { username: 'bob', role: 'admin' });
  t.match(await repositories.find(bob, 'alice', 'work', 'admin'), { level: 'admin', isOwner: false });
  t.equal(await reasonOf(repositories.find(bob, 'alice', 'work', 'owner')), 'repository_not_found');
  t.equal(await reasonOf(repositories.find(anonymous, 'alice', 'work', 'write')), 'repository_not_found');
  t.match(await repositories.find(anonymous, 'alice', 'work'), { level: 'read', isOwner: false });
});

t.test('lists have only visible repositories, last changed first, in pages that never overlap', async (t) => {
  const { repositories, organisations, alice, bob, carol, clock } = await openModules(t);
  await organisations.create(alice, { name: 'example' });
  await organisations.addMember(alice, 'example', { username: 'bob', role: 'GUEST' });
  for (let n = 0; n < 7; n++) {
    await repositories.create(alice, { name: `open-${n}`, visibility: 'PUBLIC' });
    if (n % 2) clock.advance(1000);
  }
  await repositories.create(alice, { name: 'private', visibility: 'PRIVATE' });
  const { ownerOrganisationId } = await repositories.create(alice, {
    owner: 'example',
    name: 'inside',
    visibility: 'PRIVATE',
  });
  await repositories.create(bob, { name: 'trashed', visibility: 'PUBLIC' });
  await repositories.trash.move(bob, 'bob', 'trashed');
  const names = async (
    viewer: typeof bob | typeof anonymous,
    options: Partial<Parameters<typeof repositories.list>[1]> = {},
  ) =>
    (await repositories.list(viewer, { limit: 100, ...options })).repositories
      .map(({ owner, name }) => `${owner.handle}/${name}`)
      .sort();
  const open = [0, 1, 2, 3, 4, 5, 6].map((n) => `alice/open-${n}`);
  t.same(await names(anonymous), open);
  t.same(await names(carol), open);
  t.same(await names(bob), [...open, 'example/inside']);
  t.same(await names(alice), [...open, 'alice/private', 'example/inside'].sort());
  t.same(await names({ ...alice, via: 'token', repositoryIds: [] }), open);
  t.same(await names(bob, { owner: { kind: 'organisation', id: ownerOrganisationId! } }), ['example/inside']);
  t.same(await names(bob, { owner: { kind: 'user', id: bob.id } }), []);
  t.same(await names(anonymous, { filter: 'OPEN-3' }), ['alice/open-3']);
  t.same(await names(anonymous, { filter: '%' }), [], 'nothing is a wildcard');

  const pages: string[] = [];
  let after: string | null = null;
  for (let page = 0; page === 0 || after !== null; page++) {
    const { repositories: rows, next }: Awaited<ReturnType<typeof repositories.list>> = await repositories.list(
      anonymous,
      { limit: 2, after },
    );
    // What changes between two pages jumps to the front and is not seen twice.
    if (page === 1) await repositories.edit(alice, 'alice', 'open-0', { description: 'changed' });
    pages.push(...rows.map(({ name }) => name));
    after = next;
  }
  t.equal(new Set(pages).size, pages.length);
  t.equal(pages[0], 'open-6');
  t.same(pages.slice(1, 3).sort(), ['open-4', 'open-5'], 'which changed at the same time, across the edge of a page');
  t.equal(pages.length, 6, 'all but the one that moved to the front');
  for (const bad of ['x', '1.2', "1.' OR 1=1 --", '']) {
    t.equal(await reasonOf(repositories.list(anonymous, { limit: 2, after: bad })), 'invalid_page', bad);
  }
  t.equal((await repositories.list(anonymous, { limit: -3 })).repositories.length, 1);
  t.same(
    (await repositories.listAll()).map(({ owner, name }) => `${owner.handle}/${name}`),
    [...open.slice(0, 7), 'alice/private', 'example/inside'],
    'the command line sees all, by owner and name',
  );
});

t.test('a push to nothing says how to make it, to those alone who may', async (t) => {
  const { repositories, organisations, alice, bob, carol } = await openModules(t);
  await repositories.create(alice, { name: 'secret', visibility: 'PRIVATE' });
  await organisations.create(alice, { name: 'guild' });
  await organisations.addMember(alice, 'guild', { username: 'bob', role: 'MEMBER' });
  await organisations.addMember(alice, 'guild', { username: 'carol', role: 'GUEST' });
  const token = { ...bob, via: 'token' } as const;
  const cases: [viewer: Viewer, owner: string, name: string, isTold: boolean][] = [
    [bob, 'bob', 'fresh', true],
    [bob, 'guild', 'fresh', true],
    [alice, 'guild', 'fresh', true],
    [{ ...token, scope: 'write' } as Viewer, 'bob', 'fresh', true],
    [{ ...token, scope: 'read' } as Viewer, 'bob', 'fresh', false],
    [{ ...token, scope: 'write', repositoryIds: ['r'] } as Viewer, 'bob', 'fresh', false],
    [bob, 'alice', 'fresh', false],
    [bob, 'alice', 'secret', false],
    [bob, 'nobody', 'fresh', false],
    [bob, 'bob', 'bad..name', false],
    [bob, 'bob', 'wrong\nname', false],
    [carol, 'guild', 'fresh', false],
    [anonymous, 'bob', 'fresh', false],
  ];
  for (const [viewer, owner, name, isTold] of cases) {
    const error = await repositories.openForPush(viewer, owner, name).catch((thrown: Error) => thrown);
    t.match(
      error,
      {
        code: 'not_found',
        reason: 'repository_not_found',
        message: isTold
          ? new RegExp(`no repository ${owner}/${name} yet. .*repo create ${owner}/${name}`)
          : 'Repository not found',
      },
      `${owner}/${name}`,
    );
    if (!isTold) t.equal((error as Error).message, 'Repository not found', 'hidden and absent alike');
  }
  await repositories.create(bob, { name: 'old', visibility: 'PRIVATE' });
  await repositories.rename(bob, 'bob', 'old', 'new');
  await t.rejects(repositories.openForPush(bob, 'bob', 'old'), { message: 'Repository not found' }, 'a renamed one');
});

t.test('push to create makes a private repository of the viewer, when it is switched on', async (t) => {
  const { repositories, alice, bob } = await openModules(t, { settings: { pushToCreate: true } });
  await repositories.create(alice, { name: 'secret', visibility: 'PRIVATE' });
  t.match((await repositories.openForPush(bob, 'bob', 'fresh')).repository, { name: 'fresh', visibility: 'PRIVATE' });
  for (const [owner, name] of [
    ['alice', 'secret'],
    ['alice', 'other'],
    ['nobody', 'x'],
    ['bob', 'bad..name'],
  ] as const) {
    t.equal(await reasonOf(repositories.openForPush(bob, owner, name)), 'repository_not_found', `${owner}/${name}`);
  }
  t.equal(await reasonOf(repositories.openForPush(anonymous, 'bob', 'new')), 'repository_not_found');
  await repositories.rename(bob, 'bob', 'fresh', 'renamed');
  t.equal(
    await reasonOf(repositories.openForPush(bob, 'bob', 'fresh')),
    'repository_not_found',
    'an old path means what was there',
  );

  const off = await openModules(t);
  t.equal(await reasonOf(off.repositories.openForPush(off.bob, 'bob', 'fresh')), 'repository_not_found');
});
