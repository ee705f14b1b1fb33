import type { Person } from '../accounts/index.ts';
import { deploymentPayload, deploymentStatusPayload, repositoryPayload, userPayload } from '../gitea-shapes/index.ts';
import type { Located } from '../repositories/index.ts';
import type { WebhookDeps } from './deps.ts';
import type { DeploymentSubject } from './on-deployment.ts';
import { runFields } from './payloads.ts';
import type { JsonObject } from './payloads.ts';

/** The body of a delivery of `deployment` and `deployment_status`, as on GitHub. */
export function deploymentEventPayload(
  located: Located,
  { deployment, status, deployingRun, actorId }: Omit<DeploymentSubject, 'repositoryId'>,
  people: ReadonlyMap<string, Person>,
  settings: WebhookDeps['settings'],
): JsonObject {
  const fullName = `${located.owner.handle}/${located.repository.name}`;
  const of = (id: string | null) => people.get(id ?? '') ?? null;
  const run = deployingRun === null ? null : runFields(located, deployingRun, of(deployingRun.actorId), settings);
  return {
    action: 'created',
    deployment: deploymentPayload(deployment, of(deployment.creatorId), fullName, settings) as JsonObject,
    ...(status !== null && {
      deployment_status: deploymentStatusPayload(status, deployment, of(status.creatorId), fullName, settings),
    }),
    workflow_run: run,
    workflow:
      deployingRun === null
        ? null
        : { id: deployingRun.workflowPath, name: deployingRun.workflowName, path: deployingRun.workflowPath },
    repository: repositoryPayload(located, settings),
    sender: userPayload(of(actorId ?? deployment.creatorId), settings),
  };
}
