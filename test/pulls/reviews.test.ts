// Draft reviews, comments on lines, verdicts, and what is refused: the rows of bad input that concern reviews.
import t from 'tap';
import type { NewReviewComment } from '../../src/pulls/index.ts';
import { pathBytes, pathText } from '../../src/pulls/index.ts';
import { whileChanging } from '../fixtures/held-write.ts';
import { anonymous, at, numbered, openReviews, reasonOf, roof } from './reviews-fixture.ts';

const onLine = (line: number, body: string, more: Partial<NewReviewComment> = {}): NewReviewComment => ({
  round: 1,
  path: 'a.txt',
  side: 'NEW',
  firstLine: line,
  lastLine: line,
  body,
  sendNow: false,
  ...more,
});

t.test('a draft is seen by its author alone, until it is submitted with a verdict in one entry', async (t) => {
  const { pulls, issues, openPull, clock, alice, bob, carol } = await openReviews(t);
  await openPull(alice);
  const add = async (comment: NewReviewComment) => {
    clock.advance(1);
    return pulls.reviews.addComment(bob, at(1), comment);
  };
  const first = await add(onLine(10, 'why ten?'));
  await add(onLine(1, 'far from the change', { firstLine: 1, lastLine: 3 }));
  await add(onLine(10, 'was better', { side: 'OLD' }));
  await add({ round: 1, path: 'a.txt', body: 'the file', sendNow: false });
  await add({ round: 1, body: 'all of it', sendNow: false });
  t.same(await pulls.threads.list(carol, at(1)), []);
  t.same(await pulls.threads.list(anonymous, at(1)), []);
  t.equal(
    await reasonOf(pulls.reviews.addComment(carol, at(1), onLine(1, 'x', { threadId: first.threadId }))),
    'thread_not_found',
  );
  // Also for the owner of the repository, who may edit what is shown.
  for (const other of [alice, carol]) {
    const edited = pulls.reviews.editComment(other, at(1), { ...first, body: 'x' });
    t.equal(await reasonOf(edited), 'comment_not_found');
    t.equal(await reasonOf(pulls.reviews.deleteComment(other, at(1), first)), 'comment_not_found');
  }
  t.equal((await pulls.reviews.draftOf(bob, at(1)))?.comments, 5);
  t.equal(await pulls.reviews.draftOf(carol, at(1)), null);
  const own = await pulls.threads.list(bob, at(1));
  t.same(
    own.map(({ path, side, firstLine, lastLine, quoted, isDraft, mayResolve }) => [
      path,
      side,
      firstLine,
      lastLine,
      quoted,
      isDraft,
      mayResolve,
    ]),
    [
      ['a.txt', 'NEW', 10, 10, 'ten', true, false],
      ['a.txt', 'NEW', 1, 3, 'line 1\nline 2\nline 3', true, false],
      ['a.txt', 'OLD', 10, 10, 'line 10', true, false],
      ['a.txt', 'NEW', null, null, '', true, false],
      [null, null, null, null, '', true, false],
    ],
  );
  t.equal(await pulls.threads.countOpen(own[0]!.issueId), 0, 'drafts are no open threads');
  const review = await pulls.reviews.submit(bob, at(1), {
    verdict: 'REQUEST_CHANGES',
    body: 'Please see @carol',
    round: 1,
  });
  const seen = await pulls.threads.list(anonymous, at(1));
  t.equal(seen.length, 5);
  t.ok(seen.every(({ isDraft, comments }) => !isDraft && comments.length === 1));
  t.equal(await pulls.reviews.draftOf(bob, at(1)), null);
  const { entries } = await issues.listEntries(alice, at(1));
  const last = entries.at(-1)!;
  t.match(last, { kind: 'review', body: 'Please see @carol', position: review.position });
  t.match(last.details, { reviewId: review.id, verdict: 'REQUEST_CHANGES', round: 1, comments: 5 });
  t.match(await pulls.reviews.list(anonymous, at(1)), [
    { id: review.id, verdict: 'REQUEST_CHANGES', authorId: bob.id },
  ]);
  t.equal((await issues.subscriptionOf(bob, at(1)))?.isOn, true);
  t.equal((await issues.subscriptionOf(carol, at(1)))?.reason, 'mention');
  t.equal(await pulls.threads.countOpen(seen[0]!.issueId), 5);
});

