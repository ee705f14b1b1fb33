import t from 'tap';
import type { Test } from 'tap';
import { Worker } from 'node:worker_threads';
import { chargeCpuTime, silentLogger } from '../../src/kernel/index.ts';
import type { LogFields } from '../../src/kernel/index.ts';
import { createWorkerPool } from '../../src/workers/index.ts';
import type { PoolLimits, WorkerPool } from '../../src/workers/index.ts';
import { TaskQueue } from '../../src/workers/task-queue.ts';
import { defaultPoolLimits } from '../../src/workers/worker-pool.ts';
import type { TestTask, run } from './test-thread.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const file = new URL('./test-thread.ts', import.meta.url);
const generous = { deadlineMs: 60_000, maxWaitMs: 60_000, maxInputBytes: 10_000, maxResultBytes: 10_000 };

/** A pool over threads of test-thread.ts; `threads` are those that were started. */
function openPool(t: Test, limits: Partial<PoolLimits> = {}, now?: () => number) {
  const threads: Worker[] = [];
  const log: ({ event: string } & LogFields)[] = [];
  const workers = createWorkerPool({
    embedded: {
      startWorker: (_name, options) => {
        const worker = new Worker(file, { ...options, execArgv: ['--disable-warning=ExperimentalWarning'] });
        threads.push(worker);
        return worker;
      },
    },
    logger: { ...silentLogger, warn: (event, fields) => void log.push({ event, ...fields }) },
    limits: { ...defaultPoolLimits, threads: 1, ...limits },
    ...(now === undefined ? {} : { now }),
  });
  t.teardown(() => workers.stop());
  let keys = 0;
  const runTask = (
    input: TestTask,
    {
      key = `key ${(keys += 1)}`,
      client = 'alice',
      ...more
    }: Partial<typeof generous & { key: string; client: string }> = {},
  ) =>
    (workers as WorkerPool).run<typeof run>({
      task: 'highlight',
      key,
      input: () => input,
      client,
      limits: { ...generous, ...more },
    });
  return { workers, runTask, threads, log };
}

t.test('a task runs in a thread that is started for it, and its result is cached by its key', async (t) => {
  const { runTask, threads } = openPool(t);
  t.equal(threads.length, 0, 'none before it is needed');
  const value = { text: 'ä🔥', map: new Map([['a', [1, null]]]) };
  t.same(await runTask({ does: 'answer', value }, { key: 'one' }), { ok: true, value });
  t.same(await runTask({ does: 'throw' }, { key: 'one' }), { ok: true, value }, 'a key never means another input');
  t.equal(threads.length, 1);
});

t.test('concurrent requests for the same key share one run', async (t) => {
  const { runTask } = openPool(t);
  let made = 0;
  const value = () => ((made += 1), { does: 'answer' as const, value: 1 });
  const { workers } = openPool(t);
  const request = { task: 'highlight' as const, key: 'same', input: value, client: 'alice', limits: generous };
  const responses = await Promise.all(Array.from({ length: 20 }, () => workers.run<typeof run>(request)));
  t.ok(responses.every((response) => response.ok));
  t.equal(made, 1);
  t.ok((await runTask({ does: 'answer', value: 2 })).ok);
});

t.test('a task that exceeds its deadline is given up, its thread terminated, and the next has a new one', async (t) => {
  const { runTask, threads, log } = openPool(t);
  t.same(await runTask({ does: 'loop' }, { deadlineMs: 50, key: 'hostile' }), { ok: false, reason: 'deadline' });
  t.same(await runTask({ does: 'answer', value: 1 }), { ok: true, value: 1 });
  t.equal(threads.length, 2);
  t.same(await runTask({ does: 'loop' }, { deadlineMs: 50, key: 'hostile' }), { ok: false, reason: 'deadline' });
  t.equal(threads.length, 2, 'what was given up is remembered');
  t.match(log, [{ event: 'workers.gave_up', task: 'highlight', reason: 'deadline', client: 'alice' }]);
});

t.test('a task that was given up is retried with growing delay', async (t) => {
  let time = 0;
  let made = 0;
  const { workers } = openPool(t, { retryMs: [100, 400] }, () => time);
  const runTask = () =>
    workers.run<typeof run>({
      task: 'highlight',
      key: 'same',
      input: () => ((made += 1), { does: 'throw' }),
      client: 'alice',
      limits: generous,
    });
  const triedAt: number[] = [];
  for (time = 0; time <= 1_500; time += 50) {
    const before = made;
    t.same(await runTask(), { ok: false, reason: 'failed' });
    if (made > before) triedAt.push(time);
  }
  t.strictSame(triedAt, [0, 100, 300, 700, 1_100, 1_500]);
});

