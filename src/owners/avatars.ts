import { In } from 'typeorm';
import type { Database, Tx } from '../db/index.ts';
import { parseImage } from '../images/index.ts';
import type { ImageStore, ImageUpload, OpenedImage } from '../images/index.ts';
import type { Logger } from '../kernel/index.ts';
import { avatarSchema } from './avatar-schema.ts';
import type { AvatarRow } from './avatar-schema.ts';

const idsPerQuery = 500;

/**
 * Avatars of people and organisations, public like their handles. The callers authorize changes: people their own,
 * OWNERs that of their organisation.
 */
export interface Avatars {
  /** Refuses as `parseImage` does, with the field `avatar`; `disk_full`. */
  replace(ownerId: string, upload: ImageUpload): Promise<AvatarRow>;
  /** Removes an avatar, if there is one. */
  remove(ownerId: string): Promise<void>;
  /** Deletes the row inside the write that deletes an owner; `remove` afterwards deletes the file. */
  forget(tx: Tx, ownerId: string): Promise<void>;
  /** `null` when the owner has no avatar: then a generated one is shown. */
  open(ownerId: string): Promise<OpenedImage | null>;
  /** The avatars of these owners, for lists. */
  ofOwners(ownerIds: Iterable<string>): Promise<Map<string, AvatarRow>>;
  /** Removes temporary files and makes rows and files agree, at start. */
  recover(): Promise<void>;
}

export function createAvatars({ db, store, logger }: { db: Database; store: ImageStore; logger: Logger }): Avatars {
  async function record(ownerId: string, contentType: AvatarRow['contentType'], updatedAt: number): Promise<AvatarRow> {
    const row: AvatarRow = { ownerId, contentType, updatedAt };
    await db.write(({ manager }) => manager.upsert(avatarSchema, row, ['ownerId']));
    return row;
  }

  async function forget({ manager }: Tx, ownerId: string): Promise<void> {
    await manager.delete(avatarSchema, { ownerId });
  }

  const remove = (ownerId: string): Promise<void> => store.remove(ownerId, () => db.write((tx) => forget(tx, ownerId)));

  async function ofOwners(ownerIds: Iterable<string>): Promise<Map<string, AvatarRow>> {
    const unique = [...new Set(ownerIds)];
    const rows = new Map<string, AvatarRow>();
    for (let start = 0; start < unique.length; start += idsPerQuery) {
      const some = In(unique.slice(start, start + idsPerQuery));
      for (const row of await db.read.findBy(avatarSchema, { ownerId: some })) rows.set(row.ownerId, row);
    }
    return rows;
  }

  return {
    async replace(ownerId, upload) {
      const { type, bytes } = parseImage(upload, 'avatar');
      return store.replace(ownerId, bytes, (stamp) => record(ownerId, type, stamp));
    },
    remove,
    forget,
    async open(ownerId) {
      // The row decides: a file without one is a leftover.
      if (!(await db.read.existsBy(avatarSchema, { ownerId }))) return null;
      return store.open(ownerId);
    },
    ofOwners,
    async recover() {
      await store.sweep();
      const images = await store.list();
      const rows = await ofOwners(images.map(({ id }) => id));
      for (const { id, stamp } of images) {
        if (rows.get(id)?.updatedAt === stamp) continue;
        // A crash between file and row: the file is complete and newer.
        const image = rows.has(id) ? await store.open(id) : null;
        await image?.close();
        if (image === null) await remove(id);
        else await record(id, image.type, image.stamp);
        logger.warn('avatar.recovered', { ownerId: id, kept: image !== null });
      }
    },
  };
}
