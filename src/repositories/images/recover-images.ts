import { In } from 'typeorm';
import type { StoredImage } from '../../images/index.ts';
import { repositorySchema } from '../repository-schema.ts';
import type { Repository } from '../repository-schema.ts';
import type { RepositoryDeps } from '../deps.ts';

const idsPerQuery = 500;

/**
 * At start, before any image is asked for: files and rows agree again where a crash
 * came between them (security 4.2). Costs one look at each file's date; only files
 * that differ from their row are opened.
 */
export async function recoverImages(room: RepositoryDeps): Promise<void> {
  await room.images.sweep();
  await room.trashedImages.sweep();
  await forEachWithRow(room, await room.trashedImages.list(), (image, row) => recoverTrashed(room, image, row));
  await forEachWithRow(room, await room.images.list(), (image, row) => recoverImage(room, image, row));
}

async function recoverImage(
  room: RepositoryDeps,
  { id, stamp }: StoredImage,
  row: Repository | undefined,
): Promise<void> {
  if (row?.deletedAt != null) {
    await room.images.moveTo(room.trashedImages, id);
  } else if (row === undefined || row.imageContentType === null) {
    // A first upload that was never acknowledged, or a removal that was.
    await room.images.remove(id, async () => {});
    room.logger.warn('repository.image_orphan_removed', { repositoryId: id });
  } else if (row.imageUpdatedAt !== stamp) {
    await readAgain(room, id);
  }
}

/** The file is whole and newer than its row: the row follows, so that type and cache address are right. */
async function readAgain(room: RepositoryDeps, id: string): Promise<void> {
  const image = await room.images.open(id);
  await image?.close();
  const change = { imageContentType: image?.type ?? null, imageUpdatedAt: image?.stamp ?? null };
  await room.db.write(({ manager }) => manager.update(repositorySchema, { id }, change));
  room.logger.warn('repository.image_recovered', { repositoryId: id, type: change.imageContentType });
}

/** The repository decides: a live one has its image back, one that is gone for good keeps none. */
async function recoverTrashed(room: RepositoryDeps, { id }: StoredImage, row: Repository | undefined): Promise<void> {
  if (row === undefined) await room.trashedImages.remove(id, async () => {});
  else if (row.deletedAt === null) await room.trashedImages.moveTo(room.images, id);
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
