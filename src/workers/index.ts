/**
 * The pool of worker threads: parsers of untrusted text that are not linear in a bounded input run here, with a
 * deadline and a memory limit. src/embedded/workers.ts lists the tasks; the file of each belongs to its own module.
 */
export { createWorkerPool } from './worker-pool.ts';
export type { TaskFailureReason, PoolLimits, TaskLimits, TaskRequest, WorkerPool } from './worker-pool.ts';
export { serveTasks } from './serve-tasks.ts';
