import type { Migration } from '../src/db/index.ts';

/** How often a node was asked to reload its settings, which of these it has done last, and with what result. */
export const reloadsOfNodes: Migration = {
  version: 446,
  name: 'ReloadsOfNodes',
  statements: [
    'ALTER TABLE nodes ADD COLUMN reload_asked BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE nodes ADD COLUMN reload_done BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE nodes ADD COLUMN reload_result TEXT',
  ],
};
