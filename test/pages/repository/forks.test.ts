// The pages of forks: form, list, head, sync, and what the settings say before something changes.
import { existsSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { Owner } from '../../fixtures/temporary-folder.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { runGit } from '../../fixtures/git-repositories.ts';
import { fillRepository, extractMain, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse, Visitor, Web } from '../../fixtures/web-fixture.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

const location = ({ headers }: PageResponse): string => headers.location ?? '';
const textOf = (response: PageResponse): string =>
  extractMain(response)
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&#39;', "'")
    .replace(/\s+/g, ' ');

/** The line about the source is left out while git still counts; who asks again gets it. */
async function home(browser: Visitor, pattern: RegExp): Promise<string> {
  return waitUntil(
    async () => {
      const text = textOf(await browser.get('/repos/bob/garden'));
      return pattern.test(text) && text;
    },
    `the page says ${String(pattern)}`,
  );
}

interface World {
  web: Web;
  alice: Visitor & { id: string };
  bob: Visitor & { id: string };
  carol: Visitor & { id: string };
  /** Pushes another commit to a repository. */
  push(owner: string, name: string, file: string): Promise<void>;
}

/** alice owns the public `alice/garden` with a commit, and the organisation `example`. */
async function openWorld(t: Owner, visibility = 'PUBLIC'): Promise<World> {
  const web = await startWeb(t);
  const [alice, bob, carol] = [await signedIn(web, 'alice'), await signedIn(web, 'bob'), await signedIn(web, 'carol')];
  await alice.post('/repos', { name: 'garden', description: 'Plants', visibility });
  const { repositories } = web.modules;
  const pathOf = async (owner: string, name: string) => {
    const rows = await web.modules.repositories.listAll();
    const { id } = rows.find((row) => row.owner.handle === owner && row.name === name)!;
    return (await repositories.locate([id])).get(id)!.path;
  };
  await fillRepository(t, await pathOf('alice', 'garden'), { 'README.md': '# Garden' });
  const push = async (owner: string, name: string, file: string): Promise<void> => {
    const work = path.join(temporaryFolder(t), 'work');
    const bare = await pathOf(owner, name);
    await runGit(['clone', '--quiet', bare, work], { cwd: path.dirname(work) });
    await runGit(['commit', '--quiet', '--allow-empty', '-m', file], { cwd: work });
    await runGit(['push', '--quiet', 'origin', 'main'], { cwd: work });
    // The server learns of a push that it did not receive when the database changes next.
    await web.modules.db.write(({ manager }) =>
      manager.query("UPDATE repositories SET updated_at = updated_at + 1 WHERE name = 'garden'"),
    );
    web.clock.advance(120_000);
  };
  return { web, alice, bob, carol, push };
}

t.test('from the button to a fork, without a script', async (t) => {
  const { web, alice, bob } = await openWorld(t);
  const page = await bob.get('/repos/alice/garden');
  t.match(page.body, /href="\/repos\/alice\/garden\/fork"/);
  t.match(page.body, /href="\/repos\/alice\/garden\/forks" aria-label="0 forks"/);
  t.match(location(await visitor(web).get('/repos/alice/garden/fork')), /^\/login/);
  const form = await bob.get('/repos/alice/garden/fork');
  t.match(extractMain(form), /<option value="bob" selected/);
  t.match(extractMain(form), /value="garden"/);
  t.match(textOf(form), /The fork is public, as alice\/garden is/);
  t.match(textOf(await alice.get('/repos/alice/garden/fork')), /This repository is your own/);

  const wrong = await bob.post('/repos/alice/garden/fork', { owner: 'bob', name: '../x', description: 'kept' });
  t.equal(wrong.status, 422);
  t.match(extractMain(wrong), /value="kept"/);
  t.match(extractMain(wrong), /id="name-error"/);
  t.equal((await bob.post('/repos/alice/garden/fork', { owner: 'alice', name: 'x' })).status, 422);
  t.match(location(await visitor(web).post('/repos/alice/garden/fork', { owner: 'bob', name: 'x' })), /^\/login/);

  const made = await bob.post('/repos/alice/garden/fork', { owner: 'bob', name: 'garden', description: 'Mine' });
  t.equal(made.status, 303);
  t.equal(location(made), '/repos/bob/garden?done=forked');
  const fork = await bob.get(location(made));
  t.match(textOf(fork), /This is your fork/);
  t.match(extractMain(fork), /forked from\s*<a href="\/repos\/alice\/garden">alice\/garden<\/a>/);
  t.match(await home(bob, /This branch/), /This branch is level with alice\/garden main/);
  t.match(textOf(fork), /shared with forks/);
  t.match((await visitor(web).get('/repos/alice/garden')).body, /aria-label="1 fork"/);

  const again = await bob.get('/repos/alice/garden/fork');
  t.match(textOf(again), /There is already a fork: bob\/garden/);
  t.match(textOf(again), /Every owner for whom you can create repositories already has a fork of it/);
  t.equal((await bob.post('/repos/alice/garden/fork', { owner: 'bob', name: 'second' })).status, 422);
  t.match(textOf(await visitor(web).get('/repos/alice/garden/forks')), /1 fork .*bob\/ garden.*Fork.*Mine/);
  t.match(textOf(await visitor(web).get('/repos/bob/garden/forks')), /itself a fork of alice\/garden/);
  t.match(textOf(await visitor(web).get('/explore')), /bob\/ garden Fork/);
  t.match(textOf(await visitor(web).get('/search?q=garden')), /Fork/);
  t.match(textOf(await bob.get('/repos/bob/garden/branches')), /Sync fork/);
});

t.test('behind, synced, ahead and diverged', async (t) => {
  const { web, bob, carol, push } = await openWorld(t);
  await bob.post('/repos/alice/garden/fork', { owner: 'bob', name: 'garden' });
  t.match(await home(bob, /This branch is level with/), /This branch is level with/);
  await push('alice', 'garden', 'sow');
  await push('alice', 'garden', 'water');
  const behind = /This branch is 2 commits behind alice\/garden main \. Sync fork/;
  t.match(await home(bob, behind), behind);
  t.match(extractMain(await carol.get('/repos/bob/garden')), /2 commits behind[^]*>Compare</);
  const sync = await bob.get('/repos/bob/garden/sync?branch=main');
  t.match(textOf(sync), /The branch main is 2 commits behind alice\/garden/);
  t.match(extractMain(sync), /<form method="post" action="\/repos\/bob\/garden\/sync"/);
  t.notMatch(
    extractMain(await carol.get('/repos/bob/garden/sync')),
    /method="post" action="\/repos\/bob\/garden\/sync"/,
  );
  t.match(textOf(await carol.get('/repos/bob/garden/sync')), /Only users with push access/);
  t.equal((await carol.post('/repos/bob/garden/sync', { branch: 'main' })).status, 404);
  t.equal((await bob.get('/repos/alice/garden/sync')).status, 404, 'no fork');

  const synced = await bob.post('/repos/bob/garden/sync', { branch: 'main' });
  t.equal(location(synced), '/repos/bob/garden/tree/main?done=fork-synced');
  t.match(await home(bob, /level with/), /level with/);
  t.match(textOf(await bob.get('/repos/bob/garden/activity')), /by syncing the fork/);
  t.match(location(await bob.post('/repos/bob/garden/sync', { branch: 'main' })), /done=fork-up-to-date/);
  t.match(textOf(await bob.get('/repos/bob/garden/sync?branch=absent')), /Nothing to compare: /);
  t.equal((await bob.post('/repos/bob/garden/sync', { branch: 'absent' })).status, 422);

  await push('bob', 'garden', 'my bed');
  t.match(await home(bob, /1 commit ahead of alice\/garden/), /1 commit ahead of alice\/garden/);
  t.match(textOf(await bob.get('/repos/bob/garden/sync')), /has no commits that are missing here/);
  await push('alice', 'garden', 'harvest');
  t.match(
    await home(bob, /1 commit ahead of and 1 commit behind alice\/garden/),
    /1 commit ahead of and 1 commit behind alice\/garden/,
  );
  const diverged = extractMain(await bob.get('/repos/bob/garden/sync'));
  t.match(diverged, `git remote add upstream ${web.origin}/git/alice/garden.git`);
  t.match(diverged, /git merge upstream\/main/);
  const refused = await bob.post('/repos/bob/garden/sync', { branch: 'main' });
  t.equal(refused.status, 409);
  t.match(textOf(refused), /has commits that alice\/garden does not have/);
  t.match(extractMain(refused), /git merge upstream\/main/);
});

t.test('branches of a fork lead to a pull request while the source takes some', async (t) => {
  const { alice, bob } = await openWorld(t);
  await bob.post('/repos/alice/garden/fork', { owner: 'bob', name: 'garden' });
  await home(bob, /This branch is level with/);
  t.equal((await bob.post('/repos/bob/garden/branches', { name: 'bed', from: 'main' })).status, 303);
  const link = /\/repos\/alice\/garden\/pulls\/new\?head=bob%2Fgarden%3Abed/;
  t.match((await bob.get('/repos/bob/garden/branches')).body, link);
  t.equal((await alice.post('/repos/alice/garden/settings/archive', {})).status, 303);
  t.notMatch((await bob.get('/repos/bob/garden/branches')).body, link, 'archived');
});

t.test('a private one: who sees what, and what is said beforehand', async (t) => {
  const { web, alice, bob, carol } = await openWorld(t, 'PRIVATE');
  for (const page of ['fork', 'forks', 'sync'])
    t.equal((await bob.get(`/repos/alice/garden/${page}`)).status, 404, page);
  t.equal((await bob.post('/repos/alice/garden/fork', { owner: 'bob', name: 'garden' })).status, 404);
  t.notMatch(textOf(await alice.get('/repos/alice/garden/settings/danger')), /It has 1 fork/);
  await alice.post('/repos/alice/garden/settings/collaborators', { username: 'bob', role: 'read' });
  t.match(textOf(await bob.get('/repos/alice/garden/fork')), /The fork is private/);
  await bob.post('/repos/alice/garden/fork', { owner: 'bob', name: 'garden' });
  t.equal((await alice.get('/repos/bob/garden')).status, 404);
  t.equal((await carol.get('/repos/bob/garden')).status, 404);
  t.match(textOf(await alice.get('/repos/alice/garden/forks')), /Nobody has forked/);
  t.match(textOf(await bob.get('/repos/alice/garden/forks')), /1 fork /);
  t.match(textOf(await alice.get('/repos/alice/garden/settings/danger')), /It has 1 fork\. Forks are kept/);
  t.match(textOf(await alice.get('/repos/alice/garden/settings')), /Its private forks \(1\) stay private/);
  const refused = await bob.post('/repos/bob/garden/settings/visibility', { visibility: 'PUBLIC' });
  t.equal(refused.status, 422);
  t.match(textOf(refused), /It cannot be made public while its source is private/);

  const { id } = (await web.modules.repositories.listAll()).find(({ name }) => name === 'garden')!;
  t.ok(id);
  await alice.post('/repos/alice/garden/settings/collaborators/bob/remove', {});
  const left = await bob.get('/repos/bob/garden');
  t.equal(left.status, 200);
  t.notMatch(textOf(left), /alice\/garden/, 'nothing says where it came from');
  t.equal((await bob.get('/repos/bob/garden/sync')).status, 404);
});

t.test('stock git clones a fork and pushes to it over the wire; the source stays as it is', async (t) => {
  const { web, bob } = await openWorld(t);
  await bob.post('/repos/alice/garden/fork', { owner: 'bob', name: 'garden' });
  const { secret } = await web.modules.accounts.addToken(bob.id, {
    name: 'git',
    access: 'write',
    repositoryIds: null,
    expiresAt: null,
  });
  const work = path.join(temporaryFolder(t), 'work');
  const address = `http://bob:${secret}@127.0.0.1:${web.port}/git/bob/garden.git`;
  await runGit(['clone', '--quiet', address, work], { cwd: path.dirname(work) });
  t.ok(existsSync(path.join(work, 'README.md')));
  await runGit(['commit', '--quiet', '--allow-empty', '-m', 'Over the wire'], { cwd: work });
  await runGit(['push', '--quiet', 'origin', 'main'], { cwd: work });
  t.match(
    await home(bob, /1 commit ahead of alice\/garden.*Over the wire/),
    /1 commit ahead of alice\/garden.*Over the wire/,
  );
  t.notMatch(textOf(await bob.get('/repos/alice/garden')), /Over the wire/);
});
