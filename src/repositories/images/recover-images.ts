import { In } from 'typeorm';
import type { StoredImage } from '../../images/index.ts';
import { repositorySchema } from '../schema/repository-schema.ts';
import type { Repository } from '../schema/repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';

const idsPerQuery = 500;

/**
 * At start, before any image is requested: reconciles files and rows after a crash between them. Reads each file's
 * date, and opens only files that differ from their row.
 */
export async function recoverImages(deps: RepositoryDeps): Promise<void> {
  await deps.images.sweep();
  await deps.trashedImages.sweep();
  await forEachWithRow(deps, await deps.trashedImages.list(), (image, row) => recoverTrashed(deps, image, row));
  await forEachWithRow(deps, await deps.images.list(), (image, row) => recoverImage(deps, image, row));
}

async function recoverImage(
  deps: RepositoryDeps,
  { id, stamp }: StoredImage,
  row: Repository | undefined,
): Promise<void> {
  if (row?.deletedAt != null) {
    await deps.images.moveTo(deps.trashedImages, id);
  } else if (row === undefined || row.imageContentType === null) {
    // An upload or removal that was never acknowledged.
    await deps.images.remove(id, async () => {});
    deps.logger.warn('repository.image_orphan_removed', { repositoryId: id });
  } else if (row.imageUpdatedAt !== stamp) {
    await readAgain(deps, id);
  }
}

/** The file is complete and newer than its row: updates the row, so that type and cache key are right. */
async function readAgain(deps: RepositoryDeps, id: string): Promise<void> {
  const image = await deps.images.open(id);
  await image?.close();
  const change = { imageContentType: image?.type ?? null, imageUpdatedAt: image?.stamp ?? null };
  await deps.db.write(({ manager }) => manager.update(repositorySchema, { id }, change));
  deps.logger.warn('repository.image_recovered', { repositoryId: id, type: change.imageContentType });
}

/** The repository's row decides: a live repository gets its image back, a deleted one does not. */
async function recoverTrashed(deps: RepositoryDeps, { id }: StoredImage, row: Repository | undefined): Promise<void> {
  if (row === undefined) await deps.trashedImages.remove(id, async () => {});
  else if (row.deletedAt === null) await deps.trashedImages.moveTo(deps.images, id);
}

async function forEachWithRow(
  { db }: RepositoryDeps,
  images: StoredImage[],
  visit: (image: StoredImage, row: Repository | undefined) => Promise<void>,
): Promise<void> {
  for (let start = 0; start < images.length; start += idsPerQuery) {
    const some = images.slice(start, start + idsPerQuery);
    const rows = new Map(
      (await db.read.findBy(repositorySchema, { id: In(some.map(({ id }) => id)) })).map((row) => [row.id, row]),
    );
    for (const image of some) await visit(image, rows.get(image.id));
  }
}
