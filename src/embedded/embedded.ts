import type { ResourceLimits, Worker } from 'node:worker_threads';
import type { LibraryName, TaskName, WorkerName } from './workers.ts';

/** The files that are part of the program, in a checkout and in the executable. */
export interface Embedded {
  /** The version in package.json. */
  readonly version: string;
  /** True in the single executable, false in a checkout. */
  readonly isExecutable: boolean;
  /**
   * Starts a worker thread by its name in workers.ts.
   * @param options.workerData any value that structured clone can copy
   * @param options.resourceLimits limits beyond which the thread is terminated; by default those in thread-limits.ts
   */
  startWorker(name: WorkerName, options?: { workerData?: unknown; resourceLimits?: ResourceLimits }): Worker;
  /** The exports of a task's file, by its name in workers.ts; for threads of the worker pool. */
  loadTask(name: TaskName): Promise<unknown>;
  /** The exports of a file that loads a library, by its name in workers.ts; loaded at the first call. */
  library(name: LibraryName): unknown;
  /** Program and arguments that start a worker as a separate process. */
  programOf(name: WorkerName): { program: string; args: string[] };
  /**
   * The bytes of one file below templates/assets. Callers must not change them: in the executable they are the
   * program's own read-only memory.
   * @param path from assetPaths(), with forward slashes
   * @throws Error for a path that is not listed
   */
  asset(path: string): Buffer;
  /** All files below templates/assets, sorted, with forward slashes. */
  assetPaths(): string[];
  /**
   * The text of a message catalogue, `translations/<language>.json`.
   * @throws Error for a language without a file
   */
  translation(language: string): string;
  /**
   * The Markdown of one page of the documentation, `docs/<name>.md`.
   * @param name from documentNames()
   * @throws Error for a name that is not listed
   */
  document(name: string): string;
  /** The documentation pages for users and administrators, sorted. */
  documentNames(): string[];
  /**
   * Renders one pug template to HTML.
   * @param name below templates/, without the extension: 'sign-in/login'
   * @throws Error for a name without a template
   */
  renderTemplate(name: string, locals?: Record<string, unknown>): string;
}

/** The error for a name that is not embedded. */
export function unknownName(
  kind: 'asset' | 'document' | 'task' | 'template' | 'translation' | 'worker',
  name: string,
): Error {
  return new Error(`There is no ${kind} named ${JSON.stringify(name)}`);
}
