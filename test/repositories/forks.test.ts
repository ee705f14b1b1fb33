// Forks as repositories: who, where, once per owner; visibility; counts; races; and what an interruption leaves.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { anonymous, localAdministrator } from '../../src/access/index.ts';
import type { Viewer } from '../../src/access/index.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { openModules, outcomes, push, reasonOf, sampleHistory, viewerOf, zeroId } from './repositories-fixture.ts';
import type { SampleHistory, TestModules } from './repositories-fixture.ts';

const main = 'refs/heads/main';

/** alice owns `alice/work`, public and with commits; `example` is alice's, with bob as MEMBER. */
async function openWork(
  t: Owner,
  visibility: 'PUBLIC' | 'PRIVATE' = 'PUBLIC',
): Promise<TestModules & { history: SampleHistory }> {
  const modules = await openModules(t);
  const { organisations, repositories, alice } = modules;
  await organisations.create(alice, { name: 'example' });
  await organisations.addMember(alice, 'example', { username: 'bob', role: 'MEMBER' });
  await repositories.create(alice, { name: 'work', visibility, description: 'first' });
  const history = sampleHistory(modules.folder);
  await push(modules, alice, 'alice/work', [`${zeroId} ${history.commits[1]} ${main}`], { pack: history.pack });
  return { ...modules, history };
}

const forkCount = async ({ repositories, alice }: TestModules): Promise<number> =>
  Number((await repositories.find(alice, 'alice', 'work')).repository.forkCount);
const namesOf = async ({ repositories }: TestModules, viewer: Viewer, name = 'work'): Promise<string[]> =>
  (await repositories.forks.list(viewer, 'alice', name, { limit: 10 })).repositories.map(
    (row) => `${row.owner.handle}/${row.name}`,
  );
const tipOf = async (
  modules: TestModules,
  viewer: Viewer,
  owner: string,
  name: string,
): Promise<string | undefined> => {
  const { path: folder } = await modules.repositories.find(viewer, owner, name);
  return (await modules.git.refs.list(folder)).get(main);
};

