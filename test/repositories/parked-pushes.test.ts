// time limit: 120 s
// Listeners of pushes that fail, hang, or take the server with them: they are tried three times, the others hear at
// once.
import t from 'tap';
import type { PushListener } from '../../src/repositories/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { recordingListener, openModules, push, reasonOf, sampleHistory, zeroId } from './repositories-fixture.ts';
import type { TestModules } from './repositories-fixture.ts';
import { rowOrder } from '../fixtures/test-database.ts';

/** Longer than the last try waits. */
const later = 10 * 60_000;

async function openWork(t: Owner, options: Parameters<typeof openModules>[1] = {}) {
  const modules = await openModules(t, options);
  const { id } = await modules.repositories.create(modules.alice, { name: 'work', visibility: 'PUBLIC' });
  const history = sampleHistory(modules.folder);
  const pushOne = (to: Pick<TestModules, 'repositories'> = modules, name = 'main') =>
    push(to, modules.alice, 'alice/work', [`${zeroId} ${history.commits[0]} refs/heads/${name}`], {
      pack: history.pack,
    });
  return { ...modules, repositoryId: id, history, pushOne };
}

interface JournalRow {
  id: string;
  announced: number;
  parked: number;
  attempts: number;
  last_error: string | null;
}

const journal = ({ db }: Pick<TestModules, 'db'>): Promise<JournalRow[]> =>
  db.read.query(
    `SELECT id, announced_at IS NOT NULL AS announced, parked_at IS NOT NULL AS parked, attempts, last_error FROM pushes ORDER BY ${rowOrder(db)}`,
  );

/** A listener that counts how often it was asked, and fails until it is mended. */
function failing(name: string): PushListener & { calls: number; received: string[]; isMended: boolean } {
  const listener = {
    name,
    calls: 0,
    received: [] as string[],
    isMended: false,
    async prepare() {
      listener.calls += 1;
      if (!listener.isMended) throw new Error(`${name} is\nbroken`);
      return true;
    },
    record: async () => {},
    recorded: ({ id }: { id: string }) => void listener.received.push(id),
  };
  return listener;
}

t.test('a listener that fails three times parks the push, also across restarts; a person can retry it', async (t) => {
  const modules = await openWork(t);
  const { clock } = modules;
  const [before, broken, after] = [recordingListener('before'), failing('broken'), recordingListener('after')];
  const plugIn = (to: TestModules['repositories']) => {
    for (const listener of [before, broken, after]) to.pushes.onPush(listener);
    return to;
  };
  plugIn(modules.repositories);
  await modules.pushOne();
  await modules.repositories.stop();
  t.match(await journal(modules), [{ announced: 0, parked: 0, attempts: 1, last_error: 'broken: broken is broken' }]);
  await modules.repositories.pushes.finish();
  t.match(await journal(modules), [{ parked: 0, attempts: 2 }]);
  clock.advance(later);
  await modules.repositories.pushes.finish();
  const [{ id }] = (await journal(modules)) as [JournalRow];
  t.match(await journal(modules), [{ announced: 0, parked: 1, attempts: 3, last_error: 'broken: broken is broken' }]);
  t.match(
    modules.log.filter(({ event }) => event === 'push.parked'),
    [{ pushId: id, listeners: ['broken'] }],
  );

  clock.advance(24 * later);
  await modules.repositories.pushes.finish();
  const next = plugIn((await modules.restart()).repositories);
  await next.recover();
  await next.pushes.recover();
  t.equal(broken.calls, 3, 'neither the job nor a start asks again');
  t.same([before.received, after.received], [[id], [id]], 'the others have heard, once');
  t.match(await next.pushes.listParked(10), [
    { id, repositoryId: modules.repositoryId, attempts: 3, parkedAt: Number },
  ]);

  const again = await next.pushes.unpark(id);
  t.match(await next.pushes.announceAgain(again), { isAnnounced: false, error: 'broken: broken is broken' });
  t.match(await journal(modules), [{ parked: 1, attempts: 4 }], 'one try by hand is one try');
  broken.isMended = true;
  t.match(await next.pushes.announceAgain(await next.pushes.unpark(id)), { isAnnounced: true, error: null });
  t.same([before.received, broken.received, after.received], [[id], [id], [id]], 'each has heard exactly once');
  t.match(await journal(modules), [{ announced: 1, parked: 0, last_error: null }]);
  t.same(await modules.db.read.query('SELECT * FROM push_listener_attempts'), [], 'no tries pile up');
  t.same(await modules.db.read.query('SELECT * FROM push_announcements'), []);
  t.same(await next.pushes.listParked(10), []);
  t.equal(await reasonOf(next.pushes.unpark(id)), 'push_announced');
  t.equal(await reasonOf(next.pushes.unpark('no such push')), 'push_not_found');
});

