import path from 'node:path';
import type { Readable } from 'node:stream';
import type { Logger } from '../../kernel/index.ts';
import { createLastCommits } from '../last-commits/last-commits.ts';
import type { LastCommits, LastCommitsRequest } from '../last-commits/last-commits.ts';
import { createLastCommitCache } from '../last-commits/last-commit-cache.ts';
import type { RefCache } from '../ref-cache/ref-cache.ts';
import { blame } from './blame.ts';
import type { Blame } from './blame.ts';
import { blob, commit, head, readCommit, tree } from '../objects/browse.ts';
import type { Blob, Head, RevisionOptions, Tree } from '../objects/browse.ts';
import type { Commit } from '../objects/parse-objects.ts';
import { walkDistances } from './compare-many.ts';
import { commitsBetween, distance, distanceBetween, isOnBranchOrTag, mergeBase } from './compare-commits.ts';
import type { Divergence } from './compare-commits.ts';
import { grep } from './grep.ts';
import type { Grep, GrepRequest } from './grep.ts';
import { countCommits, history, listMoves } from './history.ts';
import type { History, HistoryRequest } from './history.ts';
import { createArchiveCache } from './archive-cache.ts';
import { lastChange } from './last-change.ts';
import { listDiff } from './list-diff.ts';
import type { ChangedFile, DiffList, DiffRange } from './list-diff.ts';
import { lineChanges } from './line-changes.ts';
import type { LineChanges } from './line-changes.ts';
import { listTree } from './list-tree.ts';
import type { ListedEntry } from './list-tree.ts';
import { listFiles } from './list-files.ts';
import type { ListedFile } from './list-files.ts';
import { resolveRefPath } from './resolve-ref-path.ts';
import type { RefPath } from './resolve-ref-path.ts';
import { readNote } from './read-note.ts';
import { readDiff } from './read-diff.ts';
import type { Diff, DiffRequest } from './read-diff.ts';
import { readPatches, weighPatches } from './read-patches.ts';
import type { Patches, PatchLimits } from './read-patches.ts';
import { readTags } from './read-tag.ts';
import type { AnnotatedTag } from './read-tag.ts';
import type { RefListing } from '../refs/ref-listing.ts';
import { createCachedRefs } from './cached-refs.ts';
import { memoize } from './memoize.ts';
import {
  weighBlame,
  weighBlob,
  weighCommit,
  weighFiles,
  weighFolder,
  weighLastChange,
  weighList,
  weighMoves,
  weighSmall,
} from './weigh-results.ts';
import { mergedTags } from './merged-tags.ts';
import type { MergedTag } from './merged-tags.ts';
import { archive, mailPatch, mailPatches, plainDiff, sourceTar, streamBlob } from './stream-downloads.ts';
import type { ArchiveRequest, SourceRequest, StreamDeps } from './stream-downloads.ts';

