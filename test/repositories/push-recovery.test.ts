// time limit: 120 s
// What an earlier run left of pushes is finished while the server serves: the order holds, and no push waits for ever.
import t from 'tap';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { insertRow } from '../fixtures/test-database.ts';
import { recordingListener, openModules, push, reasonOf, sampleHistory, zeroId } from './repositories-fixture.ts';

const topic = 'refs/heads/topic';

/** `alice/work` and `alice/other`, a restart, and a push to `alice/work` whose verdict was never written. */
async function afterCrash(t: Owner, options: Parameters<typeof openModules>[1] = {}) {
  const modules = await openModules(t, options);
  const { alice, db } = modules;
  const { id } = await modules.repositories.create(alice, { name: 'work', visibility: 'PUBLIC' });
  await modules.repositories.create(alice, { name: 'other', visibility: 'PUBLIC' });
  const { commits, pack } = sampleHistory(modules.folder);
  for (const name of ['work', 'other'])
    await push(modules, alice, `alice/${name}`, [`${zeroId} ${commits[0]} refs/heads/main`], { pack });
  await push(modules, alice, 'alice/work', [`${zeroId} ${commits[1]} ${topic}`], { pack });
  await modules.repositories.stop();
  await db.write(async (tx) => {
    await insertRow(tx, 'pushes', { id: 'left', repository_id: id, via: 'http', created_at: tx.now + 1 });
    await insertRow(tx, 'push_updates', {
      push_id: 'left',
      position: 0,
      ref: topic,
      old_id: zeroId,
      new_id: commits[1],
    });
    await tx.manager.query("DELETE FROM push_updates WHERE push_id <> 'left' AND ref = ?", [topic]);
  });
  const { repositories, git } = await modules.restart();
  const listener = recordingListener('listener');
  repositories.pushes.onPush(listener);
  const held = Promise.withResolvers<void>();
  const requested = Promise.withResolvers<void>();
  const { recover } = git.maintenance;
  git.maintenance.recover = async (folder) => {
    requested.resolve();
    await held.promise;
    return recover(folder);
  };
  t.teardown(() => held.resolve());
  await repositories.recover();
  const recovering = repositories.pushes.recover();
  await requested.promise;
  const verdict = async () =>
    ((await db.read.query("SELECT result FROM push_updates WHERE push_id = 'left'")) as { result: string }[])[0]
      ?.result;
  const pushMain = (at: string, from: number) =>
    push({ repositories }, alice, at, [`${commits[from]} ${commits[from + 1]} refs/heads/main`], { pack });
  return { ...modules, git, repositories, listener, held, recovering, verdict, pushMain, commits };
}

/** Whether a promise has ended after everything that can go on has gone on. */
async function hasEnded(work: Promise<unknown>): Promise<boolean> {
  let ended = false;
  const markEnded = () => (ended = true);
  work.then(markEnded, markEnded);
  await new Promise((resolve) => setTimeout(resolve, 50));
  return ended;
}

t.test('a push waits for unsettled pushes of its repository; reads and other repositories do not', async (t) => {
  const { repositories, alice, bob, listener, held, recovering, verdict, pushMain, db } = await afterCrash(t);
  const waiting = pushMain('alice/work', 0);
  const deletion = repositories.branches
    .delete(alice, 'alice', 'work', { name: 'topic', expected: '' })
    .catch(() => {});
  t.same((await pushMain('alice/other', 0)).report, ['ok refs/heads/main']);
  t.ok(await repositories.openForRead(bob, 'alice', 'work'));
  t.equal(await hasEnded(waiting), false);
  t.equal(
    await reasonOf(repositories.openForPush(bob, 'alice', 'work')),
    'read_only_access',
    'who may not does not wait',
  );
  t.equal(await verdict(), null);

  held.resolve();
  t.same((await waiting).report, ['ok refs/heads/main']);
  t.equal(await verdict(), 'ok');
  await Promise.all([recovering, deletion]);
  await repositories.stop();
  const rows: { id: string; name: string }[] = await db.read.query(
    'SELECT p.id, r.name FROM pushes p JOIN repositories r ON r.id = p.repository_id',
  );
  const inWork = new Set(rows.filter(({ name }) => name === 'work').map(({ id }) => id));
  const announced = listener.received.filter((id) => inWork.has(id));
  t.equal(announced[0], 'left', 'it is announced first');
  t.ok(announced.length > 1);
  t.equal(new Set(announced).size, announced.length);
});

