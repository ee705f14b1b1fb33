import type { Migration } from '../src/db/index.ts';

/** Whether a repository accepts the refs that Gerrit keeps beside branches and tags: `refs/changes/`, `refs/meta/`. */
export const gerritRefs: Migration = {
  version: 64,
  name: 'GerritRefs',
  statements: [`ALTER TABLE repositories ADD COLUMN accepts_gerrit_refs INTEGER NOT NULL DEFAULT 0`],
};
