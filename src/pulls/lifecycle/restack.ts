import { In } from 'typeorm';
import { anonymous } from '../../access/index.ts';
import { issueLinkSchema, issueSchema } from '../../issues/index.ts';
import type { AnnouncedEntry } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullById } from '../find-pull.ts';
import { limits } from '../limits.ts';
import { prepareRound, recordRound } from '../rounds/record-round.ts';
import { pullSchema, unknownState } from '../schema/pull-schema.ts';
import { findStackedOn } from '../stacks/stacked-pulls.ts';

/**
 * Listener for changed dependencies of a pull request, and for merges, after which the dependent pull requests start at
 * a different commit. Idempotent.
 */
export async function followNeeds(deps: PullDeps, { issue, entry }: AnnouncedEntry): Promise<void> {
  const { kind, details } = entry;
  if (kind === 'merged') return forgetMergeStates(deps, issue.id);
  if ((kind !== 'linked' && kind !== 'unlinked') || details['link'] !== 'needs' || details['isIncoming']) return;
  await restack(deps, issue.id);
  deps.mergeStates.add([issue.id]);
}

/**
 * Discards trial merges of pull requests stacked on a merged one: a merge computed between the push and its row treated
 * the whole stack as new, and may have found conflicts.
 */
async function forgetMergeStates(deps: PullDeps, mergedId: string): Promise<void> {
  const upper = new Set<string>();
  let level = [mergedId];
  while (level.length > 0 && upper.size < limits.stack) {
    const links = await deps.db.read.find(issueLinkSchema, {
      select: { fromId: true, toId: true, kind: true },
      where: { toId: In(level), kind: 'needs' },
      take: limits.stack,
    });
    level = [...new Set(links.map(({ fromId }) => fromId))].filter((id) => !upper.has(id) && id !== mergedId);
    for (const id of level) upper.add(id);
  }
  if (upper.size === 0) return;
  const which = { issueId: In([...upper]), isOpen: true };
  await deps.db.write(({ manager }) => manager.update(pullSchema, which, unknownState));
  deps.mergeStates.add([...upper]);
}

/** Creates a round with the same head if its own commits now start elsewhere. Throws `git_busy`. */
async function restack(deps: PullDeps, issueId: string): Promise<void> {
  const found = await pullById(deps, issueId);
  if (found === null || !found.pull.isOpen) return;
  const { pull } = found;
  const located = (await deps.repositories.locate([pull.repositoryId])).get(pull.repositoryId);
  if (located === undefined || located.repository.archivedAt !== null) return;
  const { path } = located;
  const stackedOnOid = await findStackedOn(deps, path, pull, pull.headOid);
  if (stackedOnOid === pull.stackedOnOid) return;
  const tip = (await deps.git.refs.tip(path, `refs/heads/${pull.baseBranch}`)) ?? pull.baseOid;
  const prepared = await prepareRound(deps, path, pull, pull.headOid, tip, stackedOnOid);
  await deps.issues.pulls.write(anonymous, async (log) => {
    const issue = await log.tx.manager.findOneBy(issueSchema, { id: issueId });
    const now = await log.tx.manager.findOneBy(pullSchema, { issueId });
    if (issue?.state !== 'OPEN' || issue.deletedAt !== null || now === null) return;
    await recordRound(log, issue, now, prepared, { submitterId: now.submitterId, pushId: null, via: 'server' });
  });
}
