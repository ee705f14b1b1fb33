import { statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** File in each folder; its time is that of the last use, to the minute. */
export const markFile = 'hearth-cache.json';
/** Without one of these, git does not take a folder for a repository. */
const skeleton = ['HEAD', 'config', 'refs', 'objects/pack'];

export const packFolder = (folder: string): string => path.join(folder, 'objects', 'pack');

/** Names of the files in the folder of packs. */
export const packFiles = async (folder: string): Promise<ReadonlySet<string>> =>
  new Set(await readdir(packFolder(folder)));

export const hasPack = (files: ReadonlySet<string>, name: string): boolean =>
  files.has(`pack-${name}.pack`) && files.has(`pack-${name}.idx`);

/**
 * Changes when a file of a cache folder or one of its packs comes or goes: inodes and times of the folders. Null if one
 * of them is missing.
 */
export function folderFingerprint(folder: string): string | null {
  const marks: string[] = [];
  for (const place of [folder, path.join(folder, 'objects'), packFolder(folder), path.join(folder, markFile)]) {
    const found = statSync(place, { throwIfNoEntry: false, bigint: true });
    if (found === undefined) return null;
    // The time of the mark is that of the last use.
    marks.push(found.isDirectory() ? `${found.ino} ${found.mtimeNs}` : `${found.ino}`);
  }
  return marks.join(' ');
}

async function hasAll(folder: string, names: readonly string[]): Promise<boolean> {
  const found = await Promise.all(names.map((name) => stat(path.join(folder, name)).catch(() => null)));
  return !found.includes(null);
}

export const isRepository = (folder: string): Promise<boolean> => hasAll(folder, skeleton);

/** Whether a folder is a repository with its refs, its mark and all of these packs. */
export async function isWhole(folder: string, packs: Iterable<string>): Promise<boolean> {
  if (!(await hasAll(folder, [...skeleton, 'packed-refs', markFile]))) return false;
  const files = await packFiles(folder);
  for (const name of packs) if (!hasPack(files, name)) return false;
  return true;
}
