import t from 'tap';
import { insertRow } from '../fixtures/test-database.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { unavailable } from '../../src/kernel/index.ts';
import { backoffMs } from '../../src/outbox/index.ts';
import { claim, leaseMs, release } from '../../src/outbox/claim.ts';
import { nextMessageState } from '../../src/outbox/message-state.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { reasonOf } from '../ci/ci-fixture.ts';
import { delivered, failed, openOutbox } from './outbox-fixture.ts';

const minuteMs = 60_000;

t.test('the backoff grows from a minute to an hour and never shrinks, whatever the number of attempts', async (t) => {
  const random = seededRandom();
  for (let round = 0; round < 2_000; round++) {
    const attempts = random.below(random.pick([10, 100, 2 ** 31]));
    const [now, next] = [backoffMs(attempts), backoffMs(attempts + 1)];
    if (!(Number.isSafeInteger(now) && now >= minuteMs && now <= 60 * minuteMs && next >= now && next <= 2 * now))
      t.fail(`${attempts} attempts: ${now}, then ${next}`);
  }
  t.strictSame(
    [1, 2, 3, 4, 5, 6, 7, 8, 1e9].map((attempts) => backoffMs(attempts) / minuteMs),
    [1, 2, 4, 8, 16, 32, 60, 60, 60],
  );
});

t.test('the state after an attempt: of any row and outcome, generated', async (t) => {
  const random = seededRandom(2);
  for (let round = 0; round < 2_000; round++) {
    const row = { attempts: random.below(12), nextAt: random.below(1e9) };
    const maxAttempts = 1 + random.below(12);
    const endedAt = row.nextAt + random.below(1e6);
    const outcome = { error: random.chance(0.5) ? 'no' : null, mayRetry: random.chance(0.5) };
    const next = nextMessageState(row, outcome, endedAt, maxAttempts);
    const isLast = next.attempts >= maxAttempts || !outcome.mayRetry;
    const state = outcome.error === null ? 'DELIVERED' : isLast ? 'FAILED' : 'PENDING';
    const nextAt = state === 'PENDING' ? endedAt + backoffMs(row.attempts + 1) : row.nextAt;
    t.strictSame(
      next,
      { state, attempts: row.attempts + 1, nextAt, leaseUntil: 0, lastError: outcome.error },
      `round ${round}`,
    );
  }
});

t.test('what a limit of this server puts off has as many attempts left as before', (t) => {
  for (const attempts of [0, 1, 2, 7])
    for (const mayRetry of [true, false])
      t.strictSame(
        nextMessageState({ attempts, nextAt: 1 }, { error: 'full', mayRetry, postponedTo: 99 }, 5, 2),
        { state: 'PENDING', attempts, nextAt: 99, leaseUntil: 0, lastError: 'full' },
        `${attempts} attempts`,
      );
  t.end();
});

t.test('a drain that comes late ends its own leases and no newer ones', async (t) => {
  const { db, clock, enqueue, rows } = await openOutbox(t);
  await enqueue('alice', 'bob');
  const wanted = ['alice', 'bob'].map((key) => ({ key, limit: 1 }));
  const late = await db.write((tx) => claim(tx, 'mail', wanted));
  t.strictSame(await db.write((tx) => claim(tx, 'mail', wanted)), [], 'each has one drain');
  clock.advance(leaseMs - 1);
  t.strictSame(await db.write((tx) => claim(tx, 'mail', wanted)), [], 'until the last millisecond of the lease');
  clock.advance(1);
  const [newer] = await db.write((tx) => claim(tx, 'mail', wanted.slice(0, 1)));
  await db.write((tx) => release(tx, late));
  t.match(await rows(), [
    { key: 'alice', leaseUntil: newer!.leaseUntil },
    { key: 'bob', leaseUntil: 0 },
  ]);
  await db.write((tx) => release(tx, [newer!]));
  t.match(await rows(), [
    { key: 'alice', leaseUntil: 0 },
    { key: 'bob', leaseUntil: 0 },
  ]);
});

t.test('a message is enqueued with its cause or not at all, and handled with what it carries', async (t) => {
  const { db, outbox, enqueue, handled, rows } = await openOutbox(t);
  await t.rejects(
    db.write(async (tx) => {
      await outbox.enqueue(tx, { kind: 'mail', key: 'alice', payload: 'lost with its cause' });
      throw new Error('the cause failed');
    }),
  );
  const [id] = await enqueue('alice');
  t.equal(await outbox.drain('mail'), 1);
  t.match(handled, [{ id, key: 'alice', payload: 'to alice', attempts: 0 }]);
  t.match(await rows(), [{ id, state: 'DELIVERED', attempts: 1, leaseUntil: 0, lastError: null }]);
  t.equal(await outbox.drain('mail'), 0, 'nothing is left');
  await db.write((tx) => outbox.enqueue(tx, { kind: 'mail', key: 'bob', payload: null, at: tx.now + minuteMs }));
  t.equal(await outbox.drain('mail'), 0, 'not before it is due');
});

