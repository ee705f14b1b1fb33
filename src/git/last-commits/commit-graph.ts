import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { createLru } from '../../kernel/index.ts';
import { mightContain } from './bloom-filter.ts';

/** What a walk has to know of a commit. */
export interface CommitFacts {
  oid: string;
  parents: readonly string[];
  /** Of its root. */
  tree: string;
  /** Greater than that of every parent. */
  generation: number;
  /** Epoch seconds of its committer. */
  seconds: number;
}

/** Where git keeps what it knows of commits: one file, or a chain of them (gitformat-commit-graph(5)). */
export interface CommitGraph {
  /** Null for a commit that is newer than the graph. */
  find(oid: string): CommitFacts | null;
  /**
   * The first commit on the way along first parents, `oid` itself included, that may differ
   * from its first parent in what is looked for, that has none, or that the way is not to
   * pass; null for one that is newer than the graph.
   */
  follow(oid: string, sought: Sought, until: Until): CommitFacts | null;
}

/** Paths, as the filters know them. */
export interface Sought {
  /** Of the folder of all of them; null when there is none. */
  folder: readonly [number, number] | null;
  names: readonly (readonly [number, number])[];
}

export interface Until {
  /** No further than commits of this generation. */
  generation: number;
  /** Nor past these. */
  commits: ReadonlySet<string>;
  steps: number;
}

/** Larger ones are left to git, which maps them into memory instead of reading them. */
const maxGraphBytes = 48 * 1024 * 1024;
const maxKeptBytes = 96 * 1024 * 1024;

interface Kept {
  stamp: string;
  layer: Layer;
}

/** Files that were read, by their path; a file of a chain never changes, the single one is replaced. */
const kept = createLru<string, Kept>({
  name: 'commit-graph files',
  maxWeight: maxKeptBytes,
  weigh: ({ layer }) => layer.bytes.length,
});

/** Null when there is none, or none that is to be relied on. */
export async function openCommitGraph(repository: string): Promise<CommitGraph | null> {
  try {
    // What git itself does not read then: the graph shows history as it is without.
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
  const stamp = `${size} ${mtimeMs} ${ino}`;
  const known = kept.get(file);
  if (known?.stamp === stamp) return known.layer;
  const layer = new Layer(await readFile(file));
  kept.set(file, { stamp, layer });
  return layer;
}

/** What one walk remembers, in commits. */
const maxRemembered = 50_000;

const noParent = 0x70000000;
const isLast = 0x80000000;

/** One file. */
class Layer {
  readonly bytes: Buffer;
  readonly oidBytes: number;
  readonly count: number;
  readonly #fan: Buffer;
  readonly #ids: Buffer;
  readonly #rows: Buffer;
  readonly #edges: Buffer | undefined;
  /** Where the filter of each commit ends, and the filters. */
  readonly #filters: { ends: Buffer; data: Buffer; hashCount: number } | null;

  /** Throws for what is no commit-graph of the version that is understood here. */
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
    this.#edges = chunks.get('EDGE');
    this.count = this.#fan.readUInt32BE(255 * 4);
    const [ends, data] = [chunks.get('BIDX'), chunks.get('BDAT')];
    // Of another version of the hash nothing is known here.
    this.#filters = ends && data?.readUInt32BE(0) === 1 ? { ends, data, hashCount: data.readUInt32BE(4) } : null;
  }

  /** Where a commit stands in this file, or -1. */
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

  /** Positions of parents count through all files of the chain, the oldest first; -1 for a commit without one. */
  firstParentAt(index: number): number {
    const first = this.#rows.readUInt32BE(index * (this.oidBytes + 16) + this.oidBytes);
    return first === noParent ? -1 : first;
  }

  parentsAt(index: number): number[] {
    const first = this.firstParentAt(index);
    if (first === -1) return [];
    const second = this.#rows.readUInt32BE(index * (this.oidBytes + 16) + this.oidBytes + 4);
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
    return this.#rows.readUInt32BE(index * (this.oidBytes + 16) + this.oidBytes + 8) >>> 2;
  }

  rowAt(index: number): { tree: string; generation: number; seconds: number } {
    const at = index * (this.oidBytes + 16);
    const mixed = this.#rows.readUInt32BE(at + this.oidBytes + 8);
    return {
      tree: this.#rows.toString('hex', at, at + this.oidBytes),
      generation: mixed >>> 2,
      seconds: (mixed & 3) * 2 ** 32 + this.#rows.readUInt32BE(at + this.oidBytes + 12),
    };
  }

  /** False only when a commit surely does not differ from its first parent in what is looked for. */
  mayDifferAt(index: number, { folder, names }: Sought): boolean {
    if (this.#filters === null) return true;
    const { ends, data, hashCount } = this.#filters;
    const from = filtersHeader + (index === 0 ? 0 : ends.readUInt32BE((index - 1) * 4));
    const to = filtersHeader + ends.readUInt32BE(index * 4);
    // Nobody made one.
    if (to <= from) return true;
    if (folder !== null && !mightContain(data, from, to, folder, hashCount)) return false;
    for (const name of names) if (mightContain(data, from, to, name, hashCount)) return true;
    return false;
  }
}

const filtersHeader = 12;

class LayeredGraph implements CommitGraph {
  readonly #layers: readonly { layer: Layer; base: number }[];
  /** Where the parents of what was found stand: they are asked for next. */
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
