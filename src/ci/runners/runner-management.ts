import { bindDeps } from '../../kernel/index.ts';
import { bindAudited, scopeFields } from '../audited.ts';
import type { CiDeps } from '../deps.ts';
import { authenticateRunner } from './authenticate-runner.ts';
import {
  declareRunner,
  findRunner,
  listRunners,
  removeRunner,
  setRunnerDisabled,
  setRunnerLabels,
  setRunnerTrustedOnly,
} from './manage-runners.ts';
import { createRunner, registerOffline, registerRunner } from './register-runner.ts';
import { runningTasks, tasksOfRunner } from './runner-tasks.ts';
import { makeSingleUseToken, registrationTokenMadeAt, resetRegistrationToken } from './registration-tokens.ts';

/** Runners and their registration tokens. */
export function createRunnerManagement(deps: CiDeps) {
  const bind = bindDeps(deps);
  const audited = bindAudited(deps);
  return {
    resetRegistrationToken: audited(resetRegistrationToken, () => 'runner.token_made', scopeFields),
    makeSingleUseToken: audited(
      makeSingleUseToken,
      () => 'runner.token_made',
      (scope) => ({ ...scopeFields(scope), once: true }),
    ),
    registrationTokenMadeAt: bind(registrationTokenMadeAt),
    register: bind(registerRunner),
    registerOffline: bind(registerOffline),
    create: bind(createRunner),
    authenticate: bind(authenticateRunner),
    declare: bind(declareRunner),
    list: bind(listRunners),
    find: bind(findRunner),
    setDisabled: audited(
      setRunnerDisabled,
      (_scope, _id, isDisabled) => (isDisabled ? 'runner.disabled' : 'runner.enabled'),
      (scope, runner) => ({ runner, ...scopeFields(scope) }),
    ),
    setTrustedOnly: audited(
      setRunnerTrustedOnly,
      () => 'runner.trust_changed',
      (scope, runner, trustedOnly) => ({ runner, trustedOnly, ...scopeFields(scope) }),
    ),
    setLabels: audited(
      setRunnerLabels,
      () => 'runner.labels_changed',
      (scope, runner, labels) => ({ runner, labels: labels === null ? null : labels.join(','), ...scopeFields(scope) }),
    ),
    runningTasks: bind(runningTasks),
    tasksOf: bind(tasksOfRunner),
    remove: bind(removeRunner),
  };
}
