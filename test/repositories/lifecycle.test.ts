import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { anonymous, localAdministrator } from '../../src/access/index.ts';
import type { Viewer } from '../../src/access/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { sampleImages } from '../images/sample-images.ts';
import {
  headOf,
  openModules,
  outcomes,
  push,
  reasonOf,
  sampleHistory,
  viewerOf,
  zeroId,
} from './repositories-fixture.ts';
import type { TestModules } from './repositories-fixture.ts';

const main = 'refs/heads/main';

/** alice owns `alice/work` and `example`, where bob is MEMBER; carol has no role. */
async function openWork(t: Owner): Promise<TestModules> {
  const modules = await openModules(t);
  await modules.organisations.create(modules.alice, { name: 'example' });
  await modules.organisations.addMember(modules.alice, 'example', { username: 'bob', role: 'MEMBER' });
  await modules.repositories.create(modules.alice, { name: 'work', visibility: 'PUBLIC', description: 'first' });
  return modules;
}

const whereIs = async ({ repositories }: TestModules, viewer: Viewer, at: string): Promise<string> => {
  const [owner, name] = at.split('/') as [string, string];
  const found = await repositories.find(viewer, owner, name).then(
    ({ canonical }) => canonical,
    () => null,
  );
  const moved = await repositories.findMoved(viewer, owner, name);
  return found !== null
    ? `at ${found.owner}/${found.name}`
    : moved !== null
      ? `moved to ${moved.owner}/${moved.name}`
      : 'nowhere';
};

t.test('edits: description, default branch, protection; omitted fields stay', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, clock, git } = modules;
  const history = sampleHistory(modules.folder);
  const folder = (await repositories.find(alice, 'alice', 'work')).path;
  clock.advance(1000);
  await repositories.edit(alice, 'alice', 'work', { defaultBranch: 'trunk' });
  t.equal(headOf(folder), 'ref: refs/heads/trunk', 'any name while it is empty');
  await push(
    modules,
    alice,
    'alice/work',
    [`${zeroId} ${history.commits[0]} refs/heads/trunk`, `${zeroId} ${history.commits[0]} refs/heads/next`],
    { pack: history.pack },
  );
  t.equal(await reasonOf(repositories.edit(alice, 'alice', 'work', { defaultBranch: 'missing' })), 'branch_not_found');
  t.equal(await reasonOf(repositories.edit(alice, 'alice', 'work', { defaultBranch: '../x' })), 'invalid_branch_name');
  t.equal(await reasonOf(repositories.edit(alice, 'alice', 'work', { description: 'a\0' })), 'invalid_description');
  t.equal(headOf(folder), 'ref: refs/heads/trunk');
  await repositories.edit(alice, 'alice', 'work', { defaultBranch: 'next', defaultBranchProtected: false });
  await repositories.edit(alice, 'alice', 'work', {});
  t.match((await repositories.find(alice, 'alice', 'work')).repository, {
    description: 'first',
    defaultBranch: 'next',
    updatedAt: clock.now(),
  });
  const { repository } = await repositories.find(alice, 'alice', 'work');
  t.same(await repositories.rules.protectedDefaults([repository]), new Set());
  t.equal((await git.refs.head(folder)).branch, 'next');
});

t.test('visibility and archive change at once, idempotently, with the right events', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, carol, log } = modules;
  await repositories.changeVisibility(alice, 'alice', 'work', 'PUBLIC');
  await repositories.changeVisibility(alice, 'alice', 'work', 'PRIVATE');
  t.equal(await whereIs(modules, carol, 'alice/work'), 'nowhere');
  t.equal(await whereIs(modules, anonymous, 'alice/work'), 'nowhere');
  await repositories.changeVisibility(alice, 'alice', 'work', 'PUBLIC');
  t.equal(await whereIs(modules, anonymous, 'alice/work'), 'at alice/work');
  for (const archived of [false, true, true, false]) await repositories.setArchived(alice, 'alice', 'work', archived);
  const events = log.filter(({ event }) => /visibility|archived/.test(event));
  t.match(events, [
    { event: 'repository.visibility_changed', before: 'PUBLIC', visibility: 'PRIVATE', by: alice.id },
    { event: 'repository.visibility_changed', before: 'PRIVATE', visibility: 'PUBLIC' },
    { event: 'repository.archived', by: alice.id },
    { event: 'repository.unarchived' },
  ]);
});

