// The port issues.onEntry: every listener receives every entry, and records it exactly once.
import t from 'tap';
import { noFilter } from '../../src/issues/index.ts';
import type { AnnouncedEntry, EntryListener } from '../../src/issues/index.ts';
import { at, openIssues, roof } from './issues-fixture.ts';
import type { IssueModules } from './issues-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const minute = 60_000;

/** Records each entry as a draft of bob's, so that what is recorded is in the database. */
const recording = ({ bob }: IssueModules, name: string, heard: string[] = []): EntryListener<string> => ({
  name,
  prepare: async ({ entry }: AnnouncedEntry) => `${entry.position} ${entry.kind}`,
  async record({ manager, now }, { issue, entry }, prepared) {
    const row = [bob.id, `${name}:${issue.number}:${entry.position}`, prepared, now];
    await manager.query('INSERT INTO drafts (user_id, context, body, updated_at) VALUES (?, ?, ?, ?)', row);
  },
  recorded: (_announced, prepared) => heard.push(prepared),
});

const recorded = async ({ db }: IssueModules, name: string): Promise<string[]> => {
  const rows: { body: string }[] = await db.read.query(
    'SELECT body FROM drafts WHERE context >= ? AND context < ? ORDER BY context',
    [`${name}:`, `${name};`],
  );
  return rows.map(({ body }) => body);
};

t.test('each listener receives each entry once, in the order of the log', async (t) => {
  const modules = await openIssues(t);
  const heard: string[] = [];
  modules.issues.onEntry(recording(modules, 'one', heard));
  modules.issues.onEntry(recording(modules, 'two'));
  t.throws(() => modules.issues.onEntry({ name: 'one' }), 'names are keys');
  await modules.issues.open(modules.alice, roof, { title: 'x' });
  await modules.issues.comment(modules.bob, at(1), { body: 'a' });
  await modules.issues.close(modules.alice, at(1));
  await waitUntil(async () => heard.length === 3);
  t.same(heard, ['0 opened', '1 comment', '2 closed']);
  t.same(await recorded(modules, 'two'), heard);
  await modules.issues.finishEntries();
  await modules.issues.recoverEntries();
  t.same(await recorded(modules, 'one'), heard, 'and not again');
  const marks = await modules.db.read.query('SELECT * FROM entry_announcements');
  t.same(marks, [], 'nothing is left of it');
});

t.test('what waits for a member is announced once it is let in, and never when it is refused', async (t) => {
  const modules = await openIssues(t);
  const { issues, alice, bob, carol } = modules;
  const heard: string[] = [];
  issues.onEntry(recording(modules, 'one', heard));
  await issues.changeSettings(alice, roof, { holdsNewcomers: true });
  await issues.open(alice, roof, { title: 'known' });
  for (const [newcomer, decide] of [
    [bob, issues.refuse],
    [carol, issues.admit],
  ] as const) {
    await issues.comment(newcomer, at(1), { body: 'me too' });
    await issues.finishEntries();
    await decide(alice, roof, newcomer.id);
    await issues.recoverEntries();
    await issues.finishEntries();
  }
  await waitUntil(async () => heard.length === 2);
  t.strictSame(heard, ['0 opened', '2 comment']);
  const [row] = await modules.db.read.query('SELECT count(*) AS n FROM issue_entries WHERE announced_at IS NULL');
  t.equal(row.n, 0);
});

t.test(
  'a listener that fails is asked again; the others hear once all the same; then the entry is parked',
  async (t) => {
    const modules = await openIssues(t);
    let fails = true;
    let calls = 0;
    const heard: string[] = [];
    modules.issues.onEntry(recording(modules, 'good', heard));
    modules.issues.onEntry({
      name: 'bad',
      record: async () => {
        calls += 1;
        if (fails) throw new Error('out of order');
      },
    });
    await modules.issues.open(modules.alice, roof, { title: 'x' });
    const parked = async () =>
      (await modules.db.read.query(
        'SELECT parked_at AS at, announced_at AS "notifiedAt", last_error AS error FROM issue_entries',
      )) as {
        at: number | null;
        notifiedAt: number | null;
        error: string | null;
      }[];
    await waitUntil(async () => (await parked())[0]?.error !== null);
    t.match(await parked(), [{ at: null, notifiedAt: null, error: 'bad: out of order' }]);
    t.same(await recorded(modules, 'good'), ['0 opened']);
    modules.clock.advance(minute);
    await modules.issues.finishEntries();
    modules.clock.advance(minute);
    await modules.issues.finishEntries();
    t.equal((await parked())[0]?.at, null, 'the last try waits');
    modules.clock.advance(11 * minute);
    await modules.issues.finishEntries();
    t.type((await parked())[0]?.at, 'number', 'parked');
    const before = calls;
    modules.clock.advance(60 * minute);
    await modules.issues.finishEntries();
    await modules.issues.recoverEntries();
    t.equal(calls, before, 'and left alone');
    fails = false;
    const [issue] = (await modules.issues.list(modules.alice, roof, noFilter, { limit: 1 })).rows;
    await modules.issues.announceAgain({ issueId: issue!.id, position: 0 });
    t.type((await parked())[0]?.notifiedAt, 'number', 'until a person has it tried again');
    t.same(await recorded(modules, 'good'), ['0 opened'], 'the other has heard once');
  },
);

t.test(
  'entries that a crash left are announced after the start, and not again to a listener that has them',
  async (t) => {
    const modules = await openIssues(t);
    const hanging = modules.beside({ listenerTimeoutMs: 3_600_000 });
    hanging.onEntry({ name: 'one', prepare: () => new Promise(() => {}) });
    await hanging.open(modules.alice, roof, { title: 'x' });
    const { id } = await modules.issues.find(modules.alice, at(1));
    await modules.db.write(({ manager }) =>
      manager.query("INSERT INTO entry_announcements (issue_id, position, listener) VALUES (?, 0, 'two')", [id]),
    );
    const next = modules.beside();
    next.onEntry(recording(modules, 'one'));
    next.onEntry(recording(modules, 'two'));
    await Promise.all([next.recoverEntries(), next.recoverEntries(), modules.issues.recoverEntries()]);
    t.same(await recorded(modules, 'one'), ['0 opened']);
    t.same(await recorded(modules, 'two'), []);
  },
);
