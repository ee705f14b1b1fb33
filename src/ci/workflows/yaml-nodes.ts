import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { Alias, Document, LineCounter, Node, ParsedNode, YAMLMap } from 'yaml';
import type { Json } from './json-value.ts';
import { isMergeKey } from './merge-keys.ts';
import type { WorkflowProblem } from './workflow-problem.ts';
import { problemAt, readYaml } from './read-yaml.ts';

/** Limit of resolved nodes when expanding aliases and merge keys: five times the nodes that a file may have. */
const maxResolved = 100_000;
/** Limit of characters in their texts; a file has at most 128 KiB of them. */
const maxTextLength = 2 * 1024 * 1024;
/** Depth limit of nested merges: each level multiplies the entries. */
const maxMergeDepth = 2;

interface Entry {
  key: string;
  keyNode: unknown;
  value: unknown;
}

interface Entries {
  /** By key, in the order in which keys first appear. */
  all: ReadonlyMap<string, Entry>;
  /** Depth of merged mappings. */
  mergeDepth: number;
}

interface Explicit {
  /** Keyed as YAML parsed it. */
  values: ReadonlyMap<unknown, unknown>;
  hasMerged: boolean;
}

/**
 * A YAML file with typed access to its nodes; a wrong type is reported with line and column. Nodes are preserved,
 * because the runner must get exactly the content of the file (a quoted "3.10" is not 3.1). All accesses are counted,
 * so that a file that explodes through its aliases is a problem with a position.
 */
export class YamlFile {
  readonly document: Document.Parsed;
  readonly #source: string;
  readonly #lines: LineCounter;
  readonly #targets: ReadonlyMap<Alias, Node>;
  readonly #entries = new Map<YAMLMap, Entries>();
  readonly #explicit = new Map<YAMLMap, Explicit>();
  /** Mappings in progress: one that merges itself would never end. */
  readonly #gathering = new Set<YAMLMap>();
  #resolved = 0;
  #lastSeen: unknown = null;
  #textLength = 0;

  /** Throws `WorkflowProblem`. */
  constructor(text: string) {
    const { document, lines, targets } = readYaml(text);
    this.document = document;
    this.#source = text;
    this.#lines = lines;
    this.#targets = targets;
  }

  problem(node: unknown, message: string): WorkflowProblem {
    return this.problemAt((node as ParsedNode | null)?.range?.[0] ?? 0, message);
  }

  /** A problem at the position of a text within a node; at the node if the text is spelled differently there. */
  problemIn(node: unknown, text: string, message: string): WorkflowProblem {
    const [from = 0, to = 0] = (node as ParsedNode | null)?.range ?? [];
    const at = text === '' ? -1 : this.#source.indexOf(text, from);
    return this.problemAt(at >= 0 && at < to ? at : from, message);
  }

