import t from 'tap';
import { anonymous, localAdministrator } from '../../src/access/index.ts';
import { sampleImages } from '../images/sample-images.ts';
import { openModules, outcomes, reasonOf, viewerOf } from '../repositories/repositories-fixture.ts';
import type { TestModules } from '../repositories/repositories-fixture.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

const upload = { declaredType: 'image/png', bytes: sampleImages['image/png'] };

/** The modules with the organisation `example`: alice OWNER, bob MEMBER, carol GUEST. */
async function openExample(t: Owner): Promise<TestModules> {
  const modules = await openModules(t);
  const { organisations, alice } = modules;
  await organisations.create(alice, { name: 'example', displayName: 'Example' });
  await organisations.addMember(alice, 'example', { username: 'bob', role: 'MEMBER' });
  await organisations.addMember(alice, 'example', { username: 'carol', role: 'guest' });
  return modules;
}

t.test('SPEC §4.4 any person creates an organisation and is its OWNER; every viewer can find it', async (t) => {
  const { organisations, alice, bob, clock } = await openModules(t);
  const made = await organisations.create(alice, {
    name: 'Example.Org',
    displayName: ' Example ',
    description: 'A place',
  });
  t.match(made, { name: 'Example.Org', displayName: 'Example', description: 'A place', createdAt: clock.now() });
  t.same(await organisations.find('EXAMPLE.org'), made);
  t.equal(await organisations.roleOf(alice.id, made.id), 'OWNER');
  t.equal(await organisations.roleOf(bob.id, made.id), null);
  t.equal(await organisations.memberCount(made.id), 1);
  t.same(await organisations.organisationsOf(alice.id), [{ organisation: made, role: 'OWNER' }]);
  t.same(await organisations.organisationsOf(bob.id), []);
  t.equal((await organisations.create(alice, { name: 'plain' })).displayName, '', 'a display name is optional');
});

t.test('a refused creation has a reason and leaves nothing behind', async (t) => {
  const { organisations, accounts, alice, db } = await openModules(t);
  const found = (
    name: string,
    more: { displayName?: string; description?: string } = {},
    viewer: Parameters<typeof organisations.create>[0] = alice,
  ) => reasonOf(organisations.create(viewer, { name, ...more }));
  const outsider = await accounts.addPerson({});
  t.equal(await found('example', {}, anonymous), 'sign_in_required');
  t.equal(await found('example', {}, viewerOf(outsider)), 'onboarding_required');
  t.equal(await found('example', {}, { ...alice, via: 'token', scope: 'read' }), 'insufficient_scope');
  t.equal(await found('example', {}, { ...alice, via: 'token', repositoryIds: [] }), 'insufficient_scope');
  t.equal(await found('Alice'), 'handle_taken');
  t.equal(await found('settings'), 'reserved_handle');
  t.equal(await found('a..b'), 'invalid_handle');
  t.equal(await found('example', { displayName: 'x'.repeat(101) }), 'text_too_long');
  t.equal(await found('example', { displayName: 'a\u202eb' }), 'invalid_text');
  t.equal(await found('example', { description: 'two\nlines' }), 'invalid_text');
  t.same(await db.read.query('SELECT * FROM organisations'), []);
  t.same(await db.read.query("SELECT * FROM handles WHERE kind = 'organisation'"), []);
  t.equal(await found('example'), 'accepted');
  t.equal(
    await reasonOf(accounts.addPerson({ username: 'EXAMPLE' })),
    'handle_taken',
    'SPEC §4.4 in the other direction',
  );
});

t.test('the command line creates an organisation for a person', async (t) => {
  const { organisations, bob } = await openModules(t);
  t.equal(
    await reasonOf(organisations.create(localAdministrator, { name: 'example', owner: 'dave' })),
    'no_such_person',
  );
  const { id } = await organisations.create(localAdministrator, { name: 'example', owner: 'BOB' });
  t.equal(await organisations.roleOf(bob.id, id), 'OWNER');
  await organisations.addMember(localAdministrator, 'example', { username: 'alice', role: 'MEMBER' });
  t.equal((await organisations.listMembers(localAdministrator, 'example')).length, 2);
});

