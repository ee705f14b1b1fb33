import { IsNull } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import { runTopic } from '../topics.ts';
import type { CiDeps } from '../deps.ts';
import { advanceRun } from './advance-run.ts';
import { AfterCommit } from './after-commit.ts';
import { runSchema } from '../schema/run-schema.ts';

/**
 * A write that changes runs, and what follows from it: pages are told, waiting
 * runners get the jobs, and runs that waited for this one go on. A crash between
 * the two loses nothing: `advanceAll` does it at the next start.
 */
export async function changeRuns<T>(deps: CiDeps, work: (tx: Tx, after: AfterCommit) => Promise<T>): Promise<T> {
  const after = new AfterCommit();
  const result = await deps.db.write((tx) => work(tx, after));
  await follow(deps, after);
  return result;
}

/** Does what a write has left to be done. */
export async function follow(deps: CiDeps, after: AfterCommit): Promise<void> {
  for (const id of after.changed) deps.notifier.notify(runTopic(id));
  if (after.mayHaveWork) void deps.queue.wake();
  for (const id of after.toAdvance) await advance(deps, id);
}

/** Looks at every run that has not ended: at start, for what a crash left half done. */
export async function advanceAll(deps: CiDeps, hasStopped: () => boolean): Promise<void> {
  const runs = await deps.db.read.find(runSchema, {
    where: { finishedAt: IsNull() },
    select: { id: true },
    order: { id: 'ASC' },
  });
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
    // Its repository is gone or in the trash: there is nobody to run for.
    if (isDomainError(error) && error.code === 'not_found') return;
    deps.logger.error('ci.advance_failed', { run: runId, error });
  }
}
