import { buffer } from 'node:stream/consumers';
import { personIdOf, refusalInRepository } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { sniffedBytes, sniffImageType, stripMetadata } from '../../images/index.ts';
import type { ImageType } from '../../images/index.ts';
import { busy, createSemaphore, invalid, readableSize } from '../../kernel/index.ts';
import type { StoredObject } from '../../objects/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findRepositoryContext, repositoryInWrite } from '../find-issue.ts';
import { contextFor } from '../issue-context.ts';
import { refuse } from '../issue-errors.ts';
import type { RepositoryAt } from '../issue-context.ts';
import { limits } from '../limits.ts';
import { chargeRateLimit } from '../moderation/hold-newcomers.ts';
import type { IssueKind } from '../schema/issue-schema.ts';
import { attachmentSchema } from '../schema/classification-schema.ts';
import { objectKey, parseFileName } from './attachment.ts';
import type { Attachment } from './attachment.ts';

export interface NewAttachment {
  /** The text that the file belongs to; requires permission to contribute to it. */
  kind?: IssueKind;
  /** As sent by the browser. */
  name: string;
  content: AsyncIterable<Uint8Array>;
}

/**
 * Stores a file for a text of an issue or pull request. Until a text shows it, only its uploader can see it. The type
 * is detected from the bytes: one of four image types, whose metadata is removed, or any other, which is only served as
 * a download. Throws `attachment_empty`, `attachment_too_large` during the upload, `image_damaged`, `attachment_quota`,
 * `too_many_unused_attachments`, `too_many_contributions`, and permission errors.
 */
export async function addAttachment(
  deps: IssueDeps,
  viewer: Viewer,
  at: RepositoryAt,
  { name, content, kind = 'ISSUE' }: NewAttachment,
): Promise<Attachment> {
  const found = await findRepositoryContext(deps, viewer, at, 'contribute', kind);
  const repositoryId = found.repository.id;
  const uploaderId = personIdOf(viewer);
  // Checked before reading the bytes, which saves work, and again in the transaction, which is authoritative.
  await refuseFull(deps, deps.db.read, repositoryId, uploaderId, 1);
  chargeRateLimit(deps, viewer, found);
  const id = deps.random.uuid();
  const { stored, contentType } = await storeAttachment(deps, objectKey(id), content);
  try {
    return await deps.db.write(async (tx) => {
      const context = contextFor(await repositoryInWrite(deps, tx, viewer, repositoryId), kind);
      refuse(refusalInRepository(viewer, context.facts, 'contribute'), kind);
      await refuseFull(deps, tx.manager, repositoryId, uploaderId, stored.bytes);
      const row = {
        id,
        repositoryId,
        issueId: null,
        uploaderId,
        name: parseFileName(name),
        contentType,
        ...stored,
        createdAt: tx.now,
      };
      await tx.manager.insert(attachmentSchema, row);
      return row;
    });
  } catch (error) {
    await deps.objects.remove(objectKey(id));
    throw error;
  }
}

type Reader = { query(sql: string, values: unknown[]): Promise<unknown> };

async function refuseFull(
  { settings }: Pick<IssueDeps, 'settings'>,
  reader: Reader,
  repositoryId: string,
  uploaderId: string | null,
  bytes: number,
): Promise<void> {
  const [sum] = (await reader.query('SELECT sum(a.bytes) AS bytes FROM attachments a WHERE a.repository_id = ?', [
    repositoryId,
  ])) as { bytes: number | null }[];
  if (Number(sum?.bytes ?? 0) + bytes > settings.attachmentsPerRepositoryBytes)
    throw invalid('attachment_quota', 'This repository has used up its file quota.', {
      field: 'files',
    });
  if (uploaderId === null) return;
  const [unused] = (await reader.query(
    'SELECT count(*) AS n FROM attachments a WHERE a.uploader_id = ? AND a.issue_id IS NULL',
    [uploaderId],
  )) as { n: number }[];
  if (Number(unused!.n) >= limits.unusedAttachmentsPerPerson)
    throw invalid('too_many_unused_attachments', 'You have uploaded too many unused files. Try again in a day.', {
      field: 'files',
    });
}

/** Limit of images in memory at a time. They are first received into a stored object, so slow uploads hold no slot. */
const imagesAtOnce = createSemaphore({
  limit: 4,
  queue: 64,
  waitMs: 30_000,
  refusal: busy('busy', 'Too many people send images at once. Please try again in a moment.', 2),
});

/** Stores the bytes of a file, an image without its metadata. Throws what `addAttachment` throws. */
export async function storeAttachment(
  { objects, random, settings }: Pick<IssueDeps, 'objects' | 'random' | 'settings'>,
  key: string,
  content: AsyncIterable<Uint8Array>,
): Promise<{ stored: StoredObject; contentType: string }> {
  const options = { maxBytes: settings.attachmentBytes, tooLarge: () => attachmentTooLarge(settings.attachmentBytes) };
  const rest = content[Symbol.asyncIterator]();
  const head = await readHead(rest);
  if (head.length === 0) throw invalid('attachment_empty', 'This file is empty.', { field: 'files' });
  const type = sniffImageType(head);
  const whole = chain(head, rest);
  if (type === null) return { stored: await objects.put(key, whole, options), contentType: 'application/octet-stream' };
  const received = objectKey(random.uuid());
  await objects.put(received, whole, options);
  const release = await imagesAtOnce.acquire();
  try {
    const opened = await objects.get(received);
    const image = opened === null ? null : stripMetadata(await buffer(opened.stream));
    if (image === null)
      throw invalid('image_damaged', `This ${nameOf[type]} is damaged, so it cannot be shown.`, { field: 'files' });
    return { stored: await objects.put(key, chain(image), options), contentType: type };
  } finally {
    release();
    await objects.remove(received);
  }
}

const nameOf: Record<ImageType, string> = {
  'image/png': 'PNG',
  'image/jpeg': 'JPEG',
  'image/gif': 'GIF',
  'image/webp': 'WebP',
};

/** The error for a file that exceeds the limit. */
const attachmentTooLarge = (maxBytes: number) =>
  invalid('attachment_too_large', `A file can be at most ${readableSize(maxBytes)}.`, { field: 'files' });

async function readHead(content: AsyncIterator<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for (let bytes = 0; bytes < sniffedBytes; ) {
    const { done, value } = await content.next();
    if (done === true) break;
    chunks.push(value);
    bytes += value.length;
  }
  return Buffer.concat(chunks);
}

async function* chain(first: Uint8Array, rest?: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  if (rest !== undefined) yield* { [Symbol.asyncIterator]: () => rest };
}
