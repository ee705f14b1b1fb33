// Counts of attempts that protect accounts: by one process in memory, by several in rows.
import t from 'tap';
import { createCodeRateLimit } from '../../src/accounts/rate-limits/code-rate-limit.ts';
import { createResetRateLimit } from '../../src/accounts/rate-limits/reset-rate-limit.ts';
import { createSignInRateLimit } from '../../src/accounts/rate-limits/sign-in-rate-limit.ts';
import { openTestDatabase } from '../fixtures/test-database.ts';
import { openNode, passTimes } from './nodes-fixture.ts';

const refusal = (reason: string) => ({ name: 'DomainError', reason }) as { name: string };

t.test('counting, alone and by two nodes', async (t) => {
  const opened = await openTestDatabase(t);
  const { db } = opened;
  const alone = openNode(opened, null).counter('x', 3600);
  const [a, b] = ['a', 'b'].map((node) => openNode(opened, node).counter('x', 3600)) as [typeof alone, typeof alone];
  for (const [one, other] of [
    [alone, alone],
    [a, b],
  ] as const) {
    t.same(await other.get('key'), { count: 0, leftMs: 0 });
    t.match(await one.add('key'), { count: 1 });
    const second = await other.add('key');
    t.equal(second.count, 2);
    t.ok(second.leftMs > 1_800_000 && second.leftMs <= 3_600_000);
    t.equal((await one.add('second')).count, 1, 'another key');
    await one.takeBack('key');
    t.equal((await other.get('key')).count, 1);
    for (let index = 0; index < 3; index += 1) await other.takeBack('key');
    t.equal((await one.get('key')).count, 0, 'never below none');
  }
  const together = await Promise.all(Array.from({ length: 6 }, (_, at) => (at % 2 === 0 ? a : b).add('race')));
  t.strictSame(together.map(({ count }) => count).sort(), [1, 2, 3, 4, 5, 6], 'each is counted');
  t.equal((await openNode(opened, 'a').counter('y', 3600).get('race')).count, 0, 'another counter');
  await db.write(({ manager }) => manager.query('UPDATE attempts SET until = until - 1800000'));
  t.ok((await b.add('race')).leftMs <= 1_800_000, 'the window began with the first');
  await passTimes(db, 'attempts');
  t.equal((await a.get('race')).count, 0, 'the window is over');
  t.equal((await b.add('race')).count, 1, 'the next one begins anew');
  t.equal((await db.read.query('SELECT * FROM attempts')).length, 1, 'and others that are over leave');
  t.notMatch(JSON.stringify(await db.read.query('SELECT * FROM attempts')), /race/);
});

t.test('the limits of accounts are those of all nodes together', async (t) => {
  const opened = await openTestDatabase(t);
  const [a, b] = ['a', 'b'].map((node) => openNode(opened, node)) as [
    ReturnType<typeof openNode>,
    ReturnType<typeof openNode>,
  ];
  const at = { address: '192.0.2.7' };

  const signIn = [a, b].map((node) => createSignInRateLimit(node, { failures: 3, windowSeconds: 3600 }));
  for (const node of [0, 1, 0]) await signIn[node]!.count({ account: 'alice', ...at });
  for (const limit of signIn)
    await t.rejects(limit.refuseExhausted({ account: 'Alice', ...at }), refusal('too_many_tries'));
  await signIn[1]!.refuseExhausted({ account: 'alice', address: '198.51.100.7' });
  await signIn[1]!.forgive({ account: 'alice', ...at });
  await signIn[0]!.refuseExhausted({ account: 'alice', ...at });

  const limits = { codeFailures: 2, codeFailuresPerDay: 3, signInWindowSeconds: 3600 };
  const codes = [a, b].map((node) => createCodeRateLimit(node, limits));
  for (const limit of codes) await limit.countWrong({ personId: 'alice', ...at });
  await t.rejects(codes[0]!.refuseExhausted({ personId: 'alice', ...at }, false), refusal('too_many_tries'));
  const elsewhere = { personId: 'alice', address: '198.51.100.7' };
  await codes[0]!.refuseExhausted(elsewhere, true);
  await codes[0]!.countWrong(elsewhere);
  await t.rejects(codes[1]!.refuseExhausted({ ...elsewhere, address: '203.0.113.9' }, true), refusal('too_many_tries'));
  await codes[1]!.refuseExhausted({ ...elsewhere, personId: 'bob' }, true);

  const resets = [a, b].map((node) => createResetRateLimit(node, { resetsPerAddressHour: 2, resetsPerNetworkHour: 9 }));
  for (const limit of resets) await limit.count({ key: 'alice@example.org', network: '192.0.2.7' });
  await t.rejects(resets[0]!.count({ key: 'alice@example.org', network: '192.0.2.8' }), refusal('too_many_resets'));
  await resets[0]!.count({ key: 'bob@example.org', network: '192.0.2.8' });
});
