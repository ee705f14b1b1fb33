/**
 * Every worker of the program, a thread or a process of its own: its name and, below
 * the project's folder, the source file it runs. The executable is built from this table,
 * so a worker that is missing here cannot start there.
 */
export const workers = {
  'db-writer': 'src/db/writer-worker.ts',
  highlight: 'src/highlighting/highlight-worker.ts',
  'db-side': 'src/db/side-worker.ts',
  'git-spawner': 'src/git/spawner/spawner-process.ts',
} as const;

export type WorkerName = keyof typeof workers;
