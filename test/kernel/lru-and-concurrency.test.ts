import t from 'tap';
import fc from 'fast-check';
import {
  busy,
  cacheStatistics,
  createKeyedMutex,
  createLru,
  createNotifier,
  createSemaphore,
  eachLimit,
  waitAtMost,
  withTimeout,
} from '../../src/kernel/index.ts';

t.test('an LRU cache evicts the least recently used entry, by weight', async (t) => {
  const evicted: string[] = [];
  const cache = createLru<string, string>({
    name: 'letters',
    maxWeight: 6,
    weigh: (value) => value.length,
    onEvict: (_value, key) => evicted.push(key),
  });
  cache.set('a', 'aa');
  cache.set('b', 'bb');
  cache.set('c', 'cc');
  t.equal(cache.get('a'), 'aa');
  t.equal(cache.peek('b'), 'bb', 'a peek does not count as use');
  cache.set('d', 'ddd');
  t.strictSame(evicted, ['b', 'c']);
  t.strictSame([...cache.keys()], ['a', 'd']);
  t.equal(cache.weight, 5);
  cache.set('e', 'eeeeeee');
  t.equal(cache.get('e'), undefined, 'heavier than the cache');
  t.strictSame([...cache.keys()], ['a', 'd'], 'and nothing was evicted for it');
  cache.set('a', 'a');
  t.equal(cache.weight, 4, 'a replaced entry no longer counts');
  cache.clear();
  t.strictSame([cache.size, cache.weight], [0, 0]);
  t.match(
    cacheStatistics().find(({ name }) => name === 'letters'),
    { entries: 0, weight: 0, maxWeight: 6, hits: 1, misses: 1 },
  );
});

t.test('entries of an LRU cache expire', async (t) => {
  const cache = createLru<string, number>({ name: 'short-lived', maxWeight: 10, ttlMs: 20 });
  cache.set('a', 1);
  t.equal(cache.get('a'), 1);
  await new Promise((resolve) => setTimeout(resolve, 40));
  t.equal(cache.get('a'), undefined);
  t.equal(cache.size, 0);
});

t.test('an LRU cache never exceeds its weight and holds the most recently used entries (model test)', async () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(9), fc.integer({ min: 1, max: 4 }))), (steps) => {
      const cache = createLru<number, number>({ name: 'model', maxWeight: 8, weigh: (weight) => weight });
      const model = new Map<number, number>();
      for (const [isSet, key, weight] of steps) {
        if (isSet) {
          cache.set(key, weight);
          model.delete(key);
          model.set(key, weight);
          const sum = (): number => [...model.values()].reduce((a, b) => a + b, 0);
          while (sum() > 8) model.delete(model.keys().next().value!);
        } else {
          const value = model.get(key);
          if (value !== undefined) {
            model.delete(key);
            model.set(key, value);
          }
          if (cache.get(key) !== value) return false;
        }
        if (JSON.stringify([...cache.keys()]) !== JSON.stringify([...model.keys()])) return false;
      }
      return true;
    }),
  );
});

t.test('a keyed mutex runs work of one key in order and of others concurrently', async (t) => {
  const runExclusive = createKeyedMutex();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = runExclusive('a', async () => {
    log.push('a1 begins');
    await gate.promise;
    log.push('a1 ends');
    throw new Error('failed');
  });
  const second = runExclusive('a', async () => void log.push('a2'));
  await runExclusive('b', async () => void log.push('b'));
  t.strictSame(log, ['a1 begins', 'b']);
  gate.resolve();
  await t.rejects(first, { message: 'failed' });
  await second;
  t.strictSame(log, ['a1 begins', 'b', 'a1 ends', 'a2']);
});

const refusal = busy('test_busy', 'Busy.', 7);

