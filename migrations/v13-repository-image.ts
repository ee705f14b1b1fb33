import type { Migration } from '../src/db/index.ts';

/** The image columns of SPEC §2.2: both null while a repository has no image of its own. */
export const repositoryImage: Migration = {
  version: 13,
  name: 'RepositoryImage',
  statements: [
    `ALTER TABLE repositories ADD COLUMN image_content_type TEXT`,
    `ALTER TABLE repositories ADD COLUMN image_updated_at INTEGER`,
  ],
};
