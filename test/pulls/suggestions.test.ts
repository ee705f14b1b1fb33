// Suggestions: read from comments, applied as one commit and a new round, refused where their lines have changed.
import { execFileSync } from 'node:child_process';
import t from 'tap';
import { mainThreadMs } from '../fixtures/thread-cpu.ts';
import { parseSuggestion } from '../../src/pulls/index.ts';
import { pullSchema } from '../../src/pulls/schema/pull-schema.ts';
import { replaceLines } from '../../src/pulls/suggestions/replace-lines.ts';
import { announced as pushesAnnounced } from './pulls-fixture.ts';
import { at, numbered, openReviews, reasonOf, roof } from './reviews-fixture.ts';
import type { ReviewModules } from './reviews-fixture.ts';

const fence = (...lines: string[]) =>
  `Better:\n\`\`\`suggestion\n${lines.map((line) => `${line}\n`).join('')}\`\`\`\nok?`;

t.test('the first fence of the kind suggestion', async (t) => {
  t.same(parseSuggestion(fence('a', '', 'b')), ['a', '', 'b']);
  t.same(parseSuggestion(fence()), [], 'lines that are to go');
  t.same(parseSuggestion('~~~~ suggestion\n~~~\n```\n~~~~~'), ['~~~', '```']);
  t.same(parseSuggestion('```suggestion\nopen'), ['open']);
  t.same(parseSuggestion('  ```suggestion\n   a\n  ```'), [' a'], 'without the indent of the fence');
  for (const none of [
    '',
    'a',
    '```js\n```suggestion\n```',
    '    ```suggestion\na',
    '```suggestions\na\n```',
    '```\n```suggestion',
  ])
    t.equal(parseSuggestion(none), null, none);
});

