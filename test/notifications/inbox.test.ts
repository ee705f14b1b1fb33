// The inbox: what is unread, done and saved, taking back, paging; what a person may not see any more; runs; watching;
// limits; what goes with people, repositories and issues.
import t from 'tap';
import { anonymous } from '../../src/access/index.ts';
import type { Tx } from '../../src/db/index.ts';
import type { RunRow } from '../../src/ci/index.ts';
import { reasonOf } from '../repositories/repositories-fixture.ts';
import { at, openNotifications, roof, viewerOf } from './notifications-fixture.ts';
import type { NotificationModules } from './notifications-fixture.ts';

const cellar = { owner: 'alice', name: 'cellar' };

const idsOf = async ({ notifications }: NotificationModules, viewer: NotificationModules['alice']): Promise<number[]> =>
  (await notifications.list(viewer, { view: 'inbox' }, { limit: 100 })).rows.map(({ id }) => id);

t.test('done, read, saved, and back', async (t) => {
  const modules = await openNotifications(t);
  const { issues, notifications, clock, alice, bob, rowsOf } = modules;
  for (const title of ['One', 'Two', 'Three']) {
    clock.advance(1_000);
    await issues.open(bob, roof, { title });
  }
  t.same(await rowsOf(alice), ['#3 watching from 0', '#2 watching from 0', '#1 watching from 0']);
  const [three, two, one] = (await idsOf(modules, alice)) as [number, number, number];
  t.equal(await notifications.countUnread(alice), 3);
  clock.advance(1_000);
  await notifications.change(alice, 'read', { ids: [two] });
  t.equal(await notifications.countUnread(alice), 2);
  clock.advance(1_000);
  const done = await notifications.change(alice, 'done', { ids: [one, two] });
  t.same(await rowsOf(alice), ['#3 watching from 0']);
  t.same((await rowsOf(alice, 'done')).sort(), ['#1 watching', '#2 watching']);
  t.equal(await notifications.countUnread(alice), 1);
  await notifications.undo(alice, { change: 'done', at: done });
  t.same(await rowsOf(alice), ['#3 watching from 0', '#2 watching', '#1 watching from 0'], 'each as it was');
  clock.advance(1_000);
  await notifications.change(alice, 'save', { ids: [three] });
  t.same(await rowsOf(alice, 'saved'), ['#3 watching from 0']);
  const again = await notifications.change(alice, 'done', { ids: [three] });
  t.same(await rowsOf(alice, 'saved'), ['#3 watching'], 'what is saved stays');
  clock.advance(1_000);
  await issues.comment(bob, at(3), { body: 'More' });
  t.equal((await rowsOf(alice))[0], '#3 watching from 1', 'what is done comes back');
  await notifications.undo(alice, { change: 'done', at: again });
  t.equal((await rowsOf(alice))[0], '#3 watching from 1', 'a change is taken back where nothing has happened since');
  clock.advance(1_000);
  const until = clock.now();
  await issues.open(bob, roof, { title: 'Four' });
  await rowsOf(alice);
  await notifications.change(alice, 'read', { upTo: until - 1 });
  t.same(await rowsOf(alice, 'unread'), ['#4 watching from 0'], 'what came since the list was shown stays unread');
  await notifications.change(alice, 'unread', { ids: [one] });
  t.equal(await notifications.countUnread(alice), 2);
  clock.advance(11 * 60_000);
  t.equal(await reasonOf(notifications.undo(alice, { change: 'done', at: done })), 'undo_too_late');
});

t.test('nobody changes or reads an inbox but its person', async (t) => {
  const modules = await openNotifications(t);
  const { issues, notifications, alice, bob, rowsOf } = modules;
  await issues.open(bob, roof, { title: 'One' });
  await rowsOf(alice);
  const [id] = (await idsOf(modules, alice)) as [number];
  const at = await notifications.change(bob, 'done', { ids: [id] });
  await notifications.undo(bob, { change: 'done', at });
  t.same(await rowsOf(alice), ['#1 watching from 0']);
  t.equal(await reasonOf(notifications.find(bob, id)), 'notification_not_found');
  t.equal(await reasonOf(notifications.change(anonymous, 'done', { ids: [id] })), 'sign_in_required');
  t.equal(
    await reasonOf(notifications.change(viewerOf(alice, { scope: 'read' }), 'done', { ids: [id] })),
    'insufficient_scope',
  );
  t.equal(await reasonOf(notifications.change(alice, 'done', { ids: Array(101).fill(id) })), 'too_many_ids');
  t.same((await notifications.list(anonymous, { view: 'inbox' }, { limit: 10 })).rows, []);
  t.equal(await notifications.countUnread(anonymous), 0);
});

