import t from 'tap';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { projectFolder, trackedFiles } from './source-files.ts';

const files = trackedFiles();
const read = (file: string): string => readFileSync(path.join(projectFolder, file), 'utf8');
const below = (...folders: string[]): string[] => files.filter((file) => folders.includes(file.split('/')[0]!));

/** Folders with our own naming rules; elsewhere (the root, .ci) other programs define file names. */
const ours = below('src', 'bin', 'migrations', 'test', 'scripts', 'bench', 'templates', 'proto').filter(
  (file) => file !== 'bench/RESULTS.md',
);

t.test('files and folders are kebab-case', async (t) => {
  const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*$/;
  // Partials begin with an underscore, by pug's convention.
  const wrong = ours.filter(
    (file) => !file.split('/').every((part) => kebab.test(part) || /^_[a-z0-9-]+\.pug$/.test(part)),
  );
  t.strictSame(wrong, []);
});

t.test('no file or folder has a name that says nothing about its content', async (t) => {
  const empty = ['util', 'utils', 'helper', 'helpers', 'common', 'misc', 'manager', 'base', 'shared', 'stuff'];
  const lastWord = (part: string): string => part.replace(/\..*$/, '').split('-').at(-1)!;
  t.strictSame(
    ours.filter((file) => file.split('/').some((part) => empty.includes(lastWord(part)))),
    [],
  );
});

/** A table may be long; each with its content. */
const longTables: Record<string, string> = {
  'src/config/options.ts': 'every option',
};

t.test('no file of src is above 400 lines, except tables', async (t) => {
  const lines = (file: string): number => read(file).split('\n').length - 1;
  t.strictSame(
    below('src')
      .filter((file) => lines(file) > 400 && !Object.hasOwn(longTables, file))
      .map((file) => `${file}: ${lines(file)}`),
    [],
  );
  for (const file of Object.keys(longTables)) t.ok(files.includes(file) && lines(file) > 400, `still long: ${file}`);
});

t.test('every module has a public interface', async (t) => {
  const modules = readdirSync(path.join(projectFolder, 'src'), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  for (const { name } of modules)
    t.ok(existsSync(path.join(projectFolder, 'src', name, 'index.ts')), `src/${name}/index.ts`);
});

t.test('every test is in a folder of the module that it tests', async (t) => {
  const ownFolders = [
    'e2e',
    'docs',
    'chaos',
    'architecture',
    'fixtures',
    'scripts',
    'bench',
    'migrations',
    'templates',
    'app.test.ts',
    // Lists for scripts/mutations, of all modules.
    'mutations',
  ];
  const modules = new Set([...ownFolders, ...readdirSync(path.join(projectFolder, 'src'))]);
  t.strictSame(
    below('test').filter((file) => !modules.has(file.split('/')[1]!)),
    [],
  );
});

/** Tests of pages that look at one thing in many places of a subject. */
const acrossPages = [
  'code/large-content',
  'issues/issue-rights',
  'markdown/references',
  'markdown/remote-images',
  'pulls/run-approval',
  'repository/link-previews',
  'repository/offered-actions',
  'repository/repository-settings',
];

t.test('the test of a page has its path below test/pages, with the name of the page or of its subject', async (t) => {
  const tests = files.filter(
    (file) => /^test\/pages\/.+\.test\.ts$/.test(file) && file !== 'test/pages/routes.test.ts',
  );
  t.ok(tests.length > 40, 'it sees the tests');
  for (const test of tests) {
    const name = test.slice('test/pages/'.length, -'.test.ts'.length);
    const [folder, file] = name.split('/') as [string, string];
    t.ok(
      ['.page.ts', '.view.ts', '.ts'].some((ending) => files.includes(`src/pages/${name}${ending}`)) ||
        file === `${folder}-pages` ||
        acrossPages.includes(name),
      test,
    );
  }
});

t.test('ARCHITECTURE.md has every module in the order of imports, and no other in its table', async (t) => {
  const text = read('ARCHITECTURE.md');
  const modules = readdirSync(path.join(projectFolder, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
  const order = /^`(cli → .*)`$/m.exec(text)?.[1]?.split(/[ →]+/) ?? [];
  t.strictSame(order.toSorted(), modules.sort());
  const table = text.slice(text.indexOf('| Module |'), text.indexOf('## Request flows'));
  const rows = [...table.matchAll(/^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \|/gm)].flatMap(([, names]) => names!.split(', '));
  t.ok(rows.length > 10);
  for (const name of rows) t.ok(modules.includes(name.replaceAll('`', '')), `${name} is a module`);
});

t.test('every file that a document names exists', async (t) => {
  const pages = files.filter((file) => /^[A-Z]+\.md$/.test(file) && file !== 'CHANGELOG.md');
  for (const page of pages) {
    const named = [...read(page).matchAll(/`((?:src|bin|test|scripts|migrations|templates|bench|proto)\/[\w./-]*)`/g)];
    for (const [, file] of named) t.ok(existsSync(path.join(projectFolder, file!)), `${page} names ${file}`);
    for (const [, link] of read(page).matchAll(/\]\(((?!https?:|mailto:|#)[^)#]+)/g)) {
      t.ok(existsSync(path.join(projectFolder, link!)), `${page} links to ${link}`);
    }
  }
});

t.test('no tracked file contains a local path or the host of a package registry', async (t) => {
  const isText = (file: string): boolean => !read(file).includes('\0');
  const here = projectFolder.replace(/\/$/, '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const places: [RegExp, string][] = [
    // A folder directly below the root could have any name.
    ...(here.split('/').length > 2
      ? [[new RegExp(`(^|[^\\w.\\-/])${here}(?![\\w-])`, 'm'), 'this checkout'] as [RegExp, string]]
      : []),
    [/(^|[\s'"`(=:])\/(root|work|Users|home\/(?!git\b)[a-z]+)\b/m, 'a home folder'],
    // A call of our module `packages` is no host.
    [/\b(registry|npm|packages|artifactory|nexus)\.[a-z0-9-]+\.[a-z]{2,}\b(?!\()/i, 'a package server'],
    [/"resolved":/, 'a download address'],
  ];
  const wrong: string[] = [];
  for (const file of files.filter((name) => name !== 'test/architecture/names.test.ts' && isText(name))) {
    const text = read(file);
    for (const [pattern, what] of places) {
      const found = pattern.exec(text);
      if (found !== null)
        wrong.push(`${file}:${text.slice(0, found.index).split('\n').length} names ${what}: ${found[0].trim()}`);
    }
  }
  t.strictSame(wrong, []);
});

t.test('package.json names exact versions', async (t) => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json')) as Record<
    string,
    Record<string, string>
  >;
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
    // Two versions of one package are listed under two names.
    t.match(version, /^(?:npm:@?[a-z/-]+@)?\d+\.\d+\.\d+$/, name);
  }
});