t.test(
  'the end of the server is not a failure: a listener that it cut off is tried again, and parked when it always ends then',
  async (t) => {
    const modules = await openWork(t);
    const { clock } = modules;
    let calls = 0;
    const [before, after] = [recordingListener('before'), recordingListener('after')];
    /** The server does not live to see this end: what follows in the same process is the next start. */
    const killer: PushListener = {
      name: 'killer',
      prepare: () => {
        calls += 1;
        reached.resolve();
        return new Promise((_resolve, reject) => graves.push(() => reject(new Error('over'))));
      },
    };
    let reached = Promise.withResolvers<void>();
    const graves: (() => void)[] = [];
    const start = async () => {
      const { repositories } = await modules.restart();
      for (const listener of [before, killer, after]) repositories.pushes.onPush(listener);
      await repositories.recover();
      return repositories;
    };
    const { repositories: first } = await modules.restart();
    for (const listener of [before, killer, after]) first.pushes.onPush(listener);
    await modules.pushOne({ repositories: first });
    await reached.promise;
    t.match(await journal(modules), [{ announced: 0, attempts: 1 }], 'counted while it runs');

    /** A start that is killed while the listener runs, once it has been up for so long. */
    const killedAfter = async (uptimeMs: number) => {
      reached = Promise.withResolvers<void>();
      const next = await start();
      if (uptimeMs === 0) void next.pushes.recover();
      else {
        await next.pushes.recover();
        const before = calls;
        clock.advance(uptimeMs - 1);
        await next.pushes.finish();
        t.equal(calls, before, `not before ${uptimeMs} ms`);
        clock.advance(1 + 60_000);
        void next.pushes.finish();
      }
      await reached.promise;
      t.match(await journal(modules), [{ parked: 0, last_error: 'killer: the server ended while this listener ran' }]);
    };
    const minute = 60_000;
    for (const uptimeMs of [0, 0, minute, minute, 5 * minute, 5 * minute, 5 * minute]) await killedAfter(uptimeMs);
    // Killed again and again before it has been up for a minute: nothing is parked.
    t.equal(calls, 8);
    t.equal(before.received.length, 1);
    t.equal(after.received.length, 1, 'listeners after it are notified meanwhile, once');

    const ninth = await start();
    await ninth.pushes.recover();
    t.equal(calls, 8);
    t.match(await journal(modules), [
      { announced: 0, parked: 1, last_error: 'killer: the server ended while this listener ran' },
    ]);
    // Once more by itself after a quiet start, and never again.
    clock.advance(1);
    await killedAfter(10 * minute);
    t.equal(calls, 9);
    const last = await start();
    await last.pushes.recover();
    clock.advance(20 * minute);
    await last.pushes.finish();
    t.equal(calls, 9);
    t.match(await journal(modules), [{ announced: 0, parked: 1 }]);
    for (const end of graves) end();
  },
);

t.test('forty starts that end at once give up no push, and a good one announces it', async (t) => {
  const modules = await openWork(t);
  const { clock } = modules;
  let isMended = false;
  let reached = Promise.withResolvers<void>();
  const slow: PushListener = {
    name: 'slow',
    prepare: async () => {
      reached.resolve();
      return isMended ? null : new Promise<never>(() => {});
    },
  };
  const { repositories: first } = await modules.restart();
  first.pushes.onPush(slow);
  await modules.pushOne({ repositories: first });
  await reached.promise;
  for (let round = 0; round < 40; round += 1) {
    clock.advance(2_000);
    reached = Promise.withResolvers<void>();
    const { repositories } = await modules.restart();
    repositories.pushes.onPush(slow);
    await repositories.recover();
    const recovering = repositories.pushes.recover();
    await Promise.race([recovering, reached.promise]);
  }
  t.match(await journal(modules), [{ announced: 0, parked: 0 }]);
  isMended = true;
  const { repositories: good } = await modules.restart();
  good.pushes.onPush(slow);
  await good.recover();
  await good.pushes.recover();
  clock.advance(61_000);
  await good.pushes.finish();
  t.match(await journal(modules), [{ announced: 1, parked: 0, last_error: null }]);
});

