import type { Migration } from '../src/db/index.ts';

/** Which pull requests brought the commits of a release. */
export const mergedCommits: Migration = {
  version: 126,
  name: 'MergedCommits',
  statements: ['CREATE INDEX pulls_merged ON pulls (repository_id, merged_oid) WHERE merged_oid IS NOT NULL'],
};