t.test('SPEC §4.4 of fifty concurrent claims on one handle in both namespaces exactly one succeeds', async (t) => {
  const { organisations, accounts, owners, db, alice } = await openModules(t);
  const attempts = Array.from({ length: 50 }, (_, at) =>
    at % 2 === 0
      ? accounts.addPerson({ username: at % 4 === 0 ? 'prize' : 'Prize' })
      : organisations.create(alice, { name: at % 3 === 0 ? 'PRIZE' : 'prize' }),
  );
  t.same(await outcomes(attempts), { accepted: 1, handle_taken: 49 });
  const owner = (await owners.resolve('prize'))!;
  const rows = await db.read.query(
    "SELECT id FROM users WHERE lower(username) = 'prize' UNION ALL SELECT id FROM organisations WHERE lower(name) = 'prize'",
  );
  t.same(
    rows.map((row: { id: string }) => row.id),
    [owner.id],
  );
  t.equal(
    (await db.read.query('SELECT count(*) AS n FROM organisation_members'))[0].n,
    owner.kind === 'organisation' ? 1 : 0,
  );
});

t.test('SPEC §4.4 management is for OWNERs: others get the response for a missing organisation', async (t) => {
  const { organisations, alice, bob, carol, accounts } = await openExample(t);
  const dave = viewerOf(await accounts.addPerson({ username: 'dave' }));
  const acts: Record<string, (viewer: typeof alice, name: string) => Promise<unknown>> = {
    findManaged: (viewer, name) => organisations.findManaged(viewer, name),
    listMembers: (viewer, name) => organisations.listMembers(viewer, name),
    addMember: (viewer, name) => organisations.addMember(viewer, name, { username: 'dave', role: 'GUEST' }),
    changeMemberRole: (viewer, name) =>
      organisations.changeMemberRole(viewer, name, { username: 'carol', role: 'MEMBER' }),
    removeMember: (viewer, name) => organisations.removeMember(viewer, name, 'carol'),
    edit: (viewer, name) => organisations.edit(viewer, name, { displayName: 'x' }),
    rename: (viewer, name) => organisations.rename(viewer, name, 'other'),
    replaceAvatar: (viewer, name) => organisations.replaceAvatar(viewer, name, upload),
    removeAvatar: (viewer, name) => organisations.removeAvatar(viewer, name),
    delete: (viewer, name) => organisations.delete(viewer, name),
  };
  const refusal = async (work: Promise<unknown>) => {
    const { code, reason, message } = (await work.catch((error: unknown) => error)) as {
      code: string;
      reason: string;
      message: string;
    };
    return { code, reason, message };
  };
  const missing = { code: 'not_found', reason: 'organisation_not_found', message: 'Organisation not found' };
  const others = {
    anonymous,
    outsider: dave,
    MEMBER: bob,
    GUEST: carol,
    'administrator of the instance': { ...dave, isAdministrator: true },
  };
  for (const [act, run] of Object.entries(acts)) {
    for (const [who, viewer] of Object.entries(others)) {
      t.same(await refusal(run(viewer as typeof alice, 'example')), missing, `${act} by ${who}`);
    }
    t.same(await refusal(run(alice, 'nowhere')), missing, `${act} on nothing`);
    t.same(await refusal(run(alice, 'bob')), missing, `${act} on a person`);
    for (const token of [{ scope: 'write' as const }, { repositoryIds: [] }]) {
      t.equal(
        await reasonOf(run({ ...alice, via: 'token', ...token }, 'example')),
        'insufficient_scope',
        `${act} by a small token`,
      );
    }
  }
  t.same(
    (await organisations.listMembers(alice, 'example')).map(({ role }) => role),
    ['OWNER', 'MEMBER', 'GUEST'],
    'nothing changed',
  );
});

