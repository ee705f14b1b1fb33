import { issueLinkSchema, issueSchema } from '../../issues/index.ts';
import type { EntryLog } from '../../issues/index.ts';
import type { AnnouncedPush, Located } from '../../repositories/index.ts';
import type { PullDeps } from '../deps.ts';
import { limits } from '../limits.ts';
import { isBeingMerged } from '../rounds/pending-push.ts';
import { prepareRound, recordRound } from '../rounds/record-round.ts';
import type { PreparedRound } from '../rounds/record-round.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import type { PullRow } from '../schema/pull-schema.ts';

/** A pull request whose base branch was merged and deleted. */
export interface Retarget {
  issueId: string;
  from: string;
  to: string;
  /** The merged pull request of the deleted branch. */
  landed: { issueId: string; number: number };
  prepared: PreparedRound;
}

/**
 * Finds pull requests into branches that a push deletes. If the branch was merged by a pull request, they are
 * retargeted to its base branch; otherwise they wait for a user.
 * @param withBase open pull requests by base branch
 */
export async function prepareRetargets(
  deps: PullDeps,
  located: Located,
  deleted: readonly string[],
  withBase: readonly PullRow[],
): Promise<Retarget[]> {
  const { path, repository } = located;
  const refs = await deps.git.refs.list(path);
  const retargets: Retarget[] = [];
  for (const branch of deleted) {
    const own = withBase.filter(({ baseBranch }) => baseBranch === branch).slice(0, limits.mergeStates);
    const landed = own.length === 0 ? null : await mergedFrom(deps, repository.id, branch);
    const tip = landed === null ? undefined : refs.get(`refs/heads/${landed.pull.baseBranch}`);
    if (landed === null || tip === undefined || refs.has(`refs/heads/${branch}`)) continue;
    for (const pull of own) {
      if (pull.lastRound >= limits.rounds) continue;
      const isOnIt = await deps.git.refs.isForward(path, landed.pull.headOid, pull.headOid);
      const stackedOnOid = isOnIt ? landed.pull.headOid : null;
      const prepared = await prepareRound(deps, path, pull, pull.headOid, tip, stackedOnOid);
      const { issueId, baseBranch: to } = landed.pull;
      retargets.push({
        issueId: pull.issueId,
        from: branch,
        to,
        landed: { issueId, number: landed.number },
        prepared,
      });
    }
  }
  return retargets;
}

/** The last merged pull request of a branch. */
async function mergedFrom({ db }: PullDeps, repositoryId: string, branch: string) {
  const pulls = await db.read.find(pullSchema, {
    where: { headRepositoryId: repositoryId, headBranch: branch, isOpen: false, repositoryId },
    take: 100,
  });
  const merged = pulls.filter(({ mergedAt, baseBranch }) => mergedAt !== null && baseBranch !== branch);
  const [pull] = merged.sort((a, b) => b.mergedAt! - a.mergedAt!);
  if (pull === undefined) return null;
  const issue = await db.read.findOneBy(issueSchema, { id: pull.issueId });
  return issue === null || issue.deletedAt !== null ? null : { pull, number: issue.number };
}

/**
 * Records a retarget in the write of the push listener; does nothing if the pull request has changed or another one has
 * the same head and base.
 */
export async function recordRetarget(
  log: EntryLog,
  push: AnnouncedPush,
  { issueId, from, to, landed, prepared }: Retarget,
): Promise<void> {
  const { manager, now: time } = log.tx;
  const issue = await manager.findOneBy(issueSchema, { id: issueId });
  const pull = await manager.findOneBy(pullSchema, { issueId });
  if (issue?.state !== 'OPEN' || issue.deletedAt !== null || pull?.baseBranch !== from) return;
  if (pull.lastRound !== prepared.after?.round || (await isTaken(log, pull, to))) return;
  if (await isBeingMerged(manager, pull)) return;
  await manager.update(pullSchema, { issueId }, { baseBranch: to });
  pull.baseBranch = to;
  const link = { fromId: issueId, toId: landed.issueId, kind: 'needs' } as const;
  if (!(await manager.existsBy(issueLinkSchema, link)))
    await manager.insert(issueLinkSchema, { ...link, createdAt: time });
  await log.append(issue, { kind: 'retargeted', details: { from, to, landed: landed.number } });
  await recordRound(log, issue, pull, prepared, { submitterId: pull.submitterId, pushId: push.id, via: 'git' });
}

/** Whether the same head already has an open pull request for that base. */
async function isTaken({ tx: { manager } }: EntryLog, pull: PullRow, baseBranch: string): Promise<boolean> {
  const { repositoryId, headRepositoryId, headBranch, submitterId, topic } = pull;
  const there = { repositoryId, baseBranch, isOpen: true };
  if (headRepositoryId !== null && headBranch !== null)
    return manager.existsBy(pullSchema, { ...there, headRepositoryId, headBranch });
  return topic !== null && submitterId !== null && manager.existsBy(pullSchema, { ...there, submitterId, topic });
}
