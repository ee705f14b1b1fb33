import type { Migration } from '../src/db/index.ts';

/** The website of a repository, an http or https URL; empty for none. */
export const repositoryWebsites: Migration = {
  version: 271,
  name: 'Websites of repositories',
  statements: ["ALTER TABLE repositories ADD COLUMN website TEXT NOT NULL DEFAULT ''"],
};
