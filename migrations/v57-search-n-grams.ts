import type { Migration } from '../src/db/index.ts';

/**
 * The index of grams grows where it is frequent (`src/search/grams.ts`). It is made anew
 * by the first start afterwards. Words are added to rows that have some already: that is
 * what a table without content and without sizes allows, and so the words of a row that
 * goes have to be said again.
 */
const index = (grams: string): string[] => [
  `DROP TABLE ${grams}`,
  `CREATE VIRTUAL TABLE ${grams} USING fts5(grams, content='', columnsize=0, detail=none, tokenize='ascii')`,
  // What a large write brings is sorted in memory, up to 8 MiB, before it reaches the file.
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
