import { readdir, readFile } from 'node:fs/promises';
import { isWellFormedRef } from '../ref-name.ts';
import { placeIn } from './stamp.ts';

/** A ref with the object it names. */
export interface RefEntry {
  /** The full name, one character per byte. */
  name: string;
  oid: string;
  /** What an annotated tag stands for in the end; null for anything else, undefined while nobody has looked. */
  peeled: string | null | undefined;
}

/** A repository that git itself has to answer for. */
export class Unusual extends Error {}

const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
export const isObjectId = (text: string): boolean => objectId.test(text);
const filesAtOnce = 64;
/** Each is looked at for every answer. */
const maxFolders = 1_000;

/** Every folder that holds or could hold refs. Throws {@link Unusual} for links. */
export async function findFolders(repository: string): Promise<string[]> {
  const folders = ['refs'];
  for (const folder of folders) {
    for (const entry of await list(repository, folder)) {
      if (entry.isDirectory()) folders.push(`${folder}/${entry.name}`);
      else if (!entry.isFile()) throw new Unusual(entry.name);
    }
    if (folders.length > maxFolders) throw new Unusual('too many folders');
  }
  return folders;
}

/**
 * The refs that have a file of their own, sorted.
 * Throws {@link Unusual} for symbolic refs and for what is not a ref.
 */
export async function readLooseRefs(repository: string, folders: readonly string[]): Promise<RefEntry[]> {
  const refs: RefEntry[] = [];
  for (const folder of folders) {
    const names = (await list(repository, folder)).filter((entry) => entry.isFile()).map((entry) => `${folder}/${entry.name}`);
    for (let start = 0; start < names.length; start += filesAtOnce) {
      const some = await Promise.all(names.slice(start, start + filesAtOnce).map((name) => readLooseRef(repository, name)));
      refs.push(...some.filter((ref) => ref !== null));
    }
  }
  return refs.sort(byName);
}

/** What is in a folder, without locks and other names that git does not look at either. */
async function list(repository: string, folder: string) {
  const entries = await readdir(placeIn(repository, folder), { withFileTypes: true, encoding: 'latin1' }).catch(whenAbsent([]));
  return entries.filter(({ name }) => !name.startsWith('.') && !name.endsWith('.lock'));
}

/** Null for a ref that went away meanwhile: it was deleted or packed; packed-refs, read later, knows. */
async function readLooseRef(repository: string, name: string): Promise<RefEntry | null> {
  if (!isWellFormedRef(name)) throw new Unusual(name);
  const text = await readFile(placeIn(repository, name), 'latin1').catch(whenAbsent(null));
  if (text === null) return null;
  const oid = text.trimEnd();
  if (!isObjectId(oid)) throw new Unusual(name);
  return { name, oid, peeled: undefined };
}

/**
 * The refs in `packed-refs`, sorted as git writes them.
 * Throws {@link Unusual} for a file of a git so old that it does not say what tags stand for.
 */
export async function readPackedRefs(repository: string): Promise<RefEntry[]> {
  const text = await readFile(`${repository}/packed-refs`, 'latin1').catch(whenAbsent(''));
  if (text === '') return [];
  const lines = text.split('\n');
  if (!/^# pack-refs with:(?=.* fully-peeled )(?=.* sorted )/.test(lines[0]!)) throw new Unusual('packed-refs');
  const refs: RefEntry[] = [];
  for (const line of lines.slice(1)) {
    if (line.startsWith('^')) {
      refs.at(-1)!.peeled = line.slice(1);
    } else if (line !== '') {
      const space = line.indexOf(' ');
      const [oid, name] = [line.slice(0, space), line.slice(space + 1)];
      if (!isObjectId(oid) || !isWellFormedRef(name)) throw new Unusual(name);
      refs.push({ name, oid, peeled: null });
    }
  }
  return refs;
}

/** Both together; a ref with a file of its own hides the packed one. */
export function mergeRefs(packed: readonly RefEntry[], loose: readonly RefEntry[]): RefEntry[] {
  if (loose.length === 0) return [...packed];
  const merged: RefEntry[] = [];
  let next = 0;
  for (const ref of packed) {
    while (next < loose.length && loose[next]!.name < ref.name) merged.push(loose[next++]!);
    if (loose[next]?.name !== ref.name) merged.push(ref);
  }
  return [...merged, ...loose.slice(next)];
}

const byName = (a: RefEntry, b: RefEntry): number => (a.name < b.name ? -1 : 1);

/** A file that goes away while we look is no error: git moved it. */
function whenAbsent<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return value;
    throw error;
  };
}
