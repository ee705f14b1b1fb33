import type { RunEndListener, RunRow } from '../ci/index.ts';
import { repositoryOf } from '../repositories/index.ts';
import type { ToldRun } from './payloads.ts';
import { enqueueDelivery } from './enqueue-delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { webhooksFor } from './scope.ts';

/**
 * Subscribes to the end of every run, inside the write that ends it. Names of people and owners are looked up at
 * sending; the state of the run at its end is stored here.
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

/** The columns of a run that a payload has. */
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
