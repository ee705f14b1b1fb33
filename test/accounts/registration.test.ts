import t from 'tap';
import { dayMs, openAccounts, origin, outcomes, password, reasonOf } from './accounts-fixture.ts';
import { expectSession } from '../fixtures/expect-session.ts';

t.test('the first administrator registers with a setup token, once', async (t) => {
  const { accounts } = await openAccounts(t);
  const token = await accounts.setupToken();
  await accounts.checkSetupToken(token.toLowerCase());
  const alice = await accounts.setUp({ token: ` ${token} `, username: 'alice', password });
  t.match(alice, { username: 'alice', isAdministrator: true, mustChangePassword: false });
  t.equal(await accounts.hasAdministrator(), true);
  t.equal((await expectSession(accounts.signIn({ username: 'alice', password, ...origin }))).person.id, alice.id);
  t.equal(await reasonOf(accounts.checkSetupToken(token)), 'setup_closed');
  t.equal(await reasonOf(accounts.setUp({ token, username: 'mallory', password })), 'setup_closed');
  t.equal(await reasonOf(accounts.setupToken()), 'administrator_exists');
  t.equal(await reasonOf(accounts.setupToken({ rotate: true })), 'administrator_exists');
});

t.test('a refused form leaves the setup token valid', async (t) => {
  const { accounts } = await openAccounts(t);
  const token = await accounts.setupToken();
  const cases: [string, string, string][] = [
    ['admin', password, 'reserved_handle'],
    ['a b', password, 'invalid_handle'],
    ['alice', 'short', 'password_too_short'],
    [undefined as never, password, 'invalid_handle'],
    [null as never, password, 'invalid_handle'],
    ['alice', undefined as never, 'password_too_short'],
    ['alice', null as never, 'password_too_short'],
  ];
  for (const [username, given, reason] of cases) {
    t.equal(await reasonOf(accounts.setUp({ token, username, password: given })), reason);
  }
  t.equal(await accounts.hasAdministrator(), false);
  t.equal(await reasonOf(accounts.setUp({ token, username: 'alice', password })), 'accepted');
});

t.test('without a valid setup token nothing is said about the rest of the form', async (t) => {
  const { accounts, clock } = await openAccounts(t);
  await accounts.addPerson({ username: 'alice' });
  const expired = await accounts.setupToken();
  clock.advance(dayMs - 1);
  await accounts.checkSetupToken(expired);
  clock.advance(1);
  for (const token of [
    expired,
    '',
    'nonsense',
    '7Q2K-0000-0000-0000-0000',
    undefined as never,
    null as never,
    ['x'] as never,
  ]) {
    t.equal(await reasonOf(accounts.checkSetupToken(token)), 'setup_closed');
    t.equal(await reasonOf(accounts.setUp({ token, username: 'alice', password: 'short' })), 'setup_closed');
  }
});

t.test('several setup tokens are valid at a time until they are rotated or one is used', async (t) => {
  const { accounts } = await openAccounts(t);
  const [first, second] = [await accounts.setupToken(), await accounts.setupToken()];
  await accounts.checkSetupToken(first);
  await accounts.checkSetupToken(second);
  const rotated = await accounts.setupToken({ rotate: true });
  t.equal(await reasonOf(accounts.checkSetupToken(first)), 'setup_closed');
  t.equal(await reasonOf(accounts.checkSetupToken(second)), 'setup_closed');
  const another = await accounts.setupToken();
  await accounts.setUp({ token: rotated, username: 'alice', password });
  t.equal(await reasonOf(accounts.checkSetupToken(another)), 'setup_closed');
});

t.test('setup tokens do not pile up in a restart loop', async (t) => {
  const { accounts, clock, db } = await openAccounts(t);
  for (let n = 0; n < 50; n += 1) {
    clock.advance(1);
    await accounts.setupToken();
  }
  const [row] = (await db.read.query('SELECT count(*) AS count FROM setup_tokens')) as { count: number }[];
  t.equal(row!.count, 20);
});

t.test(
  'security D08 of 20 concurrent setups, with the same token or their own, one makes an administrator',
  async (t) => {
    const { accounts } = await openAccounts(t);
    const tokens = [await accounts.setupToken(), await accounts.setupToken()];
    const attempts = Array.from({ length: 20 }, (_, n) =>
      accounts.setUp({ token: tokens[n % 2]!, username: `user-${n}x`, password }),
    );
    t.same(await outcomes(attempts), { accepted: 1, setup_closed: 19 });
    t.equal((await accounts.listPeople()).length, 1);
  },
);

