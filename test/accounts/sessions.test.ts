import t from 'tap';
import { dayMs, minuteMs, openWithAlice, origin, password, reasonOf } from './accounts-fixture.ts';
import { expectSession } from '../fixtures/expect-session.ts';

const anywhere = { address: null };

t.test('a session expires after 14 days without use, and after 90 days in any case', async (t) => {
  const { accounts, clock, signIn } = await openWithAlice(t);
  const idle = await signIn();
  const busy = await signIn();
  for (let day = 0; day < 14; day += 1) {
    clock.advance(dayMs);
    if (day < 13) t.ok(await accounts.viewerOfSession(busy.secret, anywhere), `day ${day + 1}`);
    await accounts.settled();
  }
  t.equal(await accounts.viewerOfSession(idle.secret, anywhere), null);
  t.equal((await accounts.listSessions(busy.person.id)).length, 1, 'an ended session is not listed');
  for (let day = 14; day < 89; day += 1) {
    t.ok(await accounts.viewerOfSession(busy.secret, anywhere));
    await accounts.settled();
    clock.advance(dayMs);
  }
  t.ok(await accounts.viewerOfSession(busy.secret, anywhere));
  await accounts.settled();
  clock.advance(dayMs);
  t.equal(await accounts.viewerOfSession(busy.secret, anywhere), null, 'day 90');
  t.equal(await accounts.removeExpired(), 2);
});

t.test('after the clock was wrong, sessions are neither immortal nor all expired', async (t) => {
  const { accounts, clock, signIn } = await openWithAlice(t);
  const { secret } = await signIn();
  clock.advance(-30 * dayMs);
  t.ok(await accounts.viewerOfSession(secret, anywhere), 'set back by a month');
  await accounts.settled();
  clock.advance(15 * dayMs);
  t.equal(await accounts.viewerOfSession(secret, anywhere), null, 'idle counts from the last use by the right clock');
});

t.test('last use is written at most once a minute, and not while the request waits', async (t) => {
  const { accounts, alice, clock, signIn } = await openWithAlice(t);
  const { secret } = await signIn();
  const seen = async () => (await accounts.listSessions(alice.id))[0]!;
  const start = clock.now();

  clock.advance(59_000);
  await accounts.viewerOfSession(secret, { address: '192.0.2.9' });
  await accounts.settled();
  t.match(await seen(), { lastSeenAt: start, address: '192.0.2.1' });

  clock.advance(1000);
  await accounts.viewerOfSession(secret, { address: '192.0.2.9' });
  t.equal((await seen()).lastSeenAt, start, 'the request did not wait for it');
  await accounts.settled();
  t.match(await seen(), { lastSeenAt: start + minuteMs, address: '192.0.2.9' });
  t.equal((await accounts.personById(alice.id)).lastSeenAt, start + minuteMs);

  clock.advance(minuteMs);
  await accounts.viewerOfSession(secret, anywhere);
  await accounts.settled();
  t.match(
    await seen(),
    { lastSeenAt: start + 2 * minuteMs, address: '192.0.2.9' },
    'an unknown address keeps the known one',
  );
});

t.test('a use recorded after its session ended, or after the modules stopped, does no harm', async (t) => {
  const { accounts, clock, signIn } = await openWithAlice(t);
  const { secret } = await signIn();
  clock.advance(minuteMs);
  await Promise.all([accounts.viewerOfSession(secret, anywhere), accounts.signOut(secret)]);
  await accounts.settled();
  t.equal(await accounts.viewerOfSession(secret, anywhere), null);
  const other = await signIn();
  await accounts.stop();
  clock.advance(minuteMs);
  t.ok(await accounts.viewerOfSession(other.secret, anywhere));
});

t.test('people list their sessions, and end one or all others', async (t) => {
  const { accounts, alice, clock, signIn } = await openWithAlice(t);
  const bob = await accounts.addPerson({ username: 'bob', password });
  const first = await signIn({ address: '192.0.2.1' });
  clock.advance(1000);
  const second = await signIn({ address: '192.0.2.2' });
  clock.advance(1000);
  const third = await signIn({ address: '192.0.2.3' });
  const theirs = await expectSession(accounts.signIn({ username: 'bob', password, ...origin }));

  t.same(
    (await accounts.listSessions(alice.id)).map((session) => session.address),
    ['192.0.2.3', '192.0.2.2', '192.0.2.1'],
  );
  t.equal(
    await reasonOf(accounts.revokeSession(bob.id, first.session.id)),
    'unknown_session',
    'security E01 only their own',
  );
  await accounts.revokeSession(alice.id, first.session.id);
  t.equal(await accounts.viewerOfSession(first.secret, anywhere), null);
  t.equal(await reasonOf(accounts.revokeSession(alice.id, first.session.id)), 'unknown_session');
  t.equal(await accounts.revokeOtherSessions(alice.id, third.session.id), 1);
  t.equal(await accounts.viewerOfSession(second.secret, anywhere), null);
  t.ok(await accounts.viewerOfSession(third.secret, anywhere));
  t.ok(await accounts.viewerOfSession(theirs.secret, anywhere));
});

t.test('security D03 signing in again makes a new session and ends the browser’s previous one', async (t) => {
  const { accounts, signIn } = await openWithAlice(t);
  const planted = await signIn();
  const own = await signIn({ previousSecret: planted.secret });
  t.not(own.session.id, planted.session.id);
  t.equal(await accounts.viewerOfSession(planted.secret, anywhere), null);
  t.ok(await accounts.viewerOfSession(own.secret, anywhere));
});

t.test('beyond the limit the longest unused session ends', async (t) => {
  const { accounts, alice, clock, signIn } = await openWithAlice(t, { maxSessionsPerPerson: 3 });
  const sessions = [];
  for (let n = 0; n < 5; n += 1) {
    clock.advance(1000);
    sessions.push(await signIn());
  }
  t.same(
    (await accounts.listSessions(alice.id)).map(({ id }) => id),
    sessions
      .slice(2)
      .reverse()
      .map(({ session }) => session.id),
  );
});

t.test('the name of a browser is truncated and cleaned before it is stored', async (t) => {
  const { accounts, alice } = await openWithAlice(t);
  await accounts.startSession(alice.id, {
    address: `${'1'.repeat(500)}`,
    userAgent: `Browser\0\n\u202e\ud800${'x'.repeat(1000)}`,
  });
  const [session] = await accounts.listSessions(alice.id);
  t.match(session!.userAgent, /^Browser \ufffdx{200,}$/);
  t.equal(session!.userAgent.length, 255);
  t.equal(session!.address.length, 64);
});

t.test('an invalid session secret is refused', async (t) => {
  const { accounts } = await openWithAlice(t);
  for (const secret of ['', 'x', 'x'.repeat(43), 'x'.repeat(1e6), '\0'.repeat(43), undefined, null, {}, ['x']]) {
    t.equal(await accounts.viewerOfSession(secret as string, anywhere), null);
  }
});

t.test('a session opens nothing for a disabled account, also where it was not ended', async (t) => {
  const { accounts, db, alice, signIn } = await openWithAlice(t);
  const { secret } = await signIn();
  t.ok(await accounts.viewerOfSession(secret, anywhere));
  await db.write(({ manager, now }) => manager.query('UPDATE users SET disabled_at = ? WHERE id = ?', [now, alice.id]));
  t.equal(await accounts.viewerOfSession(secret, anywhere), null);
});
