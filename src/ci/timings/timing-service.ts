import { bindDeps } from '../../kernel/index.ts';
import type { CiDeps } from '../deps.ts';
import { compareRuns, runBefore } from './compare-runs.ts';
import { timelineOf } from './timeline.ts';

/** How long runs waited and took. */
export function createTimingService(deps: CiDeps) {
  const bind = bindDeps(deps);
  return { timeline: bind(timelineOf), compare: bind(compareRuns), before: bind(runBefore) };
}