t.test('exceeding the memory limit ends one thread, not the program', async (t) => {
  const { runTask } = openPool(t, { maxMemoryMb: 24 });
  for (const chunk of [10, 500_000]) {
    t.same(await runTask({ does: 'fill memory', chunk }), { ok: false, reason: 'memory' }, `in chunks of ${chunk}`);
    t.same(await runTask({ does: 'answer', value: 1 }), { ok: true, value: 1 });
  }
});

t.test('inputs and results have limits, and a task that throws is no server error', async (t) => {
  const { runTask } = openPool(t);
  const large = 'x'.repeat(20_000);
  t.same(await runTask({ does: 'answer', value: large }), { ok: false, reason: 'input_too_large' });
  t.same(await runTask({ does: 'answer', value: large }, { maxInputBytes: 50_000 }), {
    ok: false,
    reason: 'result_too_large',
  });
  t.same(await runTask({ does: 'throw' }), { ok: false, reason: 'failed' });
});

t.test('no caller waits longer than its patience, and abandoned tasks are not begun', async (t) => {
  const { runTask } = openPool(t);
  const loop = runTask({ does: 'loop' }, { deadlineMs: 1_500 });
  let begun = false;
  void loop.then(() => (begun = true));
  t.same(await runTask({ does: 'answer', value: 1 }, { maxWaitMs: 10, key: 'late' }), { ok: false, reason: 'busy' });
  t.notOk(begun, 'while the thread was taken');
  t.same(
    await runTask({ does: 'answer', value: 2 }, { key: 'late' }),
    { ok: true, value: 2 },
    'and nothing is remembered',
  );
});

t.test('a task that is given up while it waits leaves its place to others', async (t) => {
  const { runTask } = openPool(t, { maxQueued: 2, maxQueuedOfClient: 2 });
  const loop = runTask({ does: 'loop' }, { deadlineMs: 1_500 });
  for (let nth = 0; nth < 6; nth += 1)
    t.same(await runTask({ does: 'answer', value: nth }, { maxWaitMs: 5 }), { ok: false, reason: 'busy' });
  t.same(await runTask({ does: 'answer', value: 7 }), { ok: true, value: 7 }, 'there is a place');
  await loop;
});

t.test('the queue is fair: a hundred tasks of one client delay another’s by one', async (t) => {
  const queue = new TaskQueue<{ client: string; name: string }>({ maxJobs: 6, maxJobsOfClient: 3 });
  const add = (name: string) => queue.add({ client: name[0]!, name });
  t.strictSame(['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2', 'd1'].map(add), [
    true,
    true,
    true,
    false,
    true,
    true,
    true,
    false,
  ]);
  t.strictSame(
    Array.from({ length: 7 }, () => queue.take()?.name),
    ['a1', 'b1', 'c1', 'a2', 'c2', 'a3', undefined],
  );
  t.equal(queue.size, 0);
});

t.test('CPU time is charged to the first caller, also where the deadline was exceeded', async (t) => {
  const { runTask } = openPool(t);
  const costOf = async (work: () => Promise<unknown>) => {
    let cost = 0;
    await chargeCpuTime(async (ms) => void (cost += ms), work);
    await new Promise(setImmediate);
    return cost;
  };
  t.ok((await costOf(() => runTask({ does: 'loop' }, { deadlineMs: 60, key: 'a' }))) > 0);
  t.equal(
    await costOf(() => runTask({ does: 'loop' }, { deadlineMs: 60, key: 'a' })),
    0,
    'what is known costs nothing',
  );
});

t.test('an idle thread is ended, and all are when the pool stops', async (t) => {
  const { runTask, threads, workers } = openPool(t, { idleMs: 20 });
  await runTask({ does: 'answer', value: 1 });
  let hasEnded = false;
  threads[0]!.on('exit', () => (hasEnded = true));
  // A thread does not keep the process alive; a timer does.
  await waitUntil(() => hasEnded);
  t.ok((await runTask({ does: 'answer', value: 2 })).ok, 'and started anew');
  t.equal(threads.length, 2);
  const loop = runTask({ does: 'loop' });
  workers.stop();
  t.same(await loop, { ok: false, reason: 'busy' });
  t.same(await runTask({ does: 'answer', value: 3 }), { ok: false, reason: 'busy' });
});