t.test('pages follow each other by key, with filters', async (t) => {
  const { issues, notifications, repositories, clock, alice, bob, settle } = await openNotifications(t);
  await repositories.create(alice, { ...cellar, visibility: 'PUBLIC' });
  for (let count = 0; count < 7; count += 1) {
    clock.advance(1_000);
    await issues.open(bob, count % 2 === 0 ? roof : cellar, {
      title: `Number ${count}`,
      body: count === 3 ? '@alice' : '',
    });
  }
  await settle();
  const titles: string[] = [];
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof notifications.list>> = await notifications.list(
      alice,
      { view: 'inbox' },
      { limit: 3, after },
    );
    titles.push(...page.rows.map(({ issue }) => issue!.title));
    after = page.next;
  } while (after !== null);
  t.same(
    titles,
    [6, 5, 4, 3, 2, 1, 0].map((count) => `Number ${count}`),
  );
  const { id } = (await repositories.find(alice, 'alice', 'cellar')).repository;
  const filtered = async (filter: object): Promise<string[]> =>
    (await notifications.list(alice, { view: 'unread', ...filter }, { limit: 10 })).rows.map(
      ({ issue }) => issue!.title,
    );
  t.same(await filtered({ repositoryId: id }), ['Number 5', 'Number 3', 'Number 1']);
  t.same(await filtered({ reason: 'mention' }), ['Number 3']);
  t.same(await filtered({ reason: 'watching', repositoryId: id }), ['Number 5', 'Number 1']);
  t.equal(await reasonOf(notifications.list(alice, { view: 'inbox' }, { limit: 3, after: 'x' })), 'invalid_page');
});

t.test('who lost access sees nothing, not even a number, until it is there again', async (t) => {
  const { issues, notifications, repositories, alice, bob, carol, rowsOf } = await openNotifications(t);
  await repositories.create(alice, { ...cellar, visibility: 'PRIVATE' });
  const share = () => repositories.collaborators.add(alice, 'alice', 'cellar', { username: 'bob', role: 'read' });
  await share();
  await issues.open(alice, cellar, { title: 'A secret', body: '@bob @carol' });
  t.same(await rowsOf(carol), [], 'a mention gives no access');
  t.same(await rowsOf(bob), ['#1 mention from 0']);
  t.equal(await notifications.countUnread(bob), 1);
  await notifications.change(bob, 'save', { upTo: Number.MAX_SAFE_INTEGER });
  await repositories.collaborators.remove(alice, 'alice', 'cellar', 'bob');
  t.same([await rowsOf(bob), await rowsOf(bob, 'unread'), await rowsOf(bob, 'saved')], [[], [], []]);
  t.equal(await notifications.countUnread(bob), 0);
  await issues.comment(alice, { ...cellar, number: 1 }, { body: '@bob, more of it' });
  await share();
  t.same(await rowsOf(bob), ['#1 mention from 0'], 'he was not notified of the comment');
  t.equal(await notifications.countUnread(bob), 1);
  await issues.trash(alice, { ...cellar, number: 1 });
  t.same(await rowsOf(bob), [], 'nor what is in the trash');
  await issues.restore(alice, { ...cellar, number: 1 });
  t.same(await rowsOf(bob), ['#1 mention from 0']);
  await repositories.trash.move(alice, 'alice', 'cellar');
  t.same(await rowsOf(bob), []);
});

t.test('an issue that moves, a repository that is handed over, a person who goes', async (t) => {
  const { issues, notifications, repositories, accounts, alice, bob, carol, rowsOf, count } =
    await openNotifications(t);
  await repositories.create(alice, { ...cellar, visibility: 'PUBLIC' });
  await issues.open(bob, roof, { title: 'One', body: '@carol' });
  await rowsOf(alice);
  await issues.move(alice, at(1), cellar);
  const { rows } = await notifications.list(carol, { view: 'inbox' }, { limit: 10 });
  t.match(rows, [{ place: { repository: { name: 'cellar' } }, issue: { number: 1 } }]);
  t.equal((await notifications.watchingOf(bob, rows[0]!.repositoryId))!.level, 'participating');
  await accounts.deletePerson(carol.id);
  t.equal(await count(`SELECT count(*) AS n FROM notifications WHERE user_id = '${carol.id}'`), 0);
  t.equal(await count(`SELECT count(*) AS n FROM notification_counts WHERE user_id = '${carol.id}'`), 0);
});

