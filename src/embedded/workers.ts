/**
 * Every worker of the program, a thread or a separate process: its name and its source file below the project's folder.
 * The executable is built from this table, so a worker that is missing here cannot start there.
 */
export const workers = {
  'db-writer': 'src/db/writer-worker.ts',
  'db-side': 'src/db/thread-worker.ts',
  tasks: 'src/workers/worker-thread.ts',
  'git-spawner': 'src/git/spawner/spawner-process.ts',
} as const;

export type WorkerName = keyof typeof workers;

/**
 * The tasks of the worker pool: each name and the file that exports it as `run`, a pure function. A thread loads the
 * file with its first task of that name.
 */
export const tasks = {
  highlight: 'src/highlighting/highlight-task.ts',
  'highlight-blocks': 'src/highlighting/highlight-blocks-task.ts',
  math: 'src/pages/markdown/math-task.ts',
  markdown: 'src/pages/markdown/markdown-task.ts',
  asciidoc: 'src/pages/markdown/asciidoc-task.ts',
  notebook: 'src/pages/markdown/notebook-task.ts',
  'word-diff': 'src/pages/code/word-diff-task.ts',
  workflow: 'src/ci/workflows/workflow-task.ts',
  'workflow-payload': 'src/ci/workflows/payload-task.ts',
  'push-filters': 'src/ci/workflows/push-filters-task.ts',
  junit: 'src/ci/reports/junit-task.ts',
  'issue-template': 'src/issues/templates/template-task.ts',
  'import-items': 'src/imports/from-files/read-items-task.ts',
  'openpgp-key': 'src/signing/gpg-keys/read-key-task.ts',
  'openpgp-signatures': 'src/signing/verification/verify-task.ts',
  'text-difference': 'src/pages/issues/text-difference-task.ts',
} as const;

export type TaskName = keyof typeof tasks;

/** Files that load a library synchronously at its first use; each is a separate part of the executable. */
export const libraries = {
  'message-format': 'src/translation/message-format.ts',
} as const;

export type LibraryName = keyof typeof libraries;
