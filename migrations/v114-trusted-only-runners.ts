import type { Migration } from '../src/db/index.ts';

/** A runner that takes no jobs of runs without secrets: those of pull requests by people who may not write. */
export const trustedOnlyRunners: Migration = {
  version: 114,
  name: 'Runners for trusted code',
  statements: [`ALTER TABLE ci_runners ADD COLUMN trusted_only INTEGER NOT NULL DEFAULT 0`],
};
