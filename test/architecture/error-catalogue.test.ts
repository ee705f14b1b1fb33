import t from 'tap';
import ts from 'typescript';
import { parseSource, placeOf, readSources, walk } from './source-files.ts';
import type { SourceFile } from './source-files.ts';

/** The constructors of kernel's errors, and the code of each. */
const makers: Record<string, string> = {
  invalid: 'invalid',
  unauthenticated: 'unauthenticated',
  forbidden: 'forbidden',
  notFound: 'not_found',
  conflict: 'conflict',
  unavailable: 'unavailable',
};

interface Use {
  reason: string;
  code: string;
  place: string;
}

/** The literal reasons of an expression: itself, both branches, or the right side of `??`. */
function literals(expression: ts.Expression): string[] {
  if (ts.isStringLiteralLike(expression)) return [expression.text];
  if (ts.isConditionalExpression(expression))
    return [...literals(expression.whenTrue), ...literals(expression.whenFalse)];
  if (ts.isParenthesizedExpression(expression)) return literals(expression.expression);
  if (ts.isBinaryExpression(expression)) return [...literals(expression.left), ...literals(expression.right)];
  return [];
}

interface Parameter {
  /** Of the function. */
  name: string;
  index: number;
  /** The property, when the parameter is destructured. */
  property?: string;
}

/** The function whose parameter an expression is. */
function parameterOf(expression: ts.Expression): Parameter | null {
  if (!ts.isIdentifier(expression)) return null;
  for (let node: ts.Node = expression; node !== undefined; node = node.parent) {
    if (!ts.isFunctionLike(node)) continue;
    for (const [index, { name }] of node.parameters.entries()) {
      const element =
        ts.isObjectBindingPattern(name) && name.elements.find((one) => one.name.getText() === expression.text);
      if (!element && name.getText() !== expression.text) continue;
      const named = ts.isVariableDeclaration(node.parent) ? node.parent.name : node.name;
      if (named === undefined) return null;
      const property = element ? { property: (element.propertyName ?? element.name).getText() } : {};
      return { name: named.getText(), index, ...property };
    }
  }
  return null;
}

/** The argument of a call for a parameter. */
function argumentFor(
  call: ts.CallExpression | ts.NewExpression,
  { index, property }: Parameter,
): ts.Expression | undefined {
  const argument = call.arguments?.[index];
  if (property === undefined || argument === undefined || !ts.isObjectLiteralExpression(argument)) return argument;
  const assigned = argument.properties.find((one) => one.name?.getText() === property);
  return assigned !== undefined && ts.isPropertyAssignment(assigned) ? assigned.initializer : undefined;
}

/** Whether a name in one file refers to the function of that name in another: by an import, or in the same file. */
function sees(from: SourceFile, declaring: SourceFile, name: string): boolean {
  if (from === declaring) return true;
  if (!from.imports.some(({ file }) => file === declaring.path)) return false;
  return new RegExp(`import[^;]*\\b${name}\\b[^;]*from`).test(from.text);
}

function usesOfReasons(sources: readonly SourceFile[]): { uses: Use[]; unreadable: string[] } {
  const calls = sources.flatMap((source) => {
    const found: { source: SourceFile; node: ts.CallExpression | ts.NewExpression; callee: string }[] = [];
    walk(source.tree, (node) => {
      if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return;
      if (ts.isIdentifier(node.expression)) found.push({ source, node, callee: node.expression.text });
    });
    return found;
  });
  const uses: Use[] = [];
  const unreadable: string[] = [];
  const record = (source: SourceFile, expression: ts.Expression, code: string, depth = 0): void => {
    const place = placeOf(source, expression);
    const found = literals(expression);
    for (const reason of found) uses.push({ reason, code, place });
    if (found.length > 0) return;
    // A function that passes its parameter on: its callers give the reason.
    const parameter = parameterOf(expression);
    const callers =
      parameter === null
        ? []
        : calls.filter((call) => call.callee === parameter.name && sees(call.source, source, parameter.name));
    if (callers.length === 0 || depth > 3) unreadable.push(`${place}: ${expression.getText()}`);
    for (const caller of callers) {
      const argument = argumentFor(caller.node, parameter!);
      if (argument !== undefined) record(caller.source, argument, code, depth + 1);
    }
  };
  for (const { source, node, callee } of calls) {
    if (source.moduleName === 'kernel') continue;
    const [first, second] = node.arguments ?? [];
    if (callee === 'DomainError' && first !== undefined && second !== undefined) {
      if (ts.isStringLiteral(first)) record(source, second, first.text);
      else unreadable.push(`${placeOf(source, node)}: a code that is not written out`);
    } else if (Object.hasOwn(makers, callee) && source.text.includes('kernel/index.ts')) {
      if (first !== undefined) record(source, first, makers[callee]!);
    }
  }
  return { uses, unreadable };
}

const sources = readSources('src');
const { uses, unreadable } = usesOfReasons(sources);

t.test('a reason is a slug', async (t) => {
  t.ok(uses.length > 20, `${uses.length} places give a reason`);
  t.strictSame(
    uses.filter(({ reason }) => !/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(reason)),
    [],
  );
});

t.test('one reason has one code, wherever it is thrown', async (t) => {
  const byReason = Map.groupBy(uses, (use) => use.reason);
  const torn = [...byReason].filter(([, places]) => new Set(places.map(({ code }) => code)).size > 1);
  t.strictSame(
    torn.map(([reason, places]) => [reason, ...places.map(({ code, place }) => `${code} at ${place}`)]),
    [],
  );
});

t.test('reasons are literals, so that a search finds them', async (t) => {
  const carriers = ['src/config/problems.ts'];
  t.strictSame(
    unreadable.filter((place) => !carriers.some((file) => place.startsWith(file))),
    [],
  );
});

t.test('a reason that code compares with is one that code throws', async (t) => {
  const given = new Set([...uses.map(({ reason }) => reason), 'internal', 'not_found']);
  for (const source of sources) {
    walk(source.tree, (node) => {
      if (ts.isPropertyAssignment(node) && node.name.getText() === 'reason')
        for (const one of literals(node.initializer)) given.add(one);
    });
  }
  const unknown: string[] = [];
  for (const source of sources) {
    walk(source.tree, (node) => {
      if (!ts.isBinaryExpression(node) || !ts.isStringLiteral(node.right)) return;
      if (!/^(error|fault|refusal|cause)\??\.reason$/.test(node.left.getText())) return;
      if (!given.has(node.right.text)) unknown.push(`${placeOf(source, node)} asks for ${node.right.text}`);
    });
  }
  t.strictSame(unknown, []);
});

t.test('the check finds reasons in every form', async (t) => {
  const text = `
    import { invalid, unavailable, DomainError } from '../kernel/index.ts';
    throw invalid('one', 'words');
    throw unavailable(busy ? 'two' : 'three', 'words');
    const bad = (words: string, reason: string) => invalid(reason, words);
    throw bad('words', 'four');
    function find({ what, reason }: Wanted) { throw notFound(reason, what); }
    find({ what: 'key', reason: 'six' });
    throw new DomainError('conflict', 'five', 'words');
    throw invalid(somewhere.else, 'words');
  `;
  const found = usesOfReasons([parseSource('src/accounts/x.ts', text)]);
  t.same(found.uses.map(({ reason, code }) => `${code} ${reason}`).sort(), [
    'conflict five',
    'invalid four',
    'invalid one',
    'not_found six',
    'unavailable three',
    'unavailable two',
  ]);
  t.equal(found.unreadable.length, 1);
});
