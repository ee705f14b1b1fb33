import { issueSchema } from '../../issues/index.ts';
import type { Located } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { prepareRound } from './record-round.ts';
import type { PreparedRound } from './record-round.ts';

/** Reads the next round of a pull request, keeps its objects and publishes its head. */
export async function prepareNextRound(
  deps: PullDeps,
  { path, repository }: Pick<Located, 'path' | 'repository'>,
  pull: PullRow,
  headOid: string,
  baseBranch = pull.baseBranch,
): Promise<PreparedRound> {
  const baseTip = (await deps.git.refs.list(path)).get(`refs/heads/${baseBranch}`) ?? pull.baseOid;
  const prepared = await prepareRound(deps, path, pull, headOid, baseTip);
  const issue = await deps.db.read.findOneBy(issueSchema, { id: pull.issueId, repositoryId: repository.id });
  // Before its row: a ref that is ahead of the row is set again by the retry.
  if (issue !== null) await deps.git.refs.setPull(path, issue.number, 'head', headOid);
  return prepared;
}
