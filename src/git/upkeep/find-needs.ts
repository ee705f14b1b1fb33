import { readdir } from 'node:fs/promises';
import path from 'node:path';

/** What would make a repository faster. */
export interface Needs {
  /** Refs in files of their own: listing reads each. */
  packRefs: boolean;
  /** Many packs or single objects, or no bitmap: a clone then walks all history. */
  repack: boolean;
}

const manyLooseRefs = 100;
const manyPacks = 8;
/** Objects are spread evenly over 256 folders, so one tells of all. */
const manyInOneFolder = 4;

/** Looks at file names only. */
export async function findNeeds(repository: string): Promise<Needs> {
  const [packed, oneFolder, refs] = await Promise.all([
    names(path.join(repository, 'objects', 'pack')),
    names(path.join(repository, 'objects', '17')),
    looseRefs(path.join(repository, 'refs'), manyLooseRefs),
  ]);
  const packs = packed.filter((name) => name.endsWith('.pack')).length;
  const hasBitmap = packed.some((name) => name.endsWith('.bitmap'));
  return {
    packRefs: refs >= manyLooseRefs,
    repack: packs >= manyPacks || oneFolder.length >= manyInOneFolder || (packs > 0 && !hasBitmap),
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

async function names(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