t.test('security J06 a rename keeps everything; the old path redirects until the name is used again', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, carol } = modules;
  const before = await repositories.find(alice, 'alice', 'work');
  t.same(await repositories.rename(alice, 'alice', 'work', 'Play'), { owner: 'alice', name: 'Play' });
  t.equal((await repositories.find(alice, 'alice', 'play')).path, before.path, 'the folder stays');
  t.equal(await whereIs(modules, anonymous, 'ALICE/WORK'), 'moved to alice/Play');
  await repositories.rename(alice, 'alice', 'play', 'PLAY');
  t.equal(await whereIs(modules, anonymous, 'alice/play'), 'at alice/PLAY', 'another case is no other path');
  await repositories.rename(alice, 'alice', 'play', 'rest');
  t.equal(await whereIs(modules, anonymous, 'alice/work'), 'moved to alice/rest', 'the first path goes all the way');
  t.equal(await whereIs(modules, anonymous, 'alice/play'), 'moved to alice/rest');

  await repositories.changeVisibility(alice, 'alice', 'rest', 'PRIVATE');
  t.equal(await whereIs(modules, carol, 'alice/work'), 'nowhere', 'only for those who may see where it went');
  t.equal(await whereIs(modules, alice, 'alice/work'), 'moved to alice/rest');

  await repositories.create(alice, { name: 'work', visibility: 'PUBLIC' });
  t.equal(await whereIs(modules, alice, 'alice/work'), 'at alice/work');
  await repositories.trash.move(alice, 'alice', 'work');
  t.equal(await whereIs(modules, alice, 'alice/work'), 'nowhere', 'the redirect ended when the name was used');
  await repositories.rename(alice, 'alice', 'rest', 'play');
  t.equal(await whereIs(modules, alice, 'alice/play'), 'at alice/play', 'and a repository may go back');
  t.equal(await whereIs(modules, alice, 'alice/rest'), 'moved to alice/play');
});

t.test('a refused rename changes nothing; of two renames to one name one succeeds', async (t) => {
  const { repositories, alice } = await openWork(t);
  await repositories.create(alice, { name: 'other', visibility: 'PUBLIC' });
  t.equal(await reasonOf(repositories.rename(alice, 'alice', 'work', 'OTHER')), 'repository_name_taken');
  t.equal(await reasonOf(repositories.rename(alice, 'alice', 'work', 'a.git')), 'invalid_repository_name');
  t.equal(await repositories.findMoved(alice, 'alice', 'other'), null);
  t.ok(await repositories.find(alice, 'alice', 'work'));
  const attempts = ['work', 'other'].map((name) => repositories.rename(alice, 'alice', name, 'one'));
  t.same(await outcomes(attempts), { accepted: 1, repository_name_taken: 1 });
});

t.test('when a person or an organisation changes the handle, their paths redirect', async (t) => {
  const modules = await openWork(t);
  const { repositories, owners, db, alice } = modules;
  await db.write((tx) => owners.rename(tx, { handle: 'alicia', kind: 'user', ownerId: alice.id }));
  t.equal(await whereIs(modules, anonymous, 'alice/work'), 'moved to alicia/work');
  await repositories.rename(alice, 'alicia', 'work', 'play');
  t.equal(await whereIs(modules, anonymous, 'alice/work'), 'moved to alicia/play', 'through both changes');
  t.equal(await whereIs(modules, anonymous, 'alice/nothing'), 'nowhere');
});

