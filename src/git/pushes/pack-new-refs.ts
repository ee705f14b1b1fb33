import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ObjectReaders } from '../objects/object-readers.ts';
import { readRefs } from '../refs/refs.ts';
import type { RefMove } from './ref-move.ts';
import type { RefResult } from './report-status.ts';
import { syncFolder } from './sync-refs.ts';

/** Objects that are asked for at once. */
const objectsAtOnce = 10_000;
/** How long another git may take to finish a ref that it has begun, in milliseconds. */
const lockWaitMs = 2_000;
const lockPollMs = 20;
/** What git records of each line: the id behind every tag, and an order by bytes. */
const header = '# pack-refs with: peeled fully-peeled sorted \n';
const branches = 'refs/heads/';
/** The server's own refs, which are in the way of none that is moved here. */
const ownFolders = ['refs/hearth/', 'refs/pull/'];

/**
 * Creates all refs of a repository that has none, as `git clone` does: as lines of `packed-refs`, which is written and
 * synced once. A file and a rename for each of 100,000 refs would take minutes.
 * @param moves creations; their names have been checked
 * @returns the result of each, in order; null when this is not possible: then nothing was done, and git has to judge
 */
export async function packNewRefs(
  readers: ObjectReaders,
  repository: string,
  moves: readonly RefMove[],
): Promise<RefResult[] | null> {
  const [file, lock] = ['packed-refs', 'packed-refs.lock'].map((name) => path.join(repository, name)) as [
    string,
    string,
  ];
  const handle = await open(lock, 'wx', 0o644).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return null;
    throw error;
  });
  if (handle === null) return null;
  let isWritten = false;
  try {
    const text =
      (await isEmpty(repository)) && !areInEachOthersWay(moves) ? await linesOf(readers, repository, moves) : null;
    if (text !== null) {
      await writeAndSync(handle, text);
      await rename(lock, file);
      isWritten = true;
    }
  } finally {
    await handle.close();
    if (!isWritten) await rm(lock, { force: true });
  }
  if (!isWritten) return null;
  await syncFolder(repository);
  return resultsOf(repository, moves);
}

async function writeAndSync(handle: FileHandle, text: string): Promise<void> {
  await handle.writeFile(text);
  await handle.sync();
}

async function isEmpty(repository: string): Promise<boolean> {
  const packed = await readFile(path.join(repository, 'packed-refs'), 'latin1').catch(() => '');
  const hasLines = packed.split('\n').some((line) => line !== '' && !line.startsWith('#'));
  return !hasLines && (await looseFiles(repository)).length === 0;
}

/** Files of refs, and the locks of those that are being written; without the server's own. */
async function looseFiles(repository: string): Promise<string[]> {
  const entries = await readdir(path.join(repository, 'refs'), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(repository, path.join(entry.parentPath, entry.name)))
    .filter((name) => !ownFolders.some((folder) => name.startsWith(folder)));
}

/** Whether one is named like the folder of another, or like another. */
function areInEachOthersWay(moves: readonly RefMove[]): boolean {
  const names = new Set(moves.map(({ ref }) => ref));
  if (names.size < moves.length) return true;
  return moves.some(({ ref }) => foldersOf(ref).some((folder) => names.has(folder)));
}

/** `refs/heads/a/b` is below `refs/heads/a`, `refs/heads` and `refs`. */
function foldersOf(ref: string): string[] {
  const folders: string[] = [];
  for (let slash = ref.indexOf('/'); slash !== -1; slash = ref.indexOf('/', slash + 1))
    folders.push(ref.slice(0, slash));
  return folders;
}

/** The content of `packed-refs`; null when an object is missing, or a branch would name what is no commit. */
async function linesOf(readers: ObjectReaders, repository: string, moves: readonly RefMove[]): Promise<string | null> {
  const ids = [...new Set(moves.map(({ newId }) => newId))];
  const types = new Map<string, string>();
  const peeled = new Map<string, string>();
  await readers.use(repository, async (reader) => {
    for (let start = 0; start < ids.length; start += objectsAtOnce) {
      const infos = await reader.infos(ids.slice(start, start + objectsAtOnce));
      for (const info of infos) if (info !== null) types.set(info.oid, info.type);
    }
    const tags = ids.filter((oid) => types.get(oid) === 'tag');
    for (let start = 0; start < tags.length; start += objectsAtOnce) {
      const some = tags.slice(start, start + objectsAtOnce);
      const infos = await reader.infos(some.map((oid) => `${oid}^{}`));
      for (const [at, oid] of some.entries()) if (infos[at]) peeled.set(oid, infos[at].oid);
    }
  });
  const isValid = ({ ref, newId }: RefMove): boolean => {
    const type = types.get(newId);
    if (type === undefined || (type === 'tag' && !peeled.has(newId))) return false;
    return type === 'commit' || !ref.startsWith(branches);
  };
  if (!moves.every(isValid)) return null;
  const lines = moves.map(({ ref, newId }) => {
    const behind = peeled.get(newId);
    return { name: Buffer.from(ref), text: `${newId} ${ref}\n${behind === undefined ? '' : `^${behind}\n`}` };
  });
  lines.sort((a, b) => a.name.compare(b.name));
  return header + lines.map(({ text }) => text).join('');
}

/** A ref that another git has created meanwhile is a file, which hides the line of the same name. */
async function resultsOf(repository: string, moves: readonly RefMove[]): Promise<RefResult[]> {
  const until = performance.now() + lockWaitMs;
  let others = await looseFiles(repository);
  while (others.some((name) => name.endsWith('.lock')) && performance.now() < until) {
    await sleep(lockPollMs);
    others = await looseFiles(repository);
  }
  const values = others.length === 0 ? null : await readRefs(repository);
  return moves.map(({ ref, newId }) =>
    values === null || values.get(ref) === newId
      ? { ref, ok: true }
      : { ref, ok: false, reason: 'it has moved meanwhile' },
  );
}
