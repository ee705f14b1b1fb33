import t from 'tap';
import { createIsStillPublic } from '../../src/federation/deliveries/is-still-public.ts';

t.test('whether a repository is public is asked once, until anything is written', async (t) => {
  let [state, asked] = [1, 0];
  const isPublic = new Map([['a', true]]);
  const db = { state: async () => state, read: null };
  const repositories = {
    isPublic: async (_source: unknown, id: string) => {
      asked += 1;
      return isPublic.get(id) ?? false;
    },
  };
  const isStillPublic = createIsStillPublic({ db, repositories } as never);
  t.strictSame([await isStillPublic('a'), await isStillPublic('a'), await isStillPublic('b')], [true, true, false]);
  t.equal(asked, 2);
  isPublic.set('a', false);
  state = 2;
  t.equal(await isStillPublic('a'), false, 'what has turned private is not told');
  t.equal(asked, 3);
});
