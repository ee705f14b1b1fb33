import t from 'tap';
import { anonymous, localAdministrator } from '../../src/access/index.ts';
import type { Viewer } from '../../src/access/index.ts';
import { openModules, outcomes, reasonOf, viewerOf } from './repositories-fixture.ts';

t.test('collaborators are added by handle, changed, removed, and leave', async (t) => {
  const { repositories, accounts, alice, bob, carol, clock, log } = await openModules(t);
  await repositories.create(alice, { name: 'work', visibility: 'PRIVATE' });
  await accounts.addPerson({ displayName: 'No Handle' });
  const dave = await accounts.addPerson({ username: 'dave' });
  await accounts.setDisabled(dave.id, true);
  const add = (username: string, role: string, viewer: Viewer = alice) =>
    reasonOf(repositories.collaborators.add(viewer, 'alice', 'work', { username, role }));
  t.equal(await add('nobody', 'read'), 'no_such_person');
  t.equal(await add('', 'read'), 'no_such_person');
  t.equal(await add('dave', 'read'), 'person_disabled');
  t.equal(await add('Alice', 'read'), 'person_is_owner');
  t.equal(await add('bob', 'owner'), 'invalid_role');
  t.equal(await add('bob', 'read', bob), 'repository_not_found');
  t.equal(await add(' BOB ', ' Admin '), 'accepted');
  t.equal(await add('bob', 'read'), 'already_collaborator');
  t.equal(await add('carol', 'read', bob), 'accepted', 'an admin collaborator invites others');

  const change = (username: string, role: string, viewer: Viewer = alice) =>
    reasonOf(repositories.collaborators.changeRole(viewer, 'alice', 'work', { username, role }));
  t.equal(await change('carol', 'WRITE'), 'accepted');
  t.equal(await change('carol', 'admin', carol), 'repository_not_found', 'nobody promotes themselves');
  t.equal(await change('dave', 'read'), 'collaborator_not_found');
  t.equal(await change('nobody', 'read'), 'collaborator_not_found');
  t.match(await repositories.collaborators.list(alice, 'alice', 'work'), [
    {
      person: { username: 'bob' },
      role: 'admin',
      since: clock.now(),
      access: { level: 'admin', reason: 'collaborator admin' },
    },
    { person: { username: 'carol' }, role: 'write', access: { level: 'write', reason: 'collaborator write' } },
  ]);
  t.equal(await reasonOf(repositories.collaborators.list(carol, 'alice', 'work')), 'repository_not_found');

  t.equal(await reasonOf(repositories.collaborators.remove(alice, 'alice', 'work', 'Bob')), 'accepted');
  t.equal(await reasonOf(repositories.collaborators.remove(alice, 'alice', 'work', 'bob')), 'collaborator_not_found');
  t.equal(await reasonOf(repositories.find(bob, 'alice', 'work')), 'repository_not_found', 'the right ends at once');
  t.equal(
    await reasonOf(repositories.collaborators.leave({ ...carol, via: 'token', scope: 'read' }, 'alice', 'work')),
    'insufficient_scope',
  );
  t.equal(await reasonOf(repositories.collaborators.leave(carol, 'alice', 'work')), 'accepted');
  for (const viewer of [carol, anonymous, bob])
    t.equal(await reasonOf(repositories.collaborators.leave(viewer, 'alice', 'work')), 'repository_not_found');
  t.equal(
    await reasonOf(repositories.collaborators.leave(alice, 'alice', 'work')),
    'repository_not_found',
    'the owner is no collaborator',
  );

  const events = log.filter(({ event }) => event.startsWith('repository.collaborator'));
  t.match(events, [
    { event: 'repository.collaborator_added', userId: bob.id, role: 'admin', by: alice.id },
    { event: 'repository.collaborator_added', userId: carol.id, by: bob.id },
    { event: 'repository.collaborator_changed', role: 'write' },
    { event: 'repository.collaborator_removed' },
    { event: 'repository.collaborator_left', userId: carol.id },
  ]);
});

t.test('of concurrent additions of one person one succeeds', async (t) => {
  const { repositories, alice } = await openModules(t);
  await repositories.create(alice, { name: 'work', visibility: 'PRIVATE' });
  const attempts = Array.from({ length: 10 }, () =>
    repositories.collaborators.add(alice, 'alice', 'work', { username: 'bob', role: 'read' }),
  );
  t.same(await outcomes(attempts), { accepted: 1, already_collaborator: 9 });
});

