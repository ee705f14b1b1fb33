import type { EntityManager } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import type { CiDeps } from '../deps.ts';
import { deploymentSchema, deploymentStatusSchema } from '../schema/deployment-schema.ts';
import type { DeploymentRow, DeploymentStatusRow } from '../schema/deployment-schema.ts';
import { environmentSchema } from '../schema/environment-schema.ts';
import type { EnvironmentRow } from '../schema/environment-schema.ts';
import type { RunRow } from '../schema/run-schema.ts';
import { foldEnvironmentName } from '../workflows/environment-name.ts';
import { environmentNamed } from './find-environment.ts';

/** Limit of environments per repository: a matrix could create any number of names. */
export const maxEnvironments = 200;

/** Returns the environment of a name, creating it if necessary. Null at the limit. */
export async function openEnvironment(
  { manager, now }: Tx,
  repositoryId: string,
  name: string,
): Promise<EnvironmentRow | null> {
  const known = await environmentNamed(manager, repositoryId, name);
  if (known !== null) return known;
  if ((await manager.countBy(environmentSchema, { repositoryId })) >= maxEnvironments) return null;
  const row: Omit<EnvironmentRow, 'id'> = {
    repositoryId,
    name,
    nameFolded: foldEnvironmentName(name),
    waitMinutes: 0,
    needsReview: false,
    preventsSelfReview: false,
    needsWrite: false,
    adminsBypass: true,
    refPolicy: 'all',
    createdAt: now,
    updatedAt: now,
  };
  const { identifiers } = await manager.insert(environmentSchema, row);
  return { id: identifiers[0]!.id as number, ...row };
}

type NewDeployment = Omit<DeploymentRow, 'id' | 'createdAt' | 'updatedAt' | 'url'>;

export async function insertDeployment(
  { deploymentListeners }: Pick<CiDeps, 'deploymentListeners'>,
  tx: Tx,
  input: NewDeployment,
  run: RunRow | null,
): Promise<DeploymentRow> {
  const row = { ...input, url: null, createdAt: tx.now, updatedAt: tx.now };
  // The cast avoids a type that is too deep for the compiler: a payload is any JSON.
  const { identifiers } = await tx.manager.insert(deploymentSchema, row as never);
  const deployment: DeploymentRow = { id: identifiers[0]!.id as number, ...row };
  for (const tell of deploymentListeners)
    await tell(tx, { deployment, status: null, run, actorId: deployment.creatorId });
  return deployment;
}

type NewStatus = Pick<DeploymentStatusRow, 'state' | 'description' | 'url' | 'logUrl' | 'creatorId'> & {
  run?: RunRow | null;
  /** Whether a success deactivates earlier deployments to the environment. */
  endsEarlier?: boolean;
};

export async function addStatus(
  { deploymentListeners }: Pick<CiDeps, 'deploymentListeners'>,
  tx: Tx,
  deployment: DeploymentRow,
  { run = null, endsEarlier = true, ...input }: NewStatus,
): Promise<DeploymentStatusRow> {
  const row = { ...input, deploymentId: deployment.id, createdAt: tx.now };
  const { identifiers } = await tx.manager.insert(deploymentStatusSchema, row);
  const status: DeploymentStatusRow = { id: identifiers[0]!.id as number, ...row };
  Object.assign(deployment, { state: input.state, url: input.url ?? deployment.url, updatedAt: tx.now });
  const { state, url, updatedAt } = deployment;
  await tx.manager.update(deploymentSchema, { id: deployment.id }, { state, url, updatedAt });
  for (const tell of deploymentListeners) await tell(tx, { deployment, status, run, actorId: input.creatorId });
  if (state === 'success' && endsEarlier) await endEarlier(tx, deployment);
  return status;
}

/** An environment has one active deployment at a time; earlier ones become inactive. */
async function endEarlier({ manager, now }: Tx, { id, environmentId }: DeploymentRow): Promise<void> {
  if (environmentId === null) return;
  for (const one of await succeeded(manager, [environmentId])) {
    if (one.id === id || one.isTransient) continue;
    await manager.update(deploymentSchema, { id: one.id }, { state: 'inactive', updatedAt: now });
    await manager.insert(deploymentStatusSchema, {
      deploymentId: one.id,
      state: 'inactive',
      description: '',
      url: null,
      logUrl: null,
      creatorId: null,
      createdAt: now,
    });
  }
}

/** The current deployment of each environment: the newest successful one. */
export async function presentDeployments(
  manager: EntityManager,
  environmentIds: readonly number[],
): Promise<Map<number, DeploymentRow>> {
  if (environmentIds.length === 0) return new Map();
  const rows = await succeeded(manager, environmentIds);
  return new Map(rows.sort((a, b) => a.id - b.id).map((row) => [row.environmentId!, row]));
}

/** The state is a literal, so that the partial index applies. */
const succeeded = (manager: EntityManager, environmentIds: readonly number[]): Promise<DeploymentRow[]> =>
  manager
    .createQueryBuilder(deploymentSchema, 'd')
    .where("d.environment_id IN (:...environmentIds) AND d.state = 'success'", { environmentIds: [...environmentIds] })
    .getMany();
