import { open, readdir, readFile, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { visitAll } from '../../kernel/index.ts';
import type { ObjectReaders } from '../objects/object-readers.ts';
import { refFailures } from './ref-move.ts';
import type { RefMove } from './ref-move.ts';
import type { RefResult } from './report-status.ts';
import { syncFolder } from './sync-refs.ts';

/** Number of objects looked up at once. */
const objectsAtOnce = 5_000;
/** Number of characters written at once. */
const writtenAtOnce = 512 * 1024;
/** Time limit in milliseconds for another git to finish a ref or `packed-refs`. */
const lockWaitMs = 2_000;
const lockPollMs = 20;
/** Properties in the header of `packed-refs`: peeled ids of all tags, sorted by bytes. */
const header = '# pack-refs with: peeled fully-peeled sorted \n';
const isSortedAndPeeled = /^# pack-refs with:(?=.* fully-peeled )(?=.* sorted )/;
const branches = 'refs/heads/';
/** The server's own refs, which never conflict with refs created here. */
const ownFolders = ['refs/hearth/', 'refs/pull/'];

const { moved, nameTaken } = refFailures;
const notOnePart = 'atomic push failure';

/** A line of `packed-refs`, with the peeled id of a tag. @property name one character per byte */
interface Line {
  name: string;
  text: string;
}

/**
 * Creates many refs as `git clone` does: as lines of `packed-refs`, which is written and synced once. A file and a
 * rename for each of 100,000 refs would take minutes.
 * @param moves creations; their names have been checked
 * @param options.isAtomic whether one failed creation prevents all
 * @returns the result of each, in order; null if this is not possible: then nothing was changed, and git has to create
 *   them
 */
export async function addPackedRefs(
  readers: ObjectReaders,
  repository: string,
  moves: readonly RefMove[],
  { isAtomic = false }: { isAtomic?: boolean } = {},
): Promise<RefResult[] | null> {
  const [file, lock] = ['packed-refs', 'packed-refs.lock'].map((name) => path.join(repository, name)) as [
    string,
    string,
  ];
  const handle = await openLock(lock);
  if (handle === null) return null;
  let isWritten = false;
  let reasons: Map<RefMove, string> | null = null;
  try {
    const loose = await looseNames(repository);
    const packed = await readLines(file);
    const ends = packed === null ? null : await readEnds(readers, repository, moves);
    if (packed !== null && ends !== null) {
      reasons = await judge(moves, packed, loose, ends);
      const made = isAtomic && reasons.size > 0 ? [] : moves.filter((move) => !reasons!.has(move));
      if (made.length > 0) {
        await write(handle, merge(packed, await newLines(made, ends)));
        await rename(lock, file);
        isWritten = true;
      }
    }
  } finally {
    await handle.close();
    if (!isWritten) await rm(lock, { force: true });
  }
  if (reasons === null) return null;
  if (isWritten) {
    await syncFolder(repository);
    await findHidden(repository, moves, reasons);
  }
  const rest = isWritten ? null : notOnePart;
  return moves.map((move) => {
    const reason = reasons.get(move) ?? rest;
    return reason === null ? { ref: move.ref, ok: true } : { ref: move.ref, ok: false, reason };
  });
}

async function openLock(lock: string): Promise<FileHandle | null> {
  for (const until = performance.now() + lockWaitMs; ; ) {
    try {
      return await open(lock, 'wx', 0o644);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (performance.now() > until) return null;
      await sleep(lockPollMs);
    }
  }
}

/** Null for a file of an old git that is not sorted, or lacks peeled ids. */
async function readLines(file: string): Promise<Line[] | null> {
  const text = await readFile(file, 'latin1').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const lines: Line[] = [];
  if (text === '') return lines;
  if (!isSortedAndPeeled.test(text)) return null;
  await visitAll(linesOf(text), (line) => {
    if (line.startsWith('^')) lines.at(-1)!.text += line;
    else if (!line.startsWith('#')) lines.push({ name: line.slice(line.indexOf(' ') + 1, -1), text: line });
  });
  return lines;
}

/** Including their line feeds; not split at once, which would block the event loop for long. */
function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf('\n', start);
    const next = end === -1 ? text.length : end + 1;
    yield text.slice(start, next);
    start = next;
  }
}

/** Names of the loose refs and of locks on refs being written, one character per byte. */
async function looseNames(repository: string): Promise<Set<string>> {
  const entries = await readdir(path.join(repository, 'refs'), {
    recursive: true,
    withFileTypes: true,
    encoding: 'latin1',
  });
  const names = new Set<string>();
  await visitAll(entries, (entry) => {
    if (entry.isDirectory()) return;
    const name = path.relative(repository, path.join(entry.parentPath, entry.name));
    if (!ownFolders.some((folder) => name.startsWith(folder))) names.add(name);
  });
  return names;
}

