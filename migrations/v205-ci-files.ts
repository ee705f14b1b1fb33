import type { Migration } from '../src/db/index.ts';

/**
 * The folder of the workflow of a run, which identity tokens name; empty for runs of earlier versions. The media type
 * of an artifact that is a single file; null for archives. When a runner declared itself, which it does at its start.
 */
export const ciFiles: Migration = {
  version: 205,
  name: 'Folders of workflows, media types of artifacts, starts of runners',
  statements: [
    "ALTER TABLE ci_runs ADD COLUMN workflow_folder TEXT NOT NULL DEFAULT ''",
    'ALTER TABLE ci_artifacts ADD COLUMN media_type TEXT',
    'ALTER TABLE ci_runners ADD COLUMN declared_at BIGINT',
  ],
};
