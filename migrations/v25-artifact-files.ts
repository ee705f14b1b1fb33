import type { Migration } from '../src/db/index.ts';

/**
 * The single files of artifacts that the older protocol uploads one by one, and the highest run number of each
 * repository: none is reused after its run was deleted.
 */
export const artifactFiles: Migration = {
  version: 25,
  name: 'ArtifactFiles',
  statements: [
    `CREATE TABLE ci_artifact_files (
      artifact_id INTEGER NOT NULL REFERENCES ci_artifacts (id) ON DELETE CASCADE,
      path TEXT NOT NULL,
      file TEXT NOT NULL,
      is_gzipped INTEGER NOT NULL DEFAULT 0,
      stored_bytes INTEGER NOT NULL,
      received_bytes INTEGER NOT NULL DEFAULT 0,
      size_bytes INTEGER NOT NULL,
      PRIMARY KEY (artifact_id, path)
    )`,
    `CREATE INDEX ci_runs_ref ON ci_runs (repository_id, ref, id)`,
    `CREATE TABLE ci_run_numbers (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      last INTEGER NOT NULL
    )`,
  ],
};
