import type { Migration } from '../src/db/index.ts';

/**
 * Records a changed row for the module `search`. An `OR IGNORE` of the outer statement takes precedence, which is
 * harmless: one record is enough.
 */
const note = (kind: 'repository' | 'person', rows: string): string =>
  `INSERT OR IGNORE INTO search_changes (kind, id) SELECT '${kind}', id FROM ${rows};`;

/** The ids behind a handle: one person, or everything that a person or an organisation owns. */
const behindHandle = (row: 'NEW' | 'OLD'): string =>
  note('person', `users WHERE id = ${row}.owner_id`) +
  note('repository', `repositories WHERE owner_user_id = ${row}.owner_id AND deleted_at IS NULL`) +
  note('repository', `repositories WHERE owner_org_id = ${row}.owner_id AND deleted_at IS NULL`);

const trigger = (name: string, event: string, statements: string): string =>
  `CREATE TRIGGER search_${name} AFTER ${event} BEGIN ${statements} END`;

/**
 * A list in the order of its texts: `place` is both the position of a row and its rowid in the index.
 * @param facts further columns, which the access policy needs
 */
const list = (name: string, grams: string, facts: string): string[] => [
  `CREATE TABLE ${name} (
    place INTEGER PRIMARY KEY NOT NULL,
    id TEXT NOT NULL,
    ${facts}
    folded TEXT NOT NULL,
    hit TEXT NOT NULL
  )`,
  `CREATE UNIQUE INDEX ${name}_id ON ${name} (id)`,
  `CREATE INDEX ${name}_folded ON ${name} (folded)`,
  `CREATE VIRTUAL TABLE ${grams} USING fts5(
    grams, content='', contentless_delete=1, detail=none, tokenize='ascii'
  )`,
  // A large write is sorted in memory, up to 8 MiB, before it is written to the file.
  `INSERT INTO ${grams} (${grams}, rank) VALUES ('hashsize', 8388608)`,
];

/** As in `repositories`; rows in the trash are not listed. */
const policyFacts = `owner_user_id TEXT,
    owner_org_id TEXT,
    visibility TEXT NOT NULL,
    deleted_at INTEGER AS (NULL) VIRTUAL,`;

/**
 * The search index (SPEC §4.2). SQL cannot fold case, so triggers only record what changed; every write updates the
 * index before it is committed. Existing rows are recorded here, for the first start afterwards.
 */
export const search: Migration = {
  version: 30,
  name: 'Search',
  statements: [
    `CREATE TABLE search_changes (
      kind TEXT NOT NULL CONSTRAINT search_changes_kind CHECK (kind IN ('repository', 'person')),
      id TEXT NOT NULL,
      PRIMARY KEY (kind, id)
    ) WITHOUT ROWID`,
    ...list('search_repositories', 'search_repository_grams', policyFacts),
    `CREATE INDEX search_repositories_user ON search_repositories (owner_user_id) WHERE visibility <> 'PUBLIC'`,
    `CREATE INDEX search_repositories_organisation ON search_repositories (owner_org_id) WHERE visibility <> 'PUBLIC'`,
    ...list('search_people', 'search_person_grams', ''),

    trigger('repository_made', 'INSERT ON repositories', note('repository', '(SELECT NEW.id AS id)')),
    trigger('repository_gone', 'DELETE ON repositories', note('repository', '(SELECT OLD.id AS id)')),
    trigger(
      'repository_changed',
      'UPDATE OF name, description, visibility, owner_user_id, owner_org_id, created_at, deleted_at ON repositories',
      note('repository', '(SELECT NEW.id AS id)'),
    ),
    trigger('person_made', 'INSERT ON users', note('person', '(SELECT NEW.id AS id)')),
    trigger('person_gone', 'DELETE ON users', note('person', '(SELECT OLD.id AS id)')),
    trigger('person_changed', 'UPDATE OF username, display_name ON users', note('person', '(SELECT NEW.id AS id)')),
    trigger('handle_claimed', 'INSERT ON handles', behindHandle('NEW')),
    trigger('handle_changed', 'UPDATE ON handles', behindHandle('OLD') + behindHandle('NEW')),
    trigger('handle_freed', 'DELETE ON handles', behindHandle('OLD')),

    note('repository', 'repositories WHERE deleted_at IS NULL'),
    note('person', 'users WHERE username IS NOT NULL'),
  ],
};