t.test('a transfer happens at once where the viewer is entitled on both sides', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, bob, clock, git } = modules;
  const history = sampleHistory(modules.folder);
  await push(modules, alice, 'alice/work', [`${zeroId} ${history.commits[0]} ${main}`], { pack: history.pack });
  await repositories.collaborators.add(alice, 'alice', 'work', { username: 'bob', role: 'read' });
  await repositories.pins.add(bob, 'alice', 'work');
  clock.advance(1000);
  t.same(await repositories.transfers.start(alice, 'alice', 'work', ' Example '), {
    kind: 'transferred',
    canonical: { owner: 'example', name: 'work' },
  });

  const found = await repositories.find(bob, 'example', 'work');
  t.match(found, {
    level: 'write',
    repository: { ownerUserId: null, updatedAt: clock.now() },
    owner: { kind: 'organisation' },
  });
  t.equal((await git.refs.list(found.path)).get(main), history.commits[0]);
  t.equal(
    found.path,
    git.storage.pathOf(found.owner.id, found.repository.id),
    'SPEC §2.2 the folder is at the new owner’s',
  );
  t.equal(await whereIs(modules, anonymous, 'alice/work'), 'moved to example/work');
  t.equal((await repositories.pins.list(bob)).length, 1);
  t.same(await modules.db.read.query('SELECT * FROM repository_moves'), []);

  t.match(await repositories.transfers.start(alice, 'example', 'work', 'alice'), { kind: 'transferred' });
  t.equal(await whereIs(modules, anonymous, 'example/work'), 'moved to alice/work');
  t.match(
    await repositories.transfers.start(localAdministrator, 'alice', 'work', 'bob'),
    { kind: 'transferred' },
    'the command line asks nobody',
  );
  t.match(await repositories.find(bob, 'bob', 'work'), { isOwner: true, level: 'admin' });
  t.same(await repositories.collaborators.list(bob, 'bob', 'work'), [], 'the new owner is no collaborator any more');
});

t.test('otherwise a transfer is an offer: the receiver accepts or declines, the owner can withdraw it', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, bob, carol, clock } = modules;
  const { id } = (await repositories.find(alice, 'alice', 'work')).repository;
  await repositories.changeVisibility(alice, 'alice', 'work', 'PRIVATE');
  const offer = () => repositories.transfers.start(alice, 'alice', 'work', 'carol');
  t.match(await offer(), { kind: 'offered', to: { handle: 'carol' } });
  t.match(await repositories.transfers.offerOf(alice, 'alice', 'work'), { handle: 'carol' });
  t.equal(await whereIs(modules, carol, 'alice/work'), 'nowhere', 'an offer gives no right to read');
  t.match(await repositories.transfers.listOffers(carol), [
    { repository: { id, name: 'work', owner: { handle: 'alice' } }, to: { handle: 'carol' }, offeredAt: clock.now() },
  ]);
  t.same(
    [
      await repositories.transfers.listOffers(bob),
      await repositories.transfers.listOffers(alice),
      await repositories.transfers.listOffers(anonymous),
    ],
    [[], [], []],
  );

  for (const viewer of [alice, bob, anonymous, { ...carol, via: 'token' as const, scope: 'write' as const }]) {
    t.equal(await reasonOf(repositories.transfers.accept(viewer, id)), 'transfer_not_found');
    t.equal(await reasonOf(repositories.transfers.decline(viewer, id)), 'transfer_not_found');
  }
  await repositories.transfers.decline(carol, id);
  t.same(await repositories.transfers.listOffers(carol), []);
  t.equal(await repositories.transfers.offerOf(alice, 'alice', 'work'), null);

  await offer();
  await repositories.transfers.withdraw(alice, 'alice', 'work');
  await repositories.transfers.withdraw(alice, 'alice', 'work');
  t.equal(await reasonOf(repositories.transfers.accept(carol, id)), 'transfer_not_found');

  await offer();
  t.same(await repositories.transfers.accept(carol, id), { owner: 'carol', name: 'work' });
  t.equal(await whereIs(modules, alice, 'carol/work'), 'nowhere', 'private, and no longer hers');
  t.equal(await whereIs(modules, carol, 'alice/work'), 'moved to carol/work');
  t.equal(await reasonOf(repositories.transfers.accept(carol, id)), 'transfer_not_found');
});

t.test('a MEMBER offers to the organisation, an OWNER accepts', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, bob } = modules;
  const { id } = await repositories.create(bob, { name: 'gift', visibility: 'PUBLIC' });
  t.match(await repositories.transfers.start(bob, 'bob', 'gift', 'example'), { kind: 'offered' });
  t.equal(await reasonOf(repositories.transfers.accept(bob, id)), 'transfer_not_found');
  t.equal((await repositories.transfers.listOffers(alice)).length, 1);
  await repositories.transfers.accept(alice, id);
  t.equal(await whereIs(modules, bob, 'bob/gift'), 'moved to example/gift');
});

