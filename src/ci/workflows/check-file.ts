import { isMap, isScalar, isSeq } from 'yaml';
import { splitText } from './evaluate.ts';
import type { TextPart } from './evaluate.ts';
import { eventNames } from './workflow.ts';
import type { YamlFile } from './yaml-nodes.ts';
import { checkGrammar, checkNames } from './check-expression.ts';
import type { ExpressionFault, PlaceName } from './check-expression.ts';
import type { FileFinding } from './file-finding.ts';
import { nearestName } from './nearest-name.ts';
import { callShape, eventShape, eventsOfOthers, jobShape, knownEvents, workflowShape } from './file-schema.ts';
import type { Shape, ValueType } from './file-schema.ts';

const maxFindings = 100;

/**
 * Checks keys, events and names in expressions of a workflow file against GitHub's documentation: a misspelled key
 * would otherwise be ignored, and its condition with it. Returns findings in the order of the file.
 */
export function checkFile(file: YamlFile): FileFinding[] {
  const check = new FileCheck(file);
  check.shape(file.document.contents, workflowShape);
  return check.findings.sort((a, b) => a.line - b.line || a.column - b.column);
}

class FileCheck {
  readonly findings: FileFinding[] = [];
  readonly #file: YamlFile;
  /** Nodes with the shapes already checked: an alias may refer to a node in many places. */
  readonly #seen = new Map<unknown, Set<Shape>>();

  constructor(file: YamlFile) {
    this.#file = file;
  }

  shape(given: unknown, shape: Shape): void {
    const node = this.#file.resolve(given);
    if (node === null || this.findings.length >= maxFindings) return;
    const shapes = this.#seen.get(node) ?? new Set();
    if (shapes.has(shape)) return;
    this.#seen.set(node, shapes.add(shape));
    if (shape.kind === 'events') return this.#events(node);
    if (shape.kind === 'job') return this.shape(node, isCall(node) ? callShape : jobShape);
    if (shape.kind === 'value') return this.#value(node, shape);
    if (shape.kind === 'list') {
      if (isSeq(node)) for (const item of node.items) this.shape(item, shape.of);
      if (isSeq(node) && shape.of.kind === 'keys' && shape.of.name === 'step') this.#stepIds(node.items);
      return;
    }
    if (!isMap(node)) return this.#text(node, placeOf(shape));
    const { required = [], name = '' } = shape.kind === 'keys' ? shape : {};
    for (const key of required)
      if (this.#file.isAbsent(this.#file.get(node as never, key)))
        this.#add('error', node, `"${name}" needs "${key}".`);
    for (const { key, keyNode, value } of this.#file.entries(node, 'this mapping')) {
      if (shape.kind === 'entries') this.shape(value, shape.of);
      else this.#key(shape, { key, keyNode, value });
    }
    if (shape.kind === 'keys' && shape.name === 'concurrency') this.#concurrency(node);
  }

  #key(
    shape: Shape & { kind: 'keys' },
    { key, keyNode, value }: { key: string; keyNode: unknown; value: unknown },
  ): void {
    const { keys, ignored = {}, remarks = {}, elsewhere = [], name, hasAnchors } = shape;
    if (Object.hasOwn(remarks, key)) this.#add('warning', keyNode, `"${key}": ${remarks[key]}`);
    if (Object.hasOwn(keys, key)) return this.shape(value, keys[key]!);
    if (hasAnchors === true && key.startsWith('x-')) return;
    if (Object.hasOwn(ignored, key))
      return this.#add('warning', keyNode, `"${cut(key)}" has no effect. ${ignored[key]}`);
    if (elsewhere.includes(key)) return this.#add('warning', keyNode, `"${key}" has no effect under "${name}".`);
    const other = otherJob(shape, key);
    if (other !== null) return this.#add('error', keyNode, other);
    const names = Object.keys(keys);
    const meant = nearestName(key, names);
    const hint =
      meant !== null
        ? `Did you mean "${meant}"?`
        : names.length === 0
          ? 'It has no keys.'
          : `Known are: ${names.join(', ')}.`;
    const where = shape === workflowShape ? 'at the top of a workflow' : `under "${name}"`;
    this.#add('error', keyNode, `"${cut(key)}" is not a key ${where}. ${hint}`);
  }

