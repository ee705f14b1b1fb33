import type { Migration } from '../src/db/index.ts';

/** What a push of another server says besides its commits, and followed repositories that their server has no more. */
export const followFacts: Migration = {
  version: 187,
  name: 'Follow facts',
  statements: [
    'ALTER TABLE received_pushes ADD COLUMN is_forced INTEGER NOT NULL DEFAULT 0',
    'ALTER TABLE received_pushes ADD COLUMN pusher TEXT',
    'ALTER TABLE remote_follows ADD COLUMN gone_at INTEGER',
  ],
};
