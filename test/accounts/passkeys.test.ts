/** Passkeys: registered, used to sign in and as a second factor, and each answer that is refused. */
import t from 'tap';
import { newSecret } from '../../src/accounts/index.ts';
import { systemRandom } from '../../src/kernel/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { minuteMs, openAccounts, origin, outcomes, password, reasonOf } from './accounts-fixture.ts';
import { createAuthenticator } from './software-authenticator.ts';
import type { AuthenticatorOverrides } from './software-authenticator.ts';

const baseUrl = 'https://git.example.org';
const home = { origin: baseUrl, rpId: 'git.example.org' };
const sessionId = 'session-1';

async function openWithPasskey(t: Owner, settings = {}) {
  const modules = await openAccounts(t, { baseUrl, ...settings });
  const { accounts } = modules;
  const alice = await accounts.addPerson({ username: 'alice', password });
  const authenticator = createAuthenticator(home);
  const { recoveryCodes, passkey } = await accounts.passkeys.add(alice.id, {
    name: 'Laptop',
    response: authenticator.create(await accounts.passkeys.begin(alice.id, sessionId)),
    sessionId,
  });
  const cookie = newSecret(systemRandom);
  const signIn = async (
    changes: AuthenticatorOverrides = {},
    more: { cookie?: string | null; signer?: typeof authenticator } = {},
  ) =>
    accounts.passkeys.signIn({
      challenge: more.cookie === undefined ? cookie : more.cookie,
      response: (more.signer ?? authenticator).get(await accounts.passkeys.askForSignIn(cookie), changes),
      ...origin,
    });
  const startWithPassword = async (): Promise<string> => {
    const result = await accounts.signIn({ username: 'alice', password, ...origin });
    if (result.kind !== 'second_factor') throw new Error('no second factor was asked for');
    return result.challenge;
  };
  return { ...modules, alice, authenticator, recoveryCodes, passkey, cookie, signIn, startWithPassword };
}

t.test('where passkeys work: https and localhost, with a name', async (t) => {
  const table: [string | null, boolean][] = [
    ['https://git.example.org', true],
    ['https://git.example.org:8443', true],
    ['http://localhost:8080', true],
    ['http://git.example.org', false],
    ['https://192.0.2.1', false],
    ['https://[2001:db8::1]', false],
    [null, false],
  ];
  for (const [address, isAvailable] of table) {
    const { accounts } = await openAccounts(t, { baseUrl: address });
    t.equal(accounts.passkeys.isAvailable, isAvailable, String(address));
    if (isAvailable) continue;
    const alice = await accounts.addPerson({ username: 'alice', password });
    t.equal(await reasonOf(accounts.passkeys.begin(alice.id, sessionId)), 'passkeys_unavailable');
    t.equal(await accounts.passkeys.isInUse(), false);
  }
});

t.test('a passkey is added with recovery codes, and signs in instead of the password', async (t) => {
  const { accounts, alice, clock, passkey, recoveryCodes, signIn } = await openWithPasskey(t);
  t.equal(recoveryCodes?.length, 10);
  t.equal(await accounts.passkeys.isInUse(), true);
  t.match(await accounts.passkeys.list(alice.id), [{ name: 'Laptop', lastUsedAt: null, isSynced: false }]);
  clock.advance(1000);
  const result = await signIn();
  t.match(result, { kind: 'session', session: { method: 'passkey', factor: 'passkey', confirmedAt: clock.now() } });
  t.match(await accounts.passkeys.list(alice.id), [{ id: passkey.id, lastUsedAt: clock.now() }]);
});

t.test('a passkey is the second factor after the password', async (t) => {
  const { accounts, authenticator, recoveryCodes, startWithPassword } = await openWithPasskey(t);
  const challenge = await startWithPassword();
  const options = await accounts.passkeys.askForSecondFactor(challenge);
  t.same(
    options?.allowCredentials?.map(({ id }) => id),
    [authenticator.id],
  );
  t.equal(options?.userVerification, 'required');
  const response = authenticator.get(options!);
  const answer = () => accounts.passkeys.answer({ challenge, response, ...origin });
  t.match(await answer(), { kind: 'session', session: { method: 'password', factor: 'passkey' } });
  t.equal(await reasonOf(answer()), 'sign_in_expired');
  const another = await startWithPassword();
  const replayed = accounts.passkeys.answer({ challenge: another, response, ...origin });
  t.equal(await reasonOf(replayed), 'passkey_refused', 'the answer to another challenge');
  t.equal(
    await reasonOf(accounts.secondFactor.answer({ challenge: another, code: recoveryCodes![0]!, ...origin })),
    'accepted',
  );
  t.equal(await accounts.passkeys.askForSecondFactor(another), null);
});

