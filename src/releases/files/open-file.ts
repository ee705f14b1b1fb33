import type { ReleaseAct, Viewer } from '../../access/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { ByteRange, OpenedObject } from '../../objects/index.ts';
import type { ReleaseDeps } from '../deps.ts';
import { findRelease, uuidStart } from '../find-release.ts';
import type { ReleaseContext, ReleaseKey, RepositoryAt } from '../find-release.ts';
import { fileNotFound } from '../release-errors.ts';
import { releaseFileSchema } from '../schema/release-schema.ts';
import type { ReleaseFile, ReleaseRow } from '../schema/release-schema.ts';
import { fileKey } from './receive-file.ts';

/** Identifies a file of a release by its name, or by its UUID or number. */
export type FileKey = { name: string } | { id: string };

/** Finds a file. Throws `release_not_found`, `release_file_not_found`, and the errors of the policy. */
export async function findFile(
  deps: Pick<ReleaseDeps, 'db' | 'repositories'>,
  viewer: Viewer,
  at: RepositoryAt,
  key: ReleaseKey,
  which: FileKey,
  act: ReleaseAct = 'read',
): Promise<ReleaseContext & { release: ReleaseRow; file: ReleaseFile }> {
  const context = await findRelease(deps, viewer, at, key, act);
  const releaseId = context.release.id;
  const start = 'id' in which ? uuidStart(which.id) : null;
  // At most a hundred.
  const files =
    'name' in which
      ? await deps.db.read.findBy(releaseFileSchema, { releaseId, name: which.name })
      : await deps.db.read.findBy(releaseFileSchema, { releaseId });
  const file = 'name' in which ? files[0] : files.find(({ id }) => start !== null && id.startsWith(start));
  if (file === undefined) throw fileNotFound();
  return { ...context, file };
}

/** The bytes of a file found by `findFile`. Throws `release_file_missing` if they are missing. */
export async function readFile(
  { objects, logger }: Pick<ReleaseDeps, 'objects' | 'logger'>,
  { id }: Pick<ReleaseFile, 'id'>,
  range?: ByteRange,
): Promise<OpenedObject> {
  const opened = await objects.get(fileKey(id), range);
  if (opened !== null) return opened;
  logger.error('release.file_missing', { id });
  throw notFound('release_file_missing', 'The content of this file is gone; the administrator can look for it.');
}
