import t from 'tap';
import { once } from 'node:events';
import { embedded } from '../../src/embedded/index.ts';
import { openCodeIndexFile } from '../../src/search/code/code-index-file.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

t.test('the thread that writes the index ends while nothing is pushed, and the next push starts another', async (t) => {
  const start = embedded.startWorker;
  const ended: Promise<unknown>[] = [];
  embedded.startWorker = (...args) => {
    const worker = start(...args);
    ended.push(once(worker, 'exit'));
    return worker;
  };
  t.teardown(() => (embedded.startWorker = start));
  // The idle thread and its timer keep no process alive.
  const alive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(alive));

  const { thread } = await openCodeIndexFile(temporaryFolder(t), { idleMs: 5 });
  t.teardown(() => thread.close());
  await thread.run([{ sql: 'INSERT INTO blobs (oid) VALUES (?)', parameters: ['a'.repeat(40)] }]);
  await Promise.all(ended);
  const before = ended.length;
  const [rows] = await thread.run([{ sql: 'SELECT oid FROM blobs', parameters: [] }]);
  t.same(rows, [{ oid: 'a'.repeat(40) }], 'what the thread before wrote');
  t.equal(ended.length, before + 1);
});
