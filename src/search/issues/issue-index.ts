import type { Database } from '../../db/index.ts';
import type { TextHit, TextIndex } from '../../issues/index.ts';
import { createThreadPool } from '../thread-pool.ts';
import { findIssues } from './find-issues.ts';

/** The page cache holds the trigrams that are asked for most; it grows only as needed. */
const limits = { requestMs: 5_000, queue: 1, cacheKiB: 65_536, idleMs: 60_000 };
const maxQueued = 200;

/**
 * The index over titles and texts of issues, for `createIssues`. It is written with the index of repositories and
 * people (`followChanges`), in the write that changes a text.
 */
export function createIssueIndex({
  db,
  mostTexts,
}: {
  db: Database;
  /** Texts up to which a word counts as rare; for tests. */
  mostTexts?: number;
}): TextIndex & { close(): Promise<void> } {
  // One that scans for two characters does not keep the others waiting.
  const thread = createThreadPool([db.openThread(limits), db.openThread(limits)], maxQueued);
  return {
    /** Refuses `took_too_long`, `too_many_waiting`. */
    find: (question): Promise<TextHit[]> => findIssues(thread, db.dialect, question, mostTexts),
    close: () => thread.close(),
  };
}
