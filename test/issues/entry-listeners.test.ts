// The port issues.onEntry: every listener is told of every entry, and records it exactly once.
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { noFilter } from '../../src/issues/index.ts';
import type { AnnouncedEntry, EntryListener } from '../../src/issues/index.ts';
import { at, openIssues, roof } from './issues-fixture.ts';
import type { IssueRooms } from './issues-fixture.ts';

const minute = 60_000;

/** Records each entry as a draft of bob's, so that what is recorded is in the database. */
const recording = ({ bob }: IssueRooms, name: string, heard: string[] = []): EntryListener<string> => ({
  name,
  prepare: async ({ entry }: AnnouncedEntry) => `${entry.position} ${entry.kind}`,
  async record({ manager, now }, { issue, entry }, prepared) {
    const row = [bob.id, `${name}:${issue.number}:${entry.position}`, prepared, now];
    await manager.query('INSERT INTO drafts (user_id, context, body, updated_at) VALUES (?, ?, ?, ?)', row);
  },
  recorded: (_announced, prepared) => heard.push(prepared),
});

const recorded = async ({ db }: IssueRooms, name: string): Promise<string[]> => {
  const rows: { body: string }[] = await db.read.query(
    'SELECT body FROM drafts WHERE context >= ? AND context < ? ORDER BY context',
    [`${name}:`, `${name};`],
  );
  return rows.map(({ body }) => body);
};

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200 && !(await isTrue()); tries++) await sleep(10);
}

t.test('each listener hears of each entry once, in the order of the log', async (t) => {
  const rooms = await openIssues(t);
  const heard: string[] = [];
  rooms.issues.onEntry(recording(rooms, 'one', heard));
  rooms.issues.onEntry(recording(rooms, 'two'));
  t.throws(() => rooms.issues.onEntry({ name: 'one' }), 'names are keys');
  await rooms.issues.open(rooms.alice, roof, { title: 'x' });
  await rooms.issues.comment(rooms.bob, at(1), { body: 'a' });
  await rooms.issues.close(rooms.alice, at(1));
  await until(async () => heard.length === 3);
  t.same(heard, ['0 opened', '1 comment', '2 closed']);
  t.same(await recorded(rooms, 'two'), heard);
  await rooms.issues.finishEntries();
  await rooms.issues.recoverEntries();
  t.same(await recorded(rooms, 'one'), heard, 'and not again');
  const marks = await rooms.db.read.query('SELECT * FROM entry_announcements');
  t.same(marks, [], 'nothing is left of it');
});

t.test(
  'a listener that fails is asked again; the others hear once all the same; then the entry is parked',
  async (t) => {
    const rooms = await openIssues(t);
    let fails = true;
    let calls = 0;
    const heard: string[] = [];
    rooms.issues.onEntry(recording(rooms, 'good', heard));
    rooms.issues.onEntry({
      name: 'bad',
      record: async () => {
        calls += 1;
        if (fails) throw new Error('out of order');
      },
    });
    await rooms.issues.open(rooms.alice, roof, { title: 'x' });
    const parked = async () =>
      (await rooms.db.read.query(
        'SELECT parked_at AS at, announced_at AS told, last_error AS error FROM issue_entries',
      )) as {
        at: number | null;
        told: number | null;
        error: string | null;
      }[];
    await until(async () => (await parked())[0]?.error !== null);
    t.match(await parked(), [{ at: null, told: null, error: 'bad: out of order' }]);
    t.same(await recorded(rooms, 'good'), ['0 opened']);
    rooms.clock.advance(minute);
    await rooms.issues.finishEntries();
    rooms.clock.advance(minute);
    await rooms.issues.finishEntries();
    t.equal((await parked())[0]?.at, null, 'the last try waits');
    rooms.clock.advance(11 * minute);
    await rooms.issues.finishEntries();
    t.type((await parked())[0]?.at, 'number', 'parked');
    const before = calls;
    rooms.clock.advance(60 * minute);
    await rooms.issues.finishEntries();
    await rooms.issues.recoverEntries();
    t.equal(calls, before, 'and left alone');
    fails = false;
    const [issue] = (await rooms.issues.list(rooms.alice, roof, noFilter, { limit: 1 })).rows;
    await rooms.issues.announceAgain({ issueId: issue!.id, position: 0 });
    t.type((await parked())[0]?.told, 'number', 'until a person has it tried again');
    t.same(await recorded(rooms, 'good'), ['0 opened'], 'the other has heard once');
  },
);

t.test('what a crash left is told after the start, and to whom it was told already not again', async (t) => {
  const rooms = await openIssues(t);
  const hanging = rooms.beside({ listenerTimeoutMs: 3_600_000 });
  hanging.onEntry({ name: 'one', prepare: () => new Promise(() => {}) });
  await hanging.open(rooms.alice, roof, { title: 'x' });
  const { id } = await rooms.issues.find(rooms.alice, at(1));
  await rooms.db.write(({ manager }) =>
    manager.query("INSERT INTO entry_announcements (issue_id, position, listener) VALUES (?, 0, 'two')", [id]),
  );
  const next = rooms.beside();
  next.onEntry(recording(rooms, 'one'));
  next.onEntry(recording(rooms, 'two'));
  await Promise.all([next.recoverEntries(), next.recoverEntries(), rooms.issues.recoverEntries()]);
  t.same(await recorded(rooms, 'one'), ['0 opened']);
  t.same(await recorded(rooms, 'two'), []);
});
