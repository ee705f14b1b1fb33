/**
 * The files inside the executable: assets, page templates, workers. A checkout reads them from disk.
 * scripts/build-executable replaces from-disk.ts with from-executable.ts, so that pug itself and the file paths of a
 * checkout stay out of the executable.
 */
export type { Embedded } from './embedded.ts';
export type { TaskName, WorkerName } from './workers.ts';
export { embedded } from './from-disk.ts';
