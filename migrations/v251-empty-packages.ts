import type { Migration } from '../src/db/index.ts';

/** The nightly collection finds packages without versions. */
export const emptyPackages: Migration = {
  version: 251,
  name: 'Packages without versions',
  statements: ['CREATE INDEX packages_empty ON packages (updated_at) WHERE versions = 0'],
};
