// Whose turn it is, review requests, and the lists of what waits.
import t from 'tap';
import { announced, at, numbered, openReviews, reasonOf, anonymous } from './reviews-fixture.ts';
import type { ReviewModules } from './reviews-fixture.ts';

/** Who has the turn, with the reasons. */
async function turns({ pulls, issues, deps, alice, bob, carol }: ReviewModules): Promise<Record<string, string>> {
  await announced(issues, deps.db);
  const found: Record<string, string> = {};
  for (const person of [alice, bob, carol]) {
    const { rows } = await pulls.attention.waitingFor(person, { limit: 10 });
    if (rows.length > 0) found[person.username!] = rows[0]!.reason!;
  }
  return found;
}

t.test('asked, reviewed, answered, a new round, resolved, closed', async (t) => {
  const modules = await openReviews(t);
  const { pulls, issues, openPull, nextRound, clock, alice, bob, carol } = modules;
  await openPull(alice);
  t.same(await turns(modules), {});
  await pulls.attention.request(alice, at(1), { add: ['bob'] });
  t.same(await turns(modules), { bob: 'asked' });
  await pulls.attention.request(alice, at(1), { add: ['bob', 'carol'] });
  t.equal(
    (await issues.listEntries(alice, at(1))).entries.filter(({ kind }) => kind === 'asked').length,
    2,
    'asked once each',
  );
  await pulls.attention.request(alice, at(1), { remove: ['carol'] });
  t.same(await turns(modules), { bob: 'asked' });

  const { threadId } = await pulls.reviews.addComment(bob, at(1), {
    round: 1,
    path: 'a.txt',
    firstLine: 10,
    body: 'why?',
    sendNow: false,
  });
  await pulls.reviews.submit(bob, at(1), { verdict: 'COMMENT', round: 1 });
  t.same(await turns(modules), { alice: 'review' });
  t.not((await pulls.attention.requested(alice, at(1)))[0]?.answeredAt, null);
  await pulls.reviews.addComment(alice, at(1), { round: 1, threadId, body: 'because', sendNow: true });
  t.same(await turns(modules), { bob: 'reply' }, 'the answer in a thread is for who began it');
  await issues.comment(carol, at(1), { body: 'and I?' });
  t.same(await turns(modules), { alice: 'reply', bob: 'reply' });
  await pulls.reviews.submit(bob, at(1), { verdict: 'REQUEST_CHANGES', body: 'no', round: 1 });
  t.same(await turns(modules), { alice: 'reply' });
  await nextRound(alice, 1, { 'b.txt': 'new\n' });
  t.same(await turns(modules), { bob: 'round' });
  await pulls.threads.resolve(bob, at(1), { threadId, resolved: true });
  clock.advance(1);
  await pulls.reviews.submit(bob, at(1), { verdict: 'APPROVE', round: 2 });
  await nextRound(alice, 1, { 'b.txt': 'newer\n' });
  t.same(await turns(modules), {}, 'nothing is open, and bob does not ask for changes any more');
  await pulls.attention.request(alice, at(1), { add: ['bob'] });
  t.same(await turns(modules), { bob: 'asked' }, 'asked again');
  await issues.close(alice, at(1), 'not_planned');
  t.same(await turns(modules), {});
  await issues.reopen(alice, at(1));
  t.same(await turns(modules), { bob: 'asked' });
});

t.test('a draft waits for none; ready asks again', async (t) => {
  const modules = await openReviews(t);
  const { pulls, openPull, alice } = modules;
  await openPull(alice);
  await pulls.edit(alice, at(1), { isDraft: true });
  await pulls.attention.request(alice, at(1), { add: ['bob'] });
  t.same(await turns(modules), {});
  await pulls.edit(alice, at(1), { isDraft: false });
  t.same(await turns(modules), { bob: 'asked' });
});

t.test('who may ask whom', async (t) => {
  const { pulls, repositories, issues, openPull, alice, bob } = await openReviews(t);
  await openPull(alice);
  const ask = (viewer: typeof bob, ...add: string[]) => reasonOf(pulls.attention.request(viewer, at(1), { add }));
  t.equal(await ask(bob, 'carol'), 'not_allowed_on_issue');
  t.equal(await ask(alice, 'alice'), 'reviewer_is_author');
  t.equal(await ask(alice, 'nemo'), 'unknown_reviewer');
  t.equal(await ask(alice, ...Array.from({ length: 101 }, (_, index) => `p${index}`)), 'too_many_reviewers');
  await repositories.changeVisibility(alice, 'alice', 'roof', 'PRIVATE');
  t.equal(await ask(alice, 'bob'), 'reviewer_may_not_read');
  await repositories.changeVisibility(alice, 'alice', 'roof', 'PUBLIC');
  await issues.close(alice, at(1), 'not_planned');
  t.equal(await ask(alice, 'bob'), 'pull_closed');
});

t.test('the lists have pages, and nothing of what the viewer may not see any more', async (t) => {
  const { pulls, issues, deps, clock, repositories, openPull, alice, bob } = await openReviews(t);
  for (const head of ['one', 'two', 'three']) {
    clock.advance(1_000);
    await openPull(alice, { 'a.txt': numbered(30, { 1: head }) }, head);
  }
  for (const number of [2, 1, 3]) {
    clock.advance(1_000);
    await pulls.attention.request(alice, at(number), { add: ['bob'] });
    await announced(issues, deps.db);
  }
  const first = await pulls.attention.waitingFor(bob, { limit: 2 });
  t.same(
    first.rows.map(({ issue }) => issue.number),
    [2, 1],
    'what waits longest comes first',
  );
  const second = await pulls.attention.waitingFor(bob, { limit: 2, after: first.next });
  t.same(
    second.rows.map(({ issue }) => issue.number),
    [3],
  );
  t.same((await pulls.attention.waitingFor(bob, { limit: 2, before: second.previous })).rows.length, 2);
  t.same(
    (await pulls.attention.waitingForOthers(alice, { limit: 2 })).rows.map(({ issue }) => issue.number),
    [3, 1],
  );
  const all = await pulls.attention.waitingForOthers(alice, { limit: 2 });
  t.same(
    (await pulls.attention.waitingForOthers(alice, { limit: 2, after: all.next })).rows.map(
      ({ issue }) => issue.number,
    ),
    [2],
  );
  await pulls.reviews.submit(bob, at(3), { verdict: 'APPROVE', round: 1 });
  await announced(issues, deps.db);
  t.same(
    (await pulls.attention.waitingForOthers(alice, { limit: 9 })).rows.map(({ issue }) => issue.number),
    [1, 2],
  );
  t.same((await pulls.attention.waitingFor(anonymous, { limit: 9 })).rows, []);
  t.equal(await reasonOf(pulls.attention.waitingFor(bob, { limit: 9, after: 'x' })), 'invalid_page');
  await repositories.changeVisibility(alice, 'alice', 'roof', 'PRIVATE');
  t.same((await pulls.attention.waitingFor(bob, { limit: 9 })).rows, []);
});
