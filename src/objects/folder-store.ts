import { nullIfAbsent, syncPath } from '../files/index.ts';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, mkdir, open, opendir, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { conflict, createKeyedMutex, internal, invalid, unavailable } from '../kernel/index.ts';
import type { Logger, Random } from '../kernel/index.ts';
import type { ListedObject, ObjectStore, PutOptions, StoredObject } from './object-store.ts';

export interface FolderStoreOptions {
  /** Created when missing. */
  directory: string;
  /** Prefixes whose objects are in a folder elsewhere, with the same names: `artifacts/` where CI has always had them. */
  elsewhere?: Readonly<Record<string, string>>;
  /** With less free space than this nothing is stored, in bytes. */
  lowDiskFloorBytes: () => number;
  random: Random;
  logger: Logger;
}

/** Starts with a dot: no key does, so backups leave it out and lists pass over it. */
export const incomingFolder = '.incoming';

/** Refuses what no caller may send: keys are made by the program, never by a person. */
export function checkKey(key: string): void {
  if (!keyShape.test(key) || key.length > maxKeyLength) throw internal(`${key} is no key of an object`);
}

const keyShape = /^[a-z0-9][a-z0-9.-]*(?:\/[a-z0-9][a-z0-9.-]*)+$/;
/** PATH_MAX is 4096; a key is a part of a path. */
const maxKeyLength = 512;

/** Objects as files of a folder, each at its key. */
export function createFolderStore(options: FolderStoreOptions): ObjectStore {
  const { directory, elsewhere = {}, lowDiskFloorBytes, random, logger } = options;
  const incoming = path.join(directory, incomingFolder);
  const inTurn = createKeyedMutex();

  function fileOf(key: string): string {
    checkKey(key);
    const prefix = key.slice(0, key.indexOf('/') + 1);
    const home = elsewhere[prefix];
    return home === undefined ? path.join(directory, key) : path.join(home, key.slice(prefix.length));
  }

  async function isThere(file: string): Promise<boolean> {
    return (await stat(file).catch(nullIfAbsent)) !== null;
  }

  /** Writes the content to an incoming file, synced. */
  async function receive(content: AsyncIterable<Uint8Array>, options: PutOptions, file: string): Promise<StoredObject> {
    await mkdir(incoming, { recursive: true, mode: 0o700 });
    const { bavail, bsize } = await statfs(incoming);
    if (bavail * bsize < lowDiskFloorBytes())
      throw unavailable('low_disk_space', 'The server is low on disk space; nothing is stored.', {
        retryAfterSeconds: 60,
      });
    const handle = await open(file, 'wx', 0o600);
    try {
      const stored = await write(handle, content, options);
      await handle.sync();
      return stored;
    } finally {
      await handle.close();
    }
  }

  /** Renames a synced file to its place. Refuses `object_exists`. */
  const place = (fresh: string, key: string): Promise<void> =>
    inTurn(key, async () => {
      const target = fileOf(key);
      if (await isThere(target)) throw objectExists(key);
      const folder = await folderOf(target);
      await moveFile(fresh, target);
      await syncPath(folder);
    });

  /** Makes the folder of a key, and syncs the folders above that are new. */
  async function folderOf(file: string): Promise<string> {
    const folder = path.dirname(file);
    const first = await mkdir(folder, { recursive: true, mode: 0o700 });
    if (first !== undefined)
      for (let at = folder; at.length >= path.dirname(first).length; at = path.dirname(at)) await syncPath(at);
    return folder;
  }

  const store: ObjectStore = {
    place: 'folder',

    async put(key, content, options) {
      checkKey(key);
      const fresh = path.join(incoming, random.bytes(16).toString('hex'));
      try {
        const stored = await receive(content, options, fresh);
        await place(fresh, key);
        return stored;
      } catch (error) {
        await rm(fresh, { force: true });
        throw translate(error);
      }
    },

    async adopt(key, file) {
      if (path.resolve(file) === path.resolve(fileOf(key))) return;
      await syncPath(file);
      await place(file, key).catch((error: unknown) => {
        throw translate(error);
      });
    },

    async get(key, range) {
      const handle = await open(fileOf(key), 'r').catch(nullIfAbsent);
      if (handle === null) return null;
      const { size } = await handle.stat();
      const { first = 0, last = size - 1 } = range ?? {};
      // An empty range cannot be given by `end`, which is included.
      const bounds = size === 0 ? { start: 0 } : { start: first, end: last };
      return { bytes: size, stream: handle.createReadStream(bounds) };
    },

    async stat(key) {
      const found = await stat(fileOf(key)).catch(nullIfAbsent);
      return found === null ? null : { bytes: found.size };
    },

    async remove(key) {
      const file = fileOf(key);
      await rm(file, { force: true });
      await syncPath(path.dirname(file)).catch(nullIfAbsent);
    },

    link: (from, to) =>
      inTurn(to, async () => {
        const [source, target] = [fileOf(from), fileOf(to)];
        if (!(await isThere(source))) return false;
        const folder = await folderOf(target);
        try {
          await linkOrCopy(source, target);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw objectExists(to);
          throw translate(error);
        }
        await syncPath(folder);
        return true;
      }),

    list: (prefix) => listBelow(fileOf(`${prefix}x`).slice(0, -1), prefix),

    async sweep() {
      const left = (await readdir(incoming).catch(nullIfAbsent)) ?? [];
      for (const name of left) await rm(path.join(incoming, name), { force: true });
      if (left.length > 0) logger.info('objects.swept', { files: left.length });
      return left.length;
    },
  };
  return store;
}

