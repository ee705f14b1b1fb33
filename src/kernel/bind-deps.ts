/**
 * Passes `deps` to use-cases; their other parameters remain. The interface of a module is such functions, so that its
 * callers never see its dependencies.
 */
export const bindDeps =
  <Deps>(deps: Deps) =>
  <Rest extends unknown[], Result>(useCase: (deps: Deps, ...rest: Rest) => Result) =>
  (...rest: Rest): Result =>
    useCase(deps, ...rest);