/** Queries of pages about a repository, beyond single objects. All throw `git_busy`. */
export interface GitQueries {
  /** Splits `<ref>/<path>`; a full name wins, then the longest ref. Throws `revision_not_found`. */
  resolveRefPath(path: string, rest: Buffer, options?: RevisionOptions & { tagsFirst?: boolean }): Promise<RefPath>;
  /** A folder with the sizes of its files; cached per commit. */
  folder(path: string, oid: string, folder: Buffer, options: { maxEntries: number }): Promise<Tree>;
  /** A commit that pages show often; cached, so it may have been removed meanwhile. */
  keptCommit(path: string, oid: string): Promise<Commit>;
  /** A file that pages show often: a README, a licence; like `objects.blob`, but cached for a while. */
  keptBlob(path: string, oid: string, options: { maxBytes: number }): Promise<Blob>;
  /** Every ref, not for decisions: in repositories that only git can list, up to two seconds old. */
  cachedRefs(path: string): Promise<RefListing>;
  /** The branch of HEAD, cached in the same way; reads no file or object if the ref cache knows it. */
  cachedHead(path: string): Promise<Head>;
  history(path: string, request: HistoryRequest): Promise<History>;
  /** Number of commits reachable from a commit, including itself; null if counting takes too long. */
  countCommits(path: string, oid: string): Promise<number | null>;
  lastCommits(path: string, request: LastCommitsRequest): Promise<LastCommits>;
  listDiff(path: string, range: DiffRange): Promise<DiffList>;
  /** The same with the differing lines, within limits. */
  readDiff(path: string, request: DiffRequest, limits: PatchLimits): Promise<Diff>;
  /** The patches of some listed files; not memoized. */
  readPatches(path: string, range: DiffRange, files: readonly ChangedFile[], limits: PatchLimits): Promise<Patches>;
  /** Line ranges that differ between files, without their text. */
  lineChanges(path: string, range: DiffRange): Promise<LineChanges>;
  /** The commit that last changed a file or folder; null if there is none. */
  lastChange(path: string, oid: string, file: Buffer): Promise<Commit | null>;
  /** Commits in `to` but not in `from`, newest first. */
  commitsBetween(path: string, from: string, to: string, options: { limit: number }): Promise<Commit[]>;
  /** Null if two histories have nothing in common. */
  mergeBase(path: string, one: string, other: string): Promise<string | null>;
  distance(path: string, from: string, to: string): Promise<Divergence>;
  /**
   * The same for each of several commits, by commit; `null` if the distance could not be counted.
   * @param tips at most 31
   */
  distances(path: string, from: string, tips: readonly string[]): Promise<Map<string, Divergence | null>>;
  /** Whether a commit is reachable from a branch or tag; commits of pull requests may not be. Throws `git_busy`. */
  isOnBranchOrTag(path: string, oid: string): Promise<boolean>;
  /** The same for a commit of another repository on this machine. */
  distanceBetween(path: string, from: string, other: string, to: string): Promise<Divergence>;
  /** Throws `blame_too_long`. */
  blame(path: string, oid: string, file: Buffer): Promise<Blame>;
  listFiles(
    path: string,
    oid: string,
    options: { limit: number },
  ): Promise<{ files: ListedFile[]; truncated: boolean }>;
  /** See {@link listTree}. */
  listTree(
    path: string,
    oid: string,
    options: { limit: number; isRecursive: boolean },
  ): Promise<{ entries: ListedEntry[]; truncated: boolean }>;
  /** Searches the files of a commit. Throws `invalid_pattern`. */
  grep(path: string, request: GrepRequest): Promise<Grep>;
  /** The note attached to a commit by `git notes`; null if there is none. */
  note(path: string, oid: string): Promise<string | null>;
  /** Messages of annotated tags; null for lightweight ones. */
  tags(path: string, oids: readonly string[]): Promise<(AnnotatedTag | null)[]>;
  /** All files of a commit; cached on disk. */
  archive(path: string, request: ArchiveRequest): Promise<Readable>;
  /** All files of a commit as an uncompressed tar, which is not cached. */
  archiveAsTar(path: string, request: Omit<ArchiveRequest, 'format'>): Promise<Readable>;
  /** The files of a folder of a commit as an uncompressed tar, for Go modules; see {@link sourceTar}. */
  sourceTar(path: string, request: SourceRequest): Promise<Readable>;
  /**
   * An archive that the caller builds from a commit alone; cached on disk like git's archives.
   * @param request.prefix names it among the archives of the commit; contains a character that folders cannot have
   */
  keepArchive(path: string, request: ArchiveRequest, make: () => Promise<Readable>): Promise<Readable>;
  mergedTags(path: string, oid: string, folder: string): Promise<readonly MergedTag[]>;
  mailPatch(path: string, oid: string): Promise<Readable>;
  mailPatches(path: string, range: { from: string; to: string }): Promise<Readable>;
  plainDiff(path: string, range: DiffRange): Promise<Readable>;
  streamBlob(path: string, oid: string): Promise<Readable>;
}

interface QueryParts {
  reading: GitQueries;
  /** Invalidates caches that depend on refs, after refs of a repository have moved. */
  moved(path: string): void;
  /** Drops all cached data of a removed repository. */
  forget(path: string): Promise<void>;
}

interface QueryOptions {
  dataDir: string;
  lowDiskFloorBytes: number;
  logger: Logger;
  refCache: RefCache;
  /** Called when a caller walks history, which a commit-graph accelerates. */
  onHistoryRead(repository: string): void;
}

const mebibyte = 1024 * 1024;
/** For results of a few numbers. */
const few = { maxBytes: 2 * mebibyte, weigh: weighSmall };
const archiveLimits = { most: 1024 ** 3, mostEach: 256 * 1024 ** 2 };