t.test('answers to a sign-in that are refused', async (t) => {
  const { clock, signIn, cookie, accounts, authenticator, db } = await openWithPasskey(t);
  const refused: [string, AuthenticatorOverrides][] = [
    ['another origin', { origin: 'https://git.example.org.evil.example' }],
    ['another port', { origin: 'https://git.example.org:8443' }],
    ['plain http', { origin: 'http://git.example.org' }],
    ['another host', { rpId: 'example.org' }],
    ['the user was not verified', { flags: 0x01 }],
    ['no user was there', { flags: 0x04 }],
    ['a registration', { type: 'webauthn.create' }],
    ['a challenge that we did not make', { challenge: Buffer.alloc(56).toString('base64url') }],
    ['no challenge', { challenge: '' }],
    ['a wrong signature', { signature: Buffer.alloc(70, 1) }],
    ['another person as its user', { userHandle: Buffer.from('someone-else').toString('base64url') }],
    ['an unknown passkey', { id: Buffer.alloc(16, 7).toString('base64url') }],
  ];
  for (const [what, changes] of refused) t.equal(await reasonOf(signIn(changes)), 'passkey_refused', what);
  t.equal(await reasonOf(signIn({}, { cookie: newSecret(systemRandom) })), 'passkey_refused', 'another browser');
  t.equal(await reasonOf(signIn({}, { cookie: null })), 'passkey_refused', 'a browser without the cookie');
  t.equal(await reasonOf(signIn({}, { signer: createAuthenticator(home) })), 'passkey_refused', 'another passkey');

  const options = await accounts.passkeys.askForSignIn(cookie);
  const late = authenticator.get(options);
  clock.advance(10 * minuteMs);
  t.equal(
    await reasonOf(accounts.passkeys.signIn({ challenge: cookie, response: late, ...origin })),
    'passkey_refused',
  );
  for (const response of ['', '{}', 'null', '[]', '{"id":1}', 'x'.repeat(100_000), '{"__proto__":{"id":"x"}}']) {
    const result = await reasonOf(accounts.passkeys.signIn({ challenge: cookie, response, ...origin }));
    t.equal(result, 'passkey_refused', response.slice(0, 30));
  }
  const [{ count }] = (await db.read.query('SELECT count(*) AS count FROM sessions')) as [{ count: number }];
  t.equal(Number(count), 0);
  t.equal(await reasonOf(signIn()), 'accepted', 'and the right one still is accepted');
});

t.test('an answer counts once, and a counter that does not grow is refused', async (t) => {
  const { accounts, authenticator, cookie, signIn } = await openWithPasskey(t);
  const options = await accounts.passkeys.askForSignIn(cookie);
  const response = authenticator.get(options);
  const send = () => accounts.passkeys.signIn({ challenge: cookie, response, ...origin });
  t.same(await outcomes([send(), send(), send()]), { accepted: 1, passkey_refused: 2 });
  t.equal(await reasonOf(signIn({ counter: 100 })), 'accepted');
  t.equal(await reasonOf(signIn({ counter: 100 })), 'passkey_refused');
  t.equal(await reasonOf(signIn({ counter: 5 })), 'passkey_refused');
  t.equal(await reasonOf(signIn({ counter: 101 })), 'accepted');
});

t.test('an authenticator that counts nothing is still used once for each challenge', async (t) => {
  const modules = await openAccounts(t, { baseUrl });
  const { accounts } = modules;
  const alice = await accounts.addPerson({ username: 'alice', password });
  const authenticator = createAuthenticator(home);
  const response = authenticator.create(await accounts.passkeys.begin(alice.id, sessionId), { counter: 0 });
  await accounts.passkeys.add(alice.id, { name: 'Phone', response, sessionId });
  const cookie = newSecret(systemRandom);
  const answer = authenticator.get(await accounts.passkeys.askForSignIn(cookie), { counter: 0 });
  const send = () => accounts.passkeys.signIn({ challenge: cookie, response: answer, ...origin });
  t.equal(await reasonOf(send()), 'accepted');
  t.equal(await reasonOf(send()), 'passkey_refused');
});

