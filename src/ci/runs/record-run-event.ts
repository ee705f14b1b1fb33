import type { Tx } from '../../db/index.ts';
import { pendingEventSchema } from '../schema/event-schema.ts';
import type { PendingEventRow } from '../schema/event-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import { pathOfWorkflow, readRef } from './run-context.ts';
import type { RunEndListener } from './run-end-listener.ts';

/** Runs that start each other by `workflow_run` end after so many. */
const maxDepth = 5;

/** Records an event whose workflows are started after the write. */
export const insertPendingEvent = (tx: Tx, row: Omit<PendingEventRow, 'id' | 'createdAt'>) =>
  // Details are any JSON, nested too deeply for the compiler.
  tx.manager.insert(pendingEventSchema, { ...row, createdAt: tx.now } as never);

const statusOf = { requested: 'queued', in_progress: 'in_progress', completed: 'completed' } as const;

/** Records the start or the end of a run for `workflow_run`, in its write. */
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
    // What follows the code of others gets no secrets either.
    isTrusted: run.isTrusted,
    actorId: run.actorId,
  });
}

/** For the listeners of the end of a run. */
export const recordEndedRun: RunEndListener = (tx, run) => recordRunEvent(tx, run, 'completed');

const depthOf = ({ event, eventPayload }: RunRow): number =>
  event === 'workflow_run' && typeof eventPayload['depth'] === 'number' ? eventPayload['depth'] : 0;
