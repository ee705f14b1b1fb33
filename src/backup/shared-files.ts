import path from 'node:path';
import { stat } from 'node:fs/promises';
import { createKeyedMutex } from '../kernel/index.ts';
import { linkCopy } from './copy-file.ts';
import type { FileEntry } from './manifest.ts';

/** Files that several repositories share as hard links, such as a fork and its source: copied once and linked again. */
interface SharedFiles {
  /**
   * Links `to` to an existing copy of the same file, or creates that copy. Other names of the same file wait for it,
   * because several files are copied concurrently.
   * @param copy copies `from` to `to`
   */
  copyOrLink(from: string, to: string, copy: () => Promise<FileEntry>): Promise<FileEntry>;
  /** Forgets the copies below a folder, which the caller deletes. */
  forget(folder: string): void;
}

export function createSharedFiles(): SharedFiles {
  const copies = new Map<string, { to: string; entry: FileEntry }>();
  const mutex = createKeyedMutex();
  return {
    async copyOrLink(from, to, copy) {
      const { dev, ino, nlink } = await stat(from);
      if (nlink === 1) return copy();
      const key = `${dev}.${ino}`;
      return mutex(key, async () => {
        const known = copies.get(key);
        if (known !== undefined && (await linkCopy(known.to, to))) return known.entry;
        const entry = await copy();
        copies.set(key, { to, entry });
        return entry;
      });
    },
    forget(folder) {
      for (const [key, { to }] of copies) if (to.startsWith(folder + path.sep)) copies.delete(key);
    },
  };
}
