/**
 * Every worker thread of the program: its name and, below the project's
 * folder, the source file it runs. The executable is built from this table,
 * so a worker that is missing here cannot start there.
 */
export const workers = {
  'db-writer': 'src/db/writer-worker.ts',
  highlight: 'src/highlighting/highlight-worker.ts',
  'db-side': 'src/db/side-worker.ts',
} as const;

export type WorkerName = keyof typeof workers;
