import type { AnnouncedEntry, EntryListener } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { followNeeds } from '../lifecycle/restack.ts';
import { queueSchema } from '../schema/queue-schema.ts';

/** Entries after which a queued pull request may have no place in the queue any more. */
const decides: readonly string[] = ['closed', 'draft', 'retargeted', 'review', 'dismissed', 'trashed', 'queued'];

/**
 * A listener of a pull request's log, with what an entry means to the merge queue and to stacks before it; both are
 * tried again.
 */
export const withQueueUpdates = <T>(deps: PullDeps, listener: EntryListener<T>): EntryListener<T> => ({
  ...listener,
  async prepare(announced) {
    await follow(deps, announced);
    if (announced.issue.kind === 'PULL') await followNeeds(deps, announced);
    return listener.prepare!(announced);
  },
});

async function follow({ db, queue }: PullDeps, { issue, entry }: AnnouncedEntry): Promise<void> {
  const { kind, details } = entry;
  if (issue.kind !== 'PULL' || (kind !== 'unqueued' && !decides.includes(kind))) return;
  const row = await db.read.findOneBy(queueSchema, { issueId: issue.id });
  if (row !== null) queue.wakeSoon(row.repositoryId, row.baseBranch);
  if (kind !== 'unqueued') return;
  const { candidate, branch } = details as { candidate?: unknown; branch?: unknown };
  if (typeof branch === 'string') queue.wakeSoon(issue.repositoryId, branch);
  // It may have been added again meanwhile, with the same commit when the branch is only moved forward to it.
  if (typeof candidate !== 'string' || row?.candidateOid === candidate) return;
  const place = { repositoryId: issue.repositoryId, number: issue.number, oid: candidate };
  await queue.tests.cancel(place, 'The pull request left the merge queue.');
}
