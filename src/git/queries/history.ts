import { isUtf8 } from 'node:buffer';
import { checked, readCommit } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import type { ObjectReader } from '../objects/object-reader.ts';
import type { Commit } from '../objects/parse-objects.ts';
import { linesOf, pageLimitMs } from './query-git.ts';
import { walkPathHistory } from '../last-commits/path-history.ts';
import { listDiff } from './list-diff.ts';
import { lineSplitter, readGit } from './read-git.ts';

export interface HistoryRequest {
  /** Where the walk begins. */
  oid: string;
  /** Only commits that changed this file or folder; empty for all. */
  file: Buffer;
  /** Only commits whose author name or address contains this text, ignoring case. */
  author?: string | null;
  /** Only commits whose message contains this text, ignoring case. */
  message?: string | null;
  /** Only commits with a committer date in this range: epoch milliseconds. */
  since?: number | undefined;
  until?: number | undefined;
  /** The last commit of the previous page. */
  after?: string | null;
  /** Number of commits to skip. */
  skip?: number;
  limit: number;
  signal?: AbortSignal | undefined;
}

export interface HistoryEntry {
  commit: Commit;
  /** The file's name at that commit. */
  file: Buffer;
  /** Whether the file existed: a commit that removed it also belongs to its history. */
  isThere: boolean;
}

export interface History {
  entries: HistoryEntry[];
  hasMore: boolean;
  /** Whether git ran out of time, so that there may be more. */
  cutShort: boolean;
}

/** Limit of renames followed in one history. */
const maxMoves = 20;

/**
 * The commits that changed a branch, a folder or a file, newest first. Follows renames of a file: if its history ends
 * in a rename, the walk continues under the old name. (Plain limited walks use changed-path Bloom filters; `--follow`
 * would compare every commit of the repository.) Throws `git_busy`, `revision_not_found`.
 */
export async function history(
  deps: BrowseDeps & { listMoves: ListMoves },
  path: string,
  request: HistoryRequest,
): Promise<History> {
  const found: { oid: string; file: Buffer }[] = [];
  let skipping = request.after ?? null;
  let passed = 0;
  let [from, file, cutShort] = [request.oid, request.file, false];
  for (let moves = 0; moves <= maxMoves; moves += 1) {
    let oldest: string | null = null;
    const whole = await walk(deps, path, { ...request, oid: from, file }, (oid) => {
      oldest = oid;
      if (skipping === null && passed < (request.skip ?? 0)) passed += 1;
      else if (skipping === null) found.push({ oid, file });
      else if (oid === skipping) skipping = null;
      return found.length <= request.limit;
    });
    cutShort ||= !whole && found.length <= request.limit;
    if (!whole || file.length === 0) break;
    // The filters may skip the commit that gave the file its name.
    if (filterArguments(request).length > 0)
      await walk(deps, path, { oid: from, file, signal: request.signal }, (oid) => ((oldest = oid), true));
    const move = oldest === null ? null : await movedBy(deps, path, oldest, file);
    if (move === null) break;
    ({ from, file } = move);
  }
  const entries = found.slice(0, request.limit);
  const [commits, there] = await deps.readers.use(path, (reader) =>
    Promise.all([Promise.all(entries.map(({ oid }) => readCommit(reader, oid))), areThere(reader, entries)]),
  );
  return {
    entries: entries.map((entry, at) => ({ commit: commits[at]!, file: entry.file, isThere: there[at]! })),
    hasMore: found.length > request.limit,
    cutShort,
  };
}

/** Which of the files exist in their commits, in one round trip. */
async function areThere(reader: ObjectReader, entries: readonly { oid: string; file: Buffer }[]): Promise<boolean[]> {
  // A name that is not a single line of text counts as existing.
  const names = entries.map(({ oid, file }) =>
    file.length === 0 || file.includes(0x0a) || !isUtf8(file) ? null : `${oid}:${file.toString()}`,
  );
  const infos = await reader.infos(names.filter((name) => name !== null));
  let at = 0;
  return names.map((name) => name === null || infos[at++] !== null);
}

