import type { Readable, Writable } from 'node:stream';
import { freeMemory, internal } from '../../kernel/index.ts';
import { entryBelow, maxTreeBytes } from '../objects/browse.ts';
import type { BrowseDeps } from '../objects/browse.ts';
import { isNameable } from '../objects/find-entry.ts';
import type { GitObject, ObjectReader } from '../objects/object-reader.ts';
import type { GitProcess } from '../processes/git-runner.ts';
import { heldBytes } from '../processes/watch-limits.ts';
import type { CommitFacts } from './commit-graph.ts';

/** Two versions of a folder, as tree ids. */
interface TreePair {
  tree: string;
  parent: string;
}

/** The walk reached its time limit while git compared trees. */
export class OutOfTime extends Error {}

/** Null for a folder that does not exist. */
type FolderTree = string | null;

/** Limits in pairs and in bytes of trees, above which starting a process is cheaper. */
const pairsForProcess = 48;
const bytesForProcess = 512 * 1024;
/**
 * git keeps every tree that it has read. A process is replaced when it holds this much more than a new one: a single
 * process for a long history took 210 MB, none of which was needed again.
 */
const defaultHeldBytes = 24 * 1024 * 1024;

/**
 * Finds the entries in which versions of one folder differ by mode or id: a few pairs by reading both trees, many by
 * one `git diff-tree`.
 */
export class CompareTrees {
  readonly #deps: BrowseDeps;
  readonly #path: string;
  readonly #folder: Buffer;
  /** Time by `performance.now()` when the shared time limit of all processes ends. */
  readonly #until: number;
  readonly #maxHeldBytes: number;
  readonly #enter: () => Promise<void>;
  /** Cache of parsed trees: a tree of one pair is often also in the next one. */
  readonly #read = new Map<string, Map<string, string>>();
  #readBytes = 0;
  #process: DiffProcess | null = null;

  constructor(
    deps: BrowseDeps,
    path: string,
    {
      folder,
      timeLimitMs,
      enter,
      maxHeldBytes = defaultHeldBytes,
    }: {
      folder: Buffer;
      timeLimitMs: number;
      enter(): Promise<void>;
      /** Memory limit of a process, above which it is replaced. */
      maxHeldBytes?: number;
    },
  ) {
    this.#deps = deps;
    this.#path = path;
    this.#folder = folder;
    this.#until = performance.now() + timeLimitMs;
    this.#maxHeldBytes = maxHeldBytes;
    this.#enter = enter;
  }

