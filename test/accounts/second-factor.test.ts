/** The second step of a sign-in: codes of an app, recovery codes, what is guessed, replayed, late, or used twice. */
import t from 'tap';
import type { SignInResult } from '../../src/accounts/index.ts';
import { stepOf, totpCode } from '../../src/accounts/second-factor/totp.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { minuteMs, openAccounts, origin, outcomes, password, reasonOf, refusalOf } from './accounts-fixture.ts';

const stepMs = 30_000;

async function openWithApp(t: Owner, settings = {}) {
  const modules = await openAccounts(t, settings);
  const { accounts, clock } = modules;
  const alice = await accounts.addPerson({ username: 'alice', password });
  const secret = await accounts.secondFactor.beginTotp(alice.id);
  const codeOf = (offset = 0) => totpCode(secret, stepOf(clock.now()) + offset);
  const recoveryCodes = (await accounts.secondFactor.enableTotp(alice.id, codeOf()))!;
  // The code of the set-up is used up.
  clock.advance(stepMs);
  const start = async (given: { address?: string } = {}): Promise<string> => {
    const result: SignInResult = await accounts.signIn({ username: 'alice', password, ...origin, ...given });
    if (result.kind !== 'second_factor') throw new Error('no second factor was asked for');
    return result.challenge;
  };
  const answer = (challenge: string | null, code: string, given: { address?: string } = {}) =>
    accounts.secondFactor.answer({ challenge, code, ...origin, ...given });
  return { ...modules, alice, secret, codeOf, recoveryCodes, start, answer };
}

t.test('without a second factor nothing is asked', async (t) => {
  const { accounts } = await openAccounts(t);
  const alice = await accounts.addPerson({ username: 'alice', password });
  await accounts.secondFactor.beginTotp(alice.id);
  const result = await accounts.signIn({ username: 'alice', password, ...origin });
  t.match(result, { kind: 'session', session: { method: 'password', factor: null } }, 'an app not yet confirmed');
  t.equal(accounts.secondFactor.isMissing(alice), false);
});

t.test('an app is set up by a first code, and asked for from then on', async (t) => {
  const { accounts, clock } = await openAccounts(t);
  const alice = await accounts.addPerson({ username: 'alice', password });
  t.equal(await reasonOf(accounts.secondFactor.enableTotp(alice.id, '123456')), 'totp_not_begun');
  const secret = await accounts.secondFactor.beginTotp(alice.id);
  t.same(await accounts.secondFactor.beginTotp(alice.id), secret, 'the page may be loaded again');
  t.equal(secret.length, 20);
  t.equal(await reasonOf(accounts.secondFactor.enableTotp(alice.id, 'abc')), 'wrong_code');
  const code = (offset: number) => totpCode(secret, stepOf(clock.now()) + offset);
  const late = await refusalOf(accounts.secondFactor.enableTotp(alice.id, code(-10)));
  t.match(late?.message, /off by about 5 minutes/, 'the clock is named as the reason');
  const codes = await accounts.secondFactor.enableTotp(alice.id, code(0));
  t.equal(codes?.length, 10);
  t.equal(new Set(codes).size, 10);
  for (const each of codes!) t.match(each, /^[a-z2-9]{4}(-[a-z2-9]{4}){3}$/);
  t.equal(await reasonOf(accounts.secondFactor.beginTotp(alice.id)), 'totp_enabled');
  t.match(await accounts.secondFactor.stateOf(alice.id), { totpAt: clock.now(), recoveryCodesLeft: 10, passkeys: 0 });
  t.equal((await accounts.personById(alice.id)).secondFactorAt, clock.now());
});

t.test('the secret and the recovery codes are not in the database', async (t) => {
  const { secret, recoveryCodes, storedBytes } = await openWithApp(t);
  const bytes = storedBytes();
  for (const text of [secret.toString('base64'), secret.toString('hex'), ...recoveryCodes])
    t.equal(bytes.includes(text), false);
  t.equal(bytes.includes(secret), false);
});

t.test('a right code opens the session, which says how', async (t) => {
  const { accounts, alice, clock, codeOf, start, answer } = await openWithApp(t);
  const challenge = await start();
  t.same(await accounts.listSessions(alice.id), [], 'the password alone opens nothing');
  t.equal(await accounts.viewerOfSession(challenge, { address: null }), null);
  const { secret, session, person } = await answer(challenge, codeOf());
  t.match(session, { method: 'password', factor: 'totp', confirmedAt: clock.now(), userAgent: origin.userAgent });
  t.equal(person.id, alice.id);
  t.ok(await accounts.viewerOfSession(secret, { address: null }));
  t.equal(await reasonOf(answer(challenge, codeOf(1))), 'sign_in_expired', 'a challenge works once');
});

t.test('a code is accepted once: a replay is refused, and a code from before it', async (t) => {
  const { codeOf, clock, start, answer } = await openWithApp(t);
  const code = codeOf();
  t.equal(await reasonOf(answer(await start(), code)), 'accepted');
  t.equal(await reasonOf(answer(await start(), code)), 'wrong_code');
  t.equal(await reasonOf(answer(await start(), codeOf(-1))), 'wrong_code');
  clock.advance(stepMs);
  t.equal(await reasonOf(answer(await start(), codeOf())), 'accepted');
});

