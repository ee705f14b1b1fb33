import { constants } from 'node:fs';
import { copyFile, link, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent, syncPath } from '../files/index.ts';
import { createKeyedMutex } from '../kernel/index.ts';
import { FileStream } from './file-stream.ts';
import { createIncoming, explainDiskError } from './incoming.ts';
import type { IncomingOptions } from './incoming.ts';
import { checkKey, objectExists } from './object-key.ts';
import type { ListedObject, ObjectStore } from './object-store.ts';

export interface FolderStoreOptions extends IncomingOptions {
  /** Prefixes whose objects are in another folder, under the same names: `artifacts/` in CI's original location. */
  elsewhere?: Readonly<Record<string, string>>;
}

/** Stores objects as files of a folder, each at its key. */
export function createFolderStore(options: FolderStoreOptions): ObjectStore {
  const { directory, elsewhere = {} } = options;
  const incoming = createIncoming(options);
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

  /** Renames a synced file to its final path. Throws `object_exists`. */
  const place = (fresh: string, key: string): Promise<void> =>
    inTurn(key, async () => {
      const target = fileOf(key);
      if (await isThere(target)) throw objectExists(key);
      const folder = await folderOf(target);
      await moveFile(fresh, target);
      await syncPath(folder);
    });

  /** Creates the folder of a key, and syncs new folders above it. */
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
      const { file, stored } = await incoming.receive(content, options, true);
      try {
        await place(file, key);
        return stored;
      } catch (error) {
        await rm(file, { force: true });
        throw explainDiskError(error);
      }
    },

    async adopt(key, file) {
      if (path.resolve(file) === path.resolve(fileOf(key))) return;
      await syncPath(file);
      await place(file, key).catch((error: unknown) => {
        throw explainDiskError(error);
      });
    },

    async get(key, range) {
      const handle = await open(fileOf(key), 'r').catch(nullIfAbsent);
      if (handle === null) return null;
      const { size } = await handle.stat();
      const { first = 0, last = size - 1 } = range ?? {};
      return { bytes: size, stream: new FileStream(handle, { first, last }) };
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
        try {
          const folder = await folderOf(target);
          await linkOrCopy(source, target);
          await syncPath(folder);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw objectExists(to);
          throw explainDiskError(error);
        }
        return true;
      }),

    list: (prefix) => listBelow(fileOf(`${prefix}x`).slice(0, -1), prefix),

    sweep: () => incoming.sweep(),
  };
  return store;
}

/** On another file system the file is copied, and removed once the copy is complete and synced. */
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
    await syncPath(target);
  }
}

/** One folder at a time, so that listing a store of millions takes little memory. */
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
