import type { Migration } from '../src/db/index.ts';

/** What the nodes of a database must have in common: how far their clocks are ahead, and prints of their keys. */
export const nodeFacts: Migration = {
  version: 432,
  name: 'NodeFacts',
  statements: [
    'ALTER TABLE nodes ADD COLUMN clock_ahead_ms BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE nodes ADD COLUMN key_print TEXT',
  ],
};
