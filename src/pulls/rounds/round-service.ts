import { bindDeps } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { compareRounds, pairRoundCommits } from './compare-rounds.ts';
import { listRoundCommits, listRounds } from './list-rounds.ts';

/** Reading rounds; the functions behind these names say what each refuses. */
export function createRoundService(deps: PullDeps) {
  const bind = bindDeps(deps);
  return {
    list: bind(listRounds),
    commits: bind(listRoundCommits),
    compare: bind(compareRounds),
    pairCommits: bind(pairRoundCommits),
  };
}