t.test('members: roles in any case, one membership each, only visible people', async (t) => {
  const { organisations, accounts, alice, carol, clock } = await openExample(t);
  const add = (username: string, role = 'MEMBER') =>
    reasonOf(organisations.addMember(alice, 'example', { username, role }));
  await accounts.addPerson({ displayName: 'No Handle' });
  const dave = await accounts.addPerson({ username: 'dave' });
  await accounts.setDisabled(dave.id, true);
  t.equal(await add('nobody'), 'no_such_person');
  t.equal(await add('example'), 'no_such_person', 'an organisation is no person');
  t.equal(await add(''), 'no_such_person');
  t.equal(await add('dave'), 'person_disabled');
  t.equal(await add('bob'), 'already_member');
  t.equal(await add('carol', 'KING'), 'invalid_role');
  await accounts.setDisabled(dave.id, false);
  t.equal(await add(' Dave ', ' owner '), 'accepted');

  t.match(await organisations.listMembers(alice, 'example'), [
    { person: { username: 'alice' }, role: 'OWNER', since: clock.now() },
    { person: { username: 'bob' }, role: 'MEMBER' },
    { person: { username: 'carol' }, role: 'GUEST' },
    { person: { username: 'dave' }, role: 'OWNER' },
  ]);
  const change = (username: string, role: string) =>
    reasonOf(organisations.changeMemberRole(alice, 'example', { username, role }));
  t.equal(await change('CAROL', 'member'), 'accepted');
  t.equal(await organisations.roleOf(carol.id, (await organisations.find('example')).id), 'MEMBER');
  t.equal(await change('carol', 'nothing'), 'invalid_role');
  t.equal(await change('nobody', 'GUEST'), 'member_not_found');
  t.equal(await change('example', 'GUEST'), 'member_not_found');
  t.equal(await reasonOf(organisations.removeMember(alice, 'example', 'dave')), 'accepted');
  t.equal(await reasonOf(organisations.removeMember(alice, 'example', 'dave')), 'member_not_found');
});

t.test('security J05, SPEC §3 the last OWNER cannot be removed, downgraded, leave, or be deleted', async (t) => {
  const { organisations, alice, bob, carol, db } = await openExample(t);
  const demote = (username: string, role = 'MEMBER') =>
    organisations.changeMemberRole(alice, 'example', { username, role });
  t.equal(await reasonOf(demote('alice')), 'last_owner');
  t.equal(await reasonOf(demote('alice', 'OWNER')), 'accepted', 'the role they have changes nothing');
  t.equal(await reasonOf(organisations.removeMember(alice, 'example', 'alice')), 'last_owner');
  t.equal(await reasonOf(organisations.leave(alice, 'example')), 'last_owner');
  t.equal(
    await reasonOf(organisations.removeMember(localAdministrator, 'example', 'alice')),
    'last_owner',
    'nor by the command line',
  );
  const deletable = (id: string) => reasonOf(db.write((tx) => organisations.refuseOnlyOwner(tx, id)));
  t.equal(await deletable(alice.id), 'last_owner');
  t.equal(await deletable(bob.id), 'accepted');
  await t.rejects(
    db.write((tx) => organisations.refuseOnlyOwner(tx, alice.id)),
    { message: /\bexample\b/ },
    'it names the organisation',
  );

  for (const narrow of [{ scope: 'write' as const }, { scope: 'read' as const }])
    t.equal(
      await reasonOf(organisations.leave({ ...bob, via: 'token', ...narrow }, 'example')),
      'insufficient_scope',
      `a token with ${narrow.scope} ends no membership`,
    );

  await demote('bob', 'OWNER');
  t.equal(await deletable(alice.id), 'accepted');
  t.equal(await reasonOf(organisations.leave(alice, 'example')), 'accepted');
  t.equal(
    await reasonOf(organisations.leave(alice, 'example')),
    'organisation_not_found',
    'who is no member has nothing to leave',
  );
  t.equal(await reasonOf(organisations.leave(carol, 'example')), 'accepted');
  t.equal(await reasonOf(organisations.leave(bob, 'example')), 'last_owner');
});

t.test('security J05, SPEC §3 concurrent OWNERs who demote, remove and leave always leave one', async (t) => {
  const { organisations, accounts, alice, db } = await openModules(t);
  for (let round = 0; round < 12; round++) {
    const name = `team-${round}`;
    await organisations.create(alice, { name });
    const owners = [alice];
    for (const other of ['x', 'y', 'z']) {
      const username = `${other}-${round}`;
      owners.push(viewerOf(await accounts.addPerson({ username })));
      await organisations.addMember(alice, name, { username, role: 'OWNER' });
    }
    const attempts = owners.flatMap((owner, at) => {
      const next = owners[(at + 1) % owners.length]!.username!;
      return [
        organisations.changeMemberRole(owner, name, { username: next, role: 'GUEST' }),
        organisations.removeMember(owner, name, next),
        organisations.leave(owner, name),
      ];
    });
    const seen = await outcomes(attempts);
    const known = ['accepted', 'last_owner', 'organisation_not_found', 'member_not_found'];
    t.same(
      Object.keys(seen).filter((reason) => !known.includes(reason)),
      [],
    );
    const { id } = await organisations.find(name);
    const [{ n }] = await db.read.query(
      "SELECT count(*) AS n FROM organisation_members WHERE organisation_id = ? AND role = 'OWNER'",
      [id],
    );
    t.ok(n >= 1, `${n} owner(s) after ${JSON.stringify(seen)}`);
  }
});