t.test('a comment at once is a review, beside the draft; a thread is answered', async (t) => {
  const { pulls, issues, openPull, alice, bob } = await openReviews(t);
  await openPull(alice);
  await pulls.reviews.addComment(bob, at(1), onLine(2, 'later'));
  const { threadId } = await pulls.reviews.addComment(bob, at(1), onLine(10, 'now', { sendNow: true }));
  const reply = await pulls.reviews.addComment(alice, at(1), { round: 1, threadId, body: 'because', sendNow: true });
  t.same(reply, { threadId, position: 2 });
  t.same(
    (await pulls.threads.list(alice, at(1))).map(({ comments }) => comments.map(({ body }) => body)),
    [['now', 'because']],
  );
  t.same(
    (await issues.listEntries(alice, at(1))).entries.map(({ kind }) => kind),
    ['opened', 'review', 'review'],
  );
  t.equal((await pulls.reviews.draftOf(bob, at(1)))?.comments, 1);
  t.same(
    await pulls.reviews.addComment(bob, at(1), onLine(10, 'now', { sendNow: true })),
    { threadId, position: 1 },
    'the same form, twice',
  );
  await pulls.reviews.discard(bob, at(1));
  await pulls.reviews.discard(bob, at(1));
  t.equal((await pulls.threads.list(bob, at(1))).length, 1, 'the draft is gone with its thread');
});

t.test('what is edited, deleted, resolved and dismissed, and by whom', async (t) => {
  const { pulls, issues, openPull, alice, bob, carol } = await openReviews(t);
  await openPull(alice);
  const { threadId } = await pulls.reviews.addComment(bob, at(1), onLine(10, 'one', { sendNow: true }));
  const place = { threadId, position: 1 };
  t.equal(await reasonOf(pulls.reviews.editComment(carol, at(1), { ...place, body: 'x' })), 'not_allowed_on_issue');
  t.equal(await reasonOf(pulls.reviews.deleteComment(carol, at(1), place)), 'not_allowed_on_issue');
  t.equal((await pulls.reviews.editComment(bob, at(1), { ...place, body: 'two' })).body, 'two');
  t.equal(await reasonOf(pulls.threads.resolve(carol, at(1), { threadId, resolved: true })), 'not_allowed_on_issue');
  t.not(
    (await pulls.threads.resolve(alice, at(1), { threadId, resolved: true })).resolvedAt,
    null,
    'the author of the pull',
  );
  const [thread] = await pulls.threads.list(carol, at(1));
  t.match(thread, { resolvedBy: alice.id, mayResolve: false });
  t.equal(await pulls.threads.countOpen(thread!.issueId), 0);
  await pulls.threads.resolve(bob, at(1), { threadId, resolved: false });
  t.equal(await pulls.threads.countOpen(thread!.issueId), 1);
  await pulls.reviews.deleteComment(bob, at(1), place);
  const [left] = await pulls.threads.list(carol, at(1));
  t.match(left!.comments, [{ body: '', authorId: bob.id }], 'it never vanishes');
  t.not(left!.comments[0]!.deletedAt, null);
  t.equal(await pulls.threads.countOpen(thread!.issueId), 0, 'nothing is left to resolve');
  t.equal(await reasonOf(pulls.reviews.editComment(bob, at(1), { ...place, body: 'x' })), 'comment_not_found');

  const review = await pulls.reviews.submit(bob, at(1), { verdict: 'REQUEST_CHANGES', body: 'no', round: 1 });
  await pulls.reviews.edit(bob, at(1), { reviewId: review.id, body: 'not yet' });
  t.equal((await issues.listEntries(alice, at(1))).entries.at(-1)?.body, 'not yet');
  t.equal(await reasonOf(pulls.reviews.edit(carol, at(1), { reviewId: review.id, body: '' })), 'not_allowed_on_issue');
  const dismissal = { reviewId: review.id, reason: 'bob is on holiday' };
  t.equal(await reasonOf(pulls.reviews.dismiss(carol, at(1), dismissal)), 'not_allowed_on_issue');
  t.equal(await reasonOf(pulls.reviews.dismiss(alice, at(1), { ...dismissal, reason: ' ' })), 'reason_missing');
  await pulls.reviews.dismiss(alice, at(1), dismissal);
  t.equal(await reasonOf(pulls.reviews.dismiss(alice, at(1), dismissal)), 'nothing_to_dismiss');
  t.match(await pulls.reviews.list(carol, at(1)), [
    { verdict: 'COMMENT' },
    { dismissedBy: alice.id, dismissalReason: 'bob is on holiday' },
  ]);
  t.match((await issues.listEntries(alice, at(1))).entries.at(-1), {
    kind: 'dismissed',
    details: { reason: 'bob is on holiday' },
  });
  t.equal(await reasonOf(pulls.reviews.dismiss(alice, at(1), { reviewId: alice.id, reason: 'x' })), 'review_not_found');
});

