import type { Migration } from '../src/db/index.ts';

/** Of what a repository publishes notes for people; one without a row has those of pushes and of releases. */
export const noteChoices: Migration = {
  version: 396,
  name: 'Notes that owners choose',
  statements: [
    `CREATE TABLE note_choices (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      pushes BIGINT NOT NULL,
      releases BIGINT NOT NULL,
      issues BIGINT NOT NULL,
      pulls BIGINT NOT NULL
    )`,
    'CREATE INDEX federation_outbox_notes ON federation_outbox (repository_id, type, created_at, id)',
  ],
};
