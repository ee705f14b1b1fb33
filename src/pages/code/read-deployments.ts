import type { DeploymentRow } from '../../ci/index.ts';
import type { Found } from '../../repositories/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import { dependOn } from '../app/dependency.ts';
import type { Dependency } from '../app/dependency.ts';
import type { CodeDeps } from './deps.ts';
import { viewDeployment } from './deployment.view.ts';
import type { DeploymentView } from './deployment.view.ts';

/** Usernames of those who started some deployments, by id. */
export async function namesOfDeployers(
  rows: readonly Pick<DeploymentRow, 'creatorId'>[],
  { accounts }: Pick<CodeDeps, 'accounts'>,
): Promise<Map<string, string>> {
  const people = await accounts.peopleById(rows.flatMap(({ creatorId }) => creatorId ?? []));
  return new Map([...people].flatMap(([id, { username }]) => (username === null ? [] : [[id, username] as const])));
}

/** The environments that commits are or were deployed to; the newest deployment of each. */
export async function readDeployedAt(
  { found }: { found: Pick<Found, 'repository' | 'canonical'> },
  deps: Pick<CodeDeps, 'ci' | 'accounts' | 'clock'>,
  oids: readonly string[],
): Promise<{ views: DeploymentView[]; dependency: Dependency }> {
  const dependency = await dependOn(() => deps.ci.environments.deployments.at(found.repository.id, oids));
  const rows = dependency.value;
  const names = await namesOfDeployers(rows, deps);
  const url = repositoryUrl(found.canonical);
  return { views: rows.map((row) => viewDeployment(row, url, names, deps.clock.now())), dependency };
}
