import t from 'tap';
import { openCodeIndexFile } from '../../src/search/code/code-index-file.ts';
import { endedWorkers } from '../fixtures/ended-workers.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

t.test('the thread that writes the index ends while nothing is pushed, and the next push starts another', async (t) => {
  const ended = endedWorkers(t);

  const { thread } = await openCodeIndexFile(temporaryFolder(t), { idleMs: 5 });
  t.teardown(() => thread.close());
  await thread.run([{ sql: 'INSERT INTO blobs (oid) VALUES (?)', parameters: ['a'.repeat(40)] }]);
  await Promise.all(ended);
  const before = ended.length;
  const [rows] = await thread.run([{ sql: 'SELECT oid FROM blobs', parameters: [] }]);
  t.same(rows, [{ oid: 'a'.repeat(40) }], 'what the thread before wrote');
  t.equal(ended.length, before + 1);
});
