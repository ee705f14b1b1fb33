// Boards of repositories and organisations: columns, cards and their order, rules, and who sees and moves what.
import t from 'tap';
import type { Viewer } from '../../src/access/index.ts';
import type { BoardOfCards, BoardPlace, Issues } from '../../src/issues/index.ts';
import { noFilter } from '../../src/issues/index.ts';
import { columnByRules } from '../../src/issues/boards/place-by-rules.ts';
import { keyBetween } from '../../src/issues/boards/order-keys.ts';
import { anonymous, at, openIssues, reasonOf, roof, timeline, viewerOf } from './issues-fixture.ts';
import type { IssueModules } from './issues-fixture.ts';

const guild = { organisation: 'guild' };

/** `Name: 2 1 | …`: the columns of a board with the numbers of their cards, as a viewer sees them. */
async function shown(issues: Issues, viewer: Viewer, place: BoardPlace, id: string): Promise<string> {
  const { columns } = await issues.boards.read(viewer, place, id);
  return columns.map(({ name, cards }) => [`${name}:`, ...cards.map(({ number }) => number)].join(' ')).join(' | ');
}

/** A board of alice/roof, which has four issues, the first three of them as its cards. */
async function openBoard(t: Parameters<typeof openIssues>[0], preset: 'basic' | 'state' = 'basic') {
  const modules = await openIssues(t);
  const { issues, alice, clock } = modules;
  const ids: string[] = [];
  for (const title of ['One', 'Two', 'Three', 'Four']) {
    ids.push((await issues.open(alice, roof, { title })).id);
    clock.advance(1_000);
  }
  const board = await issues.boards.add(alice, roof, { title: 'Work' }, preset);
  const [one = '', two = '', three = '', four = ''] = ids;
  if (preset === 'basic')
    for (const number of [3, 2, 1]) await issues.boards.addCard(alice, roof, board.id, at(number));
  const columns = board.columns.map(({ id }) => id);
  const [first = '', second = '', third = ''] = columns;
  const show = (viewer: Viewer = alice) => shown(issues, viewer, roof, board.id);
  return { ...modules, board, one, two, three, four, first, second, third, show };
}

t.test('cards are moved between columns, to an end, above another one and by one place', async (t) => {
  const { issues, alice, board, one, two, three, four, first, second, show } = await openBoard(t);
  const move = (ids: string[], target: Parameters<Issues['boards']['moveCards']>[3]) =>
    issues.boards.moveCards(alice, roof, { boardId: board.id, issueIds: ids }, target);
  t.equal(await show(), 'To do: 1 2 3 | In progress: | Done:');
  await move([one], { columnId: first, to: 'bottom' });
  t.equal(await show(), 'To do: 2 3 1 | In progress: | Done:');
  await move([one], { to: 'up' });
  t.equal(await show(), 'To do: 2 1 3 | In progress: | Done:');
  await move([two], { to: 'down' });
  t.equal(await show(), 'To do: 1 2 3 | In progress: | Done:');
  await move([one], { to: 'up' });
  t.equal(await show(), 'To do: 1 2 3 | In progress: | Done:', 'at the top it stays');
  await move([one, two], { columnId: second, to: 'top' });
  t.equal(await show(), 'To do: 3 | In progress: 1 2 | Done:', 'several keep their order');
  await move([three], { columnId: second, above: two });
  t.equal(await show(), 'To do: | In progress: 1 3 2 | Done:');
  await move([two], { columnId: second, above: two });
  t.equal(await show(), 'To do: | In progress: 1 3 2 | Done:', 'above itself');
  await move([one], { columnId: first, above: two });
  t.equal(await show(), 'To do: 1 | In progress: 3 2 | Done:', 'what has left the column meanwhile is no place');
  await issues.boards.removeCards(alice, roof, { boardId: board.id, issueIds: [three, four] });
  t.equal(await show(), 'To do: 1 | In progress: 2 | Done:');
  t.same(await timeline(issues, alice, at(3)), ['opened', 'board_added', 'board_moved', 'board_removed']);
  t.match((await issues.listEntries(alice, at(3))).entries.at(-2)!.details, {
    board: 'Work',
    from: 'To do',
    to: 'In progress',
  });
  t.equal(await reasonOf(move([four], { columnId: first, to: 'top' })), 'board_card_not_found');
  t.equal(await reasonOf(move([one], { columnId: board.id, to: 'top' })), 'board_column_not_found');
});

