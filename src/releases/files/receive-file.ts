import type { Viewer } from '../../access/index.ts';
import { inList } from '../../db/index.ts';
import { invalid, readableSize } from '../../kernel/index.ts';
import type { DomainError } from '../../kernel/index.ts';
import type { Repository } from '../../repositories/index.ts';
import type { ReleaseDeps } from '../deps.ts';
import { findContext } from '../find-release.ts';
import type { RepositoryAt } from '../find-release.ts';
import { parseFileName } from '../parse-release.ts';

/** A file whose content is stored but does not belong to a release yet. */
export interface PendingFile {
  id: string;
  name: string;
  bytes: number;
  /** In hex. */
  sha256: string;
}

export interface UploadedContent {
  name: string;
  content: AsyncIterable<Uint8Array>;
}

/** Prefix of the keys of all objects of this module. */
export const filePrefix = 'releases/';
/** Key of the content of a file in the object store. */
export const fileKey = (id: string): string => `${filePrefix}${id.slice(0, 2)}/${id}`;

type Reader = { query(sql: string, values: unknown[]): Promise<unknown> };

/**
 * Receives a file for a release; an interrupted upload leaves nothing behind. Until a release takes the file it is
 * hidden, and a job removes it after a day. Throws `invalid_file_name`, `release_file_too_large` during the upload,
 * `release_quota`, and the errors of the store and the policy.
 */
export async function receiveFile(
  deps: ReleaseDeps,
  viewer: Viewer,
  at: RepositoryAt,
  { name: given, content }: UploadedContent,
): Promise<PendingFile> {
  const { found } = await findContext(deps, viewer, at, 'write');
  const name = parseFileName(given);
  const { fileBytes } = deps.settings;
  const left = await bytesLeft(deps, deps.db.read, found.repository);
  if (left <= 0) throw quotaExceeded();
  const id = deps.random.uuid();
  const tooLarge = (): DomainError => (left < fileBytes ? quotaExceeded() : fileTooLarge(fileBytes));
  const stored = await deps.objects.put(fileKey(id), content, { maxBytes: Math.min(left, fileBytes), tooLarge });
  return { id, name, ...stored };
}

/** Removes the content of files that no release has taken. */
export async function discardFiles(
  { db, objects }: Pick<ReleaseDeps, 'db' | 'objects'>,
  files: readonly PendingFile[],
): Promise<void> {
  if (files.length === 0) return;
  const rows: { id: string }[] = await db.read.query(`SELECT f.id FROM release_files f WHERE ${inList('f.id')}`, [
    JSON.stringify(files.map(({ id }) => id)),
  ]);
  const taken = new Set(rows.map(({ id }) => id));
  for (const { id } of files) if (!taken.has(id)) await objects.remove(fileKey(id));
}

/**
 * Bytes by which the files of a repository may grow, by the quotas of the repository and of its owner; the trash does
 * not count.
 */
export async function bytesLeft(
  { settings }: Pick<ReleaseDeps, 'settings'>,
  reader: Reader,
  { id, ownerUserId, ownerOrganisationId }: Repository,
): Promise<number> {
  const owner = ownerUserId === null ? 'owner_org_id' : 'owner_user_id';
  const [own, all] = [
    await reader.query('SELECT c.bytes AS bytes FROM release_counts c WHERE c.repository_id = ?', [id]),
    await reader.query(
      `SELECT sum(c.bytes) AS bytes FROM repositories r JOIN release_counts c ON c.repository_id = r.id
       WHERE r.${owner} = ? AND r.deleted_at IS NULL`,
      [ownerUserId ?? ownerOrganisationId],
    ),
  ].map((rows) => Number((rows as { bytes: unknown }[])[0]?.bytes ?? 0)) as [number, number];
  return Math.min(settings.filesPerRepositoryBytes - own, settings.filesPerOwnerBytes - all);
}

/** Error for a file beyond the size limit. */
export const fileTooLarge = (maxBytes: number) =>
  invalid('release_file_too_large', `A release file can be at most ${readableSize(maxBytes)}.`, {
    field: 'files',
  });

export const quotaExceeded = () =>
  invalid('release_quota', 'The release files have used up their quota.', { field: 'files' });
