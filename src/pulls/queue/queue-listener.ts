import type { AnnouncedEntry, EntryListener } from '../../issues/index.ts';
import type { PullDeps } from '../deps.ts';
import { followNeeds } from '../lifecycle/restack.ts';
import { queueSchema } from '../schema/queue-schema.ts';

/** Entries after which a queued pull request may have to leave the queue. */
const decides: readonly string[] = ['closed', 'draft', 'retargeted', 'review', 'dismissed', 'trashed', 'queued'];

/**
 * Wraps a listener of the log of a pull request: first updates the merge queue and stacks after an entry; both can be
 * repeated.
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
  // It may have been queued again, with the same commit if the branch is only fast-forwarded to it.
  if (typeof candidate !== 'string' || row?.candidateOid === candidate) return;
  const place = { repositoryId: issue.repositoryId, number: issue.number, oid: candidate };
  await queue.tests.cancel(place, 'The pull request left the merge queue.');
}
