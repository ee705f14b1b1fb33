import { isDomainError } from '../../kernel/index.ts';
import { attachmentPath, objectKey, parseFileName } from '../attachments/attachment.ts';
import { storeAttachment } from '../attachments/add-attachment.ts';
import type { IssueDeps } from '../deps.ts';
import { exportNames } from '../export/export-issues.ts';
import type { RepositoryAt } from '../issue-context.ts';
import { attachmentSchema } from '../schema/classification-schema.ts';
import type { AttachmentRow } from '../schema/classification-schema.ts';
import { derivedId } from './derived-id.ts';
import type { ImportedAttachment } from './export-file-schemas.ts';
import { importLimits } from './import-source.ts';
import type { ImportSource } from './import-source.ts';

/** The stored files of an issue, with their future rows. */
export interface StoredFiles {
  /** Files without a row. */
  rows: Omit<AttachmentRow, 'issueId'>[];
  /** Local ids by ids in the export. */
  ids: ReadonlyMap<string, string>;
}

/**
 * Stores the files of an issue under derived ids, so that a repeated import finds them. Processes them like uploads:
 * the type is detected from the bytes, metadata is removed. Skips files missing in the export, and damaged images.
 */
export async function storeFiles(
  deps: IssueDeps,
  source: ImportSource,
  repositoryId: string,
  attachments: readonly ImportedAttachment[],
): Promise<StoredFiles> {
  const rows: StoredFiles['rows'] = [];
  const ids = new Map<string, string>();
  for (const attachment of attachments) {
    const id = derivedId('attachment', repositoryId, attachment.id);
    if (await deps.db.read.existsBy(attachmentSchema, { id })) {
      ids.set(attachment.id, id);
      continue;
    }
    const file = await source.file(`${exportNames.attachments}/${attachment.id}`);
    const content = file === null ? null : await file.read(importLimits.attachmentBytes);
    if (content === null) continue;
    const kept = await store(deps, id, content);
    if (kept === null) continue;
    ids.set(attachment.id, id);
    const { name, createdAt } = attachment;
    rows.push({ id, repositoryId, uploaderId: null, name: parseFileName(name), createdAt, ...kept });
  }
  return { rows, ids };
}

async function store(
  deps: IssueDeps,
  id: string,
  bytes: Buffer,
): Promise<Pick<AttachmentRow, 'bytes' | 'sha256' | 'contentType'> | null> {
  const settings = { ...deps.settings, attachmentBytes: importLimits.attachmentBytes };
  // Left by an interrupted import: it has no row.
  await deps.objects.remove(objectKey(id));
  try {
    const { stored, contentType } = await storeAttachment({ ...deps, settings }, objectKey(id), one(bytes));
    return { ...stored, contentType };
  } catch (error) {
    if (!isDomainError(error) || error.code !== 'invalid') throw error;
    deps.logger.warn('attachment.not_imported', { id, reason: error.reason });
    return null;
  }
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

const address = /\/repos\/[^/\s()]{1,200}\/[^/\s()]{1,200}\/attachments\/([0-9a-f-]{36})/g;

/** Rewrites file URLs in a text to the local files. */
export const rewriteAttachmentUrls =
  (ids: ReadonlyMap<string, string>, repository: RepositoryAt) =>
  (text: string): string =>
    text.replace(address, (whole, id: string) => {
      const here = ids.get(id);
      return here === undefined ? whole : attachmentPath(repository, here);
    });
