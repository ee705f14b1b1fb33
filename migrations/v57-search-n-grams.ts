import type { Migration } from '../src/db/index.ts';

/**
 * An index of n-grams that are longer where they are frequent; V72 replaced it. The first start afterwards rebuilds it.
 * A contentless table without sizes allows adding words to existing rows, and needs the words of a row to delete it.
 */
const index = (grams: string): string[] => [
  `DROP TABLE ${grams}`,
  `CREATE VIRTUAL TABLE ${grams} USING fts5(grams, content='', columnsize=0, detail=none, tokenize='ascii')`,
  // A large write is sorted in memory, up to 8 MiB, before it is written to the file.
  `INSERT INTO ${grams} (${grams}, rank) VALUES ('hashsize', 8388608)`,
  `CREATE VIRTUAL TABLE ${grams}_counts USING fts5vocab(${grams}, row)`,
];

export const searchNGrams: Migration = {
  version: 57,
  name: 'GrownGrams',
  statements: [
    ...index('search_repository_grams'),
    ...index('search_person_grams'),
    `CREATE TABLE search_grown_grams (
      number INTEGER PRIMARY KEY NOT NULL,
      list TEXT NOT NULL CONSTRAINT search_grown_grams_list CHECK (list IN ('search_repositories', 'search_people')),
      gram TEXT NOT NULL,
      CONSTRAINT search_grown_grams_once UNIQUE (list, gram)
    )`,
    'DELETE FROM search_repositories',
    'DELETE FROM search_people',
    `INSERT OR IGNORE INTO search_changes (kind, id) SELECT 'repository', id FROM repositories WHERE deleted_at IS NULL`,
    `INSERT OR IGNORE INTO search_changes (kind, id) SELECT 'person', id FROM users WHERE username IS NOT NULL`,
  ],
};
