import type { Migration } from '../src/db/index.ts';

/**
 * Matrices of jobs that call a workflow, as their expressions were evaluated when the jobs before them had ended:
 * `{combinations, failFast, maxParallel}` of each call of a run.
 */
export const ciCallMatrices: Migration = {
  version: 164,
  name: 'CiCallMatrices',
  statements: [
    `CREATE TABLE ci_call_matrices (
      run_id INTEGER NOT NULL REFERENCES ci_runs (id) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      call_key TEXT NOT NULL,
      matrix TEXT NOT NULL,
      PRIMARY KEY (run_id, position)
    )`,
  ],
};
