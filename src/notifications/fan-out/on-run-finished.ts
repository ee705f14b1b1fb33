import type { RunEndListener, RunRow } from '../../ci/index.ts';
import type { RunDetails, Subject } from '../schema/notification-schema.ts';
import { addBatch } from './batches.ts';
import type { BatchDrain } from './batches.ts';

/** Attempts that a run position can encode. */
const attemptsPerRun = 1_000;

/**
 * Subscribes to finished runs, inside the transaction that finishes one: announces a failure later, and on success
 * resolves the failures of the same workflow on the same ref. Ignores cancelled runs.
 */
export function onRunFinished(batchDrain: Pick<BatchDrain, 'scheduleDrain'>): RunEndListener {
  return async (tx, run) => {
    const subject: Subject = `run:${run.repositoryId}`;
    const context = `${run.workflowPath} ${run.ref}`;
    const position = positionOf(run);
    if (run.status === 'failure') {
      const event = {
        subject,
        repositoryId: run.repositoryId,
        issueId: null,
        firstPosition: position,
        lastPosition: position,
        details: JSON.stringify(detailsOf(run)),
        context,
      };
      await addBatch(tx, { kind: 'run-failed', event, actorId: run.actorId });
    } else if (run.status === 'success') {
      const open: unknown[] = await tx.manager.query(
        `SELECT 1 FROM notifications
         WHERE subject = ? AND context = ? AND resolved_at IS NULL AND issue_id IS NULL LIMIT 1`,
        [subject, context],
      );
      if (open.length === 0) return;
      await addBatch(tx, { kind: 'run-succeeded', subject, context, position });
    } else return;
    batchDrain.scheduleDrain();
  };
}

/** Data of a run that a row shows. */
export const detailsOf = ({ number, workflowName: workflow, title, ref, sha }: RunRow): RunDetails => ({
  number,
  workflow,
  title: title.slice(0, 255),
  ref,
  sha,
});

/** Position after every attempt of a run, before the next one. */
export const endOfRun = (number: number): number => number * attemptsPerRun + attemptsPerRun - 1;

/** Orders finished runs of a repository: a rerun finishes again. */
const positionOf = ({ number, attempt }: RunRow): number =>
  number * attemptsPerRun + Math.min(attempt, attemptsPerRun - 1);
