/**
 * Binds `deps` to use cases; their other parameters remain. A module's interface consists of such functions, so that
 * callers never see its dependencies.
 */
export const bindDeps =
  <Deps>(deps: Deps) =>
  <Rest extends unknown[], Result>(useCase: (deps: Deps, ...rest: Rest) => Result) =>
  (...rest: Rest): Result =>
    useCase(deps, ...rest);
