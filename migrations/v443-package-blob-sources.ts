import type { Migration } from '../src/db/index.ts';

/** Packages that have a blob are found by its digest; the mark of the former collection of blobs goes. */
export const packageBlobSources: Migration = {
  version: 443,
  name: 'Packages that have a blob',
  statements: [
    'CREATE INDEX package_blob_names_blob ON package_blob_names (sha256, package_id)',
    'ALTER TABLE package_blobs DROP COLUMN removing_at',
  ],
};
