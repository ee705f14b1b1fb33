import { anonymous } from '../../access/index.ts';
import { issueSchema } from '../../issues/index.ts';
import type { AnnouncedEntry } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { pullById } from '../find-pull.ts';
import { prepareRound, recordRound } from '../rounds/record-round.ts';
import { pullSchema } from '../schema/pull-schema.ts';
import { findStackedOn } from '../stacks/stacked-on.ts';

/** Follows an entry that says that a pull request needs another one, or needs it no more. Idempotent. */
export async function followNeeds(deps: PullDeps, { issue, entry }: AnnouncedEntry): Promise<void> {
  const { kind, details } = entry;
  if ((kind !== 'linked' && kind !== 'unlinked') || details['link'] !== 'needs' || details['isIncoming']) return;
  await restack(deps, issue.id);
  deps.mergeStates.add([issue.id]);
}

/** Makes a round of the same head where the commits that are its own begin elsewhere by now. Refuses `git_busy`. */
async function restack(deps: PullDeps, issueId: string): Promise<void> {
  const found = await pullById(deps, issueId);
  if (found === null || !found.pull.isOpen) return;
  const { pull } = found;
  const located = (await deps.repositories.locate([pull.repositoryId])).get(pull.repositoryId);
  if (located === undefined || located.repository.archivedAt !== null) return;
  const { path } = located;
  const stackedOnOid = await findStackedOn(deps, path, pull, pull.headOid);
  if (stackedOnOid === pull.stackedOnOid) return;
  const tip = (await deps.git.refs.list(path)).get(`refs/heads/${pull.baseBranch}`) ?? pull.baseOid;
  const prepared = await prepareRound(deps, path, pull, pull.headOid, tip, stackedOnOid);
  await deps.issues.pulls.write(anonymous, async (log) => {
    const issue = await log.tx.manager.findOneBy(issueSchema, { id: issueId });
    const now = await log.tx.manager.findOneBy(pullSchema, { issueId });
    if (issue?.state !== 'OPEN' || issue.deletedAt !== null || now === null) return;
    await recordRound(log, issue, now, prepared, { submitterId: now.submitterId, pushId: null, via: 'server' });
  });
}
