import { personIdOf } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findIssue, issueInWrite } from '../find-issue.ts';
import type { IssueAt } from '../issue-context.ts';
import { subscriptionSchema } from '../schema/participation-schema.ts';
import type { SubscriptionRow } from '../schema/participation-schema.ts';

/**
 * Turns notifications of an issue on or off for the viewer; an explicit choice is permanent. Throws the errors of
 * contributing: users who may not take part get no row.
 */
export async function setSubscription(deps: IssueDeps, viewer: Viewer, at: IssueAt, isOn: boolean): Promise<void> {
  const { issue } = await findIssue(deps, viewer, at);
  await deps.db.write(async (tx) => {
    const context = await issueInWrite(deps, tx, viewer, issue, isOn ? 'contribute' : 'read');
    const userId = personIdOf(viewer);
    if (userId === null) return;
    const { id: issueId, lastPosition } = context.issue;
    const fromPosition = lastPosition + 1;
    await tx.manager.upsert(subscriptionSchema, { issueId, userId, isOn, reason: 'manual', fromPosition }, [
      'issueId',
      'userId',
    ]);
  });
}

/** The viewer's own subscription; null if they never had one. */
export async function subscriptionOf(deps: IssueDeps, viewer: Viewer, at: IssueAt): Promise<SubscriptionRow | null> {
  const { issue } = await findIssue(deps, viewer, at);
  const userId = personIdOf(viewer);
  return userId === null ? null : deps.db.read.findOneBy(subscriptionSchema, { issueId: issue.id, userId });
}

/**
 * Subscribers of an issue, for notifications; the sender checks read access again.
 * @param after the last user of the previous page
 */
export function listSubscribers(deps: IssueDeps, issueId: string, after = ''): Promise<SubscriptionRow[]> {
  return deps.db.read
    .createQueryBuilder(subscriptionSchema, 's')
    .where('s.issue_id = :issueId AND s.user_id > :after AND s.is_on = :on', { issueId, after, on: true })
    .orderBy('s.user_id')
    .limit(500)
    .getMany();
}
