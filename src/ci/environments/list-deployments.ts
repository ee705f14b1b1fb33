import { In } from 'typeorm';
import type { Viewer } from '../../access/index.ts';
import { personIdOf } from '../../access/index.ts';
import { conflict, invalid, notFound } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import type { CiDeps } from '../deps.ts';
import { refuseArchived, requireLevel } from '../require-level.ts';
import { deploymentSchema, deploymentStatusSchema } from '../schema/deployment-schema.ts';
import type { DeploymentRow, DeploymentState, DeploymentStatusRow } from '../schema/deployment-schema.ts';
import type { Json } from '../workflows/json-value.ts';
import { addStatus, insertDeployment, maxEnvironments, openEnvironment } from './deployments.ts';
import { readEnvironmentUrl } from '../workflows/environment-url.ts';
import { foldEnvironmentName, parseEnvironmentName } from '../workflows/environment-name.ts';
import { environmentNamed } from './find-environment.ts';

const deploymentNotFound = () => notFound('deployment_not_found', 'There is no such deployment.');

interface DeploymentFilter {
  environment?: string | undefined;
  sha?: string | undefined;
  ref?: string | undefined;
  task?: string | undefined;
}

/** Returns the deployments of a repository, newest first, and their number. */
export async function listDeployments(
  { db }: Pick<CiDeps, 'db'>,
  { repository }: Found,
  { environment, sha, ref, task }: DeploymentFilter,
  { limit, skip }: { limit: number; skip: number },
): Promise<{ deployments: DeploymentRow[]; total: number }> {
  const row = environment === undefined ? null : await environmentNamed(db.read, repository.id, environment);
  const where = {
    repositoryId: repository.id,
    ...(environment !== undefined && (row === null ? { environment } : { environmentId: row.id })),
    ...(sha !== undefined && { sha }),
    ...(ref !== undefined && { ref: In([ref, `refs/heads/${ref}`, `refs/tags/${ref}`]) }),
    ...(task !== undefined && { task }),
  };
  const [deployments, total] = await Promise.all([
    db.read.find(deploymentSchema, { where, order: { id: 'DESC' }, take: limit, skip }),
    db.read.countBy(deploymentSchema, where),
  ]);
  return { deployments, total };
}

/** Throws `deployment_not_found`. */
export async function findDeployment(
  { db }: Pick<CiDeps, 'db'>,
  { repository }: Found,
  id: number,
): Promise<DeploymentRow> {
  const row = await db.read.findOneBy(deploymentSchema, { id, repositoryId: repository.id });
  if (row === null) throw deploymentNotFound();
  return row;
}

/** The statuses of a deployment, newest first. Throws `deployment_not_found`. */
export async function statusesOfDeployment(
  deps: Pick<CiDeps, 'db'>,
  found: Found,
  id: number,
): Promise<DeploymentStatusRow[]> {
  await findDeployment(deps, found, id);
  return deps.db.read.find(deploymentStatusSchema, { where: { deploymentId: id }, order: { id: 'DESC' }, take: 100 });
}

interface DeploymentInput {
  ref: string;
  sha: string;
  environment: string;
  task: string;
  description: string;
  payload: Json;
  isTransient: boolean;
  /** Null: true for an environment called `production`. */
  isProduction: boolean | null;
}

/**
 * Records a deployment made by an external system. Throws `repository_not_found` without write access,
 * `repository_archived`, `invalid_environment_name`, `too_many_environments`.
 */
export async function createDeployment(
  deps: CiDeps,
  viewer: Viewer,
  found: Found,
  input: DeploymentInput,
): Promise<DeploymentRow> {
  requireLevel(found, 'write');
  refuseArchived(found);
  const name = parseEnvironmentName(input.environment);
  return deps.db.write(async (tx) => {
    const environment = await openEnvironment(tx, found.repository.id, name);
    if (environment === null)
      throw conflict('too_many_environments', `There are already ${maxEnvironments} environments.`);
    const { isProduction, ...rest } = input;
    const row = {
      ...rest,
      isProduction: isProduction ?? foldEnvironmentName(name) === 'production',
      repositoryId: found.repository.id,
      environmentId: environment.id,
      environment: environment.name,
      runId: null,
      jobId: null,
      creatorId: viewer.kind === 'person' ? personIdOf(viewer) : null,
      state: 'pending' as const,
    };
    return insertDeployment(deps, tx, row, null);
  });
}

