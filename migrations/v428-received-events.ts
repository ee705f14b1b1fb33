import type { Migration } from '../src/db/index.ts';

/** Releases, issues and pull requests of followed repositories on other servers; notes for Hearths are marked. */
export const receivedEvents: Migration = {
  version: 428,
  name: 'Events of followed repositories',
  statements: [
    `CREATE TABLE received_events (
      id TEXT PRIMARY KEY NOT NULL,
      actor_id TEXT NOT NULL,
      note_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      is_pull BIGINT NOT NULL DEFAULT 0,
      number BIGINT,
      tag TEXT,
      title TEXT NOT NULL,
      author TEXT,
      url TEXT,
      happened_at BIGINT NOT NULL,
      received_at BIGINT NOT NULL,
      CONSTRAINT received_events_kind CHECK (kind IN ('release', 'opened', 'merged'))
    )`,
    'CREATE UNIQUE INDEX received_events_note ON received_events (actor_id, note_id)',
    'CREATE INDEX received_events_recent ON received_events (actor_id, kind, happened_at, id)',
    'CREATE INDEX received_events_arrival ON received_events (actor_id, received_at)',
    'CREATE INDEX received_events_age ON received_events (received_at)',
    'ALTER TABLE federation_outbox ADD COLUMN reads TEXT',
  ],
};
