import type { Migration } from '../src/db/index.ts';

/** Records entries of issues for the module `search`: the issue, a space, the position. */
const note = (entries: string): string =>
  `INSERT OR IGNORE INTO search_changes (kind, id) SELECT 'entry', issue_id || ' ' || position FROM ${entries};`;
const trigger = (name: string, event: string, statements: string): string =>
  `CREATE TRIGGER search_${name} AFTER ${event} BEGIN ${statements} END`;
const listed = 'deleted_at IS NULL AND held_at IS NULL';

/**
 * Issues and comments are searched by their texts, like repositories and people, and lists over many repositories are
 * read in the order of an index.
 */
export const issueSearch: Migration = {
  version: 82,
  name: 'Issue search',
  statements: [
    // One more kind. What was recorded and not indexed yet is kept.
    'CREATE TABLE search_changes_kept AS SELECT kind, id FROM search_changes',
    'DROP TABLE search_changes',
    `CREATE TABLE search_changes (
      kind TEXT NOT NULL CONSTRAINT search_changes_kind CHECK (kind IN ('repository', 'person', 'entry')),
      id TEXT NOT NULL,
      PRIMARY KEY (kind, id)
    ) WITHOUT ROWID`,
    'INSERT INTO search_changes (kind, id) SELECT kind, id FROM search_changes_kept',
    'DROP TABLE search_changes_kept',

    // `place` is the rowid in the index of trigrams.
    `CREATE TABLE search_entries (
      place INTEGER PRIMARY KEY NOT NULL,
      issue_id TEXT NOT NULL,
      position BIGINT NOT NULL,
      folded TEXT NOT NULL
    )`,
    'CREATE UNIQUE INDEX search_entries_position ON search_entries (issue_id, position)',
    `CREATE VIRTUAL TABLE search_entry_trigrams USING fts5(
      folded, content='', contentless_delete=1, detail=none, tokenize='trigram case_sensitive 1'
    )`,
    `INSERT INTO search_entry_trigrams (search_entry_trigrams, rank) VALUES ('hashsize', 8388608)`,

    trigger(
      'entry_written',
      'INSERT ON issue_entries WHEN NEW.body IS NOT NULL OR NEW.position = 0',
      note('(SELECT NEW.issue_id AS issue_id, NEW.position AS position)'),
    ),
    trigger(
      'entry_changed',
      'UPDATE OF body, held_at, deleted_at ON issue_entries',
      note('(SELECT NEW.issue_id AS issue_id, NEW.position AS position)'),
    ),
    trigger('issue_titled', 'UPDATE OF title ON issues', note('(SELECT NEW.id AS issue_id, 0 AS position)')),
    trigger('issue_moved', 'UPDATE OF repository_id ON issues', note('issue_entries WHERE issue_id = NEW.id')),
    // Here, because a repository that is removed takes all texts of its issues along in one write.
    trigger(
      'entry_gone',
      'DELETE ON issue_entries',
      `DELETE FROM search_entry_trigrams WHERE rowid = (
        SELECT place FROM search_entries WHERE issue_id = OLD.issue_id AND position = OLD.position);
      DELETE FROM search_entries WHERE issue_id = OLD.issue_id AND position = OLD.position;`,
    ),
    note('issue_entries WHERE body IS NOT NULL OR position = 0'),

    // Lists over repositories; those of one repository have their own.
    ...['updated_at', 'created_at', 'comment_count'].map(
      (column) => `CREATE INDEX issues_all_${column} ON issues (kind, state, ${column}, id) WHERE ${listed}`,
    ),
    `CREATE INDEX issues_locked ON issues (repository_id, locked_at) WHERE locked_at IS NOT NULL AND deleted_at IS NULL`,
    'CREATE INDEX labels_name ON labels (name_folded)',
    'CREATE INDEX milestones_name ON milestones (title_folded)',
  ],
};
