import type { Migration } from '../src/db/index.ts';

/**
 * The first program with moves of repositories named the second column `from_owner_id`; a later one edited its step.
 * The table is rebuilt with the columns by their place, so that both become the same.
 */
export const repositoryMoves: Migration = {
  version: 410,
  name: 'RepositoryMoves',
  statements: [
    `CREATE TABLE repository_moves_rebuilt (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      to_owner_id TEXT NOT NULL
    )`,
    'INSERT INTO repository_moves_rebuilt SELECT * FROM repository_moves',
    'DROP TABLE repository_moves',
    'ALTER TABLE repository_moves_rebuilt RENAME TO repository_moves',
  ],
  // Databases of PostgreSQL are younger.
  postgres: [],
};
