import { availableParallelism } from 'node:os';
import type { Viewer } from '../access/index.ts';
import type { Database, DatabaseThread } from '../db/index.ts';
import type { Logger } from '../kernel/index.ts';
import { findFirstHits, findHits } from './find-repositories-and-people.ts';
import type { First, FoundPerson, FoundRepository } from './find-repositories-and-people.ts';
import { foldQuery } from './fold-text.ts';
import { hasManyMissedChanges, indexChanges, indexMissedChanges } from './index-changes.ts';
import { searchSources } from './search-sources.ts';
import { mergeIndex } from './merge-index.ts';
import { reindex } from './reindex.ts';
import { entryIndex } from './issues/update-index.ts';
import { createThreadPool } from './thread-pool.ts';

/** The JSON result is complete up to this number of repositories and users. */
export const mostHits = 1_000;
/**
 * Limit of counting matches of each kind: larger numbers are of no use to users, and counting costs more than finding.
 */
export const mostCounted = 250;

/** The page cache holds the index of 100,000 repositories and as many users; it grows only as needed. */
const limits = { requestMs: 5_000, queue: 1, cacheKiB: 65_536, idleMs: 60_000 };
const maxQueued = 500;

const nothing = Buffer.from('{"repositories":[],"persons":[]}');

interface SearchOptions {
  db: Database;
  logger: Logger;
}

/**
 * Search over repositories and users (SPEC §2.4, §4.2): live, sorted by name, limited to rows that the viewer may see.
 */
export function createSearch({ db, logger }: SearchOptions) {
  // Searches only read, so two threads can use two CPUs.
  const thread = createThreadPool([db.openThread(limits), db.openThread(limits)], maxQueued);
  let isCatchingUp = false;
  let isClosed = false;
  /** With two CPUs the main thread needs one. */
  const hasSpareCore = availableParallelism() > 2;
  const within = (isSparing: boolean): Pick<DatabaseThread, 'run'> => ({
    run: (statements) => thread.run(statements, isSparing && !hasSpareCore),
  });
  const isEnding = (): boolean => isClosed;

  db.beforeCommit(async (tx) => {
    if (!isCatchingUp) await indexChanges(tx);
  });

  async function catchUp(): Promise<void> {
    let rows = await indexMissedChanges(db, isEnding);
    // From here on each write indexes its own changes, and those of writes during the start.
    isCatchingUp = false;
    if (rows === 0 || isClosed) return;
    rows += await indexMissedChanges(db, isEnding);
    const lists = Object.values(searchSources).map(({ list }) => list);
    for (const list of [...lists, entryIndex]) if (!isClosed) await mergeIndex(db, list, isEnding);
    logger.info('search.caught_up', { rows });
  }

  return {
    /**
     * All hits, up to `mostHits` of each kind, as the JSON of SPEC §2.4 in UTF-8. A blank query finds nothing. Throws
     * `took_too_long`, `too_many_waiting`.
     * @param isSparing whether pages are waiting: on a small machine, searches then share one CPU
     */
    async findAll(viewer: Viewer, text: string, isSparing = false): Promise<Buffer> {
      const query = foldQuery(text);
      if (query === '') return nothing;
      return findHits(within(isSparing), db.dialect, viewer, query, mostHits);
    },

    /** The first `shown` of each kind, and the totals, counted up to `mostCounted`. Throws the errors of `findAll`. */
    async findFirst(
      viewer: Viewer,
      text: string,
      shown: number,
      isSparing = false,
    ): Promise<{ repositories: First<FoundRepository>; persons: First<FoundPerson> }> {
      const query = foldQuery(text);
      if (query === '') return { repositories: { rows: [], total: 0 }, persons: { rows: [], total: 0 } };
      return findFirstHits(within(isSparing), db.dialect, viewer, query, { shown, counted: mostCounted + 1 });
    },

    /**
     * At start, before requests are served: indexes changes recorded without an index. If there are very many,
     * `catchUp` does; until then searches find the indexed rows, and writes are indexed together with the rest.
     */
    async recover(): Promise<void> {
      isCatchingUp = await hasManyMissedChanges(db);
      if (!isCatchingUp) await catchUp();
    },

    /** After the start: indexes the changes left by `recover`. */
    async catchUp(): Promise<void> {
      if (isCatchingUp) await catchUp();
    },

    /** Manual rebuild. Returns the number of checked rows. */
    reindex: () => reindex(db),

    async close() {
      isClosed = true;
      await thread.close();
    },
  };
}

export type Search = ReturnType<typeof createSearch>;
