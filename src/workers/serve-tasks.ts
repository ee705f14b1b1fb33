import type { MessagePort } from 'node:worker_threads';
import { deserialize, serialize } from 'node:v8';
import type { TaskName } from '../embedded/index.ts';
import type { TaskMessage, TaskReply } from './messages.ts';

/** The export of a task file in src/embedded/workers.ts: a pure function of its input, which may be async. */
export interface TaskModule {
  run(input: never): unknown;
}

/** Libraries quote their input in errors; the log needs only the beginning. */
const maxMessageLength = 300;

/**
 * The part of the pool that runs in a thread: loads a task's file on first use and runs one task after the other.
 * @param cpuMs returns the CPU time of this thread so far, in milliseconds
 */
export function serveTasks(
  port: MessagePort,
  loadTask: (name: TaskName) => Promise<TaskModule>,
  cpuMs: () => number,
): void {
  const reply = (message: TaskReply, transfer: ArrayBuffer[] = []): void => port.postMessage(message, transfer);
  const words = (error: unknown): string => String((error as Error)?.message ?? error).slice(0, maxMessageLength);
  port.on('message', ({ id, task, input, maxResultBytes }: TaskMessage) => {
    void loadTask(task)
      .then(async ({ run }) => {
        const before = cpuMs();
        reply({ id, kind: 'begun', threadCpuMs: before });
        const used = (): number => cpuMs() - before;
        try {
          const result = serialize(await run(deserialize(input) as never));
          if (result.length > maxResultBytes) reply({ id, kind: 'result_too_large', cpuMs: used() });
          else reply({ id, kind: 'done', result, cpuMs: used() }, [result.buffer as ArrayBuffer]);
        } catch (error) {
          reply({ id, kind: 'failed', message: words(error), cpuMs: used() });
        }
      })
      .catch((error: unknown) => reply({ id, kind: 'failed', message: words(error), cpuMs: 0 }));
  });
}
