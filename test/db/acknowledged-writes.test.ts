import t from 'tap';
import { setImmediate as tick } from 'node:timers/promises';
import type { Tx } from '../../src/db/index.ts';
import { insertRow, openTestDatabase } from '../fixtures/test-database.ts';

const note = (tx: Tx, hash: string) =>
  insertRow(tx, 'setup_tokens', { token_hash: hash, created_at: tx.now, expires_at: 0 });

t.test('security J01 acknowledged writes survive beside failing transactions: 50 rounds of 100', async (t) => {
  const { db } = await openTestDatabase(t);
  const expected: string[] = [];
  let refused = 0;
  for (let round = 0; round < 50; round++) {
    const failing = db.write(async (tx) => {
      await note(tx, `failed-${round}-a`);
      // The others are requested while this one is open.
      await tick();
      await note(tx, `failed-${round}-b`);
      throw new Error('changed my mind');
    });
    const others = Array.from({ length: 100 }, (_, index) => {
      const hash = `kept-${String(round).padStart(2, '0')}-${String(index).padStart(2, '0')}`;
      return db.write((tx) => note(tx, hash)).then(() => expected.push(hash));
    });
    const [outcome] = await Promise.allSettled([failing, ...others]);
    if (outcome!.status === 'rejected' && (outcome.reason as Error).message === 'changed my mind') refused++;
  }
  t.equal(refused, 50, 'each failing one failed with its own error');
  t.equal(expected.length, 5000, 'all others were acknowledged');
  const rows = await db.read.query<{ token_hash: string }[]>('SELECT token_hash FROM setup_tokens ORDER BY 1');
  t.strictSame(
    rows.map((row) => row.token_hash),
    expected.sort(),
    'what was acknowledged is there, and nothing else',
  );
});
