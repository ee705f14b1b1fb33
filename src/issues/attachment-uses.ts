import { In } from 'typeorm';
import { idsIn } from '../db/index.ts';
import type { Tx } from '../db/index.ts';
import { invalid } from '../kernel/index.ts';
import { insertOrIgnore } from './insert-or-ignore.ts';
import { limits } from './limits.ts';
import { attachmentSchema, attachmentUseSchema } from './schema/classification-schema.ts';

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const address = new RegExp(`/attachments/(${uuid})(?![0-9a-f-])`, 'g');

/** The files that a text shows, by the URLs in it: each once, at most `limits.attachmentsPerText`. */
export const attachmentsIn = (text: string): string[] => firstAttachments(text, limits.attachmentsPerText);

/**
 * Throws `too_many_attachments`: files beyond the limit would count as unused and be removed.
 * @param more files to be added to the text
 */
export function refuseTooManyAttachments(text: string, more = 0): void {
  const most = limits.attachmentsPerText;
  if (firstAttachments(text, most + 1).length + more > most)
    throw invalid(
      'too_many_attachments',
      `A text can include at most ${most} files. Add the others in another comment.`,
      {
        field: 'body',
      },
    );
}

function firstAttachments(text: string, most: number): string[] {
  const ids = new Set<string>();
  for (const [, id] of text.matchAll(address)) {
    ids.add(id!);
    if (ids.size === most) break;
  }
  return [...ids];
}

/**
 * Records the files that a text shows, in the same transaction. Only files of the repository count, and unused files
 * only if the author uploaded them: knowing a URL publishes nothing.
 */
export async function recordAttachmentUses(
  tx: Tx,
  { issueId, repositoryId, position }: { issueId: string; repositoryId: string; position: number },
  authorId: string | null,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const rows = await tx.manager.findBy(attachmentSchema, { id: In([...ids]), repositoryId });
  for (const { id, issueId: shownIn, uploaderId } of rows) {
    if (shownIn === null && uploaderId !== authorId) continue;
    await insertOrIgnore(tx, attachmentUseSchema, { attachmentId: id, issueId, position });
    if (shownIn === null) await tx.manager.update(attachmentSchema, { id }, { issueId });
  }
}

/**
 * A text was deleted: files that no other text shows become private to their uploader again, until a job removes them.
 */
export async function dropAttachmentUses({ manager }: Tx, use: { issueId: string; position: number }): Promise<void> {
  const uses = await manager.findBy(attachmentUseSchema, use);
  if (uses.length === 0) return;
  await manager.delete(attachmentUseSchema, use);
  await manager
    .createQueryBuilder()
    .update(attachmentSchema)
    .set({
      issueId: () => '(SELECT min(u.issue_id) FROM attachment_uses u WHERE u.attachment_id = attachments.id)',
    })
    .where(
      ...idsIn(
        'id',
        uses.map(({ attachmentId }) => attachmentId),
      ),
    )
    .execute();
}

/** Before issues are deleted permanently: files that texts of other issues show move to one of those. */
export async function keepSharedAttachments(
  { manager }: Pick<Tx, 'manager'>,
  issueIds: readonly string[],
): Promise<void> {
  const other = `FROM attachment_uses u JOIN issues i ON i.id = u.issue_id
    WHERE u.attachment_id = attachments.id AND u.issue_id <> attachments.issue_id`;
  for (const issueId of issueIds)
    await manager.query(
      `UPDATE attachments SET issue_id = (SELECT min(u.issue_id) ${other})
       WHERE issue_id = ? AND EXISTS (SELECT 1 ${other})`,
      [issueId],
    );
}
