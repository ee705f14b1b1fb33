import t from 'tap';
import { defaultDistance, orderKeysBetween } from '../../src/search/order-keys.ts';

t.test('order keys: between neighbours, ascending, or none when the gap is too small', async (t) => {
  t.same(orderKeysBetween(10, 20, 1), [15]);
  t.same(orderKeysBetween(10, 20, 4), [12, 14, 16, 18]);
  t.equal(orderKeysBetween(10, 11, 1), null);
  t.equal(orderKeysBetween(10, 20, 10), null);
  t.same(orderKeysBetween(1e9, null, 2), [1e9 + defaultDistance, 1e9 + 2 * defaultDistance]);
  t.same(orderKeysBetween(null, 1e9, 2), [1e9 - 2 * defaultDistance, 1e9 - defaultDistance]);
  const first = orderKeysBetween(null, null, 1000)!;
  t.ok(first.every((place, at) => at === 0 || place > first[at - 1]!));
  t.equal(orderKeysBetween(2 ** 46 - 2, null, 2), null, 'the end of all keys');
});