/** Types of the objects that refs are to name, and the peeled ids of tags. */
interface Ends {
  types: ReadonlyMap<string, string>;
  peeled: ReadonlyMap<string, string>;
}

/** Null if an object is missing. */
async function readEnds(readers: ObjectReaders, repository: string, moves: readonly RefMove[]): Promise<Ends | null> {
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
  const isThere = (oid: string): boolean => types.has(oid) && (types.get(oid) !== 'tag' || peeled.has(oid));
  return ids.every(isThere) ? { types, peeled } : null;
}

/** One character per byte, as in file names. */
const rawName = ({ ref }: RefMove): string => Buffer.from(ref).toString('latin1');

/**
 * Why refs cannot be created: they exist, or their name conflicts with another one. The first of two conflicting refs
 * is created.
 */
async function judge(
  moves: readonly RefMove[],
  packed: readonly Line[],
  loose: ReadonlySet<string>,
  { types }: Ends,
): Promise<Map<RefMove, string>> {
  const taken = new Set<string>();
  const folders = new Set<string>();
  const add = (name: string) => {
    taken.add(name);
    for (const folder of foldersOf(name)) {
      if (folders.has(folder)) return;
      folders.add(folder);
    }
  };
  await visitAll(packed, ({ name }) => add(name));
  await visitAll(loose, (name) => name.endsWith('.lock') || add(name));
  const reasons = new Map<RefMove, string>();
  await visitAll(moves, (move) => {
    const name = rawName(move);
    if (taken.has(name)) reasons.set(move, moved);
    else if (folders.has(name) || [...foldersOf(name)].some((folder) => taken.has(folder)))
      reasons.set(move, nameTaken);
    else if (types.get(move.newId) !== 'commit' && name.startsWith(branches)) reasons.set(move, refFailures.refused);
    else add(name);
  });
  return reasons;
}

/** `refs/heads/a/b` is below `refs/heads/a`, `refs/heads` and `refs`; the nearest first. */
function* foldersOf(ref: string): Generator<string> {
  for (let slash = ref.lastIndexOf('/'); slash > 0; slash = ref.lastIndexOf('/', slash - 1)) yield ref.slice(0, slash);
}

async function newLines(moves: readonly RefMove[], { peeled }: Ends): Promise<Line[]> {
  const lines: Line[] = [];
  await visitAll(moves, (move) => {
    const name = rawName(move);
    const behind = peeled.get(move.newId);
    lines.push({ name, text: `${move.newId} ${name}\n${behind === undefined ? '' : `^${behind}\n`}` });
  });
  return lines.sort(byName);
}

/** By bytes, as git does. */
const byName = (a: Line, b: Line): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** Merges two sorted lists. */
function* merge(one: readonly Line[], other: readonly Line[]): Generator<Line> {
  let next = 0;
  for (const line of one) {
    while (next < other.length && other[next]!.name < line.name) yield other[next++]!;
    yield line;
  }
  while (next < other.length) yield other[next++]!;
}

async function write(handle: FileHandle, lines: Iterable<Line>): Promise<void> {
  let text = header;
  for (const line of lines) {
    text += line.text;
    if (text.length < writtenAtOnce) continue;
    await handle.writeFile(text, 'latin1');
    text = '';
  }
  await handle.writeFile(text, 'latin1');
  await handle.sync();
}

/** A ref that another git has created meanwhile is a loose one, which hides the line of the same name. */
async function findHidden(repository: string, moves: readonly RefMove[], reasons: Map<RefMove, string>): Promise<void> {
  const until = performance.now() + lockWaitMs;
  let loose = await looseNames(repository);
  if (loose.size === 0) return;
  const byFile = new Map<string, RefMove>();
  await visitAll(moves, (move) => reasons.has(move) || byFile.set(rawName(move), move));
  const isWaitedFor = (file: string) => file.endsWith('.lock') && byFile.has(file.slice(0, -'.lock'.length));
  while ([...loose].some(isWaitedFor) && performance.now() < until) {
    await sleep(lockPollMs);
    loose = await looseNames(repository);
  }
  for (const file of loose) {
    const move = byFile.get(file);
    if (move === undefined) continue;
    const value = await readFile(path.join(repository, move.ref), 'latin1').catch(() => move.newId);
    if (value.trim() !== move.newId) reasons.set(move, moved);
  }
}
