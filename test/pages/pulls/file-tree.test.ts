// The tree of changed files: folders that hold one folder alone are joined, and no file is lost.
import t from 'tap';
import { viewFileTree } from '../../../src/pages/pulls/file-tree.view.ts';
import type { FileTree } from '../../../src/pages/pulls/file-tree.view.ts';

const tree = (...paths: string[]): FileTree =>
  viewFileTree(
    paths.map((path) => ({ path, url: `#${path}`, status: 'modified', added: 1, removed: 0, isViewed: false })),
  );

const lines = ({ folders, files }: FileTree, indent = ''): string[] => [
  ...folders.flatMap((folder) => [`${indent}${folder.name}/`, ...lines(folder, `${indent}  `)]),
  ...files.map(({ name, url }) => `${indent}${name} ${url}`),
];

t.test('folders of one folder are joined, folders come first', async (t) => {
  t.strictSame(lines(tree('a/b/c/d.ts', 'a/b/c/e.ts', 'a.ts', 'b/x.ts', 'b/y/z.ts')), [
    'a/b/c/',
    '  d.ts #a/b/c/d.ts',
    '  e.ts #a/b/c/e.ts',
    'b/',
    '  y/',
    '    z.ts #b/y/z.ts',
    '  x.ts #b/x.ts',
    'a.ts #a.ts',
  ]);
});

t.test('odd paths', async (t) => {
  t.strictSame(lines(tree()), []);
  t.strictSame(lines(tree('constructor/__proto__/x', '__proto__')), [
    'constructor/__proto__/',
    '  x #constructor/__proto__/x',
    '__proto__ #__proto__',
  ]);
  const deep = `${'a/'.repeat(300)}x`;
  t.equal(lines(tree(deep)).length, 2);
});