t.test('a fork has what the source shows, belongs to its maker, and is counted', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, bob, carol, history, log } = modules;
  await repositories.edit(alice, 'alice', 'work', { defaultBranchProtected: false });
  const fork = await repositories.forks.create(bob, 'ALICE', 'Work', {});
  t.match(fork, { name: 'work', description: 'first', visibility: 'PUBLIC', ownerUserId: bob.id, archivedAt: null });
  t.equal(await tipOf(modules, carol, 'bob', 'work'), history.commits[1]);
  t.equal(await forkCount(modules), 1);
  t.match(
    log.find(({ event }) => event === 'repository.forked'),
    { repositoryId: fork.id, owner: 'bob', by: bob.id },
  );
  t.same(await modules.db.read.query('SELECT * FROM pushes WHERE repository_id = ?', [fork.id]), [], 'no push is told');
  const summary = await repositories.forks.summary(anonymous, fork);
  t.same(summary, { source: { owner: 'alice', name: 'work' }, isSourceArchived: false, forks: 0 });

  t.equal(await reasonOf(repositories.forks.create(bob, 'alice', 'work', { name: 'other' })), 'fork_exists');
  t.equal(await reasonOf(repositories.forks.create(alice, 'alice', 'work', {})), 'fork_of_own');
  t.equal(await reasonOf(repositories.forks.create(carol, 'alice', 'work', { owner: 'bob' })), 'no_such_owner');
  t.equal(await reasonOf(repositories.forks.create(carol, 'alice', 'work', { owner: 'example' })), 'no_such_owner');
  t.equal(await reasonOf(repositories.forks.create(carol, 'alice', 'work', { owner: 'nobody' })), 'no_such_owner');
  t.equal(
    await reasonOf(repositories.forks.create(carol, 'alice', 'work', { name: '../x' })),
    'invalid_repository_name',
  );
  t.equal(await reasonOf(repositories.forks.create(carol, 'alice', 'work', { name: '' })), 'invalid_repository_name');
  t.equal(
    await reasonOf(repositories.forks.create(carol, 'alice', 'work', { description: 'a\nb' })),
    'invalid_description',
  );
  t.equal(await reasonOf(repositories.forks.create(carol, 'alice', 'absent', {})), 'repository_not_found');
  t.equal(await reasonOf(repositories.forks.create(anonymous, 'alice', 'work', {})), 'sign_in_required');
  const token = viewerOf({ id: carol.id, username: 'carol' }, { via: 'token', scope: 'read' });
  t.equal(await reasonOf(repositories.forks.create(token, 'alice', 'work', {})), 'insufficient_scope');
  await repositories.create(carol, { name: 'taken', visibility: 'PUBLIC' });
  t.equal(
    await reasonOf(repositories.forks.create(carol, 'alice', 'work', { name: 'Taken' })),
    'repository_name_taken',
  );
  t.equal(await reasonOf(repositories.forks.create(bob, 'carol', 'taken', {})), 'repository_empty');
  t.equal(await repositories.forks.freeName({ kind: 'user', id: carol.id } as never, 'taken'), 'taken-2');

  modules.clock.advance(1000);
  await repositories.forks.create(bob, 'alice', 'work', { owner: 'example', name: 'ours', defaultBranchOnly: true });
  modules.clock.advance(1000);
  await repositories.forks.create(localAdministrator, 'alice', 'work', { owner: 'carol' });
  t.equal(await forkCount(modules), 3);
  t.same(await namesOf(modules, anonymous), ['carol/work', 'example/ours', 'bob/work']);
  t.same(
    (await repositories.forks.listTargets(bob, (await repositories.find(bob, 'alice', 'work')).repository)).map(
      ({ owner, fork: there }) => `${owner.handle} ${there?.name}`,
    ),
    ['bob work', 'example ours'],
  );
});

t.test('one of a private repository is private, and its maker’s alone', async (t) => {
  const modules = await openWork(t, 'PRIVATE');
  const { repositories, alice, bob, carol } = modules;
  t.equal(await reasonOf(repositories.forks.create(bob, 'alice', 'work', {})), 'repository_not_found');
  await repositories.collaborators.add(alice, 'alice', 'work', { username: 'bob', role: 'read' });
  const fork = await repositories.forks.create(bob, 'alice', 'work', {});
  t.equal(fork.visibility, 'PRIVATE');
  t.equal(
    await reasonOf(repositories.find(alice, 'bob', 'work')),
    'repository_not_found',
    'not the owner of the source',
  );
  t.equal(await forkCount(modules), 0, 'it counts nowhere in public');
  t.same(await namesOf(modules, alice), []);
  t.same(await namesOf(modules, bob), ['bob/work']);
  const { repository: source } = await repositories.find(bob, 'alice', 'work');
  t.equal((await repositories.forks.summary(bob, source)).forks, 1);
  t.equal((await repositories.forks.summary(alice, source)).forks, 0);
  t.same(await repositories.forks.countAll(alice, 'alice', 'work'), { forks: 1, privateForks: 1 });
  t.equal(await reasonOf(repositories.forks.countAll(bob, 'alice', 'work')), 'repository_not_found');
  t.equal(await reasonOf(repositories.changeVisibility(bob, 'bob', 'work', 'PUBLIC')), 'fork_of_private');

  await repositories.collaborators.remove(alice, 'alice', 'work', 'bob');
  t.ok(await tipOf(modules, bob, 'bob', 'work'), 'who lost access keeps the copy');
  t.equal((await repositories.forks.summary(bob, fork)).source, null, 'which no longer says where it came from');
  t.equal(await reasonOf(repositories.forks.sync(bob, 'bob', 'work')), 'no_upstream');
  t.equal((await repositories.forks.sourcesOf(bob, [fork])).size, 0);

  await repositories.trash.move(alice, 'alice', 'work');
  t.equal(
    await reasonOf(repositories.changeVisibility(bob, 'bob', 'work', 'PUBLIC')),
    'fork_of_private',
    'in the trash',
  );
  modules.clock.advance(40 * 86_400_000);
  await repositories.trash.empty();
  await repositories.changeVisibility(bob, 'bob', 'work', 'PUBLIC');
  const { repository: left } = await repositories.find(carol, 'bob', 'work');
  t.equal(left.forkedFromId, null, 'the source is gone for good');
  t.same(await modules.git.maintenance.check((await repositories.find(carol, 'bob', 'work')).path), []);
});

