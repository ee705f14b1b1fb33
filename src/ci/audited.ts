import type { LogFields } from '../kernel/index.ts';
import type { CiDeps } from './deps.ts';
import type { CiScope } from './scope.ts';

/** Binds a use-case, and logs each successful call to the audit log. */
export const bindAudited =
  (deps: CiDeps) =>
  <Rest extends unknown[], Result>(
    useCase: (deps: CiDeps, ...rest: Rest) => Promise<Result>,
    event: (...rest: Rest) => string,
    fields: (...rest: Rest) => LogFields,
  ) =>
  async (...rest: Rest): Promise<Result> => {
    const result = await useCase(deps, ...rest);
    deps.logger.info(event(...rest), fields(...rest));
    return result;
  };

export const scopeFields = (scope: CiScope | null): LogFields =>
  scope === null ? {} : { scope: scope.kind, ...('id' in scope ? { scopeId: scope.id } : {}) };
