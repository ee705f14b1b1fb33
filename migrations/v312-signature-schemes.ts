import type { Migration } from '../src/db/index.ts';

/** By which scheme the requests to another server are signed; null for the usual one. */
export const signatureSchemes: Migration = {
  version: 312,
  name: 'Signature schemes of peers',
  statements: ['ALTER TABLE federation_peers ADD COLUMN scheme TEXT'],
};