t.test('a hanging listener fails after its time limit, wherever it hangs; its later writes are refused', async (t) => {
  for (const part of ['prepare', 'record', 'recorded'] as const) {
    await t.test(part, async (t) => {
      const modules = await openWork(t, { settings: { listenerTimeoutMs: 50 } });
      const held = Promise.withResolvers<void>();
      let isHanging = true;
      let ends = 0;
      const hang = async (tx?: { manager: { query(sql: string): Promise<unknown> } }) => {
        if (!isHanging) return;
        await held.promise;
        ends += 1;
        await tx?.manager.query("UPDATE repositories SET description = 'late'");
      };
      const hanging: PushListener = {
        name: 'hanging',
        prepare: async () => {
          if (part === 'prepare') await hang();
          return true;
        },
        record: async (tx) => {
          if (part === 'record') await hang(tx);
        },
        recorded: async () => {
          if (part === 'recorded') await hang();
        },
      };
      const [before, after] = [recordingListener('before'), recordingListener('after')];
      for (const listener of [before, hanging, after]) modules.repositories.pushes.onPush(listener);
      await modules.pushOne();
      await modules.repositories.stop();
      t.same([before.received.length, after.received.length], [1, 1], 'the others hear');
      const wasRecorded = part === 'recorded';
      t.match(await journal(modules), [
        wasRecorded
          ? { announced: 1, last_error: null }
          : { announced: 0, last_error: 'hanging: hanging did not end within 0.05 s.' },
      ]);
      isHanging = false;
      held.resolve();
      await modules.repositories.pushes.finish();
      t.match(await journal(modules), [{ announced: 1, parked: 0 }]);
      t.ok(ends > 0, 'it went on behind our back');
      const { repository } = await modules.repositories.find(modules.alice, 'alice', 'work');
      t.equal(repository.description, '');
    });
  }
});

t.test('when two listeners fail, the push is parked when the last of them has had its attempts', async (t) => {
  const modules = await openWork(t);
  const [one, two] = [failing('one'), failing('two')];
  for (const listener of [one, two]) modules.repositories.pushes.onPush(listener);
  await modules.pushOne();
  await modules.repositories.pushes.finish();
  two.isMended = true;
  modules.clock.advance(later);
  await modules.repositories.pushes.finish();
  t.match(await journal(modules), [{ parked: 1, attempts: 3, last_error: 'one: one is broken' }]);
  t.same([one.calls, two.calls, two.received.length], [3, 3, 1]);
});

t.test('a push without failures costs no write for attempts', async (t) => {
  const modules = await openWork(t);
  modules.repositories.pushes.onPush(recordingListener('one'));
  const { write } = modules.db;
  let writes = 0;
  modules.db.write = (...args) => {
    writes += 1;
    return write(...args);
  };
  await modules.pushOne();
  await modules.repositories.stop();
  modules.db.write = write;
  t.match(await journal(modules), [{ announced: 1, attempts: 1 }]);
  t.equal(writes, 3, 'journal, verdict, announcement');
});

t.test('a parked push does not block the next one to its repository', async (t) => {
  const modules = await openWork(t);
  const broken = failing('broken');
  modules.repositories.pushes.onPush(broken);
  await modules.pushOne();
  for (let n = 0; n < 2; n += 1) {
    modules.clock.advance(later);
    await modules.repositories.pushes.finish();
  }
  broken.isMended = true;
  await modules.pushOne(modules, 'topic');
  await modules.repositories.stop();
  t.match(await journal(modules), [{ parked: 1 }, { announced: 1, parked: 0 }]);
  t.equal(broken.received.length, 1);
});