t.test('the same review within ten seconds is the one that is there, unless it was dismissed', async (t) => {
  const { pulls, openPull, clock, alice, bob } = await openReviews(t);
  await openPull(alice);
  const approve = async () => (await pulls.reviews.submit(bob, at(1), { verdict: 'APPROVE', round: 1 })).id;
  const first = await approve();
  clock.advance(9_999);
  t.equal(await approve(), first, 'sent twice');
  clock.advance(1);
  const second = await approve();
  t.not(second, first);
  await pulls.reviews.dismiss(alice, at(1), { reviewId: second, reason: 'look again' });
  clock.advance(60_000);
  const third = await approve();
  t.match(
    (await pulls.reviews.list(alice, at(1))).find(({ id }) => id === third),
    { verdict: 'APPROVE', dismissedAt: null },
  );
});

t.test('a review, its threads and its comments are those of the pull request that is named', async (t) => {
  const { pulls, openPull, alice, bob } = await openReviews(t);
  await openPull(alice);
  await openPull(alice, { 'b.txt': 'other\n' }, 'second');
  const { threadId } = await pulls.reviews.addComment(bob, at(1), onLine(10, 'one', { sendNow: true }));
  const review = await pulls.reviews.submit(bob, at(1), { verdict: 'REQUEST_CHANGES', body: 'no', round: 1 });
  const reviewId = review.id;
  const before = JSON.stringify([await pulls.reviews.list(alice, at(1)), await pulls.threads.list(alice, at(1))]);
  const place = { threadId, position: 1 };
  for (const [what, work, reason] of [
    ['edit', () => pulls.reviews.editComment(bob, at(2), { ...place, body: 'x' }), 'comment_not_found'],
    ['delete', () => pulls.reviews.deleteComment(bob, at(2), place), 'comment_not_found'],
    ['resolve', () => pulls.threads.resolve(bob, at(2), { threadId, resolved: true }), 'thread_not_found'],
    ['text', () => pulls.reviews.edit(bob, at(2), { reviewId, body: 'x' }), 'review_not_found'],
    ['dismiss', () => pulls.reviews.dismiss(alice, at(2), { reviewId, reason: 'x' }), 'review_not_found'],
  ] as const)
    t.equal(await reasonOf(work()), reason, what);
  t.equal(JSON.stringify([await pulls.reviews.list(alice, at(1)), await pulls.threads.list(alice, at(1))]), before);
});