t.test('registrations that are refused', async (t) => {
  const { accounts, alice, authenticator } = await openWithPasskey(t);
  const add = async (changes: AuthenticatorOverrides, more: Partial<{ name: string; sessionId: string }> = {}) =>
    accounts.passkeys.add(alice.id, {
      name: 'Phone',
      response: createAuthenticator(home).create(await accounts.passkeys.begin(alice.id, sessionId), changes),
      sessionId,
      ...more,
    });
  const refused: [string, AuthenticatorOverrides][] = [
    ['another origin', { origin: 'https://evil.example' }],
    ['another host', { rpId: 'evil.example' }],
    ['the user was not verified', { flags: 0x41 }],
    ['no key', { flags: 0x05 }],
    ['a sign-in', { type: 'webauthn.get' }],
    ['a challenge that we did not make', { challenge: 'AAAA' }],
  ];
  for (const [what, changes] of refused) t.equal(await reasonOf(add(changes)), 'passkey_refused', what);
  t.equal(await reasonOf(add({}, { sessionId: 'session-2' })), 'passkey_refused', 'the page of another session');
  t.equal(await reasonOf(add({}, { name: ' ' })), 'name_missing');
  t.equal(await reasonOf(add({}, { name: 'a\0b' })), 'invalid_text');

  const options = await accounts.passkeys.begin(alice.id, sessionId);
  t.same(
    options.excludeCredentials?.map(({ id }) => id),
    [authenticator.id],
    'browsers are told which ones there are',
  );
  const again = { name: 'Again', response: authenticator.create(options), sessionId };
  t.equal(await reasonOf(accounts.passkeys.add(alice.id, again)), 'passkey_taken');
  const bob = await accounts.addPerson({ username: 'bob', password });
  const stolen = authenticator.create(await accounts.passkeys.begin(bob.id, sessionId));
  t.equal(await reasonOf(accounts.passkeys.add(bob.id, { name: 'x', response: stolen, sessionId })), 'passkey_taken');
  t.equal((await accounts.passkeys.list(alice.id)).length, 1);
});

t.test('an answer for one purpose is refused for another', async (t) => {
  const { accounts, alice, authenticator, cookie } = await openWithPasskey(t);
  const binding = { purpose: 'confirm' as const, holder: sessionId };
  const confirm = async (options: { challenge: string }) =>
    reasonOf(accounts.passkeys.verify(binding, alice.id, authenticator.get(options)));
  t.equal(await confirm(await accounts.passkeys.askFor(binding, alice.id)), 'accepted');
  t.equal(await confirm(await accounts.passkeys.askForSignIn(cookie)), 'passkey_refused');
  t.equal(
    await confirm(await accounts.passkeys.askFor({ ...binding, holder: 'session-2' }, alice.id)),
    'passkey_refused',
  );
  const bob = await accounts.addPerson({ username: 'bob', password });
  const ofBob = await accounts.passkeys.askFor(binding, bob.id);
  t.equal(await reasonOf(accounts.passkeys.verify(binding, bob.id, authenticator.get(ofBob))), 'passkey_refused');
});

t.test('a passkey that was removed signs in no more; without any nothing is asked', async (t) => {
  const { accounts, alice, passkey, signIn } = await openWithPasskey(t);
  const bob = await accounts.addPerson({ username: 'bob', password });
  t.equal(await reasonOf(accounts.passkeys.remove(bob.id, passkey.id)), 'unknown_passkey');
  await accounts.passkeys.remove(alice.id, passkey.id);
  t.equal(await reasonOf(signIn()), 'passkey_refused');
  t.equal((await accounts.signIn({ username: 'alice', password, ...origin })).kind, 'session');
  t.equal((await accounts.personById(alice.id)).secondFactorAt, null);
});

t.test('a disabled person is refused, and there is a limit', async (t) => {
  const { accounts, alice, signIn } = await openWithPasskey(t, { maxPasskeysPerPerson: 1 });
  t.equal(await reasonOf(accounts.passkeys.begin(alice.id, sessionId)), 'too_many_passkeys');
  await accounts.setDisabled(alice.id, true);
  t.equal(await reasonOf(signIn()), 'account_disabled');
});
