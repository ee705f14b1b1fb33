import { viewerForLog } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { parseImage } from '../../images/index.ts';
import type { ImageUpload, OpenedImage } from '../../images/index.ts';
import { unavailable } from '../../kernel/index.ts';
import { findAgain, findRepository, repositoryNotFound } from '../find-repository.ts';
import type { RepositoryAddress } from '../find-repository.ts';
import { isDiskLow } from '../disk-space.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';

/** An image to send, with its cache validators. */
interface RepositoryImage extends OpenedImage {
  repository: Repository;
}

/**
 * Replaces the image of a repository (SPEC §3, §4.3). Throws `repository_not_found` for everyone but the owner; the
 * rules of images; `low_disk_space`, `disk_full`. If the upload is rejected or interrupted, the previous image stays.
 */
export async function replaceImage(
  deps: RepositoryDeps,
  viewer: Viewer,
  at: RepositoryAddress,
  upload: ImageUpload,
): Promise<void> {
  const { repository, path } = await findRepository(deps, viewer, at, 'owner');
  const { type, bytes } = parseImage(upload);
  if (await isDiskLow(path, deps.settings.lowDiskFloorBytes)) {
    throw unavailable('low_disk_space', 'The server is low on disk space. Nothing was changed.');
  }
  const { id } = repository;
  await deps.images.replace(id, bytes, (stamp) =>
    deps.db.write(async (tx) => {
      await findAgain(deps, tx, viewer, id, 'owner');
      await tx.manager.update(repositorySchema, { id }, { imageContentType: type, imageUpdatedAt: stamp });
    }),
  );
  deps.logger.info('repository.image_replaced', {
    repositoryId: id,
    type,
    bytes: bytes.length,
    by: viewerForLog(viewer),
  });
}

/** Removes the image; a missing one is not an error. Throws `repository_not_found` for everyone but the owner. */
export async function removeImage(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<void> {
  const { id } = (await findRepository(deps, viewer, at, 'owner')).repository;
  await deps.images.remove(id, () =>
    deps.db.write(async (tx) => {
      await findAgain(deps, tx, viewer, id, 'owner');
      await tx.manager.update(repositorySchema, { id }, { imageContentType: null, imageUpdatedAt: null });
    }),
  );
  deps.logger.info('repository.image_removed', { repositoryId: id, by: viewerForLog(viewer) });
}

/**
 * Opens the image for sending. The caller sends or closes it. Throws `repository_not_found` in the three cases of SPEC
 * §4.3: no read access, no image, no file.
 */
export async function openImage(deps: RepositoryDeps, viewer: Viewer, at: RepositoryAddress): Promise<RepositoryImage> {
  const { repository } = await findRepository(deps, viewer, at);
  const image = repository.imageContentType === null ? null : await deps.images.open(repository.id);
  if (image === null) throw repositoryNotFound();
  return { ...image, repository };
}