t.test("verdicts: not of one's own, not of what is closed, not without words", async (t) => {
  const { pulls, issues, openPull, alice, bob } = await openReviews(t);
  await openPull(alice);
  const submit = (viewer: typeof bob, verdict: 'COMMENT' | 'APPROVE' | 'REQUEST_CHANGES', body = '', round = 1) =>
    reasonOf(pulls.reviews.submit(viewer, at(1), { verdict, body, round }));
  t.equal(await submit(alice, 'APPROVE'), 'own_pull');
  t.equal(await submit(alice, 'REQUEST_CHANGES', 'x'), 'own_pull');
  t.equal(await submit(alice, 'COMMENT', 'a note'), 'accepted');
  t.equal(await submit(bob, 'COMMENT'), 'text_missing');
  t.equal(await submit(bob, 'REQUEST_CHANGES'), 'text_missing');
  t.equal(await submit(bob, 'LGTM' as 'COMMENT', 'x'), 'invalid_verdict');
  t.equal(await submit(bob, 'APPROVE', '', 2), 'round_not_found');
  t.equal(await submit(bob, 'APPROVE', 'x'.repeat(65_537)), 'text_too_long');
  t.equal(await submit(bob, 'APPROVE'), 'accepted');
  t.equal(await submit(bob, 'APPROVE'), 'accepted', 'the same form sent twice');
  t.equal((await pulls.reviews.list(bob, at(1))).length, 2, 'is one review');
  await issues.close(alice, at(1), 'not_planned');
  t.equal(await submit(bob, 'REQUEST_CHANGES', 'late'), 'pull_closed');
  t.equal(await submit(bob, 'COMMENT', 'late'), 'accepted');
});

t.test('a review of an older round is asked about once, and kept at its round', async (t) => {
  const { db, pulls, openPull, nextRound, alice, bob } = await openReviews(t);
  await openPull(alice);
  await pulls.reviews.addComment(bob, at(1), onLine(10, 'here'));
  await pulls.reviews.addComment(bob, at(1), onLine(20, 'there'));
  await nextRound(alice, 1, { 'a.txt': numbered(30, { 10: 'TEN' }) });
  const submitted = { verdict: 'APPROVE', round: 1 } as const;
  const refused = await pulls.reviews.submit(bob, at(1), submitted).catch((error: Error & { reason: string }) => error);
  t.match(refused, { reason: 'round_changed', message: /Round 2 .* 1 of the 2 places .* has changed/ });
  const review = await pulls.reviews.submit(bob, at(1), { ...submitted, confirm: true });
  t.equal(review.round, 1);

  const meanwhile = whileChanging(db, 'UPDATE pulls SET last_round = 3', [], () =>
    pulls.reviews.submit(bob, at(1), { verdict: 'COMMENT', body: 'fine', round: 2 }),
  );
  t.equal(await reasonOf(meanwhile), 'round_changed', 'a round that came before the write');
});

