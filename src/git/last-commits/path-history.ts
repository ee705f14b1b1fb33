import type { BrowseDeps } from '../objects/browse.ts';
import { describeEntry, findEntry, isNameable } from '../objects/find-entry.ts';
import type { GitObject } from '../objects/object-reader.ts';
import { hashesOf } from './bloom-filter.ts';
import type { CommitFacts, Sought } from './commit-graph.ts';
import { CommitSource } from './commit-source.ts';
import { LazySlot } from './lazy-slot.ts';

interface PathHistoryRequest {
  oid: string;
  /** A file or folder; not the root. */
  file: Buffer;
  timeLimitMs: number;
  signal?: AbortSignal | undefined;
}

/** A git process compares larger folders faster. */
const maxFolderBytes = 256 * 1024;
/** Number of folders read at once; it grows with the length of the walk. */
const ahead = { first: 2, most: 16 };
/** Limit of commits that one step passes before it checks the time. */
const maxSteps = 20_000;

/**
 * The commits that changed one path, in the order and with the simplification of `git rev-list <oid> -- <path>`
 * (git-rev-list(1), "Default mode"): a commit with the same entry as one of its parents is left out and only that
 * parent is followed. The commit-graph and its changed-path Bloom filters rule out most commits; the folder is read for
 * the others. A history of 18,000 commits takes a tenth of the CPU time of git's own walk, and no process.
 *
 * Calls `take` with each commit while it returns true. Resolves to whether the walk reached its end, or to null if
 * nothing was taken and git has to walk instead: without a commit-graph, for paths without a reliable hash, and for
 * large folders.
 */
export async function walkPathHistory(
  deps: BrowseDeps,
  path: string,
  request: PathHistoryRequest,
  take: (oid: string) => boolean,
): Promise<boolean | null> {
  const sought = soughtOf(request.file);
  if (sought === null) return null;
  const { oid, timeLimitMs } = request;
  const slot = new LazySlot(() => deps.shortSlots.acquire({ repository: path }));
  const commits = await CommitSource.open(deps, path, { oid, timeLimitMs, enter: slot.enter });
  if (!commits.hasGraph) return null;
  try {
    return await new PathWalk(deps, path, commits, sought, request).run(take);
  } finally {
    await commits.close();
    await slot.leave();
  }
}

/** Null if the path has no reliable hash, or cannot be passed to git. */
function soughtOf(file: Buffer): Sought | null {
  const text = file.toString('latin1');
  const folder = folderOf(text);
  const name = hashesOf(text);
  return name === null || !isNameable(text) ? null : { folder: folder === '' ? null : hashesOf(folder), names: [name] };
}

const folderOf = (file: string): string => file.slice(0, Math.max(file.lastIndexOf('/'), 0));

/** Mode and id of the path in the tree of a commit; empty if it does not exist, null in a large folder. */
type Entry = string | null;

class PathWalk {
  readonly #deps: BrowseDeps;
  readonly #path: string;
  readonly #commits: CommitSource;
  readonly #sought: Sought;
  readonly #request: PathHistoryRequest;
  readonly #folder: string;
  readonly #name: Buffer;
  /** Commits to visit, the latest last. */
  readonly #open: CommitFacts[] = [];
  readonly #seen = new Set<string>();
  readonly #stops = new Map<string, CommitFacts>();
  /** Prefetched entries, by commit. */
  readonly #entries = new Map<string, Entry>();
  readonly #until: number;
  #ahead = ahead.first;

  constructor(deps: BrowseDeps, path: string, commits: CommitSource, sought: Sought, request: PathHistoryRequest) {
    this.#deps = deps;
    this.#path = path;
    this.#commits = commits;
    this.#sought = sought;
    this.#request = request;
    const text = request.file.toString('latin1');
    this.#folder = folderOf(text);
    this.#name = Buffer.from(text.slice(this.#folder === '' ? 0 : this.#folder.length + 1), 'latin1');
    this.#until = performance.now() + request.timeLimitMs;
  }