t.test('memberships are deleted with either side; no organisation loses its last member', async (t) => {
  const { organisations, bob, db, alice } = await openExample(t);
  await db.write((tx) => tx.manager.query('DELETE FROM users WHERE id = ?', [bob.id]));
  t.same(
    (await organisations.listMembers(alice, 'example')).map(({ person }) => person.username),
    ['alice', 'carol'],
  );
  await organisations.delete(alice, 'example');
  t.same(await db.read.query('SELECT * FROM organisation_members'), []);
});

t.test('a renamed organisation redirects from its old name, which stays reserved', async (t) => {
  const { organisations, accounts, owners, repositories, alice } = await openExample(t);
  await repositories.create(alice, { owner: 'example', name: 'work', visibility: 'PUBLIC' });
  t.equal(await reasonOf(organisations.rename(alice, 'example', 'bob')), 'handle_taken');
  t.equal(await reasonOf(organisations.rename(alice, 'example', 'orgs')), 'reserved_handle');
  t.equal((await organisations.find('example')).name, 'example', 'a refused rename changes nothing');
  t.match(await organisations.rename(alice, 'example', 'New-Name'), { name: 'New-Name', displayName: 'Example' });
  t.equal((await organisations.find('new-name')).name, 'New-Name');
  t.equal(await reasonOf(organisations.find('example')), 'organisation_not_found');
  t.match(await owners.resolveFormer('example'), { handle: 'New-Name' });
  t.equal(await reasonOf(accounts.addPerson({ username: 'example' })), 'handle_taken');
  t.same((await repositories.find(anonymous, 'new-name', 'work')).canonical, { owner: 'New-Name', name: 'work' });
  t.same(await repositories.findMoved(anonymous, 'example', 'work'), { owner: 'New-Name', name: 'work' });
  await organisations.rename(alice, 'new-name', 'example');
  t.equal((await organisations.find('example')).name, 'example', 'and comes back to who had it');
});

t.test('texts and avatar are validated', async (t) => {
  const { organisations, avatars, alice, db } = await openExample(t);
  await organisations.edit(alice, 'example', { description: 'Ünïcode 日本語' });
  await organisations.edit(alice, 'example', { displayName: '' });
  t.match(await organisations.find('example'), { displayName: '', description: 'Ünïcode 日本語' });
  t.equal((await db.read.query('SELECT display_name FROM organisations'))[0].display_name, null);
  t.equal(await reasonOf(organisations.edit(alice, 'example', { description: 'x'.repeat(501) })), 'text_too_long');
  t.equal((await organisations.find('example')).website, '');
  await organisations.edit(alice, 'example', { website: ' https://example.org/guild ' });
  for (const website of ['javascript:alert(1)', 'example.org', 'https://alice:secret@example.org'])
    t.equal(await reasonOf(organisations.edit(alice, 'example', { website })), 'invalid_website', website);
  t.equal((await organisations.find('example')).website, 'https://example.org/guild');
  await organisations.edit(alice, 'example', { website: '' });
  t.equal((await organisations.find('example')).website, '');

  const { id } = await organisations.find('example');
  await organisations.replaceAvatar(alice, 'example', upload);
  t.equal((await avatars.ofOwners([id, alice.id])).size, 1);
  const gif = { declaredType: 'image/gif', bytes: sampleImages['image/png'] };
  await t.rejects(organisations.replaceAvatar(alice, 'example', gif), {
    reason: 'image_content_mismatch',
    field: 'avatar',
  } as unknown as Error);
  const open = (await avatars.open(id))!;
  t.equal(open.type, 'image/png', 'the one before stays');
  await open.close();
  await organisations.removeAvatar(alice, 'example');
  t.equal(await avatars.open(id), null);
});