t.test('places that are not there, and files without lines', async (t) => {
  const { pulls, issues, openPull, nextRound, alice, bob } = await openReviews(t);
  const odd = Buffer.from([0x66, 0xff, 0x22]);
  t.equal(pathText(odd), '"f\\377\\042"');
  t.same(pathBytes(pathText(odd)), odd);
  t.same(pathBytes(pathText(Buffer.from('"a"'))), Buffer.from('"a"'));
  t.equal(pathText(Buffer.from('ä\\b')), 'ä\\b');
  await openPull(alice, {
    'a.txt': numbered(30, { 10: 'ten' }),
    'image.bin': Buffer.from([1, 0, 2]),
    'crlf.txt': 'one\r\ntwo\r\n',
    'ill.txt': Buffer.from([0x61, 0xff, 0x0a, 0x62]),
    'docs/read.md': null,
    'empty.txt': '',
  });
  const add = (more: Partial<NewReviewComment>) =>
    reasonOf(pulls.reviews.addComment(bob, at(1), onLine(1, `x ${JSON.stringify(more)}`, more)));
  t.equal(await add({ firstLine: 31, lastLine: 31 }), 'invalid_lines');
  t.equal(await add({ firstLine: 0 }), 'invalid_lines');
  t.equal(await add({ firstLine: 5, lastLine: 4 }), 'invalid_lines');
  t.equal(await add({ firstLine: 1.5, lastLine: 2 }), 'invalid_lines');
  t.equal(await add({ firstLine: 1, lastLine: 5_000 }), 'too_many_lines');
  t.equal(await add({ path: 'b.txt' }), 'file_not_changed');
  t.equal(await add({ path: '../etc/passwd' }), 'file_not_changed');
  t.equal(await add({ path: 'image.bin' }), 'no_lines_in_file');
  t.equal(await add({ path: 'image.bin', firstLine: null, lastLine: null }), 'accepted');
  t.equal(await add({ path: 'empty.txt' }), 'invalid_lines');
  t.equal(await add({ path: 'docs/read.md' }), 'file_not_changed', 'it is on the other side');
  t.equal(await add({ path: 'docs/read.md', side: 'OLD' }), 'accepted');
  t.equal(await add({ path: 'crlf.txt', lastLine: 2 }), 'accepted');
  t.equal(await add({ path: 'ill.txt', lastLine: 2 }), 'accepted');
  t.equal(await add({ round: 2 }), 'round_not_found');
  t.equal(await add({ commitOid: 'a'.repeat(40) }), 'commit_not_in_round');
  t.equal(await add({ body: '' }), 'text_missing');
  t.equal(await add({ body: 'x'.repeat(65_537) }), 'text_too_long');
  t.equal(await add({ threadId: alice.id }), 'thread_not_found');
  const quoted = Object.fromEntries(
    (await pulls.threads.list(bob, at(1))).map(({ path, quoted: lines }) => [path, lines]),
  );
  t.equal(quoted['crlf.txt'], 'one\ntwo');
  t.equal(quoted['ill.txt'], 'a\ufffd\nb');
  await nextRound(alice, 1, { 'b.txt': 'new\n' });
  const { pull } = await pulls.find(alice, at(1));
  t.equal(await add({ round: 2, path: 'b.txt', commitOid: pull.headOid }), 'accepted');
  await issues.open(bob, roof, { title: 'an issue' });
  t.equal(await reasonOf(pulls.reviews.list(bob, at(2))), 'pull_not_found');
});

t.test('locked, archived, blocked, newcomers, anonymous, and too many at once', async (t) => {
  const { pulls, issues, repositories, openPull, alice, bob, carol } = await openReviews(t);
  await openPull(alice);
  const add = (viewer: typeof bob | typeof anonymous, body: string) =>
    reasonOf(pulls.reviews.addComment(viewer, at(1), onLine(1, body)));
  t.equal(await add(anonymous, 'x'), 'sign_in_required');
  t.equal(await add({ ...bob, scope: 'read', via: 'token' }, 'x'), 'token_may_not_write');
  await issues.block(alice, { owner: 'alice', username: 'carol' });
  t.equal(await add(carol, 'x'), 'blocked_by_owner');
  await issues.changeSettings(alice, roof, { holdsNewcomers: true });
  t.equal(await add(bob, 'x'), 'newcomer_waits');
  t.equal(await reasonOf(pulls.reviews.submit(bob, at(1), { verdict: 'APPROVE', round: 1 })), 'newcomer_waits');
  t.equal(await add(alice, 'x'), 'accepted', 'members are known');
  await issues.changeSettings(alice, roof, { holdsNewcomers: false });
  t.equal(await add(bob, 'y'), 'accepted');
  await issues.triage(alice, at(1), { isLocked: true });
  t.equal(await add(bob, 'z'), 'issue_locked');
  t.equal(await add(alice, 'z'), 'accepted');
  await repositories.setArchived(alice, 'alice', 'roof', true);
  t.equal(await add(alice, 'a'), 'repository_archived');
  await repositories.setArchived(alice, 'alice', 'roof', false);
  await issues.triage(alice, at(1), { isLocked: false });
  let refused = 'accepted';
  for (let count = 0; refused === 'accepted' && count < 2_000; count += 1) refused = await add(bob, `many ${count}`);
  t.equal(refused, 'too_many_contributions');
});