t.test('keys take turns, each has one message in flight, and no more than the slots are', async (t) => {
  let inFlight = 0;
  let most = 0;
  const running = new Set<string>();
  const order: string[] = [];
  const { outbox, enqueue, rows } = await openOutbox(t, {
    slots: 3,
    async handle({ key }) {
      t.notOk(running.has(key), `${key} has one at a time`);
      running.add(key);
      most = Math.max(most, (inFlight += 1));
      order.push(key);
      await wait(2);
      running.delete(key);
      inFlight -= 1;
      return delivered;
    },
  });
  const few = ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'];
  await enqueue(...Array.from({ length: 60 }, () => 'a'), ...few, ...few);
  t.equal(await outbox.drain('mail'), 60 + 2 * few.length);
  t.equal(most, 3);
  const last = Math.max(...few.map((key) => order.lastIndexOf(key)));
  t.ok(last < 45, `the key with many does not crowd out the others: their last one was number ${last}`);
  t.ok((await rows()).every(({ state }) => state === 'DELIVERED'));
});

t.test('what throws, hangs or says so is tried again with backoff, and FAILED after its last attempt', async (t) => {
  const aborted: string[] = [];
  const { outbox, enqueue, rows, clock, log } = await openOutbox(t, {
    timeoutMs: 40,
    async handle({ key }, signal) {
      if (key === 'throws') throw new Error('the details are for the log');
      if (key === 'refuses') throw unavailable('busy', 'It is busy.');
      if (key === 'says') return failed('not today');
      if (key === 'never') return failed('it is gone', false);
      signal.addEventListener('abort', () => aborted.push(key));
      return new Promise(() => {});
    },
  });
  await enqueue('throws', 'refuses', 'says', 'never', 'hangs');
  t.equal(await outbox.drain('mail'), 5);
  const now = await rows();
  t.match(now, [
    { key: 'throws', state: 'PENDING', attempts: 1, lastError: 'an internal error' },
    { key: 'refuses', state: 'PENDING', attempts: 1, lastError: 'It is busy.' },
    { key: 'says', state: 'PENDING', attempts: 1, lastError: 'not today' },
    { key: 'never', state: 'FAILED', attempts: 1, lastError: 'it is gone' },
    { key: 'hangs', state: 'PENDING', attempts: 1, lastError: 'The handler took longer than 0.04 seconds.' },
  ]);
  t.strictSame(aborted, ['hangs'], 'it is told to stop');
  t.match(log, [{ event: 'outbox.handler_failed', kind: 'mail', error: /details/ }]);
  for (const { state, nextAt, leaseUntil } of now) {
    t.equal(leaseUntil, 0);
    if (state === 'PENDING') t.ok(nextAt >= clock.now() + minuteMs && nextAt < clock.now() + minuteMs + 5_000);
  }
  t.equal(await outbox.drain('mail'), 0, 'not before the backoff is over');
  clock.advance(2 * minuteMs);
  t.equal(await outbox.drain('mail'), 4);
  clock.advance(3 * minuteMs);
  t.equal(await outbox.drain('mail'), 4);
  t.strictSame(
    (await rows()).map(({ state, attempts }) => [state, attempts]),
    [3, 3, 3, 1, 3].map((attempts) => ['FAILED', attempts]),
  );
  clock.advance(120 * minuteMs);
  t.equal(await outbox.drain('mail'), 0);
  t.match(outbox.metrics().get('mail'), { attempts: { delivered: 0, retry: 8, failed: 5 }, attemptsInFlight: 0 });
});

t.test('a FAILED message is retried by hand, and no other', async (t) => {
  let works = false;
  const { outbox, enqueue, rows } = await openOutbox(t, {
    maxAttempts: 1,
    handle: async () => (works ? delivered : failed('no')),
  });
  const [id] = await enqueue('alice');
  t.equal(await reasonOf(outbox.retry(id!)), 'message_not_failed');
  await outbox.drain('mail');
  t.match(await rows(), [{ state: 'FAILED' }]);
  works = true;
  await outbox.retry(id!);
  t.equal(await outbox.drain('mail'), 1);
  t.match(await rows(), [{ state: 'DELIVERED', attempts: 1, lastError: null }]);
  t.equal(await reasonOf(outbox.retry(id!)), 'message_not_failed');
  t.equal(await reasonOf(outbox.retry(999)), 'unknown_message');
});

