import t from 'tap';
import { setImmediate as nextTick } from 'node:timers/promises';
import { createThreadPool } from '../../src/search/thread-pool.ts';

t.test('two threads serve one queue, and both are closed', async (t) => {
  const calls: string[] = [];
  const responses: (() => void)[] = [];
  const thread = (name: string) => ({
    run: () =>
      new Promise<never[]>((resolve) => {
        calls.push(name);
        responses.push(() => resolve([]));
      }),
    close: async () => void calls.push(`${name} closed`),
  });
  const both = createThreadPool([thread('a'), thread('b')], 1);
  const requests = Array.from({ length: 3 }, () => both.run([]));
  await nextTick();
  t.same(calls, ['a', 'b'], 'one each, and the third waits');
  responses[1]!();
  await requests[1];
  requests.push(both.run([]), both.run([]));
  await nextTick();
  t.same(
    calls.splice(0),
    ['a', 'b', 'b', 'a'],
    'who has answered takes the first in line; what is beyond the line is for a thread to refuse',
  );
  for (const response of responses) response();
  await requests[0];
  await nextTick();
  t.same(calls.splice(0), ['a'], 'and then the next');
  responses[4]!();
  await Promise.all(requests);
  const later = both.run([]);
  responses[5]!();
  await later;
  t.same(calls.splice(0), ['a'], 'one thread is enough again');
  const sparing = [both.run([], true), both.run([], true), both.run([])];
  await nextTick();
  t.same(calls.splice(0), ['a', 'b'], 'a sparing one waits although a thread is idle, and is in nobody’s way');
  responses[6]!();
  await sparing[0];
  await nextTick();
  t.same(calls.splice(0), ['a']);
  for (const response of responses) response();
  await Promise.all(sparing);
  await both.close();
  t.same(calls, ['a closed', 'b closed']);
});