  async run(take: (oid: string) => boolean): Promise<boolean | null> {
    let hasTaken = false;
    this.#push(await this.#nextStop(this.#request.oid));
    for (let commit = this.#open.pop(); commit !== undefined; commit = this.#open.pop()) {
      this.#request.signal?.throwIfAborted();
      if (performance.now() > this.#until) return hasTaken ? false : null;
      const parents = await this.#parentsToFollow(commit);
      if (parents === 'unknown') return hasTaken ? false : null;
      if (parents === 'changed') {
        hasTaken = true;
        if (!take(commit.oid)) return false;
        for (const parent of commit.parents) this.#push(await this.#nextStop(parent));
      } else parents.forEach((parent) => this.#push(parent));
    }
    return true;
  }

  /** The parent with the same entry; none after a first commit that lacks it. */
  async #parentsToFollow(commit: CommitFacts): Promise<CommitFacts[] | 'changed' | 'unknown'> {
    const entry = await this.#entryAt(commit);
    for (const parent of commit.parents) {
      // From a parent to the next stop the entry surely stays the same.
      const stop = await this.#nextStop(parent);
      const before = await this.#entryAt(stop);
      if (before === null) return 'unknown';
      if (before === entry) return [stop];
    }
    if (entry === null) return 'unknown';
    return commit.parents.length === 0 && entry === '' ? [] : 'changed';
  }

  /** The first commit along first parents that may have changed the entry. */
  async #nextStop(oid: string): Promise<CommitFacts> {
    const known = this.#stops.get(oid);
    if (known !== undefined) return known;
    const until = { generation: 0, commits: noCommits, steps: maxSteps };
    const stop = this.#commits.follow(oid, this.#sought, until) ?? (await this.#commits.facts(oid));
    this.#stops.set(oid, stop);
    return stop;
  }

  /** Commits are visited by date, as in git; with equal dates, in the order in which they were found. */
  #push(commit: CommitFacts): void {
    if (this.#seen.has(commit.oid)) return;
    this.#seen.add(commit.oid);
    let at = this.#open.length;
    while (at > 0 && this.#open[at - 1]!.seconds >= commit.seconds) at -= 1;
    this.#open.splice(at, 0, commit);
  }

  async #entryAt(commit: CommitFacts): Promise<Entry> {
    if (!this.#entries.has(commit.oid)) await this.#readAhead(commit);
    return this.#entries.get(commit.oid) ?? null;
  }

  /** Reads the folder at a commit, and at those likely to be needed next. */
  async #readAhead(from: CommitFacts): Promise<void> {
    const commits = [from];
    for (let commit: CommitFacts | null = from; commits.length < this.#ahead; ) {
      const [first]: readonly string[] = commit.parents;
      if (first === undefined || this.#commits.atOnce(first) === null) break;
      commit = await this.#nextStop(first);
      if (this.#entries.has(commit.oid)) break;
      commits.push(commit);
    }
    this.#ahead = Math.min(this.#ahead * 2, ahead.most);
    const entries = await this.#deps.readers.use(this.#path, (reader) =>
      reader.mapObjects(
        commits.map(({ tree }) => (this.#folder === '' ? tree : `${tree}:${this.#folder}`)),
        (folder) => this.#entryOf(folder),
        { maxBytes: maxFolderBytes },
      ),
    );
    for (const [at, { oid }] of commits.entries()) this.#entries.set(oid, entries[at]!);
  }

  #entryOf(folder: GitObject | null): Entry {
    if (folder?.type !== 'tree') return '';
    if (folder.size > maxFolderBytes) return null;
    const oidBytes = folder.oid.length / 2;
    return describeEntry(findEntry(folder.content, oidBytes, this.#name), oidBytes);
  }
}

const noCommits: ReadonlySet<string> = new Set();
