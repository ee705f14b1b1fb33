import type { Migration } from '../src/db/index.ts';

/**
 * Finds open pull requests whose merge state nothing has computed yet, so that a start finishes what a crash has left
 * of them without reading the others.
 */
export const unknownMergeStates: Migration = {
  version: 174,
  name: 'UnknownMergeStates',
  statements: [
    `CREATE INDEX pulls_unknown ON pulls (issue_id)
      WHERE is_open = 1 AND merge_state = 'UNKNOWN' AND merge_state_reason IS NULL`,
  ],
};
