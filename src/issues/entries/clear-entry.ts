import type { Tx } from '../../db/index.ts';
import { dropAttachmentUses } from '../attachment-uses.ts';
import { entryRevisionSchema, entrySchema } from '../schema/entry-schema.ts';
import type { EntryRow } from '../schema/entry-schema.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';
import { heldContributionSchema } from '../schema/moderation-schema.ts';
import { reactionSchema } from '../schema/participation-schema.ts';

/**
 * Takes the text of a comment away, with all that hangs on it, inside a write whose right is asked already. `issue` is
 * up to date then.
 */
export async function clearEntry(tx: Tx, issue: Issue, entry: EntryRow): Promise<void> {
  const key = { issueId: issue.id, position: entry.position };
  await tx.manager.update(entrySchema, key, {
    body: null,
    deletedAt: tx.now,
    heldAt: null,
    revision: entry.revision + 1,
  });
  await tx.manager.delete(entryRevisionSchema, key);
  await tx.manager.delete(reactionSchema, key);
  await dropAttachmentUses(tx, key);
  if (entry.heldAt !== null) await tx.manager.delete(heldContributionSchema, key);
  else {
    issue.commentCount -= 1;
    await tx.manager.update(issueSchema, { id: issue.id }, { commentCount: issue.commentCount });
    await touchIssue(tx, issue);
  }
}

/** Notes that an issue has changed, for lists by the last change. */
export async function touchIssue({ manager, now }: Tx, issue: Issue): Promise<void> {
  await manager.update(issueSchema, { id: issue.id }, { updatedAt: Math.max(now, issue.updatedAt) });
}