t.test('watching: who owns a repository watches it; the levels; the number of people', async (t) => {
  const { notifications, organisations, repositories, alice, bob, carol } = await openNotifications(t);
  const { id } = (await repositories.find(alice, 'alice', 'roof')).repository;
  t.match(await notifications.watchingOf(alice, id), { level: 'everything', watching: 1 });
  t.match(await notifications.watchingOf(bob, id), { level: 'participating', since: null, watching: 1 });
  t.equal(await notifications.watchingOf(anonymous, id), null);
  await notifications.setWatching(bob, roof, 'everything');
  await notifications.setWatching(carol, roof, 'ignore');
  t.match(await notifications.watchingOf(bob, id), { level: 'everything', watching: 2 });
  t.same(await notifications.listWatchers(id, { limit: 10 }), [alice.id, bob.id].sort());
  await notifications.setWatching(alice, roof, 'participating');
  await notifications.setWatching(bob, roof, null);
  t.match(await notifications.watchingOf(bob, id), { level: 'participating', watching: 0 });
  t.equal(
    await reasonOf(notifications.setWatching(bob, { owner: 'alice', name: 'absent' }, 'ignore')),
    'repository_not_found',
  );
  t.equal(await reasonOf(notifications.setWatching(bob, roof, 'all' as never)), 'invalid_watch_level');
  t.equal(await reasonOf(notifications.setWatching(anonymous, roof, 'ignore')), 'sign_in_required');
  await organisations.create(alice, { name: 'guild' });
  const hall = await repositories.create(alice, { owner: 'guild', name: 'hall', visibility: 'PRIVATE' });
  t.match(await notifications.watchingOf(alice, hall.id), { level: 'everything', watching: 1 }, 'an OWNER');
  t.same((await notifications.listWatches(alice, { limit: 10 })).rows.map(({ level }) => level).sort(), [
    'everything',
    'participating',
  ]);
});

t.test('a failed run notifies who pushed and who watches, and a later success resolves it', async (t) => {
  const { notifications, repositories, db, clock, alice, bob, carol, rowsOf } = await openNotifications(t);
  const { id: repositoryId } = (await repositories.find(alice, 'alice', 'roof')).repository;
  const run = {
    repositoryId,
    number: 1,
    attempt: 1,
    workflowPath: 'build.yml',
    workflowName: 'Build',
    title: 'Seal the seams',
    ref: 'refs/heads/main',
    sha: '0123456789',
    actorId: bob.id,
    status: 'failure',
  } as RunRow;
  const end = async (changes: Partial<RunRow>) => {
    clock.advance(1_000);
    await db.write((tx: Tx) => notifications.onRunEnd(tx, { ...run, ...changes }));
  };
  await end({});
  t.same(await rowsOf(bob), ['run 1 ci_failed from 1001']);
  t.same(await rowsOf(alice), ['run 1 watching from 1001'], 'alice watches');
  t.same(await rowsOf(carol), [], 'nobody else');
  await end({ number: 2, ref: 'refs/heads/other', status: 'success' });
  t.same(await rowsOf(bob, 'unread'), ['run 1 ci_failed from 1001'], 'a success on another branch resolves nothing');
  await end({ number: 3 });
  t.same(await rowsOf(bob), ['run 3 ci_failed from 1001'], 'one row for a repository');
  await end({ number: 4, status: 'cancelled' });
  await end({ number: 5, status: 'success' });
  t.same(await rowsOf(bob, 'unread'), []);
  t.match((await notifications.list(bob, { view: 'inbox' }, { limit: 1 })).rows, [
    { resolvedAt: Number, isUnread: false },
  ]);
  await end({ number: 5, attempt: 2 });
  t.same(await rowsOf(bob), ['run 5 ci_failed from 5002'], 'a run that is run again ends again');
  await notifications.markRunSeen(bob, repositoryId, 5);
  t.same(await rowsOf(bob, 'unread'), []);
  await end({ number: 6, actorId: null });
  t.same(await rowsOf(bob, 'unread'), [], 'a scheduled run has no one who pushed');
  await notifications.setWatching(bob, roof, 'ignore');
  await end({ number: 7 });
  t.same(await rowsOf(bob, 'unread'), []);
});

