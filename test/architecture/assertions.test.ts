// In tap an array in the pattern of `t.match` stands for every array that begins so: `[]` for all of them. "And nothing
// else" is said by `t.strictSame` on the list, or by `{ length: 0 }` in the pattern.
import t from 'tap';
import ts from 'typescript';
import { placeOf, readSources, walk } from './source-files.ts';
import type { SourceFile } from './source-files.ts';

/** Patterns from before this check, by file; the numbers only ever become smaller. */
const known: Readonly<Record<string, number>> = {
  'test/backup/backups.test.ts': 1,
  'test/ci/hostile-workflows.test.ts': 1,
  'test/ci/tasks.test.ts': 2,
  'test/ci/v3-artifacts.test.ts': 1,
  'test/cli/commands.test.ts': 1,
  'test/cli/forge-client.test.ts': 1,
  'test/cli/pull.test.ts': 2,
  'test/federation/commands.test.ts': 1,
  'test/federation/follows.test.ts': 4,
  'test/git/browse.test.ts': 1,
  'test/git/merges.test.ts': 1,
  'test/http-api/api.test.ts': 1,
  'test/http-api/branch-rules-api.test.ts': 3,
  'test/http-api/ci-api.test.ts': 1,
  'test/http-api/contents-api.test.ts': 2,
  'test/http-api/pulls-api.test.ts': 7,
  'test/http-api/releases-api.test.ts': 1,
  'test/http-artifacts/artifacts.test.ts': 2,
  'test/http-runner/hostile-input.test.ts': 1,
  'test/http-runner/protocol.test.ts': 1,
  'test/issues/export-import.test.ts': 2,
  'test/issues/issue-lifecycle.test.ts': 1,
  'test/issues/templates.test.ts': 2,
  'test/organisations/teams.test.ts': 1,
  'test/pages/issues/new-issue.test.ts': 1,
  'test/pages/markdown/rendered-markdown.test.ts': 1,
  'test/pulls/code-owners.test.ts': 1,
  'test/pulls/merging.test.ts': 1,
  'test/pulls/stacks.test.ts': 3,
  'test/repositories/branch-rules.test.ts': 1,
  'test/search/code-search.test.ts': 1,
  'test/signing/gpg-keys.test.ts': 1,
  'test/webhooks/issue-webhooks.test.ts': 2,
  'test/webhooks/webhooks.test.ts': 2,
};

/** The empty arrays in patterns of `match`. */
function emptyPatterns(source: SourceFile): ts.Node[] {
  const found: ts.Node[] = [];
  walk(source.tree, (call) => {
    if (!ts.isCallExpression(call) || !ts.isPropertyAccessExpression(call.expression)) return;
    const [, pattern] = call.arguments;
    if (call.expression.name.text !== 'match' || pattern === undefined) return;
    walk(pattern, (node) => {
      if (ts.isArrayLiteralExpression(node) && node.elements.length === 0) found.push(node);
    });
  });
  return found;
}

t.test('no pattern of t.match has an empty array, which matches every array', async (t) => {
  const files = new Map(
    readSources('test').map((source) => [source.path, emptyPatterns(source).map((node) => placeOf(source, node))]),
  );
  for (const [file, places] of files)
    t.ok(places.length <= (known[file] ?? 0), `${places.join(', ') || file}: use { length: 0 } or t.strictSame`);
  for (const [file, count] of Object.entries(known))
    t.equal(files.get(file)?.length, count, `${file}: lower its number`);
});
