import ts from 'typescript';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A sentence that code throws: `There is no branch {branch}.` */
interface Refusal {
  reason: string;
  /** English, with the holes of the template literal as values in braces. */
  message: string;
  place: string;
}

/** The constructors of kernel's errors, and which argument is the reason. Pages have one text for everything absent. */
const makers: Readonly<Record<string, number>> = {
  invalid: 0,
  unauthenticated: 0,
  forbidden: 0,
  conflict: 0,
  unavailable: 0,
  rateLimited: 0,
  DomainError: 1,
  HttpError: 0,
};

/** Modules whose errors no page shows: protocols, commands, and what only an administrator of the machine meets. */
const elsewhere = /^src\/(?:cli|config|control|db|doctor|backup|http-(?!$)[a-z]+|ssh|scheduler|updates|nodes)\//;

function texts(node: ts.Expression): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (ts.isNumericLiteral(node)) return [`http_${node.text}`];
  if (ts.isParenthesizedExpression(node)) return texts(node.expression);
  if (ts.isConditionalExpression(node)) return [...texts(node.whenTrue), ...texts(node.whenFalse)];
  if (ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken)
    return texts(node.left).flatMap((left) => texts(node.right).map((right) => left + right));
  if (ts.isTemplateExpression(node)) {
    const names = new Map<string, number>();
    return [
      node.head.text +
        node.templateSpans.map((span) => `{${nameOf(span.expression, names)}}${span.literal.text}`).join(''),
    ];
  }
  return [`{${nameOf(node, new Map())}}`];
}

function nameOf(node: ts.Expression, names: Map<string, number>): string {
  let name = 'value';
  for (let one: ts.Node = node; ; ) {
    if (ts.isIdentifier(one)) name = one.text;
    else if (ts.isPropertyAccessExpression(one)) name = one.name.text;
    else if (ts.isCallExpression(one)) {
      one = one.arguments.length === 1 ? one.arguments[0]! : one.expression;
      continue;
    } else if (ts.isNonNullExpression(one) || ts.isElementAccessExpression(one)) {
      one = one.expression;
      continue;
    }
    break;
  }
  const slug = name
    .replace(/[A-Z]+/g, (letters) => `_${letters.toLowerCase()}`)
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+/, '');
  const seen = names.get(slug) ?? 0;
  names.set(slug, seen + 1);
  return seen === 0 ? slug : `${slug}${seen + 1}`;
}

const known = new Map<string, Refusal[]>();

/** Every sentence of a refusal that a page can show. */
export function findRefusals(project: string): Refusal[] {
  const found = known.get(project) ?? readRefusals(project);
  known.set(project, found);
  return found;
}

function readRefusals(project: string): Refusal[] {
  return globSync('src/**/*.ts', { cwd: project })
    .filter((file) => !elsewhere.test(file) && !file.startsWith('src/kernel/'))
    .sort()
    .flatMap((file) => refusalsOf(file, readFileSync(join(project, file), 'utf8')));
}

const mayThrow = new RegExp(`\\b(?:${Object.keys(makers).join('|')})\\(`);

export function refusalsOf(file: string, text: string): Refusal[] {
  if (!mayThrow.test(text)) return [];
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Refusal[] = [];
  const visit = (node: ts.Node): void => {
    ts.forEachChild(node, visit);
    if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return;
    if (!ts.isIdentifier(node.expression) || !Object.hasOwn(makers, node.expression.text)) return;
    const at = makers[node.expression.text]!;
    const reason = node.arguments?.[at];
    const message = node.arguments?.[at + 1];
    if (reason === undefined || message === undefined) return;
    const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
    const place = `${file}:${line}`;
    for (const one of texts(reason))
      for (const words of texts(message)) found.push({ reason: one, message: words, place });
  };
  visit(tree);
  return found;
}
