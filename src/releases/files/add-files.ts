import { personIdOf, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { isUniqueViolation } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import { conflict, invalid } from '../../kernel/index.ts';
import { repositoryOf } from '../../repositories/index.ts';
import type { ReleaseDeps } from '../deps.ts';
import { findRelease, releaseInWrite } from '../find-release.ts';
import type { ReleaseKey, RepositoryAt } from '../find-release.ts';
import { announce } from '../announce.ts';
import { limits } from '../limits.ts';
import { releaseNotFound } from '../release-errors.ts';
import { releaseFileSchema } from '../schema/release-schema.ts';
import type { ReleaseFile, ReleaseRow } from '../schema/release-schema.ts';
import { bytesLeft, discardFiles, quotaExceeded, receiveFile } from './receive-file.ts';
import type { PendingFile, UploadedContent } from './receive-file.ts';

export const fileExists = (name: string) =>
  conflict('release_file_exists', `This release already has a file named ${name}.`, { field: 'files' });

/**
 * Adds received files to a release, inside the write that changes it. Throws `release_file_exists`,
 * `too_many_release_files`, `release_quota`.
 */
export async function addFiles(
  deps: Pick<ReleaseDeps, 'settings'>,
  tx: Tx,
  { id: releaseId, repositoryId }: Pick<ReleaseRow, 'id' | 'repositoryId'>,
  files: readonly PendingFile[],
  uploaderId: string | null,
): Promise<ReleaseFile[]> {
  if (files.length === 0) return [];
  const repository = await repositoryOf(tx, repositoryId);
  if (repository === null) throw releaseNotFound();
  const there = await tx.manager.findBy(releaseFileSchema, { releaseId });
  if (there.length + files.length > limits.filesPerRelease)
    throw invalid('too_many_release_files', `A release can have at most ${limits.filesPerRelease} files.`, {
      field: 'files',
    });
  const names = new Set(there.map(({ name }) => name));
  for (const { name } of files) {
    if (names.has(name)) throw fileExists(name);
    names.add(name);
  }
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > (await bytesLeft(deps, tx.manager, repository))) throw quotaExceeded();
  const rows = files.map((file) => ({
    ...file,
    releaseId,
    repositoryId,
    downloads: 0,
    uploaderId,
    origin: null,
    createdAt: tx.now,
  }));
  await tx.manager.insert(releaseFileSchema, rows);
  return rows;
}

/**
 * Adds one file to a release as it arrives. Throws `release_not_found` and the errors of `receiveFile` and `addFiles`;
 * then nothing is stored.
 */
export async function uploadFile(
  deps: ReleaseDeps,
  viewer: Viewer,
  at: RepositoryAt,
  key: ReleaseKey,
  uploaded: UploadedContent,
): Promise<ReleaseFile> {
  const { release: before } = await findRelease(deps, viewer, at, key, 'write');
  const pending = await receiveFile(deps, viewer, at, uploaded);
  try {
    return await deps.db.write(async (tx) => {
      const { repository, release } = await releaseInWrite(deps, tx, viewer, before);
      const [file] = await addFiles(deps, tx, release, [pending], personIdOf(viewer));
      if (!release.isDraft)
        await announce(deps, tx, { action: 'updated', repository, release, actorId: personIdOf(viewer) });
      const { repositoryId, tag } = release;
      deps.logger.info('release.file_added', { repositoryId, tag, bytes: pending.bytes, by: viewerForLog(viewer) });
      return file!;
    });
  } catch (error) {
    await discardFiles(deps, [pending]);
    throw isUniqueViolation(error, 'release_files_name') ? fileExists(pending.name) : error;
  }
}
