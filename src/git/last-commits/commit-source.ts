import type { Readable } from 'node:stream';
import { freeMemory } from '../../kernel/index.ts';
import { checked, readCommit } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import type { GitProcess } from '../processes/git-runner.ts';
import { openCommitGraph } from './commit-graph.ts';
import type { CommitFacts, CommitGraph, Sought, Until } from './commit-graph.ts';

/** Generation of commits that are newer than the graph: above every generation in it. */
const newest = 0xffffffff;
/** Number of commits beyond the graph that are read one by one; with more, git lists all of them. */
const maxSingle = 32;
/** Limit of listed commits held for later use; the oldest are dropped first, as they were never on the path. */
const maxWaiting = 100_000;
const leastListed = 2_000;

interface WalkStart {
  oid: string;
  timeLimitMs: number;
  /** Awaited before a process is started; it may throw. */
  enter(): Promise<void>;
}

/**
 * Commits with their parents, from the cheapest available source: the commit-graph, the object reader, or `git
 * rev-list` if the graph covers too little.
 */
export class CommitSource {
  readonly #deps: BrowseDeps;
  readonly #path: string;
  readonly #graph: CommitGraph | null;
  readonly #from: WalkStart;
  #single = 0;
  #list: ListedCommits | null = null;

  private constructor(deps: BrowseDeps, path: string, graph: CommitGraph | null, from: WalkStart) {
    this.#deps = deps;
    this.#path = path;
    this.#graph = graph;
    this.#from = from;
  }

  static async open(deps: BrowseDeps, path: string, from: WalkStart): Promise<CommitSource> {
    return new CommitSource(deps, path, deps.limits.readCommitGraph ? await openCommitGraph(path) : null, from);
  }

  get hasGraph(): boolean {
    return this.#graph !== null;
  }

  /** The commit if it is known without waiting. */
  atOnce(oid: string): CommitFacts | null {
    return this.#graph?.find(oid) ?? this.#list?.peek(oid) ?? null;
  }

  /** Follows first parents while the entries surely stay unchanged; see `CommitGraph`. */
  follow(oid: string, sought: Sought | null, until: Until): CommitFacts | null {
    return sought === null ? this.atOnce(oid) : (this.#graph?.follow(oid, sought, until) ?? this.atOnce(oid));
  }

  /** Throws `revision_not_found`. */
  async facts(oid: string): Promise<CommitFacts> {
    const known = this.atOnce(oid);
    if (known) return known;
    if (this.#single >= maxSingle) {
      await this.#from.enter();
      this.#list ??= new ListedCommits(this.#deps, this.#path, this.#from);
      const listed = await this.#list.find(oid);
      if (listed) return listed;
    }
    this.#single += 1;
    const { tree, parents, committer } = await this.#deps.readers.use(this.#path, (reader) => readCommit(reader, oid));
    return { oid, tree, parents, generation: newest, seconds: committer.at / 1_000 };
  }

  async close(): Promise<void> {
    await this.#list?.close();
  }
}

/** `git rev-list`, read only as far as needed. */
class ListedCommits {
  readonly #git: GitProcess;
  readonly #chunks: AsyncIterator<Buffer>;
  /** In the order of the list. Not the kernel's cache, because reading a commit must not change the order. */
  readonly #waiting = new Map<string, CommitFacts>();
  #rest = '';
  #ended = false;

  constructor({ runner, limits }: BrowseDeps, path: string, { oid, timeLimitMs }: WalkStart) {
    this.#git = runner.start({
      argv: [`--git-dir=${path}`, 'rev-list', '--no-commit-header', '--format=%H %T %ct %P', checked(oid), '--'],
      timeLimitMs,
      memoryLimitBytes: limits.readMemoryBytes,
      yields: true,
    });
    this.#chunks = (this.#git.stdout as Readable)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  peek(oid: string): CommitFacts | null {
    return this.#waiting.get(oid) ?? null;
  }

  async find(oid: string): Promise<CommitFacts | null> {
    if (!this.#waiting.has(oid)) {
      // Reads ahead, so that the next comparisons can be batched.
      const enough = Math.min(Math.max(leastListed, 2 * this.#waiting.size), maxWaiting / 2);
      while ((!this.#waiting.has(oid) || this.#waiting.size < enough) && !this.#ended) await this.#readMore();
    }
    return this.#waiting.get(oid) ?? null;
  }

  async #readMore(): Promise<void> {
    // A stopped process ends its list: the rest is read one by one while the walk has time.
    const next = await this.#chunks.next().catch(() => ({ done: true, value: undefined }) as const);
    this.#ended = next.done === true;
    const lines = (this.#rest + (next.done === true ? '' : next.value.toString('latin1'))).split('\n');
    if (next.done !== true) freeMemory(next.value);
    this.#rest = lines.pop()!;
    for (const line of lines) {
      const [oid = '', tree = '', seconds = '', ...parents] = line.split(' ');
      this.#waiting.set(oid, {
        oid,
        tree,
        parents: parents.filter((parent) => parent !== ''),
        generation: newest,
        seconds: Number(seconds),
      });
    }
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= maxWaiting) break;
      this.#waiting.delete(oldest);
    }
  }

  async close(): Promise<void> {
    this.#git.stop('aborted');
    await this.#git.exited;
  }
}
