import t from 'tap';
import { createOneTimeSecrets } from '../../src/http/one-time-secrets.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';

t.test('a secret to show once is shown once, to its owner, for five minutes', async (t) => {
  const clock = fixedClock();
  const secrets = createOneTimeSecrets({ clock, random: seededRandom() });
  const secret = { name: 'laptop', value: 'hth_x' };
  const token = secrets.store('alice', secret);
  t.equal(secrets.take('bob', token), null);
  t.same(secrets.take('alice', token), secret);
  t.equal(secrets.take('alice', token), null);
  const late = secrets.store('alice', secret);
  clock.advance(5 * 60_000);
  t.equal(secrets.take('alice', late), null);
  const first = secrets.store('alice', secret);
  for (let index = 0; index < 1000; index += 1) secrets.store('alice', secret);
  t.equal(secrets.take('alice', first), null, 'memory is bounded: the oldest goes');
});
