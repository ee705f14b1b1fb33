import type { Viewer } from '../../access/index.ts';
import { bindDeps } from '../../kernel/index.ts';
import { bindRepositoryDeps } from '../bind-repository-deps.ts';
import type { RepositoryDeps } from '../deps.ts';
import type { Found } from '../find-repository.ts';
import type { AppliedPush, ServerPush } from '../pushes/apply-updates.ts';
import type { Repository } from '../schema/repository-schema.ts';
import { createFork } from './create-fork.ts';
import type { NewFork } from './create-fork.ts';
import type { CopyPort, FetchedCommit, ForkListener } from '../ports/fork-port.ts';
import {
  countAllForks,
  forkSummary,
  freeForkName,
  listForks,
  listForkTargets,
  relateFork,
  sourcesOf,
} from './fork-relations.ts';
import { compareWithSource, syncFork } from './sync-fork.ts';
import type { SyncOptions } from './sync-fork.ts';

/**
 * Forks: copies of repositories under other owners, linked to their source.
 * @param onMade called with each new fork
 */
export function createForkService(
  deps: RepositoryDeps,
  apply: (found: Pick<Found, 'repository' | 'path'>, push: ServerPush) => Promise<AppliedPush>,
  onMade: (repositoryId: string) => void,
) {
  const bind = bindDeps(deps);
  const bindAt = bindRepositoryDeps(deps);
  return {
    async create(viewer: Viewer, owner: string, name: string, input: NewFork): Promise<Repository> {
      const fork = await createFork(deps, viewer, { owner, name }, input);
      onMade(fork.id);
      return fork;
    },
    summary: bind(forkSummary),
    list: bindAt(listForks),
    countAll: bindAt(countAllForks),
    listTargets: bind(listForkTargets),
    freeName: bind(freeForkName),
    sourcesOf: bind(sourcesOf),
    compare: bind(compareWithSource),
    sync: (viewer: Viewer, owner: string, name: string, options?: SyncOptions) =>
      syncFork(deps, apply, viewer, { owner, name }, options),
    relate: bindAt(relateFork),
    /** Registers the copier of files stored outside git. */
    copyWith: (port: CopyPort): void => void (deps.copying.port = port),
    /** For modules that fetch commits from another local repository. */
    fetched: async (commit: FetchedCommit): Promise<void> => deps.copying.port?.onFetch(commit),
    /** Registers a callback inside the transaction that creates a fork. */
    onFork: (listener: ForkListener): void => void deps.forkListeners.push(listener),
  };
}