t.test('counts follow visibility, trash, restore and removal of forks', async (t) => {
  const modules = await openWork(t);
  const { repositories, bob, carol, clock, db } = modules;
  const fork = await repositories.forks.create(bob, 'alice', 'work', {});
  await repositories.forks.create(carol, 'alice', 'work', {});
  t.equal(await forkCount(modules), 2);
  await repositories.changeVisibility(bob, 'bob', 'work', 'PRIVATE');
  t.equal(await forkCount(modules), 1);
  t.same(await namesOf(modules, anonymous), ['carol/work']);
  await repositories.changeVisibility(bob, 'bob', 'work', 'PUBLIC');
  await repositories.trash.move(bob, 'bob', 'work');
  t.equal(await forkCount(modules), 1);
  const again = await repositories.forks.create(bob, 'alice', 'work', {});
  t.equal(await forkCount(modules), 2, 'one in the trash is none');
  await repositories.trash.restore(bob, fork.id, 'older');
  t.equal(await forkCount(modules), 3);
  await repositories.transfers.start(localAdministrator, 'carol', 'work', 'example');
  t.equal(await forkCount(modules), 3);
  await repositories.rename(bob, 'bob', 'work', 'renamed');
  t.same((await namesOf(modules, anonymous)).sort(), ['bob/older', 'bob/renamed', 'example/work']);
  await repositories.trash.move(bob, 'bob', 'renamed');
  clock.advance(40 * 86_400_000);
  await repositories.trash.empty();
  t.equal(await forkCount(modules), 2);
  t.equal(await db.read.query('SELECT id FROM repositories WHERE id = ?', [again.id]).then((rows) => rows.length), 0);
});

t.test('the source turns private: public forks stay, and get nothing more', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, bob, carol, history } = modules;
  await repositories.forks.create(bob, 'alice', 'work', {});
  await repositories.collaborators.add(alice, 'alice', 'work', { username: 'bob', role: 'read' });
  await repositories.changeVisibility(alice, 'alice', 'work', 'PRIVATE');
  await push(modules, alice, 'alice/work', [`${history.commits[1]} ${history.commits[3]} ${main}`], {
    pack: history.pack,
  });
  const { repository: fork, path: folder } = await repositories.find(carol, 'bob', 'work');
  t.equal((await repositories.forks.summary(carol, fork)).source, null);
  t.equal(await reasonOf(repositories.forks.sync(bob, 'bob', 'work')), 'upstream_private');
  t.equal(await repositories.forks.compare(bob, { repository: fork, path: folder }, 'main'), null);
  t.equal(await tipOf(modules, carol, 'bob', 'work'), history.commits[1]);
  await repositories.changeVisibility(bob, 'bob', 'work', 'PRIVATE');
  await repositories.forks.sync(bob, 'bob', 'work');
  t.equal(await tipOf(modules, bob, 'bob', 'work'), history.commits[3], 'a private fork may');
  t.equal(await reasonOf(repositories.changeVisibility(bob, 'bob', 'work', 'PUBLIC')), 'fork_of_private');
});

