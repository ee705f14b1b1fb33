import { readdirSync, readFileSync } from 'node:fs';
import type { Dirent } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { freeMemory, visitAll, yieldToEventLoop } from '../../kernel/index.ts';
import { isWellFormedRef } from '../refs/ref-name.ts';
import { placeIn } from './fingerprint.ts';

/** A ref with the object it names. */
export interface RefEntry {
  /** The full name, one character per byte. */
  name: string;
  oid: string;
  /** The peeled id of an annotated tag; null for other objects, undefined before the lookup. */
  peeled: string | null | undefined;
}

/** Thrown for a repository that only git can list. */
export class Unsupported extends Error {}

const objectId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
export const isObjectId = (text: string): boolean => objectId.test(text);
/**
 * Files read synchronously per batch, without the thread pool: this costs a fifth for small cached files. The event
 * loop runs between batches.
 */
const filesAtOnce = 50;
/** Lines of packed-refs between two pauses. */
const linesAtOnce = 500;
/** Limit of ref folders: each is checked for every response. */
const maxFolders = 1_000;

/** Every folder that may contain refs. Throws {@link Unsupported} for links. */
export function findFolders(repository: string): string[] {
  const folders = ['refs'];
  for (const folder of folders) {
    for (const entry of list(repository, folder)) {
      if (entry.isDirectory()) folders.push(`${folder}/${entry.name}`);
      else if (!entry.isFile()) throw new Unsupported(entry.name);
    }
    if (folders.length > maxFolders) throw new Unsupported('too many folders');
  }
  return folders;
}

/** The loose refs, sorted. Throws {@link Unsupported} for symbolic refs and for files that are not refs. */
export async function readLooseRefs(repository: string, folders: readonly string[]): Promise<RefEntry[]> {
  const refs: RefEntry[] = [];
  for (const folder of folders) {
    const names = list(repository, folder)
      .filter((entry) => entry.isFile())
      .map((entry) => `${folder}/${entry.name}`);
    for (let start = 0; start < names.length; start += filesAtOnce) {
      await yieldToEventLoop();
      const some = names.slice(start, start + filesAtOnce).map((name) => readLooseRef(repository, name));
      refs.push(...some.filter((ref) => ref !== null));
    }
  }
  return refs.sort(byName);
}

/** The names in a folder, without locks and other names that git also ignores. */
function list(repository: string, folder: string): Dirent[] {
  const entries = unlessAbsent([], () =>
    readdirSync(placeIn(repository, folder), { withFileTypes: true, encoding: 'latin1' }),
  );
  return entries.filter(({ name }) => !name.startsWith('.') && !name.endsWith('.lock'));
}

/** Null for a ref that vanished in the meantime: it was deleted or packed; packed-refs, read later, contains it. */
function readLooseRef(repository: string, name: string): RefEntry | null {
  if (!isWellFormedRef(name)) throw new Unsupported(name);
  const text = unlessAbsent(null, () => readFileSync(placeIn(repository, name), 'latin1'));
  if (text === null) return null;
  const oid = text.trimEnd();
  if (!isObjectId(oid)) throw new Unsupported(name);
  return { name, oid, peeled: undefined };
}

/**
 * The refs in `packed-refs`, sorted as git writes them. Throws {@link Unsupported} for a file of an old git without
 * peeled ids.
 */
export async function readPackedRefs(repository: string): Promise<RefEntry[]> {
  const bytes = await readFile(`${repository}/packed-refs`).catch((error: unknown) => absentOr(nothing, error));
  if (bytes.length === 0) return [];
  const text = bytes.toString('latin1');
  if (!/^# pack-refs with:(?=.* fully-peeled )(?=.* sorted )/.test(text)) throw new Unsupported('packed-refs');
  const refs: RefEntry[] = [];
  // Names and ids are slices of the text, which is not split into lines first: with a hundred thousand refs that would
  // take as long as everything else.
  let lines = 0;
  for (let start = endOfLine(bytes, 0) + 1; start < bytes.length; lines += 1) {
    if (lines % linesAtOnce === 0) await yieldToEventLoop();
    const end = endOfLine(bytes, start);
    if (bytes[start] === caret) {
      refs.at(-1)!.peeled = text.slice(start + 1, end);
    } else if (end > start) {
      const isPlain = isPlainLine(bytes, start, end);
      const space = isPlain ? start + shortId : text.indexOf(' ', start);
      const [oid, name] = [text.slice(start, space), text.slice(space + 1, end)];
      if (!isPlain && (!isObjectId(oid) || !isWellFormedRef(name))) throw new Unsupported(name);
      refs.push({ name, oid, peeled: null });
    }
    start = end + 1;
  }
  freeMemory(bytes);
  return refs;
}

const nothing = Buffer.alloc(0);
const shortId = 40;
const newline = 0x0a;
const space = 0x20;
const slash = 0x2f;
const dot = 0x2e;
const caret = 0x5e;
const letterL = 0x6c;
const refsFolder = Buffer.from('refs/');
/** Character classes of bytes. */
const inId = 1;
const inName = 2;
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return (/[0-9a-f]/.test(character) ? inId : 0) | (/[A-Za-z0-9_+-]/.test(character) ? inName : 0);
});

/**
 * Whether a line is a SHA-1 id with an ordinary name, as nearly all lines are: the two regular expressions for any line
 * would take more time than the rest of a listing.
 * @returns false also if the regular expressions have to decide
 */
function isPlainLine(bytes: Buffer, start: number, end: number): boolean {
  const nameAt = start + shortId + 1;
  if (end - nameAt <= refsFolder.length || bytes[nameAt - 1] !== space) return false;
  for (let at = 0; at < refsFolder.length; at += 1) if (bytes[nameAt + at] !== refsFolder[at]) return false;
  let kind = inId;
  for (let at = start; at < nameAt - 1; at += 1) kind &= kinds[bytes[at]!]!;
  if (kind === 0) return false;
  // Slashes and dots are allowed singly, between other characters; `.lock` is checked elsewhere.
  let isBetween = true;
  for (let at = nameAt + refsFolder.length; at < end; at += 1) {
    const byte = bytes[at]!;
    if ((kinds[byte]! & inName) !== 0) isBetween = false;
    else if (isBetween || (byte !== slash && (byte !== dot || bytes[at + 1] === letterL))) return false;
    else isBetween = true;
  }
  return !isBetween;
}

function endOfLine(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(newline, from);
  return at === -1 ? bytes.length : at;
}

/** Merges both; a loose ref hides the packed one. Without loose refs returns the packed list itself, not a copy. */
export async function mergeRefs(packed: readonly RefEntry[], loose: readonly RefEntry[]): Promise<readonly RefEntry[]> {
  if (loose.length === 0) return packed;
  const merged: RefEntry[] = [];
  let next = 0;
  await visitAll(packed, (ref) => {
    while (next < loose.length && loose[next]!.name < ref.name) merged.push(loose[next++]!);
    if (loose[next]?.name !== ref.name) merged.push(ref);
  });
  for (; next < loose.length; next += 1) merged.push(loose[next]!);
  return merged;
}

const byName = (a: RefEntry, b: RefEntry): number => (a.name < b.name ? -1 : 1);

function unlessAbsent<T>(otherwise: T, look: () => T): T {
  try {
    return look();
  } catch (error) {
    return absentOr(otherwise, error);
  }
}

/** A file that vanishes during the read is not an error: git moved it. */
function absentOr<T>(otherwise: T, error: unknown): T {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return otherwise;
  throw error;
}
