import { bindDeps } from '../../kernel/index.ts';
import { bindAudited, scopeFields } from '../audited.ts';
import type { CiDeps } from '../deps.ts';
import { listSecrets, removeSecret, setSecret } from './secrets.ts';
import { listVariables, removeVariable, setVariable } from './variables.ts';

export function createSecretService(deps: CiDeps) {
  const audited = bindAudited(deps);
  return {
    list: bindDeps(deps)(listSecrets),
    set: audited(
      setSecret,
      () => 'secret.set',
      (scope, { name }) => ({ name, ...scopeFields(scope) }),
    ),
    remove: audited(
      removeSecret,
      () => 'secret.removed',
      (scope, name) => ({ name, ...scopeFields(scope) }),
    ),
  };
}

export function createVariableService(deps: CiDeps) {
  const audited = bindAudited(deps);
  return {
    list: bindDeps(deps)(listVariables),
    set: audited(
      setVariable,
      () => 'variable.set',
      (scope, { name }) => ({ name, ...scopeFields(scope) }),
    ),
    remove: audited(
      removeVariable,
      () => 'variable.removed',
      (scope, name) => ({ name, ...scopeFields(scope) }),
    ),
  };
}
