// The sources as the checks in this folder see them: projectFolder, trackedFiles(), readSources(folder…),
// parseSource(path, text), commentsOf(source), testTitles(source), valueImports(source), walk(node, visit),
// placeOf(source, node).
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export const projectFolder = fileURLToPath(new URL('../../', import.meta.url));

export interface SourceFile {
  /** From the project folder, with forward slashes: `src/db/index.ts`. */
  path: string;
  /** `db` for `src/db/…`, else the top folder. */
  moduleName: string;
  text: string;
  imports: Import[];
  tree: ts.SourceFile;
}

interface Import {
  /** As written: a relative path, `node:fs`, `typeorm`. */
  specifier: string;
  /** The file a relative import means, from the project folder; `null` for packages and built-ins. */
  file: string | null;
}

/** The files that git tracks, and new files that are not ignored. */
export function trackedFiles(): string[] {
  const run = (...args: string[]) => execFileSync('git', args, { cwd: projectFolder, encoding: 'utf8' });
  const listed = run('ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0');
  const isFile = (file: string): boolean =>
    file !== '' && lstatSync(path.join(projectFolder, file), { throwIfNoEntry: false })?.isFile() === true;
  return [...new Set(listed)].filter(isFile).sort();
}

/** All TypeScript files below folders of the project; type-only and dynamic imports are imports too. */
export function readSources(...folders: string[]): SourceFile[] {
  return folders
    .filter((folder) => existsSync(path.join(projectFolder, folder)))
    .flatMap((folder) =>
      readdirSync(path.join(projectFolder, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
        path.posix.join(folder, name),
      ),
    )
    .filter((file) => file.endsWith('.ts'))
    .sort()
    .map(readSource);
}

function readSource(file: string): SourceFile {
  return parseSource(file, readFileSync(path.join(projectFolder, file), 'utf8'));
}

export function parseSource(file: string, text: string): SourceFile {
  const [top, second] = file.split('/');
  return {
    path: file,
    moduleName: top === 'src' ? second!.replace(/\.ts$/, '') : top!,
    text,
    imports: ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => ({
      specifier: fileName,
      file: /^\.\.?\//.test(fileName) ? path.posix.join(path.posix.dirname(file), fileName) : null,
    })),
    tree: ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true),
  };
}

export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => walk(child, visit));
}

/** `src/db/database.ts:12`, for messages. */
export function placeOf(source: SourceFile, node: ts.Node): string {
  return `${source.path}:${source.tree.getLineAndCharacterOfPosition(node.getStart(source.tree)).line + 1}`;
}

interface ValueImport {
  /** Built-in modules always with `node:`. */
  module: string;
  /** Names as the module has them; `*` for the whole of it. */
  names: string[];
  node: ts.Node;
}

/**
 * What a file brings in at run time: import and re-export statements that
 * survive type stripping, `import(…)`, and any call with a built-in's name as
 * its first argument (`require`, what `createRequire` made, `getBuiltinModule`).
 */
export function valueImports(source: SourceFile): ValueImport[] {
  const found: ValueImport[] = [];
  const add = (module: string, names: string[], node: ts.Node): void => {
    if (isBuiltin(module)) module = `node:${module.replace(/^node:/, '')}`;
    if (names.length > 0) found.push({ module, names, node });
  };
  walk(source.tree, (node) => {
    if (ts.isImportDeclaration(node)) {
      if (node.importClause?.isTypeOnly !== true)
        add((node.moduleSpecifier as ts.StringLiteral).text, importedNames(node), node);
    } else if (ts.isExportDeclaration(node)) {
      const from = node.moduleSpecifier as ts.StringLiteral | undefined;
      if (!node.isTypeOnly && from !== undefined) add(from.text, ['*'], node);
    } else if (ts.isCallExpression(node)) {
      const [first] = node.arguments;
      if (first === undefined || !ts.isStringLiteralLike(first)) return;
      if (isBuiltin(first.text) || node.expression.kind === ts.SyntaxKind.ImportKeyword) add(first.text, ['*'], node);
    }
  });
  return found;
}

function importedNames({ importClause }: ts.ImportDeclaration): string[] {
  const bindings = importClause?.namedBindings;
  if (importClause?.name !== undefined || bindings === undefined || !ts.isNamedImports(bindings)) return ['*'];
  return bindings.elements.filter((name) => !name.isTypeOnly).map((name) => (name.propertyName ?? name.name).text);
}

interface Comment {
  /** Without the marks that begin and end it. */
  text: string;
  line: number;
}

/** Every comment of a TypeScript or JavaScript file, in order; lines of `//` one by one. */
export function commentsOf(source: SourceFile): Comment[] {
  const found = new Map<number, Comment>();
  const add = (position: number): void => {
    const ranges = [
      ...(ts.getLeadingCommentRanges(source.text, position) ?? []),
      ...(ts.getTrailingCommentRanges(source.text, position) ?? []),
    ];
    for (const { pos, end } of ranges) {
      const text = source.text
        .slice(pos, end)
        .replace(/^\/\/|^\/\*+|\*\/$/g, '')
        .replace(/^[ \t]*\*/gm, '');
      found.set(pos, { text, line: source.tree.getLineAndCharacterOfPosition(pos).line + 1 });
    }
  };
  const tokens = (node: ts.Node): void => {
    if (ts.isJsxText(node)) return;
    add(node.getFullStart());
    add(node.end);
    for (const child of node.getChildren(source.tree)) if (!ts.isJSDoc(child)) tokens(child);
  };
  tokens(source.tree);
  return [...found].sort(([a], [b]) => a - b).map(([, comment]) => comment);
}

/** The titles of a file's tests: the first argument of `t.test(…)` and its like, where it is a text. */
export function testTitles(source: SourceFile): Comment[] {
  const found: Comment[] = [];
  walk(source.tree, (node) => {
    if (!ts.isCallExpression(node)) return;
    const called = node.expression;
    const name = ts.isPropertyAccessExpression(called) ? called.name.text : ts.isIdentifier(called) ? called.text : '';
    const [title] = node.arguments;
    if (!/^(test|holds)$|Test$/.test(name) || title === undefined) return;
    if (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title)) {
      const { line } = source.tree.getLineAndCharacterOfPosition(title.getStart(source.tree));
      found.push({ text: title.getText(source.tree).slice(1, -1), line: line + 1 });
    }
  });
  return found;
}
