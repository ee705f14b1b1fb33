import { mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { eachLimit } from '../kernel/index.ts';
import { copyFile } from './copy-file.ts';
import { createSharedFiles } from './shared-files.ts';
import type { EarlierFile } from './copy-file.ts';
import type { FileEntry, Manifest } from './manifest.ts';

const filesAtOnce = 8;

/** An earlier backup whose files are hard-linked. */
export interface EarlierBackup {
  folder: string;
  manifest: Manifest;
}

/** Copies files into one backup and lists them. */
export interface Copier {
  /** By path in the backup, with forward slashes. */
  readonly files: Map<string, FileEntry>;
  /** Fails with ENOENT if the file no longer exists. */
  file(from: string, relativePath: string): Promise<void>;
  /**
   * Copies a folder recursively; a missing folder counts as empty, and files that disappear during the copy are
   * skipped.
   */
  folder(from: string, relativePath: string, skips?: (name: string) => boolean): Promise<void>;
  /** Removes all files below a path from the list; the caller deletes them. */
  forget(relativePath: string): void;
}

/**
 * @param target the folder of the new backup
 */
export function createCopier(target: string, earlier: EarlierBackup | null): Copier {
  const files = new Map<string, FileEntry>();
  const folders = createFolders();
  const shared = createSharedFiles();
  const earlierAt = earlier === null ? 0 : Date.parse(earlier.manifest.startedAt);

  function earlierOf(relativePath: string): EarlierFile | null {
    const entry = earlier?.manifest.files[relativePath];
    return entry === undefined || earlier === null
      ? null
      : { at: path.join(earlier.folder, relativePath), entry, readAt: earlierAt };
  }

  const copier: Copier = {
    files,
    async file(from, relativePath) {
      const to = path.join(target, relativePath);
      await folders.of(to);
      files.set(relativePath, await shared.copyOrLink(from, to, () => copyFile(from, to, earlierOf(relativePath))));
    },
    async folder(from, relativePath, skips = () => false) {
      const entries = (await readdir(from, { withFileTypes: true }).catch(whenGone)) ?? [];
      const wanted = entries.filter(({ name }) => !skips(name));
      const names = wanted.filter((entry) => entry.isFile()).map(({ name }) => name);
      await eachLimit(names, filesAtOnce, async (name) => {
        await copier.file(path.join(from, name), `${relativePath}/${name}`).catch(whenGone);
      });
      for (const entry of wanted)
        if (entry.isDirectory())
          await copier.folder(path.join(from, entry.name), `${relativePath}/${entry.name}`, skips);
    },
    forget(relativePath) {
      folders.forget();
      for (const file of files.keys()) if (file.startsWith(`${relativePath}/`)) files.delete(file);
      shared.forget(path.join(target, relativePath));
    },
  };
  return copier;
}

/** Creates folders, each once for all files in it. */
interface Folders {
  /** The folder of this file. */
  of(file: string): Promise<unknown>;
  /** Must be called after folders were deleted. */
  forget(): void;
}

export function createFolders(): Folders {
  const made = new Map<string, Promise<unknown>>();
  return {
    of(file) {
      const folder = path.dirname(file);
      const making = made.get(folder) ?? mkdir(folder, { recursive: true, mode: 0o700 });
      made.set(folder, making);
      return making;
    },
    forget: () => made.clear(),
  };
}

export function whenGone(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
