import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** What would make a repository faster. */
export interface Needs {
  /** Refs in files of their own: listing reads each. */
  packRefs: boolean;
  /** Many packs or single objects, or no bitmap where it pays: a clone then walks all history. */
  repack: boolean;
}

const manyLooseRefs = 100;
const manyPacks = 8;
/** Below this a clone walks all history in no time, in bytes. */
const smallHistory = 1024 * 1024;
/** Objects are spread evenly over 256 folders, so one tells of all. */
const manyInOneFolder = 4;

/** Looks at names and sizes of files only. */
export async function findNeeds(repository: string): Promise<Needs> {
  const [packed, oneFolder, refs] = await Promise.all([
    names(path.join(repository, 'objects', 'pack')),
    names(path.join(repository, 'objects', '17')),
    looseRefs(path.join(repository, 'refs'), manyLooseRefs),
  ]);
  const packs = packed.filter((name) => name.endsWith('.pack'));
  const hasBitmap = packed.some((name) => name.endsWith('.bitmap'));
  const sizes = hasBitmap ? [] : await Promise.all(packs.map((name) => sizeOf(path.join(repository, 'objects', 'pack', name))));
  const paysForBitmap = sizes.reduce((sum, size) => sum + size, 0) >= smallHistory;
  return {
    packRefs: refs >= manyLooseRefs,
    repack: packs.length >= manyPacks || oneFolder.length >= manyInOneFolder || paysForBitmap,
  };
}

/** How many there are, counted up to `enough`. */
async function looseRefs(folder: string, enough: number): Promise<number> {
  let count = 0;
  const folders = [folder];
  for (const place of folders) {
    for (const entry of await readdir(place, { withFileTypes: true }).catch(() => [])) {
      if (entry.isDirectory()) folders.push(path.join(place, entry.name));
      else count += 1;
    }
    if (count >= enough) break;
  }
  return count;
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(({ size }) => size, () => 0);
}

async function names(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
