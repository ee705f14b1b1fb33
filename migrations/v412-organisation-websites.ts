import type { Migration } from '../src/db/index.ts';

/** The website of an organisation, an http or https URL; empty for none. */
export const organisationWebsites: Migration = {
  version: 412,
  name: 'OrganisationWebsites',
  statements: ["ALTER TABLE organisations ADD COLUMN website TEXT NOT NULL DEFAULT ''"],
};
