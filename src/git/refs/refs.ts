import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { noRef, visitAll } from '../../kernel/index.ts';
import { findPackedRef } from './find-packed-ref.ts';
import { isWellFormedRef } from './ref-name.ts';

/** Refs for the server's own use, which git also hides from clients. */
const hidden = ['refs/hearth/', 'refs/replace/'];

const filesAtOnce = 64;

const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/**
 * Every ref of a repository with the object it names, sorted by name, read from its files without starting git. Names
 * are text; bytes that are not UTF-8 become U+FFFD. Omits broken and empty refs (`recover` reports them) and resolves
 * symbolic ones.
 */
export async function readRefs(repository: string): Promise<Map<string, string>> {
  // Loose refs first. `pack-refs` and deletions write packed-refs before they remove a loose ref; in this order every
  // ref is seen with a value that it had during the read. In the other order, a ref that is being packed would be in
  // neither place.
  const loose = await readLooseRefs(repository);
  const packed = await readPackedRefs(repository);
  return merge(packed, loose, (name) => !isHidden(name));
}

/** The refs below `refs/hearth/`, which keep objects hidden from clients; like `readRefs` for the others. */
export async function readHiddenRefs(repository: string): Promise<Map<string, string>> {
  const loose = await readLooseRefs(repository);
  const packed = await readPackedRefs(repository);
  return merge(packed, loose, (name) => name.startsWith('refs/hearth/'));
}

/** Names of the files below `refs/` that contain neither an object id nor the name of another ref: git ignores them. */
export async function findBrokenRefs(repository: string): Promise<string[]> {
  const isBroken = (value: string): boolean =>
    noRef.test(value) || (!objectId.test(value) && !value.startsWith('ref: refs/'));
  return [...(await readLooseRefs(repository))].flatMap(([name, value]) => (isBroken(value) ? [name] : [])).sort();
}

const isHidden = (name: string): boolean => hidden.some((prefix) => name.startsWith(prefix));

/** The branch that HEAD names, with or without commits; null if HEAD is detached. */
export async function readHeadBranch(repository: string): Promise<string | null> {
  const text = await readFile(path.join(repository, 'HEAD'), 'utf8');
  return /^ref: refs\/heads\/(.+)\n?$/.exec(text)?.[1] ?? null;
}

/** The value of a ref in `packed-refs`, ignoring a loose one; null if there is none. */
export const readPackedRef = (repository: string, ref: string): Promise<string | null> =>
  findPackedRef(path.join(repository, 'packed-refs'), ref);

/**
 * The object that one ref names, without reading the others; null if there is no such ref, or the name is invalid.
 * @param ref a full name
 */
export async function readRef(repository: string, ref: string): Promise<string | null> {
  if (!ref.startsWith('refs/') || !isWellFormedRef(ref)) return null;
  // A folder has the name of a former branch.
  const loose = await readFile(path.join(repository, ref), 'latin1').catch((error: NodeJS.ErrnoException) =>
    error.code === 'EISDIR' ? '' : whenAbsent('')(error),
  );
  const value = loose.trimEnd();
  if (value.startsWith('ref: ')) return (await readRefs(repository)).get(ref) ?? null;
  if (value !== '') return objectId.test(value) ? value : null;
  // In this order: see `readRefs`.
  const packed = await findPackedRef(path.join(repository, 'packed-refs'), ref);
  return packed !== null && objectId.test(packed) ? packed : null;
}

/** Sorts by name. Both lists are sorted already, except for names beyond the Basic Multilingual Plane. */
async function merge(
  packed: Map<string, string>,
  loose: Map<string, string>,
  isWanted: (name: string) => boolean,
): Promise<Map<string, string>> {
  const all = loose.size === 0 ? packed : new Map([...packed, ...loose]);
  const own = [...loose.keys()].sort();
  let next = 0;
  let last = '';
  let isSorted = true;
  const wanted: [name: string, oid: string][] = [];
  const add = (name: string): void => {
    const oid = resolve(all, all.get(name)!);
    if (oid === null || !isWanted(name)) return;
    isSorted &&= last <= name;
    last = name;
    wanted.push([name, oid]);
  };
  await visitAll(packed.keys(), (name) => {
    for (; next < own.length && own[next]! < name; next += 1) add(own[next]!);
    if (own[next] === name) next += 1;
    add(name);
  });
  for (; next < own.length; next += 1) add(own[next]!);
  if (!isSorted) wanted.sort(([a], [b]) => (a < b ? -1 : 1));
  const refs = new Map<string, string>();
  await visitAll(wanted, ([name, oid]) => void refs.set(name, oid));
  return refs;
}

/** Follows `ref: …` to the same depth as git. */
function resolve(refs: ReadonlyMap<string, string>, value: string): string | null {
  let current: string | undefined = value;
  for (let depth = 0; depth < 5 && current !== undefined; depth += 1) {
    if (objectId.test(current)) return current;
    if (!current.startsWith('ref: ')) return null;
    current = refs.get(current.slice('ref: '.length).trim());
  }
  return null;
}

async function readPackedRefs(repository: string): Promise<Map<string, string>> {
  const refs = new Map<string, string>();
  const text = await readFile(path.join(repository, 'packed-refs'), 'utf8').catch(whenAbsent(''));
  await visitAll(linesOf(text), (line) => {
    const space = line.indexOf(' ');
    // "#" begins the header, "^" the peeled id of the tag on the line before.
    if (space > 0 && !line.startsWith('#') && !line.startsWith('^'))
      refs.set(line.slice(space + 1), line.slice(0, space));
  });
  return refs;
}

function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    yield text.slice(start, end);
    start = end + 1;
  }
}

async function readLooseRefs(repository: string): Promise<Map<string, string>> {
  const refs = new Map<string, string>();
  const readValue = async (name: string): Promise<void> => {
    const value = await readFile(path.join(repository, name), 'utf8').catch(whenAbsent(null));
    // A ref that vanished was deleted or packed; packed-refs, read later, contains it.
    if (value !== null) refs.set(name, value.trimEnd());
  };
  const visit = async (folder: string): Promise<void> => {
    const entries = await readdir(path.join(repository, folder), { withFileTypes: true }).catch(whenAbsent([]));
    const names = entries
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.lock'))
      .map(({ name }) => `${folder}/${name}`);
    for (let start = 0; start < names.length; start += filesAtOnce) {
      await Promise.all(names.slice(start, start + filesAtOnce).map(readValue));
    }
    for (const entry of entries) if (entry.isDirectory()) await visit(`${folder}/${entry.name}`);
  };
  await visit('refs');
  return refs;
}

const absent = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'];

/**
 * A file that vanishes during the read is not an error: git moved it. A ref name that cannot be a file name is in
 * `packed-refs`.
 */
function whenAbsent<T>(value: T): (error: NodeJS.ErrnoException) => T {
  return (error) => {
    if (absent.includes(error.code ?? '')) return value;
    throw error;
  };
}