t.test('moves at the same time all hold, and one place takes any number of them', async (t) => {
  const { issues, alice, board, one, two, three, first, second, show } = await openBoard(t);
  const other = await issues.boards.add(alice, roof, { title: 'Other' });
  for (const number of [3, 1, 2]) await issues.boards.addCard(alice, roof, other.id, at(number));
  const move = (id: string, target: Parameters<Issues['boards']['moveCards']>[3]) =>
    issues.boards.moveCards(alice, roof, { boardId: board.id, issueIds: [id] }, target);
  await Promise.all([move(one, { columnId: second, to: 'top' }), move(three, { columnId: second, above: one })]);
  t.match(await show(), /^To do: 2 \| In progress: (3 1|1 3) \| Done:$/);
  // Keys between two cards run out after sixteen halvings.
  for (let round = 0; round < 20; round += 1) {
    await move(two, { columnId: second, above: one });
    await move(three, { columnId: second, above: one });
  }
  t.equal(await show(), 'To do: | In progress: 2 3 1 | Done:');
  t.equal(
    await shown(issues, alice, roof, other.id),
    'To do: 2 1 3 | In progress: | Done:',
    'each board has its order',
  );
  await move(two, { columnId: first, to: 'top' });
  t.equal(keyBetween(1, 2), null);
  t.equal(keyBetween(-1, 1), 0);
});

t.test('a rule of the state brings cards, moves them, and is met by a move', async (t) => {
  const { issues, alice, bob, board, one, second, third, first, show, clock } = await openBoard(t, 'state');
  t.equal(await show(), 'Open: 4 3 2 1 | In progress: | Closed:', 'what is there already, the newest on top');
  await issues.close(alice, at(2));
  t.equal(await show(), 'Open: 4 3 1 | In progress: | Closed: 2');
  await issues.reopen(alice, at(2));
  t.equal(await show(), 'Open: 2 4 3 1 | In progress: | Closed:');
  await issues.boards.moveCards(alice, roof, { boardId: board.id, issueIds: [one] }, { columnId: third, to: 'top' });
  t.match(await issues.find(alice, at(1)), { state: 'CLOSED' }, 'the move closes');
  await issues.boards.moveCards(alice, roof, { boardId: board.id, issueIds: [one] }, { columnId: second, to: 'top' });
  t.match(await issues.find(alice, at(1)), { state: 'OPEN' }, 'and reopens');
  t.same(
    (await timeline(issues, alice, at(1))).filter((kind) => kind !== 'board_added'),
    ['opened', 'board_moved', 'closed', 'board_moved', 'reopened'],
    'by its own rule no card is moved once more',
  );
  clock.advance(60_000);
  await issues.open(bob, roof, { title: 'Five' });
  t.equal(await show(), 'Open: 5 2 4 3 | In progress: 1 | Closed:', 'what is new');
  await issues.boards.moveCards(alice, roof, { boardId: board.id, issueIds: [one] }, { columnId: first, to: 'bottom' });
  t.equal(await show(), 'Open: 5 2 4 3 1 | In progress: | Closed:');
});

