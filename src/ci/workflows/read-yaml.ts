import { Composer, isAlias, isMap, isScalar, LineCounter, Parser, visit } from 'yaml';
import type { Alias, CST, Document, Node, ParsedNode } from 'yaml';
import { isMergeKey } from './merge-keys.ts';
import { WorkflowProblem } from './workflow-problem.ts';

/** Node limit: a workflow of a thousand steps has about six thousand. */
const maxNodes = 20_000;
/** Depth limit: GitHub's own workflows reach about ten. */
const maxDepth = 60;

interface ReadYaml {
  document: Document.Parsed;
  lines: LineCounter;
  /** The target of each alias; the library would search the whole document for each. */
  targets: ReadonlyMap<Alias, Node>;
}

/**
 * Parses one YAML document in linear time: builds nodes only once their number is known, and finds repeated keys with a
 * set, where the library compares each key with all before it. Throws `WorkflowProblem`.
 */
export function readYaml(text: string): ReadYaml {
  const lines = new LineCounter();
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  checkSize(tokens, lines);
  const composer = new Composer({ merge: true, strict: true, uniqueKeys: false, logLevel: 'silent' });
  const [document] = [...composer.compose(tokens, true, text.length)] as Document.Parsed[];
  const [error] = document!.errors;
  if (error !== undefined) throw problemAt(lines, error.pos[0], firstLine(error.message));
  return { document: document!, lines, targets: checkNodes(document!, lines) };
}

export function problemAt(lines: LineCounter, offset: number, message: string): WorkflowProblem {
  const { line, col } = lines.linePos(offset);
  return new WorkflowProblem(message, { line: Math.max(line, 1), column: Math.max(col, 1) });
}

/** Counts the nodes, their depth, and the documents before they are built. */
function checkSize(tokens: readonly CST.Token[], lines: LineCounter): void {
  const documents = tokens.filter(({ type }) => type === 'document');
  if (documents.length > 1) throw problemAt(lines, documents[1]!.offset, 'A workflow file has only one YAML document.');
  let nodes = 0;
  const open = documents.map((token): [CST.Token | null | undefined, depth: number] => [
    (token as CST.Document).value,
    1,
  ]);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [token, depth] = next;
    if (!token) continue;
    nodes += 1;
    if (nodes > maxNodes)
      throw problemAt(lines, token.offset, `A workflow file has at most ${maxNodes} keys and values.`);
    if (depth > maxDepth) throw problemAt(lines, token.offset, 'This is nested too deeply.');
    if (!('items' in token)) continue;
    // Pushed in reverse, so that they are popped in the order of the file.
    for (let at = token.items.length - 1; at >= 0; at -= 1) {
      const item = token.items[at]!;
      open.push([item.value, depth + 1], ['key' in item ? item.key : null, depth + 1]);
    }
  }
}

/** Rejects repeated keys, and finds the target of each alias. */
function checkNodes(document: Document.Parsed, lines: LineCounter): Map<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  const at = (node: unknown): number => (node as ParsedNode | null)?.range?.[0] ?? 0;
  visit(document, {
    Node(_key, node) {
      if (isAlias(node)) {
        const target = anchors.get(node.source);
        if (target !== undefined) targets.set(node, target);
        return;
      }
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
      if (!isMap(node)) return;
      const keys = new Set<unknown>();
      for (const { key } of node.items) {
        if (!isScalar(key)) continue;
        const value = isMergeKey(key) ? '<<' : key.value;
        if (keys.has(value)) throw problemAt(lines, at(key), 'Map keys must be unique');
        keys.add(value);
      }
    },
  });
  return targets;
}

const firstLine = (message: string): string => message.split('\n')[0]!.replace(/ at line \d+, column \d+:?$/, '');
