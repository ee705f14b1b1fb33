import type { Tx } from '../../db/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import { runTopic } from '../notifier-topics.ts';
import type { CiDeps } from '../deps.ts';
import { advanceRun } from './advance-run.ts';
import { AfterCommit } from './after-commit.ts';
import { runSchema } from '../schema/run-schema.ts';

/**
 * Runs a write that changes runs, and its after-commit effects: pages are notified, waiting runners get jobs, and runs
 * that waited for this one are advanced. A crash in between loses nothing: `advanceAll` repeats the effects at the next
 * start.
 */
export async function changeRuns<T>(deps: CiDeps, work: (tx: Tx, after: AfterCommit) => Promise<T>): Promise<T> {
  const after = new AfterCommit();
  const result = await deps.db.write((tx) => work(tx, after));
  await follow(deps, after);
  return result;
}

/** Executes the after-commit effects of a write. */
export async function follow(deps: CiDeps, after: AfterCommit): Promise<void> {
  for (const id of after.changed) deps.notifier.notify(runTopic(id));
  if (after.mayHaveWork) void deps.queue.wake();
  for (const id of after.toAdvance) await advance(deps, id);
}

/** Advances every unfinished run, at start after a crash. */
export async function advanceAll(deps: CiDeps, hasStopped: () => boolean): Promise<void> {
  const runs = await deps.db.read
    .createQueryBuilder(runSchema, 'r')
    .select('r.id', 'id')
    .where('r.finished_at IS NULL')
    .orderBy('r.id')
    .getRawMany<{ id: number }>();
  for (const { id } of runs) {
    if (hasStopped()) return;
    await advance(deps, id);
  }
}

async function advance(deps: CiDeps, runId: number): Promise<void> {
  try {
    const loaded = await deps.runs.load(runId);
    await changeRuns(deps, (tx, after) => advanceRun(deps, tx, loaded, after));
  } catch (error) {
    // The repository is deleted or in the trash; the run stays as it is.
    if (isDomainError(error) && error.code === 'not_found') return;
    deps.logger.error('ci.advance_failed', { run: runId, error });
  }
}
