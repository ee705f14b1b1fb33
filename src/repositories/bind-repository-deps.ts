import type { Viewer } from '../access/index.ts';
import type { RepositoryDeps } from './deps.ts';
import type { RepositoryAddress } from './find-repository.ts';

/** Adapts use cases of `{owner}/{name}` to transports, which pass owner and name as two arguments. */
export const bindRepositoryDeps =
  (deps: RepositoryDeps) =>
  <Rest extends unknown[], Result>(
    useCase: (deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress, ...rest: Rest) => Result,
  ) =>
  (viewer: Viewer, owner: string, name: string, ...rest: Rest): Result =>
    useCase(deps, viewer, { owner, name }, ...rest);
