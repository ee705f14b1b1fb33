import type { Migration } from '../src/db/index.ts';

/**
 * Which server a bucket with repositories belongs to: the mark of the last recovery, here and in the bucket. A server
 * whose rows have an older one was replaced.
 */
export const instanceMarks: Migration = {
  version: 425,
  name: 'InstanceMarks',
  statements: [
    `CREATE TABLE instance_marks (
      number BIGINT PRIMARY KEY NOT NULL,
      mark TEXT NOT NULL,
      made_at BIGINT NOT NULL
    )`,
  ],
};
