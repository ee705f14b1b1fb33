import type { Located } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { prepareRound } from './record-round.ts';
import type { PreparedRound } from './record-round.ts';

/** Reads the next round of a pull request and stores its objects; the caller that records it must publish its head. */
export async function prepareNextRound(
  deps: PullDeps,
  { path }: Pick<Located, 'path'>,
  pull: PullRow,
  headOid: string,
  baseBranch = pull.baseBranch,
): Promise<PreparedRound> {
  const baseTip = (await deps.git.refs.tip(path, `refs/heads/${baseBranch}`)) ?? pull.baseOid;
  return prepareRound(deps, path, pull, headOid, baseTip);
}