t.test('of ten clients with one code one wins', async (t) => {
  const { codeOf, recoveryCodes, start, answer } = await openWithApp(t);
  for (const code of [codeOf(), recoveryCodes[0]!]) {
    const challenges = [];
    for (let n = 0; n < 5; n += 1) challenges.push(await start());
    t.same(await outcomes(challenges.map((challenge) => answer(challenge, code))), { accepted: 1, wrong_code: 4 });
  }
});

t.test('codes that are off by a minute are refused, by half a minute accepted', async (t) => {
  for (const [offset, outcome] of [
    [-2, 'wrong_code'],
    [2, 'wrong_code'],
    [-1, 'wrong_code'],
    [1, 'accepted'],
  ] as const) {
    const { codeOf, start, answer } = await openWithApp(t);
    // The step before is that of the set-up, whose code is used up.
    t.equal(await reasonOf(answer(await start(), codeOf(offset))), outcome, `${offset * 30} s`);
  }
  const { codeOf, clock, start, answer } = await openWithApp(t);
  clock.advance(stepMs);
  t.equal(await reasonOf(answer(await start(), codeOf(-1))), 'accepted', 'a clock that is slow');
});

t.test('guessed codes end the challenge after five, and the network after ten', async (t) => {
  const { accounts, codeOf, recoveryCodes, start, answer } = await openWithApp(t);
  const wrong = async (challenge: string) => reasonOf(answer(challenge, codeOf(7)));
  const first = await start();
  for (let n = 0; n < 5; n += 1) t.equal(await wrong(first), 'wrong_code');
  t.equal(await reasonOf(answer(first, codeOf())), 'sign_in_expired', 'even with the right code');
  const second = await start();
  for (let n = 0; n < 5; n += 1) t.equal(await wrong(second), 'wrong_code');
  const third = await start();
  const refusal = await refusalOf(answer(third, codeOf()));
  t.match(refusal, { reason: 'too_many_tries', code: 'unavailable' });
  t.ok((refusal?.retryAfterSeconds ?? 0) > 600);
  t.equal(await reasonOf(answer(third, recoveryCodes[0]!)), 'too_many_tries');
  t.equal(await reasonOf(answer(third, codeOf(), { address: '198.51.100.7' })), 'accepted', 'other networks go on');
  t.ok(accounts);
});

t.test('guesses at once are counted as those one after the other', async (t) => {
  const { codeOf, start, answer } = await openWithApp(t);
  const challenge = await start();
  const guesses = Array.from({ length: 8 }, () => answer(challenge, codeOf(7)));
  t.same(await outcomes(guesses), { wrong_code: 5, sign_in_expired: 3 });
});

t.test('an app that is guessed at from many networks is closed for a day; recovery codes are not', async (t) => {
  const { codeOf, recoveryCodes, start, answer } = await openWithApp(t, { codeFailuresPerDay: 12 });
  for (let n = 0; n < 12; n += 1)
    t.equal(await reasonOf(answer(await start(), codeOf(9), { address: `192.0.${n}.1` })), 'wrong_code');
  const challenge = await start();
  const elsewhere = { address: '198.51.100.7' };
  t.match(await refusalOf(answer(challenge, codeOf(), elsewhere)), {
    reason: 'too_many_tries',
    message: /recovery code or a passkey/,
  });
  t.equal(await reasonOf(answer(challenge, recoveryCodes[3]!, elsewhere)), 'accepted');
});

t.test('a recovery code works once, however it is typed', async (t) => {
  const { accounts, alice, recoveryCodes, start, answer } = await openWithApp(t);
  const [first, second] = recoveryCodes as [string, string];
  const { session } = await answer(await start(), ` ${first.toUpperCase().replaceAll('-', ' ')} `);
  t.equal(session.factor, 'recovery');
  t.equal(await reasonOf(answer(await start(), first)), 'wrong_code');
  t.equal((await accounts.secondFactor.stateOf(alice.id)).recoveryCodesLeft, 9);
  const fresh = await accounts.secondFactor.newRecoveryCodes(alice.id);
  t.equal(fresh.length, 10);
  t.equal(await reasonOf(answer(await start(), second)), 'wrong_code', 'earlier ones stop working');
  t.equal(await reasonOf(answer(await start(), fresh[0]!)), 'accepted');
});

t.test('a code of another person is refused', async (t) => {
  const { accounts, clock, recoveryCodes, start, answer } = await openWithApp(t);
  const bob = await accounts.addPerson({ username: 'bob', password });
  const secret = await accounts.secondFactor.beginTotp(bob.id);
  const codes = await accounts.secondFactor.enableTotp(bob.id, totpCode(secret, stepOf(clock.now())));
  const challenge = await start();
  t.equal(await reasonOf(answer(challenge, totpCode(secret, stepOf(clock.now()) + 1))), 'wrong_code');
  t.equal(await reasonOf(answer(challenge, codes![0]!)), 'wrong_code');
  t.equal(await reasonOf(answer(challenge, recoveryCodes[0]!)), 'accepted');
});

