import type { Migration } from '../src/db/index.ts';

/** A run keeps the title of the deploy key whose push started it, as the push does. */
export const runsOfDeployKeys: Migration = {
  version: 178,
  name: 'Runs of deploy keys',
  statements: ['ALTER TABLE ci_runs ADD COLUMN deploy_key TEXT'],
};