t.test('a claimed message is left alone until the lease ends, or until the next start', async (t) => {
  const { db, clock, outbox, enqueue, handled } = await openOutbox(t);
  const lease = (until: number) =>
    db.write(({ manager }) => manager.query('UPDATE outbox SET lease_until = ?', [until]));
  await enqueue('alice');
  await lease(clock.now() + 10 * minuteMs);
  t.equal(await outbox.drain('mail'), 0);
  clock.advance(10 * minuteMs + 1);
  t.equal(await outbox.drain('mail'), 1);
  await enqueue('bob');
  await lease(clock.now() + 10 * minuteMs);
  t.equal(await outbox.drain('mail'), 0);
  // Beside another node, whose time is told by the clock of the database.
  Object.assign(db, { node: 'here' });
  const seen = { host: 'h', version: '1', run: 'r', started_at: 1, seen_at: 1, until: Date.now() + 600_000 };
  await db.write((tx) => insertRow(tx, 'nodes', { id: 'other', ...seen }));
  await outbox.recover();
  t.equal(await outbox.drain('mail'), 0, 'the claim may be that of the other node');
  await db.write(({ manager }) => manager.query('UPDATE nodes SET until = 0'));
  await outbox.recover();
  t.equal(await outbox.drain('mail'), 1);
  t.strictSame(
    handled.map(({ key }) => key),
    ['alice', 'bob'],
  );
});

t.test('a claimed message is left alone beside a free one of its key', async (t) => {
  const { db, clock, outbox, enqueue, rows } = await openOutbox(t);
  await enqueue('alice', 'alice');
  await db.write(({ manager }) =>
    manager.query('UPDATE outbox SET lease_until = ? WHERE id = (SELECT min(id) FROM outbox)', [
      clock.now() + 10 * minuteMs,
    ]),
  );
  t.equal(await outbox.drain('mail'), 1);
  t.strictSame(
    (await rows()).map(({ state }) => state),
    ['PENDING', 'DELIVERED'],
  );
});

t.test('a failure whose lease was lost is not recorded, a success is', async (t) => {
  const { db, clock, outbox, enqueue, rows } = await openOutbox(t, {
    async handle({ key }) {
      await db.write(({ manager, now }) =>
        manager.query('UPDATE outbox SET lease_until = ? WHERE key = ?', [now + 60 * minuteMs, key]),
      );
      return key === 'fails' ? failed('late') : delivered;
    },
  });
  await enqueue('fails', 'works');
  await outbox.drain('mail');
  t.match(await rows(), [
    { key: 'fails', state: 'PENDING', attempts: 0, leaseUntil: clock.now() + 60 * minuteMs },
    { key: 'works', state: 'DELIVERED', attempts: 1 },
  ]);
});

t.test('stopping aborts what is in flight, uncounted, and releases all that was claimed', async (t) => {
  const begun = Promise.withResolvers<void>();
  const { outbox, enqueue, rows } = await openOutbox(t, {
    async handle() {
      begun.resolve();
      return new Promise(() => {});
    },
  });
  await enqueue('a', 'a', 'a', 'b', 'b', 'c');
  const draining = outbox.drain('mail');
  await begun.promise;
  await outbox.stop();
  t.equal(await draining, 0);
  for (const row of await rows()) t.match(row, { state: 'PENDING', attempts: 0, leaseUntil: 0 });
  t.equal(await outbox.drain('mail'), 0, 'nothing begins any more');
});

t.test('a call during a drain is not lost: messages enqueued meanwhile are sent by it', async (t) => {
  const { outbox, enqueue, handled } = await openOutbox(t, {
    async handle() {
      await wait(20);
      return delivered;
    },
  });
  await enqueue('alice');
  const first = outbox.drain('mail');
  await wait(5);
  await enqueue('bob');
  t.equal(await outbox.drain('mail'), 2, 'it joins the first');
  t.equal(await first, 2);
  t.equal(handled.length, 2);
});

t.test('what is done and old goes, what is on its way is never old', async (t) => {
  const { clock, outbox, enqueue, rows } = await openOutbox(t, {
    maxAttempts: 1,
    handle: async ({ key }) => (key === 'fails' ? failed('no') : delivered),
  });
  await enqueue('works', 'fails');
  await outbox.drain('mail');
  await enqueue('waits');
  clock.advance(86_400_000);
  t.equal(await outbox.removeOld('mail'), 0);
  clock.advance(1);
  t.equal(await outbox.removeOld('mail'), 2);
  t.match(await rows(), [{ key: 'waits', state: 'PENDING' }]);
});

t.test('a result that cannot be written is retained and written later', async (t) => {
  let faults = 1;
  const { outbox, enqueue, rows, handled, log } = await openOutbox(t, {
    async record() {
      if (faults-- > 0) throw new Error('disk full');
    },
  });
  await enqueue('alice');
  t.equal(await outbox.drain('mail'), 1);
  t.equal(handled.length, 1, 'it is not sent twice');
  t.match(await rows(), [{ state: 'DELIVERED' }]);
  t.match(log, [{ event: 'outbox.not_recorded', kind: 'mail', attempts: 1 }]);
});

t.test('a kind has one handler, and a timeout that fits into a lease', async (t) => {
  const { outbox } = await openOutbox(t);
  const handler = { slots: 1, timeoutMs: 1, maxAttempts: 1, keepMs: 1, handle: async () => delivered };
  t.throws(() => outbox.register({ ...handler, kind: 'mail' }));
  t.throws(() => outbox.register({ ...handler, kind: 'long', timeoutMs: 10 * minuteMs }));
  await t.rejects(outbox.drain('unknown'));
});