t.test('a column of a label follows it in both directions', async (t) => {
  const { issues, alice, bob, board, one, two, four, show, db } = await openBoard(t);
  for (const name of ['doing', 'review'])
    await issues.addLabel(alice, { repository: roof }, { name, colour: '112233' });
  await issues.triage(alice, at(4), { labels: ['Doing'] });
  const [closed, held] = [
    await issues.open(bob, roof, { title: 'Closed' }),
    await issues.open(bob, roof, { title: 'Held' }),
  ];
  for (const { number } of [closed, held]) await issues.triage(alice, at(number), { labels: ['doing'] });
  await issues.close(alice, at(closed.number));
  await db.write(({ manager }) => manager.query('UPDATE issues SET held_at = 1 WHERE id = ?', [held.id]));
  const doing = await issues.boards.addColumn(alice, roof, board.id, { name: 'D', rule: 'label', label: 'DOING' });
  const review = await issues.boards.addColumn(alice, roof, board.id, { name: 'R', rule: 'label', label: 'review' });
  t.equal(await show(), 'To do: 1 2 3 | In progress: | Done: | D: 4 | R:');
  t.same(
    await db.read.query('SELECT issue_id AS id FROM board_cards WHERE column_id = ?', [doing.id]),
    [{ id: four }],
    'neither what is closed nor what is held',
  );
  await issues.triage(alice, at(1), { labels: ['doing'] });
  t.equal(await show(), 'To do: 2 3 | In progress: | Done: | D: 1 4 | R:');
  await issues.triage(alice, at(1), { labels: ['review'] });
  t.equal(await show(), 'To do: 2 3 | In progress: | Done: | D: 4 | R: 1');
  t.same(
    await timeline(issues, alice, at(1)),
    ['opened', 'board_added', 'labelled', 'board_moved', 'unlabelled', 'board_moved', 'labelled'],
    'a label in the place of another one is one move',
  );
  await issues.triage(alice, at(1), { labels: [] });
  t.equal(await show(), 'To do: 1 2 3 | In progress: | Done: | D: 4 | R:', 'without it: the first one by hand');
  const move = (id: string, columnId: string) =>
    issues.boards.moveCards(alice, roof, { boardId: board.id, issueIds: [id] }, { columnId, to: 'top' });
  await move(one, doing.id);
  t.match((await issues.find(alice, at(1))).labels, [{ name: 'doing' }], 'a move adds it');
  await move(one, review.id);
  t.match((await issues.find(alice, at(1))).labels, { length: 1, 0: { name: 'review' } }, 'and takes the other off');
  await move(one, board.columns[2]!.id);
  t.strictSame((await issues.find(alice, at(1))).labels, []);
  t.equal(await show(), 'To do: 2 3 | In progress: | Done: 1 | D: 4 | R:');
  await issues.boards.editColumn(alice, roof, { boardId: board.id, columnId: doing.id }, { label: 'absent' });
  t.equal(await reasonOf(move(two, doing.id)), 'unknown_label');
  t.equal(await show(), 'To do: 2 3 | In progress: | Done: 1 | D: 4 | R:', 'what is refused changes nothing');
});

t.test('the column of an issue by the rules of a board', (t) => {
  const column = (id: string, rule: 'open' | 'closed' | 'label' | null, label = '') => ({ id, name: id, rule, label });
  const [todo, open, bug, ui, closed] = [
    column('todo', null),
    column('open', 'open'),
    column('bug', 'label', 'Bug'),
    column('ui', 'label', 'ui'),
    column('closed', 'closed'),
  ];
  const all = [todo, open, bug, ui, closed];
  for (const [columns, present, isOpen, labels, added, expected] of [
    [all, null, true, '', '', 'open'],
    [all, null, true, 'bug', '', 'bug'],
    [all, null, false, 'bug', 'bug', 'closed'],
    [all, todo, true, '', '', 'todo'],
    [all, todo, true, 'bug', '', 'todo'],
    [all, todo, true, 'bug', 'bug', 'bug'],
    [all, bug, true, 'bug ui', 'ui', 'ui'],
    [all, ui, true, 'bug ui', '', 'ui'],
    [all, ui, true, 'bug', '', 'bug'],
    [all, ui, true, '', '', 'open'],
    [all, closed, true, '', '', 'open'],
    [all, closed, true, 'ui', '', 'ui'],
    [[todo, bug], bug, true, '', '', 'todo'],
    [[bug], bug, true, '', '', null],
    [[bug], null, true, '', '', null],
    [[bug], bug, false, 'bug', '', 'bug'],
    [[todo, closed], closed, true, '', '', 'todo'],
    [[todo], null, false, '', '', null],
    [[closed], null, true, '', '', null],
  ] as const) {
    const names = (text: string) => new Set(text.split(' ').filter((name) => name !== ''));
    const found = columnByRules(columns, present, { isOpen, labels: names(labels), added: names(added) });
    t.equal(found?.id ?? null, expected, `${columns.map(({ id }) => id)} ${present?.id} ${isOpen} ${labels} +${added}`);
  }
  t.end();
});

