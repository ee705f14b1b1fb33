import type { Migration } from '../src/db/index.ts';

/** Owners and repositories whose tasks get a secret of the server, as a JSON list of ids; null for all. */
export const limitedSecrets: Migration = {
  version: 188,
  name: 'Limited secrets',
  statements: ['ALTER TABLE ci_secrets ADD COLUMN only_for TEXT'],
};
