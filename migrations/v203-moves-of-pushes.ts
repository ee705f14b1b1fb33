import type { Migration } from '../src/db/index.ts';

/**
 * How many refs a push moved, and the first of them as JSON: lists of pushes show no more, and a push may have a
 * hundred thousand. Null for a push that was settled before.
 */
export const movesOfPushes: Migration = {
  version: 203,
  name: 'Moves of pushes',
  statements: ['ALTER TABLE pushes ADD COLUMN moved BIGINT', 'ALTER TABLE pushes ADD COLUMN first_moves TEXT'],
};
