// What people do with an issue, through the module's public interface.
import t from 'tap';
import type { CloseReason, HideReason, ReactionKind } from '../../src/issues/index.ts';
import { whileChanging } from '../fixtures/held-write.ts';
import { anonymous, at, openIssues, outcomes, reasonOf, roof, timeline } from './issues-fixture.ts';

const day = 86_400_000;

t.test('open, comment, edit with history, close and reopen: the log has it all, in order', async (t) => {
  const { issues, alice, bob, clock, repositories } = await openIssues(t);
  const issue = await issues.open(bob, roof, { title: '  It rains in ', body: 'Bring a bucket.' });
  t.match(issue, { number: 1, title: 'It rains in', state: 'OPEN', authorId: bob.id });
  clock.advance(1000);
  const comment = await issues.comment(alice, at(1), { body: 'Where?' });
  t.equal(comment.position, 1);
  const edited = await issues.editText(bob, at(1), { position: 0, body: 'Bring two.', revision: 1 });
  t.match(edited, { body: 'Bring two.', revision: 2 });
  t.equal(
    await reasonOf(issues.editText(alice, at(1), { position: 0, body: 'Bring three.', revision: 1 })),
    'text_changed_meanwhile',
    'a form made from an older text',
  );
  t.match(await issues.listRevisions(alice, at(1), 0), [{ revision: 1, body: 'Bring a bucket.', editorId: bob.id }]);
  await issues.setTitle(bob, at(1), 'It pours in');
  t.match(await issues.close(alice, at(1), 'not_planned'), { state: 'CLOSED', closeReason: 'not_planned' });
  await issues.close(alice, at(1));
  const { id } = (await repositories.find(alice, 'alice', 'roof')).repository;
  t.match(await issues.count(id), { openIssues: 0, closedIssues: 1 });
  await issues.reopen(bob, at(1));
  t.match(await issues.count(id), { openIssues: 1, closedIssues: 0 });
  t.same(await timeline(issues, anonymous, at(1)), ['opened', 'comment', 'titled', 'closed', 'reopened']);
  t.match(await issues.find(anonymous, at(1)), { title: 'It pours in', commentCount: 1, lastPosition: 5 });
  const { entries } = await issues.listEntries(alice, at(1), { from: 2, limit: 2 });
  t.same(
    entries.map(({ position, details }) => [position, details]),
    [
      [3, { from: 'It rains in', to: 'It pours in' }],
      [4, { reason: 'not_planned' }],
    ],
    'the edit has position 2, for listeners alone',
  );
});

t.test('a comment that closes is one write; the same form twice is one comment, and one issue', async (t) => {
  const { issues, bob, clock } = await openIssues(t);
  await issues.open(bob, roof, { title: 'Leak', body: 'x' });
  t.equal((await issues.open(bob, roof, { title: 'Leak', body: 'x' })).number, 1, 'the form was sent twice');
  await issues.comment(bob, at(1), { body: 'Done', state: 'completed' });
  await issues.comment(bob, at(1), { body: 'Done', state: 'completed' });
  t.same(await timeline(issues, bob, at(1)), ['opened', 'comment', 'closed']);
  clock.advance(11_000);
  await issues.comment(bob, at(1), { body: 'Done', state: 'open' });
  t.same(await timeline(issues, bob, at(1)), ['opened', 'comment', 'closed', 'comment', 'reopened']);
  t.equal((await issues.open(bob, roof, { title: 'Leak', body: 'x' })).number, 2);
});

t.test('a deleted comment is empty, and its place stays', async (t) => {
  const { issues, alice, bob, carol } = await openIssues(t);
  await issues.open(bob, roof, { title: 'Leak' });
  await issues.comment(bob, at(1), { body: 'secret' });
  await issues.comment(carol, at(1), { body: 'after it' });
  await issues.editText(bob, at(1), { position: 1, body: 'still secret', revision: 1 });
  await issues.react(alice, at(1), { position: 1, kind: 'heart', isOn: true });
  t.equal(await reasonOf(issues.deleteComment(carol, at(1), 1)), 'not_allowed_on_issue');
  await issues.deleteComment(bob, at(1), 1);
  const { entries } = await issues.listEntries(carol, at(1));
  t.match(entries[1], { position: 1, kind: 'comment', body: null, reactions: [], authorId: bob.id });
  t.ok(entries[1]?.deletedAt);
  t.equal(entries[2]?.position, 2, 'nothing is renumbered');
  t.equal(await reasonOf(issues.listRevisions(alice, at(1), 1)), 'entry_not_found');
  t.equal(await reasonOf(issues.deleteComment(bob, at(1), 1)), 'entry_not_found');
  t.equal(await reasonOf(issues.deleteComment(alice, at(1), 0)), 'entry_not_found', 'the text goes with the issue');
  t.equal(await reasonOf(issues.editText(bob, at(1), { position: 1, body: 'x', revision: 3 })), 'entry_not_found');
  t.equal((await issues.find(alice, at(1))).commentCount, 1);
});

