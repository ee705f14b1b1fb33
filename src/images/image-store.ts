import { nullIfAbsent, syncPath } from '../files/index.ts';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { createKeyedMutex, internal, unavailable } from '../kernel/index.ts';
import type { Clock, Logger, Random } from '../kernel/index.ts';
import { sniffedBytes, sniffImageType } from './image-type.ts';
import type { ImageType } from './image-type.ts';

/**
 * One image per id. In a folder: one file per id, replaced atomically: written under a temporary name, synced, renamed
 * over the old one, the folder synced (docs/security-model.md).
 *
 * The stamp of an image is the file's modification time. A row whose stamp differs from its file's was left by a crash
 * between the two.
 */
export interface ImageStore {
  /**
   * Stores an image in place of the previous one, then calls `record` to write its row. If `record` fails, restores the
   * previous image and rethrows the error. Replacements of one image are serialised, so file and row never mix. Throws
   * `disk_full`, `read_only`; for a bucket, `object_store_unavailable`.
   */
  replace<T>(id: string, bytes: Buffer, record: (stamp: number) => Promise<T>): Promise<T>;
  /** Calls `record` to clear the row, then removes the file, if there is one. */
  remove<T>(id: string, record: () => Promise<T>): Promise<T>;
  /** Opens an image for sending; `null` if there is none, or the file is not an image. */
  open(id: string): Promise<OpenedImage | null>;
  /**
   * Moves an image to another store, possibly on another file system. Returns whether there was one. After an
   * interruption both stores have it; repeating the move completes it.
   */
  moveTo(other: ImageStore, id: string): Promise<boolean>;
  /** Stores an image with its existing stamp: the receiving end of a move. */
  put(id: string, bytes: Buffer, stamp: number): Promise<void>;
  list(): Promise<StoredImage[]>;
  /** Removes temporary files of a killed process, at start before any upload. Returns their number. */
  sweep(): Promise<number>;
}

/** An image open for sending; its type, size and stamp stay valid if it is replaced. */
export interface OpenedImage {
  /** From the file's own bytes, so that type and content always agree. */
  type: ImageType;
  bytes: number;
  /** Time when it was stored, in epoch milliseconds; unique for every content of an id. */
  stamp: number;
  /** The content; closes the image at its end. */
  stream(): Readable;
  /** For a response without a body. */
  close(): Promise<void>;
}

export interface StoredImage {
  id: string;
  stamp: number;
}

interface ImageStoreOptions {
  /** Folder with one file per image, named by its id (SPEC §2.2); created if missing. */
  directory: string;
  clock: Clock;
  random: Random;
  logger: Logger;
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** Temporary files start with a dot; nothing else in the folder does. */
const unfinished = /^\.[0-9a-f-]{36}\.[0-9a-f]{16}$/;

export function createImageStore({ directory, clock, random, logger }: ImageStoreOptions): ImageStore {
  const inTurn = createKeyedMutex();

  function fileOf(id: string): string {
    if (!uuid.test(id)) throw internal('an image is named by a UUID');
    return path.join(directory, id);
  }

  async function stampOf(id: string): Promise<number | null> {
    const found = await stat(fileOf(id)).catch(nullIfAbsent);
    return found?.isFile() ? Math.round(found.mtimeMs) : null;
  }

  async function read(id: string): Promise<{ bytes: Buffer; stamp: number } | null> {
    const stamp = await stampOf(id);
    const bytes = stamp === null ? null : await readFile(fileOf(id)).catch(nullIfAbsent);
    return stamp === null || bytes === null ? null : { bytes, stamp };
  }

  async function write(id: string, bytes: Buffer, stamp: number): Promise<void> {
    const target = fileOf(id);
    const fresh = path.join(directory, `.${id}.${random.bytes(8).toString('hex')}`);
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const handle = await open(fresh, 'wx', 0o600);
      try {
        await handle.writeFile(bytes);
        await handle.utimes(stamp / 1000, stamp / 1000);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(fresh, target);
      await syncPath(directory);
    } catch (error) {
      await rm(fresh, { force: true });
      throw translate(error);
    }
  }

  async function erase(id: string): Promise<void> {
    await rm(fileOf(id), { force: true });
    await syncPath(directory).catch(nullIfAbsent);
  }

  const names = async (shape: RegExp): Promise<string[]> =>
    ((await readdir(directory).catch(nullIfAbsent)) ?? []).filter((name) => shape.test(name));

  return {
    replace: (id, bytes, record) =>
      inTurn(id, async () => {
        const before = await read(id);
        // URLs contain the stamp and browsers cache them for a year: no two contents share one.
        const stamp = Math.max(clock.now(), (before?.stamp ?? 0) + 1);
        await write(id, bytes, stamp);
        try {
          return await record(stamp);
        } catch (error) {
          if (before === null) await erase(id);
          else await write(id, before.bytes, before.stamp);
          throw error;
        }
      }),

    remove: (id, record) =>
      inTurn(id, async () => {
        // In this order a crash leaves a file to remove, not a row without its file.
        const result = await record();
        await erase(id);
        return result;
      }),

    async open(id) {
      const handle = await open(fileOf(id), 'r').catch(nullIfAbsent);
      if (handle === null) return null;
      try {
        const { size, mtimeMs } = await handle.stat();
        const { buffer, bytesRead } = await handle.read(Buffer.alloc(sniffedBytes), 0, sniffedBytes, 0);
        const type = sniffImageType(buffer.subarray(0, bytesRead));
        if (type !== null) {
          const stream = () => handle.createReadStream({ start: 0 });
          return { type, bytes: size, stamp: Math.round(mtimeMs), stream, close: () => handle.close() };
        }
        logger.error('image.damaged', { id });
      } catch (error) {
        await handle.close();
        throw error;
      }
      await handle.close();
      return null;
    },

    moveTo: (other, id) =>
      inTurn(id, async () => {
        const image = await read(id);
        if (image === null) return false;
        await other.put(id, image.bytes, image.stamp);
        await erase(id);
        return true;
      }),

    // Without the mutex: two stores moving images to each other would deadlock.
    put: write,

    async list() {
      const images: StoredImage[] = [];
      for (const id of await names(uuid)) {
        const stamp = await stampOf(id);
        if (stamp !== null) images.push({ id, stamp });
      }
      return images;
    },

    async sweep() {
      const left = await names(unfinished);
      for (const name of left) await rm(path.join(directory, name), { force: true });
      if (left.length > 0) logger.info('image.swept', { files: left.length });
      return left.length;
    },
  };
}

function translate(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const refuse = (reason: string, words: string) =>
    unavailable(reason, `${words}: nothing was changed.`, { cause: error });
  if (code === 'ENOSPC' || code === 'EDQUOT') return refuse('disk_full', 'The disk is full');
  if (code === 'EROFS') return refuse('read_only', 'The folder of the images is read-only');
  return error;
}
