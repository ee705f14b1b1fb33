import type { Migration } from '../src/db/index.ts';

/** Who deleted the organisation that had a name: that person may give the name to another one. */
export const namesThatComeBack: Migration = {
  version: 220,
  name: 'Names that come back',
  statements: ['ALTER TABLE handles ADD COLUMN released_by TEXT'],
};
