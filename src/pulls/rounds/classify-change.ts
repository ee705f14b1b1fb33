import type { CommitRange } from '../../git/index.ts';
import type { PullDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import type { RoundChange } from '../schema/round-schema.ts';

interface Range {
  headOid: string;
  baseOid: string;
}

const rangeOf = ({ headOid, baseOid }: Range): CommitRange => ({ base: baseOid, head: headOid });

/**
 * Classifies the change from one round to the next. The next round is only a rebase if the earlier one, carried onto
 * its base, has exactly the tree of its head and the messages are the same.
 */
export async function classifyChange(
  { git }: Pick<PullDeps, 'git'>,
  path: string,
  before: Range,
  after: Range,
): Promise<RoundChange> {
  const isOnTop = await git.refs.isForward(path, before.headOid, after.headOid);
  if (isOnTop && before.baseOid === after.baseOid) return 'added';
  const carried = await git.merges.tryCarry(path, rangeOf(before), after.baseOid);
  if (carried.kind !== 'clean') return 'unknown';
  const { tree } = await git.objects.commit(path, after.headOid);
  if (carried.tree !== tree) return isOnTop ? 'added' : 'edited';
  const [old, now] = await Promise.all([messagesOf(git, path, before), messagesOf(git, path, after)]);
  return old === now ? 'rebased' : 'edited';
}

/** Messages of the commits, except merges: merging the base branch is not a change by the author. */
async function messagesOf(git: PullDeps['git'], path: string, { headOid, baseOid }: Range): Promise<string> {
  const commits = await git.queries.commitsBetween(path, baseOid, headOid, { limit: limits.listedCommits });
  return commits
    .filter(({ parents }) => parents.length < 2)
    .map(({ message }) => message)
    .join('\0');
}