t.test('the waiters of one key value cannot fill the queue', async (t) => {
  const semaphore = createSemaphore({
    limit: 2,
    limitPerKey: { address: 1 },
    queue: 3,
    queuePerKey: { address: 2 },
    refusal,
  });
  const release = await semaphore.acquire({ address: 'a' });
  const waiting = [semaphore.acquire({ address: 'a' }), semaphore.acquire({ address: 'a' })];
  await t.rejects(
    semaphore.acquire({ address: 'a' }),
    Object.assign(new Error('Busy.'), { reason: 'test_busy' }),
    'a third of the same address',
  );
  const releaseB = await semaphore.acquire({ address: 'b' });
  const secondB = semaphore.acquire({ address: 'b' });
  await t.rejects(
    semaphore.acquire({ address: 'c' }),
    Object.assign(new Error('Busy.'), { reason: 'test_busy' }),
    'the queue is full',
  );
  releaseB();
  (await secondB)();
  release();
  (await waiting[0]!)();
  const again = semaphore.acquire({ address: 'a' });
  (await waiting[1]!)();
  (await again)();
  t.strictSame([semaphore.held(), semaphore.waiting()], [0, 0], 'who has waited makes room');
});

t.test(
  'a semaphore admits up to its limits, passes over keys at their limit, and refuses when full or late',
  async (t) => {
    const semaphore = createSemaphore({ limit: 2, limitPerKey: { repository: 1 }, queue: 2, waitMs: 10_000, refusal });
    const releaseA = await semaphore.acquire({ repository: 'a' });
    const order: string[] = [];
    const secondA = semaphore.acquire({ repository: 'a' }).then((release) => (order.push('a'), release));
    const releaseB = await semaphore.acquire({ repository: 'b' });
    t.equal(semaphore.held(), 2);
    const firstC = semaphore.acquire({ repository: 'c' }).then((release) => (order.push('c'), release));
    t.equal(semaphore.waiting(), 2);
    await t.rejects(
      semaphore.acquire({ repository: 'd' }),
      Object.assign(new Error('Busy.'), { reason: 'test_busy', retryAfterSeconds: 7 }),
    );
    releaseB();
    const releaseC = await firstC;
    t.strictSame(order, ['c'], 'a waiter whose repository is busy is passed over');
    releaseA();
    releaseA();
    (await secondA)();
    releaseC();
    t.strictSame([semaphore.held(), semaphore.heldBy('repository', 'a'), semaphore.waiting()], [0, 0, 0]);
    t.match(semaphore.statistics(), { admitted: 4, refusedFull: 1, refusedLate: 0 });
  },
);

t.test('a waiter of a semaphore leaves on timeout and on abort', async (t) => {
  const semaphore = createSemaphore({ limit: 1, queue: 5, waitMs: 20, refusal });
  const release = await semaphore.acquire();
  await t.rejects(semaphore.acquire(), Object.assign(new Error('Busy.'), { reason: 'test_busy' }));
  const leaving = new AbortController();
  const waiting = semaphore.acquire({}, leaving.signal);
  leaving.abort(new Error('the client left'));
  await t.rejects(waiting, { message: 'the client left' });
  await t.rejects(semaphore.acquire({}, leaving.signal), { message: 'the client left' });
  t.equal(semaphore.waiting(), 0);
  release();
  (await semaphore.acquire())();
  t.equal(semaphore.held(), 0);
});

t.test('a notifier wakes all that wait for a topic, and only those', async (t) => {
  const notifier = createNotifier();
  const { signal } = new AbortController();
  const woken: string[] = [];
  const wait = (name: string, topic: string, timeoutMs = 10_000): Promise<void> =>
    notifier.wait(topic, { signal, timeoutMs }).then(() => void woken.push(name));
  const waits = [wait('one', 'run 1'), wait('two', 'run 1')];
  const late = wait('late', 'run 2', 30);
  notifier.notify('run 1');
  await Promise.all(waits);
  t.strictSame(woken, ['one', 'two']);
  await late;
  t.strictSame(woken, ['one', 'two', 'late'], 'a waiter that nobody wakes ends by its timeout');
  const left = new AbortController();
  const aborted = notifier.wait('run 3', { signal: left.signal, timeoutMs: 10_000 });
  left.abort();
  await aborted;
  await notifier.wait('run 3', { signal: left.signal, timeoutMs: 10_000 });
});

