/**
 * The one pool of worker threads: whatever reads untrusted text and is not linear in a
 * bounded input runs here, with a deadline and a limit of memory. Which tasks there are
 * stands in src/embedded/workers.ts; the file of each belongs to its own module.
 */
export { createWorkerPool } from './worker-pool.ts';
export type { GiveUpReason, Outcome, PoolLimits, TaskLimits, TaskRequest, WorkerPool } from './worker-pool.ts';
export { serveTasks } from './serve-tasks.ts';
