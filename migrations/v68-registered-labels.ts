import type { Migration } from '../src/db/index.ts';

/** The labels that `hearth runner register --labels` gave a runner; they apply to one that declares none itself. */
export const registeredLabels: Migration = {
  version: 68,
  name: 'RegisteredLabels',
  statements: [`ALTER TABLE ci_runners ADD COLUMN registered_labels TEXT NOT NULL DEFAULT '[]'`],
};
