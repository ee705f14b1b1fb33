import t from 'tap';
import fc from 'fast-check';
import {
  cachedBytes,
  cachedBytesLimit,
  cacheStatistics,
  createLru,
  deleteExpiredEntries,
  limitCachedBytes,
} from '../../src/kernel/index.ts';

const usual = cachedBytesLimit();
t.afterEach(() => limitCachedBytes(usual));

const weightOf = (name: string) => cacheStatistics().find((cache) => cache.name === name)!.weight;
const cacheOf = (name: string, maxWeight = 1_000_000) =>
  createLru<string, number>({ name, maxWeight, unit: 'bytes', weigh: (bytes) => bytes });

t.test(
  'all caches of bytes share one limit: what was not used for longest leaves first, whichever holds it',
  async (t) => {
    const before = cachedBytes();
    limitCachedBytes(before + 100);
    const [one, other] = [cacheOf('one'), cacheOf('other')];
    const entries = createLru<string, number>({ name: 'counted by entries', maxWeight: 3 });
    entries.set('x', 1);
    one.set('a', 40);
    other.set('b', 40);
    one.set('c', 10);
    t.equal(one.get('a'), 40);
    other.set('d', 30);
    t.strictSame([[...one.keys()], [...other.keys()]], [['c', 'a'], ['d']], 'b was used before all others');
    other.set('e', 30);
    t.strictSame([[...one.keys()], [...other.keys()]], [['a'], ['d', 'e']]);
    t.equal(cachedBytes(), before + 100);
    other.set('too large', before + 101);
    t.strictSame([...other.keys()], ['d', 'e'], 'one heavier than everything is not cached, and nothing leaves for it');

    limitCachedBytes(before + 35);
    t.strictSame([[...one.keys()], [...other.keys()]], [[], ['e']], 'a lower limit holds at once');
    limitCachedBytes(0);
    t.equal(cachedBytes(), 0);
    t.equal(entries.get('x'), 1, 'a cache that counts entries is left alone');
  },
);

t.test('the caches together never hold more than the limit, whatever is stored in them (model test)', async () => {
  const caches = [cacheOf('p', 60), cacheOf('q'), cacheOf('r')] as const;
  limitCachedBytes(0);
  limitCachedBytes(100);
  const step = fc.tuple(
    fc.nat(2),
    fc.constantFrom('get', 'set', 'delete'),
    fc.nat(9),
    fc.integer({ min: 0, max: 120 }),
  );
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      for (const [at, what, name, bytes] of steps) {
        const cache = caches[at]!;
        if (what === 'set') cache.set(`${name}`, bytes);
        else cache[what](`${name}`);
        if (cachedBytes() > 100 || caches[0].weight > 60) return false;
        if (what === 'set' && bytes <= (at === 0 ? 60 : 100) && cache.peek(`${name}`) !== bytes) return false;
      }
      return true;
    }),
  );
});

t.test('expired entries are dropped without being looked up', async (t) => {
  const cache = createLru<string, number>({
    name: 'stale',
    maxWeight: 100,
    unit: 'bytes',
    weigh: (bytes) => bytes,
    ttlMs: 20,
  });
  cache.set('a', 10);
  await new Promise((resolve) => setTimeout(resolve, 40));
  cache.set('b', 10);
  deleteExpiredEntries();
  t.strictSame([...cache.keys()], ['b']);
  t.equal(weightOf('stale'), 10);
});