interface StatusInput {
  state: DeploymentState;
  description: string;
  url: string | null;
  logUrl: string | null;
  endsEarlier: boolean;
}

const maxDescription = 140;
const maxStatuses = 1_000;

/**
 * Sets the state of a deployment that was created through the API; the state of a job's deployment follows the job.
 * Throws `repository_not_found` without write access, `repository_archived`, `deployment_not_found`,
 * `deployment_of_job`, `invalid_deployment_status`.
 */
export async function reportDeployment(
  deps: CiDeps,
  viewer: Viewer,
  found: Found,
  id: number,
  { description, url, logUrl, ...input }: StatusInput,
): Promise<DeploymentStatusRow> {
  requireLevel(found, 'write');
  refuseArchived(found);
  const fault = (message: string, field: string) => invalid('invalid_deployment_status', message, { field });
  if (description.length > maxDescription)
    throw fault(`A description can have at most ${maxDescription} characters.`, 'description');
  if (url !== null && readEnvironmentUrl(url) === null)
    throw fault('The address of an environment begins with https:// or http://.', 'environment_url');
  if (logUrl !== null && readEnvironmentUrl(logUrl) === null)
    throw fault('The address of a log begins with https:// or http://.', 'log_url');
  return deps.db.write(async (tx) => {
    const deployment = await tx.manager.findOneBy(deploymentSchema, { id, repositoryId: found.repository.id });
    if (deployment === null) throw deploymentNotFound();
    if (deployment.runId !== null)
      throw conflict('deployment_of_job', 'The state of this deployment follows its job and cannot be set.');
    if ((await tx.manager.countBy(deploymentStatusSchema, { deploymentId: id })) >= maxStatuses)
      throw conflict('too_many_statuses', `A deployment can have at most ${maxStatuses} statuses.`);
    return addStatus(deps, tx, deployment, {
      ...input,
      description,
      url,
      logUrl,
      creatorId: viewer.kind === 'person' ? personIdOf(viewer) : null,
    });
  });
}

/**
 * Deletes a deployment unless it is the current one, as on GitHub. Throws the errors of `reportDeployment` and
 * `deployment_active`.
 */
export async function removeDeployment(deps: CiDeps, found: Found, id: number): Promise<void> {
  requireLevel(found, 'write');
  await deps.db.write(async ({ manager }) => {
    const deployment = await manager.findOneBy(deploymentSchema, { id, repositoryId: found.repository.id });
    if (deployment === null) throw deploymentNotFound();
    const { environmentId, repositoryId } = deployment;
    const others = await manager.countBy(
      deploymentSchema,
      environmentId === null ? { repositoryId } : { environmentId },
    );
    const isOver = ['inactive', 'failure', 'error'].includes(deployment.state);
    if (!isOver && others > 1)
      throw conflict('deployment_active', 'This deployment is active. Report it as inactive first.');
    if (deployment.runId !== null && !isOver)
      throw conflict('deployment_of_job', 'The job of this deployment has not ended.');
    await manager.delete(deploymentSchema, { id });
  });
}

/** Environments to which commits are deployed, keyed by full commit id; shown on commits and pull requests. */
export async function deployedAt(
  { db }: Pick<CiDeps, 'db'>,
  repositoryId: string,
  shas: readonly string[],
): Promise<DeploymentRow[]> {
  if (shas.length === 0) return [];
  const rows = await db.read.findBy(deploymentSchema, { repositoryId, sha: In([...shas]) });
  // Keeps the newest deployment of each environment and commit.
  return [...new Map(rows.sort((a, b) => a.id - b.id).map((row) => [`${row.sha} ${row.environment}`, row])).values()];
}