t.test('an offer is checked against the rights of its maker when it is accepted', async (t) => {
  const modules = await openWork(t);
  const { repositories, organisations, alice, bob, carol } = modules;
  const { id } = await repositories.create(alice, { owner: 'example', name: 'ours', visibility: 'PUBLIC' });
  await organisations.changeMemberRole(alice, 'example', { username: 'bob', role: 'OWNER' });
  await repositories.transfers.start(bob, 'example', 'ours', 'carol');
  await organisations.changeMemberRole(alice, 'example', { username: 'bob', role: 'MEMBER' });
  t.equal(await reasonOf(repositories.transfers.accept(carol, id)), 'transfer_not_found');
  t.equal(await whereIs(modules, anonymous, 'example/ours'), 'at example/ours');
  t.same(await modules.db.read.query('SELECT * FROM repository_moves'), []);

  const { id: trashed } = await repositories.create(alice, { name: 'gone', visibility: 'PUBLIC' });
  await repositories.transfers.start(alice, 'alice', 'gone', 'carol');
  await repositories.trash.move(alice, 'alice', 'gone');
  t.equal(await reasonOf(repositories.transfers.accept(carol, trashed)), 'transfer_not_found');
  await repositories.trash.restore(alice, trashed);
  t.equal(
    await reasonOf(repositories.transfers.accept(carol, trashed)),
    'transfer_not_found',
    'deleting it took the offer back',
  );
});

t.test('security J06 a refused transfer leaves row and folder where they were', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, git, folder, db } = modules;
  await repositories.create(alice, { owner: 'example', name: 'Work', visibility: 'PRIVATE' });
  const before = await repositories.find(alice, 'alice', 'work');
  for (const [to, reason] of [
    ['nobody', 'no_such_owner'],
    ['alice', 'no_such_owner'],
    ['', 'no_such_owner'],
    ['example', 'repository_name_taken'],
  ] as const) {
    t.equal(await reasonOf(repositories.transfers.start(alice, 'alice', 'work', to)), reason, to);
  }
  t.same(await repositories.find(alice, 'alice', 'work'), before);
  t.ok(await git.storage.exists(before.path));
  t.same(await db.read.query('SELECT * FROM repository_moves'), []);
  t.same(await db.read.query('SELECT * FROM repository_redirects'), []);

  // A folder that cannot be moved is a fault, not a half-done transfer.
  const { move: moveRepository } = git.storage;
  git.storage.move = () => Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' }));
  await t.rejects(
    repositories.transfers
      .start(alice, 'alice', 'work', 'carol')
      .then(() => repositories.transfers.start(localAdministrator, 'alice', 'work', 'bob')),
    { message: 'EIO' },
  );
  git.storage.move = moveRepository;
  t.match(await repositories.find(alice, 'alice', 'work'), {
    path: before.path,
    repository: { ownerUserId: alice.id },
  });
  t.ok(existsSync(path.join(folder, 'repositories', alice.id, `${before.repository.id}.git`)));
  t.same(await db.read.query('SELECT * FROM repository_moves'), []);
});

t.test('security J06 of concurrent transfers of one repository one succeeds', async (t) => {
  const modules = await openWork(t);
  const { repositories, git, db } = modules;
  const attempts = ['bob', 'carol', 'example', 'bob'].map((to) =>
    repositories.transfers.start(localAdministrator, 'alice', 'work', to),
  );
  const seen = await outcomes(attempts);
  t.equal(seen['accepted'], 1, JSON.stringify(seen));
  const [row] = await db.read.query('SELECT * FROM repositories');
  t.ok(await git.storage.exists(git.storage.pathOf(row.owner_user_id ?? row.owner_org_id, row.id)));
  t.same(await db.read.query('SELECT * FROM repository_moves'), []);
});

