import type { z } from 'zod';
import { shortRef } from '../kernel/index.ts';
import type { Person } from '../accounts/index.ts';
import type { DeploymentRow, DeploymentStatusRow } from '../ci/index.ts';
import type { deployment, deploymentStatus } from './deployment-schema.ts';
import type { ServerPlace } from './place.ts';
import { giteaTime } from './time.ts';
import { userPayload } from './user.ts';

type DeploymentPayload = z.output<typeof deployment>;
type DeploymentStatusPayload = z.output<typeof deploymentStatus>;

type Place = Pick<ServerPlace, 'baseUrl'>;

const apiUrl = (fullName: string, { baseUrl }: Place): string => `${baseUrl ?? ''}/api/v1/repos/${fullName}`;

/**
 * @param creator null for none, and for a deleted account. @param fullName `owner/name` of its repository
 */
export function deploymentPayload(
  row: DeploymentRow,
  creator: Person | null,
  fullName: string,
  place: Place,
): DeploymentPayload {
  const repository = apiUrl(fullName, place);
  const url = `${repository}/deployments/${row.id}`;
  return {
    id: row.id,
    url,
    sha: row.sha,
    ref: shortRef(row.ref),
    task: row.task,
    payload: row.payload,
    original_environment: row.environment,
    environment: row.environment,
    description: row.description,
    state: row.state,
    creator: row.creatorId === null ? null : userPayload(creator, place),
    transient_environment: row.isTransient,
    production_environment: row.isProduction,
    statuses_url: `${url}/statuses`,
    repository_url: repository,
    created_at: giteaTime(row.createdAt),
    updated_at: giteaTime(row.updatedAt),
  };
}

/** The same for a status; the URL of a job's log is below the page of the repository. */
export function deploymentStatusPayload(
  row: DeploymentStatusRow,
  { environment }: Pick<DeploymentRow, 'environment'>,
  creator: Person | null,
  fullName: string,
  place: Place,
): DeploymentStatusPayload {
  const repository = apiUrl(fullName, place);
  const url = `${repository}/deployments/${row.deploymentId}`;
  const log = row.logUrl ?? '';
  const logUrl = log.startsWith('runs/') ? `${place.baseUrl ?? ''}/repos/${fullName}/${log}` : log;
  return {
    id: row.id,
    url: `${url}/statuses/${row.id}`,
    state: row.state,
    description: row.description,
    environment,
    environment_url: row.url ?? '',
    target_url: logUrl,
    log_url: logUrl,
    creator: row.creatorId === null ? null : userPayload(creator, place),
    deployment_url: url,
    repository_url: repository,
    created_at: giteaTime(row.createdAt),
    updated_at: giteaTime(row.createdAt),
  };
}
