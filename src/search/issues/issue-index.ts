import type { Database } from '../../db/index.ts';
import type { TextHit, TextIndex } from '../../issues/index.ts';
import { createThreadPool } from '../thread-pool.ts';
import { findIssues } from './find-issues.ts';

/** The page cache holds the trigrams queried most often; it grows only as needed. */
const limits = { requestMs: 5_000, queue: 1, cacheKiB: 65_536, idleMs: 60_000 };
const maxQueued = 200;

/**
 * The index over titles and texts of issues, for `createIssues`. `followChanges` writes it, like the index of
 * repositories and users, in the write that changes a text.
 */
export function createIssueIndex({
  db,
  mostTexts,
}: {
  db: Database;
  /** Number of texts up to which a word counts as rare; for tests. */
  mostTexts?: number;
}): TextIndex & { close(): Promise<void> } {
  // A scan for two characters does not keep the others waiting.
  const thread = createThreadPool([db.openThread(limits), db.openThread(limits)], maxQueued);
  return {
    /** Throws `took_too_long`, `too_many_waiting`. */
    find: (question): Promise<TextHit[]> => findIssues(thread, db.dialect, question, mostTexts),
    close: () => thread.close(),
  };
}
