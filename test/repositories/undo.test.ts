import t from 'tap';
import { execFileSync, spawnSync } from 'node:child_process';
import { localAdministrator } from '../../src/access/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { recordingListener, openModules, push, reasonOf, sampleHistory, zeroId } from './repositories-fixture.ts';
import type { TestModules, SampleHistory } from './repositories-fixture.ts';

const main = 'refs/heads/main';
const topic = 'refs/heads/topic';
const dayMs = 86_400_000;

async function openWork(t: Owner) {
  const modules = await openModules(t);
  const repository = await modules.repositories.create(modules.alice, { name: 'work', visibility: 'PUBLIC' });
  const path = modules.git.storage.pathOf(modules.alice.id, repository.id);
  const history = sampleHistory(modules.folder);
  const { commits, pack } = history;
  await push(
    modules,
    modules.alice,
    'alice/work',
    [`${zeroId} ${commits[1]} ${main}`, `${zeroId} ${commits[3]} ${topic}`],
    { pack },
  );
  return { ...modules, repository, path, history };
}

/** Pushes, and waits until every listener has recorded it. */
async function pushed(
  modules: TestModules & { history: SampleHistory },
  who: Parameters<typeof push>[1],
  command: string,
): Promise<void> {
  modules.clock.advance(1);
  const isDeletion = command.split(' ')[1] === zeroId;
  const { report } = await push(
    modules,
    who,
    'alice/work',
    [command],
    isDeletion ? {} : { pack: modules.history.pack },
  );
  t.ok(
    report.every((line) => line.startsWith('ok ')),
    report.join(', '),
  );
  await modules.repositories.stop();
}

