import type { WebhookDeps } from '../deps.ts';
import { deploymentBody } from './deployment.ts';
import { forkBody } from './fork.ts';
import { packageBody } from './package.ts';
import { releaseBody } from './release.ts';
import { repositoryBody } from './repository.ts';
import { runBody } from './run.ts';
import { statusBody } from './status.ts';
import type { RenderBody } from './stored-event.ts';
import { wikiBody } from './wiki.ts';

/**
 * The events whose bodies are rendered when they are sent, by their names for receivers. The others store their body in
 * the write of the event: pushes and entries of issues.
 */
const bodies: Readonly<Record<string, RenderBody<never>>> = {
  deployment: deploymentBody,
  deployment_status: deploymentBody,
  fork: forkBody,
  gollum: wikiBody,
  package: packageBody,
  release: releaseBody,
  repository: repositoryBody,
  status: statusBody,
  workflow_run: runBody,
};

/**
 * The body of a delivery. Null if its subject was deleted, and for a fork that is now private.
 * @param about the subject as it was stored; null if there is none
 */
export async function renderBody(deps: WebhookDeps, event: string, about: string | null): Promise<string | null> {
  const render = bodies[event];
  if (render === undefined || about === null) return null;
  const body = await render(deps, JSON.parse(about) as never);
  return body === null ? null : JSON.stringify(body);
}
