import type { Migration } from '../src/db/index.ts';

/**
 * News of access that others gave a person: to a repository, an organisation or a team. Given again, the row of the
 * same place is new again. It goes with its place.
 */
export const accessNews: Migration = {
  version: 270,
  name: 'News of given access',
  statements: [
    `CREATE TABLE access_news (
      id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      place TEXT NOT NULL,
      repository_id TEXT REFERENCES repositories (id) ON DELETE CASCADE,
      organisation_id TEXT REFERENCES organisations (id) ON DELETE CASCADE,
      team_id TEXT REFERENCES teams (id) ON DELETE CASCADE,
      role TEXT,
      actor_id TEXT REFERENCES users (id) ON DELETE SET NULL,
      created_at BIGINT NOT NULL,
      read_at BIGINT,
      CONSTRAINT access_news_place UNIQUE (user_id, place)
    )`,
    'CREATE INDEX access_news_unread ON access_news (user_id, created_at, id) WHERE read_at IS NULL',
    'CREATE INDEX access_news_repository ON access_news (repository_id) WHERE repository_id IS NOT NULL',
    'CREATE INDEX access_news_organisation ON access_news (organisation_id) WHERE organisation_id IS NOT NULL',
    'CREATE INDEX access_news_team ON access_news (team_id) WHERE team_id IS NOT NULL',
    'CREATE INDEX access_news_actor ON access_news (actor_id) WHERE actor_id IS NOT NULL',
  ],
};
