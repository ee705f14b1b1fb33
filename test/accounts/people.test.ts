import t from 'tap';
import { openAccounts, origin, outcomes, password, reasonOf } from './accounts-fixture.ts';

t.test('a person is added with a handle and found by it in any case', async (t) => {
  const { accounts, clock } = await openAccounts(t);
  const alice = await accounts.addPerson({ username: 'Alice', password, displayName: 'Alice Example' });
  t.match(alice, {
    username: 'Alice',
    displayName: 'Alice Example',
    isAdministrator: false,
    mustChangePassword: false,
    bio: '',
    website: '',
    disabledAt: null,
    createdAt: clock.now(),
    lastSeenAt: null,
  });
  t.same(await accounts.personByUsername('aLICE'), alice);
  t.same(await accounts.personById(alice.id), alice);
  t.notOk('passwordHash' in alice);
  t.equal(await reasonOf(accounts.personByUsername('bob')), 'unknown_person');
  t.equal(await reasonOf(accounts.personById('nobody')), 'unknown_person');
});

t.test('invalid input adds no person', async (t) => {
  const { accounts } = await openAccounts(t);
  await accounts.addPerson({ username: 'alice', password });
  const cases: [Parameters<typeof accounts.addPerson>[0], string][] = [
    [{ username: 'ALICE', password }, 'handle_taken'],
    [{ username: 'settings', password }, 'reserved_handle'],
    [{ username: 'a b', password }, 'invalid_handle'],
    [{ username: '', password }, 'invalid_handle'],
    [{ username: 'bob', password: 'short' }, 'password_too_short'],
    [{ username: 'bob', password: '' }, 'password_too_short'],
    [{ username: 'bob', password, displayName: 'a\0b' }, 'invalid_text'],
    [{ username: 'bob', password, displayName: 'x'.repeat(101) }, 'text_too_long'],
  ];
  for (const [input, reason] of cases) t.equal(await reasonOf(accounts.addPerson(input)), reason);
  t.equal((await accounts.listPeople()).length, 1);
});

t.test('security J04 of 50 concurrent claims on one handle one succeeds', async (t) => {
  const { accounts, db, owners } = await openAccounts(t, { hashesWaiting: 100 });
  const people = Array.from({ length: 25 }, () => accounts.addPerson({ username: 'prize', password }));
  const organisations = Array.from({ length: 25 }, (_, n) =>
    db.write((tx) => owners.claim(tx, { handle: 'Prize', kind: 'organisation', ownerId: `o-${n}` })),
  );
  t.same(await outcomes([...people, ...organisations]), { accepted: 1, handle_taken: 49 });
  t.ok((await accounts.listPeople()).length <= 1, 'nobody is left without the handle they came for');
});

t.test('SPEC §2.4 a person is invisible until they choose a handle', async (t) => {
  const { accounts } = await openAccounts(t);
  const alice = await accounts.addPerson({ username: 'alice', password });
  const newcomer = await accounts.addPerson({ displayName: 'New Comer' });
  t.equal(newcomer.username, null);
  t.same([...(await accounts.peopleById([alice.id, newcomer.id, 'nobody'])).keys()], [alice.id]);
  t.same(
    (await accounts.listPeople()).map((person) => person.username),
    ['alice', null],
    'an administrator sees them',
  );

  const { secret } = await accounts.startSession(newcomer.id, origin);
  t.equal((await accounts.viewerOfSession(secret, { address: null }))?.viewer.username, null);
  const { secret: token } = await accounts.addToken(newcomer.id, {
    name: 'early',
    access: 'read',
    repositoryIds: null,
    expiresAt: null,
  });
  t.equal((await accounts.viewerOfToken(token, { address: null }))?.username, null);

  t.equal(await reasonOf(accounts.chooseHandle(newcomer.id, 'Alice')), 'handle_taken');
  t.equal(await reasonOf(accounts.chooseHandle(newcomer.id, 'admin')), 'reserved_handle');
  t.equal((await accounts.chooseHandle(newcomer.id, 'Newcomer')).username, 'Newcomer');
  t.equal((await accounts.peopleById([newcomer.id])).size, 1);
  t.equal((await accounts.viewerOfSession(secret, { address: null }))?.viewer.username, 'Newcomer');
  t.equal(await reasonOf(accounts.chooseHandle(newcomer.id, 'again')), 'handle_already_chosen');
  t.equal(await reasonOf(accounts.chooseHandle('nobody', 'free')), 'unknown_person');
});