  #events(node: unknown): void {
    if (isMap(node)) {
      for (const { key, keyNode, value } of this.#file.entries(node, '"on"')) {
        this.#event(key, keyNode);
        const shape = eventShape(key);
        if (shape !== null) this.shape(value, shape);
      }
      return;
    }
    for (const item of isSeq(node) ? node.items : [node]) {
      const one = this.#file.resolve(item);
      if (isScalar(one) && typeof one.value === 'string') this.#event(one.value, one);
    }
  }

  #event(event: string, node: unknown): void {
    if (event === 'workflow_call' || (eventNames as readonly string[]).includes(event)) return;
    if (knownEvents.includes(event) || eventsOfOthers.includes(event))
      return this.#add('warning', node, `The event "${event}" starts nothing on this server.`);
    const meant = nearestName(event, knownEvents);
    const hint = meant === null ? 'The page of CI in the documentation lists the events.' : `Did you mean "${meant}"?`;
    this.#add('error', node, `There is no event "${cut(event)}". ${hint}`);
  }

  /** Checks texts with expressions at any depth of lists and mappings. */
  #value(node: unknown, shape: Shape & { kind: 'value' }): void {
    const { type = null, oneOf, place, isCondition } = shape;
    if (isSeq(node)) {
      if (type !== null && type !== 'texts') return this.#add('error', node, `This has to be ${typeWords[type]}.`);
      for (const item of node.items) this.shape(item, shape);
    } else if (isMap(node)) {
      if (type !== null) return this.#add('error', node, `This has to be ${typeWords[type]}.`);
      for (const { value } of this.#file.entries(node, 'this mapping')) this.shape(value, shape);
    } else if (isScalar(node)) {
      if (!isOfType(node.value, type)) return this.#add('error', node, `This has to be ${typeWords[type!]}.`);
      if (oneOf !== undefined && typeof node.value === 'string') this.#word(node, node.value, shape);
      this.#text(node, place, isCondition);
    }
  }

  #word(node: unknown, word: string, { oneOf = [], isLenient, place }: Shape & { kind: 'value' }): void {
    if (oneOf.includes(word) || (place !== null && word.includes('${{'))) return;
    const meant = nearestName(word, oneOf);
    const hint = meant === null ? `It is one of ${oneOf.join(', ')}.` : `Did you mean "${meant}"?`;
    if (isLenient === true) this.#add('warning', node, `"${cut(word)}" never happens here. ${hint}`);
    else this.#add('error', node, `"${cut(word)}" is not allowed here. ${hint}`);
  }

  #text(node: unknown, place: PlaceName | null, isCondition = false): void {
    const text = isScalar(node) ? node.value : null;
    if (place === null || typeof text !== 'string') return;
    const expressions = expressionsIn(text, isCondition);
    if (expressions === null) return this.#add('error', node, 'An expression that begins with "${{" has no end.');
    for (const expression of expressions) {
      const fault: ExpressionFault | null = checkNames(expression, place, isCondition) ?? checkGrammar(expression);
      if (fault === null) continue;
      const meant = fault.wrong === null ? null : nearestName(fault.wrong, fault.names);
      const hint = meant === null ? '' : ` Did you mean "${meant}"?`;
      return this.#add('error', node, fault.message + hint, expression);
    }
    if (isCondition && text.includes('${{') && !/^\s*\$\{\{[^]*\}\}\s*$/.test(text))
      this.#add('warning', node, 'This condition is always true: the text around "${{ }}" makes it a text.');
  }

  #stepIds(steps: readonly unknown[]): void {
    const ids = new Set<string>();
    for (const item of steps) {
      const step = this.#file.resolve(item);
      const id = isMap(step) ? this.#file.resolve(this.#file.get(step as never, 'id')) : null;
      if (!isScalar(id) || typeof id.value !== 'string') continue;
      const folded = id.value.toLowerCase();
      if (!/^[a-z_][a-z0-9_-]{0,99}$/.test(folded))
        this.#add(
          'error',
          id,
          'The id of a step consists of letters, digits, "-" and "_", and begins with a letter or "_".',
        );
      if (ids.has(folded)) this.#add('error', id, `Two steps of this job have the id "${cut(id.value)}".`);
      ids.add(folded);
    }
  }

  #concurrency(node: unknown): void {
    const get = (key: string): unknown => {
      const found = this.#file.resolve(this.#file.get(node as never, key));
      return isScalar(found) ? found.value : null;
    };
    if (get('queue') === 'max' && get('cancel-in-progress') === true)
      this.#add('error', node, '"queue: max" and "cancel-in-progress: true" exclude each other.');
  }

  /**
   * @param text a part of the text of the node; the finding refers to the line with it
   */
  #add(severity: FileFinding['severity'], node: unknown, message: string, text = ''): void {
    if (this.findings.length >= maxFindings) return;
    const { line, column } = this.#file.problemIn(node, text, '');
    this.findings.push({ severity, line, column, message: message.slice(0, 500) });
  }
}

const cut = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** The place of a text that may also be a mapping: `runs-on: ${{ … }}`, `concurrency: …`. */
function placeOf(shape: Shape): PlaceName | null {
  if (shape.kind !== 'keys') return null;
  const first = Object.values(shape.keys).find((one) => one.kind === 'value' && one.place !== null);
  return first?.kind === 'value' ? first.place : null;
}

/** Null if an expression is not closed. */
function expressionsIn(text: string, isCondition: boolean): string[] | null {
  if (isCondition && !text.includes('${{')) return text.trim() === '' ? [] : [text.trim()];
  if (!text.includes('${{')) return [];
  let parts: TextPart[];
  try {
    parts = splitText(text);
  } catch {
    return null;
  }
  return parts.flatMap((part) => (part.isExpression ? [part.text] : []));
}

const typeWords: Readonly<Record<ValueType, string>> = {
  text: 'a text',
  texts: 'a text or a list of texts',
  number: 'a number, or an expression that gives one',
  boolean: 'true or false, or an expression that gives one',
};

/** Absent values and results of expressions have every type. */
function isOfType(value: unknown, type: ValueType | null): boolean {
  if (value === null || type === null || type === 'text' || type === 'texts') return true;
  if (typeof value === 'string') {
    if (value.includes('${{')) return true;
    // Runners also accept quoted values of the type.
    return type === 'number' ? value.trim() !== '' && Number.isFinite(Number(value)) : /^(?:true|false)$/i.test(value);
  }
  return typeof value === type;
}

const isCall = (node: unknown): boolean =>
  isMap(node) && node.items.some(({ key }) => isScalar(key) && key.value === 'uses');

/** Explains a key that is only allowed in the other kind of job. */
function otherJob(shape: Shape, key: string): string | null {
  const has = (one: Shape): boolean => one.kind === 'keys' && Object.hasOwn(one.keys, key);
  if (shape === callShape && has(jobShape)) return `A job that calls a workflow has no "${key}".`;
  if (shape === jobShape && has(callShape)) return `Only a job that calls a workflow by "uses" has "${key}".`;
  return null;
}
