import { bindDeps } from '../kernel/index.ts';
import type { PullDeps } from './deps.ts';
import { findPull } from './find-pull.ts';
import { openPull } from './lifecycle/open-pull.ts';
import { updateMergeState } from './mergeability/compute-merge-state.ts';
import { MergeStateQueue } from './mergeability/merge-state-queue.ts';
import { acceptPushesFor } from './sources/push-for.ts';

export type PullsOptions = Omit<PullDeps, 'mergeStates'>;

/** Pull requests; the functions behind these names say what each refuses. */
export function createPulls(tools: PullsOptions) {
  const mergeStates = new MergeStateQueue(tools.logger);
  const deps: PullDeps = { ...tools, mergeStates };
  mergeStates.connect((issueId) => updateMergeState(deps, issueId));
  const bind = bindDeps(deps);

  return {
    open: bind(openPull),
    find: bind(findPull),
    /** For `repositories.pushes.forRefs`. */
    pushesFor: acceptPushesFor(deps),
    /** Waits for running trial merges. */
    stop: () => mergeStates.stop(),
  };
}

export type Pulls = ReturnType<typeof createPulls>;
