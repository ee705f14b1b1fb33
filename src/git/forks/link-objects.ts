import { constants, copyFile, link, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { nullIfAbsent, syncPath } from '../../files/index.ts';
import { conflict, eachLimit } from '../../kernel/index.ts';

/** Temporary files of git, and `.keep` marks of processes. */
const unfinished = /\.lock$|^tmp_|^\.tmp-|\.keep$/;
/** Files that git replaces under the same name: these are compared by inode. */
const replaced = /^(?:multi-pack-index|commit-graph|commit-graph-chain)$/;
const looseFolder = /^[0-9a-f]{2}$/;
/** Folders of files about packs and history. */
const folders = ['pack', 'info', 'info/commit-graphs'];
const infoFile = /^(?:commit-graph|commit-graph-chain|graph-[0-9a-f]+\.graph)$/;

const filesAtOnce = 16;
/** Limit of retries: maintenance by another process may replace packs, and the listing is then read again. */
const maxRounds = 20;
/** Error codes of file systems that cannot link this file: another device, too many links, not supported. */
const unlinkable = new Set(['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * Hard-links all object files of a repository into the object folder of a new one. git never changes such a file in
 * place but writes and renames a new one, so neither repository sees later changes of the other. Copies a file if it
 * cannot be linked.
 *
 * Packs may be replaced during the run. It ends when two consecutive listings are equal and everything in them is
 * linked: each object was then in one of the listed files throughout. Throws `repository_busy` if that never happens.
 * Fails with ENOENT if the source is removed or moved.
 * @param from,to the folders `objects`
 */
export async function linkObjects(from: string, to: string): Promise<void> {
  const linked = new Map<string, string>();
  for (let round = 0; round < maxRounds; round += 1) {
    const before = await listObjects(from);
    const missing = [...before].filter(([file, mark]) => linked.get(file) !== mark);
    for (const folder of new Set(missing.map(([file]) => path.posix.dirname(file))))
      await mkdir(path.join(to, folder), { recursive: true, mode: 0o700 });
    await eachLimit(missing, filesAtOnce, async ([file, mark]) => {
      const target = path.join(to, file);
      if (linked.has(file)) await rm(target, { force: true });
      if (await linkOrCopy(path.join(from, file), target)) linked.set(file, mark);
    });
    const after = await listObjects(from);
    if (!isEqual(before, after) || [...after.keys()].some((file) => !linked.has(file))) continue;
    for (const file of linked.keys()) if (!after.has(file)) await rm(path.join(to, file), { force: true });
    return;
  }
  throw conflict('repository_busy', 'The repository is being repacked. Try again in a moment.');
}

/** Every finished file, relative to the folder, with an identifier of its version. */
async function listObjects(objects: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const add = async (folder: string, isWanted: (name: string, all: ReadonlySet<string>) => boolean): Promise<void> => {
    const names = new Set((await readdir(path.join(objects, folder)).catch(nullIfAbsent)) ?? []);
    for (const name of names) {
      if (unfinished.test(name) || !isWanted(name, names)) continue;
      const file = `${folder}/${name}`;
      if (!replaced.test(name)) files.set(file, '');
      else {
        const found = await lstat(path.join(objects, file)).catch(nullIfAbsent);
        if (found !== null) files.set(file, `${found.ino}.${found.mtimeMs}`);
      }
    }
  };
  // Loose objects first, packs last: an object packed in between is then found in a pack.
  for (const entry of await readdir(objects, { withFileTypes: true }))
    if (entry.isDirectory() && looseFolder.test(entry.name)) await add(entry.name, (name) => /^[0-9a-f]+$/.test(name));
  for (const folder of folders.slice(1)) await add(folder, (name) => infoFile.test(name));
  await add('pack', isOfWholePack);
  return files;
}

/** git installs a pack before its index and removes the index first: a pack needs both files. */
function isOfWholePack(name: string, all: ReadonlySet<string>): boolean {
  if (name.startsWith('multi-pack-index')) return true;
  const [stem] = name.split('.', 1);
  return all.has(`${stem}.pack`) && all.has(`${stem}.idx`);
}

function isEqual(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([file, mark]) => other.get(file) === mark);
}

/** Returns false if the file no longer exists. */
async function linkOrCopy(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    if (code === 'EEXIST') return true;
    if (!unlinkable.has(code ?? '')) throw error;
  }
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    await syncPath(to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
