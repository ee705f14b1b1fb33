import { In } from 'typeorm';
import { personIdOf, refusalOnIssue } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { contains, inList } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findIssue, repositoryInWrite, issueByNumber } from '../find-issue.ts';
import { factsOfIssue } from '../issue-context.ts';
import { refuse } from '../issue-errors.ts';
import type { IssueAt } from '../issue-context.ts';
import { attachmentSchema, attachmentUseSchema } from '../schema/classification-schema.ts';
import { attachmentNotFound, mayBeId } from './attachment-id.ts';
import { entrySchema } from '../schema/entry-schema.ts';
import { objectPrefix, parseFileName } from './attachment.ts';
import type { Attachment } from './attachment.ts';

/**
 * A file shown in the text of an issue or of one of its entries. Throws `attachment_not_found`, and what `findIssue`
 * throws.
 */
export async function findAttachmentOf(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  id: string,
  position = 0,
): Promise<{ attachment: Attachment; issueId: string }> {
  const { issue } = await findIssue(deps, viewer, at);
  const key = { attachmentId: id, issueId: issue.id, position };
  const isUsed = mayBeId(id) && (await deps.db.read.existsBy(attachmentUseSchema, key));
  const attachment = isUsed ? await deps.db.read.findOneBy(attachmentSchema, { id }) : null;
  if (attachment === null) throw attachmentNotFound();
  return { attachment, issueId: issue.id };
}

/**
 * Removes a file of an issue, for its uploader and users who may edit the issue text. Texts that show it keep a broken
 * link. A job removes the content. Throws what `findAttachmentOf` throws.
 */
export async function removeAttachment(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  id: string,
  position = 0,
): Promise<void> {
  await changeAttachment(deps, viewer, at, { id, position }, async ({ manager }) => {
    await manager.delete(attachmentSchema, { id });
  });
}

/**
 * Renames a file, which changes the name of its download; link texts stay unchanged. For users who may remove it.
 * Throws what `findAttachmentOf` throws.
 */
export async function renameAttachment(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  { id, name, position = 0 }: { id: string; name: string; position?: number },
): Promise<Attachment> {
  const change = { name: parseFileName(name) };
  const before = await changeAttachment(deps, viewer, at, { id, position }, async ({ manager }) => {
    await manager.update(attachmentSchema, { id }, change);
  });
  return { ...before, ...change };
}

async function changeAttachment(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  { id, position }: { id: string; position: number },
  work: (tx: Tx) => Promise<void>,
): Promise<Attachment> {
  const { attachment } = await findAttachmentOf(deps, viewer, at, id, position);
  const { repository } = await findIssue(deps, viewer, at);
  await deps.db.write(async (tx) => {
    const { facts } = await repositoryInWrite(deps, tx, viewer, repository.id);
    const issue = await issueByNumber(tx.manager, repository.id, at.number);
    const entry = await tx.manager.findOneBy(entrySchema, { issueId: issue.id, position });
    const isOwn = attachment.uploaderId !== null && attachment.uploaderId === personIdOf(viewer);
    const act = isOwn ? 'contribute' : 'edit_entry';
    const text = { position, authorId: entry?.authorId ?? null };
    refuse(refusalOnIssue(viewer, facts, factsOfIssue(issue), act, text));
    await work(tx);
  });
  return attachment;
}

/** Rows and objects per batch. */
const batch = 200;

/**
 * For a job: removes files that are unused after their retention time, and objects without a row. A row is removed
 * first and its object by the next run, so that a backup, which copies files after rows, never misses one.
 * @returns how many of each
 */
export async function removeUnusedAttachments(deps: IssueDeps): Promise<{ rows: number; objects: number }> {
  const objects = await removeOrphans(deps);
  const rows = await removeUnused(deps);
  if (rows + objects > 0) deps.logger.info('attachments.removed', { rows, objects });
  return { rows, objects };
}

/** Objects without a row: left by removed issues and repositories, or by uploads that a crash interrupted. */
async function removeOrphans(deps: IssueDeps): Promise<number> {
  const before = deps.clock.now() - deps.settings.attachmentGraceMs;
  let removed = 0;
  let keys: string[] = [];
  const flush = async (): Promise<void> => {
    const orphans = await withoutRow(deps, keys);
    for (const key of orphans) await deps.objects.remove(key);
    removed += orphans.length;
    keys = [];
  };
  for await (const { key, storedAt } of deps.objects.list(objectPrefix)) {
    if (storedAt >= before) continue;
    keys.push(key);
    if (keys.length === batch) await flush();
  }
  await flush();
  return removed;
}

async function withoutRow({ db }: Pick<IssueDeps, 'db'>, keys: readonly string[]): Promise<string[]> {
  const idOf = (key: string): string => key.slice(key.lastIndexOf('/') + 1);
  const rows: { id: string }[] = await db.read.query(`SELECT a.id FROM attachments a WHERE ${inList('a.id')}`, [
    JSON.stringify(keys.map(idOf)),
  ]);
  const known = new Set(rows.map(({ id }) => id));
  return keys.filter((key) => !known.has(idOf(key)));
}

async function removeUnused(deps: IssueDeps): Promise<number> {
  const before = deps.clock.now() - deps.settings.attachmentGraceMs;
  let removed = 0;
  for (let after = { createdAt: 0, id: '' }; ; ) {
    const rows = await deps.db.read
      .createQueryBuilder(attachmentSchema, 'a')
      .where('a.issue_id IS NULL AND a.created_at < :before', { before })
      .andWhere('(a.created_at > :createdAt OR (a.created_at = :createdAt AND a.id > :id))', after)
      .orderBy('a.created_at')
      .addOrderBy('a.id')
      .limit(batch)
      .getMany();
    const unused: string[] = [];
    for (const row of rows) if (!(await waits(deps, row))) unused.push(row.id);
    // A text may have started to show one in the meantime.
    const { affected } = await deps.db.write(({ manager }) =>
      manager
        .createQueryBuilder()
        .delete()
        .from(attachmentSchema)
        .where({ id: In(unused) })
        .andWhere('issue_id IS NULL')
        .execute(),
    );
    removed += affected ?? 0;
    if (rows.length < batch) return removed;
    after = rows.at(-1)!;
  }
}

/** Whether it is shown by a draft or a held text of its uploader. */
async function waits({ db }: Pick<IssueDeps, 'db'>, { id, uploaderId }: Attachment): Promise<boolean> {
  if (uploaderId === null) return false;
  const found: unknown[] = await db.read.query(
    `SELECT 1 AS found FROM drafts d WHERE d.user_id = ? AND ${contains('d.body', '?')}
     UNION ALL
     SELECT 1 FROM held_contributions h JOIN issue_entries e ON e.issue_id = h.issue_id AND e.position = h.position
       WHERE h.user_id = ? AND ${contains('e.body', '?')} LIMIT 1`,
    [uploaderId, id, uploaderId, id],
  );
  return found.length > 0;
}
