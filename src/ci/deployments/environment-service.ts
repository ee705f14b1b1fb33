import { bindDeps } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import { bindAudited } from '../audited.ts';
import type { CiDeps } from '../deps.ts';
import { presentDeployments } from '../environments/deployments.ts';
import {
  listEnvironmentSecrets,
  listEnvironmentVariables,
  removeEnvironmentSecret,
  removeEnvironmentVariable,
  setEnvironmentSecret,
  setEnvironmentVariable,
} from '../environments/environment-values.ts';
import { findEnvironment, listEnvironments } from '../environments/find-environment.ts';
import {
  createDeployment,
  deployedAt,
  findDeployment,
  listDeployments,
  removeDeployment,
  reportDeployment,
  statusesOfDeployment,
} from '../environments/list-deployments.ts';
import { hasEnvironment, namesOfReviewers, removeEnvironment, setEnvironment } from './manage-environments.ts';
import { redeploy } from './redeploy.ts';
import { pendingDeployments, reviewDeployments, reviewersOfRun, reviewsOfRun } from './review-deployments.ts';

/** Environments, their secrets and variables, and deployments. */
export function createEnvironmentService(deps: CiDeps) {
  const bind = bindDeps(deps);
  const audited = bindAudited(deps);
  const about = (found: Found, environment: string, name: string) => ({
    name,
    scope: 'environment',
    repository: found.repository.id,
    environment,
  });
  return {
    list: bind(listEnvironments),
    find: bind(findEnvironment),
    has: bind(hasEnvironment),
    set: bind(setEnvironment),
    remove: bind(removeEnvironment),
    namesOfReviewers: bind(namesOfReviewers),
    /** The current deployment of each environment, by the id of the environment. */
    present: (ids: readonly number[]) => presentDeployments(deps.db.read, ids),
    pending: bind(pendingDeployments),
    review: bind(reviewDeployments),
    reviewersOfRun: bind(reviewersOfRun),
    reviewsOfRun: bind(reviewsOfRun),
    deployments: {
      list: bind(listDeployments),
      find: bind(findDeployment),
      statuses: bind(statusesOfDeployment),
      create: bind(createDeployment),
      report: bind(reportDeployment),
      remove: bind(removeDeployment),
      at: bind(deployedAt),
      again: bind(redeploy),
    },
    secrets: {
      list: bind(listEnvironmentSecrets),
      set: audited(
        setEnvironmentSecret,
        () => 'secret.set',
        (found, environment, { name }) => about(found, environment, name),
      ),
      remove: audited(
        removeEnvironmentSecret,
        () => 'secret.removed',
        (found, environment, name) => about(found, environment, name),
      ),
    },
    variables: {
      list: bind(listEnvironmentVariables),
      set: audited(
        setEnvironmentVariable,
        () => 'variable.set',
        (found, environment, { name }) => about(found, environment, name),
      ),
      remove: audited(
        removeEnvironmentVariable,
        () => 'variable.removed',
        (found, environment, name) => about(found, environment, name),
      ),
    },
  };
}
