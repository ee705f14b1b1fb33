// Rights, limits, moderation, references, lists: the rows of bad input that concern issues.
import t from 'tap';
import { noFilter, parseIssueQuery, formatIssueQuery } from '../../src/issues/index.ts';
import { anonymous, at, openIssues, push, reasonOf, roof, sampleHistory, timeline } from './issues-fixture.ts';
import { makeCommit } from './make-commit.ts';

const zero = '0'.repeat(40);

t.test('titles and texts that are too long, empty or have bidirectional controls are refused', async (t) => {
  const { issues, alice } = await openIssues(t);
  const open = (title: unknown, body: unknown = '') => reasonOf(issues.open(alice, roof, { title, body }));
  t.equal(await open('x'.repeat(255), 'y'.repeat(65_536)), 'accepted');
  t.equal(await open('x'.repeat(10_000)), 'text_too_long');
  t.equal(await open('x'.repeat(256)), 'text_too_long');
  t.equal(await open('a\u202eb'), 'invalid_text');
  t.equal(await open('a\nb'), 'invalid_text', 'a new line would be a header of a mail');
  t.equal(await open(' '), 'title_missing');
  t.equal(await open('x', 'y'.repeat(65_537)), 'text_too_long');
  t.equal(await open('x', 'é'.repeat(32_769)), 'text_too_long', 'bytes count');
  t.equal(await reasonOf(issues.comment(alice, at(1), { body: ' ' })), 'text_missing');
});

t.test('rate limits: of a person, and of all non-members together', async (t) => {
  const limit = { perMinute: 2, perHour: 3 };
  const { issues, alice, bob, carol, clock } = await openIssues(t, { settings: { perRepository: limit } });
  const open = (viewer: typeof bob, title: string) => reasonOf(issues.open(viewer, roof, { title }));
  t.equal(await open(bob, '1'), 'accepted');
  t.equal(await open(carol, '2'), 'accepted');
  t.equal(await open(bob, '3'), 'too_many_contributions');
  t.equal(await open(alice, '4'), 'accepted', 'members have their own');
  clock.advance(60_000);
  t.equal(await open(bob, '5'), 'accepted');
  t.equal(await open(bob, '6'), 'too_many_contributions', 'of the hour');
  clock.advance(3_600_000 - 60_000 - 1);
  t.equal(await open(bob, '7'), 'too_many_contributions', 'until its last millisecond');
  clock.advance(1);
  t.equal(await open(bob, '8'), 'accepted', 'the next hour');
});

t.test('no rate stops administrators and people who may write; 0 is no limit', async (t) => {
  const limit = { perMinute: 1, perHour: 2 };
  const modules = await openIssues(t, { settings: { perPerson: limit } });
  const { issues, alice, bob, carol, repositories } = modules;
  let opened = 0;
  const open = (viewer: typeof bob) => reasonOf(issues.open(viewer, roof, { title: `x ${opened++}` }));
  for (let count = 0; count < 4; count += 1) t.equal(await open(alice), 'accepted', 'the owner');
  t.equal(await open(bob), 'accepted');
  await t.rejects(issues.open(bob, roof, { title: 'x' }), {
    reason: 'too_many_contributions',
    isRateLimit: true,
    retryAfterSeconds: 60,
    message: 'At most 1 contributions are accepted per minute. Try again in 60 seconds.',
  });
  t.equal(await open({ ...bob, isAdministrator: true }), 'accepted', 'an administrator');
  await repositories.collaborators.add(alice, 'alice', 'roof', { username: 'bob', role: 'write' });
  t.equal(await open(bob), 'accepted', 'may write now');
  t.equal(await open(carol), 'accepted');
  t.equal(await open(carol), 'too_many_contributions', 'may not');
  const without = modules.beside({ perPerson: { perMinute: 0, perHour: 0 } });
  for (let count = 0; count < 4; count += 1)
    t.equal(await reasonOf(without.open(carol, roof, { title: `y ${count}` })), 'accepted', '0 is no limit');
});

