// The rules of who is notified and why, as a table; then the same over the modules.
import t from 'tap';
import { chooseRecipients } from '../../src/notifications/recipients/choose-recipients.ts';
import type { RecipientFacts } from '../../src/notifications/recipients/choose-recipients.ts';
import type { Reason } from '../../src/notifications/index.ts';
import { at, openNotifications, roof } from './notifications-fixture.ts';

const nobody: RecipientFacts = {
  named: new Map(),
  isForAll: true,
  actorId: 'actor',
  authorId: null,
  assignees: [],
  subscriptions: new Map(),
  watches: new Map(),
  blockers: new Set(),
};

const table: [title: string, facts: Partial<RecipientFacts>, recipients: Record<string, Reason>][] = [
  ['nobody is facts', {}, {}],
  ['who wrote the issue', { authorId: 'a' }, { a: 'author' }],
  ['who is assigned', { assignees: ['a'], authorId: 'a' }, { a: 'assigned' }],
  ['who has subscribed', { subscriptions: new Map([['a', true]]) }, { a: 'reply' }],
  ['who watches everything', { watches: new Map([['a', 'everything']]) }, { a: 'watching' }],
  ['who only takes part', { watches: new Map([['a', 'participating']]) }, {}],
  ['who waits for releases', { watches: new Map([['a', 'releases']]) }, {}],
  ['who is mentioned', { named: new Map([['a', 'mention']]), authorId: 'a' }, { a: 'mention' }],
  ['who is assigned by it', { named: new Map([['a', 'assigned']]), isForAll: false }, { a: 'assigned' }],
  ['a change that names one person is told to nobody else', { isForAll: false, authorId: 'a' }, {}],
  [
    'no act is told to its actor',
    { authorId: 'actor', named: new Map([['actor', 'mention']]), watches: new Map([['actor', 'everything']]) },
    {},
  ],
  ['who has unsubscribed', { authorId: 'a', subscriptions: new Map([['a', false]]) }, {}],
  [
    'who has unsubscribed and is mentioned',
    { named: new Map([['a', 'mention']]), subscriptions: new Map([['a', false]]) },
    { a: 'mention' },
  ],
  [
    'who ignores the repository, whatever they are',
    {
      named: new Map([['a', 'mention']]),
      authorId: 'a',
      assignees: ['a'],
      subscriptions: new Map([['a', true]]),
      watches: new Map([['a', 'ignore']]),
    },
    {},
  ],
  [
    'the author of what was merged, and a reviewer who has not answered',
    { authorId: 'a', authorReason: 'merged', assignees: ['a'], reviewers: ['b'], isForAll: true },
    { a: 'merged', b: 'review_asked' },
  ],
  [
    'an author who has unsubscribed, of an approval',
    { authorId: 'a', authorReason: 'approved', subscriptions: new Map([['a', false]]), isForAll: true },
    {},
  ],
  ['who was asked for a review', { named: new Map([['a', 'review_asked']]), isForAll: false }, { a: 'review_asked' }],
  ['who has blocked the actor', { named: new Map([['a', 'mention']]), blockers: new Set(['a']) }, {}],
];

for (const [title, facts, recipients] of table)
  t.test(`recipients: ${title}`, async (t) => {
    t.strictSame(Object.fromEntries(chooseRecipients({ ...nobody, ...facts })), recipients);
  });

t.test('one row for a person and an issue; its reason is the strongest of what is unread', async (t) => {
  const { issues, alice, bob, carol, rowsOf, notifications } = await openNotifications(t);
  await issues.open(bob, roof, { title: 'Leak' });
  t.same(await rowsOf(alice), ['#1 watching from 0'], 'who owns a repository watches it');
  t.same(await rowsOf(bob), [], 'nobody is notified of their own acts');
  await issues.comment(carol, at(1), { body: 'I see it, @alice' });
  await issues.comment(carol, at(1), { body: 'and again' });
  t.same(await rowsOf(alice), ['#1 mention from 0']);
  t.same(await rowsOf(bob), ['#1 author from 1']);
  await notifications.markIssueSeen(alice, (await issues.find(alice, at(1))).id, 2);
  t.same(await rowsOf(alice), ['#1 mention']);
  await issues.close(bob, at(1));
  t.same(await rowsOf(alice), ['#1 reply from 3'], 'what is read begins anew; a mention has subscribed her');
  t.same(await rowsOf(carol), ['#1 reply from 3']);
  await issues.triage(alice, at(1), { assignees: { add: ['carol'] } });
  t.same(await rowsOf(carol), ['#1 assigned from 3']);
  t.same(await rowsOf(bob), ['#1 author from 1'], 'an assignment concerns the assigned');
});

