// Loops of tests that pause between their turns: what is waited for is waited for by `waitUntil`, and what remains are
// kills at random moments and writers beside a test. Their number may only fall: who removes some writes it here.
import t from 'tap';
import ts from 'typescript';
import { parseSource, placeOf, readSources, walk } from './source-files.ts';
import type { SourceFile } from './source-files.ts';

const pauses = new Set(['setTimeout', 'setImmediate', 'sleep', 'wait', 'delay']);

/** Whether a statement pauses by itself: not in a function that it makes, except that of a promise. */
function pausesHere(node: ts.Node): boolean {
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && pauses.has(node.expression.text)) return true;
  if (ts.isIterationStatement(node, false)) return false;
  if (ts.isFunctionLike(node) && !ts.isNewExpression(node.parent)) return false;
  return ts.forEachChild(node, pausesHere) ?? false;
}

/** Loops that pause between their turns. */
function waitingLoops(source: SourceFile): string[] {
  const found: string[] = [];
  walk(source.tree, (node) => {
    if (!ts.isWhileStatement(node) && !ts.isForStatement(node) && !ts.isDoStatement(node)) return;
    if (pausesHere(node.statement)) found.push(placeOf(source, node));
  });
  return found;
}

t.test('the check sees each form', async (t) => {
  const loopsIn = (text: string) => waitingLoops(parseSource('test/x/made.ts', text)).length;
  for (const loop of [
    'while (!isDone()) await sleep(5);',
    'for (;;) { if (isDone()) break; await new Promise((resolve) => setTimeout(resolve, 5)); }',
    'do { await delay(5); } while (!isDone());',
  ])
    t.equal(loopsIn(loop), 1, loop);
  for (const other of ['await sleep(5);', 'for (const each of all) await sleep(each);', 'while (go()) await step();'])
    t.equal(loopsIn(other), 0, other);
});

t.test('tests wait by `waitUntil`', async (t) => {
  const found = readSources('test').flatMap(waitingLoops);
  t.ok(found.length <= 46, `${found.length} loops wait by themselves: ${found.join(', ')}`);
});
