// Commits on profiles: by verified and no-reply addresses, on default branches that the viewer may see.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { gitSync } from '../git/git-fixture.ts';
import { openModules } from './repositories-fixture.ts';

const dayMs = 86_400_000;

t.test('commits count for the person whose address they have', async (t) => {
  const modules = await openModules(t);
  const { repositories, accounts, clock, folder, alice, bob } = modules;
  const now = clock.now();
  const today = Math.floor(now / dayMs);
  const work = path.join(folder, 'counted');
  mkdirSync(work);
  gitSync(['init', '--quiet', '--initial-branch=main'], { cwd: work });
  const commit = (email: string, daysAgo: number) => {
    const date = `${Math.floor((now - daysAgo * dayMs) / 1000)} +0000`;
    const env = { GIT_AUTHOR_EMAIL: email, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
    gitSync(['commit', '--quiet', '--allow-empty', '--message=c'], { cwd: work, env });
  };
  const repositoryOf = async (name: string, visibility: 'PUBLIC' | 'PRIVATE') => {
    await repositories.create(alice, { name, visibility });
    return repositories.find(alice, 'alice', name);
  };
  const send = async ({ repository, path: to }: Awaited<ReturnType<typeof repositoryOf>>, ...refs: string[]) => {
    gitSync(['push', '--quiet', '--force', to, ...refs], { cwd: work });
    clock.advance(1_000);
    await modules.db.write(({ manager }) =>
      manager.query('UPDATE repositories SET pushed_at = ? WHERE id = ?', [clock.now(), repository.id]),
    );
    await repositories.statistics.updateDue();
  };
  const counted = async (viewer = alice, person = alice) =>
    [...(await repositories.pushes.countCommits(viewer, person.id, now - 365 * dayMs))]
      .map(([day, commits]) => [today - day, commits])
      .sort(([one], [other]) => one! - other!);

  commit('Alice@Example.org', 450);
  for (const daysAgo of [300, 3, 3]) commit('Alice@Example.org', daysAgo);
  commit(accounts.addresses.noReplyOf({ id: alice.id, username: 'an-earlier-handle' }), 2);
  commit('bob@example.org', 1);
  const open = await repositoryOf('open', 'PUBLIC');
  await send(open, 'main');
  t.same(await counted(), [[2, 1]], 'the no-reply address counts at once');

  const { id } = await accounts.addresses.add(alice.id, { address: 'alice@example.org' });
  t.same(await counted(), [[2, 1]], 'an address that is not verified counts nothing');
  await accounts.addresses.markVerified(alice.id, id);
  const all = [
    [2, 1],
    [3, 2],
    [300, 1],
  ];
  t.same(await counted(), all, 'what was pushed before counts, too');
  t.same(await counted(alice, bob), [], 'commits of an address that is not verified are of no person');

  commit('alice@example.org', 0);
  await send(open, 'main');
  t.same(await counted(), [[0, 1], ...all], 'new commits are added');
  await send(open, 'main');
  t.same(await counted(), [[0, 1], ...all], 'and counted once');

  gitSync(['checkout', '--quiet', '-b', 'topic'], { cwd: work });
  commit('alice@example.org', 0);
  await send(open, 'topic');
  t.same(await counted(), [[0, 1], ...all], 'commits of other branches do not count');
  gitSync(['checkout', '--quiet', 'main'], { cwd: work });
  gitSync(['reset', '--quiet', '--hard', 'HEAD~2'], { cwd: work });
  await send(open, 'main');
  t.same(await counted(), all, 'a branch that was rewritten is counted anew');

  await send(await repositoryOf('secret', 'PRIVATE'), 'main');
  t.same(await counted(bob), all, 'what the viewer may not see is not counted');
  t.same(
    await counted(),
    all.map(([day, commits]) => [day, 2 * commits!]),
  );
  await repositories.forks.create(bob, 'alice', 'open', {});
  await repositories.statistics.updateDue();
  t.same(await counted(bob), all, 'commits of a fork are those of its source');
  await accounts.addresses.remove(alice.id, id);
  t.same(await counted(bob), [[2, 1]], 'the commits of an address that was removed do not count any more');
});
