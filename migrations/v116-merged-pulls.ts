import type { Migration } from '../src/db/index.ts';

/** Records the entry of the review that a comment on code belongs to, for the module `search`. */
const note = (event: 'INSERT' | 'UPDATE OF body, deleted_at'): string =>
  `CREATE TRIGGER search_review_comment_${event === 'INSERT' ? 'written' : 'changed'} AFTER ${event} ON review_comments BEGIN
    INSERT OR IGNORE INTO search_changes (kind, id) SELECT 'entry', r.issue_id || ' ' || r.position FROM reviews r
      WHERE r.id = NEW.review_id AND r.position IS NOT NULL;
  END`;

/** Finds the pull request that a commit of a branch came from, and comments on code by their words. */
export const mergedPulls: Migration = {
  version: 116,
  name: 'Pull requests by commit and by comments',
  statements: [
    'CREATE INDEX pulls_merged ON pulls (merged_oid, repository_id) WHERE merged_oid IS NOT NULL',
    note('INSERT'),
    note('UPDATE OF body, deleted_at'),
    `INSERT OR IGNORE INTO search_changes (kind, id)
      SELECT 'entry', issue_id || ' ' || position FROM issue_entries WHERE kind = 'review'`,
  ],
};