t.test('blocked users cannot contribute, and contributions of newcomers await approval', async (t) => {
  const { issues, organisations, alice, bob, carol } = await openIssues(t);
  t.equal(await reasonOf(issues.block(bob, { owner: 'alice', username: 'carol' })), 'not_owner');
  await issues.block(alice, { owner: 'alice', username: 'carol', reason: 'spam' });
  t.equal(await reasonOf(issues.open(carol, roof, { title: 'x' })), 'blocked_by_owner');
  t.equal((await issues.listBlocks(alice, 'alice'))[0]?.reason, 'spam');
  await issues.unblock(alice, { owner: 'alice', username: 'carol' });
  await organisations.create(alice, { name: 'guild' });
  await organisations.addMember(alice, 'guild', { username: 'bob', role: 'MEMBER' });
  t.equal(await reasonOf(issues.block(bob, { owner: 'guild', username: 'carol' })), 'not_owner', 'a member');
  t.equal(await reasonOf(issues.listBlocks(bob, 'guild')), 'not_owner');
  for (const owner of ['alice', 'guild'])
    t.equal(await reasonOf(issues.block(alice, { owner, username: 'alice' })), 'cannot_block_yourself', owner);
  await issues.block(alice, { owner: 'guild', username: 'carol' });
  t.equal(await reasonOf(issues.unblock(bob, { owner: 'guild', username: 'carol' })), 'not_owner');
  t.equal((await issues.listBlocks(alice, 'guild'))[0]?.userId, carol.id);
  await issues.changeSettings(alice, roof, { holdsNewcomers: true });
  await issues.open(alice, roof, { title: 'known' });
  await issues.open(carol, roof, { title: 'new', body: 'see #1 @bob' });
  await issues.comment(carol, at(1), { body: 'me too' });
  t.equal(await reasonOf(issues.find(bob, at(2))), 'issue_not_found', 'it waits');
  t.same(await timeline(issues, bob, at(1)), ['opened']);
  t.same(await timeline(issues, carol, at(1)), ['opened', 'comment'], 'its author sees it');
  const { repositoryId } = await issues.find(carol, at(2));
  t.equal((await issues.count(repositoryId)).openIssues, 1);
  t.equal((await issues.listHeld(alice, roof)).length, 2);
  const comments = async () => (await issues.find(alice, at(1))).commentCount;
  t.equal(await comments(), 0);
  await issues.admit(alice, roof, carol.id);
  t.equal(await comments(), 1, 'what is let in counts');
  t.same(await timeline(issues, bob, at(1)), ['opened', 'comment', 'mentioned']);
  t.equal((await issues.count(repositoryId)).openIssues, 2);
  await issues.open(carol, roof, { title: 'later' });
  t.equal((await issues.find(bob, at(3))).title, 'later', 'later things do not wait');
  await issues.open(bob, roof, { title: 'bad', body: 'of weight' });
  await issues.comment(bob, at(1), { body: 'worse' });
  await issues.refuse(alice, roof, bob.id);
  t.equal(await reasonOf(issues.find(alice, at(4))), 'issue_not_found');
  const texts = async (number: number) => (await issues.listEntries(alice, at(number))).entries.map(({ body }) => body);
  t.notOk((await texts(1)).includes('worse'), 'a comment loses its text');
  await issues.restore(alice, at(4));
  t.strictSame(await texts(4), ['of weight'], 'an issue keeps its own, for who takes it out of the trash');
  t.equal((await issues.find(carol, at(4))).title, 'bad', 'and it waits for nobody any more');
  await issues.changeSettings(alice, roof, { issuesFrom: 'members' });
  t.equal(await reasonOf(issues.comment(carol, at(1), { body: 'x' })), 'members_only');
});

t.test('a reference creates one entry, and none from a PRIVATE repository in a PUBLIC one', async (t) => {
  const { issues, repositories, alice, bob } = await openIssues(t);
  await repositories.create(alice, { owner: 'alice', name: 'cellar', visibility: 'PRIVATE' });
  await issues.open(alice, roof, { title: 'one' });
  await issues.open(bob, roof, { title: 'two', body: '#1 and alice/roof#1 and `#2`, @alice' });
  await issues.comment(bob, at(2), { body: '#1 again '.repeat(1000) });
  t.same(await timeline(issues, anonymous, at(1)), ['opened', 'mentioned']);
  await issues.open(alice, { owner: 'alice', name: 'cellar' }, { title: 'secret', body: 'alice/roof#1' });
  await issues.addLink(alice, at(1, 'cellar'), 'needs', at(1));
  t.same(await timeline(issues, alice, at(1)), ['opened', 'mentioned'], 'no trace');
  t.same(
    (await issues.listLinks(bob, at(1))).map(({ issue }) => issue.title),
    ['two'],
    'nor a link that others see',
  );
  t.same((await issues.listOwn(alice, { reason: 'mentioned', state: 'open' }, { limit: 9 })).rows.length, 1);
});

