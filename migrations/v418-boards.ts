import type { Migration } from '../src/db/index.ts';

/** Boards of repositories and organisations: columns with cards, each an issue or a pull request. */
export const boards: Migration = {
  version: 418,
  name: 'Boards',
  statements: [
    `CREATE TABLE boards (
      id TEXT PRIMARY KEY NOT NULL,
      repository_id TEXT REFERENCES repositories (id) ON DELETE CASCADE,
      organisation_id TEXT REFERENCES organisations (id) ON DELETE CASCADE,
      title TEXT NOT NULL,
      title_folded TEXT NOT NULL,
      description TEXT NOT NULL DEFAULT '',
      is_public BIGINT NOT NULL DEFAULT 0,
      created_at BIGINT NOT NULL,
      CONSTRAINT boards_place CHECK ((repository_id IS NULL) <> (organisation_id IS NULL))
    )`,
    'CREATE UNIQUE INDEX boards_repository_title ON boards (repository_id, title_folded)',
    'CREATE UNIQUE INDEX boards_organisation_title ON boards (organisation_id, title_folded)',
    `CREATE TABLE board_columns (
      id TEXT PRIMARY KEY NOT NULL,
      board_id TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      name_folded TEXT NOT NULL,
      place BIGINT NOT NULL,
      card_limit BIGINT,
      rule TEXT CONSTRAINT board_columns_rule CHECK (rule IN ('open', 'closed', 'label')),
      label TEXT NOT NULL DEFAULT ''
    )`,
    'CREATE UNIQUE INDEX board_columns_name ON board_columns (board_id, name_folded)',
    `CREATE TABLE board_cards (
      board_id TEXT NOT NULL REFERENCES boards (id) ON DELETE CASCADE,
      issue_id TEXT NOT NULL REFERENCES issues (id) ON DELETE CASCADE,
      column_id TEXT NOT NULL REFERENCES board_columns (id) ON DELETE CASCADE,
      order_key BIGINT NOT NULL,
      PRIMARY KEY (board_id, issue_id)
    )`,
    'CREATE INDEX board_cards_order ON board_cards (column_id, order_key, issue_id)',
    'CREATE INDEX board_cards_issue ON board_cards (issue_id)',
    // A board has what is of its repository or organisation alone.
    `CREATE TRIGGER board_cards_issue_moved AFTER UPDATE OF repository_id ON issues BEGIN
      DELETE FROM board_cards WHERE issue_id = NEW.id;
    END`,
    `CREATE TRIGGER board_cards_repository_moved AFTER UPDATE OF owner_org_id ON repositories
      WHEN OLD.owner_org_id IS NOT NULL BEGIN
      DELETE FROM board_cards WHERE board_id IN (SELECT b.id FROM boards b WHERE b.organisation_id = OLD.owner_org_id)
        AND issue_id IN (SELECT i.id FROM issues i WHERE i.repository_id = NEW.id);
    END`,
  ],
};