/** guild with a private and a public repository, bob a MEMBER, dora a GUEST, and a board with an issue of each. */
async function openGuild(
  t: Parameters<typeof openIssues>[0],
): Promise<IssueModules & { dora: Viewer; boardId: string; columns: string[]; hidden: string; seen: string }> {
  const modules = await openIssues(t);
  const { issues, alice, bob, repositories, organisations, accounts } = modules;
  await organisations.create(alice, { name: 'guild' });
  await organisations.addMember(alice, 'guild', { username: 'bob', role: 'MEMBER' });
  const dora = viewerOf(await accounts.addPerson({ username: 'dora' }));
  await organisations.addMember(alice, 'guild', { username: 'dora', role: 'GUEST' });
  for (const [name, visibility] of [
    ['hall', 'PUBLIC'],
    ['vault', 'PRIVATE'],
  ] as const)
    await repositories.create(alice, { owner: 'guild', name, visibility });
  const seen = (await issues.open(alice, { owner: 'guild', name: 'hall' }, { title: 'Door' })).id;
  const hidden = (await issues.open(alice, { owner: 'guild', name: 'vault' }, { title: 'Gold' })).id;
  const board = await issues.boards.add(bob, guild, { title: 'Plan' });
  for (const name of ['hall', 'vault'])
    await issues.boards.addCard(bob, guild, board.id, { owner: 'guild', name, number: 1 });
  return { ...modules, dora, boardId: board.id, columns: board.columns.map(({ id }) => id), hidden, seen };
}

t.test('a board of an organisation shows and counts what each viewer may read', async (t) => {
  const { issues, repositories, alice, bob, carol, dora, boardId, columns, hidden, seen } = await openGuild(t);
  const state = async (viewer: Viewer): Promise<unknown> => {
    try {
      const board = await issues.boards.read(viewer, guild, boardId);
      return [board.columns[0]!.count, board.columns[0]!.cards.map(({ title }) => title).join(' '), board.mayEdit];
    } catch (error) {
      return (error as { reason: string }).reason;
    }
  };
  t.same(await state(bob), [2, 'Gold Door', true]);
  t.equal(await state(carol), 'board_not_found');
  t.equal(await state(anonymous), 'board_not_found');
  t.strictSame((await issues.boards.list(carol, guild)).boards, []);
  t.equal(await state({ ...bob, repositoryIds: [] } as Viewer), 'board_not_found', 'a token for some repositories');
  t.same(
    (await issues.listEntries(alice, { owner: 'guild', name: 'hall', number: 1 })).entries.at(-1)!.details,
    {},
    'the log of an issue says nothing of a board for members',
  );
  await issues.boards.edit(alice, guild, boardId, { isPublic: true });
  t.same(await state(carol), [1, 'Door', false]);
  t.same(await state(anonymous), [1, 'Door', false]);
  t.match((await issues.boards.list(carol, guild)).boards, { length: 1, 0: { title: 'Plan' } });
  const move = (viewer: Viewer, id: string) =>
    reasonOf(issues.boards.moveCards(viewer, guild, { boardId, issueIds: [id] }, { columnId: columns[1]!, to: 'top' }));
  for (const [viewer, reason] of [
    [carol, 'not_allowed_on_issue'],
    [dora, 'not_allowed_on_issue'],
    [anonymous, 'sign_in_required'],
    [{ ...bob, scope: 'read' } as Viewer, 'token_may_not_write'],
  ] as const)
    t.equal(await move(viewer, seen), reason);
  t.equal(await move(bob, hidden), 'accepted');
  await repositories.setArchived(alice, 'guild', 'hall', true);
  t.equal(await move(bob, seen), 'repository_archived', 'who may edit the board, but not triage the issue');
  await repositories.setArchived(alice, 'guild', 'hall', false);
  t.equal(await reasonOf(issues.boards.addCard(bob, guild, boardId, at(1))), 'issue_not_found');
  await issues.open(alice, roof, { title: 'Elsewhere' });
  t.equal(await reasonOf(issues.boards.addCard(alice, guild, boardId, at(1))), 'card_from_elsewhere');
  t.equal(
    await reasonOf(issues.boards.read(alice, roof, boardId)),
    'board_not_found',
    'under another place there is no such board',
  );
});