t.test('labels: of exclusive ones with the same scope the last stays; entries say what came and went', async (t) => {
  const { issues, alice, bob } = await openIssues(t);
  const scope = { repository: roof };
  await issues.addDefaultLabels(alice, scope);
  await issues.addDefaultLabels(alice, scope);
  const label = await issues.addLabel(alice, scope, { name: 'Roof', colour: '#AABBCC' });
  t.match(label, { colour: 'aabbcc', nameFolded: 'roof' });
  t.equal(await reasonOf(issues.addLabel(alice, scope, { name: 'roof', colour: '000000' })), 'label_taken');
  t.equal(await reasonOf(issues.addLabel(alice, scope, { name: 'a,b', colour: '000000' })), 'invalid_label_name');
  t.equal(await reasonOf(issues.addLabel(alice, scope, { name: 'x', colour: 'red' })), 'invalid_colour');
  t.equal(await reasonOf(issues.addLabel(bob, scope, { name: 'x', colour: '000000' })), 'not_allowed_on_issue');
  await issues.open(alice, roof, { title: 'Leak', labels: ['kind/bug', 'ROOF'] });
  await issues.triage(alice, at(1), { labels: { add: ['kind/feature', 'wontfix'], remove: ['roof'] } });
  t.same(
    (await issues.find(bob, at(1))).labels.map(({ name }) => name),
    ['kind/feature', 'wontfix'],
  );
  const { entries } = await issues.listEntries(bob, at(1));
  const names = (details: Record<string, unknown>) => (details['labels'] as { name: string }[]).map(({ name }) => name);
  t.same(
    entries.slice(1).map(({ kind, details }) => [kind, ...names(details).sort()]),
    [
      ['labelled', 'Roof', 'kind/bug'],
      ['unlabelled', 'Roof', 'kind/bug'],
      ['labelled', 'kind/feature', 'wontfix'],
    ],
  );
  t.equal(await reasonOf(issues.triage(alice, at(1), { labels: ['nothing'] })), 'unknown_label');
  t.equal(await reasonOf(issues.triage(bob, at(1), { labels: [] })), 'not_allowed_on_issue');
  t.equal(
    await reasonOf(issues.open(bob, roof, { title: 'Leak', labels: ['roof'] })),
    'not_allowed_on_issue',
    'nor by opening',
  );
  const [bug] = (await issues.listLabels(bob, roof)).filter(({ name }) => name === 'kind/feature');
  await issues.editLabel(alice, scope, bug!.id, { name: 'kind/wish', colour: '00ff00', isExclusive: true });
  t.equal((await issues.find(bob, at(1))).labels[0]?.name, 'kind/wish');
  await issues.deleteLabel(alice, scope, bug!.id);
  t.equal(await reasonOf(issues.deleteLabel(alice, scope, bug!.id)), 'label_not_found');
  t.equal((await issues.find(bob, at(1))).labels.length, 1);
});

