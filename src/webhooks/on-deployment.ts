import type { DeploymentListener, DeploymentRow, DeploymentStatusRow } from '../ci/index.ts';
import { repositoryOf } from '../repositories/index.ts';
import { toldRunOf } from './on-run-finished.ts';
import type { ToldRun } from './payloads.ts';
import { enqueueDelivery } from './enqueue-delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { webhooksFor } from './scope.ts';

/** The subject of a delivery of `deployment` or `deployment_status`, with its state at the time of the event. */
export interface DeploymentSubject {
  repositoryId: string;
  deployment: DeploymentRow;
  /** Null for the deployment itself. */
  status: DeploymentStatusRow | null;
  /** The run whose job deploys; null for a deployment by an external system. */
  deployingRun: ToldRun | null;
  actorId: string | null;
}

/** Listener for deployments and their statuses, called inside the write. */
export function onDeployment(deps: WebhookDeps): DeploymentListener {
  return async (tx, { deployment, status, run, actorId }) => {
    const repository = await repositoryOf(tx, deployment.repositoryId);
    if (repository === null) return;
    const event = status === null ? 'deployment' : 'deployment_status';
    const hooks = await webhooksFor(tx.manager, repository, [event]);
    if (hooks.length === 0) return;
    const about: DeploymentSubject = {
      repositoryId: repository.id,
      deployment,
      status,
      deployingRun: run === null ? null : toldRunOf(run),
      actorId,
    };
    for (const { id } of hooks) await enqueueDelivery(deps, tx, { webhookId: id, event, about: JSON.stringify(about) });
  };
}