t.test('what a rule does is named in the log of an issue where everyone who reads it may see the board', async (t) => {
  const { issues, alice, bob, boardId, columns } = await openGuild(t);
  const inHall = { owner: 'guild', name: 'hall', number: 1 };
  await issues.boards.editColumn(bob, guild, { boardId, columnId: columns[2]! }, { rule: 'closed' });
  const last = async () => {
    const { entries } = await issues.listEntries(alice, inHall);
    return entries.findLast(({ kind }) => kind === 'board_moved')?.details;
  };
  await issues.close(alice, inHall);
  t.strictSame(await last(), {}, 'a board for members');
  await issues.boards.edit(alice, guild, boardId, { isPublic: true });
  await issues.reopen(alice, inHall);
  t.match(await last(), { board: 'Plan', from: 'Done', to: 'To do' });
});

t.test('what leaves the place of a board leaves the board', async (t) => {
  const { issues, alice, bob, carol, repositories, boardId, db } = await openGuild(t);
  await issues.move(alice, { owner: 'guild', name: 'hall', number: 1 }, roof);
  t.equal(await shown(issues, bob, guild, boardId), 'To do: 1 | In progress: | Done:', 'a moved issue');
  t.match(await repositories.transfers.start(alice, 'guild', 'vault', 'alice'), { kind: 'transferred' });
  t.equal(await shown(issues, bob, guild, boardId), 'To do: | In progress: | Done:', 'a transferred repository');
  t.same(await db.read.query('SELECT count(*) AS n FROM board_cards'), [{ n: 0 }]);
  t.equal(await reasonOf(issues.boards.delete(carol, guild, boardId)), 'board_not_found');
  await issues.boards.delete(bob, guild, boardId);
  t.equal(await reasonOf(issues.boards.read(bob, guild, boardId)), 'board_not_found');
});

t.test('boards and columns: names, limits, order; who may not edit changes nothing', async (t) => {
  const { issues, alice, bob, board, first, second, show } = await openBoard(t);
  t.equal(await reasonOf(issues.boards.add(alice, roof, { title: 'WORK' })), 'board_taken', 'the form from two tabs');
  t.equal(await reasonOf(issues.boards.add(alice, roof, { title: '  ' })), 'board_title_missing');
  const add = (fields: object) => reasonOf(issues.boards.addColumn(alice, roof, board.id, { name: 'X', ...fields }));
  t.equal(await add({ name: 'done' }), 'board_column_taken');
  t.equal(await add({ name: '' }), 'board_column_name_missing');
  for (const limit of ['-1', '1.5', 'x', '5001']) t.equal(await add({ limit }), 'invalid_card_limit');
  t.equal(await add({ rule: 'moon' }), 'invalid_column_rule');
  t.equal(await add({ rule: 'label', label: '' }), 'invalid_column_rule');
  await issues.boards.moveColumn(alice, roof, { boardId: board.id, columnId: first }, 'right');
  await issues.boards.moveColumn(alice, roof, { boardId: board.id, columnId: second }, 'left');
  t.equal(await show(), 'In progress: | To do: 1 2 3 | Done:');
  for (const [what, work] of Object.entries({
    add: () => issues.boards.add(bob, roof, { title: 'Other' }),
    edit: () => issues.boards.edit(bob, roof, board.id, { title: 'Other' }),
    delete: () => issues.boards.delete(bob, roof, board.id),
    addColumn: () => issues.boards.addColumn(bob, roof, board.id, { name: 'X' }),
    deleteColumn: () => issues.boards.deleteColumn(bob, roof, { boardId: board.id, columnId: first }),
    addCard: () => issues.boards.addCard(bob, roof, board.id, at(4)),
  }))
    t.equal(await reasonOf(work()), 'not_allowed_on_issue', what);
  t.equal(await show(bob), 'In progress: | To do: 1 2 3 | Done:');
  await issues.boards.deleteColumn(alice, roof, { boardId: board.id, columnId: first });
  t.equal(await show(), 'In progress: | Done:');
  t.match(await issues.find(alice, at(1)), { state: 'OPEN' });
});

