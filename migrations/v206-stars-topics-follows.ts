import type { Migration } from '../src/db/index.ts';

const user = (column: string): string => `${column} TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE`;
const repository = 'repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE';

/** Stars and topics of repositories, and users who follow others on this server. */
export const starsTopicsFollows: Migration = {
  version: 206,
  name: 'Stars, topics and follows',
  statements: [
    `CREATE TABLE stars (
      ${user('user_id')},
      ${repository},
      created_at BIGINT NOT NULL,
      PRIMARY KEY (user_id, repository_id)
    )`,
    'CREATE INDEX stars_repository ON stars (repository_id, created_at, user_id)',
    'CREATE INDEX stars_age ON stars (user_id, created_at, repository_id)',
    `CREATE TABLE star_counts (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      stars BIGINT NOT NULL
    )`,
    `CREATE TRIGGER star_counts_added AFTER INSERT ON stars BEGIN
      INSERT INTO star_counts (repository_id, stars) VALUES (NEW.repository_id, 1)
        ON CONFLICT (repository_id) DO UPDATE SET stars = star_counts.stars + excluded.stars; END`,
    `CREATE TRIGGER star_counts_removed AFTER DELETE ON stars BEGIN
      UPDATE star_counts SET stars = stars - 1 WHERE repository_id = OLD.repository_id; END`,

    `CREATE TABLE repository_topics (
      ${repository},
      topic TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (repository_id, topic)
    )`,
    'CREATE INDEX repository_topics_topic ON repository_topics (topic, repository_id)',

    `CREATE TABLE user_follows (
      ${user('follower_id')},
      ${user('followed_id')},
      created_at BIGINT NOT NULL,
      PRIMARY KEY (follower_id, followed_id),
      CONSTRAINT user_follows_others CHECK (follower_id <> followed_id)
    )`,
    'CREATE INDEX user_follows_followed ON user_follows (followed_id, created_at, follower_id)',
    'CREATE INDEX user_follows_follower ON user_follows (follower_id, created_at, followed_id)',
  ],
};
