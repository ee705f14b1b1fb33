// What a file exports is used by another file: what only its own file uses is not exported, so that a reader of a
// declaration knows how far a change of it reaches.
import t from 'tap';
import path from 'node:path';
import ts from 'typescript';
import { libraries, tasks } from '../../src/embedded/workers.ts';
import { parseSource, readSources, walk, type SourceFile } from './source-files.ts';

/** Exports that no import names, with the reason. */
const exceptions: Readonly<Record<string, string>> = {
  'src/embedded/from-executable.ts embedded': 'the build puts this file in the place of from-disk.ts',
  'src/translation/index.ts enablePseudoLanguages': 'languages for tests of the layout',
  ...Object.fromEntries(Object.values(tasks).map((file) => [`${file} run`, 'loaded by its path'])),
};

const libraryFiles: ReadonlySet<string> = new Set(Object.values(libraries));
/** Loaded as a whole: by a pattern of names, or by its path. */
const isLoadedWhole = (file: string): boolean =>
  file.startsWith('test/mutations/') || file.endsWith('.d.ts') || libraryFiles.has(file);

function exportsOf({ tree }: SourceFile): string[] {
  return tree.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) {
      const clause = statement.exportClause;
      return clause !== undefined && ts.isNamedExports(clause) ? clause.elements.map(({ name }) => name.text) : [];
    }
    const isExported =
      ts.canHaveModifiers(statement) &&
      ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    if (!isExported) return [];
    return ts.isVariableStatement(statement)
      ? statement.declarationList.declarations.flatMap(({ name }) => boundNames(name))
      : [(statement as ts.DeclarationStatement).name?.getText(tree) ?? 'default'];
  });
}

const boundNames = (name: ts.BindingName): string[] =>
  ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : boundNames(element.name)));

/** The names that a file takes from others, as `file name`; `*` for all of them. */
function usesOf({ path: from, text, tree }: SourceFile): string[] {
  const found: string[] = [];
  const add = (specifier: ts.Node | undefined, names: Iterable<string>): void => {
    if (specifier === undefined || !ts.isStringLiteralLike(specifier) || !specifier.text.startsWith('.')) return;
    const file = path.posix.join(path.posix.dirname(from), specifier.text);
    for (const name of names) found.push(`${file} ${name}`);
  };
  walk(tree, (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      const named = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
      const isList = named !== undefined && (ts.isNamedImports(named) || ts.isNamedExports(named));
      const elements: readonly (ts.ImportSpecifier | ts.ExportSpecifier)[] = isList ? named.elements : [];
      add(node.moduleSpecifier, isList ? elements.map((one) => (one.propertyName ?? one.name).text) : ['*']);
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add(node.argument.literal, node.qualifier === undefined ? ['*'] : node.qualifier.getText(tree).split('.'));
    } else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      // Any word of the file may be a member of what it loads.
      add(node.arguments[0], new Set(text.match(/\w+/g)));
    }
  });
  return found;
}

function unusedExports(sources: readonly SourceFile[]): string[] {
  const used = new Set(sources.flatMap(usesOf));
  return sources
    .filter((source) => !isLoadedWhole(source.path) && !used.has(`${source.path} *`))
    .flatMap((source) => exportsOf(source).map((name) => `${source.path} ${name}`))
    .filter((name) => !used.has(name) && exceptions[name] === undefined);
}

t.test('the check sees each form of import', async (t) => {
  const declared = 'export const a = 1, b = 2; export function c() {} export interface D {} export const { e } = it;';
  const sources = (user: string) => [parseSource('src/x/made.ts', declared), parseSource('src/y/user.ts', user)];
  const unused = (user: string) => unusedExports(sources(user)).map((name) => name.split(' ')[1]);
  t.strictSame(unused(''), ['a', 'b', 'c', 'D', 'e']);
  t.strictSame(unused("import { a, type D, c as f } from '../x/made.ts'"), ['b', 'e']);
  t.strictSame(unused("import * as all from '../x/made.ts'"), []);
  t.strictSame(unused("const { b } = await import('../x/made.ts')"), ['a', 'c', 'D', 'e']);
  t.strictSame(unused("type It = import('../x/made.ts').D"), ['a', 'b', 'c', 'e']);
});

t.test('each export is used by another file', async (t) => {
  const sources = readSources('src', 'bin', 'migrations', 'test', 'scripts', 'bench');
  t.strictSame(
    unusedExports(sources).filter((name) => !name.startsWith('migrations/')),
    [],
    'delete it, or declare it without `export`',
  );
});
