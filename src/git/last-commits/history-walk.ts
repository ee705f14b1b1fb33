import { setImmediate as otherWork } from 'node:timers/promises';
import type { BrowseDeps } from '../objects/browse.ts';
import { CompareTrees, OutOfTime } from './compare-trees.ts';
import type { CommitFacts, Sought } from './commit-graph.ts';
import { CommitSource } from './commit-source.ts';
import { LazySlot } from './lazy-slot.ts';
import { hashesOf } from './bloom-filter.ts';
import type { PathHashes } from './bloom-filter.ts';

interface WalkRequest<Row> {
  oid: string;
  folder: Buffer;
  /** The entries of the folder, one character per byte. */
  names: readonly string[];
  /** Commits with stored rows for the same folder, and those rows; null if they were removed. */
  storedAt: ReadonlySet<string>;
  stored(oid: string): Promise<ReadonlyMap<string, Row> | null>;
  /** Called for every entry as soon as its commit is known. */
  found(name: string, oid: string): void;
  /** Called for every entry with a stored row. */
  foundStored(name: string, row: Row): void;
  timeLimitMs: number;
  /** Called to get a slot before the walk starts a process of its own; it may throw. */
  enter(): Promise<() => void>;
}

/** Number of comparisons made ahead along first parents; it grows with the length of the walk. */
const ahead = { first: 4, most: 1_024, onSideBranch: 4 };
/** Distance in commits up to which comparisons are collected. */
const stepsAhead = { most: 20_000, onSideBranch: 64 };
/** Limit of unused comparison results; those of abandoned paths are dropped first. */
const maxResults = 8_192;
/** Number of commits after which the walk yields to the event loop. */
const commitsPerYield = 1_000;

/**
 * Finds the commit that last changed each entry of a folder: the output of `git log -1 -- <entry>` for all entries in
 * one walk. Every entry starts at the tip. At each commit it moves to the first parent in which it has the same mode
 * and id, and ends if there is none: git's own history simplification, merges included. So an entry takes exactly one
 * path through history, commits on no entry's path are never read, and a stored table on the path gives the row at
 * once. Children are visited before parents, so that entries travel together. The Bloom filters of the commit-graph
 * rule out most commits. Returns whether every entry was found in time. Throws `git_busy`.
 */
export async function walkLastCommits<Row>(
  deps: BrowseDeps,
  path: string,
  request: WalkRequest<Row>,
): Promise<boolean> {
  const { folder, oid, timeLimitMs } = request;
  const slot = new LazySlot(() => request.enter());
  const { enter } = slot;
  const history = await CommitSource.open(deps, path, { oid, timeLimitMs, enter });
  const compare = new CompareTrees(deps, path, { folder, timeLimitMs, enter });
  try {
    return await new Walk(request, history, compare).run();
  } catch (error) {
    if (error instanceof OutOfTime) return false;
    throw error;
  } finally {
    await Promise.all([history.close(), compare.close()]);
    await slot.leave();
  }
}

/** Entries that have reached a commit. */
interface Stop {
  facts: CommitFacts;
  names: string[];
}

class Walk<Row> {
  readonly #request: WalkRequest<Row>;
  readonly #history: CommitSource;
  readonly #compare: CompareTrees;
  readonly #stops = new Map<string, Stop>();
  /** The ids of `#stops`, children before their parents. */
  readonly #order = new Heap();
  readonly #hashes = new Map<string, PathHashes>();
  /** Hashes of the folder itself: it changes whenever one of its entries does. */
  readonly #folderHashes: PathHashes;
  /** Prefetched comparison results, by commit and parent. */
  readonly #comparisons = new Map<string, ReadonlySet<string> | null>();
  readonly #until: number;
  #pending: number;
  #ahead = ahead.first;

  constructor(request: WalkRequest<Row>, history: CommitSource, compare: CompareTrees) {
    this.#request = request;
    this.#history = history;
    this.#compare = compare;
    this.#until = performance.now() + request.timeLimitMs;
    this.#pending = request.names.length;
    this.#folderHashes = request.folder.length === 0 ? null : hashesOf(request.folder.toString('latin1'));
    const prefix = request.folder.length === 0 ? '' : `${request.folder.toString('latin1')}/`;
    for (const name of request.names) this.#hashes.set(name, hashesOf(prefix + name));
  }

