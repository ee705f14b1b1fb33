// Parsers of untrusted text with more than linear time are only loaded in threads of the worker pool.
import t from 'tap';
import path from 'node:path';
import { libraries as partsOfTheirOwn, tasks, workers } from '../../src/embedded/workers.ts';
import { readSources, valueImports } from './source-files.ts';
import type { SourceFile } from './source-files.ts';

const sources = new Map(readSources('src', 'bin', 'migrations').map((source) => [source.path, source]));
const taskFiles: readonly string[] = Object.values(tasks);

/** Libraries, by import specifier. */
const libraries = [
  'yaml',
  'htmlparser2',
  'markdown-it',
  'sanitize-html',
  '@asciidoctor/core',
  'highlight.js',
  '@actions/expressions',
  'openpgp',
];
/** Parsers of our own. */
const ownParsers: Record<string, string> = {
  'src/ci/workflows/read-yaml.ts': 'YAML',
  'src/ci/workflows/parse-workflow.ts': 'workflows, with what their aliases and merge keys stand for',
  'src/ci/workflows/write-payload.ts': 'the job that a runner gets',
  'src/pages/markdown/render-markdown.ts': 'Markdown',
  'src/pages/markdown/render-asciidoc.ts': 'AsciiDoc',
  'src/pages/markdown/parse-notebook.ts': 'notebooks',
  'src/highlighting/line-writer.ts': 'coloured code',
  'src/pages/code/word-diff.ts': 'pairs of lines',
  'src/issues/templates/parse-template.ts': 'issue templates',
  'src/pages/issues/line-diff.ts': 'revisions of a text',
  'src/signing/gpg-keys/subkeys.ts': 'OpenPGP keys',
};

/** What the main thread may load, and why. */
const exceptions: Record<string, { loads: string; because: string }> = {
  'src/ci/workflows/evaluate.ts': {
    loads: '@actions/expressions',
    because: 'evaluates inside writes, where no thread can be waited for; a budget counts what it costs',
  },
  'src/ci/workflows/counting-evaluator.ts': { loads: '@actions/expressions', because: 'it is what counts' },
  'src/ci/workflows/expression-data.ts': {
    loads: '@actions/expressions',
    because: 'data for expressions, made as far as they look at it',
  },
  'src/ci/workflows/expression-functions.ts': {
    loads: '@actions/expressions',
    because: 'functions that are counted or linear',
  },
};

/** The run-time imports of a file: our files and packages. */
function loadedBy(source: SourceFile): string[] {
  return valueImports(source).map(({ module }) =>
    /^\.\.?\//.test(module) ? path.posix.join(path.posix.dirname(source.path), module) : module,
  );
}

const isPartOf =
  (library: string) =>
  (module: string): boolean =>
    module === library || module.startsWith(`${library}/`);

/** All files that are loaded from these, directly or not. */
function reachableFrom(roots: Iterable<string>): Set<string> {
  const found = new Set<string>();
  const open = [...roots];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    const source = sources.get(file);
    if (source === undefined || found.has(file)) continue;
    found.add(file);
    open.push(...loadedBy(source));
  }
  return found;
}

/** The program itself, and all its threads and processes outside the pool. */
const outsideThePool = reachableFrom([
  'bin/hearth.ts',
  'src/cli/index.ts',
  // In the executable it replaces from-disk.ts.
  'src/embedded/from-executable.ts',
  ...Object.values(partsOfTheirOwn),
  ...Object.entries(workers).flatMap(([name, file]) => (name === 'tasks' ? [] : [file])),
]);

t.test('the main thread loads what this test expects', async (t) => {
  for (const file of [
    'src/app/open-modules.ts',
    'src/pages/middleware-chain.ts',
    'src/ci/ci.ts',
    'src/db/writer-worker.ts',
  ])
    t.ok(outsideThePool.has(file), file);
  const unseen = [...sources.keys()].filter((file) => !outsideThePool.has(file));
  const inThreads = reachableFrom([...taskFiles, workers.tasks]);
  const typesAlone = (file: string): boolean => {
    const { text } = sources.get(file)!;
    return !/^export (?!type|interface)/m.test(text);
  };
  t.strictSame(
    unseen.filter((file) => !inThreads.has(file) && !typesAlone(file)),
    [],
    'every file belongs to the one or the other',
  );
});

t.test('libraries that parse untrusted text are loaded in threads of the pool alone', async (t) => {
  const wrong: string[] = [];
  const used = new Set<string>();
  for (const file of outsideThePool) {
    for (const library of libraries) {
      const isLoaded = loadedBy(sources.get(file)!).some(isPartOf(library));
      if (!isLoaded) continue;
      if (exceptions[file]?.loads === library) used.add(file);
      else wrong.push(`${file} loads ${library} on the main thread`);
    }
  }
  t.strictSame(wrong, []);
  t.strictSame([...used].sort(), Object.keys(exceptions).sort(), 'each exception is still needed');
});

t.test('so are our own parsers, and each belongs to a task', async (t) => {
  const inThreads = reachableFrom(taskFiles);
  for (const [file, what] of Object.entries(ownParsers)) {
    t.notOk(outsideThePool.has(file), `${what}: ${file} is not loaded on the main thread`);
    t.ok(inThreads.has(file), `${what}: ${file} is loaded by a task`);
  }
  for (const library of libraries)
    t.ok(
      [...inThreads].some((file) => loadedBy(sources.get(file)!).some(isPartOf(library))) ||
        library === '@actions/expressions',
      `${library} is loaded by a task`,
    );
});

t.test('a task is a pure function: it uses no database, no git, no network and no file', async (t) => {
  const wrong: string[] = [];
  for (const file of reachableFrom(taskFiles)) {
    for (const module of loadedBy(sources.get(file)!)) {
      if (/^src\/(?:db|git|outbound|embedded|config|kernel|ci\/ci|app)\b/.test(module) || module.startsWith('node:'))
        wrong.push(`${file} loads ${module}`);
    }
  }
  t.strictSame(wrong, []);
});
