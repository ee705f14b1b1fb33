import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { cachedBytesLimit, createLru } from '../../kernel/index.ts';
import { mightContain } from './bloom-filter.ts';

/** Commit data that a history walk needs. */
export interface CommitFacts {
  oid: string;
  parents: readonly string[];
  /** Id of the root tree. */
  tree: string;
  /** Greater than that of any parent. */
  generation: number;
  /** Committer date in epoch seconds. */
  seconds: number;
}

/** git's commit-graph: one file, or a chain of them (gitformat-commit-graph(5)). */
export interface CommitGraph {
  /** Null for a commit that is newer than the graph. */
  find(oid: string): CommitFacts | null;
  /**
   * The first commit along first parents, starting with `oid`, that may differ from its first parent in the sought
   * paths, has no parent, or is at the bound of the walk; null if `oid` is newer than the graph.
   */
  follow(oid: string, sought: Sought, until: Until): CommitFacts | null;
  /**
   * The commits among these that are reachable from one of the tips, which are followed in their order. The others are
   * unknown: they may be newer than the graph, or beyond the limit of the walk.
   */
  reachable(tips: readonly string[], sought: readonly string[]): string[];
}

/** Hashes of the paths for the Bloom filters. */
export interface Sought {
  /** Hash of the folder that contains all of them; null if there is none. */
  folder: readonly [number, number] | null;
  names: readonly (readonly [number, number])[];
}

export interface Until {
  /** The walk stops at commits of this generation. */
  generation: number;
  /** The walk stops at these commits. */
  commits: ReadonlySet<string>;
  steps: number;
}

/** Size limit in bytes: git maps larger graphs into memory; this code would have to read them. */
const maxGraphBytes = 48 * 1024 * 1024;
const maxCachedBytes = 96 * 1024 * 1024;

interface CachedLayer {
  validator: string;
  layer: Layer;
}

/** Parsed files by path; the files of a chain never change, a single file is replaced. */
const cache = createLru<string, CachedLayer>({
  name: 'commit-graph files',
  maxWeight: maxCachedBytes,
  unit: 'bytes',
  // Always holds one graph, whatever its size: reading it for each page would take as much memory.
  weigh: ({ layer }) => Math.min(layer.bytes.length, cachedBytesLimit() / 2),
});

/** Null if there is no usable graph. */
export async function openCommitGraph(repository: string): Promise<CommitGraph | null> {
  try {
    // git itself ignores the graph of a shallow repository: it shows history as it is without grafts.
    if (await isThere(path.join(repository, 'shallow'))) return null;
    const layers: Layer[] = [];
    for (const file of await graphFiles(path.join(repository, 'objects', 'info'))) {
      const layer = await readLayer(file);
      if (layer === null) return null;
      layers.push(layer);
    }
    return layers.length === 0 ? null : new LayeredGraph(layers);
  } catch {
    return null;
  }
}

const isThere = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

async function graphFiles(info: string): Promise<string[]> {
  const single = path.join(info, 'commit-graph');
  if (await isThere(single)) return [single];
  const chain = await readFile(path.join(info, 'commit-graphs', 'commit-graph-chain'), 'latin1');
  return chain
    .split('\n')
    .filter((name) => /^[0-9a-f]{40,64}$/.test(name))
    .map((name) => path.join(info, 'commit-graphs', `graph-${name}.graph`));
}

async function readLayer(file: string): Promise<Layer | null> {
  const { size, mtimeMs, ino } = await stat(file);
  if (size > maxGraphBytes) return null;
  const validator = `${size} ${mtimeMs} ${ino}`;
  const known = cache.get(file);
  if (known?.validator === validator) return known.layer;
  const layer = new Layer(await readFile(file));
  cache.set(file, { validator, layer });
  return layer;
}

/** Limit of commits visited from one tip: some ten milliseconds. */
const maxReached = 200_000;

/** Limit of commits that one walk remembers. */
const maxRemembered = 50_000;

const noParent = 0x70000000;
const isLast = 0x80000000;

/** One file of the chain. */
class Layer {
  readonly bytes: Buffer;
  readonly oidBytes: number;
  readonly count: number;
  readonly #fan: Buffer;
  readonly #ids: Buffer;
  readonly #rows: Buffer;
  /** A view of the same bytes: a walk reads tens of thousands of commits, and a view reads numbers faster. */
  readonly #numbers: DataView;
  readonly #rowBytes: number;
  readonly #edges: Buffer | undefined;
  /** End positions of the filters, and the filters. */
  readonly #filters: { ends: DataView; data: Buffer; hashCount: number } | null;