t.test('SPEC §3 an organisation that owns repositories cannot be deleted; its trash is deleted with it', async (t) => {
  const { organisations, repositories, avatars, accounts, owners, alice, db, git, settings } = await openExample(t);
  const { id } = await organisations.find('example');
  for (const name of ['work', 'Notes', 'old'])
    await repositories.create(alice, { owner: 'example', name, visibility: 'PRIVATE' });
  const trashed = await repositories.trash.move(alice, 'example', 'old');
  await organisations.replaceAvatar(alice, 'example', upload);
  const refused = {
    reason: 'organisation_owns_repositories',
    code: 'conflict',
    message: /example\/Notes, example\/work\./,
  };
  await t.rejects(organisations.delete(alice, 'example'), refused as unknown as Error);
  t.ok(await organisations.find('example'));

  await repositories.trash.move(alice, 'example', 'work');
  await repositories.trash.move(alice, 'example', 'Notes');
  await organisations.delete(alice, 'example');
  t.equal(await reasonOf(organisations.find('example')), 'organisation_not_found');
  t.same(await db.read.query('SELECT * FROM repositories'), []);
  t.notOk(await git.storage.exists(`${settings.trashDirectory}/${trashed.id}.git`), 'from disk as well');
  t.same(await db.read.query('SELECT * FROM avatars'), []);
  t.equal(await avatars.open(id), null);
  t.equal(await owners.resolve('example'), null);
  t.equal(await reasonOf(accounts.addPerson({ username: 'example' })), 'handle_taken', 'the name stays reserved');
});

t.test('a long list of blocking repositories is truncated, with the count', async (t) => {
  const { organisations, repositories, alice } = await openExample(t);
  for (let n = 10; n < 23; n++)
    await repositories.create(alice, { owner: 'example', name: `r${n}`, visibility: 'PUBLIC' });
  await t.rejects(organisations.delete(alice, 'example'), {
    message: /example\/r10, .*example\/r19 and 3 more\. Transfer or delete/,
  });
});

t.test(
  'of deleting an organisation and creating a repository in it at the same time one succeeds completely',
  async (t) => {
    const { organisations, repositories, alice, db } = await openModules(t);
    for (let round = 0; round < 6; round++) {
      const name = `team-${round}`;
      await organisations.create(alice, { name });
      const create = () => repositories.create(alice, { owner: name, name: 'work', visibility: 'PUBLIC' });
      const [made, gone] = await Promise.all(
        round % 2
          ? [reasonOf(create()), reasonOf(organisations.delete(alice, name))]
          : [reasonOf(organisations.delete(alice, name)), reasonOf(create())].reverse(),
      );
      const expected =
        gone === 'accepted' ? [['no_such_owner', 'accepted']] : [['accepted', 'organisation_owns_repositories']];
      t.ok(
        expected.some(([a, b]) => a === made && b === gone),
        `${made}, ${gone}`,
      );
      if (db.dialect === 'sqlite') t.same(await db.read.query('PRAGMA foreign_key_check'), []);
    }
  },
);

t.test('the list of organisations is the same for every viewer, by name, in pages', async (t) => {
  const { organisations, alice } = await openModules(t);
  for (const name of ['delta', 'Bravo', 'alpha', 'charlie']) await organisations.create(alice, { name });
  const first = await organisations.list({ limit: 3 });
  t.same(
    first.organisations.map(({ name, members }) => [name, members]),
    [
      ['alpha', 1],
      ['Bravo', 1],
      ['charlie', 1],
    ],
  );
  const second = await organisations.list({ limit: 3, after: first.next });
  t.same(
    second.organisations.map(({ name }) => name),
    ['delta'],
  );
  t.equal(second.next, null);
  t.equal((await organisations.list({ limit: 0 })).organisations.length, 1, 'a page has at least one row');
  t.same(
    (await organisations.organisationsOf(alice.id)).map(({ organisation }) => organisation.name),
    ['alpha', 'Bravo', 'charlie', 'delta'],
  );
});

t.test('changes of an organisation are logged with the actor', async (t) => {
  const { organisations, alice, log } = await openExample(t);
  await organisations.changeMemberRole(alice, 'example', { username: 'bob', role: 'GUEST' });
  await organisations.changeMemberRole(alice, 'example', { username: 'bob', role: 'GUEST' });
  await organisations.removeMember(alice, 'example', 'carol');
  await organisations.rename(alice, 'example', 'sample');
  await organisations.delete(alice, 'sample');
  const events = log.filter(({ event }) => event.startsWith('organisation.'));
  t.same(
    events.map(({ event }) => event.slice('organisation.'.length)),
    ['created', 'member_added', 'member_added', 'role_changed', 'member_removed', 'renamed', 'deleted'],
  );
  for (const { event, by } of events) t.equal(by, alice.id, event);
});
