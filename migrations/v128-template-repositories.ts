import type { Migration } from '../src/db/index.ts';

/** Whether a repository is offered as the beginning of others: its files are copied, its history is not. */
export const templateRepositories: Migration = {
  version: 128,
  name: 'TemplateRepositories',
  statements: ['ALTER TABLE repositories ADD COLUMN is_template INTEGER NOT NULL DEFAULT 0'],
};
