import t from 'tap';
import { createOneTimeSecrets } from '../../src/http/one-time-secrets.ts';
import { createPendingForms } from '../../src/http/pending-forms.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { openNode, passTimes } from '../nodes/nodes-fixture.ts';
import { seededRandom } from '../fixtures/seeded-random.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';

const secret = { name: 'laptop', value: 'hth_x' };
const random = seededRandom();

t.test('one process: once, to its owner, for five minutes, in bounded memory', async (t) => {
  const { db, folder } = await openTestDatabase(t);
  const clock = fixedClock();
  const { openKeptValues } = openNode({ db, clock, folder }, null);
  const secrets = createOneTimeSecrets({ random, openKeptValues });
  const token = await secrets.store('alice', secret);
  t.equal(await secrets.take('bob', token), null);
  t.same(await secrets.take('alice', token), secret);
  t.equal(await secrets.take('alice', token), null);
  const late = await secrets.store('alice', secret);
  clock.advance(5 * 60_000);
  t.equal(await secrets.take('alice', late), null);
  const first = await secrets.store('alice', secret);
  for (let index = 0; index < 1000; index += 1) await secrets.store('alice', secret);
  t.equal(await secrets.take('alice', first), null, 'the oldest goes');
  t.same(await db.read.query('SELECT * FROM kept_values'), [], 'nothing is written');
});

t.test('several nodes: kept at one, shown at another, once', async (t) => {
  const { db, folder, clock } = await openTestDatabase(t);
  const [a, b] = ['a', 'b'].map((node) =>
    createOneTimeSecrets({ random, openKeptValues: openNode({ db, clock, folder }, node).openKeptValues }),
  ) as [ReturnType<typeof createOneTimeSecrets>, ReturnType<typeof createOneTimeSecrets>];
  const token = await a.store('alice', secret);
  const stored = JSON.stringify(await db.read.query('SELECT * FROM kept_values'));
  t.notMatch(stored, /hth_x|laptop|alice/, 'sealed');
  t.notOk(stored.includes(token));
  t.equal(await b.take('bob', token), null, 'of another person');
  const both = await Promise.all([a.take('alice', token), b.take('alice', token)]);
  t.strictSame(
    both.filter((each) => each !== null),
    [secret],
  );
  t.equal(await a.take('alice', token), null);
  const late = await b.store('alice', secret);
  await passTimes(db, 'kept_values');
  t.equal(await a.take('alice', late), null, 'after its time');
  await b.store('bob', secret);
  await passTimes(db, 'kept_values');
  await a.store('carol', secret);
  t.equal((await db.read.query('SELECT * FROM kept_values')).length, 1, 'what is over leaves with the next one');
});

t.test('forms that wait for a proof: of their session, the last one, at any node', async (t) => {
  const { db, folder, clock } = await openTestDatabase(t);
  const form = { action: '/settings', fields: [['name', 'work']] } as const;
  const alone = createPendingForms({ random, openKeptValues: openNode({ db, clock, folder }, null).openKeptValues });
  const [a, b] = ['a', 'b'].map((node) =>
    createPendingForms({ random, openKeptValues: openNode({ db, clock, folder }, node).openKeptValues }),
  ) as [typeof alone, typeof alone];
  for (const [at, other] of [
    [alone, alone],
    [a, b],
  ] as const) {
    const first = await at.store('session', form);
    t.same(await other.find('session', first!), form);
    t.same(await other.find('session', first!), form, 'asking does not use it up');
    t.equal(await other.find('another', first!), null);
    const second = await other.store('session', { ...form, action: '/other' });
    t.equal(await at.find('session', first!), null, 'replaced');
    t.match(await at.find('session', second!), { action: '/other' });
    t.equal(await at.store('session', { action: '/', fields: [['text', 'x'.repeat(256 * 1024)]] }), null, 'too large');
  }
});
