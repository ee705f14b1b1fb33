import ts from 'typescript';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isProse } from './find-words.ts';

/** Calls whose arguments are for programs, or have their own place in the catalogue. */
const silent =
  /^(?:t|rich|message|viewCount|eventSentence|createLru|invalid|unauthenticated|forbidden|conflict|unavailable|rateLimited|notFound|internal|DomainError|Error|HttpError|TypeError|RegExp|set|vary|get|header|prepare|sql|info|warn|error|debug|dateFormat|numberFormat)$/;

/** Values of headers, shell commands, lines of configuration or script. */
const notation =
  /^(?:private|public), |^Cookie, |^(?:text|application)\/|^default-src |^git |^const |^[\w-]+=\S|^<|^Vary$/;

/** Words of a file of `src/pages` that are in no catalogue: `file:line: words`. */
export function wordsOfView(file: string, text: string): string[] {
  const tree = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const report = (node: ts.Node, words: string): void => {
    const line = tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1;
    const text = words.replace(/<[^>]*>/g, '').trim();
    // Headers, their values and programs are not prose.
    if (/^[A-Z][a-z]+(?:-[A-Z][a-z]+)+$/.test(text) || notation.test(text)) return;
    if (isProse(text)) found.push(`${file}:${line}: ${words.trim().replace(/\s+/g, ' ')}`);
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
      const { expression } = node;
      const name = ts.isPropertyAccessExpression(expression) ? expression.name.text : expression.getText(tree);
      if (silent.test(name)) return;
    }
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) report(node, node.text);
    if (ts.isTemplateExpression(node))
      report(node, node.head.text + node.templateSpans.map(({ literal }) => `0${literal.text}`).join(''));
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** Words of all views and pages. */
export const wordsOfViews = (project: string): string[] =>
  globSync('src/pages/**/*.ts', { cwd: project })
    .sort()
    .flatMap((file) => wordsOfView(file, readFileSync(join(project, file), 'utf8')));
