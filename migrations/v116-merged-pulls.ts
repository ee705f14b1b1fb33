import type { Migration } from '../src/db/index.ts';

/** Finds the pull request that a commit of a branch came from. */
export const mergedPulls: Migration = {
  version: 116,
  name: 'Merged pull requests by commit',
  statements: ['CREATE INDEX pulls_merged ON pulls (merged_oid, repository_id) WHERE merged_oid IS NOT NULL'],
};