t.test('labels of an organisation are those of its repositories', async (t) => {
  const { issues, organisations, repositories, alice, bob } = await openIssues(t);
  await organisations.create(alice, { name: 'example' });
  await repositories.create(alice, { owner: 'example', name: 'barn', visibility: 'PUBLIC' });
  const scope = { organisation: 'example' };
  t.equal(await reasonOf(issues.addLabel(bob, scope, { name: 'x', colour: '000000' })), 'not_organisation_owner');
  await issues.addLabel(alice, scope, { name: 'urgent', colour: 'ff0000' });
  await issues.addLabel(
    alice,
    { repository: { owner: 'example', name: 'barn' } },
    { name: 'Urgent', colour: '00ff00' },
  );
  await issues.addLabel(alice, scope, { name: 'later', colour: '0000ff' });
  const listed = await issues.listLabels(bob, { owner: 'example', name: 'barn' });
  t.same(
    listed.map(({ name, colour }) => [name, colour]),
    [
      ['later', '0000ff'],
      ['Urgent', '00ff00'],
    ],
    "the repository's own before its organisation's",
  );
  await issues.open(alice, { owner: 'example', name: 'barn' }, { title: 'x', labels: ['urgent', 'later'] });
  const issue = await issues.find(bob, { owner: 'example', name: 'barn', number: 1 });
  t.same(
    issue.labels.map(({ colour }) => colour),
    ['0000ff', '00ff00'],
  );
  t.equal((await issues.listOrganisationLabels('example')).length, 2);
  t.equal(await reasonOf(issues.open(alice, roof, { title: 'x', labels: ['later'] })), 'unknown_label');
});

t.test('assign: the user who may read; they are subscribed', async (t) => {
  const { issues, repositories, alice, bob, carol } = await openIssues(t);
  await repositories.create(alice, { owner: 'alice', name: 'cellar', visibility: 'PRIVATE' });
  await issues.open(alice, roof, { title: 'Leak', assignees: ['bob'] });
  await issues.triage(alice, at(1), { assignees: { add: ['carol', 'Carol'], remove: ['bob'] } });
  t.same((await issues.find(bob, at(1))).assignees, [carol.id]);
  t.same(await timeline(issues, bob, at(1)), ['opened', 'assigned', 'unassigned', 'assigned']);
  t.match(await issues.subscriptionOf(carol, at(1)), { isOn: true, reason: 'assigned' });
  t.equal(await reasonOf(issues.triage(alice, at(1), { assignees: ['nobody'] })), 'unknown_assignee');
  await issues.open(alice, { owner: 'alice', name: 'cellar' }, { title: 'Damp' });
  t.equal(await reasonOf(issues.triage(alice, at(1, 'cellar'), { assignees: ['bob'] })), 'unknown_assignee');
  t.same((await issues.listOwn(carol, { reason: 'assigned', state: 'open' }, { limit: 5 })).rows.length, 1);
});

t.test('milestones: open, close, delete, with progress', async (t) => {
  const { issues, alice, bob } = await openIssues(t);
  const first = await issues.addMilestone(alice, roof, { title: 'First', dueOn: '2026-12-31' });
  await issues.addMilestone(alice, roof, { title: 'Later' });
  t.equal(await reasonOf(issues.addMilestone(alice, roof, { title: 'FIRST' })), 'milestone_taken');
  t.equal(await reasonOf(issues.addMilestone(alice, roof, { title: 'x', dueOn: '2026-02-31' })), 'invalid_date');
  t.equal(await reasonOf(issues.addMilestone(bob, roof, { title: 'x' })), 'not_allowed_on_issue');
  await issues.open(alice, roof, { title: 'one', milestone: 'first' });
  await issues.open(alice, roof, { title: 'two', milestone: 'First' });
  await issues.close(alice, at(2));
  const progress = async () => {
    const { openCount, closedCount } = await issues.findMilestone(bob, roof, first.id);
    return [openCount, closedCount];
  };
  t.same(await progress(), [1, 1]);
  await issues.trash(alice, at(2));
  t.same(await progress(), [1, 0]);
  await issues.restore(alice, at(2));
  await issues.triage(alice, at(1), { milestone: null });
  t.same(await progress(), [0, 1]);
  t.equal(await reasonOf(issues.triage(alice, at(1), { milestone: 'none' })), 'unknown_milestone');
  await issues.setMilestoneClosed(alice, roof, first.id, true);
  const titles = async (which: 'open' | 'closed') =>
    (await issues.listMilestones(bob, roof, which)).map(({ title }) => title);
  t.same([await titles('open'), await titles('closed')], [['Later'], ['First']]);
  await issues.editMilestone(alice, roof, first.id, { title: 'Second' });
  await issues.deleteMilestone(alice, roof, first.id);
  t.equal(await reasonOf(issues.deleteMilestone(alice, roof, first.id)), 'milestone_not_found');
  t.equal((await issues.find(bob, at(2))).milestoneId, null);
});

