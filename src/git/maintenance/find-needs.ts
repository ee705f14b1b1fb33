import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** Maintenance that would make a repository faster. */
interface MaintenanceNeeds {
  /** Loose refs: a listing reads each file. */
  hasLooseRefs: boolean;
  /** History for which git can write a commit-graph. */
  hasCommits: boolean;
  /** Many packs or loose objects, or no bitmap in a repository large enough: a clone then walks all history. */
  repack: boolean;
}

const manyPacks = 8;
/** Pack size in bytes below which a clone walks all history in negligible time. */
const smallHistory = 1024 * 1024;
/** Objects are spread evenly over 256 folders, so one folder is a sample. */
const manyInOneFolder = 4;

/** Reads names and sizes of files only. */
export async function findNeeds(repository: string): Promise<MaintenanceNeeds> {
  const [packed, oneFolder, hasLooseRefs, hasPackedRefs] = await Promise.all([
    names(path.join(repository, 'objects', 'pack')),
    names(path.join(repository, 'objects', '17')),
    isSomethingIn(path.join(repository, 'refs')),
    isThere(path.join(repository, 'packed-refs')),
  ]);
  const packs = packed.filter((name) => name.endsWith('.pack'));
  const hasBitmap = packed.some((name) => name.endsWith('.bitmap'));
  const sizes = hasBitmap
    ? []
    : await Promise.all(packs.map((name) => sizeOf(path.join(repository, 'objects', 'pack', name))));
  const paysForBitmap = sizes.reduce((sum, size) => sum + size, 0) >= smallHistory;
  return {
    hasLooseRefs,
    hasCommits: hasLooseRefs || hasPackedRefs,
    repack: packs.length >= manyPacks || oneFolder.length >= manyInOneFolder || paysForBitmap,
  };
}

/** Whether the repository has a commit-graph for history walks. */
export async function hasCommitGraph(repository: string): Promise<boolean> {
  const info = path.join(repository, 'objects', 'info');
  return (
    (await isThere(path.join(info, 'commit-graph'))) || isThere(path.join(info, 'commit-graphs', 'commit-graph-chain'))
  );
}

/** The heuristics of `git gc --auto`: loose objects in one of 256 folders, and number of packs. */
const maxLooseInOneFolder = 27;
const maxPacks = 50;

/** Whether a complete repack is worthwhile, which takes much longer than a geometric one. */
export async function needsPacking(repository: string): Promise<boolean> {
  if ((await names(path.join(repository, 'objects', '17'))).length > maxLooseInOneFolder) return true;
  return (
    (await names(path.join(repository, 'objects', 'pack'))).filter((name) => name.endsWith('.pack')).length > maxPacks
  );
}

/** Whether a pack has other hard links, in a fork of the repository or in its source. */
export async function sharesPacks(repository: string): Promise<boolean> {
  const folder = path.join(repository, 'objects', 'pack');
  for (const name of await names(folder)) {
    if (!name.endsWith('.pack')) continue;
    const found = await stat(path.join(folder, name)).catch(() => null);
    if (found !== null && found.nlink > 1) return true;
  }
  return false;
}

/** Whether there is any file below a folder. */
async function isSomethingIn(folder: string): Promise<boolean> {
  const folders = [folder];
  for (const place of folders) {
    for (const entry of await readdir(place, { withFileTypes: true }).catch(() => [])) {
      if (!entry.isDirectory()) return true;
      folders.push(path.join(place, entry.name));
    }
  }
  return false;
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

async function names(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