t.test('settled, unannounced pushes are announced before a later push', async (t) => {
  const modules = await openModules(t);
  const { alice } = modules;
  await modules.repositories.create(alice, { name: 'work', visibility: 'PUBLIC' });
  const { commits, pack } = sampleHistory(modules.folder);
  modules.repositories.pushes.onPush({ name: 'slow', prepare: () => Promise.reject(new Error('the power went')) });
  for (const [from, to] of [
    [zeroId, commits[0]],
    [commits[0], commits[1]],
  ]) {
    await push(modules, alice, 'alice/work', [`${from} ${to} refs/heads/main`], { pack });
    modules.clock.advance(1);
  }
  await modules.repositories.stop();
  const { repositories } = await modules.restart();
  const announced: string[] = [];
  const held = Promise.withResolvers<void>();
  repositories.pushes.onPush({
    name: 'slow',
    prepare: async () => {
      await held.promise;
      return true;
    },
    record: async (_tx, { updates }) => void announced.push(updates[0]!.newId),
  });
  await repositories.recover();
  const recovering = repositories.pushes.recover();
  await push({ repositories }, alice, 'alice/work', [`${commits[1]} ${commits[2]} refs/heads/main`], { pack });
  held.resolve();
  await recovering;
  await repositories.stop();
  t.strictSame(announced, commits.slice(0, 3));
});

t.test('a push waits for a limited time, then it is refused; so it is when the server stops', async (t) => {
  const limited = await afterCrash(t, { settings: { recoveryWaitMs: 30 } });
  t.equal(await reasonOf(limited.repositories.openForPush(limited.alice, 'alice', 'work')), 'repository_recovers');
  const stopping = await afterCrash(t);
  const waiting = reasonOf(stopping.repositories.openForPush(stopping.alice, 'alice', 'work'));
  t.equal(await hasEnded(waiting), false);
  stopping.repositories.pushes.abortRecovery();
  t.equal(await waiting, 'repository_recovers');
  stopping.held.resolve();
  await stopping.recovering;
  await stopping.repositories.stop();
  t.same(stopping.listener.received, [], 'nothing more is begun');

  const next = (await stopping.restart()).repositories;
  const listener = recordingListener('listener');
  next.pushes.onPush(listener);
  await next.recover();
  await next.pushes.recover();
  t.same(listener.received, ['left'], 'the next start goes on');
});

t.test('the task that finishes pushes does not touch those of the recovery', async (t) => {
  const { repositories, held, recovering, listener, verdict } = await afterCrash(t);
  const job = repositories.pushes.finish();
  t.equal(await hasEnded(job), false);
  t.equal(await verdict(), null);
  held.resolve();
  await Promise.all([recovering, job]);
  t.equal(await verdict(), 'ok');
  t.same(listener.received, ['left']);
});

t.test('a repository that cannot be settled accepts pushes again, and the others are finished', async (t) => {
  const { repositories, held, git, recovering, pushMain, log, alice } = await afterCrash(t);
  const { list } = git.refs;
  git.refs.list = () => Promise.reject(new Error('damaged'));
  const opening = repositories.openForPush(alice, 'alice', 'work');
  held.resolve();
  await opening;
  await recovering;
  git.refs.list = list;
  t.equal(log.filter(({ event }) => event === 'push.settle_failed').length, 1);
  t.same((await pushMain('alice/work', 0)).report, ['ok refs/heads/main']);
});
