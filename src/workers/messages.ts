import type { TaskName } from '../embedded/index.ts';

/** A request to a thread. */
export interface TaskMessage {
  id: number;
  task: TaskName;
  /** The input as written by `v8.serialize`: its size is known, and it is transferred without a copy. */
  input: Uint8Array;
  maxResultBytes: number;
}

/**
 * The replies of a thread: `begun` once it has loaded the task's file, then the result. `threadCpuMs` is the CPU time
 * of the thread so far, `cpuMs` that of the task.
 */
export type TaskReply =
  | { id: number; kind: 'begun'; threadCpuMs: number }
  | { id: number; kind: 'done'; result: Uint8Array; cpuMs: number }
  | { id: number; kind: 'result_too_large'; cpuMs: number }
  | { id: number; kind: 'failed'; message: string; cpuMs: number };
