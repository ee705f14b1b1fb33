import type { Migration } from '../src/db/index.ts';

/** Follows: remote actors of our repositories, our people of remote repositories, and received pushes. */
export const follows: Migration = {
  version: 9,
  name: 'Follows',
  statements: [
    `CREATE TABLE repository_followers (
      repository_id TEXT NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      actor_id TEXT NOT NULL,
      inbox TEXT NOT NULL,
      host TEXT NOT NULL,
      follow_id TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      PRIMARY KEY (repository_id, actor_id)
    )`,
    `CREATE INDEX repository_followers_actor ON repository_followers (actor_id)`,

    `CREATE TABLE remote_follows (
      id TEXT PRIMARY KEY NOT NULL,
      user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      remote_actor_id TEXT NOT NULL,
      remote_inbox TEXT NOT NULL,
      host TEXT NOT NULL,
      handle TEXT NOT NULL,
      url TEXT,
      follow_id TEXT NOT NULL,
      state TEXT NOT NULL CONSTRAINT remote_follows_state CHECK (state IN ('PENDING', 'ACCEPTED')),
      created_at INTEGER NOT NULL,
      accepted_at INTEGER
    )`,
    `CREATE UNIQUE INDEX remote_follows_user_actor ON remote_follows (user_id, remote_actor_id)`,
    `CREATE INDEX remote_follows_actor ON remote_follows (remote_actor_id)`,
    `CREATE INDEX remote_follows_follow ON remote_follows (follow_id)`,

    `CREATE TABLE received_pushes (
      id TEXT PRIMARY KEY NOT NULL,
      actor_id TEXT NOT NULL,
      activity_id TEXT NOT NULL,
      branch TEXT NOT NULL,
      hash_before TEXT,
      hash_after TEXT,
      commit_count INTEGER NOT NULL,
      commits TEXT NOT NULL,
      pushed_at INTEGER NOT NULL,
      received_at INTEGER NOT NULL
    )`,
    `CREATE UNIQUE INDEX received_pushes_activity ON received_pushes (actor_id, activity_id)`,
    `CREATE INDEX received_pushes_recent ON received_pushes (actor_id, pushed_at)`,
    `CREATE INDEX received_pushes_age ON received_pushes (received_at)`,
  ],
};
