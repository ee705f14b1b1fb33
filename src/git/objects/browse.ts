import { internal, invalid, notFound, nullIfNotFound } from '../../kernel/index.ts';
import type { GitLimits } from '../limits.ts';
import type { GitObject, ObjectReader } from './object-reader.ts';
import type { ObjectReaders } from './object-readers.ts';
import { findEntry, isNameable } from './find-entry.ts';
import { parseCommit, parseTree } from './parse-objects.ts';
import type { Commit, TreeEntry } from './parse-objects.ts';
import type { GitRunner } from '../processes/git-runner.ts';
import type { Reachability } from './reachability.ts';
import { isWellFormedRef, isWholeId } from '../refs/ref-name.ts';
import { readHeadBranch } from '../refs/refs.ts';
import type { Semaphore } from '../../kernel/index.ts';

export interface BrowseDeps {
  runner: GitRunner;
  readers: ObjectReaders;
  shortSlots: Semaphore;
  limits: GitLimits;
  reachability: Reachability;
}

export interface RevisionOptions {
  /** Includes unreachable commits: for users with push access, who could restore them. */
  includeUnreachable?: boolean;
}

export interface Head {
  /** The default branch, even without commits; null if HEAD is detached. */
  branch: string | null;
  /** The tip of the branch; null in an empty repository. */
  oid: string | null;
}

export interface Tree {
  oid: string;
  entries: TreeEntry[];
  /** Whether there are more entries than requested. */
  truncated: boolean;
}

export interface Blob {
  oid: string;
  size: number;
  /** Null if the blob is larger than `maxBytes`. */
  content: Buffer | null;
}

const shortId = /^[0-9a-f]{4,64}$/;

/** Size limits in bytes: real commits and trees are smaller. */
export const maxCommitBytes = 4 * 1024 * 1024;
export const maxTreeBytes = 32 * 1024 * 1024;
const defaultMaxEntries = 10_000;

const missing = () => notFound('revision_not_found', 'There is no such branch, tag, commit or file.');

export async function head({ readers }: BrowseDeps, path: string): Promise<Head> {
  const branch = await readHeadBranch(path);
  const name = branch === null ? 'HEAD' : `refs/heads/${branch}`;
  const [info] = await readers.use(path, (reader) => reader.infos([`${name}^{commit}`]));
  return { branch, oid: info?.oid ?? null };
}

/**
 * The commit that a name resolves to: a full ref, a branch, a tag, `HEAD`, or a commit id (abbreviated to at least four
 * digits). A full id names only that commit; a full name precedes all others, also without `refs/` if there is no such
 * short name; branches precede tags, names precede abbreviated ids. git's revision operators are not supported. Throws
 * `revision_not_found`.
 */
export async function resolve(
  deps: BrowseDeps,
  path: string,
  revision: string,
  options: RevisionOptions = {},
): Promise<string> {
  const names = candidates(revision);
  const infos =
    names.length === 0
      ? []
      : await deps.readers.use(path, (reader) => reader.infos(names.map((name) => `${name}^{commit}`)));
  const at = infos.findIndex((info) => info?.type === 'commit');
  const oid = infos[at]?.oid;
  if (oid === undefined || (names[at] === revision && !(await mayBeNamed(deps, path, revision, oid, options))))
    throw missing();
  return oid;
}

/** An id abbreviated to at least seven digits, as in text. */
const writtenId = /^[0-9a-f]{7,64}$/;

/**
 * The commits that these ids (abbreviated or full) name, keyed by the id as given; omits ids without a commit, or whose
 * commit is unreachable from every ref. Takes one round trip to the object reader, and a walk for ids not proved
 * reachable before. Throws `git_busy`.
 */
