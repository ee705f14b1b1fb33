import { bindDeps } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { commentPlaces } from './comment-places.ts';
import { countOpenThreads } from './count-open.ts';
import { listThreads, resolveThread } from './list-threads.ts';

/** Threads of reviews; each function documents its errors. */
export function createThreadService(deps: PullDeps) {
  const bind = bindDeps(deps);
  return {
    list: bind(listThreads),
    resolve: bind(resolveThread),
    places: bind(commentPlaces),
    /** Does not check access. */
    countOpen: (issueId: string) => countOpenThreads(deps.db.read, issueId),
  };
}