  /** Throws if the file is not a commit-graph of a supported version. */
  constructor(bytes: Buffer) {
    this.bytes = bytes;
    const version = bytes.readUInt8(4);
    this.oidBytes = bytes.readUInt8(5) === 2 ? 32 : 20;
    if (bytes.toString('latin1', 0, 4) !== 'CGPH' || version !== 1) throw new Error('another format');
    const chunks = new Map<string, Buffer>();
    for (let index = 0; index < bytes.readUInt8(6); index += 1) {
      const at = 8 + index * 12;
      const [from, to] = [bytes.readBigUInt64BE(at + 4), bytes.readBigUInt64BE(at + 16)];
      chunks.set(bytes.toString('latin1', at, at + 4), bytes.subarray(Number(from), Number(to)));
    }
    const chunk = (name: string): Buffer => {
      const found = chunks.get(name);
      if (found === undefined) throw new Error(`no ${name}`);
      return found;
    };
    this.#fan = chunk('OIDF');
    this.#ids = chunk('OIDL');
    this.#rows = chunk('CDAT');
    this.#numbers = viewOf(this.#rows);
    this.#rowBytes = this.oidBytes + 16;
    this.#edges = chunks.get('EDGE');
    this.count = this.#fan.readUInt32BE(255 * 4);
    const [ends, data] = [chunks.get('BIDX'), chunks.get('BDAT')];
    // Filters of another hash version are not supported.
    this.#filters =
      ends && data?.readUInt32BE(0) === 1 ? { ends: viewOf(ends), data, hashCount: data.readUInt32BE(4) } : null;
  }