export async function namedCommits(
  { readers, reachability }: BrowseDeps,
  path: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const validIds = [...new Set(ids)].filter((id) => writtenId.test(id));
  if (validIds.length === 0) return new Map();
  const infos = await readers.use(path, (reader) => reader.infos(validIds.map((id) => `${id}^{commit}`)));
  // A ref may look like an id, and a tag's id leads to a commit with another id.
  const found = validIds.flatMap((id, at): [string, string][] => {
    const info = infos[at];
    return info?.type === 'commit' && info.oid.startsWith(id) ? [[id, info.oid]] : [];
  });
  const lost = await reachability.unreachableCommits(
    path,
    found.map(([, oid]) => oid),
  );
  return new Map(found.filter(([, oid]) => !lost.has(oid)));
}

/** Whether an id may be used in a URL: it is reachable from a ref, or the viewer may see unreachable commits. */
export async function mayBeNamed(
  { reachability }: BrowseDeps,
  path: string,
  name: string,
  oid: string,
  { includeUnreachable = false }: RevisionOptions,
): Promise<boolean> {
  return includeUnreachable || !shortId.test(name) || (await reachability.firstUnreachable(path, [oid])) === null;
}

function candidates(revision: string): string[] {
  if (revision === 'HEAD' || isWholeId(revision)) return [revision];
  const names = revision.startsWith('refs/') ? [revision] : [];
  names.push(`refs/heads/${revision}`, `refs/tags/${revision}`);
  if (/^(?:heads|tags)\//.test(revision)) names.push(`refs/${revision}`);
  return [...names.filter(isWellFormedRef), ...(shortId.test(revision) ? [revision] : [])];
}

/** Throws `revision_not_found`. */
export async function commit({ readers }: BrowseDeps, path: string, oid: string): Promise<Commit> {
  return readers.use(path, (reader) => readCommit(reader, oid));
}

/**
 * A folder of a commit. Throws `revision_not_found`, also if the path names a file.
 * @param folder path below the root: text, or the bytes of names that are not UTF-8; empty for the root
 * @param options.withSizes whether to include the size of every file
 */
export async function tree(
  { readers }: BrowseDeps,
  path: string,
  oid: string,
  folder: string | Buffer,
  options: { maxEntries?: number; withSizes?: boolean } = {},
): Promise<Tree> {
  const { maxEntries = defaultMaxEntries, withSizes = false } = options;
  return readers.use(path, async (reader) => {
    const object = await readFolder(reader, `${checked(oid)}^{commit}`, components(folder));
    const { entries, truncated } = parseTree(object.content, object.oid.length / 2, maxEntries);
    if (withSizes) await addSizes(reader, entries);
    return { oid: object.oid, entries, truncated };
  });
}

/**
 * The entry at a path of a commit, looked up in trees, so symbolic links are never followed. Throws
 * `revision_not_found`.
 */
export async function entryAt(
  { readers }: BrowseDeps,
  path: string,
  oid: string,
  file: string | Buffer,
): Promise<TreeEntry> {
  return readers.use(path, async (reader) => {
    const entry = await find(reader, `${checked(oid)}^{commit}`, file);
    if (entry === null) throw missing();
    return entry;
  });
}

/** A blob by its id; with content only up to `maxBytes`. Throws `revision_not_found`. */
export async function blob(
  { readers }: BrowseDeps,
  path: string,
  oid: string,
  { maxBytes }: { maxBytes: number },
): Promise<Blob> {
  return readers.use(path, async (reader) => {
    const [info] = await reader.infos([checked(oid)]);
    if (info?.type !== 'blob') throw missing();
    const content = info.size > maxBytes ? null : (await reader.object(oid))?.content;
    if (content === undefined) throw missing();
    return { oid, size: info.size, content };
  });
}

/** Commits reachable from `oid`, newest first. Throws `revision_not_found`, `git_busy`. */
export async function log(
  { runner, readers, shortSlots, limits }: BrowseDeps,
  path: string,
  oid: string,
  { limit, skip = 0 }: { limit: number; skip?: number },
): Promise<Commit[]> {
  const release = await shortSlots.acquire({ repository: path });
  let ids: string[];
  try {
    const argv = [`--git-dir=${path}`, 'rev-list', `--max-count=${limit}`, `--skip=${skip}`, checked(oid), '--'];
    const { code, output, errorText } = await runner.run(
      { argv, timeLimitMs: limits.shortMs, memoryLimitBytes: limits.readMemoryBytes },
      limits.shortOutputBytes,
    );
    if (code !== 0 && /bad object|not a commit/.test(errorText)) throw missing();
    if (code !== 0) throw internal('git could not list commits', { cause: { code, errorText } });
    ids = output
      .toString('latin1')
      .split('\n')
      .filter((line) => line !== '');
  } finally {
    release();
  }
  return readers.use(path, (reader) => Promise.all(ids.map((id) => readCommit(reader, id))));
}

/** Throws unless `oid` is a full object id; only those are passed to git as arguments. */
export function checked(oid: string): string {
  if (!isWholeId(oid)) throw invalid('invalid_object_id', 'This is not a full object ID.');
  return oid;
}

const tooLarge = () => invalid('object_too_large', 'This is too large to show.');

export async function readCommit(reader: ObjectReader, oid: string): Promise<Commit> {
  const object = await readObject(reader, oid, 'commit', maxCommitBytes);
  return parseCommit(object.oid, object.content);
}

export async function readObject(
  reader: ObjectReader,
  oid: string,
  type: string,
  maxBytes: number,
): Promise<GitObject> {
  // Commits and trees are small: requesting the content at once saves a round trip, and content beyond the limit is
  // dropped.
  if (type === 'blob' && ((await reader.infos([checked(oid)]))[0]?.size ?? 0) > maxBytes) throw tooLarge();
  return readNamed(reader, checked(oid), type, maxBytes);
}

/**
 * @param name an object id, optionally with a suffix that leads to another object
 */
async function readNamed(reader: ObjectReader, name: string, type: string, maxBytes: number): Promise<GitObject> {
  const object = await reader.object(name, { maxBytes });
  if (object?.type !== type) throw missing();
  if (object.size > maxBytes) throw tooLarge();
  return object;
}

/** The entry at a path below a tree; null if there is none. */
export async function entryBelow(reader: ObjectReader, rootOid: string, path: Buffer): Promise<TreeEntry | null> {
  return find(reader, rootOid, path).catch(nullIfNotFound);
}

/** The entry at a path below a tree or commit; null for the root itself. */
async function find(reader: ObjectReader, root: string, path: string | Buffer): Promise<TreeEntry | null> {
  const names = components(path);
  const name = names.pop();
  if (name === undefined) return null;
  const { oid, content } = await readFolder(reader, root, names);
  const entry = findEntry(content, oid.length / 2, name);
  if (entry === null) throw missing();
  return parseTree(entry, oid.length / 2, 1).entries[0]!;
}

/** One round trip if git can resolve the path; otherwise one per folder. */
async function readFolder(reader: ObjectReader, root: string, names: readonly Buffer[]): Promise<GitObject> {
  const path = names.map((name) => name.toString('latin1')).join('/');
  if (isNameable(path)) return readNamed(reader, `${root}:${path}`, 'tree', maxTreeBytes);
  let folder = await readNamed(reader, `${root}:`, 'tree', maxTreeBytes);
  for (const name of names) {
    const entry = findEntry(folder.content, folder.oid.length / 2, name);
    const [found] = entry === null ? [] : parseTree(entry, folder.oid.length / 2, 1).entries;
    if (found?.kind !== 'folder') throw missing();
    folder = await readNamed(reader, found.oid, 'tree', maxTreeBytes);
  }
  return folder;
}

function components(path: string | Buffer): Buffer[] {
  const text = typeof path === 'string' ? Buffer.from(path).toString('latin1') : path.toString('latin1');
  return text
    .split('/')
    .filter((part) => part !== '')
    .map((part) => Buffer.from(part, 'latin1'));
}

async function addSizes(reader: ObjectReader, entries: TreeEntry[]): Promise<void> {
  const blobs = entries.filter(({ type }) => type === 'blob');
  const infos = await reader.infos(blobs.map(({ oid }) => oid));
  for (const [at, entry] of blobs.entries()) entry.size = infos[at]?.size ?? null;
}