t.test('withTimeout passes on a result in time, else rejects', async (t) => {
  const late = (): Error => new Error('late');
  t.equal(await withTimeout(Promise.resolve(3), 1_000, late), 3);
  await t.rejects(withTimeout(Promise.reject(new Error('no')), 1_000, late), { message: 'no' });
  const keepAlive = setTimeout(() => {}, 5_000);
  await t.rejects(withTimeout(new Promise(() => {}), 10, late), { message: 'late' });
  clearTimeout(keepAlive);
});

t.test('waitAtMost returns what comes in time, else undefined', async (t) => {
  t.equal(await waitAtMost(Promise.resolve(3), 1_000), 3);
  t.equal(await waitAtMost(new Promise(() => {}), 10), undefined);
  await t.rejects(waitAtMost(Promise.reject(new Error('no')), 1_000), { message: 'no' });
});

t.test('eachLimit does so many at a time, in order, and ends with the first failure', async (t) => {
  let running = 0;
  let most = 0;
  const begun: number[] = [];
  const work = async (item: number): Promise<void> => {
    begun.push(item);
    most = Math.max(most, (running += 1));
    await new Promise((resolve) => setTimeout(resolve, 5));
    running -= 1;
    if (item === 4) throw new Error('four');
  };
  await eachLimit([0, 1, 2, 3], 3, work);
  t.strictSame([most, begun], [3, [0, 1, 2, 3]]);
  await t.rejects(eachLimit(new Set([3, 4, 5, 6, 7, 8]), 2, work), { message: 'four' });
  t.equal(running, 0, 'what has begun has ended');
  t.notOk(begun.includes(7), 'nothing begins after a failure');
  await eachLimit([], 2, work);
});

t.test('a cache may be bounded by entries beside the weight', async (t) => {
  const cache = createLru<string, number>({
    name: 'two bounds',
    maxWeight: 10,
    maxEntries: 2,
    weigh: (value) => value,
  });
  for (const key of ['a', 'b', 'c']) cache.set(key, 1);
  t.strictSame([...cache.keys()], ['b', 'c']);
  cache.set('d', 10);
  t.strictSame([...cache.keys()], ['d']);
});

t.test('a semaphore without bounds of its queue lets every caller wait, and run releases the slot', async (t) => {
  const semaphore = createSemaphore({ limit: 2 });
  let running = 0;
  let most = 0;
  const results = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      semaphore.run(async () => {
        most = Math.max(most, (running += 1));
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return n;
      }),
    ),
  );
  t.strictSame([most, results.length, results[19], semaphore.held()], [2, 20, 19, 0]);
  await t.rejects(
    semaphore.run(() => Promise.reject(new Error('broken'))),
    { message: 'broken' },
  );
  t.equal(semaphore.held(), 0);
});

t.test('a keyed mutex tells what is held and when all of it has ended', async (t) => {
  const mutex = createKeyedMutex();
  const gate = Promise.withResolvers<void>();
  const failing = mutex('a', () => gate.promise.then(() => Promise.reject(new Error('failed'))));
  failing.catch(() => {});
  void mutex('b', () => gate.promise);
  t.strictSame([mutex.isHeld('a'), mutex.isHeld('c'), mutex.held()], [true, false, 2]);
  gate.resolve();
  await mutex.settled();
  t.strictSame([mutex.isHeld('a'), mutex.held()], [false, 0]);
  await t.rejects(failing, { message: 'failed' });
});

t.test('a notifier without a timeout waits for its topic', async (t) => {
  const notifier = createNotifier();
  const waiting = notifier.wait('x').then(() => 'woken');
  notifier.notify('y');
  t.equal(await waitAtMost(waiting, 10), undefined);
  notifier.notify('x');
  t.equal(await waiting, 'woken');
});
