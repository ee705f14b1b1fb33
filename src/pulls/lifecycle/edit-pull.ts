import { refusalOnPull } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { EntryLog, IssueAt } from '../../issues/index.ts';
import { forbidden, invalid } from '../../kernel/index.ts';
import { isUniqueViolation } from '../../db/index.ts';
import type { PullDeps } from '../deps.ts';
import { factsOfPull, pullInWrite, refuse, requireOpen } from '../find-pull.ts';
import type { PullContext } from '../find-pull.ts';
import { findCurrentPull } from '../rounds/current-head.ts';
import { headOf } from '../head-label.ts';
import { mayWriteTo } from '../merging/merge-box.ts';
import { prepareNextRound } from '../rounds/prepare-next-round.ts';
import { recordRound } from '../rounds/record-round.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import { pullExists } from './open-pull.ts';

/** Omitted fields stay. */
interface PullEdit {
  /** New base branch. */
  base?: string | undefined;
  isDraft?: boolean | undefined;
  maintainersMayPush?: boolean | undefined;
}

/**
 * Changes the settings of a pull request: its base branch, which creates a round because its set of commits changes;
 * its draft state; and whether users with write access to the base repository may push to the branch of a fork, which
 * only users who can push there may decide. Throws `base_missing`, `same_branch`, `pull_exists`, `pull_closed`,
 * `head_not_yours`, `git_busy`, and the errors of `refusalOnPull` for `edit`.
 */
export async function editPull(deps: PullDeps, viewer: Viewer, at: IssueAt, edit: PullEdit): Promise<void> {
  const context = await findCurrentPull(deps, viewer, at);
  refuse(refusalOnPull(viewer, context.facts, factsOfPull(context.issue, context.pull), 'edit'));
  if (edit.base !== undefined && edit.base !== context.pull.baseBranch)
    await retarget(deps, viewer, context, at, edit.base);
  const { isDraft, maintainersMayPush } = edit;
  const { pull } = context;
  if (maintainersMayPush !== undefined && maintainersMayPush !== pull.maintainersMayPush && pull.source === 'FORK') {
    const head = await headOf(deps, viewer, context.repository, pull);
    if (!(await mayWriteTo(deps, viewer, head)))
      throw forbidden(
        'head_not_yours',
        'Only people with write access to the fork can decide who else can push to the branch.',
      );
  }
  if (isDraft === undefined && maintainersMayPush === undefined) return;
  await deps.issues.pulls.write(viewer, async (log) => {
    const now = await pullInWrite(deps, log.tx, viewer, context.issue, 'edit');
    if (maintainersMayPush !== undefined && now.pull.source === 'FORK')
      await log.tx.manager.update(pullSchema, { issueId: now.issue.id }, { maintainersMayPush });
    if (isDraft === undefined || isDraft === now.pull.isDraft) return;
    requireOpen(now);
    await setDraft(log, now, isDraft);
  });
  deps.mergeStates.add([context.issue.id]);
}

async function setDraft(log: EntryLog, { issue, pull }: PullContext, isDraft: boolean): Promise<void> {
  await log.tx.manager.update(pullSchema, { issueId: issue.id }, { isDraft });
  pull.isDraft = isDraft;
  await log.append(issue, { kind: isDraft ? 'draft' : 'ready' });
}

async function retarget(
  deps: PullDeps,
  viewer: Viewer,
  context: PullContext,
  at: IssueAt,
  base: string,
): Promise<void> {
  requireOpen(context);
  const found = await deps.repositories.find(viewer, at.owner, at.name);
  const { issue, pull } = context;
  if ((await deps.git.refs.tip(found.path, `refs/heads/${base}`)) === null)
    throw invalid('base_missing', `This repository has no branch named ${base}.`, { field: 'base' });
  if (pull.headRepositoryId === found.repository.id && pull.headBranch === base)
    throw invalid('same_branch', 'Choose two different branches.', { field: 'base' });
  const prepared = await prepareNextRound(deps, found, pull, pull.headOid, base);
  await deps.issues.pulls
    .write(viewer, async (log) => {
      const now = await pullInWrite(deps, log.tx, viewer, issue, 'edit');
      requireOpen(now);
      const { baseBranch: from } = now.pull;
      await log.tx.manager.update(pullSchema, { issueId: issue.id }, { baseBranch: base });
      now.pull.baseBranch = base;
      await log.append(now.issue, { kind: 'retargeted', details: { from, to: base } });
      const submitterId = now.pull.submitterId;
      await recordRound(log, now.issue, now.pull, prepared, { submitterId, pushId: null });
    })
    .catch((error: unknown) => {
      throw isUniqueViolation(error, 'pulls_one_per_branch') || isUniqueViolation(error, 'pulls_one_per_topic')
        ? pullExists(null)
        : error;
    });
  deps.mergeStates.add([issue.id]);
}