t.test('closes #7 in a pushed commit closes it, when the pusher may; once', async (t) => {
  const modules = await openIssues(t);
  const { issues, repositories, alice, bob } = modules;
  repositories.pushes.onPush(issues.onPush);
  await repositories.collaborators.add(alice, 'alice', 'roof', { username: 'bob', role: 'write' });
  for (const title of ['one', 'two', 'three']) await issues.open(alice, roof, { title });
  const { work, commits, pack } = sampleHistory(modules.folder);
  await push(modules, alice, 'alice/roof', [`${zero} ${commits[0]} refs/heads/main`], { pack });
  const first = makeCommit(work, commits[0]!, 'Mend it\n\nCloses #1, see #2');
  await push(modules, bob, 'alice/roof', [`${zero} ${first.oid} refs/heads/aside`], { pack: first.pack });
  await repositories.pushes.finish();
  t.equal((await issues.find(bob, at(1))).state, 'OPEN', 'not by another branch');
  const { report } = await push(modules, bob, 'alice/roof', [`${commits[0]} ${first.oid} refs/heads/main`], {
    pack: first.pack,
  });
  t.same(report, ['ok refs/heads/main']);
  await repositories.stop();
  t.match(await issues.find(bob, at(1)), { state: 'CLOSED', closeReason: 'completed' });
  t.same(await timeline(issues, bob, at(2)), ['opened', 'mentioned']);
  const { entries } = await issues.listEntries(bob, at(1));
  t.match(entries[1], { kind: 'closed', authorId: bob.id, via: 'git', details: { commit: first.oid } });
});

t.test('lists: filters, sorts, and pages in both directions', async (t) => {
  const { issues, alice, bob, clock } = await openIssues(t);
  await issues.addLabel(alice, { repository: roof }, { name: 'wet', colour: '0000ff' });
  for (let number = 1; number <= 7; number++) {
    clock.advance(1000);
    await issues.open(number % 2 === 0 ? bob : alice, roof, { title: `Leak ${number}` });
  }
  await issues.triage(alice, at(3), { labels: ['wet'], assignees: ['bob'], state: 'completed' });
  await issues.comment(bob, at(2), { body: 'x' });
  const numbers = async (query: string) => {
    const { rows } = await issues.list(bob, roof, parseIssueQuery(query).filter, { limit: 50 });
    return rows.map(({ number }) => number);
  };
  t.same(await numbers(''), [7, 6, 5, 4, 2, 1]);
  t.same(await numbers('is:closed'), [3]);
  t.same(await numbers('is:all label:WET assignee:bob'), [3]);
  t.same(await numbers('is:all -label:wet author:@me'), [6, 4, 2]);
  t.same(await numbers('is:all no:assignee no:label no:milestone sort:oldest'), [1, 2, 4, 5, 6, 7]);
  t.same(await numbers('sort:comments'), [2, 7, 6, 5, 4, 1]);
  t.same(await numbers('"leak 4"'), [4]);
  t.same(await numbers('author:nobody'), []);
  for (const sort of ['newest', 'updated', 'comments'] as const) {
    const list = (paging: object) =>
      issues.list(bob, roof, { ...noFilter, state: 'all', sort }, { limit: 3, ...paging });
    const one = await list({});
    const two = await list({ after: one.next });
    const three = await list({ after: two.next });
    t.same(new Set([one, two, three].flatMap(({ rows }) => rows.map(({ number }) => number))).size, 7, sort);
    t.equal(three.next, null);
    t.same((await list({ before: two.previous })).rows, one.rows, `${sort}, back`);
  }
  t.equal(await reasonOf(issues.list(bob, roof, noFilter, { limit: 3, after: 'x' })), 'invalid_page');
  const text =
    'is:closed label:"a b" -label:c no:label author:alice no:assignee milestone:First -is:locked sort:updated x';
  t.equal(
    formatIssueQuery(parseIssueQuery(text).filter),
    'is:closed label:"a b" -label:c no:label author:alice no:assignee milestone:First -is:locked sort:updated x',
  );
  t.same(parseIssueQuery('is:odd foo:bar sort:x').unknown, ['is:odd', 'foo:bar', 'sort:x']);
});
