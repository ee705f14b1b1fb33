import type { RunEndListener, RunRow } from '../ci/index.ts';
import { repositoryOf } from '../repositories/index.ts';
import type { ToldRun } from './payloads.ts';
import { enqueueDelivery } from './enqueue-delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { webhooksFor } from './scope.ts';

/**
 * Listener for the end of every run, called inside the write that ends it. Names of users and owners are looked up when
 * the delivery is sent; the state of the run is stored here.
 */
export function onRunFinished(deps: WebhookDeps): RunEndListener {
  return async (tx, run) => {
    const repository = await repositoryOf(tx, run.repositoryId);
    if (repository === null) return;
    const hooks = await webhooksFor(tx.manager, repository, ['run']);
    if (hooks.length === 0) return;
    const about = JSON.stringify({ repositoryId: repository.id, run: toldRunOf(run) });
    for (const hook of hooks) await enqueueDelivery(deps, tx, { webhookId: hook.id, event: 'workflow_run', about });
  };
}

/** The columns of a run that its payload contains. */
export function toldRunOf({
  id,
  number,
  workflowPath,
  workflowName,
  title,
  event,
  ref,
  sha,
  attempt,
  actorId,
  deployKey,
  createdAt,
  startedAt,
  finishedAt,
  status,
}: RunRow): ToldRun {
  return {
    id,
    number,
    workflowPath,
    workflowName,
    title,
    event,
    ref,
    sha,
    attempt,
    actorId,
    deployKey,
    createdAt,
    startedAt,
    finishedAt,
    status,
  };
}
