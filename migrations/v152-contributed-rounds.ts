import type { Migration } from '../src/db/index.ts';

/**
 * What rounds of people without the right to write take, in bytes, so that their sum has a limit; 0 for all others.
 * Pushes to `refs/for/…` are read by age: those whose options a crash has left, and those that git refused.
 */
export const contributedRounds: Migration = {
  version: 152,
  name: 'ContributedRounds',
  statements: [
    'ALTER TABLE pull_rounds ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0',
    'CREATE INDEX pull_rounds_contributed ON pull_rounds (submitter_id) WHERE bytes > 0',
    'CREATE INDEX pull_pushes_oldest ON pull_pushes (created_at)',
  ],
};