t.test('links are listed on both sides and recorded in both logs', async (t) => {
  const { issues, alice, bob } = await openIssues(t);
  for (const title of ['one', 'two', 'three']) await issues.open(alice, roof, { title });
  await issues.addLink(alice, at(1), 'needs', at(2));
  await issues.addLink(alice, at(1), 'needs', at(2));
  t.match(await issues.listLinks(bob, at(1)), [{ kind: 'needs', isOutgoing: true, issue: { number: 2 } }]);
  t.match(await issues.listLinks(bob, at(2)), [{ kind: 'needs', isOutgoing: false, issue: { number: 1 } }]);
  t.same(await timeline(issues, bob, at(2)), ['opened', 'linked']);
  await issues.removeLink(alice, at(1), 'needs', at(2));
  t.same(await issues.listLinks(bob, at(2)), []);
  t.same(await timeline(issues, bob, at(1)), ['opened', 'linked', 'unlinked']);
  t.equal(await reasonOf(issues.addLink(alice, at(1), 'needs', at(1))), 'invalid_link');
  t.equal(await reasonOf(issues.addLink(alice, at(1), 'mentions' as 'needs', at(2))), 'invalid_link');
  t.equal(await reasonOf(issues.addLink(bob, at(1), 'needs', at(2))), 'not_allowed_on_issue');
  t.equal(await reasonOf(issues.addLink(alice, at(1), 'needs', at(9))), 'issue_not_found');
});

t.test('reactions, subscriptions and drafts', async (t) => {
  const { issues, alice, bob, clock } = await openIssues(t);
  await issues.open(alice, roof, { title: 'one' });
  await issues.react(bob, at(1), { position: 0, kind: '+1', isOn: true });
  await issues.react(bob, at(1), { position: 0, kind: '+1', isOn: true });
  await issues.react(alice, at(1), { position: 0, kind: '+1', isOn: true });
  const reactions = async () => (await issues.listEntries(bob, at(1))).entries[0]?.reactions;
  t.same(await reactions(), [{ kind: '+1', count: 2, isOwn: true }]);
  await issues.react(bob, at(1), { position: 0, kind: '+1', isOn: false });
  t.same(await reactions(), [{ kind: '+1', count: 1, isOwn: false }]);
  const odd = { position: 0, kind: 'beer' as ReactionKind, isOn: true };
  t.equal(await reasonOf(issues.react(bob, at(1), odd)), 'invalid_reaction');
  t.equal(await reasonOf(issues.react(bob, at(1), { position: 9, kind: 'eyes', isOn: true })), 'entry_not_found');
  t.equal(
    await reasonOf(issues.react(anonymous, at(1), { position: 0, kind: 'eyes', isOn: true })),
    'sign_in_required',
  );

  await issues.setSubscription(alice, at(1), false);
  await issues.comment(alice, at(1), { body: 'still off' });
  t.match(await issues.subscriptionOf(alice, at(1)), { isOn: false, reason: 'manual' });
  t.equal(await issues.subscriptionOf(bob, at(1)), null);
  const { id } = await issues.find(bob, at(1));
  t.same(await issues.listSubscribers(id), []);
  await issues.setSubscription(bob, at(1), true);
  t.same(
    (await issues.listSubscribers(id)).map(({ userId }) => userId),
    [bob.id],
  );

  await issues.saveDraft(bob, 'issue:1', 'half a');
  await issues.saveDraft(bob, 'issue:1', 'half a thought');
  t.equal((await issues.findDraft(bob, 'issue:1'))?.body, 'half a thought');
  t.equal(await issues.findDraft(alice, 'issue:1'), null, 'of the viewer alone');
  for (let count = 0; count < 101; count++) {
    clock.advance(1);
    await issues.saveDraft(bob, `new:${count}`, 'x');
  }
  t.equal(await issues.findDraft(bob, 'issue:1'), null, 'the oldest of too many');
  t.equal((await issues.findDraft(bob, 'new:1'))?.body, 'x');
  await issues.saveDraft(bob, 'new:1', '');
  t.equal(await issues.findDraft(bob, 'new:1'), null);
  t.equal(await reasonOf(issues.saveDraft(anonymous, 'new:1', 'x')), 'sign_in_required');
  t.equal(await reasonOf(issues.saveDraft(bob, '<x>', 'x')), 'invalid_context');
});

