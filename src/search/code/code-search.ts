import type { Viewer } from '../../access/index.ts';
import type { Database, DatabaseThread } from '../../db/index.ts';
import type { Git } from '../../git/index.ts';
import type { Logger } from '../../kernel/index.ts';
import type { PushListener, Repositories } from '../../repositories/index.ts';
import { openCodeIndexFile, removeCodeIndexFile } from './code-index-file.ts';
import type { CodeIndexFile } from './code-index-file.ts';
import { createCoverages, findCode } from './find-code.ts';
import type { CodeSearchResults } from './find-code.ts';
import type { CodeSearchLimits } from './index-repository.ts';
import { updateIndex } from './update-index.ts';

interface CodeSearchOptions {
  db: Database;
  git: Git;
  repositories: Repositories;
  logger: Logger;
  /** The folder of derived data. */
  folder: string;
  limits: CodeSearchLimits;
  /** Free disk space below which the index does not grow. */
  lowDiskFloorBytes: number;
}

interface Opened extends CodeIndexFile {
  readThread: DatabaseThread;
}

/** SQLite's codes for a file that is corrupt or not a database. */
const isDamage = (error: unknown): boolean => [11, 26].includes(((error as { errcode?: number }).errcode ?? 0) & 0xff);

const readThreadLimits = { requestMs: 5_000, queue: 100, idleMs: 60_000 };

/**
 * Code search over all repositories. The index follows pushes within moments, in the background; it is a separate file
 * that can be deleted at any time.
 */
export function createCodeSearch(options: CodeSearchOptions) {
  const { db, logger, folder, limits } = options;
  // Its statements join the index with the rows, which only works for two SQLite files.
  const isOn = limits.budgetBytes > 0 && db.dialect === 'sqlite';
  let opening: Promise<Opened> | undefined;
  let running: Promise<void> | undefined;
  let isWanted = false;
  let isStopping = false;
  const coverages = createCoverages();

  async function open(): Promise<Opened> {
    const file = await openCodeIndexFile(folder);
    return { ...file, readThread: db.openThread(readThreadLimits, { code: file.file }) };
  }
  const opened = (): Promise<Opened> => (opening ??= open());

  async function close(): Promise<void> {
    const files = await opening?.catch(() => undefined);
    opening = undefined;
    await Promise.all([files?.readThread.close(), files?.thread.close()]);
  }

  async function run(): Promise<void> {
    while (isWanted && !isStopping) {
      isWanted = false;
      try {
        const changed = await updateIndex({ ...options, ...(await opened()), isStopping: () => isStopping });
        if (changed > 0) coverages.clear();
        if (changed > 0) logger.debug('code_search.updated', { repositories: changed });
      } catch (error) {
        if (isStopping) return;
        logger.error('code_search.broken', { error });
        if (isDamage(error)) {
          // Derived data: the next update rebuilds it.
          await close();
          await removeCodeIndexFile(folder);
        }
        return;
      }
    }
  }

  /** Requests an update; a running one checks for changes again at its end. */
  function update(): Promise<void> {
    if (!isOn || isStopping) return Promise.resolve();
    isWanted = true;
    running ??= run().finally(() => (running = undefined));
    return running;
  }

  return {
    /** Whether there is an index; without one only single repositories can be searched. */
    isOn,
    /** For `repositories.pushes.onPush`. The push has changed the repository's row, so nothing is written here. */
    onPush: { name: 'code-search', recorded: () => void update() } satisfies PushListener,
    /** For the scheduled task, and for callers that need a current index. */
    update,
    /** Throws `git_busy`, and the errors of `DatabaseThread.ask`. */
    async find(viewer: Viewer, text: string): Promise<CodeSearchResults> {
      return findCode({ ...options, ...(await opened()), coverages }, viewer, text);
    },
    /** Marks all repositories as changed, so that the next update rebuilds them. Returns their number. */
    async forget(): Promise<number> {
      if (!isOn) return 0;
      const { thread } = await opened();
      const [rows = []] = await thread.run([
        {
          sql: "UPDATE repositories SET commit_oid = NULL, state = 'failed', seen_at = 0 RETURNING id",
          parameters: [],
        },
      ]);
      return rows.length;
    },
    async stop(): Promise<void> {
      isStopping = true;
      await running;
      await close();
    },
  };
}

export type CodeSearch = ReturnType<typeof createCodeSearch>;