/** Drops at once whatever no ref leads to: harder than any packing of ours. */
function prune(path: string): void {
  execFileSync('git', [`--git-dir=${path}`, 'gc', '--quiet', '--prune=now'], {
    env: clientEnvironment,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

function isThere(path: string, id: string): boolean {
  return spawnSync('git', [`--git-dir=${path}`, 'cat-file', '-e', id], { env: clientEnvironment }).status === 0;
}

const found = (modules: TestModules) => modules.repositories.find(modules.alice, 'alice', 'work');
const tips = async (modules: TestModules) => modules.repositories.pushes.listLostTips(await found(modules));
const restore = (modules: TestModules, who: Parameters<typeof push>[1], id: string, more = {}) => {
  modules.clock.advance(1);
  return modules.repositories.pushes.undo(who, 'alice', 'work', { id, ...more });
};

t.test('a deleted branch is restored after a gc, as an announced push', async (t) => {
  const modules = await openWork(t);
  const { alice, git, path, history, repositories, clock } = modules;
  await pushed(modules, alice, `${history.commits[3]} ${zeroId} ${topic}`);
  prune(path);
  const [tip, more] = await tips(modules);
  t.match(tip, {
    ref: topic,
    oldId: history.commits[3],
    newId: zeroId,
    forced: false,
    current: null,
    person: { username: 'alice' },
    expiresAt: clock.now() + 30 * dayMs,
  });
  t.equal(more, undefined);
  const listener = recordingListener('one');
  repositories.pushes.onPush(listener);
  t.same(await restore(modules, alice, tip!.id), { ref: topic, oldId: zeroId, newId: history.commits[3] });
  await repositories.stop();
  t.equal((await git.refs.list(path)).get(topic), history.commits[3]);
  t.same(await git.maintenance.check(path), []);
  t.equal(listener.received.length, 1);
  const {
    pushes: [undone],
  } = await repositories.pushes.listActivity(await found(modules), { limit: 10 });
  t.match(undone, {
    id: listener.received[0],
    via: 'undo',
    person: { username: 'alice' },
    updates: [{ ref: topic, oldId: zeroId, newId: history.commits[3] }],
  });
  t.equal(await reasonOf(restore(modules, alice, tip!.id)), 'nothing_to_undo');
});

t.test('a forced push is undone after a gc, and the undo can be undone', async (t) => {
  const modules = await openWork(t);
  const { alice, git, path, history } = modules;
  await pushed(modules, alice, `${history.commits[3]} ${history.aside} ${topic}`);
  prune(path);
  const [tip] = await tips(modules);
  t.match(tip, { ref: topic, oldId: history.commits[3], newId: history.aside, forced: true, current: history.aside });
  await restore(modules, alice, tip!.id, { expected: history.aside });
  await modules.repositories.stop();
  t.equal((await git.refs.list(path)).get(topic), history.commits[3]);
  prune(path);
  const again = (await tips(modules)).find(({ oldId }) => oldId === history.aside);
  t.match(again, { ref: topic, forced: true, current: history.commits[3] });
  await restore(modules, alice, again!.id);
  t.equal((await git.refs.list(path)).get(topic), history.aside);
});

t.test('a fast-forward push leaves nothing to undo', async (t) => {
  const modules = await openWork(t);
  await pushed(modules, modules.alice, `${modules.history.commits[1]} ${modules.history.commits[3]} ${main}`);
  t.same(await tips(modules), []);
});

t.test('a ref that moved since is not restored; its old tip can be restored under a new name', async (t) => {
  const modules = await openWork(t);
  const {
    alice,
    git,
    path,
    history: { commits, aside },
  } = modules;
  await pushed(modules, alice, `${commits[3]} ${aside} ${topic}`);
  const [tip] = await tips(modules);
  await pushed(modules, alice, `${aside} ${commits[2]} ${topic}`);
  t.equal(await reasonOf(restore(modules, alice, tip!.id, { expected: aside })), 'ref_moved');
  t.equal(await reasonOf(restore(modules, alice, tip!.id, { as: 'main' })), 'branch_exists');
  t.equal(await reasonOf(restore(modules, alice, tip!.id, { as: 'a..b' })), 'invalid_branch_name');
  await restore(modules, alice, tip!.id, { as: 'rescued' });
  t.equal((await git.refs.list(path)).get('refs/heads/rescued'), commits[3]);
  t.equal((await git.refs.list(path)).get(topic), commits[2]);
});

t.test('an undo does not remove commits from the protected default branch', async (t) => {
  const modules = await openWork(t);
  const {
    alice,
    repositories,
    history: { commits, aside },
  } = modules;
  await repositories.edit(alice, 'alice', 'work', { defaultBranchProtected: false });
  await pushed(modules, alice, `${commits[1]} ${commits[3]} ${main}`);
  await pushed(modules, alice, `${commits[3]} ${aside} ${main}`);
  await repositories.edit(alice, 'alice', 'work', { defaultBranchProtected: true });
  const [tip] = await tips(modules);
  t.equal(await reasonOf(restore(modules, alice, tip!.id)), 'branch_protected');
  await restore(modules, alice, tip!.id, { as: 'rescued' });
  await repositories.edit(alice, 'alice', 'work', { defaultBranchProtected: false });
  await restore(modules, alice, tip!.id);
});

t.test('nothing is restored without write access, or in an archived repository', async (t) => {
  const modules = await openWork(t);
  const {
    alice,
    bob,
    repositories,
    history: { commits },
  } = modules;
  await pushed(modules, alice, `${commits[3]} ${zeroId} ${topic}`);
  const [tip] = await tips(modules);
  t.equal(await reasonOf(restore(modules, bob, tip!.id)), 'repository_not_found');
  t.equal(await reasonOf(restore(modules, { kind: 'anonymous' }, tip!.id)), 'repository_not_found');
  t.equal(await reasonOf(restore(modules, alice, `${tip!.id}0`)), 'tip_not_found');
  t.equal(await reasonOf(restore(modules, alice, 'x')), 'tip_not_found');
  await repositories.create(alice, { name: 'other', visibility: 'PUBLIC' });
  t.equal(
    await reasonOf(repositories.pushes.undo(alice, 'alice', 'other', { id: tip!.id })),
    'tip_not_found',
    'not through another repository',
  );
  await repositories.setArchived(alice, 'alice', 'work', true);
  t.equal(await reasonOf(restore(modules, alice, tip!.id)), 'repository_archived');
  await repositories.setArchived(alice, 'alice', 'work', false);
  repositories.pushes.refuse(async () => 'this is a copy');
  t.equal(await reasonOf(restore(modules, alice, tip!.id)), 'push_refused');
});

t.test('a lost tip is released after thirty days, and the next repack drops it', async (t) => {
  const modules = await openWork(t);
  const {
    alice,
    path,
    repositories,
    clock,
    history: { commits },
  } = modules;
  await pushed(modules, alice, `${commits[3]} ${zeroId} ${topic}`);
  const [tip] = await tips(modules);
  clock.advance(30 * dayMs - 1);
  t.equal(await repositories.pushes.releaseOverwrittenTips(), 0);
  prune(path);
  t.equal(isThere(path, commits[3]!), true);
  clock.advance(1);
  t.equal(await reasonOf(restore(modules, localAdministrator, tip!.id)), 'tip_not_found');
  t.equal(await repositories.pushes.releaseOverwrittenTips(), 1);
  t.equal(await repositories.pushes.releaseOverwrittenTips(), 0);
  prune(path);
  t.equal(isThere(path, commits[3]!), false);
});

t.test('preserved tips are hidden from clients and from pages of refs', async (t) => {
  const modules = await openWork(t);
  const {
    alice,
    git,
    path,
    history: { commits },
  } = modules;
  await pushed(modules, alice, `${commits[3]} ${zeroId} ${topic}`);
  t.same([...(await git.refs.list(path)).keys()], [main]);
  const listed = execFileSync('git', [`--git-dir=${path}`, 'for-each-ref', '--format=%(refname)', 'refs/hearth/'], {
    env: clientEnvironment,
  }).toString();
  t.match(listed, /^refs\/hearth\/undo\//);
});

t.test('the activity is paged, and shows no refused commands', async (t) => {
  const modules = await openWork(t);
  const {
    alice,
    repositories,
    clock,
    history: { commits },
  } = modules;
  await push(modules, alice, 'alice/work', [`${zeroId} ${commits[0]} ${main}`]);
  for (const name of ['a', 'b', 'c']) {
    clock.advance(1000);
    await pushed(modules, alice, `${zeroId} ${commits[0]} refs/tags/${name}`);
  }
  const first = await repositories.pushes.listActivity(await found(modules), { limit: 3 });
  t.same(
    first.pushes.map(({ updates }) => updates[0]!.ref),
    ['refs/tags/c', 'refs/tags/b', 'refs/tags/a'],
  );
  const second = await repositories.pushes.listActivity(await found(modules), { limit: 3, after: first.next });
  t.match(second, { pushes: [{ via: 'http', updateCount: 2 }], next: null });
  t.equal(second.pushes.length, 1);
  t.equal(
    await reasonOf(repositories.pushes.listActivity(await found(modules), { limit: 3, after: 'x' })),
    'invalid_page',
  );
  clock.advance(31 * dayMs);
  t.same((await repositories.pushes.listActivity(await found(modules), { limit: 3 })).pushes, []);
});