t.test('an administrator made on the command line ends the setup', async (t) => {
  const { accounts } = await openAccounts(t);
  const token = await accounts.setupToken();
  await accounts.addPerson({ username: 'alice', password });
  await accounts.checkSetupToken(token);
  await accounts.addPerson({ username: 'bob', password, isAdministrator: true });
  t.equal(await reasonOf(accounts.checkSetupToken(token)), 'setup_closed');
  t.equal(await reasonOf(accounts.setUp({ token, username: 'mallory', password })), 'setup_closed');
});

t.test('an invitation admits one person', async (t) => {
  const { accounts, clock } = await openAccounts(t);
  const alice = await accounts.addPerson({ username: 'alice', isAdministrator: true });
  const { invite, secret } = await accounts.addInvite(alice.id);
  t.match(invite, { createdBy: alice.id, createdAt: clock.now(), expiresAt: clock.now() + 7 * dayMs });
  t.same((await accounts.listInvites()).rows, [invite]);
  await accounts.checkInvite(secret);
  t.equal(await reasonOf(accounts.signUp({ token: secret, username: 'Alice', password })), 'handle_taken');
  t.equal(await reasonOf(accounts.signUp({ token: secret, username: 'bob', password: 'short' })), 'password_too_short');
  t.match(await accounts.signUp({ token: secret, username: 'bob', password }), {
    username: 'bob',
    isAdministrator: false,
  });
  t.equal(await reasonOf(accounts.checkInvite(secret)), 'sign_up_closed');
  t.equal(await reasonOf(accounts.signUp({ token: secret, username: 'carol', password })), 'sign_up_closed');
  t.same((await accounts.listInvites()).rows, []);
  t.equal(await reasonOf(accounts.removeInvite(invite.id)), 'unknown_invite', 'a used one stays on record');
});

t.test('without an open invitation nothing is said about the rest of the form', async (t) => {
  const { accounts, clock } = await openAccounts(t);
  await accounts.addPerson({ username: 'alice' });
  const { secret: expired } = await accounts.addInvite(null);
  clock.advance(7 * dayMs);
  const { invite, secret: removed } = await accounts.addInvite(null);
  await accounts.removeInvite(invite.id);
  const working = await accounts.addInvite(null);
  t.equal((await accounts.listInvites()).rows.length, 1);
  for (const token of [
    expired,
    removed,
    '',
    working.secret.slice(1),
    `${working.secret}x`,
    undefined as never,
    {} as never,
  ]) {
    t.equal(await reasonOf(accounts.checkInvite(token)), 'sign_up_closed');
    t.equal(await reasonOf(accounts.signUp({ token, username: 'alice', password: 'short' })), 'sign_up_closed');
  }
  t.equal(await accounts.removeExpired(), 1);
  await accounts.checkInvite(working.secret);
});

t.test('security D08 of 20 concurrent uses of one invitation one succeeds', async (t) => {
  const { accounts } = await openAccounts(t);
  const { secret } = await accounts.addInvite(null);
  const attempts = Array.from({ length: 20 }, (_, n) =>
    accounts.signUp({ token: secret, username: `user-${n}x`, password }),
  );
  t.same(await outcomes(attempts), { accepted: 1, sign_up_closed: 19 });
});

t.test('only an administrator can invite', async (t) => {
  const { accounts } = await openAccounts(t);
  const alice = await accounts.addPerson({ username: 'alice' });
  t.equal(await reasonOf(accounts.addInvite(alice.id)), 'not_administrator');
  t.equal(await reasonOf(accounts.addInvite('nobody')), 'unknown_person');
  t.equal(await reasonOf(accounts.addInvite(null)), 'accepted', 'the command line');
});

t.test('security D07 secrets are stored as hashes only', async (t) => {
  const { accounts, storedBytes } = await openAccounts(t);
  const setup = await accounts.setupToken();
  const alice = await accounts.setUp({ token: setup, username: 'alice', password });
  const { secret: invite } = await accounts.addInvite(alice.id);
  const { secret: session } = await expectSession(accounts.signIn({ username: 'alice', password, ...origin }));
  const { token, secret } = await accounts.addToken(alice.id, {
    name: 'work',
    access: 'read',
    repositoryIds: null,
    expiresAt: null,
  });
  await accounts.viewerOfToken(secret, { address: null });
  await accounts.settled();

  const stored = storedBytes();
  t.ok(stored.includes('alice') && stored.includes(token.ending), 'the search finds what is there');
  const secrets = {
    setup,
    invite,
    session,
    secret,
    password,
    withoutPrefix: secret.slice(4, -4),
    plainSetup: setup.replaceAll('-', ''),
  };
  for (const [what, text] of Object.entries(secrets)) {
    t.notOk(stored.includes(text), what);
    t.notOk(stored.includes(Buffer.from(text, 'base64url')), `${what}, decoded`);
  }
});
