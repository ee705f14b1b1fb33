import type { TaskName } from '../embedded/index.ts';

/** What a thread is asked. */
export interface TaskMessage {
  id: number;
  task: TaskName;
  /** The input as `v8.serialize` wrote it: its size is known, and it changes hands without a copy. */
  input: Uint8Array;
  maxResultBytes: number;
}

/**
 * What a thread answers: first that it begins, once it has loaded what the task needs, and
 * then how it ended. `threadCpuMs` is what the thread has used so far, `cpuMs` what the task has.
 */
export type TaskReply =
  | { id: number; kind: 'begun'; threadCpuMs: number }
  | { id: number; kind: 'done'; result: Uint8Array; cpuMs: number }
  | { id: number; kind: 'result_too_large'; cpuMs: number }
  | { id: number; kind: 'failed'; message: string; cpuMs: number };