t.test(
  'after a transfer that a crash interrupted, the next start moves the folder to where the row says',
  async (t) => {
    const modules = await openWork(t);
    const { repositories, alice, bob, db, git } = modules;
    const { repository, path: home } = await repositories.find(alice, 'alice', 'work');
    const newFolder = git.storage.pathOf(bob.id, repository.id);
    const intend = () =>
      db.write((tx) => tx.manager.query('INSERT INTO repository_moves VALUES (?, ?)', [repository.id, bob.id]));

    await intend();
    t.equal(
      await reasonOf(repositories.transfers.start(localAdministrator, 'alice', 'work', 'carol')),
      'move_in_progress',
    );
    await git.storage.move(home, newFolder);
    let next = await modules.restart();
    await next.repositories.recover();
    t.ok(await next.git.storage.exists(home), 'back, because the row had not changed');
    t.same(await db.read.query('SELECT * FROM repository_moves'), []);

    await intend();
    next = await modules.restart();
    await next.repositories.recover();
    t.ok(await next.git.storage.exists(home), 'still there, because nothing had moved');
    t.same(await db.read.query('SELECT * FROM repository_moves'), []);
  },
);

t.test('the trash: hidden at once, its name free, restored with everything, by the owner only', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, bob, carol, clock, settings, imageFolder, git } = modules;
  await repositories.images.replace(alice, 'alice', 'work', {
    declaredType: 'image/gif',
    bytes: sampleImages['image/gif'],
  });
  await repositories.collaborators.add(alice, 'alice', 'work', { username: 'bob', role: 'admin' });
  await repositories.pins.add(carol, 'alice', 'work');
  const { path: home } = await repositories.find(alice, 'alice', 'work');
  t.equal(
    await reasonOf(repositories.trash.move(bob, 'alice', 'work')),
    'repository_not_found',
    'an admin collaborator does not delete',
  );
  clock.advance(1000);
  const trashed = await repositories.trash.move(alice, 'ALICE', 'WORK');
  t.match(trashed, { deletedAt: clock.now(), deletedBy: alice.id });
  t.notOk(await git.storage.exists(home));
  t.same(readdirSync(imageFolder), [], 'SPEC §3 deleting the repository also removes the image file');
  t.equal(await whereIs(modules, alice, 'alice/work'), 'nowhere');
  t.same(await repositories.pins.list(carol), []);
  t.match(await repositories.trash.list(), [{ id: trashed.id, owner: { handle: 'alice' } }]);
  t.equal((await repositories.trash.list({ kind: 'user', id: bob.id })).length, 0);
  t.equal((await repositories.trash.listRestorable(alice)).length, 1);
  t.same([await repositories.trash.listRestorable(bob), await repositories.trash.listRestorable(anonymous)], [[], []]);

  await repositories.create(alice, { name: 'work', visibility: 'PUBLIC' });
  for (const viewer of [bob, carol, anonymous, { ...alice, via: 'token' as const, scope: 'write' as const }]) {
    t.equal(await reasonOf(repositories.trash.restore(viewer, trashed.id, 'mine')), 'repository_not_found');
  }
  t.equal(await reasonOf(repositories.trash.restore(alice, trashed.id)), 'repository_name_taken');
  t.equal(await reasonOf(repositories.trash.restore(alice, trashed.id, 'a b')), 'invalid_repository_name');
  t.ok(
    await git.storage.exists(`${settings.trashDirectory}/${trashed.id}.git`),
    'a refused restore leaves it in the trash',
  );
  t.match(await repositories.trash.restore(alice, trashed.id, 'Saved'), {
    name: 'Saved',
    deletedAt: null,
    deletedBy: null,
  });
  t.ok(await git.storage.exists(home));
  const image = await repositories.images.open(alice, 'alice', 'saved');
  t.equal(image.type, 'image/gif');
  await image.close();
  t.equal((await repositories.collaborators.list(alice, 'alice', 'saved')).length, 1);
  t.equal((await repositories.pins.list(carol)).length, 1, 'pins come back');
  t.equal(
    await reasonOf(repositories.trash.restore(alice, trashed.id)),
    'repository_not_found',
    'what is live is not in the trash',
  );
});

