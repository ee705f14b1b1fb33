// A thread of the worker pool whose tasks do what the test's input says.
import { parentPort } from 'node:worker_threads';
import { serveTasks } from '../../src/workers/index.ts';

export type TestTask =
  | { does: 'answer'; value: unknown }
  | { does: 'loop' }
  | { does: 'throw' }
  | { does: 'fill memory'; chunk: number }
  | { does: 'count'; counter: SharedArrayBuffer };

export function run(input: TestTask): unknown {
  if (input.does === 'answer') return input.value;
  if (input.does === 'throw') throw new Error('thrown by the task');
  if (input.does === 'loop') for (;;);
  if (input.does === 'fill memory') {
    const kept: unknown[] = [];
    for (;;) kept.push(Array.from({ length: input.chunk }, (_, index) => ({ index })));
  }
  return null;
}

const task = { run };
serveTasks(
  parentPort!,
  async () => task,
  () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  },
);