t.test('a challenge lasts ten minutes, and ends with a new password or a disabled account', async (t) => {
  const { accounts, alice, clock, codeOf, start, answer } = await openWithApp(t);
  const late = await start();
  clock.advance(10 * minuteMs);
  t.equal(await reasonOf(answer(late, codeOf())), 'sign_in_expired');
  t.equal(await accounts.removeExpired(), 1);
  const open = await start();
  await accounts.setPassword(alice.id, password);
  t.equal(await reasonOf(answer(open, codeOf())), 'sign_in_expired');
  const other = await start();
  await accounts.setDisabled(alice.id, true);
  t.equal(await reasonOf(answer(other, codeOf())), 'sign_in_expired');
  t.equal(await reasonOf(start()), 'account_disabled');
});

t.test('what is no challenge opens nothing', async (t) => {
  const { accounts, alice, codeOf, recoveryCodes, answer } = await openWithApp(t);
  for (const challenge of [null, '', 'x', 'A'.repeat(43), alice.id, '\0'.repeat(43)])
    t.equal(await reasonOf(answer(challenge, codeOf())), 'sign_in_expired');
  t.equal(await accounts.secondFactor.challengeOf('A'.repeat(43)), null);
  t.equal((await accounts.secondFactor.stateOf(alice.id)).recoveryCodesLeft, recoveryCodes.length);
});

t.test('a person has at most ten sign-ins open', async (t) => {
  const { accounts, clock, start } = await openWithApp(t);
  const challenges: string[] = [];
  for (let n = 0; n < 12; n += 1) {
    challenges.push(await start());
    clock.advance(10);
  }
  const open = await Promise.all(challenges.map((each) => accounts.secondFactor.challengeOf(each)));
  t.same(
    open.map((state) => state !== null),
    [false, false, ...Array<boolean>(10).fill(true)],
  );
});

t.test('without the app nothing is asked any more, and recovery codes are gone', async (t) => {
  const { accounts, alice, recoveryCodes } = await openWithApp(t);
  await accounts.secondFactor.disableTotp(alice.id);
  t.equal(await reasonOf(accounts.secondFactor.disableTotp(alice.id)), 'totp_not_enabled');
  t.equal(await reasonOf(accounts.secondFactor.newRecoveryCodes(alice.id)), 'no_second_factor');
  t.same(await accounts.secondFactor.stateOf(alice.id), { totpAt: null, passkeys: 0, recoveryCodesLeft: 0 });
  t.equal((await accounts.signIn({ username: 'alice', password, ...origin })).kind, 'session');
  t.equal(recoveryCodes.length, 10);
});

t.test('an administrator resets a second factor that is lost; sessions end, tokens stay', async (t) => {
  const { accounts, alice, codeOf, start, answer } = await openWithApp(t);
  const { secret } = await answer(await start(), codeOf());
  const token = await accounts.addToken(alice.id, { name: 'ci', access: 'read', repositoryIds: null, expiresAt: null });
  await accounts.secondFactor.reset(alice.id);
  t.equal(await accounts.viewerOfSession(secret, { address: null }), null);
  t.ok(await accounts.viewerOfToken(token.secret, { address: null }));
  t.equal((await accounts.signIn({ username: 'alice', password, ...origin })).kind, 'session');
  t.equal(await reasonOf(accounts.secondFactor.reset(alice.id)), 'no_second_factor');
  t.equal(await reasonOf(accounts.secondFactor.reset('absent')), 'unknown_person');
});

t.test('who has to have one', async (t) => {
  const person = { isAdministrator: false, secondFactorAt: null };
  const administrator = { isAdministrator: true, secondFactorAt: null };
  const equipped = { isAdministrator: true, secondFactorAt: 1 };
  const table = {
    optional: [false, false, false],
    administrators: [false, true, false],
    everyone: [true, true, false],
  };
  for (const [secondFactor, expected] of Object.entries(table)) {
    const { accounts } = await openAccounts(t, { secondFactor: secondFactor as 'optional' });
    t.same([person, administrator, equipped].map(accounts.secondFactor.isMissing), expected, secondFactor);
  }
});

t.test(
  'the proof of an identity becomes a challenge whatever the proof, unless that is enough by itself',
  async (t) => {
    const { accounts, alice } = await openWithApp(t);
    const proof = { ...origin, method: 'provider' as const };
    t.equal((await accounts.completeSignIn(alice.id, proof)).kind, 'second_factor');
    t.match(await accounts.completeSignIn(alice.id, { ...proof, skipsSecondFactor: true }), {
      kind: 'session',
      session: { method: 'provider', factor: null },
    });
    t.equal(await reasonOf(accounts.completeSignIn('absent', proof)), 'unknown_person');
    await accounts.setDisabled(alice.id, true);
    t.equal(await reasonOf(accounts.completeSignIn(alice.id, proof)), 'account_disabled');
  },
);