t.test('the effective access is the higher of both, shown with its reason', async (t) => {
  const { repositories, organisations, alice, bob, carol } = await openModules(t);
  await organisations.create(alice, { name: 'example' });
  await organisations.addMember(alice, 'example', { username: 'bob', role: 'GUEST' });
  await repositories.create(alice, { owner: 'example', name: 'work', visibility: 'PRIVATE' });
  const access = async (viewer: Viewer) => {
    const { level, reason, grants } = await repositories.collaborators.explainAccess(viewer, 'example', 'work');
    return { level, reason, grantCount: grants.length };
  };
  const memberAs = (role: string) => organisations.changeMemberRole(alice, 'example', { username: 'bob', role });
  t.same(await access(alice), { level: 'admin', reason: 'organisation OWNER', grantCount: 1 });
  t.same(await access(bob), { level: 'read', reason: 'organisation GUEST', grantCount: 1 });
  await repositories.collaborators.add(alice, 'example', 'work', { username: 'bob', role: 'write' });
  t.same(await access(bob), { level: 'write', reason: 'collaborator write', grantCount: 2 });
  await memberAs('MEMBER');
  t.same((await access(bob)).level, 'write');
  await memberAs('OWNER');
  t.same(await access(bob), { level: 'admin', reason: 'organisation OWNER', grantCount: 2 });
  t.match(await repositories.collaborators.list(alice, 'example', 'work'), [
    { role: 'write', access: { reason: 'organisation OWNER', level: 'admin' } },
  ]);
  t.same(
    await access({ ...bob, via: 'token', scope: 'read' }),
    { level: 'admin', reason: 'organisation OWNER', grantCount: 2 },
    'of the person, not of the token',
  );

  t.equal(await reasonOf(access(carol)), 'repository_not_found');
  await repositories.changeVisibility(alice, 'example', 'work', 'PUBLIC');
  t.same(await access(carol), { level: 'read', reason: 'anyone', grantCount: 0 });
  t.same(await access(anonymous), { level: 'read', reason: 'anyone', grantCount: 0 });
  await repositories.create(alice, { name: 'own', visibility: 'PRIVATE' });
  t.match(await repositories.collaborators.explainAccess(alice, 'alice', 'own'), { level: 'admin', reason: 'owner' });
});

t.test('pins keep their order, per person; a pin without read access is hidden until the access returns', async (t) => {
  const { repositories, alice, bob, carol } = await openModules(t);
  for (const name of ['a', 'b', 'c', 'd']) await repositories.create(alice, { name, visibility: 'PUBLIC' });
  const pins = async (viewer: Viewer) => (await repositories.pins.list(viewer)).map(({ name }) => name).join('');
  const move = (name: string, direction: 'up' | 'down', viewer = bob) =>
    repositories.pins.move(viewer, 'alice', name, direction);
  for (const name of ['c', 'a', 'b', 'a', 'd']) await repositories.pins.add(bob, 'alice', name);
  await repositories.pins.add(carol, 'alice', 'd');
  t.same([await pins(bob), await pins(carol), await pins(alice), await pins(anonymous)], ['cabd', 'd', '', '']);
  await move('b', 'up');
  t.equal(await pins(bob), 'cbad');
  await move('c', 'up');
  await move('d', 'down');
  t.equal(await pins(bob), 'cbad', 'at the ends nothing changes');
  await move('c', 'down');
  t.equal(await pins(bob), 'bcad');

  await repositories.changeVisibility(alice, 'alice', 'c', 'PRIVATE');
  t.equal(await pins(bob), 'bad');
  t.equal(await reasonOf(move('c', 'up')), 'repository_not_found');
  await move('a', 'up');
  t.equal(await pins(bob), 'abd', 'over the hidden one');
  await repositories.changeVisibility(alice, 'alice', 'c', 'PUBLIC');
  t.equal((await pins(bob)).length, 4);
  await repositories.pins.remove(bob, 'alice', 'a');
  await repositories.pins.remove(bob, 'alice', 'a');
  await move('a', 'up');
  t.notMatch(await pins(bob), /a/);
  t.equal(await pins(carol), 'd');
});

t.test('pinning is for people who may read, with a credential that may write', async (t) => {
  const { repositories, alice, bob } = await openModules(t);
  await repositories.create(alice, { name: 'private', visibility: 'PRIVATE' });
  await repositories.create(alice, { name: 'open', visibility: 'PUBLIC' });
  const acts = ['add', 'remove', 'move'] as const;
  for (const act of acts) {
    const run = (viewer: Viewer, name: string) => reasonOf(repositories.pins[act](viewer, 'alice', name, 'up'));
    t.equal(await run(anonymous, 'open'), 'sign_in_required', act);
    t.equal(await run(localAdministrator, 'open'), 'sign_in_required', act);
    t.equal(await run({ ...bob, via: 'token', scope: 'read' }, 'open'), 'insufficient_scope', act);
    t.equal(await run(bob, 'private'), 'repository_not_found', act);
    t.equal(await run(bob, 'nothing'), 'repository_not_found', act);
    t.equal(await run(bob, 'open'), 'accepted', act);
  }
});

t.test('concurrent pins are each stored once, at distinct positions', async (t) => {
  const { repositories, accounts, alice, db } = await openModules(t);
  const names = Array.from({ length: 8 }, (_, at) => `r${at}`);
  for (const name of names) await repositories.create(alice, { name, visibility: 'PUBLIC' });
  const dave = viewerOf(await accounts.addPerson({ username: 'dave' }));
  await Promise.all([...names, ...names].map((name) => repositories.pins.add(dave, 'alice', name)));
  const rows: { position: number }[] = await db.read.query('SELECT position FROM pins');
  t.equal(new Set(rows.map(({ position }) => position)).size, 8);
  await Promise.all(names.map((name, at) => repositories.pins.move(dave, 'alice', name, at % 2 ? 'up' : 'down')));
  const after: { position: number }[] = await db.read.query('SELECT position FROM pins');
  t.same(
    after.map(({ position }) => position).sort(),
    rows.map(({ position }) => position).sort(),
    'moving swaps, nothing is lost',
  );
});
