import type { Tx } from '../../db/index.ts';
import { pendingEventSchema } from '../schema/event-schema.ts';
import type { PendingEventRow } from '../schema/event-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import { pathOfWorkflow, readRef } from './run-context.ts';
import type { RunEndListener } from '../ports/run-end-listener.ts';

/** Limit of the chain of runs that start each other by `workflow_run`. */
const maxDepth = 5;

/** Records an event whose workflows are started after the write. */
export const insertPendingEvent = (tx: Tx, row: Omit<PendingEventRow, 'id' | 'createdAt'>) =>
  // The cast avoids a type that is too deep for the compiler: details are any JSON.
  tx.manager.insert(pendingEventSchema, { ...row, createdAt: tx.now } as never);

const statusOf = { requested: 'queued', in_progress: 'in_progress', completed: 'completed' } as const;

/** Records the start or end of a run for `workflow_run`, inside the write that changes it. */
export async function recordRunEvent(tx: Tx, run: RunRow, action: keyof typeof statusOf): Promise<void> {
  const depth = depthOf(run);
  if (depth >= maxDepth) return;
  const { type, name } = readRef(run.ref);
  const path = pathOfWorkflow(run);
  await insertPendingEvent(tx, {
    repositoryId: run.repositoryId,
    event: 'workflow_run',
    action,
    details: {
      action,
      depth: depth + 1,
      workflow: { name: run.workflowName, path },
      workflow_run: {
        id: run.id,
        name: run.workflowName,
        path,
        display_title: run.title,
        run_number: run.number,
        run_attempt: run.attempt,
        event: run.event,
        status: statusOf[action],
        conclusion: action === 'completed' ? run.status : null,
        head_branch: type === 'branch' ? name : '',
        head_sha: run.sha,
        created_at: new Date(run.createdAt).toISOString(),
      },
    },
    ref: null,
    // A run that follows untrusted code is also untrusted.
    isTrusted: run.isTrusted,
    actorId: run.actorId,
  });
}

/** Listener for the end of a run. */
export const recordEndedRun: RunEndListener = (tx, run) => recordRunEvent(tx, run, 'completed');

const depthOf = ({ event, eventPayload }: RunRow): number =>
  event === 'workflow_run' && typeof eventPayload['depth'] === 'number' ? eventPayload['depth'] : 0;
