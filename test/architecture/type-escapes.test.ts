// Places where the program tells the compiler that it knows better. Their numbers may only fall: who removes some
// writes the new number here, and new code checks instead (`noUncheckedIndexedAccess` asks for it).
import t from 'tap';
import ts from 'typescript';
import { readSources, walk } from './source-files.ts';

const counts = { nonNull: 0, neverCasts: 0, anys: 0 };
for (const { tree } of readSources('src', 'bin')) {
  walk(tree, (node) => {
    if (ts.isNonNullExpression(node)) counts.nonNull += 1;
    if (ts.isAsExpression(node) && node.type.kind === ts.SyntaxKind.NeverKeyword) counts.neverCasts += 1;
    if (node.kind === ts.SyntaxKind.AnyKeyword) counts.anys += 1;
  });
}

t.test('the program claims no more than before that a value is there or of the right type', async (t) => {
  t.ok(counts.nonNull <= 1_230, `${counts.nonNull} times "!"`);
  t.ok(counts.neverCasts <= 72, `${counts.neverCasts} times "as never"`);
  t.equal(counts.anys, 0, 'any');
});
