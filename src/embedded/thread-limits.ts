import { setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
import type { ResourceLimits } from 'node:worker_threads';
import type { WorkerName } from './workers.ts';

/**
 * Heap limits of worker threads in MiB, unless the caller sets others. Memory of SQLite and buffers is outside the
 * heap. Statements arrive one by one, so the writer stays far below its limit: if it died, so would the server.
 */
export const heapLimits: Readonly<Record<WorkerName, ResourceLimits>> = {
  'db-writer': { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 },
  'db-side': { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 },
  tasks: { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 8 },
  // A process, not a thread: see programOf.
  'git-spawner': {},
};

/** Command-line flags that apply to the main thread only. */
const flagsOfMain = ['max-old-space-size', 'min-semi-space-size', 'max-semi-space-size'];
let areFlagsSet = isMainThread;

/**
 * The heap limits of a thread. In V8, command-line flags override the limits of a thread, so they are reset before the
 * first thread starts. The main thread's heap exists by then and keeps its limit.
 */
export function limitsOfThread(name: WorkerName, limits: ResourceLimits | undefined): ResourceLimits {
  if (areFlagsSet) for (const flag of flagsOfMain) setFlagsFromString(`--${flag}=0`);
  areFlagsSet = false;
  return { ...heapLimits[name], ...limits };
}
