import type { Migration } from '../src/db/index.ts';

/**
 * The software of another server, as its NodeInfo names it, and whether its followers get notes for people (`note`)
 * instead of pushes for forges.
 */
export const peersThatReadNotes: Migration = {
  version: 210,
  name: 'Peers that read notes',
  statements: [
    'ALTER TABLE federation_peers ADD COLUMN software TEXT',
    'ALTER TABLE federation_peers ADD COLUMN software_at BIGINT',
    'ALTER TABLE federation_peers ADD COLUMN reads TEXT',
  ],
};