t.test('a fork is synced forward, as a push of the person', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, bob, carol, history, db } = modules;
  const { id } = await repositories.forks.create(bob, 'alice', 'work', {});
  const found = await repositories.find(bob, 'bob', 'work');
  t.match(await repositories.forks.compare(bob, found, 'main'), { ahead: 0, behind: 0 });
  t.match(await repositories.forks.sync(bob, 'bob', 'work'), { oldId: history.commits[1], newId: history.commits[1] });
  await push(
    modules,
    alice,
    'alice/work',
    [`${history.commits[1]} ${history.commits[3]} ${main}`, `${zeroId} ${history.commits[0]} refs/heads/next`],
    { pack: history.pack },
  );
  t.match(await repositories.forks.compare(bob, found, 'main'), {
    source: { owner: 'alice', name: 'work' },
    ahead: 0,
    behind: 2,
  });
  t.equal(await reasonOf(repositories.forks.sync(carol, 'bob', 'work')), 'repository_not_found');
  t.equal(await reasonOf(repositories.forks.sync(alice, 'alice', 'work')), 'no_upstream');
  t.equal(await reasonOf(repositories.forks.sync(bob, 'bob', 'work', { branch: 'absent' })), 'upstream_branch_missing');
  t.equal(await reasonOf(repositories.forks.sync(bob, 'bob', 'work', { branch: '../x' })), 'invalid_branch_name');
  await repositories.setArchived(bob, 'bob', 'work', true);
  t.equal(await reasonOf(repositories.forks.sync(bob, 'bob', 'work')), 'repository_archived');
  await repositories.setArchived(bob, 'bob', 'work', false);

  await repositories.forks.sync(bob, 'bob', 'work');
  await repositories.forks.sync(bob, 'bob', 'work', { branch: 'next' });
  t.equal(await tipOf(modules, carol, 'bob', 'work'), history.commits[3]);
  const refs = await modules.git.refs.list(found.path);
  t.equal(refs.get('refs/heads/next'), history.commits[0], 'a new branch of the source comes, too');
  const pushes = await db.read.query(
    'SELECT via, user_id, settled_at IS NOT NULL AS settled FROM pushes WHERE repository_id = ?',
    [id],
  );
  t.same(pushes, [
    { via: 'sync', user_id: bob.id, settled: 1 },
    { via: 'sync', user_id: bob.id, settled: 1 },
  ]);
  const hidden = path.join(found.path, 'refs', 'hearth');
  const files = existsSync(hidden) ? readdirSync(hidden, { recursive: true, withFileTypes: true }) : [];
  t.same(
    files.filter((entry) => entry.isFile()).map(({ name }) => name),
    [],
    'nothing hidden is left',
  );
});

t.test('a branch with commits of its own is left alone', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, bob, history } = modules;
  await repositories.forks.create(bob, 'alice', 'work', {});
  await push(modules, alice, 'alice/work', [`${history.commits[1]} ${history.commits[3]} ${main}`], {
    pack: history.pack,
  });
  await push(modules, bob, 'bob/work', [`${history.commits[1]} ${history.aside} ${main}`], { pack: history.pack });
  const found = await repositories.find(bob, 'bob', 'work');
  t.match(await repositories.forks.compare(bob, found, 'main'), { ahead: 1, behind: 1 });
  t.equal(await reasonOf(repositories.forks.sync(bob, 'bob', 'work')), 'fork_diverged');
  t.equal(await tipOf(modules, bob, 'bob', 'work'), history.aside);
  const results = await outcomes([1, 2].map(() => repositories.forks.sync(bob, 'bob', 'work', { branch: 'main' })));
  t.same(results, { fork_diverged: 2 });

  const merged = await repositories.forks.sync(bob, 'bob', 'work', { merge: true });
  t.match(merged, { oldId: history.aside, isMerge: true });
  t.equal(await tipOf(modules, bob, 'bob', 'work'), merged.newId);
  t.match(await modules.git.objects.commit(found.path, merged.newId), {
    parents: [history.aside, history.commits[3]],
    subject: "Merge branch 'main' of alice/work",
    author: { name: 'bob', email: `${bob.id}+bob@noreply.localhost` },
  });
  t.match(await repositories.forks.compare(bob, await repositories.find(bob, 'bob', 'work'), 'main'), { behind: 0 });
  t.match(await repositories.forks.sync(bob, 'bob', 'work', { merge: true }), { newId: merged.newId, isMerge: false });
});

