import { anonymous, personViewer } from '../../access/index.ts';
import { issueSchema } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullById } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import type { PullRow } from '../schema/pull-schema.ts';
import { fetchBranch } from '../sources/find-head.ts';
import { contributedBytes, isOverBudget } from './contribution-quota.ts';
import { isBeingMerged } from './pending-push.ts';
import { prepareNextRound } from './prepare-next-round.ts';
import { recordRound } from './record-round.ts';
import type { RoundOrigin } from './record-round.ts';

/**
 * Records a round that no push reports: the head branch moved while the pull request was closed or being opened, or
 * while one of the repositories was in the trash. Does nothing if the last round is the tip, or the branch was deleted.
 */
export async function recordMissedRound(deps: PullDeps, issueId: string): Promise<void> {
  const found = await pullById(deps, issueId);
  if (found === null || !found.pull.isOpen || found.pull.lastRound >= limits.rounds) return;
  const { headRepositoryId, headBranch, repositoryId, headOid } = found.pull;
  if (headRepositoryId === null || headBranch === null) return;
  const located = await deps.repositories.locate([repositoryId, headRepositoryId]);
  const [base, head] = [located.get(repositoryId), located.get(headRepositoryId)];
  if (base === undefined || head === undefined || base.repository.archivedAt !== null) return;
  const ref = `refs/heads/${headBranch}`;
  const tip = await deps.git.refs.tip(head.path, ref);
  if (tip === null || tip === headOid) return;
  const push = await deps.repositories.pushes.ofTip(headRepositoryId, ref, tip);
  const submitterId = push?.userId ?? null;
  const coming = { submitterId, headOid: tip, known: [found.pull.baseOid, headOid], from: head.path };
  const bytes = await contributedBytes(deps, base, coming);
  if (await isOverBudget(deps, repositoryId, submitterId, bytes)) return;
  const oid = base.path === head.path ? tip : await fetchBranch(deps, head.path, headBranch, base.path);
  await record(deps, found.pull, base, oid, { submitterId, pushId: push?.id ?? null, bytes });
}

async function record(
  deps: PullDeps,
  pull: PullRow,
  base: Parameters<typeof prepareNextRound>[1],
  headOid: string,
  origin: RoundOrigin,
): Promise<void> {
  const prepared = await prepareNextRound(deps, base, pull, headOid);
  const { submitterId } = origin;
  const viewer = submitterId === null ? anonymous : personViewer(submitterId, 'write');
  await deps.issues.pulls.write(viewer, async (log) => {
    const { manager } = log.tx;
    const issue = await manager.findOneBy(issueSchema, { id: pull.issueId });
    const now = await manager.findOneBy(pullSchema, { issueId: pull.issueId });
    // The push listener may have been faster.
    if (issue?.state !== 'OPEN' || issue.deletedAt !== null || now?.lastRound !== pull.lastRound) return;
    if (await isBeingMerged(manager, now)) return;
    await recordRound(log, issue, now, prepared, { ...origin, via: 'git' });
  });
}
