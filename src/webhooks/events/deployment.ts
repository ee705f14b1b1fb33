import type { DeploymentListener, DeploymentRow, DeploymentStatusRow } from '../../ci/index.ts';
import {
  deploymentPayload,
  deploymentStatusPayload,
  repositoryPayload,
  userPayload,
} from '../../gitea-shapes/index.ts';
import { repositoryOf } from '../../repositories/index.ts';
import type { WebhookDeps } from '../deps.ts';
import type { JsonObject } from '../json.ts';
import { runFields, toldRunOf, workflowFields } from './run.ts';
import type { ToldRun } from './run.ts';
import { enqueueStored, locate } from './stored-event.ts';
import type { RenderBody } from './stored-event.ts';

/** The subject of a delivery of `deployment` or `deployment_status`, with its state at the time of the event. */
interface DeploymentSubject {
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
    const deployingRun = run === null ? null : toldRunOf(run);
    const about: DeploymentSubject = { repositoryId: repository.id, deployment, status, deployingRun, actorId };
    const event = status === null ? 'deployment' : 'deployment_status';
    await enqueueStored(deps, tx, repository, event, () => about);
  };
}

/** As on GitHub. */
export const deploymentBody: RenderBody<DeploymentSubject> = async (deps, subject) => {
  const { deployment, status, deployingRun: run, actorId } = subject;
  const { settings } = deps;
  const located = await locate(deps, subject.repositoryId);
  if (located === null) return null;
  const ids = [deployment.creatorId, status?.creatorId, run?.actorId, actorId].flatMap((id) => id ?? []);
  const people = await deps.accounts.peopleById(ids);
  const of = (id: string | null) => people.get(id ?? '') ?? null;
  const fullName = `${located.owner.handle}/${located.repository.name}`;
  return {
    action: 'created',
    deployment: deploymentPayload(deployment, of(deployment.creatorId), fullName, settings) as JsonObject,
    ...(status !== null && {
      deployment_status: deploymentStatusPayload(status, deployment, of(status.creatorId), fullName, settings),
    }),
    workflow_run: run === null ? null : runFields(located, run, of(run.actorId), settings),
    workflow: run === null ? null : workflowFields(run),
    repository: repositoryPayload(located, settings),
    sender: userPayload(of(actorId ?? deployment.creatorId), settings),
  };
};