t.test('lock, pin, and many at once', async (t) => {
  const { issues, alice, bob } = await openIssues(t);
  for (let number = 1; number <= 8; number++) await issues.open(bob, roof, { title: `issue ${number}` });
  await issues.triage(alice, at(1), { isLocked: true });
  t.equal(await reasonOf(issues.comment(bob, at(1), { body: 'x' })), 'issue_locked');
  t.equal(await reasonOf(issues.close(bob, at(1))), 'issue_locked');
  await issues.comment(alice, at(1), { body: 'x' });
  await issues.triage(alice, at(1), { isLocked: false });
  t.same(await timeline(issues, bob, at(1)), ['opened', 'locked', 'comment', 'unlocked']);
  const numbers = [1, 2, 3, 4, 5, 6];
  t.same(await issues.triageMany(alice, { ...roof, numbers: [...numbers, 99] }, { isPinned: true }), numbers);
  t.equal(await reasonOf(issues.triage(alice, at(7), { isPinned: true })), 'too_many_pins');
  t.equal((await issues.listPinned(anonymous, roof)).length, 6);
  t.same(await issues.triageMany(alice, { ...roof, numbers: [7, 8] }, { state: 'duplicate' }), [7, 8]);
  t.match(await issues.find(bob, at(8)), { state: 'CLOSED', closeReason: 'duplicate' });
  t.equal(await reasonOf(issues.triageMany(bob, { ...roof, numbers: [1] }, { state: 'open' })), 'not_allowed_on_issue');
  const all = Array.from({ length: 101 }, (_, number) => number);
  t.equal(await reasonOf(issues.triageMany(alice, { ...roof, numbers: all }, { state: 'open' })), 'too_many_issues');
  t.equal(await reasonOf(issues.close(alice, at(2), 'boredom' as CloseReason)), 'invalid_close_reason');
});

t.test('hide a comment with a reason, and show it again', async (t) => {
  const { issues, alice, bob } = await openIssues(t);
  await issues.open(bob, roof, { title: 'one' });
  await issues.comment(bob, at(1), { body: 'buy' });
  await issues.hideComment(alice, at(1), { position: 1, reason: 'spam' });
  const hidden = async () => (await issues.listEntries(bob, at(1))).entries[1]?.hiddenFor;
  t.equal(await hidden(), 'spam');
  await issues.hideComment(alice, at(1), { position: 1, reason: 'off_topic' });
  t.equal(await hidden(), 'off_topic');
  await issues.hideComment(alice, at(1), { position: 1, reason: null });
  t.equal(await hidden(), null);
  t.equal(await reasonOf(issues.hideComment(bob, at(1), { position: 1, reason: 'spam' })), 'not_allowed_on_issue');
  t.equal(await reasonOf(issues.hideComment(alice, at(1), { position: 0, reason: 'spam' })), 'entry_not_found');
  const odd = { position: 1, reason: 'ugly' as HideReason };
  t.equal(await reasonOf(issues.hideComment(alice, at(1), odd)), 'invalid_hide_reason');
});

t.test('the trash: hidden from everyone, restored within 30 days, purged, its number never used again', async (t) => {
  const { issues, alice, bob, clock, db } = await openIssues(t);
  for (const title of ['one', 'two', 'three']) await issues.open(bob, roof, { title, body: 'text' });
  for (const number of [1, 2, 3]) await issues.comment(bob, at(number), { body: 'x' });
  t.equal(await reasonOf(issues.trash(bob, at(1))), 'not_allowed_on_issue');
  await issues.trash(alice, at(1));
  for (const viewer of [alice, bob, anonymous]) t.equal(await reasonOf(issues.find(viewer, at(1))), 'issue_not_found');
  t.equal(await reasonOf(issues.comment(alice, at(1), { body: 'x' })), 'issue_not_found');
  t.equal(await reasonOf(issues.listTrash(bob, roof)), 'not_allowed_on_issue');
  t.same(
    (await issues.listTrash(alice, roof)).map(({ number }) => number),
    [1],
  );
  await issues.restore(alice, at(1));
  t.equal(await reasonOf(issues.restore(alice, at(1))), 'issue_not_found', 'it is not in the trash');
  t.same(await timeline(issues, bob, at(1)), ['opened', 'comment']);
  await issues.trash(alice, at(1));
  await issues.purge(alice, at(1));
  t.equal(await reasonOf(issues.purge(alice, at(2))), 'issue_not_found');
  await issues.trash(alice, at(2));
  clock.advance(29 * day);
  await issues.trash(alice, at(3));
  t.equal(await issues.emptyTrash(), 0);
  clock.advance(2 * day);
  t.equal(await issues.emptyTrash(), 1);
  t.same(await db.read.query('SELECT DISTINCT i.number FROM issue_entries e JOIN issues i ON i.id = e.issue_id'), [
    { number: 3 },
  ]);
  t.equal((await issues.open(bob, roof, { title: 'four' })).number, 4);
});