/** The arguments for filtering commits. */
const filterArguments = ({ author, message, since, until }: Partial<HistoryRequest>): string[] => [
  ...(author || message ? ['--fixed-strings', '--regexp-ignore-case'] : []),
  // git requires a match of both, if both are given.
  ...(author ? [`--author=${author}`] : []),
  ...(message ? [`--grep=${message}`] : []),
  ...(since === undefined ? [] : [`--since=${Math.floor(since / 1000)}`]),
  ...(until === undefined ? [] : [`--until=${Math.floor(until / 1000)}`]),
];

async function walk(
  deps: BrowseDeps,
  path: string,
  request: Omit<HistoryRequest, 'limit'>,
  take: (oid: string) => boolean,
): Promise<boolean> {
  const { oid, file, signal } = request;
  const filters = filterArguments(request);
  if (file.length > 0 && filters.length === 0) {
    const isWhole = await walkPathHistory(
      deps,
      path,
      { oid: checked(oid), file, timeLimitMs: pageLimitMs, signal },
      take,
    );
    if (isWhole !== null) return isWhole;
  }
  const argv = [
    'rev-list',
    ...filters,
    checked(oid),
    '--',
    // Bytes that are not UTF-8 cannot be an argument of a process; such a file shows the history of its folder.
    ...(file.length > 0 ? [pathArgument(file)] : []),
  ];
  const lines = lineSplitter(0x0a, (line) => take(line.toString('latin1')));
  return readGit(deps, path, argv, lines.feed, { signal });
}

/** The previous paths of files that a commit renamed or copied, by their new path, one character per byte. */
export type Moves = ReadonlyMap<string, Buffer>;

/** Compares a commit with its parent; results for the same two ids can be cached. */
type ListMoves = (path: string, parent: string, oid: string) => Promise<Moves>;

export async function listMoves(deps: BrowseDeps, path: string, parent: string, oid: string): Promise<Moves> {
  const { files } = await listDiff(deps, path, { from: parent, to: oid }, { countsLines: false });
  const moved = files.filter(({ status }) => status === 'renamed' || status === 'copied');
  // If two have the same path, the first counts.
  return new Map(moved.toReversed().map(({ newPath, oldPath }) => [newPath.toString('latin1'), oldPath]));
}

/** The previous path of a file that a commit renamed, or null if the commit added it. */
async function movedBy(
  deps: BrowseDeps & { listMoves: ListMoves },
  path: string,
  oid: string,
  file: Buffer,
): Promise<{ from: string; file: Buffer } | null> {
  const { parents } = await deps.readers.use(path, (reader) => readCommit(reader, oid));
  const [parent] = parents;
  if (parent === undefined) return null;
  // One comparison serves all files from the same commit.
  const from = (await deps.listMoves(path, parent, oid)).get(file.toString('latin1'));
  return from === undefined ? null : { from: parent, file: from };
}

/** The longest prefix of a path that can be an argument of a process. */
export function pathArgument(file: Buffer): string {
  const parts = file.toString('latin1').split('/');
  while (parts.length > 1 && !isText(parts.join('/'))) parts.pop();
  return Buffer.from(parts.join('/'), 'latin1').toString('utf8');
}

const isText = (latin1: string): boolean => {
  const bytes = Buffer.from(latin1, 'latin1');
  return Buffer.from(bytes.toString('utf8')).equals(bytes);
};

/** Number of commits reachable from a commit, including itself. */
export async function countCommits(deps: BrowseDeps, path: string, oid: string): Promise<number | null> {
  let text = '';
  const whole = await readGit(
    deps,
    path,
    ['rev-list', '--count', checked(oid), '--'],
    (chunk) => ((text += chunk.toString('latin1')), true),
  );
  return whole ? Number(linesOf(Buffer.from(text))[0]) : null;
}
