import t from 'tap';
import type { Tx } from '../../src/db/index.ts';
import { createGroupCommit } from '../../src/federation/group-commit.ts';
import { openTestDatabase, rowOrder } from '../fixtures/test-database.ts';

t.test('of activities that are written together, one that fails does not fail the others', async (t) => {
  const { db } = await openTestDatabase(t);
  await db.write(({ manager }) => manager.query('CREATE TABLE written (word TEXT NOT NULL)'));
  const commit = createGroupCommit(db);
  const write = (word: string, fails = false) =>
    commit(async ({ manager }: Tx) => {
      await manager.query('INSERT INTO written (word) VALUES (?)', [word]);
      if (fails) throw new Error(`${word} is refused`);
      return word;
    });
  // The first is being written while the others come in.
  const results = await Promise.allSettled([
    write('first'),
    write('second'),
    write('third', true),
    write('fourth'),
    write('fifth', true),
    write('sixth'),
  ]);
  t.strictSame(
    results.map((result) => (result.status === 'fulfilled' ? result.value : (result.reason as Error).message)),
    ['first', 'second', 'third is refused', 'fourth', 'fifth is refused', 'sixth'],
  );
  const rows: { word: string }[] = await db.read.query(`SELECT word FROM written ORDER BY ${rowOrder(db)}`);
  t.strictSame(
    rows.map(({ word }) => word),
    ['first', 'second', 'fourth', 'sixth'],
    'each once, and nothing of what failed',
  );
  t.equal(await write('later'), 'later', 'and it goes on');
});
