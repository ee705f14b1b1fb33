import t from 'tap';
import { minuteMs, openWithAlice, origin, outcomes, password, reasonOf, refusalOf } from './accounts-fixture.ts';
import { createMailStub } from './mail-stub.ts';

const next = 'another long password';
const baseUrl = 'https://git.example.org';

async function withAddress(t: Parameters<typeof openWithAlice>[0], settings = {}) {
  const queued = createMailStub();
  const modules = await openWithAlice(t, { baseUrl, ...settings }, queued.mail);
  const { accounts, alice } = modules;
  const address = await accounts.addresses.add(alice.id, { address: 'Alice@example.org', isVerified: true });
  const ask = async (text = 'alice@example.org', network = '192.0.2.7') => {
    await accounts.requestPasswordReset({ address: text, network });
    await accounts.settled();
  };
  return { ...modules, ...queued, address, ask, secret: () => queued.last().data.secret! };
}

t.test('a mailed link sets the password once, and ends all sessions', async (t) => {
  const { accounts, alice, ask, secret, signIn, render, storedBytes } = await withAddress(t);
  const session = await signIn();
  const { secret: token } = await accounts.addToken(alice.id, {
    name: 'ci',
    access: 'read',
    repositoryIds: null,
    expiresAt: null,
  });
  await ask(' ALICE@example.org ');
  const message = await render();
  t.match(message, { to: 'Alice@example.org', subject: 'A new password for your account on git.example.org' });
  t.ok(message!.text.includes(`${baseUrl}/login/reset?token=${secret()}`));
  t.notOk(storedBytes().includes(secret()));
  t.equal((await accounts.checkPasswordReset(secret())).username, 'Alice');
  t.equal(await reasonOf(accounts.resetPassword(secret(), 'short')), 'password_too_short');
  t.match(await accounts.resetPassword(secret(), next), { username: 'Alice' });
  t.equal(await accounts.viewerOfSession(session.secret, { address: null }), null);
  t.ok(await accounts.viewerOfToken(token, { address: null }), 'tokens stay');
  t.equal(await reasonOf(signIn()), 'wrong_credentials');
  t.equal(await reasonOf(signIn({ password: next })), 'accepted');
  t.equal(await reasonOf(accounts.resetPassword(secret(), next)), 'link_closed', 'replayed');
});

t.test('links that do not work give one answer', async (t) => {
  const { accounts, alice, address, ask, secret, clock } = await withAddress(t, {
    linkMailsPerHour: 100,
    resetsPerAddressHour: 100,
  });
  const answers = new Set<string>();
  const closed = async (text: string, title: string) => {
    const refusals = [
      await refusalOf(accounts.checkPasswordReset(text)),
      await refusalOf(accounts.resetPassword(text, next)),
    ];
    for (const refusal of refusals) {
      t.equal(refusal?.reason, 'link_closed', title);
      answers.add(refusal!.message);
    }
  };
  await ask();
  const first = secret();
  for (const text of ['', first.slice(1), `${first}x`, first.toUpperCase(), '../../etc/passwd'])
    await closed(text, 'made up');
  const { secret: handed } = await accounts.makeResetLink(alice.id);
  await ask();
  const second = secret();
  await accounts.resetPassword(second, next);
  await closed(second, 'used');
  await closed(first, 'an earlier mail');
  await closed(handed, 'one that an administrator had made');

  await ask();
  await accounts.changePassword(alice.id, {
    currentPassword: next,
    newPassword: password,
    keepSessionId: null,
    address: null,
  });
  await closed(secret(), 'the password was changed since');
  await ask();
  await accounts.setPassword(alice.id, next);
  await closed(secret(), 'an administrator set it');
  await ask();
  await accounts.setDisabled(alice.id, true);
  await closed(secret(), 'the account is disabled');
  t.equal(await reasonOf(accounts.makeResetLink(alice.id)), 'account_disabled');
  await accounts.setDisabled(alice.id, false);
  await accounts.addresses.remove(alice.id, address.id);
  await closed(secret(), 'the address is not theirs any more');
  await accounts.addresses.add(alice.id, { address: 'alice@example.org', isVerified: true });
  await closed(secret(), 'and it does not come back with the address');
  await ask();
  clock.advance(60 * minuteMs);
  await closed(secret(), 'expired');
  const unverified = await accounts.addresses.add(alice.id, { address: 'other@example.org' });
  t.equal(unverified.verifiedAt, null);
  const verification = secret();
  await closed(verification, 'a link for another purpose');
  await ask();
  t.equal(await reasonOf(accounts.addresses.verify(alice.id, secret())), 'link_closed', 'and the other way round');
  t.equal(answers.size, 1);
});

