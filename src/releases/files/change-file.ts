import { personIdOf, viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { isUniqueViolation } from '../../db/index.ts';
import type { ReleaseDeps } from '../deps.ts';
import { releaseInWrite } from '../find-release.ts';
import type { ReleaseKey, RepositoryAt } from '../find-release.ts';
import { announce } from '../announce.ts';
import { parseFileName } from '../parse-release.ts';
import { fileNotFound } from '../release-errors.ts';
import { releaseFileSchema } from '../schema/release-schema.ts';
import type { ReleaseFile } from '../schema/release-schema.ts';
import { fileExists } from './add-files.ts';
import { findFile } from './open-file.ts';
import type { FileKey } from './open-file.ts';

/** Renames a file. Throws `invalid_file_name`, `release_file_exists`, and the errors of `findFile`. */
export async function renameFile(
  deps: ReleaseDeps,
  viewer: Viewer,
  at: RepositoryAt,
  key: ReleaseKey,
  which: FileKey,
  given: string,
): Promise<ReleaseFile> {
  const name = parseFileName(given);
  try {
    return await change(deps, viewer, { at, key, which }, async ({ manager }, file) => {
      await manager.update(releaseFileSchema, { id: file.id }, { name });
      return { ...file, name };
    });
  } catch (error) {
    throw isUniqueViolation(error, 'release_files_name') ? fileExists(name) : error;
  }
}

/** Removes a file from a release; a job removes its content later. Throws the errors of `findFile`. */
export async function removeFile(
  deps: ReleaseDeps,
  viewer: Viewer,
  at: RepositoryAt,
  key: ReleaseKey,
  which: FileKey,
): Promise<void> {
  await change(deps, viewer, { at, key, which }, ({ manager }, { id }) => manager.delete(releaseFileSchema, { id }));
}

async function change<Result>(
  deps: ReleaseDeps,
  viewer: Viewer,
  { at, key, which }: { at: RepositoryAt; key: ReleaseKey; which: FileKey },
  act: (tx: Parameters<Parameters<ReleaseDeps['db']['write']>[0]>[0], file: ReleaseFile) => Promise<Result>,
): Promise<Result> {
  const { release: before, file } = await findFile(deps, viewer, at, key, which, 'write');
  return deps.db.write(async (tx) => {
    const { repository, release } = await releaseInWrite(deps, tx, viewer, before);
    const now = await tx.manager.findOneBy(releaseFileSchema, { id: file.id });
    if (now === null) throw fileNotFound();
    const result = await act(tx, now);
    if (!release.isDraft)
      await announce(deps, tx, { action: 'updated', repository, release, actorId: personIdOf(viewer) });
    deps.logger.info('release.file_changed', {
      repositoryId: release.repositoryId,
      file: file.id,
      by: viewerForLog(viewer),
    });
    return result;
  });
}