t.test('a moved issue is found where it is now; its old number leads there', async (t) => {
  const { db, issues, repositories, alice, bob } = await openIssues(t);
  await repositories.create(alice, { owner: 'alice', name: 'barn', visibility: 'PUBLIC' });
  await repositories.create(alice, { owner: 'alice', name: 'cellar', visibility: 'PRIVATE' });
  const barn = { owner: 'alice', name: 'barn' };
  for (const place of [roof, barn])
    await issues.addLabel(alice, { repository: place }, { name: 'wet', colour: '000000' });
  await issues.addMilestone(alice, roof, { title: 'First' });
  await issues.open(alice, roof, { title: 'Leak', labels: ['wet'], milestone: 'first' });
  await issues.open(alice, barn, { title: 'other' });
  t.equal(await reasonOf(issues.move(bob, at(1), barn)), 'not_allowed_on_issue');
  for (const { name } of [roof, barn])
    await repositories.collaborators.add(alice, 'alice', name, { username: 'bob', role: 'admin' });
  const left = 'DELETE FROM collaborators WHERE user_id = ? AND repository_id = ?';
  const { id: barnId } = (await repositories.find(alice, 'alice', 'barn')).repository;
  const leaving = whileChanging(db, left, [bob.id, barnId], () => issues.move(bob, at(1), barn));
  t.equal(await reasonOf(leaving), 'not_allowed_on_issue', 'rights there that were lost meanwhile');
  t.equal(await reasonOf(issues.move(bob, at(1), barn)), 'not_allowed_on_issue', 'rights here are not enough');
  await repositories.collaborators.remove(alice, 'alice', 'roof', 'bob');
  t.equal(await reasonOf(issues.move(alice, at(1), roof)), 'already_there');
  const moved = await issues.move(alice, at(1), barn);
  t.equal(moved.number, 2);
  t.equal(await reasonOf(issues.find(bob, at(1))), 'issue_not_found');
  t.match(await issues.findMoved(bob, at(1)), { number: 2, repositoryId: moved.repositoryId });
  const found = await issues.find(bob, at(2, 'barn'));
  t.equal(found.milestoneId, null);
  t.same(
    found.labels.map(({ name, repositoryId }) => [name, repositoryId]),
    [['wet', moved.repositoryId]],
  );
  const { openIssues: open } = await issues.count(moved.repositoryId);
  t.equal(open, 2, 'counted where it is');
  await issues.move(alice, at(2, 'barn'), { owner: 'alice', name: 'cellar' });
  t.equal(await issues.findMoved(bob, at(1)), null, 'who may not see it is told nothing');
  t.equal((await issues.findMoved(alice, at(1)))?.number, 1);
  t.equal(await reasonOf(issues.move(alice, at(1, 'cellar'), roof)), 'move_would_publish');
  t.equal((await issues.open(alice, roof, { title: 'next' })).number, 2, 'the old number is not given out again');
});

t.test('many at once: each comment has its own position, and one of two edits wins', async (t) => {
  const { issues, alice, bob } = await openIssues(t);
  await issues.open(bob, roof, { title: 'one', body: 'text' });
  await Promise.all(Array.from({ length: 20 }, (_, at_) => issues.comment(bob, at(1), { body: `comment ${at_}` })));
  const { entries } = await issues.listEntries(bob, at(1));
  t.same(
    entries.map(({ position }) => position),
    Array.from({ length: 21 }, (_, position) => position),
  );
  const edits = ['a', 'b', 'c'].map((body) => issues.editText(bob, at(1), { position: 0, body, revision: 1 }));
  t.same(await outcomes(edits), { accepted: 1, text_changed_meanwhile: 2 });
  await Promise.all([issues.close(alice, at(1)), issues.close(bob, at(1))]);
  t.equal((await timeline(issues, bob, at(1))).filter((kind) => kind === 'closed').length, 1);
});