t.test('rules choose the channels; the feed tells what its person may read, by its secret alone', async (t) => {
  const { issues, notifications, accounts, repositories, alice, bob, rowsOf, settle } = await openNotifications(t);
  await notifications.changeSettings(alice, {
    rules: [
      { reason: 'watching', channel: 'inbox', isOn: false },
      { reason: 'mention', channel: 'feed', isOn: false },
    ],
  });
  t.match((await notifications.settingsOf(alice))!.rules, {
    watching: { inbox: false, feed: true, mail: false },
    mention: { inbox: true, feed: false, mail: true },
  });
  const secret = await notifications.makeFeed(alice);
  const titles = async () => (await notifications.readFeed(secret)).notifications.map(({ issue }) => issue!.title);
  await issues.open(bob, roof, { title: 'Watched' });
  await issues.open(bob, roof, { title: 'Mentioned', body: '@alice' });
  t.same(await rowsOf(alice), ['#2 mention from 0']);
  t.equal(await notifications.countUnread(alice), 1);
  t.same(await titles(), ['Watched']);
  await issues.comment(bob, at(1), { body: '@alice' });
  t.same((await rowsOf(alice)).sort(), ['#1 mention from 1', '#2 mention from 0']);
  await issues.trash(alice, at(1));
  t.same(await titles(), []);
  await issues.restore(alice, at(1));
  const other = await notifications.makeFeed(alice);
  t.equal(await reasonOf(titles()), 'feed_not_found', 'a new address ends the old one');
  t.equal((await notifications.readFeed(other)).username, 'alice');
  for (const wrong of ['', 'x', other.slice(1), `${other}=`])
    t.equal(await reasonOf(notifications.readFeed(wrong)), 'feed_not_found');
  await accounts.setDisabled(alice.id, true);
  t.equal(await reasonOf(notifications.readFeed(other)), 'feed_not_found');
  await accounts.setDisabled(alice.id, false);
  await notifications.removeFeed(alice);
  t.equal(await reasonOf(notifications.readFeed(other)), 'feed_not_found');
  await settle();
  t.ok(await repositories.find(alice, 'alice', 'roof'));
  t.equal(await reasonOf(notifications.changeSettings(alice, { digest: 'hourly' as never })), 'invalid_digest');
});

t.test('what is done long ago goes, and the oldest of who has too many; what is saved stays', async (t) => {
  const { issues, notifications, db, clock, alice, bob, rowsOf, count } = await openNotifications(t);
  for (const title of ['One', 'Two']) await issues.open(bob, roof, { title });
  await rowsOf(alice);
  const { rows } = await notifications.list(alice, { view: 'inbox' }, { limit: 10 });
  await notifications.change(alice, 'save', { ids: [rows[0]!.id] });
  await notifications.change(alice, 'done', { ids: rows.map(({ id }) => id) });
  clock.advance(29 * 24 * 3_600_000);
  t.equal(await notifications.removeOld(), 0);
  clock.advance(2 * 24 * 3_600_000);
  t.equal(await notifications.removeOld(), 1);
  t.same(await rowsOf(alice, 'saved'), ['#2 watching']);
  const { repositoryId } = rows[0]!;
  await db.write(async ({ manager }) => {
    for (let number = 0; number < 5_010; number += 1)
      await manager.query(
        `INSERT INTO notifications (user_id, subject, repository_id, reason, first_position, last_position, listed_at, done_at)
         VALUES (?, ?, ?, 'ci_failed', 1, 1, ?, ?)`,
        [alice.id, `run:${number}`, repositoryId, number, number < 4 ? clock.now() : null],
      );
  });
  t.equal(await notifications.removeOld(), 11);
  t.equal(await count('SELECT min(listed_at) AS n FROM notifications WHERE saved_at IS NULL'), 11, 'the oldest went');
  t.equal(await count('SELECT stored AS n FROM notification_counts'), 5_000);
  t.equal(await count('SELECT unread AS n FROM notification_counts'), 4_999);
});

t.test('a mention of a team reaches those of its people who may read, from those who know of the team', async (t) => {
  const { issues, organisations, repositories, alice, bob, carol, rowsOf, addPerson } = await openNotifications(t);
  await organisations.create(alice, { name: 'guild' });
  const team = { organisation: 'guild', name: 'glazers' };
  await organisations.teams.create(alice, 'guild', { name: 'Glazers' });
  for (const name of ['bob', 'carol']) await organisations.teams.addMember(alice, team, name);
  const dave = await addPerson('dave');
  const open = async (author: typeof alice, owner: string, name: string): Promise<void> => {
    await repositories.create(alice, { owner, name, visibility: 'PUBLIC' });
    await issues.open(author, { owner, name }, { title: 'A question', body: 'For @guild/glazers' });
  };
  await open(dave, 'guild', 'first');
  t.same(await rowsOf(bob), [], 'dave does not know of the team');
  await open(alice, 'alice', 'second');
  t.same(await rowsOf(bob), [], 'a repository of another owner');
  await open(alice, 'guild', 'third');
  t.same(await rowsOf(bob), ['#1 mention from 0']);
  t.same(await rowsOf(carol), ['#1 mention from 0']);
  await repositories.create(alice, { owner: 'guild', name: 'hidden', visibility: 'PRIVATE' });
  await repositories.collaborators.add(alice, 'guild', 'hidden', { username: 'carol', role: 'read' });
  await issues.open(alice, { owner: 'guild', name: 'hidden' }, { title: 'A secret', body: '@guild/glazers' });
  t.equal((await rowsOf(bob)).length, 1, 'a mention gives no access');
  t.equal((await rowsOf(carol)).length, 2);
});
