import { availableParallelism } from 'node:os';
import type { Viewer } from '../access/index.ts';
import type { Database, SideThread } from '../db/index.ts';
import type { Logger } from '../kernel/index.ts';
import { findFirstHits, findHits } from './find.ts';
import type { First, FoundPerson, FoundRepository, Grown } from './find.ts';
import { foldQuery } from './fold.ts';
import { catchUp, followChanges } from './follow-changes.ts';
import { growGrams, mergeParts } from './grow.ts';
import { createGrownGrams } from './grown-grams.ts';
import { sources } from './lists.ts';
import { reindex } from './reindex.ts';
import { joinThreads } from './side-threads.ts';

/** The JSON form of a search is complete up to so many repositories and so many people. */
export const mostHits = 1_000;
/** The first ones are counted up to so many of each: people who find more ask again, and counting costs more than finding. */
export const mostCounted = 250;

/** The index of 100,000 repositories and as many people is about as large; of a small one as much is kept as there is. */
const limits = { requestMs: 5_000, queue: 1, cacheKiB: 65_536 };
const longestLine = 500;
/** For what reads the whole index. */
const patientLimits = { requestMs: 600_000, queue: 10 };
/** From so many texts on a gram grows: looking into as many takes two milliseconds. */
const mostTextsOfGram = 2_000;
/** Part of a list that is new before its grams are counted again, and so many at least. */
const newPart = 0.05;
const leastNew = 500;
const firstGrowthMs = 60_000;

const nothing = Buffer.from('{"repositories":[],"persons":[]}');

export interface SearchOptions {
  db: Database;
  logger: Logger;
  /** For tests: from how many texts on a gram grows. */
  mostTexts?: number;
}

/**
 * Search over repositories and people (SPEC §2.4, §4.2): live, in the order of handles
 * and names, within what the viewer may see.
 */
export function createSearch({ db, logger, mostTexts = mostTextsOfGram }: SearchOptions) {
  // Searches read the same file, so a second core is of use to them.
  const thread = joinThreads([db.openAside(limits), db.openAside(limits)], longestLine);
  const known = createGrownGrams();
  const grown: Grown = { repositories: known.of(sources.repository.list), people: known.of(sources.person.list) };
  /** At which state of the database it was asked last which grams have grown. */
  let knownAt: number | null = null;
  let isCatchingUp = false;
  let isClosed = false;
  let added = 0;
  let addedWhenDue = leastNew;
  let growing: Promise<void> | undefined;
  let wake = (): void => {};
  let firstGrowth: NodeJS.Timeout | undefined;
  /** Of two processors the main thread needs one. */
  const isRoomy = availableParallelism() > 2;
  const within = (isSparing: boolean): Pick<SideThread, 'ask'> => ({
    ask: (statements) => thread.ask(statements, isSparing && !isRoomy),
  });
  const isEnding = (): boolean => isClosed;

  db.beforeCommit(async (tx) => {
    if (isCatchingUp) return;
    added += await followChanges(tx, known);
    if (added >= addedWhenDue) wake();
  });

  async function refresh(): Promise<void> {
    const state = db.state();
    if (state === knownAt) return;
    await known.refresh((sql, parameters) => db.read.query(sql, parameters));
    knownAt = state;
  }

  /** Waits outside of the writes that wake it: what they start would be taken for a part of them. */
  async function keepGrowing(): Promise<void> {
    for (;;) {
      await new Promise<void>((resolve) => (wake = resolve));
      if (isClosed) return;
      added = 0;
      await grow().catch((error: unknown) => logger.warn('search.not_grown', { error }));
    }
  }

  /** Lets the grams grow that many texts have by now. */
  async function grow(): Promise<void> {
    const isLarge =
      (
        await Promise.all(
          Object.values(sources).map(({ list }) =>
            db.read.query(`SELECT 1 FROM ${list.texts} LIMIT 1 OFFSET ?`, [mostTexts]),
          ),
        )
      ).flat().length > 0;
    if (!isLarge) return;
    const aside = db.openAside(patientLimits);
    try {
      let grams = 0;
      let rows = 0;
      for (const { list } of Object.values(sources)) {
        grams += await growGrams({ db, known, aside, mostTexts, isEnding }, list);
        await mergeParts(db, list, isEnding);
        const [[counted]] = (await aside.ask([
          { sql: `SELECT count(*) AS rows FROM ${list.texts}`, parameters: [] },
        ])) as [[{ rows: number }]];
        rows += counted.rows;
      }
      addedWhenDue = Math.max(leastNew, Math.ceil(rows * newPart));
      if (grams > 0) logger.info('search.grown', { grams });
    } finally {
      await aside.close();
    }
  }

  return {
    /**
     * Everything that is found, up to `mostHits` of each kind, as the JSON of SPEC §2.4 in UTF-8.
     * A blank query finds nothing. Refuses `took_too_long`, `too_many_waiting`.
     * @param isSparing others wait for pages: on a small machine, searches then share one processor
     */
    async findAll(viewer: Viewer, text: string, isSparing = false): Promise<Buffer> {
      const query = foldQuery(text);
      if (query === '') return nothing;
      await refresh();
      return findHits(within(isSparing), grown, viewer, query, mostHits);
    },

    /** The first `shown` of each kind, and how many there are: more than `mostCounted` are not counted any further. Refuses as `findAll` does. */
    async findFirst(
      viewer: Viewer,
      text: string,
      shown: number,
      isSparing = false,
    ): Promise<{ repositories: First<FoundRepository>; persons: First<FoundPerson> }> {
      const query = foldQuery(text);
      if (query === '') return { repositories: { rows: [], total: 0 }, persons: { rows: [], total: 0 } };
      await refresh();
      return findFirstHits(within(isSparing), grown, viewer, query, { shown, counted: mostCounted + 1 });
    },

    /** At start, before anybody is served: what was noted before anybody followed changes. From then on grams grow. */
    async recover(): Promise<void> {
      const aside = db.openAside(patientLimits);
      isCatchingUp = true;
      try {
        const rows = await catchUp(db, known, aside, mostTexts);
        if (rows > 0) for (const { list } of Object.values(sources)) await mergeParts(db, list, isEnding);
        if (rows > 0) logger.info('search.caught_up', { rows });
      } finally {
        isCatchingUp = false;
        await aside.close();
      }
      growing ??= keepGrowing();
      // What came in small numbers between restarts may have grown, too.
      firstGrowth ??= setTimeout(() => wake(), firstGrowthMs).unref();
    },

    grow,

    /** By hand, when the index is doubted. Answers how many rows were looked at. */
    reindex: () => reindex(db),

    async close() {
      isClosed = true;
      clearTimeout(firstGrowth);
      wake();
      await growing;
      await thread.close();
    },
  };
}

export type Search = ReturnType<typeof createSearch>;