t.test('repositories whose time in the trash is over are deleted permanently, the rest stays', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, clock, settings, db, git, trashedImages } = modules;
  await repositories.images.replace(alice, 'alice', 'work', {
    declaredType: 'image/gif',
    bytes: sampleImages['image/gif'],
  });
  const old = await repositories.trash.move(alice, 'alice', 'work');
  await repositories.create(alice, { name: 'younger', visibility: 'PUBLIC' });
  clock.advance(settings.trashTtlMs);
  const young = await repositories.trash.move(alice, 'alice', 'younger');
  t.equal(await repositories.trash.empty(), 0, 'to the millisecond');
  clock.advance(1);
  t.equal(await repositories.trash.empty(), 1);
  t.same(
    (await db.read.query('SELECT id FROM repositories')).map((row: { id: string }) => row.id),
    [young.id],
  );
  t.notOk(await git.storage.exists(`${settings.trashDirectory}/${old.id}.git`));
  t.same(await trashedImages.list(), []);
  t.ok(await git.storage.exists(`${settings.trashDirectory}/${young.id}.git`));
  t.equal(await repositories.trash.empty(2), 0);
  t.equal(await repositories.trash.empty(0), 1, 'or at once, when the command line says so');
});

t.test('a folder in the trash without a row is removed after the same time', async (t) => {
  const { repositories, git, settings, clock, random } = {
    ...(await openWork(t)),
    random: '0f0e0d0c-0b0a-4908-8706-050403020100',
  };
  const orphan = path.join(settings.trashDirectory, `${random}.git`);
  await git.storage.create(orphan, { defaultBranch: 'main' });
  clock.set(Date.now());
  await repositories.trash.empty();
  t.ok(await git.storage.exists(orphan));
  clock.set(Date.now() + settings.trashTtlMs + 10_000);
  await repositories.trash.empty();
  t.notOk(await git.storage.exists(orphan));
});

t.test('a deletion and a restore that a crash interrupted are finished at the next start', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, git, db, settings, images, trashedImages } = modules;
  await repositories.images.replace(alice, 'alice', 'work', {
    declaredType: 'image/gif',
    bytes: sampleImages['image/gif'],
  });
  const { repository, path: home } = await repositories.find(alice, 'alice', 'work');
  const trash = `${settings.trashDirectory}/${repository.id}.git`;
  const where = async () => [
    await git.storage.exists(home),
    await git.storage.exists(trash),
    (await images.list()).length,
    (await trashedImages.list()).length,
  ];
  const setDeleted = (at: number | null) =>
    db.write((tx) => tx.manager.query('UPDATE repositories SET deleted_at = ?', [at]));

  await setDeleted(1);
  await (await modules.restart()).repositories.recover();
  t.same(await where(), [false, true, 0, 1], 'the row was in the trash, folder and image follow');
  await setDeleted(null);
  await (await modules.restart()).repositories.recover();
  t.same(await where(), [true, false, 1, 0], 'the row was back, folder and image follow');
});

t.test('a deletion whose folder cannot be moved takes effect, and can be undone or made permanent', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, git, clock, events } = modules;
  const { repository, path: home } = await repositories.find(alice, 'alice', 'work');
  const { move: moveRepository } = git.storage;
  const remove = async () => {
    git.storage.move = () => Promise.reject(Object.assign(new Error('EXDEV'), { code: 'EXDEV' }));
    await repositories.trash.move(alice, 'alice', 'work');
    git.storage.move = moveRepository;
    t.equal(await whereIs(modules, alice, 'alice/work'), 'nowhere');
    t.ok(await git.storage.exists(home));
  };
  await remove();
  t.ok(events().includes('repository.move_failed'));
  await repositories.trash.restore(alice, repository.id);
  t.equal(await whereIs(modules, alice, 'alice/work'), 'at alice/work');
  await remove();
  clock.advance(1);
  t.equal(await repositories.trash.empty(0), 1);
  t.notOk(await git.storage.exists(home), 'nothing of it stays');
});

t.test('an account that owns repositories cannot be deleted, and the refusal names them', async (t) => {
  const { repositories, alice, bob, db, accounts } = await openWork(t);
  const dave = viewerOf(await accounts.addPerson({ username: 'dave' }));
  const deletable = (id: string) => reasonOf(db.write((tx) => repositories.refuseOwner(tx, id)));
  t.equal(await deletable(dave.id), 'accepted');
  t.equal(await deletable(bob.id), 'accepted');
  await t.rejects(
    db.write((tx) => repositories.refuseOwner(tx, alice.id)),
    { reason: 'person_owns_repositories', message: /owns work\./ } as unknown as Error,
  );
});