t.test('an edit tells those whom it mentions first, and leads to the text', async (t) => {
  const { issues, notifications, bob, carol, alice, rowsOf } = await openNotifications(t);
  await issues.open(bob, roof, { title: 'Leak', body: 'It rains in, @alice' });
  await issues.comment(bob, at(1), { body: 'More' });
  t.same(await rowsOf(alice), ['#1 mention from 0']);
  await notifications.markIssueSeen(alice, (await issues.find(alice, at(1))).id, 1);
  await issues.editText(bob, at(1), { position: 0, body: 'It rains in, @alice and @carol', revision: 1 });
  t.same(await rowsOf(carol), ['#1 mention from 0']);
  t.same(await rowsOf(alice), ['#1 mention'], 'read, and not told again');
});

t.test('blocked, muted, ignored, disabled', async (t) => {
  const { issues, notifications, accounts, alice, bob, carol, rowsOf } = await openNotifications(t);
  await issues.open(carol, roof, { title: 'Leak' });
  t.same(await rowsOf(alice), ['#1 watching from 0']);
  await issues.block(carol, { owner: 'carol', username: 'bob' });
  await issues.comment(bob, at(1), { body: '@carol!' });
  t.same(await rowsOf(carol), [], 'carol has blocked bob');
  await issues.comment(alice, at(1), { body: 'Thanks' });
  t.same(await rowsOf(carol), ['#1 author from 2']);
  t.same(await rowsOf(bob), ['#1 reply from 2'], 'who comments takes part');
  await notifications.change(bob, 'done', { upTo: Number.MAX_SAFE_INTEGER });
  await issues.setSubscription(bob, at(1), false);
  await issues.comment(alice, at(1), { body: 'More' });
  t.same(await rowsOf(bob), []);
  await issues.comment(alice, at(1), { body: 'What do you say, @bob?' });
  t.same(await rowsOf(bob), ['#1 mention from 4']);
  await notifications.setWatching(bob, roof, 'ignore');
  await issues.comment(alice, at(1), { body: '@bob?' });
  t.same(await rowsOf(bob), ['#1 mention from 4'], 'nothing new');
  await notifications.setWatching(bob, roof, null);
  await notifications.change(bob, 'done', { upTo: Number.MAX_SAFE_INTEGER });
  t.same(await rowsOf(bob), []);
  await accounts.setDisabled(bob.id, true);
  await issues.comment(alice, at(1), { body: '@bob, are you there?' });
  t.same(await rowsOf(bob), []);
});

t.test('an entry is told to those who had subscribed before it, however late it is announced', async (t) => {
  const { issues, notifications, repositories, addPerson, rowsOf, settle, alice, bob, carol } =
    await openNotifications(t);
  const { id } = await issues.open(bob, roof, { title: 'Leak' });
  await issues.comment(carol, at(1), { body: 'I see it' });
  await settle();
  const { repository } = await repositories.find(alice, 'alice', 'roof');
  async function recipientsOf(position: number): Promise<Record<string, Reason>> {
    const issue = await issues.find(alice, at(1));
    const entry = (await issues.findEntry(id, position))!;
    const prepared = await notifications.onEntry.prepare!({ repository, issue, entry } as never);
    return Object.fromEntries(prepared!.recipients.map(({ userId, reason }) => [userId, reason]));
  }
  t.strictSame(await recipientsOf(0), { [alice.id]: 'watching' }, 'carol came after the opening');
  t.strictSame(await recipientsOf(1), { [alice.id]: 'watching', [bob.id]: 'author' });

  const [dave, erin] = [await addPerson('dave'), await addPerson('erin')];
  await issues.open(erin, roof, { title: 'Other' });
  await issues.changeSettings(alice, roof, { holdsNewcomers: true });
  await issues.comment(dave, at(1), { body: 'New here' });
  await issues.comment(erin, at(1), { body: 'Later, and shown at once' });
  t.same(await rowsOf(erin), []);
  await issues.admit(alice, roof, dave.id);
  t.same(await rowsOf(erin), ['#1 reply from 2'], 'what was held is told when it is shown, to all who are there then');
});
