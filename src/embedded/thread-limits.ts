import { setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
import type { ResourceLimits } from 'node:worker_threads';
import type { WorkerName } from './workers.ts';

/**
 * Heap limits of worker threads in MiB, unless the caller sets others. What SQLite and buffers take is not in the heap.
 * Statements arrive one by one, so the writer stays far below its limit: its death would be the server's.
 */
export const heapLimits: Readonly<Record<WorkerName, ResourceLimits>> = {
  'db-writer': { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 },
  'db-side': { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 },
  tasks: { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 8 },
  // A process, not a thread: see programOf.
  'git-spawner': {},
};

/** Flags of the program's command line that are meant for its main thread. */
const flagsOfMain = ['max-old-space-size', 'min-semi-space-size', 'max-semi-space-size'];
let areFlagsSet = isMainThread;

/**
 * The heap limits of a thread. V8 lets the flags of the command line win over the limits of a thread: before the first
 * thread starts they are taken back. The main thread's heap exists by then and keeps what it has.
 */
export function limitsOfThread(name: WorkerName, limits: ResourceLimits | undefined): ResourceLimits {
  if (areFlagsSet) for (const flag of flagsOfMain) setFlagsFromString(`--${flag}=0`);
  areFlagsSet = false;
  return { ...heapLimits[name], ...limits };
}
