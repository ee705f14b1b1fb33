// Pushes whose verdict was never written: what the refs say about them, at the next start.
import { execFileSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import t from 'tap';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { insertRow } from '../fixtures/test-database.ts';
import { PushJournal } from '../../src/repositories/pushes/push-journal.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { databaseOf, recordingListener, openModules, push, sampleHistory, zeroId } from './repositories-fixture.ts';
import type { TestModules } from './repositories-fixture.ts';

const ref = 'refs/heads/topic';

/** A repository with all objects of the history, and the letters for its commits. */
async function openWork(t: Owner) {
  const modules = await openModules(t);
  const { id } = await modules.repositories.create(modules.alice, { name: 'work', visibility: 'PUBLIC' });
  const { commits, aside, pack } = sampleHistory(modules.folder);
  await push(
    modules,
    modules.alice,
    'alice/work',
    [`${zeroId} ${commits[3]} refs/heads/main`, `${zeroId} ${aside} refs/heads/aside`],
    { pack },
  );
  await modules.repositories.stop();
  const ids = new Map([
    ['0', zeroId],
    ['A', commits[0]!],
    ['B', commits[1]!],
    ['C', commits[2]!],
    ['D', commits[3]!],
  ]);
  return { ...modules, repositoryId: id, folderPath: modules.git.storage.pathOf(modules.alice.id, id), ids };
}

function setRef(folder: string, name: string, id: string): void {
  const argv = id === zeroId ? ['update-ref', '-d', name] : ['update-ref', name, id];
  execFileSync('git', [`--git-dir=${folder}`, ...argv], { env: clientEnvironment });
}

interface Journalled {
  /** `A>B`, one per ref. */
  moves: Record<string, string>;
  /** Left out: the verdict was never written. */
  verdict?: 'ok' | 'rejected';
  createdAt: number;
}

async function journalPushes(
  { db }: TestModules,
  repositoryId: string,
  ids: Map<string, string>,
  pushes: Record<string, Journalled>,
): Promise<void> {
  await db.write(async (tx) => {
    for (const [id, { moves, verdict, createdAt }] of Object.entries(pushes)) {
      const settled = verdict === undefined ? null : createdAt;
      await insertRow(tx, 'pushes', {
        id,
        repository_id: repositoryId,
        via: 'http',
        created_at: createdAt,
        settled_at: settled,
        announced_at: settled,
      });
      for (const [position, [name, move]] of Object.entries(moves).entries()) {
        const [from, to] = move.split('>') as [string, string];
        await insertRow(tx, 'push_updates', {
          push_id: id,
          position,
          ref: name,
          old_id: ids.get(from),
          new_id: ids.get(to),
          result: verdict ?? null,
        });
      }
    }
  });
}

/** The verdicts of the pushes that had none: by push, one per command. */
async function verdicts({ db }: TestModules, names: string[]): Promise<Record<string, string>> {
  const rows: { push_id: string; result: string; reason: string | null }[] = await db.read.query(
    'SELECT push_id, result, reason FROM push_updates ORDER BY push_id, position',
  );
  return Object.fromEntries(
    names.map((name) => [
      name,
      rows
        .filter((row) => row.push_id === name)
        .map(({ result }) => result)
        .join(' '),
    ]),
  );
}

interface Case {
  what: string;
  /** In the order of their times; the same letter `=` in front puts one at the same time as the one before. */
  pushes: Record<string, [move: string, verdict?: 'ok' | 'rejected']>;
  now: string;
  expected: Record<string, string>;
}

const cases: Case[] = [
  { what: 'the ref arrived', pushes: { p1: ['A>B'] }, now: 'B', expected: { p1: 'ok' } },
  { what: 'the ref never moved', pushes: { p1: ['A>B'] }, now: 'A', expected: { p1: 'rejected' } },
  { what: 'a new ref is there', pushes: { p1: ['0>A'] }, now: 'A', expected: { p1: 'ok' } },
  { what: 'a new ref is not there', pushes: { p1: ['0>A'] }, now: '0', expected: { p1: 'rejected' } },
  { what: 'a deleted ref is gone', pushes: { p1: ['A>0'] }, now: '0', expected: { p1: 'ok' } },
  { what: 'a deleted ref is still there', pushes: { p1: ['A>0'] }, now: 'A', expected: { p1: 'rejected' } },
  {
    what: 'two in a row, both arrived',
    pushes: { p1: ['A>B'], p2: ['B>C'] },
    now: 'C',
    expected: { p1: 'ok', p2: 'ok' },
  },
  {
    what: 'two in a row, journalled the other way round',
    pushes: { p2: ['B>C'], p1: ['A>B'] },
    now: 'C',
    expected: { p1: 'ok', p2: 'ok' },
  },
  {
    what: 'two in a row, the second cut short',
    pushes: { p1: ['A>B'], p2: ['B>C'] },
    now: 'B',
    expected: { p1: 'ok', p2: 'rejected' },
  },
  {
    what: 'two in a row, both cut short',
    pushes: { p1: ['A>B'], p2: ['B>C'] },
    now: 'A',
    expected: { p1: 'rejected', p2: 'rejected' },
  },
  {
    what: 'four in a row',
    pushes: { p1: ['0>A'], p2: ['A>B'], p3: ['B>C'], p4: ['C>D'] },
    now: 'D',
    expected: { p1: 'ok', p2: 'ok', p3: 'ok', p4: 'ok' },
  },
  {
    what: 'a settled push started from there',
    pushes: { p1: ['A>B'], p2: ['B>C', 'ok'] },
    now: 'C',
    expected: { p1: 'ok' },
  },
  {
    what: 'between two that are settled',
    pushes: { p0: ['0>A', 'ok'], p1: ['A>B'], p2: ['B>C', 'ok'], p3: ['C>D'] },
    now: 'D',
    expected: { p1: 'ok', p3: 'ok' },
  },
  {
    what: 'deleted, and made anew by a settled push',
    pushes: { p1: ['A>0'], p2: ['0>C', 'ok'] },
    now: 'C',
    expected: { p1: 'ok' },
  },
  {
    what: 'a refused push that claims to start there proves nothing',
    pushes: { p1: ['A>B'], p2: ['B>C', 'rejected'] },
    now: 'A',
    expected: { p1: 'rejected' },
  },
  {
    what: 'an unsettled push that claims to start there and did not arrive proves nothing',
    pushes: { p1: ['A>B'], p2: ['B>D'] },
    now: 'C',
    expected: { p1: 'rejected', p2: 'rejected' },
  },
  {
    what: 'another push is known to have made the move',
    pushes: { p1: ['A>B'], p2: ['A>B', 'ok'] },
    now: 'B',
    expected: { p1: 'rejected' },
  },
  {
    what: 'two wanted the same move: one made it',
    pushes: { p1: ['A>B'], p2: ['A>B'] },
    now: 'B',
    expected: { p1: 'ok', p2: 'rejected' },
  },
  {
    what: 'two wanted different moves',
    pushes: { p1: ['A>B'], p2: ['A>C'] },
    now: 'C',
    expected: { p1: 'rejected', p2: 'ok' },
  },
];

t.test(
  'at start interrupted pushes are settled by comparing refs, and those that took effect are announced',
  async (t) => {
    const { ids, folderPath, repositoryId, ...modules } = await openWork(t);
    for (const sameTime of [false, true]) {
      for (const { what, pushes, now, expected } of cases) {
        const rows = Object.entries(pushes).map(([name, [move, verdict]], at): [string, Journalled] => [
          name,
          {
            moves: { [ref]: move },
            createdAt: 1_000 + (sameTime ? 0 : at),
            ...(verdict === undefined ? {} : { verdict }),
          },
        ]);
        setRef(folderPath, ref, ids.get(now)!);
        await journalPushes(modules, repositoryId, ids, Object.fromEntries(rows));
        const listener = recordingListener('listener');
        const { repositories } = modules.openAgain();
        repositories.pushes.onPush(listener);
        await repositories.pushes.finish();
        t.same(
          await verdicts(modules, Object.keys(expected)),
          expected,
          `${what}${sameTime ? ', all in the same millisecond' : ''}`,
        );
        t.same(
          new Set(listener.received),
          new Set(Object.keys(expected).filter((name) => expected[name] === 'ok')),
          `${what}: announced`,
        );
        await modules.db.write((tx) => tx.manager.query("DELETE FROM pushes WHERE id LIKE 'p_'"));
      }
    }
  },
);

t.test('pushes of a living node are left to it, and those of one that is gone are taken over once', async (t) => {
  const { ids, folderPath, repositoryId, ...modules } = await openWork(t);
  const { db } = modules;
  setRef(folderPath, ref, ids.get('B')!);
  const of = (node: string | null, name: string) =>
    db.write(({ manager }) => manager.query('UPDATE pushes SET node = ? WHERE id = ?', [node, name]));
  const until = (id: string, ms: number) =>
    db.write(({ manager }) => manager.query('UPDATE nodes SET until = ? WHERE id = ?', [Date.now() + ms, id]));
  await db.write(async (tx) => {
    for (const id of ['a', 'b', 'c'])
      await insertRow(tx, 'nodes', {
        id,
        host: 'forge.example.org',
        version: '0',
        run: id,
        started_at: 1,
        seen_at: tx.now,
        until: Date.now() + 60_000,
      });
  });
  await journalPushes(modules, repositoryId, ids, {
    ofA: { moves: { [ref]: 'A>B' }, createdAt: 1_000 },
    failed: { moves: { 'refs/heads/none': '0>C' }, createdAt: 1_001 },
    ofB: { moves: { 'refs/heads/other': '0>C' }, createdAt: 1_002 },
    older: { moves: { 'refs/heads/old': '0>C' }, createdAt: 1_003 },
  });
  for (const name of ['ofA', 'failed']) await of('a', name);
  await of('b', 'ofB');
  const nodes = ['b', 'c'].map((name) => {
    const { repositories } = modules.openAgain(name);
    const listener = recordingListener(`at ${name}`);
    repositories.pushes.onPush(listener);
    return { pushes: repositories.pushes, repositories, listener };
  });
  const [b, c] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
  const all = ['ofA', 'failed', 'ofB', 'older'];

  await c.repositories.recover();
  await c.pushes.recover();
  await c.pushes.finish();
  t.same(
    [await verdicts(modules, all), c.listener.received],
    [{ ofA: '', failed: '', ofB: '', older: 'rejected' }, []],
    'a start and the task settle what belongs to nobody, and nothing of a living node',
  );
  await until('a', -2_000);
  await c.pushes.finish();
  t.match(
    await verdicts(modules, all),
    { ofA: '' },
    'a node whose time has just passed may be in the middle of a write',
  );
  await until('a', -10_000);
  await Promise.all([b.pushes.finish(), c.pushes.finish()]);
  t.same(await verdicts(modules, all), { ofA: 'ok', failed: 'rejected', ofB: 'rejected', older: 'rejected' });
  t.same([...b.listener.received, ...c.listener.received], ['ofA'], 'one of them announces it');

  // Node a only stood still: its write came behind the end of its time, and its client is told what is true.
  const a = new PushJournal(databaseOf(modules.db, 'a'));
  const moves = [{ ref: 'refs/heads/none', oldId: zeroId, newId: ids.get('C')! }];
  setRef(folderPath, 'refs/heads/none', ids.get('C')!);
  await a.settle('failed', moves, [{ ref: 'refs/heads/none', ok: true }]);
  t.match(await verdicts(modules, all), { failed: 'ok', ofA: 'ok' });
  await a.settle('ofA', [{ ref, oldId: ids.get('A')!, newId: ids.get('B')! }], [{ ref, ok: false }]);
  t.match(await verdicts(modules, all), { ofA: 'ok' }, 'a result that is known is not replaced');
});

t.test('each ref of a push is settled by itself', async (t) => {
  const { ids, folderPath, repositoryId, ...modules } = await openWork(t);
  setRef(folderPath, ref, ids.get('B')!);
  await journalPushes(modules, repositoryId, ids, {
    p1: { moves: { [ref]: 'A>B', 'refs/heads/other': '0>C', 'refs/tags/v1': 'A>0' }, createdAt: 1 },
  });
  await modules.openAgain().repositories.pushes.finish();
  t.same(await verdicts(modules, ['p1']), { p1: 'ok rejected ok' });
  const reasons = await modules.db.read.query(
    "SELECT reason FROM push_updates WHERE push_id = 'p1' AND result = 'rejected'",
  );
  t.same(reasons, [{ reason: 'interrupted' }]);
});

t.test('pushes of an unreadable repository stay unsettled; the others are settled', async (t) => {
  const { ids, folderPath, repositoryId, ...modules } = await openWork(t);
  const { id } = await modules.repositories.create(modules.alice, { name: 'other', visibility: 'PUBLIC' });
  await journalPushes(modules, repositoryId, ids, { p1: { moves: { [ref]: '0>B' }, createdAt: 1 } });
  await journalPushes(modules, id, ids, { p2: { moves: { [ref]: '0>B' }, createdAt: 1 } });
  const refs = modules.git.refs.list;
  modules.git.refs.list = (path) => (path === folderPath ? Promise.reject(new Error('damaged')) : refs(path));
  await modules.repositories.pushes.finish();
  t.same(await verdicts(modules, ['p1', 'p2']), { p1: '', p2: 'rejected' });
  t.match(
    modules.log.filter(({ event }) => event === 'push.settle_failed'),
    [{ repositoryId }],
  );
  modules.git.refs.list = refs;
  await modules.repositories.pushes.finish();
  t.same(await verdicts(modules, ['p1']), { p1: 'rejected' });
});

t.test('pushes of a repository in the trash are settled by the refs there', async (t) => {
  const { ids, repositoryId, ...modules } = await openWork(t);
  await modules.repositories.trash.move(modules.alice, 'alice', 'work');
  await journalPushes(modules, repositoryId, ids, { p1: { moves: { 'refs/heads/main': 'A>D' }, createdAt: 1 } });
  const { repositories } = await modules.restart();
  await repositories.recover();
  await repositories.pushes.recover();
  t.same(await verdicts(modules, ['p1']), { p1: 'ok' });
});

t.test(
  'recover removes what a killed git left in a repository with an open push, and puts folders where rows say',
  async (t) => {
    const { ids, folderPath, repositoryId, ...modules } = await openWork(t);
    execFileSync('touch', ['-d', '2020-01-01', `${folderPath}/refs/heads/main.lock`]);
    await journalPushes(modules, repositoryId, ids, { p1: { moves: { 'refs/heads/main': 'A>D' }, createdAt: 1 } });
    const { id } = await modules.repositories.create(modules.alice, { name: 'trashed', visibility: 'PUBLIC' });
    const home = modules.git.storage.pathOf(modules.alice.id, id);
    const trash = `${modules.settings.trashDirectory}/${id}.git`;
    await modules.repositories.trash.move(modules.alice, 'alice', 'trashed');
    renameSync(trash, home);

    const next = await modules.restart();
    await next.repositories.recover();
    await next.repositories.pushes.recover();
    t.match(
      modules.log.filter(({ event }) => event === 'repository.recovered'),
      [{ repositoryId, file: 'refs/heads/main.lock' }],
    );
    t.equal(await next.git.storage.exists(trash), true);
    t.equal(await next.git.storage.exists(home), false);
    t.equal(modules.events().filter((event) => event === 'repository.move_finished').length, 1);
  },
);
