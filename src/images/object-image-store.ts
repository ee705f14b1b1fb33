import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createKeyedMutex, createLru, internal, isDomainError, waitAtMost } from '../kernel/index.ts';
import type { Clock, Logger } from '../kernel/index.ts';
import type { ObjectStore } from '../objects/index.ts';
import type { ImageStore, StoredImage } from './image-store.ts';
import { sniffedBytes, sniffImageType } from './image-type.ts';

export interface ObjectImageStoreOptions {
  objects: ObjectStore;
  /** Kind of the images' owners, which is part of their keys. */
  kind: 'avatars' | 'repositories' | 'trash';
  clock: Clock;
  logger: Logger;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const keptBytes = 32 * 1024 * 1024;
/** Maximum time in which a start waits for a store. */
const recoverMs = 10_000;

export const imagePrefix = (kind: ObjectImageStoreOptions['kind']): string => `images/${kind}/`;

/** The key of an image stored at this time, in epoch milliseconds. */
export const imageKey = (kind: ObjectImageStoreOptions['kind'], id: string, stamp: number): string =>
  `${imagePrefix(kind)}${id}/${stamp}`;

/**
 * Images as objects, which are never replaced: each content has a key of its own, which ends with its stamp, and the
 * newest counts. A crash between object and row has the same result as in a folder: an image whose stamp differs from
 * its row.
 */
export function createObjectImageStore({ objects, kind, clock, logger }: ObjectImageStoreOptions): ImageStore {
  const inTurn = createKeyedMutex();
  const kept = createLru<string, Buffer>({
    name: 'stored images',
    maxWeight: keptBytes,
    unit: 'bytes',
    weigh: ({ length }) => length,
  });

  /** Keys of all contents of an image, newest first. */
  async function stampsOf(id: string): Promise<number[]> {
    if (!uuid.test(id)) throw internal('an image is named by a UUID');
    const stamps: number[] = [];
    for await (const { key } of objects.list(`${imagePrefix(kind)}${id}/`)) {
      const stamp = Number(key.slice(key.lastIndexOf('/') + 1));
      if (Number.isSafeInteger(stamp)) stamps.push(stamp);
    }
    return stamps.sort((a, b) => b - a);
  }

  async function read(id: string): Promise<{ bytes: Buffer; stamp: number } | null> {
    const [stamp] = await stampsOf(id);
    if (stamp === undefined) return null;
    const key = imageKey(kind, id, stamp);
    const known = kept.get(key);
    if (known !== undefined) return { bytes: known, stamp };
    const opened = await objects.get(key);
    if (opened === null) return null;
    const bytes = await buffer(opened.stream);
    kept.set(key, bytes);
    return { bytes, stamp };
  }

  async function store(id: string, bytes: Buffer, stamp: number): Promise<void> {
    const limits = { maxBytes: bytes.length, tooLarge: () => internal('an image grew') };
    await objects.put(imageKey(kind, id, stamp), Readable.from([bytes]), limits).catch((error: unknown) => {
      // An interrupted move is repeated.
      if (!isDomainError(error) || error.reason !== 'object_exists') throw error;
    });
  }

  /** If the store does not respond, the next change removes the older contents. */
  async function erase(id: string, stamps: readonly number[]): Promise<void> {
    for (const stamp of stamps) {
      kept.delete(imageKey(kind, id, stamp));
      await objects.remove(imageKey(kind, id, stamp)).catch((error: unknown) => {
        if (!isDomainError(error) || error.code !== 'unavailable') throw error;
        logger.warn('image.not_removed', { id, stamp });
      });
    }
  }

  const others = async (id: string, stamp: number): Promise<number[]> =>
    (await stampsOf(id)).filter((other) => other !== stamp);

  return {
    replace: (id, bytes, record) =>
      inTurn(id, async () => {
        const before = await stampsOf(id);
        const stamp = Math.max(clock.now(), (before[0] ?? 0) + 1);
        await store(id, bytes, stamp);
        try {
          const result = await record(stamp);
          await erase(id, before);
          return result;
        } catch (error) {
          await erase(id, [stamp]);
          throw error;
        }
      }),

    remove: (id, record) =>
      inTurn(id, async () => {
        const result = await record();
        await erase(id, await stampsOf(id));
        return result;
      }),

    async open(id) {
      const image = await read(id);
      if (image === null) return null;
      const { bytes, stamp } = image;
      const type = sniffImageType(bytes.subarray(0, sniffedBytes));
      if (type === null) {
        logger.error('image.damaged', { id });
        return null;
      }
      const stream = () => Readable.from([bytes], { objectMode: false });
      return { type, bytes: bytes.length, stamp, stream, close: async () => {} };
    },

    moveTo: (other, id) =>
      inTurn(id, async () => {
        const image = await read(id);
        if (image === null) return false;
        await other.put(id, image.bytes, image.stamp);
        await erase(id, await stampsOf(id));
        return true;
      }),

    async put(id, bytes, stamp) {
      await store(id, bytes, stamp);
      await erase(id, await others(id, stamp));
    },

    async list() {
      const found = await waitAtMost(listAll(objects, imagePrefix(kind)), recoverMs).catch((error: unknown) => {
        if (!isDomainError(error) || error.code !== 'unavailable') throw error;
        return undefined;
      });
      if (found === undefined) logger.warn('image.not_listed', { kind });
      return found ?? [];
    },

    // The object store removes its own temporary files.
    sweep: async () => 0,
  };
}

/** The newest content of each image. */
async function listAll(objects: ObjectStore, prefix: string): Promise<StoredImage[]> {
  const stamps = new Map<string, number>();
  for await (const { key } of objects.list(prefix)) {
    const [id = '', stamp = ''] = key.slice(prefix.length).split('/');
    if (uuid.test(id)) stamps.set(id, Math.max(Number(stamp), stamps.get(id) ?? 0));
  }
  return [...stamps].map(([id, stamp]) => ({ id, stamp }));
}