t.test('a sync obeys the rules of the fork, which begins with the rule of a new repository', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, bob, history } = modules;
  await repositories.forks.create(bob, 'alice', 'work', {});
  await push(modules, alice, 'alice/work', [`${history.commits[1]} ${history.commits[3]} ${main}`], {
    pack: history.pack,
  });
  const [rule] = await repositories.rules.list(bob, 'bob', 'work');
  t.match(rule, { target: 'BRANCH' });
  await repositories.rules.remove(bob, 'bob', 'work', rule!.id);
  await repositories.rules.add(bob, 'bob', 'work', {
    target: 'branch',
    pattern: 'main',
    grants: { push: { level: 'nobody' } },
  });
  t.equal(await reasonOf(repositories.forks.sync(bob, 'bob', 'work')), 'branch_protected');
  t.equal(await tipOf(modules, bob, 'bob', 'work'), history.commits[1]);
});

t.test('two forks at once make one; a source that goes meanwhile leaves nothing', async (t) => {
  const modules = await openWork(t);
  const { repositories, alice, bob, carol, folder, db } = modules;
  const results = await outcomes([1, 2, 3].map(() => repositories.forks.create(bob, 'alice', 'work', {})));
  const { accepted, fork_exists: second = 0, repository_name_taken: taken = 0 } = results;
  t.equal(accepted, 1);
  t.equal(second + taken, 2, JSON.stringify(results));
  const folders = () => readdirSync(path.join(folder, 'repositories', bob.id));
  t.equal(folders().length, 1);

  const [outcome] = await Promise.allSettled([
    repositories.forks.create(carol, 'alice', 'work', {}),
    repositories.trash.move(alice, 'alice', 'work'),
  ]);
  const rows = await db.read.query('SELECT id FROM repositories WHERE owner_user_id = ?', [carol.id]);
  t.equal(rows.length, outcome.status === 'fulfilled' ? 1 : 0);
  const carols = path.join(folder, 'repositories', carol.id);
  t.equal(existsSync(carols) ? readdirSync(carols).length : 0, rows.length);
  t.same(await db.read.query('SELECT * FROM unfinished_forks'), []);
});

t.test('what an interruption leaves is removed at the next start', async (t) => {
  const modules = await openWork(t);
  const { repositories, bob, folder, db } = modules;
  const fork = await repositories.forks.create(bob, 'alice', 'work', {});
  const [half, whole] = ['0a0b0c0d-0000-4000-8000-000000000001', '0a0b0c0d-0000-4000-8000-000000000002'];
  const home = path.join(folder, 'repositories', bob.id);
  mkdirSync(path.join(home, `${half}.git.new`, 'objects'), { recursive: true });
  const { path: there } = await repositories.find(bob, 'bob', 'work');
  await modules.git.storage.fork(there, path.join(home, `${whole}.git`), { defaultBranch: 'main', onlyBranch: null });
  await db.write(async ({ manager, now }) => {
    for (const repositoryId of [half, whole, fork.id])
      await manager.query(
        "INSERT INTO unfinished_forks (repository_id, owner_id, node, created_at) VALUES (?, ?, 'local', ?)",
        [repositoryId, bob.id, now],
      );
  });
  const next = await modules.restart();
  await next.repositories.recover();
  t.same(readdirSync(home), [`${fork.id}.git`], 'the one that has a row stays');
  t.same(await db.read.query('SELECT * FROM unfinished_forks'), []);
});
