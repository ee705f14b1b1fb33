import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Document, Node, ParsedNode, YAMLMap } from 'yaml';
import { WorkflowProblem } from './problem.ts';

/** Anything that YAML and JSON both can say. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A workflow file has at most this many bytes. */
export const maxWorkflowBytes = 1024 * 1024;

/** What aliases may blow a file up to. */
const maxAliases = 200;
const maxDepth = 60;

/**
 * A YAML file whose nodes can be asked for what they should be; a wrong one is
 * told with its line and column. Nodes stay nodes, because what is handed to the
 * runner must be what stands there (a quoted "3.10" is not 3.1).
 */
export class YamlFile {
  readonly document: Document.Parsed;
  readonly #lines = new LineCounter();

  constructor(text: string) {
    this.document = parseDocument(text, { lineCounter: this.#lines, merge: true, strict: true, logLevel: 'silent' });
    const [error] = this.document.errors;
    if (error !== undefined) throw this.problemAt(error.pos[0], firstLine(error.message));
    if (depthOf(this.document.contents) > maxDepth) throw this.problemAt(0, 'This is nested too deeply.');
  }

  problem(node: unknown, message: string): WorkflowProblem {
    return this.problemAt((node as ParsedNode | null)?.range?.[0] ?? 0, message);
  }

  problemAt(offset: number, message: string): WorkflowProblem {
    const { line, col } = this.#lines.linePos(offset);
    return new WorkflowProblem(message, { line: Math.max(line, 1), column: Math.max(col, 1) });
  }

  /** The node that an alias stands for, or the node itself. */
  resolve(node: unknown): Node | null {
    if (isAlias(node)) return node.resolve(this.document) ?? null;
    return (node ?? null) as Node | null;
  }

  map(node: unknown, what: string): YAMLMap {
    const found = this.resolve(node);
    if (!isMap(found)) throw this.problem(node, `${what} has to be a mapping.`);
    return found as YAMLMap;
  }

  /** Keys and values of a mapping in order, merged ones included. */
  entries(node: unknown, what: string): { key: string; keyNode: unknown; value: unknown }[] {
    return this.map(node, what).items.flatMap(({ key, value }) => {
      if (isMergeKey(key)) return this.#merged(value, what);
      return [{ key: this.text(key, `A key of ${what}`), keyNode: key, value }];
    });
  }

  #merged(value: unknown, what: string): { key: string; keyNode: unknown; value: unknown }[] {
    const source = this.resolve(value);
    const sources = isSeq(source) ? source.items : [source];
    return sources.flatMap((one) => this.entries(one, what));
  }

  /** The value under a key, or null. Explicit keys win over merged ones. */
  get(node: YAMLMap, key: string): unknown {
    const direct = node.items.find((pair) => isScalar(pair.key) && pair.key.value === key);
    if (direct !== undefined) return direct.value ?? null;
    if (!node.items.some((pair) => isMergeKey(pair.key))) return null;
    return this.entries(node, 'the mapping').find((entry) => entry.key === key)?.value ?? null;
  }

  /** A scalar as text; what YAML would read as a number or truth value included. */
  text(node: unknown, what: string): string {
    const found = this.resolve(node);
    if (!isScalar(found) || found.value === null) throw this.problem(node, `${what} has to be a text.`);
    return typeof found.value === 'string' ? found.value : (found.source ?? String(found.value));
  }

  textOrNull(node: unknown, what: string): string | null {
    return this.isAbsent(node) ? null : this.text(node, what);
  }

  /** One text, or a list of texts; nothing for an absent one. */
  texts(node: unknown, what: string): string[] {
    if (this.isAbsent(node)) return [];
    const found = this.resolve(node);
    return isSeq(found) ? found.items.map((item) => this.text(item, `Each of ${what}`)) : [this.text(found, what)];
  }

  isAbsent(node: unknown): boolean {
    const found = this.resolve(node);
    return found === null || (isScalar(found) && found.value === null);
  }

  /** Plain data. Aliases are counted, so that a few lines cannot become gigabytes. */
  json(node: unknown): Json {
    const found = this.resolve(node);
    if (found === null) return null;
    try {
      return toJson(found.toJS(this.document, { maxAliasCount: maxAliases }));
    } catch {
      throw this.problem(node, 'This has too many aliases.');
    }
  }
}

/** `<<`; the library keeps it as a symbol once it has understood it. */
export function isMergeKey(key: unknown): boolean {
  if (!isScalar(key)) return false;
  return key.value === '<<' || (typeof key.value === 'symbol' && key.value.description === '<<');
}

/** YAML knows values that JSON does not; an expression sees them as text. */
function toJson(value: unknown): Json {
  if (value === null || ['string', 'boolean'].includes(typeof value)) return value as Json;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (Array.isArray(value)) return value.map(toJson);
  if (typeof value === 'object' && !(value instanceof Date)) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toJson(one)]));
  }
  return String(value);
}

function depthOf(root: unknown): number {
  let deepest = 0;
  const open: [node: unknown, depth: number][] = [[root, 1]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [node, depth] = next;
    deepest = Math.max(deepest, depth);
    if (isMap(node)) for (const { key, value } of node.items) open.push([key, depth + 1], [value, depth + 1]);
    else if (isSeq(node)) for (const item of node.items) open.push([item, depth + 1]);
  }
  return deepest;
}

const firstLine = (message: string): string => message.split('\n')[0]!.replace(/ at line \d+, column \d+:?$/, '');
