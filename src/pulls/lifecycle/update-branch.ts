import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { IssueAt } from '../../issues/index.ts';
import { conflict, invalid } from '../../kernel/index.ts';
import type { PullDeps } from '../deps.ts';
import { requireOpen } from '../find-pull.ts';
import type { PullContext } from '../find-pull.ts';
import { findCurrentPull } from '../rounds/current-head.ts';
import { oidOf } from '../merging/merge-pull.ts';
import { mergeBaseOf } from '../stacks/stacked-pulls.ts';
import { roundChanged } from '../rounds/record-round.ts';
import { fetchBranch } from '../sources/find-head.ts';
import { headForWriting, moveHead } from './move-head.ts';

/**
 * Updates the head with its base branch, by a merge commit or a rebase, as a push to the head branch, which creates a
 * round. Throws `pull_closed`, `up_to_date`, `base_missing`, `head_gone`, `head_not_yours`, `merge_conflict`,
 * `round_changed`, `branch_protected`, `git_busy`.
 */
export async function updateBranch(
  deps: PullDeps,
  viewer: Viewer,
  at: IssueAt,
  { style, round }: { style: 'MERGE' | 'REBASE'; round: number },
): Promise<{ oid: string }> {
  const found = await deps.repositories.find(viewer, at.owner, at.name);
  const context = await findCurrentPull(deps, viewer, at);
  const { pull } = context;
  requireOpen(context);
  if (pull.lastRound !== round) throw roundChanged();
  const there = await headForWriting(deps, viewer, found, context);
  const baseTip = await deps.git.refs.tip(found.path, `refs/heads/${pull.baseBranch}`);
  if (baseTip === null) throw invalid('base_missing', 'The base branch no longer exists.');
  if (await deps.git.refs.isForward(found.path, baseTip, pull.headOid))
    throw conflict('up_to_date', 'The branch already contains all commits from its base branch.');
  // A fork first fetches the base branch, because the merge is created in the fork.
  if (there.path !== found.path) await fetchBranch(deps, found.path, pull.baseBranch, there.path);
  const oid = await mergeBase(deps, viewer, there.path, context, { style, baseTip });
  await moveHead(deps, viewer, found, context, there, oid);
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
    ...(await deps.accounts.addresses.identityOrServer(personIdOf(viewer))),
    at: deps.clock.now(),
    offsetMinutes: 0,
  };
  const [onto, head] = style === 'MERGE' ? [pull.headOid, baseTip] : [baseTip, pull.headOid];
  const into = pull.headBranch === null ? '' : ` into ${pull.headBranch}`;
  const base = await mergeBaseOf(deps, path, pull, baseTip);
  const outcome = await deps.git.merges.merge(path, {
    style,
    onto,
    head,
    base,
    message: `Merge branch '${pull.baseBranch}'${into}`,
    author: identity,
    committer: identity,
    sign: deps.signCommit,
  });
  return oidOf(outcome, pull.baseBranch);
}