t.test('a text that is made to hurt is read in time', async (t) => {
  const before = process.threadCpuUsage();
  t.equal(parseSuggestion('```\n'.repeat(16_384)), null);
  t.equal(parseSuggestion('`'.repeat(65_536)), null);
  t.equal(parseSuggestion(`~~~ ${' '.repeat(65_000)}x`), null);
  t.equal(parseSuggestion(`${'~~~\n```\n'.repeat(8_192)}`), null);
  const { user } = process.threadCpuUsage(before);
  t.ok(user / 1000 < mainThreadMs, `${user / 1000} ms`);
});

t.test('lines of a file, every other byte kept', async (t) => {
  const replaced = (content: string, ...changes: [first: number, last: number, lines: string[]][]) =>
    replaceLines(
      Buffer.from(content, 'latin1'),
      changes.map(([firstLine, lastLine, lines]) => ({ firstLine, lastLine, lines })),
    )?.toString('latin1');
  t.equal(replaced('a\nb\nc\n', [2, 2, ['x', 'y']]), 'a\nx\ny\nc\n');
  t.equal(replaced('a\nb\nc\n', [3, 3, ['z']], [1, 1, []]), 'b\nz\n');
  t.equal(replaced('a\r\nb\r\n\xff\n', [1, 2, ['x', 'y']]), 'x\r\ny\r\n\xff\n');
  t.equal(replaced('a\nb', [2, 2, ['x']]), 'a\nx', 'no line feed at the end');
  t.equal(replaced('a\nb\nc\n', [1, 2, ['x']], [2, 3, ['y']]), undefined, 'the same line twice');
  t.equal(replaced('a\n', [2, 2, ['x']]), undefined);
  t.equal(replaced('', [1, 1, ['x']]), undefined);
});

async function suggest(
  { pulls, clock }: ReviewModules,
  viewer: ReviewModules['bob'],
  line: number,
  body: string,
  path = 'a.txt',
) {
  clock.advance(1);
  return pulls.reviews.addComment(viewer, at(1), { round: 1, path, firstLine: line, body, sendNow: true });
}

t.test('several are one commit with co-authors, and a round; their threads are resolved', async (t) => {
  const modules = await openReviews(t);
  const { pulls, issues, repositories, path, openPull, alice, bob, carol } = modules;
  repositories.pushes.onPush(pulls.onPush);
  await openPull(alice, { 'a.txt': numbered(30, { 10: 'ten' }), 'deep/er/b.txt': 'one\r\ntwo\r\n' });
  const comments = [
    await suggest(modules, bob, 10, fence('TEN', 'and a half')),
    await suggest(modules, carol, 2, fence()),
    await suggest(modules, alice, 2, fence('TWO'), 'deep/er/b.txt'),
  ];
  const { oid } = await pulls.suggestions.apply(alice, at(1), { comments, round: 1 });
  await pushesAnnounced(modules);
  const show = (...args: string[]) => execFileSync('git', [`--git-dir=${path}`, ...args]).toString();
  t.equal(show('show', '--no-patch', '--format=%B', oid).trim().split('\n')[0], 'Apply suggestions from review');
  t.same(show('show', '--no-patch', '--format=%(trailers:key=Co-authored-by,valueonly)', oid).match(/^\w+/gm), [
    'bob',
    'carol',
  ]);
  t.equal(show('show', `${oid}:deep/er/b.txt`), 'one\r\nTWO\r\n');
  t.equal(show('show', `${oid}:a.txt`), numbered(30, { 10: 'TEN\nand a half' }).replace('line 2\n', ''));
  t.equal(show('rev-parse', 'topic').trim(), oid);
  t.equal(show('fsck', '--strict', oid).trim(), '');
  const { pull } = await pulls.find(alice, at(1));
  t.match(pull, { lastRound: 2, headOid: oid });
  const threads = await pulls.threads.list(bob, at(1));
  t.ok(threads.every(({ resolvedBy, comments: [comment] }) => resolvedBy === alice.id && comment!.appliedOid === oid));
  const entries = (await issues.listEntries(alice, at(1))).entries.slice(-2);
  t.same(entries.map(({ kind }) => kind).sort(), ['applied', 'round']);
  t.equal(await reasonOf(pulls.suggestions.apply(alice, at(1), { comments, round: 2 })), 'suggestion_applied');
});

t.test('refused: not there, changed, another round, without the right, twice the same line', async (t) => {
  const modules = await openReviews(t);
  const { pulls, issues, openPull, nextRound, alice, bob } = modules;
  await openPull(alice);
  const good = await suggest(modules, bob, 10, fence('TEN'));
  const other = await suggest(modules, bob, 10, fence('Ten'));
  const far = await suggest(modules, bob, 20, fence('twenty'));
  const plain = await suggest(modules, bob, 3, 'no fence');
  const same = await suggest(modules, bob, 5, fence('line 5'));
  const apply = (viewer: typeof bob, comments: (typeof good)[], round = 1) =>
    reasonOf(pulls.suggestions.apply(viewer, at(1), { comments, round }));
  t.equal(await apply(alice, []), 'no_suggestion');
  t.equal(await apply(alice, [plain]), 'no_suggestion');
  t.equal(await apply(alice, [good, other]), 'suggestions_overlap');
  t.equal(await apply(alice, [{ ...good, position: 9 }]), 'comment_not_found');
  t.equal(await apply(alice, [same]), 'nothing_to_apply');
  t.equal(await apply(alice, [good], 2), 'round_changed');
  t.equal(await apply(bob, [good]), 'head_not_yours');
  t.equal(
    await apply(
      alice,
      Array.from({ length: 101 }, () => good),
    ),
    'too_many_suggestions',
  );
  await pulls.reviews.addComment(bob, at(1), {
    round: 1,
    path: 'a.txt',
    firstLine: 12,
    body: fence('draft'),
    sendNow: false,
  });
  const [draft] = (await pulls.threads.list(bob, at(1))).filter(({ isDraft }) => isDraft);
  t.equal(await apply(alice, [{ threadId: draft!.id, position: 1 }]), 'comment_not_found', 'a draft of another person');
  await nextRound(alice, 1, { 'a.txt': `first\n${numbered(30, { 10: 'changed' })}` });
  t.equal(await apply(alice, [good], 2), 'suggestion_outdated');
  t.equal(await apply(alice, [far], 2), 'accepted', 'it has only moved');
  await issues.close(alice, at(1), 'not_planned');
  t.equal(await apply(alice, [good], 2), 'pull_closed');
});

t.test('on a pushed pull request, which has no branch, the server writes the round', async (t) => {
  const modules = await openReviews(t);
  const { pulls, git, db, path, openPull, alice, bob, carol } = modules;
  await openPull(alice);
  const pushed = { source: 'PUSH', headBranch: null, headRepositoryId: null, topic: 'ten' } as const;
  const { issue } = await pulls.find(alice, at(1));
  await db.write(({ manager }) => manager.update(pullSchema, { issueId: issue.id }, pushed));
  const comment = await suggest(modules, bob, 10, fence('TEN'));
  t.equal(await reasonOf(pulls.suggestions.apply(bob, at(1), { comments: [comment], round: 1 })), 'head_not_yours');
  const { oid } = await pulls.suggestions.apply(alice, at(1), {
    comments: [comment],
    round: 1,
    title: 'Ten\nin capitals',
  });
  t.match((await pulls.find(alice, at(1))).pull, { lastRound: 2, headOid: oid });
  t.equal((await git.refs.list(path)).get('refs/pull/1/head'), oid);
  t.equal((await pulls.rounds.commits(alice, at(1), 2)).at(-1)?.subject, 'Ten in capitals');

  // Of a person who may not write, it counts for what the rounds of that person may take.
  await db.write(({ manager }) => manager.update(pullSchema, { issueId: issue.id }, { submitterId: carol.id }));
  const next = await suggest(modules, bob, 20, fence('TWENTY'));
  await pulls.suggestions.apply(carol, at(1), { comments: [next], round: 2 });
  const rounds = await db.read.query('SELECT round, submitter_id, bytes FROM pull_rounds ORDER BY round');
  t.match(rounds, [{}, { round: 2, submitter_id: alice.id, bytes: 0 }, { round: 3, submitter_id: carol.id }]);
  t.ok(rounds[2].bytes > 0);
});

t.test("viewed files: a note of one's own, by content", async (t) => {
  const { pulls, issues, repositories, openPull, alice, bob } = await openReviews(t);
  await openPull(alice);
  const file = { path: 'a.txt', oldBlob: '1'.repeat(40), newBlob: '2'.repeat(40), round: 1 };
  const set = (viewer: Parameters<typeof pulls.viewed.set>[0], change: Partial<typeof file> & { isViewed?: boolean }) =>
    reasonOf(pulls.viewed.set(viewer, at(1), { ...file, isViewed: true, ...change }));
  t.equal(await set(bob, {}), 'accepted');
  t.equal(await set(bob, { newBlob: '3'.repeat(40) }), 'accepted', 'the newer content takes its place');
  t.match(await pulls.viewed.list(bob, at(1)), [{ path: 'a.txt', newBlob: '3'.repeat(40), round: 1 }]);
  t.same(await pulls.viewed.list(alice, at(1)), []);
  const { anonymous } = await import('../../src/access/index.ts');
  t.same(await pulls.viewed.list(anonymous, at(1)), []);
  t.equal(await set(anonymous, {}), 'sign_in_required');
  t.equal(await set(bob, { path: '' }), 'invalid_viewed_file');
  t.equal(await set(bob, { oldBlob: 'x' }), 'invalid_viewed_file');
  t.equal(await set(bob, { round: 2 }), 'round_not_found');
  await issues.block(alice, { owner: 'alice', username: 'bob' });
  t.equal(await set(bob, { isViewed: false }), 'accepted', 'who may read may note');
  t.same(await pulls.viewed.list(bob, at(1)), []);
  await repositories.changeVisibility(alice, roof.owner, roof.name, 'PRIVATE');
  t.equal(await set(bob, {}), 'repository_not_found');
});