export function createGitQueries(
  deps: StreamDeps,
  { dataDir, lowDiskFloorBytes, logger, refCache, onHistoryRead }: QueryOptions,
): QueryParts {
  const tables = createLastCommitCache(path.join(dataDir, 'cache', 'last-commits'));
  const refs = createCachedRefs(refCache);
  const archives = createArchiveCache(path.join(dataDir, 'cache', 'archives'), { ...archiveLimits, lowDiskFloorBytes });
  const lastCommits = createLastCommits(deps, tables, logger);
  const commitsOf = (target: string, ids: readonly string[]) =>
    deps.readers.use(target, (reader) => Promise.all(ids.map((oid) => readCommit(reader, oid))));

  const diffLists = memoize((target: string, range: DiffRange) => listDiff(deps, target, range), {
    maxBytes: 16 * mebibyte,
    weigh: weighList,
  });

  const moves = memoize((target: string, parent: string, oid: string) => listMoves(deps, target, parent, oid), {
    maxBytes: 4 * mebibyte,
    weigh: weighMoves,
  });

  const distanceOf = memoize((target: string, from: string, to: string) => distance(deps, target, from, to), few);
  const distancesOf = memoize(
    (target: string, from: string, tips: readonly string[]) => walkDistances(deps, target, from, tips),
    { maxBytes: 2 * mebibyte, weigh: ({ size }) => size * 200 },
  );

  const reading: GitQueries = {
    resolveRefPath: (target, rest, options) => resolveRefPath(deps, target, rest, options),
    folder: memoize(
      (target, oid, folder, { maxEntries }) => tree(deps, target, oid, folder, { maxEntries, withSizes: true }),
      { maxBytes: 16 * mebibyte, weigh: weighFolder },
    ),
    keptCommit: memoize((target, oid) => commit(deps, target, oid), { maxBytes: 2 * mebibyte, weigh: weighCommit }),
    keptBlob: memoize((target, oid, { maxBytes }) => blob(deps, target, oid, { maxBytes }), {
      maxBytes: 4 * mebibyte,
      weigh: weighBlob,
    }),
    cachedRefs: refs.read,
    cachedHead: async (target) => (await refs.head(target)) ?? head(deps, target),
    history(target, request) {
      onHistoryRead(target);
      return history({ ...deps, listMoves: moves }, target, request);
    },
    countCommits: memoize((target, oid) => countCommits(deps, target, oid), few),
    lastCommits(target, request) {
      onHistoryRead(target);
      return lastCommits(target, request);
    },
    listDiff: diffLists,
    readDiff: memoize(
      async (target, request, limits) => {
        const list = (range: DiffRange) => diffLists(target, range);
        const diff = await readDiff(deps, target, request, limits, {}, list);
        const { from, to } = request;
        diffLists.put({ files: diff.files, truncated: diff.truncated }, target, { from, to });
        return diff;
      },
      { maxBytes: 32 * mebibyte, weigh: weighPatches },
    ),
    readPatches: (target, range, files, limits) => readPatches(deps, target, range, files, limits),
    lineChanges: (target, range) => lineChanges(deps, target, range),
    lastChange: memoize(
      (target, oid, file) => {
        onHistoryRead(target);
        return lastChange(deps, tables, target, oid, file);
      },
      { maxBytes: 2 * mebibyte, weigh: weighLastChange },
    ),
    commitsBetween: async (target, from, to, { limit }) =>
      commitsOf(target, await commitsBetween(deps, target, from, to, limit)),
    mergeBase: memoize((target, one, other) => mergeBase(deps, target, one, other), few),
    distance: distanceOf,
    distances: (target, from, tips) =>
      distancesOf(target, from, tips).catch(async () => {
        const alone = async (tip: string) => [tip, await distanceOf(target, from, tip).catch(() => null)] as const;
        return new Map(await Promise.all(tips.map(alone)));
      }),
    isOnBranchOrTag: (target, oid) => isOnBranchOrTag(deps, target, oid),
    distanceBetween: memoize((target, from, other, to) => distanceBetween(deps, target, from, other, to), few),
    blame: memoize((target, oid, file) => blame(deps, target, oid, file), {
      maxBytes: 24 * mebibyte,
      weigh: weighBlame,
    }),
    listFiles: memoize((target, oid, options) => listFiles(deps, target, oid, options), {
      maxBytes: 24 * mebibyte,
      weigh: weighFiles,
    }),
    listTree: (target, oid, options) => listTree(deps, target, oid, options),
    grep: (target, request) => grep(deps, target, request),
    note: (target, oid) => readNote(deps, target, oid),
    tags: (target, oids) => readTags(deps, target, oids),
    archive: (target, request) =>
      archives.open(target, request, () => archive(deps, target, request, () => refs.read(target))),
    archiveAsTar: async (target, request) =>
      (await archive(deps, target, { ...request, format: 'tar' }, () => refs.read(target))).stream,
    sourceTar: (target, request) => sourceTar(deps, target, request),
    keepArchive: (target, request, make) =>
      archives.open(target, request, async () => ({ stream: await make(), isLasting: true })),
    mergedTags: (target, oid, folder) => mergedTags(deps, target, oid, folder),
    mailPatch: (target, oid) => mailPatch(deps, target, oid),
    mailPatches: (target, range) => mailPatches(deps, target, range),
    plainDiff: (target, range) => plainDiff(deps, target, range),
    streamBlob: (target, oid) => streamBlob(deps, target, oid),
  };
  return {
    reading,
    moved(target) {
      refs.forget(target);
    },
    async forget(target) {
      refs.forget(target);
      await Promise.all([tables.forget(target), archives.forget(target)]);
    },
  };
}