t.test('asking gives one answer in one time for every address', async (t) => {
  const { accounts, alice, sent, address } = await withAddress(t, { resetsPerNetworkHour: 1_000 });
  const bob = await accounts.addPerson({ username: 'bob', password });
  await accounts.addresses.add(bob.id, { address: 'bob@example.org', isVerified: true });
  await accounts.setDisabled(bob.id, true);
  await accounts.addresses.add(alice.id, { address: 'unverified@example.org' });
  const before = sent.length;
  const texts = ['alice@example.org', 'nobody@example.org', 'bob@example.org', 'unverified@example.org'];
  for (const text of texts) {
    t.equal(await accounts.requestPasswordReset({ address: text, network: '192.0.2.7' }), undefined);
  }
  t.equal(sent.length, before, 'nothing is looked up before the answer');
  await accounts.settled();
  t.same(
    sent.slice(before).map(({ kind, data }) => [kind, data.addressId]),
    [['password.reset', address.id]],
    'only a verified address of an active account gets mail',
  );
  for (const text of ['', 'alice', 'alice@example.org\r\nBcc: bob@example.org', 'a@example.org,b@example.org']) {
    t.equal(await reasonOf(accounts.requestPasswordReset({ address: text, network: '192.0.2.7' })), 'invalid_address');
  }
  for (const value of [['alice@example.org', 'bob@example.org'], { $ne: '' }]) {
    const request = { address: value as unknown as string, network: '192.0.2.7' };
    t.equal(await reasonOf(accounts.requestPasswordReset(request)), 'invalid_address');
  }
  // Known and unknown addresses are counted alike.
  for (const text of ['alice@example.org', 'nobody@example.org']) {
    const asked = await outcomes(
      Array.from({ length: 9 }, () => accounts.requestPasswordReset({ address: text, network: '192.0.2.8' })),
    );
    t.same(asked, { accepted: 4, too_many_resets: 5 }, text);
  }
  await accounts.settled();
  t.equal(sent.length - before, 4, 'an account gets five mails an hour, the unverified one included');
});

t.test('one network asks for a few addresses an hour', async (t) => {
  const { accounts } = await withAddress(t, { resetsPerNetworkHour: 3 });
  const ask = (n: number, network: string) =>
    reasonOf(accounts.requestPasswordReset({ address: `${n}@example.org`, network }));
  for (let n = 1; n <= 3; n += 1) t.equal(await ask(n, `2001:db8::${n}`), 'accepted');
  t.equal(await ask(4, '2001:db8::4'), 'too_many_resets', 'of the same /64');
  t.equal(await ask(4, '192.0.2.1'), 'accepted');
});

t.test('without mail nobody can ask, and an administrator hands out a link', async (t) => {
  const { mail, sent } = createMailStub(false);
  const { accounts, alice, clock, signIn } = await openWithAlice(t, {}, mail);
  await accounts.addresses.add(alice.id, { address: 'alice@example.org', isVerified: true });
  t.equal(
    await reasonOf(accounts.requestPasswordReset({ address: 'alice@example.org', network: '192.0.2.7' })),
    'mail_not_configured',
  );
  const { secret, expiresAt } = await accounts.makeResetLink(alice.id);
  t.equal(expiresAt, clock.now() + 24 * 60 * minuteMs);
  clock.advance(23 * 60 * minuteMs);
  await accounts.resetPassword(secret, next);
  t.equal(await reasonOf(signIn({ password: next })), 'accepted');
  t.same(sent, []);
  t.equal(await reasonOf(accounts.makeResetLink('nobody')), 'unknown_person');
});

t.test('a verified address signs in like the username; any other text is a wrong one', async (t) => {
  const { accounts, alice, signIn } = await withAddress(t);
  await accounts.addresses.add(alice.id, { address: 'new@example.org' });
  t.match(await signIn({ username: ' ALICE@Example.org ' }), { person: { username: 'Alice' } });
  const noReply = accounts.addresses.noReplyOf(alice);
  for (const username of [
    'new@example.org',
    'nobody@example.org',
    '@',
    'alice@',
    noReply,
    'Alice <alice@example.org>',
  ]) {
    const refusal = await refusalOf(signIn({ username, ...origin, address: '198.51.100.1' }));
    t.match(refusal, { reason: 'wrong_credentials', message: 'Wrong username or password.' }, username);
  }
  t.equal(await reasonOf(signIn({ username: 'alice@example.org', password: next })), 'wrong_credentials');
});