  /** The folder's tree in each commit. */
  folderTrees(commits: readonly CommitFacts[]): Promise<FolderTree[]> {
    if (this.#folder.length === 0) return Promise.resolve(commits.map(({ tree }) => tree));
    const name = this.#folder.toString('latin1');
    return this.#deps.readers.use(this.#path, async (reader) => {
      if (!isNameable(name)) return Promise.all(commits.map(({ tree }) => folderBelow(reader, tree, this.#folder)));
      const infos = await reader.infos(commits.map(({ tree }) => `${tree}:${name}`));
      return infos.map((info) => (info?.type === 'tree' ? info.oid : null));
    });
  }

  async differences(pairs: readonly TreePair[]): Promise<Set<string>[]> {
    if (this.#process === null && pairs.length < pairsForProcess && this.#readBytes < bytesForProcess)
      return this.#readBoth(pairs);
    await this.#enter();
    const timeLimitMs = Math.max(1, this.#until - performance.now());
    this.#process ??= new DiffProcess(this.#deps, this.#path, timeLimitMs);
    const results = await this.#process.differences(pairs);
    if ((await this.#process.heldBytes()) > this.#maxHeldBytes) await this.close();
    return results;
  }

  async #readBoth(pairs: readonly TreePair[]): Promise<Set<string>[]> {
    const wanted = new Set(pairs.flatMap(({ tree, parent }) => [tree, parent]));
    for (const oid of this.#read.keys()) if (!wanted.has(oid)) this.#read.delete(oid);
    const missing = [...wanted].filter((oid) => !this.#read.has(oid));
    const read = await this.#deps.readers.use(this.#path, (reader) =>
      reader.mapObjects(missing, (tree) => this.#entriesOf(tree), { maxBytes: maxTreeBytes }),
    );
    for (const [index, oid] of missing.entries()) this.#read.set(oid, read[index]!);
    return pairs.map(({ tree, parent }) => differing(this.#read.get(tree)!, this.#read.get(parent)!));
  }

  #entriesOf(tree: GitObject | null): Map<string, string> {
    if (tree?.type !== 'tree' || tree.size > maxTreeBytes) throw internal('a tree is missing or too large');
    this.#readBytes += tree.size;
    return entriesOf(tree.content, tree.oid.length / 2);
  }

  async close(): Promise<void> {
    const ending = this.#process;
    this.#process = null;
    await ending?.close();
  }
}

async function folderBelow(reader: ObjectReader, root: string, folder: Buffer): Promise<FolderTree> {
  const entry = await entryBelow(reader, root, folder);
  return entry?.kind === 'folder' ? entry.oid : null;
}

/** By name: mode and id, one character per byte. */
function entriesOf(content: Buffer, oidBytes: number): Map<string, string> {
  const entries = new Map<string, string>();
  const text = content.toString('latin1');
  for (let at = 0; at < text.length; ) {
    const space = text.indexOf(' ', at);
    const nul = text.indexOf('\0', space);
    if (space === -1 || nul === -1) throw internal('a tree object is damaged');
    const end = nul + 1 + oidBytes;
    entries.set(text.slice(space + 1, nul), text.slice(at, space + 1) + text.slice(nul + 1, end));
    at = end;
  }
  return entries;
}

function differing(tree: ReadonlyMap<string, string>, parent: ReadonlyMap<string, string>): Set<string> {
  const names = new Set<string>();
  // Entries that exist only in the parent are not needed.
  for (const [name, entry] of tree) if (parent.get(name) !== entry) names.add(name);
  return names;
}

const mark = 'done\n';

/** One `git diff-tree` process that compares many pairs of trees, many per batch. */
class DiffProcess {
  readonly #git: GitProcess;
  readonly #stdin: Writable;
  readonly #chunks: AsyncIterator<Buffer>;

  constructor({ runner, limits }: BrowseDeps, path: string, timeLimitMs: number) {
    this.#git = runner.start({
      argv: [`--git-dir=${path}`, 'diff-tree', '--stdin', '--raw', '-z', '--no-abbrev', '--no-renames'],
      takesInput: true,
      timeLimitMs,
      memoryLimitBytes: limits.readMemoryBytes,
      yields: true,
    });
    this.#stdin = this.#git.stdin!;
    this.#chunks = (this.#git.stdout as Readable)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  heldBytes(): Promise<number> {
    return heldBytes(this.#git.pid);
  }

  async differences(pairs: readonly TreePair[]): Promise<Set<string>[]> {
    if (pairs.length === 0) return [];
    // git prints a line that is not an object id unchanged and flushes everything before it.
    const sent = new Promise<void>((resolve) =>
      this.#stdin.write(`${pairs.map(({ tree, parent }) => `${parent} ${tree}\n`).join('')}${mark}`, () => resolve()),
    );
    const results = await this.#read(pairs.length);
    await sent;
    return results;
  }

  /**
   * Each result is a line with both ids; each difference then has a field of modes and ids and a field with the name.
   */
  async #read(count: number): Promise<Set<string>[]> {
    const results: Set<string>[] = [];
    let text = '';
    for (;;) {
      const { value, done } = await this.#chunks.next();
      if (done === true) {
        if ((await this.#git.exited).stoppedBy === 'time_limit') throw new OutOfTime();
        throw internal('git stopped comparing trees', { cause: this.#git.stderrText() });
      }
      text += value.toString('latin1');
      freeMemory(value);
      let at = 0;
      for (;;) {
        if (text[at] === ':') {
          const name = text.indexOf('\0', at) + 1;
          const end = name === 0 ? -1 : text.indexOf('\0', name);
          if (end === -1) break;
          results.at(-1)?.add(text.slice(name, end));
          at = end + 1;
          continue;
        }
        const end = text.indexOf('\n', at);
        if (end === -1) break;
        if (text.slice(at, end + 1) === mark) {
          if (results.length !== count) throw internal('git compared other trees than it was asked to');
          return results;
        }
        results.push(new Set());
        at = end + 1;
      }
      text = text.slice(at);
    }
  }

  async close(): Promise<void> {
    this.#git.stop('aborted');
    await this.#git.exited;
  }
}
