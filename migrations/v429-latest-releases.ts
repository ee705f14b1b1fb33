import type { Migration } from '../src/db/index.ts';

/** Releases that do not become the latest one, such as a fix of an older version. */
export const latestReleases: Migration = {
  version: 429,
  name: 'Releases behind the latest',
  statements: ['ALTER TABLE releases ADD COLUMN stays_behind BIGINT NOT NULL DEFAULT 0'],
};