  problemAt(offset: number, message: string): WorkflowProblem {
    return problemAt(this.#lines, offset, message);
  }

  /** The target of an alias, or the node itself. */
  resolve(node: unknown): Node | null {
    this.#count(node, 1);
    if (isAlias(node)) return this.#targets.get(node) ?? null;
    return (node ?? null) as Node | null;
  }

  map(node: unknown, what: string): YAMLMap {
    const found = this.resolve(node);
    if (!isMap(found)) throw this.problem(node, `${what} has to be a mapping.`);
    return found as YAMLMap;
  }

  /**
   * Keys and values of a mapping in order, including merged ones; each key once. Explicit keys win over merged ones.
   */
  entries(node: unknown, what: string): Entry[] {
    const { all } = this.#gather(this.map(node, what), what);
    this.#count(node, all.size);
    return [...all.values()];
  }

  /** Cached per mapping: one that is aliased in many places is processed once. */
  #gather(map: YAMLMap, what: string): Entries {
    const known = this.#entries.get(map);
    if (known !== undefined) return known;
    if (this.#gathering.has(map)) throw this.problem(map, 'A mapping cannot be merged into itself.');
    this.#gathering.add(map);
    this.#count(map, map.items.length);
    const all = new Map<string, Entry>();
    const merged = new Set<string>();
    let mergeDepth = 0;
    for (const { key, value } of map.items) {
      if (!isMergeKey(key)) {
        const name = this.text(key, `A key of ${what}`);
        if (!all.has(name) || merged.delete(name)) all.set(name, { key: name, keyNode: key, value });
        continue;
      }
      const source = this.resolve(value);
      for (const one of isSeq(source) ? source.items : [source]) {
        const { all: others, mergeDepth: depth } = this.#gather(this.map(one, what), what);
        mergeDepth = Math.max(mergeDepth, depth + 1);
        if (mergeDepth > maxMergeDepth)
          throw this.problem(key, `Merge keys ("<<") are nested more than ${maxMergeDepth} deep.`);
        this.#count(key, others.size);
        for (const [name, entry] of others) {
          if (all.has(name)) continue;
          merged.add(name);
          all.set(name, entry);
        }
      }
    }
    this.#gathering.delete(map);
    const entries = { all, mergeDepth };
    this.#entries.set(map, entries);
    return entries;
  }

  /** The value under a key, or null. Explicit keys win over merged ones. */
  get(node: YAMLMap, key: string): unknown {
    const { values, hasMerged } = this.#explicitOf(node);
    if (values.has(key)) return values.get(key);
    if (!hasMerged) return null;
    return this.#gather(node, 'the mapping').all.get(key)?.value ?? null;
  }

  #explicitOf(map: YAMLMap): Explicit {
    let found = this.#explicit.get(map);
    if (found === undefined) {
      this.#count(map, map.items.length);
      const pairs = map.items.flatMap(({ key, value }): [unknown, unknown][] =>
        isScalar(key) ? [[key.value, value ?? null]] : [],
      );
      found = { values: new Map(pairs), hasMerged: map.items.some(({ key }) => isMergeKey(key)) };
      this.#explicit.set(map, found);
    }
    return found;
  }

  /** A scalar as text, including values that YAML would read as numbers or booleans. */
  text(node: unknown, what: string): string {
    const found = this.resolve(node);
    if (!isScalar(found) || found.value === null) throw this.problem(node, `${what} has to be a text.`);
    return this.#spell(node, typeof found.value === 'string' ? found.value : (found.source ?? String(found.value)));
  }

  textOrNull(node: unknown, what: string): string | null {
    return this.isAbsent(node) ? null : this.text(node, what);
  }

  /** One text, or a list of texts; empty if absent. */
  texts(node: unknown, what: string): string[] {
    if (this.isAbsent(node)) return [];
    const found = this.resolve(node);
    return isSeq(found) ? found.items.map((item) => this.text(item, `Each of ${what}`)) : [this.text(found, what)];
  }

  isAbsent(node: unknown): boolean {
    const found = this.resolve(node);
    return found === null || (isScalar(found) && found.value === null);
  }

  /** Converts to plain data. YAML has values that JSON lacks; expressions see them as text. */
  json(node: unknown, depth = 0): Json {
    const found = this.resolve(node);
    if (found === null) return null;
    // An alias may contain itself.
    if (depth > maxJsonDepth) throw this.problem(node, 'This is nested too deeply.');
    if (isSeq(found)) return found.items.map((item) => this.json(item, depth + 1));
    if (isMap(found))
      return Object.fromEntries(
        this.entries(found, 'this mapping').map(({ key, value }) => [key, this.json(value, depth + 1)]),
      );
    const value = isScalar(found) ? found.value : null;
    if (typeof value === 'string') return this.#spell(node, value);
    if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
    return value === null || typeof value === 'boolean' ? value : String(value);
  }

  /** Also counts text that is copied elsewhere. */
  countText(node: unknown, length: number): void {
    this.#textLength += length;
    if (this.#textLength > maxTextLength) throw this.problem(node, 'The aliases of this file make its texts too long.');
  }

  #spell(node: unknown, text: string): string {
    this.countText(node, text.length);
    return text;
  }

  #count(node: unknown, nodes: number): void {
    this.#resolved += nodes;
    // A missing node has no position; the previously accessed node does.
    if ((node as ParsedNode | null)?.range) this.#lastSeen = node;
    if (this.#resolved > maxResolved)
      throw this.problem(
        this.#lastSeen,
        `The aliases and merge keys of this file make it too large: more than ${maxResolved} keys and values.`,
      );
  }
}

/** Maximum depth of a file, with an alias or two. */
const maxJsonDepth = 100;
