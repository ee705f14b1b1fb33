import type { Migration } from '../src/db/index.ts';

/** Names of people in imported pull requests who are no accounts here; null wherever there is an id. */
export const namesInPulls: Migration = {
  version: 161,
  name: 'Names in pull requests',
  statements: [
    'ALTER TABLE pulls ADD COLUMN submitter_name TEXT',
    'ALTER TABLE pulls ADD COLUMN merged_by_name TEXT',
    'ALTER TABLE pull_rounds ADD COLUMN submitter_name TEXT',
    'ALTER TABLE reviews ADD COLUMN author_name TEXT',
    'ALTER TABLE reviews ADD COLUMN dismissed_by_name TEXT',
    'ALTER TABLE review_threads ADD COLUMN resolved_by_name TEXT',
  ],
};
