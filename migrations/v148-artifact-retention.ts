import type { Migration } from '../src/db/index.ts';

/**
 * The repository of an artifact beside its run, for lists; and how long repositories keep artifacts and logs, in days.
 */
export const artifactRetention: Migration = {
  version: 148,
  name: 'Artifacts by repository, retention by repository',
  statements: [
    `ALTER TABLE ci_artifacts ADD COLUMN repository_id TEXT NOT NULL DEFAULT ''`,
    `UPDATE ci_artifacts SET repository_id = (SELECT r.repository_id FROM ci_runs r WHERE r.id = ci_artifacts.run_id)`,
    `CREATE INDEX ci_artifacts_repository ON ci_artifacts (repository_id, id)`,
    `CREATE TABLE ci_retention (
      repository_id TEXT PRIMARY KEY NOT NULL REFERENCES repositories (id) ON DELETE CASCADE,
      artifact_days INTEGER CHECK (artifact_days > 0),
      log_days INTEGER CHECK (log_days > 0)
    )`,
  ],
};
