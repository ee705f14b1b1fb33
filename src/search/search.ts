import type { Viewer } from '../access/index.ts';
import type { Database } from '../db/index.ts';
import type { Logger } from '../kernel/index.ts';
import { find } from './find.ts';
import { catchUp, followChanges } from './follow-changes.ts';
import { createRareGrams } from './rare-grams.ts';
import { joinThreads } from './side-threads.ts';

/** The JSON form of a search is complete up to so many repositories and so many people. */
export const mostHits = 1_000;

/** The first hits, for a page. */
export interface FirstHits {
  /** UUIDs, in the order of the answer. */
  ids: string[];
  /** How many there are; more than `mostHits` are not counted any further. */
  total: number;
}

export interface Found {
  repositories: FirstHits;
  persons: FirstHits;
}

const limits = { requestMs: 5_000, queue: 500 };

/**
 * Search over repositories and people (SPEC §2.4, §4.2): live, in the order of handles
 * and names, within what the viewer may see.
 */
export function createSearch({ db, logger }: { db: Database; logger: Logger }) {
  // Searches read the same file, so a second core is of use to them.
  const thread = joinThreads([db.openAside(limits), db.openAside(limits)]);
  const tools = { thread, pickRare: createRareGrams(thread) };
  db.beforeCommit(followChanges);

  return {
    /**
     * Everything that is found, up to `mostHits` of each kind, as the JSON text of SPEC §2.4.
     * A blank query finds nothing. Refuses `took_too_long`, `too_many_waiting`.
     */
    async findAll(viewer: Viewer, text: string): Promise<string> {
      const { repositories, persons } = await find(tools, viewer, text, 'hits', { limit: mostHits, counted: mostHits });
      return `{"repositories":${repositories},"persons":${persons}}`;
    },

    /** The first `limit` of each kind, and how many there are. Refuses as `findAll` does. */
    async findFirst(viewer: Viewer, text: string, limit: number): Promise<Found> {
      const found = await find(tools, viewer, text, 'ids', { limit, counted: mostHits + 1 });
      return {
        repositories: { ids: JSON.parse(found.repositories) as string[], total: found.repositoryCount },
        persons: { ids: JSON.parse(found.persons) as string[], total: found.personCount },
      };
    },

    /** At start: what was noted before anybody followed changes. */
    async recover(): Promise<void> {
      const rows = await catchUp(db);
      if (rows > 0) logger.info('search.caught_up', { rows });
    },

    close: () => thread.close(),
  };
}

export type Search = ReturnType<typeof createSearch>;