t.test('a board takes its last card, and none beyond', async (t) => {
  const { issues, alice, board, first, db } = await openBoard(t);
  await db.write(async ({ manager }) => {
    const [one] = await manager.query('SELECT repository_id AS "repositoryId" FROM issues LIMIT 1');
    for (let from = 10; from < 5_006; from += 500) {
      const numbers = Array.from({ length: Math.min(500, 5_006 - from) }, (_, index) => from + index);
      const id = (number: number): string => `'00000000-0000-4000-8000-${String(number).padStart(12, '0')}'`;
      await manager.query(
        `INSERT INTO issues (id, repository_id, number, kind, title, state, created_at, updated_at) VALUES ${numbers
          .map((number) => `(${id(number)}, '${one.repositoryId}', ${number}, 'ISSUE', 'Many', 'OPEN', 1, 1)`)
          .join()}`,
      );
      await manager.query(
        `INSERT INTO board_cards (board_id, issue_id, column_id, order_key) VALUES ${numbers
          .map((number) => `('${board.id}', ${id(number)}, '${first}', ${number * 65_536})`)
          .join()}`,
      );
    }
  });
  const count = async () => (await issues.boards.read(alice, roof, board.id)).columns[0]!.count;
  t.equal(await count(), 4_999);
  t.equal(await reasonOf(issues.boards.addCard(alice, roof, board.id, at(4))), 'accepted');
  const { number } = await issues.open(alice, roof, { title: 'Five' });
  t.equal(await reasonOf(issues.boards.addCard(alice, roof, board.id, at(number))), 'too_many_cards');
  t.equal(await count(), 5_000);
});

t.test('a filter leaves what fits; a large board stays bounded', async (t) => {
  const { issues, alice, board, first, db } = await openBoard(t);
  await issues.addLabel(alice, { repository: roof }, { name: 'bug', colour: '112233' });
  await issues.triage(alice, at(2), { labels: ['bug'] });
  const read = async (filter: Partial<typeof noFilter>) =>
    (
      await issues.boards.read(alice, roof, board.id, {
        filter: { filter: { ...noFilter, ...filter }, kind: null, state: null },
      })
    ).columns[0]!.cards.map(({ number }) => number);
  t.same(await read({ labels: ['bug'] }), [2]);
  t.same(await read({ words: ['THR'] }), [3]);
  t.same(await read({ notLabels: ['bug'] }), [1, 3]);
  t.same(await read({ author: 'absent' }), []);
  const count = Number(process.env['HEARTH_CARDS'] ?? 300);
  await db.write(async ({ manager }) => {
    const { repositoryId } = (await manager.query('SELECT repository_id AS "repositoryId" FROM issues LIMIT 1'))[0];
    const digits = (value: number): string => String(value).padStart(12, '0');
    for (let number = 10; number < 10 + count; number += 1)
      await manager.query(
        `INSERT INTO issues (id, repository_id, number, kind, title, state, created_at, updated_at)
         VALUES (?, ?, ?, 'ISSUE', 'Many', 'OPEN', ?, ?)`,
        [`00000000-0000-4000-8000-${digits(number)}`, repositoryId, number, number, number],
      );
  });
  await issues.boards.editColumn(alice, roof, { boardId: board.id, columnId: first }, { rule: 'open', limit: 5 });
  const all: number[] = [];
  let after: string | null = null;
  do {
    const page: BoardOfCards = await issues.boards.read(alice, roof, board.id, {
      only: { columnId: first, after, limit: 50 },
    });
    const [column] = page.columns;
    t.ok(column!.cards.length <= 50);
    t.equal(column!.count, Math.min(count + 4, 5_000));
    all.push(...column!.cards.map(({ number }) => number));
    after = column!.next;
  } while (after !== null);
  t.equal(new Set(all).size, Math.min(count + 4, 5_000), 'each once');
  const [column] = (await issues.boards.read(alice, roof, board.id)).columns;
  t.match(column, { cards: { length: 50 }, cardLimit: 5 });
});
