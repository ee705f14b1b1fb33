import { personIdOf, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findIssue, issueInWrite } from '../find-issue.ts';
import { entryNotFound } from '../issue-errors.ts';
import type { IssueAt } from '../issue-context.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { hiddenEntrySchema } from '../schema/moderation-schema.ts';
import type { HideReason } from '../schema/moderation-schema.ts';

export const hideReasons: readonly HideReason[] = ['spam', 'abuse', 'off_topic', 'outdated', 'duplicate', 'resolved'];

/**
 * Hides a comment for everyone, with a reason, or shows it again if the reason is null. Throws `invalid_hide_reason`,
 * `entry_not_found`, and permission errors.
 */
export async function hideComment(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  { position, reason }: { position: number; reason: HideReason | null },
): Promise<void> {
  if (reason !== null && !hideReasons.includes(reason))
    throw invalid('invalid_hide_reason', 'Choose one of the listed reasons.', { field: 'reason' });
  const found = await findIssue(deps, viewer, at);
  await deps.db.write(async (tx) => {
    const { issue } = await issueInWrite(deps, tx, viewer, found.issue, 'triage');
    const key = { issueId: issue.id, position };
    const entry = await tx.manager.findOneBy(entrySchema, key);
    if (entry === null || entry.kind !== 'comment' || entry.deletedAt !== null) throw entryNotFound();
    if (reason === null) await tx.manager.delete(hiddenEntrySchema, key);
    else
      await tx.manager.upsert(hiddenEntrySchema, { ...key, reason, hiddenBy: personIdOf(viewer), hiddenAt: tx.now }, [
        'issueId',
        'position',
      ]);
  });
  deps.logger.info(reason === null ? 'issue.comment_shown' : 'issue.comment_hidden', {
    issue: `${at.owner}/${at.name}#${at.number}`,
    position,
    ...(reason !== null && { reason }),
    by: viewerForLog(viewer),
  });
}
