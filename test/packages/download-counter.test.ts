// Counts of downloads: written as sums, once, and kept for the next time where the database takes no writes.
import t from 'tap';
import { DownloadCounter } from '../../src/packages/collection/download-counter.ts';

t.test('counts that could not be written are written with the next ones', async (t) => {
  const counter = new DownloadCounter();
  const written = new Map<string, number>();
  let isLocked = true;
  const db = {
    async write(work: (tx: unknown) => Promise<void>) {
      const pending: [string, number][] = [];
      await work({
        manager: { query: async (_sql: string, [count, id]: [number, string]) => void pending.push([id, count]) },
      });
      if (isLocked) throw new Error('The database is locked.');
      for (const [id, count] of pending) written.set(id, (written.get(id) ?? 0) + count);
    },
  } as unknown as Parameters<DownloadCounter['flush']>[0]['db'];
  for (const id of ['a', 'a', 'b']) counter.add(id);
  await t.rejects(counter.flush({ db }), { message: 'The database is locked.' });
  counter.add('a');
  isLocked = false;
  await counter.flush({ db });
  await counter.flush({ db });
  t.strictSame(Object.fromEntries(written), { a: 3, b: 1 });
});
