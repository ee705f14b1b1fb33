import { isRefusal } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import { removeRunRow } from './remove-run.ts';

const batchSize = 100;
/** Limit per night: the first night after years would otherwise block the write connection for hours. */
const mostAtOnce = 20_000;

interface OldRun {
  id: number;
  repositoryId: string;
  workflowPath: string;
  number: number;
  finishedAt: number;
}

/**
 * Deletes runs that ended longer ago than `ci.run_keep`, with their jobs, logs, artifacts and commit statuses. The
 * newest run of each workflow stays, because its badge shows it. Returns the number of deleted runs.
 */
export async function removeOldRuns(deps: CiDeps): Promise<number> {
  const { db, clock, settings } = deps;
  const before = clock.now() - settings.runTtlMs;
  let count = 0;
  let after: Pick<OldRun, 'finishedAt' | 'id'> = { finishedAt: 0, id: 0 };
  while (count < mostAtOnce) {
    const old = (await db.read.query(
      `SELECT id AS id, repository_id AS "repositoryId", workflow_path AS "workflowPath", number AS number,
          finished_at AS "finishedAt" FROM ci_runs
        WHERE finished_at < ? AND (finished_at, id) > (?, ?) ORDER BY finished_at, id LIMIT ?`,
      [before, after.finishedAt, after.id, batchSize],
    )) as OldRun[];
    for (const run of old) {
      if (await isNewest(deps, run)) continue;
      // The run may have been re-run since.
      await removeRunRow(deps, Number(run.id)).catch((error: unknown) => {
        if (!isRefusal(error)) throw error;
      });
      count += 1;
    }
    if (old.length < batchSize) break;
    after = old.at(-1)!;
  }
  return count;
}

async function isNewest({ db }: CiDeps, { repositoryId, workflowPath, number }: OldRun): Promise<boolean> {
  const rows: unknown[] = await db.read.query(
    'SELECT 1 AS found FROM ci_runs WHERE repository_id = ? AND workflow_path = ? AND number > ? LIMIT 1',
    [repositoryId, workflowPath, number],
  );
  return rows.length === 0;
}
