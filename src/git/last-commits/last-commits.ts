import { busy, createSemaphore, isDomainError, waitAtMost } from '../../kernel/index.ts';
import type { Logger } from '../../kernel/index.ts';
import { readCommit } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import type { LastCommit, Table, LastCommitCache } from './last-commit-cache.ts';
import { walkLastCommits } from './history-walk.ts';

export interface LastCommitsRequest {
  oid: string;
  folder: Buffer;
  /** The folder's entries. */
  names: readonly Buffer[];
  /** Time in milliseconds that the page waits for uncached rows. */
  waitMs: number;
}

export interface LastCommits {
  /** Keyed by name, one character per byte; entries not known yet are missing. */
  rows: Table;
  /** Whether all rows are there. Otherwise the search continues in the background for the next page. */
  isComplete: boolean;
}

interface Search {
  /** Filled as the walk proceeds: complete rows from an earlier table, otherwise the commit's id. */
  found: Map<string, LastCommit | string>;
  table: Promise<Table | null>;
}

/** Time limit of a walk that outlives the page that started it. */
const searchLimitMs = 60_000;
/** Limits of concurrent walks, and of walks with processes of their own. */
const maxSearches = 16;
const maxWithProcesses = 2;

/**
 * Finds the commit that last touched each entry of a folder. A page never waits longer than `waitMs`: the search
 * continues without it and stores its result.
 */
export function createLastCommits(
  deps: BrowseDeps,
  tables: LastCommitCache,
  logger: Logger,
): (path: string, request: LastCommitsRequest) => Promise<LastCommits> {
  const searches = new Map<string, Search>();
  const withProcesses = createSemaphore({
    limit: maxWithProcesses,
    queue: 0,
    refusal: busy('git_busy', 'The server is busy. Try again in a moment.', 5),
  });

  /** Takes a slot for walks that start processes. Throws `git_busy`. */
  async function enter(path: string): Promise<() => void> {
    const release = await withProcesses.acquire();
    const leave = await deps.shortSlots.acquire({ repository: path }).catch((error: unknown) => {
      release();
      throw error;
    });
    return () => {
      release();
      leave();
    };
  }

  async function search(
    path: string,
    { oid, folder, names }: LastCommitsRequest,
    found: Search['found'],
  ): Promise<Table | null> {
    const stored = await tables.storedAt(path, folder);
    const isWhole = await walkLastCommits<LastCommit>(deps, path, {
      oid,
      folder,
      names: names.map((name) => name.toString('latin1')),
      storedAt: stored,
      stored: (at) => tables.read(path, folder, at),
      found: (name, commit) => found.set(name, commit),
      foundStored: (name, row) => found.set(name, row),
      timeLimitMs: searchLimitMs,
      enter: () => enter(path),
    });
    return isWhole ? describe(deps, path, found) : null;
  }

  function begin(path: string, key: string, request: LastCommitsRequest): Search | null {
    if (searches.size >= maxSearches) return null;
    const found: Search['found'] = new Map();
    const table = search(path, request, found).catch((error: unknown) => {
      // If all slots are taken or the server stops, a later view tries again.
      if (!isDomainError(error) || (error.reason !== 'git_busy' && error.reason !== 'stopping'))
        logger.warn('git.last_commits_failed', { path, error });
      return null;
    });
    // The page does not wait for the disk; concurrent requests share the result in memory.
    void table
      .then((whole) => whole && tables.write(path, request.folder, request.oid, whole))
      .catch((error: unknown) => logger.warn('git.last_commits_failed', { path, error }))
      .finally(() => searches.delete(key));
    const begun = { found, table };
    searches.set(key, begun);
    return begun;
  }

  return async (path, request) => {
    const known = await tables.read(path, request.folder, request.oid);
    if (known) return { rows: known, isComplete: true };
    const key = `${path} ${request.oid} ${request.folder.toString('latin1')}`;
    const running = searches.get(key) ?? begin(path, key, request);
    if (running === null) return { rows: new Map(), isComplete: false };
    const table = await waitAtMost(running.table, request.waitMs);
    if (table) return { rows: table, isComplete: true };
    return { rows: await describe(deps, path, running.found), isComplete: false };
  };
}

const maxSubject = 300;

/** Reads the commit of each row. Many entries share one. */
async function describe({ readers }: BrowseDeps, path: string, found: Search['found']): Promise<Table> {
  const rows = [...found];
  const ids = [...new Set(rows.map(([, row]) => row).filter((row) => typeof row === 'string'))];
  const commits =
    ids.length === 0 ? [] : await readers.use(path, (reader) => Promise.all(ids.map((oid) => readCommit(reader, oid))));
  const byId = new Map<string, LastCommit>(
    commits.map(({ oid, subject, committer }) => [
      oid,
      { oid, subject: subject.slice(0, maxSubject), at: committer.at },
    ]),
  );
  return new Map(rows.map(([name, row]) => [name, typeof row === 'string' ? byId.get(row)! : row]));
}