  /** Position of a commit in this file, or -1. */
  indexOf(oid: Buffer): number {
    const first = oid[0]!;
    let low = first === 0 ? 0 : this.#fan.readUInt32BE((first - 1) * 4);
    let high = this.#fan.readUInt32BE(first * 4);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = oid.compare(this.#ids, middle * this.oidBytes, (middle + 1) * this.oidBytes);
      if (order === 0) return middle;
      if (order < 0) high = middle;
      else low = middle + 1;
    }
    return -1;
  }

  idAt(index: number): string {
    return this.#ids.toString('hex', index * this.oidBytes, (index + 1) * this.oidBytes);
  }

  /** Position of the first parent, counted through all files of the chain from the oldest; -1 for a root commit. */
  firstParentAt(index: number): number {
    const first = this.#numbers.getUint32(index * this.#rowBytes + this.oidBytes);
    return first === noParent ? -1 : first;
  }

  parentsAt(index: number): number[] {
    const first = this.firstParentAt(index);
    if (first === -1) return [];
    const second = this.#numbers.getUint32(index * this.#rowBytes + this.oidBytes + 4);
    if (second === noParent) return [first];
    if ((second & isLast) === 0) return [first, second];
    const parents = [first];
    if (this.#edges === undefined) throw new Error('no EDGE');
    for (let edge = (second & 0x7fffffff) * 4; ; edge += 4) {
      const parent = this.#edges.readUInt32BE(edge);
      parents.push(parent & 0x7fffffff);
      if ((parent & isLast) !== 0) return parents;
    }
  }

  generationAt(index: number): number {
    return this.#numbers.getUint32(index * this.#rowBytes + this.oidBytes + 8) >>> 2;
  }

  rowAt(index: number): { tree: string; generation: number; seconds: number } {
    const at = index * this.#rowBytes;
    const mixed = this.#numbers.getUint32(at + this.oidBytes + 8);
    return {
      tree: this.#rows.toString('hex', at, at + this.oidBytes),
      generation: mixed >>> 2,
      seconds: (mixed & 3) * 2 ** 32 + this.#numbers.getUint32(at + this.oidBytes + 12),
    };
  }

  /** False only if a commit surely does not differ from its first parent in the sought paths. */
  mayDifferAt(index: number, { folder, names }: Sought): boolean {
    if (this.#filters === null) return true;
    const { ends, data, hashCount } = this.#filters;
    const from = filtersHeader + (index === 0 ? 0 : ends.getUint32((index - 1) * 4));
    const to = filtersHeader + ends.getUint32(index * 4);
    // The filter was not computed.
    if (to <= from) return true;
    if (folder !== null && !mightContain(data, from, to, folder, hashCount)) return false;
    for (const name of names) if (mightContain(data, from, to, name, hashCount)) return true;
    return false;
  }
}

const filtersHeader = 12;

const viewOf = ({ buffer, byteOffset, byteLength }: Buffer): DataView => new DataView(buffer, byteOffset, byteLength);

class LayeredGraph implements CommitGraph {
  readonly #layers: readonly { layer: Layer; base: number }[];
  /** Positions of the parents found so far, which are looked up next. */
  readonly #positions = new Map<string, number>();
  readonly #found = new Map<string, CommitFacts>();

  constructor(layers: readonly Layer[]) {
    let base = 0;
    this.#layers = layers.map((layer) => {
      const placed = { layer, base };
      base += layer.count;
      return placed;
    });
  }

  find(oid: string): CommitFacts | null {
    const known = this.#found.get(oid);
    if (known) return known;
    const position = this.#positionOf(oid);
    if (position === -1) return null;
    const { layer, base } = this.#layerOf(position);
    const index = position - base;
    const facts = { oid, parents: layer.parentsAt(index).map((parent) => this.#idAt(parent)), ...layer.rowAt(index) };
    if (this.#found.size >= maxRemembered) this.#found.clear();
    this.#found.set(oid, facts);
    return facts;
  }

  follow(oid: string, sought: Sought, { generation, commits, steps }: Until): CommitFacts | null {
    const stops = new Set([...commits].map((commit) => this.#positionOf(commit)));
    let position = this.#positionOf(oid);
    if (position === -1) return null;
    for (let step = 0; step < steps && !stops.has(position); step += 1) {
      const { layer, base } = this.#layerOf(position);
      const index = position - base;
      const parent = layer.firstParentAt(index);
      if (parent === -1 || layer.generationAt(index) <= generation || layer.mayDifferAt(index, sought)) break;
      position = parent;
    }
    return this.find(this.#idAt(position));
  }

  reachable(tips: readonly string[], sought: readonly string[]): string[] {
    const wanted = new Map<number, string>();
    // Ancestors have lower generations, so the walk ends at the lowest one that is sought.
    let lowest = Infinity;
    for (const oid of sought) {
      const position = this.#positionOf(oid);
      if (position === -1) continue;
      wanted.set(position, oid);
      const { layer, base } = this.#layerOf(position);
      lowest = Math.min(lowest, layer.generationAt(position - base));
    }
    const found: string[] = [];
    const last = this.#layers.at(-1)!;
    const seen = new Uint8Array(last.base + last.layer.count);
    let left = maxReached;
    for (const tip of tips) {
      if (found.length === wanted.size) break;
      const start = this.#positionOf(tip);
      const open = start === -1 || seen[start] === 1 ? [] : [start];
      if (start !== -1) seen[start] = 1;
      for (; open.length > 0 && found.length < wanted.size && left > 0; left -= 1) {
        const position = open.pop()!;
        const oid = wanted.get(position);
        if (oid !== undefined) found.push(oid);
        const { layer, base } = this.#layerOf(position);
        if (layer.generationAt(position - base) <= lowest) continue;
        for (const parent of layer.parentsAt(position - base)) {
          if (seen[parent] === 1) continue;
          seen[parent] = 1;
          open.push(parent);
        }
      }
    }
    return found;
  }

  #positionOf(oid: string): number {
    const known = this.#positions.get(oid);
    if (known !== undefined) return known;
    const bytes = Buffer.from(oid, 'hex');
    for (const { layer, base } of this.#layers) {
      const index = layer.oidBytes === bytes.length ? layer.indexOf(bytes) : -1;
      if (index === -1) continue;
      this.#positions.set(oid, base + index);
      return base + index;
    }
    return -1;
  }

  #layerOf(position: number): { layer: Layer; base: number } {
    for (let at = this.#layers.length - 1; ; at -= 1) if (this.#layers[at]!.base <= position) return this.#layers[at]!;
  }

  #idAt(position: number): string {
    const { layer, base } = this.#layerOf(position);
    const oid = layer.idAt(position - base);
    if (this.#positions.size >= maxRemembered) this.#positions.clear();
    this.#positions.set(oid, position);
    return oid;
  }
}