  async run(): Promise<boolean> {
    const { oid, names } = this.#request;
    await this.#handOn(oid, [...names]);
    for (let visited = 1; this.#order.size > 0; visited += 1) {
      if (visited % commitsPerYield === 0) {
        await otherWork();
        if (performance.now() > this.#until) return false;
      }
      const at = this.#order.pop();
      const stop = this.#stops.get(at)!;
      this.#stops.delete(at);
      await this.#leave(stop);
    }
    return true;
  }

  async #leave({ facts, names }: Stop): Promise<void> {
    let left = await this.#applyStored(facts.oid, names);
    for (const parent of facts.parents) {
      if (left.length === 0) return;
      const differing = await this.#differing(facts, parent, left);
      // Null means that the folder does not exist there, so no entry is the same.
      if (differing === null) continue;
      await this.#handOn(
        parent,
        left.filter((name) => !differing.has(name)),
      );
      left = left.filter((name) => differing.has(name));
    }
    for (const name of left) this.#request.found(name, facts.oid);
    this.#pending -= left.length;
  }

  async #applyStored(oid: string, names: string[]): Promise<string[]> {
    const rows = this.#request.storedAt.has(oid) ? await this.#request.stored(oid) : null;
    if (!rows) return names;
    const left = names.filter((name) => {
      const known = rows.get(name);
      if (known !== undefined) this.#request.foundStored(name, known);
      return known === undefined;
    });
    this.#pending -= names.length - left.length;
    return left;
  }

  async #handOn(oid: string, names: string[]): Promise<void> {
    if (names.length === 0) return;
    // Skips commits that surely did not change them, but stops where other entries wait to be merged.
    const until = {
      generation: this.#order.top?.generation ?? 0,
      commits: this.#request.storedAt,
      steps: stepsAhead.most,
    };
    const facts = this.#history.follow(oid, this.#soughtFor(names), until) ?? (await this.#history.facts(oid));
    const there = this.#stops.get(facts.oid);
    if (there) {
      for (const name of names) there.names.push(name);
      return;
    }
    this.#stops.set(facts.oid, { facts, names });
    this.#order.push(facts);
  }

  /** Null if a name has no reliable hash. */
  #soughtFor(names: readonly string[]): Sought | null {
    const hashes: (readonly [number, number])[] = [];
    for (const name of names) {
      const known = this.#hashes.get(name)!;
      if (known === null) return null;
      hashes.push(known);
    }
    return { folder: this.#folderHashes, names: hashes };
  }

  /** The names that differ in a parent. */
  async #differing(facts: CommitFacts, parent: string, names: readonly string[]): Promise<ReadonlySet<string> | null> {
    const key = keyOf(facts, parent);
    if (!this.#comparisons.has(key)) {
      await this.#compareTrees([[facts, await this.#history.facts(parent)], ...this.#likelyNext(parent, names)]);
    }
    const comparison = this.#comparisons.get(key)!;
    this.#comparisons.delete(key);
    return comparison;
  }

  /** The comparisons needed if all names follow first parents, as far as the graph reaches. */
  #likelyNext(start: string, names: readonly string[]): [CommitFacts, CommitFacts][] {
    // A few entries on a side branch are soon found or merged back.
    const isOnSideBranch = names.length * 2 < this.#pending;
    const mostPairs = isOnSideBranch ? ahead.onSideBranch : this.#ahead;
    const mostSteps = isOnSideBranch ? stepsAhead.onSideBranch : stepsAhead.most;
    if (!isOnSideBranch) this.#ahead = Math.min(this.#ahead * 2, ahead.most);
    const pairs: [CommitFacts, CommitFacts][] = [];
    const sought = this.#soughtFor(names);
    const until = { generation: 0, commits: this.#request.storedAt, steps: mostSteps };
    let facts = this.#history.follow(start, sought, until);
    while (facts !== null && pairs.length < mostPairs && !until.commits.has(facts.oid)) {
      const [first] = facts.parents;
      const parent: CommitFacts | null = first === undefined ? null : this.#history.atOnce(first);
      // Has rejoined a path that was compared already, so the rest is known.
      if (parent === null || this.#comparisons.has(keyOf(facts, parent.oid))) break;
      pairs.push([facts, parent]);
      facts = this.#history.follow(parent.oid, sought, until);
    }
    return pairs;
  }

  async #compareTrees(pairs: readonly [CommitFacts, CommitFacts][]): Promise<void> {
    const commits = [...new Map(pairs.flat().map((facts) => [facts.oid, facts])).values()];
    const found = await this.#compare.folderTrees(commits);
    const trees = new Map(commits.map(({ oid }, index) => [oid, found[index]!]));
    const nothing = new Set<string>();
    const differing: { key: string; tree: string; parent: string }[] = [];
    for (const [commit, parent] of pairs) {
      const key = keyOf(commit, parent.oid);
      const [tree, before] = [trees.get(commit.oid) ?? null, trees.get(parent.oid) ?? null];
      if (tree === null || before === null) this.#comparisons.set(key, null);
      else if (tree === before) this.#comparisons.set(key, nothing);
      else differing.push({ key, tree, parent: before });
    }
    const comparisons = await this.#compare.differences(differing);
    for (const [index, { key }] of differing.entries()) this.#comparisons.set(key, comparisons[index]!);
    for (const oldest of this.#comparisons.keys()) {
      if (this.#comparisons.size <= Math.max(maxResults, pairs.length)) break;
      this.#comparisons.delete(oldest);
    }
  }
}

const keyOf = ({ oid }: CommitFacts, parent: string): string => `${oid} ${parent}`;

/** Priority queue of commits: highest generation first, then latest date. */
class Heap {
  readonly #items: CommitFacts[] = [];

  get size(): number {
    return this.#items.length;
  }

  get top(): CommitFacts | undefined {
    return this.#items[0];
  }

  push(facts: CommitFacts): void {
    const items = this.#items;
    let at = items.push(facts) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (!isBefore(items[at]!, items[above]!)) break;
      [items[at], items[above]] = [items[above]!, items[at]!];
      at = above;
    }
  }

  pop(): string {
    const items = this.#items;
    const { oid } = items[0]!;
    const last = items.pop()!;
    if (items.length === 0) return oid;
    items[0] = last;
    for (let at = 0; ; ) {
      let best = at;
      for (const below of [2 * at + 1, 2 * at + 2])
        if (below < items.length && isBefore(items[below]!, items[best]!)) best = below;
      if (best === at) return oid;
      [items[at], items[best]] = [items[best]!, items[at]!];
      at = best;
    }
  }
}

const isBefore = (a: CommitFacts, b: CommitFacts): boolean =>
  a.generation > b.generation || (a.generation === b.generation && a.seconds > b.seconds);
