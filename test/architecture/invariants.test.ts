// The invariants of docs/security-model.md that are claimed to hold: each has a test that names it.
import t from 'tap';
import ts from 'typescript';
import { readSources, walk } from './source-files.ts';

const through = (group: string, last: number): string[] =>
  Array.from({ length: last }, (_, index) => `${group}${String(index + 1).padStart(2, '0')}`);

/** On git, files, output, accounts, access, SSH, exhaustion and data. */
const claimed = [
  ...through('A', 9),
  ...through('B', 8),
  ...through('C', 11),
  ...through('D', 13),
  ...through('E', 9),
  ...through('F', 9),
  ...through('I', 12),
  ...through('J', 9),
];

/** Ids after the word "security": `security A01, A02 no address …`. */
const idsIn = (text: string): string[] => {
  const [, behind = ''] = /\bsecurity\b(.*)/is.exec(text) ?? [];
  return behind.match(/\b[A-K]\d\d\b/g) ?? [];
};

t.test('every claimed invariant has a test with its id', async (t) => {
  const named = new Set<string>();
  for (const { path, tree } of readSources('test')) {
    if (!path.endsWith('.test.ts') || path.endsWith('architecture/invariants.test.ts')) continue;
    walk(tree, (node) => {
      if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) for (const id of idsIn(node.text)) named.add(id);
    });
  }
  t.same(
    claimed.filter((id) => !named.has(id)),
    [],
  );
});

t.test('the check parses ids as they are written', async (t) => {
  t.same(idsIn('SPEC §5, security D11, E03: who may do what'), ['D11', 'E03']);
  t.same(idsIn('security I05 a tree'), ['I05']);
  t.same(idsIn('I05 a tree of security'), []);
});
