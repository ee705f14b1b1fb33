import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { personIdOf } from '../../issues/index.ts';
import { conflict, forbidden, invalid } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { findPull, pullInWrite, requireOpen } from '../find-pull.ts';
import type { PullContext } from '../find-pull.ts';
import { headOf } from '../head-label.ts';
import { mayPushHead } from '../merging/merge-box.ts';
import { identityOf, oidOf } from '../merging/merge-pull.ts';
import { prepareNextRound } from '../rounds/prepare-next-round.ts';
import { recordRound, roundChanged } from '../rounds/record-round.ts';
import { fetchBranch } from '../sources/find-head.ts';

/**
 * Brings the head up to date with its base branch, by a merge commit on it or by a rebase, as a push to the head
 * branch, which makes a round. Refuses `pull_closed`, `up_to_date`, `base_missing`, `head_gone`, `head_not_yours`,
 * `merge_conflict`, `round_changed`, `branch_protected`, `git_busy`.
 */
export async function updateBranch(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { style, round }: { style: 'MERGE' | 'REBASE'; round: number },
): Promise<{ oid: string }> {
  const found = await deps.repositories.find(viewer, at.owner, at.name);
  const context = await findPull(deps, viewer, at);
  const { pull, repository } = context;
  requireOpen(context);
  if (pull.lastRound !== round) throw roundChanged();
  const head = await headOf(deps, viewer, repository, pull);
  if (!(await mayPushHead(deps, viewer, context, head)))
    throw forbidden('head_not_yours', 'You may not push to the branch of this pull request.');
  const baseTip = (await deps.git.refs.list(found.path)).get(`refs/heads/${pull.baseBranch}`);
  if (baseTip === undefined) throw invalid('base_missing', 'The base branch is gone.');
  if (await deps.git.refs.isForward(found.path, baseTip, pull.headOid))
    throw conflict('up_to_date', 'The branch has all commits of its base branch.');
  const there = pull.source === 'PUSH' ? found : head.repository;
  if (there === null) throw conflict('head_gone', 'The branch of this pull request is gone.');
  // A fork gets the commits of the base branch first: its merge is made there.
  if (there.path !== found.path) await fetchBranch(deps, found.path, pull.baseBranch, there.path);
  const oid = await mergeBase(deps, viewer, there.path, context, { style, baseTip });
  if (pull.source === 'PUSH') {
    await addRound(deps, viewer, found, context, oid);
    return { oid };
  }
  const { isMoved } = await deps.repositories.pushes.moveBranch(viewer, there, {
    branch: pull.headBranch!,
    oldId: pull.headOid,
    newId: oid,
    // People of the base repository may push to the fork only because its author lets them.
    right: pull.maintainersMayPush && there.path !== found.path ? 'merge' : 'push',
  });
  if (!isMoved) throw roundChanged();
  return { oid };
}

async function mergeBase(
  deps: PullDeps,
  viewer: Viewer,
  path: string,
  { pull }: PullContext,
  { style, baseTip }: { style: 'MERGE' | 'REBASE'; baseTip: string },
): Promise<string> {
  const identity = {
    ...(await identityOf(deps, personIdOf(viewer))),
    at: deps.clock.now(),
    offsetMinutes: 0,
  };
  const [onto, head] = style === 'MERGE' ? [pull.headOid, baseTip] : [baseTip, pull.headOid];
  const into = pull.headBranch === null ? '' : ` into ${pull.headBranch}`;
  const outcome = await deps.git.merges.merge(path, {
    style,
    onto,
    head,
    message: `Merge branch '${pull.baseBranch}'${into}`,
    author: identity,
    committer: identity,
    sign: deps.signCommit,
  });
  return oidOf(outcome, pull.baseBranch);
}

/** The round of a pull request that has no branch: its objects are kept and its row is written, as for a push. */
async function addRound(
  deps: PullDeps,
  viewer: Viewer,
  found: Parameters<typeof prepareNextRound>[1],
  { issue, pull }: PullContext,
  oid: string,
): Promise<void> {
  const prepared = await prepareNextRound(deps, found, pull, oid);
  await deps.issues.pulls.write(viewer, async (log) => {
    const now = await pullInWrite(deps, log.tx, viewer, issue, 'add_round');
    requireOpen(now);
    await recordRound(log, now.issue, now.pull, prepared, { submitterId: personIdOf(viewer), pushId: null });
  });
  deps.mergeStates.add([issue.id]);
}
