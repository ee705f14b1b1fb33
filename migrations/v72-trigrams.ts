import type { Migration } from '../src/db/index.ts';

/**
 * Search proposes rows by FTS5's own trigrams. The n-grams of variable length that they replace were faster on the
 * rarest queries and took 950 lines. The first start afterwards rebuilds the index. Private rows are not in it.
 */
const index = (name: string): string[] => [
  `CREATE VIRTUAL TABLE ${name} USING fts5(folded, content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1')`,
  // A large write is sorted in memory, up to 8 MiB, before it is written to the file.
  `INSERT INTO ${name} (${name}, rank) VALUES ('hashsize', 8388608)`,
];

export const trigrams: Migration = {
  version: 72,
  name: 'Trigrams',
  statements: [
    'DROP TABLE search_repository_grams_counts',
    'DROP TABLE search_person_grams_counts',
    'DROP TABLE search_repository_grams',
    'DROP TABLE search_person_grams',
    'DROP TABLE search_grown_grams',
    ...index('search_repository_trigrams'),
    ...index('search_person_trigrams'),
    'DELETE FROM search_repositories',
    'DELETE FROM search_people',
    `INSERT OR IGNORE INTO search_changes (kind, id) SELECT 'repository', id FROM repositories WHERE deleted_at IS NULL`,
    `INSERT OR IGNORE INTO search_changes (kind, id) SELECT 'person', id FROM users WHERE username IS NOT NULL`,
  ],
};