t.test('of two concurrent requests that choose a handle for one person one succeeds', async (t) => {
  const { accounts, owners } = await openAccounts(t);
  const { id } = await accounts.addPerson({});
  t.same(await outcomes([accounts.chooseHandle(id, 'first'), accounts.chooseHandle(id, 'second')]), {
    accepted: 1,
    handle_already_chosen: 1,
  });
  t.equal(await owners.resolve('second'), null);
});

t.test('a profile is changed field by field', async (t) => {
  const { accounts } = await openAccounts(t);
  const { id } = await accounts.addPerson({ username: 'alice', displayName: 'Alice' });
  const text = 'Writes compilers.\nLikes tea. % _ \' " < & 😀 ﷽';
  t.match(await accounts.updateProfile(id, { bio: text, website: 'https://example.org/alice' }), {
    displayName: 'Alice',
    bio: text,
  });
  t.match(await accounts.updateProfile(id, { displayName: '' }), {
    displayName: '',
    bio: text,
    website: 'https://example.org/alice',
  });
  t.match(await accounts.personById(id), { displayName: '', bio: text });
  t.equal(
    await reasonOf(accounts.updateProfile(id, { bio: 'new', website: 'javascript:alert(1)' })),
    'invalid_website',
  );
  t.equal(await reasonOf(accounts.updateProfile(id, { bio: 'x'.repeat(1001) })), 'text_too_long');
  t.equal((await accounts.personById(id)).bio, text, 'a refusal changes nothing');
  t.equal(await reasonOf(accounts.updateProfile('nobody', {})), 'unknown_person');
});

t.test('security D12 a profile takes the fields it names and no others', async (t) => {
  const { accounts } = await openAccounts(t);
  const { id } = await accounts.addPerson({ username: 'alice' });
  const sneaky = { displayName: 'Alice', isAdministrator: true, passwordHash: null, username: 'root' };
  t.match(await accounts.updateProfile(id, sneaky), {
    displayName: 'Alice',
    isAdministrator: false,
    username: 'alice',
  });
  t.match(await accounts.personById(id), { isAdministrator: false, username: 'alice' });
});

t.test('the last administrator who can sign in cannot be removed', async (t) => {
  const { accounts } = await openAccounts(t);
  t.equal(await accounts.hasAdministrator(), false);
  const alice = await accounts.addPerson({ username: 'alice', isAdministrator: true });
  const bob = await accounts.addPerson({ username: 'bob' });
  t.equal(await accounts.hasAdministrator(), true);
  t.equal(await reasonOf(accounts.setAdministrator(alice.id, false)), 'last_administrator');
  t.equal(await reasonOf(accounts.setDisabled(alice.id, true)), 'last_administrator');

  await accounts.setAdministrator(bob.id, true);
  const demotions = [accounts.setAdministrator(alice.id, false), accounts.setAdministrator(bob.id, false)];
  t.same(await outcomes(demotions), { accepted: 1, last_administrator: 1 }, 'they cannot demote each other at once');
  const last = (await accounts.listPeople()).find((person) => person.isAdministrator)!;
  const other = last.id === alice.id ? bob : alice;
  await accounts.setAdministrator(other.id, true);
  await accounts.setDisabled(other.id, true);
  t.equal(
    await reasonOf(accounts.setAdministrator(last.id, false)),
    'last_administrator',
    'a disabled one does not count',
  );
});

t.test('security D03 a change of rights ends the person’s sessions', async (t) => {
  const { accounts } = await openAccounts(t);
  const { id } = await accounts.addPerson({ username: 'bob' });
  const { secret } = await accounts.startSession(id, origin);
  await accounts.setAdministrator(id, false);
  t.ok(await accounts.viewerOfSession(secret, { address: null }), 'nothing changed, nothing ends');
  await accounts.setAdministrator(id, true);
  t.equal(await accounts.viewerOfSession(secret, { address: null }), null);
});