async function write(
  handle: FileHandle,
  content: AsyncIterable<Uint8Array>,
  { maxBytes, tooLarge, expected = {} }: PutOptions,
): Promise<StoredObject> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge();
    hash.update(chunk);
    await handle.writeFile(chunk);
  }
  const stored = { bytes, sha256: hash.digest('hex') };
  if ((expected.bytes ?? bytes) !== bytes || (expected.sha256 ?? stored.sha256) !== stored.sha256)
    throw invalid('object_damaged', 'The content that arrived is not what was announced. Nothing was stored.');
  return stored;
}

/** Another file system gets a copy, which is complete and synced before the file is removed. */
async function moveFile(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    const copy = `${path.join(path.dirname(to), `.${path.basename(to)}`)}.copy`;
    await copyFile(from, copy);
    await syncPath(copy);
    await rename(copy, to);
    await rm(from, { force: true });
  }
}

/** A file system without hard links gets a copy. */
async function linkOrCopy(source: string, target: string): Promise<void> {
  try {
    await link(source, target);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'EXDEV'].includes(code)) throw error;
    await copyFile(source, target, constants.COPYFILE_EXCL);
  }
}

/** One folder at a time, so that a store of millions is listed in little memory. */
async function* listBelow(folder: string, prefix: string): AsyncGenerator<ListedObject> {
  const entries = await opendir(folder).catch(nullIfAbsent);
  if (entries === null) return;
  for await (const entry of entries) {
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) yield* listBelow(path.join(folder, entry.name), `${prefix}${entry.name}/`);
    const found = entry.isFile() ? await stat(path.join(folder, entry.name)).catch(nullIfAbsent) : null;
    if (found !== null) yield { key: prefix + entry.name, bytes: found.size, storedAt: Math.round(found.mtimeMs) };
  }
}

export const objectExists = (key: string) => conflict('object_exists', `There is an object ${key} already.`);

function translate(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const refuse = (reason: string, words: string) =>
    unavailable(reason, `${words}: nothing was stored.`, { cause: error });
  if (code === 'ENOSPC' || code === 'EDQUOT') return refuse('disk_full', 'The disk is full');
  if (code === 'EROFS') return refuse('storage_read_only', 'The folder of the objects is read-only');
  return error;
}
