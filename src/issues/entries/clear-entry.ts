import type { Tx } from '../../db/index.ts';
import { dropAttachmentUses } from '../attachment-uses.ts';
import { entryRevisionSchema, entrySchema } from '../schema/entry-schema.ts';
import type { EntryRow } from '../schema/entry-schema.ts';
import { issueSchema } from '../schema/issue-schema.ts';
import type { Issue } from '../schema/issue-schema.ts';
import { heldContributionSchema } from '../schema/moderation-schema.ts';
import { reactionSchema } from '../schema/participation-schema.ts';

/**
 * Deletes the text of a comment and its dependent data, inside a transaction that has checked access. Updates `issue`.
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

/** Records that an issue changed, for lists sorted by last change. */
export async function touchIssue({ manager, now }: Tx, issue: Issue): Promise<void> {
  await manager.update(issueSchema, { id: issue.id }, { updatedAt: Math.max(now, issue.updatedAt) });
}
