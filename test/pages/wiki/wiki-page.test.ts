// The wiki of a repository: stock git as its client, pages in the browser, and the rights of its parent for everyone.
import { existsSync, writeFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { personViewer } from '../../../src/access/index.ts';
import { runGit } from '../../fixtures/git-repositories.ts';
import { temporaryFolder } from '../../fixtures/temporary-folder.ts';
import { extractMain, fillRepository, sendRequest, signedIn, startWeb } from '../../fixtures/web-fixture.ts';

t.setTimeout(240_000);
const web = await startWeb(t);
const { accounts, repositories } = web.modules;
const [alice, bob, carol] = [await signedIn(web, 'alice'), await signedIn(web, 'bob'), await signedIn(web, 'carol')];
const owner = { ...personViewer(alice.id, 'admin'), username: 'alice' };
const anonymous = { get: (at: string) => sendRequest(web, at) };
for (const [name, visibility] of [
  ['site', 'PUBLIC'],
  ['secret', 'PRIVATE'],
] as const)
  await repositories.create(owner, { name, visibility });
await fillRepository(t, (await repositories.find(owner, 'alice', 'site')).path, { 'README.md': '# Site\n' });
await repositories.collaborators.add(owner, 'alice', 'site', { username: 'carol', role: 'write' });
await repositories.collaborators.add(owner, 'alice', 'secret', { username: 'carol', role: 'read' });
const secretOf = async (id: string, repositoryIds: string[] | null = null): Promise<string> =>
  (await accounts.addToken(id, { name: `git ${Math.random()}`, access: 'write', repositoryIds, expiresAt: null }))
    .secret;
const tokens = { alice: await secretOf(alice.id), bob: await secretOf(bob.id), carol: await secretOf(carol.id) };
const cloneUrl = (who: keyof typeof tokens | null, name: string): string =>
  `http://${who === null ? '' : `${who}:${tokens[who]}@`}127.0.0.1:${web.port}/git/alice/${name}.git`;
const git = async (cwd: string, ...args: string[]): Promise<string> => (await runGit(args, { cwd })).trim();
const fails = (cwd: string, ...args: string[]): Promise<string> =>
  git(cwd, ...args).then(
    () => 'done',
    (error: Error) => String(error),
  );

const wiki = '/repos/alice/site/wiki';
const work = temporaryFolder(t);

t.test('an empty wiki: who may write is told how to begin, others that it is empty', async (t) => {
  t.match((await anonymous.get(wiki)).body, /This wiki has no pages yet/);
  t.notMatch((await anonymous.get(wiki)).body, /wiki\/_new/);
  t.match((await alice.get(wiki)).body, /href="\/repos\/alice\/site\/wiki\/_new"[^]*site\.wiki\.git/);
  t.equal((await anonymous.get(`${wiki}/Home`)).status, 404);
  t.match(await fails(work, 'clone', '--quiet', cloneUrl('bob', 'site.wiki'), 'none'), /not found|Repository/i);
  t.equal((await bob.get(`${wiki}/_new`)).status, 404);
});

t.test('pages are pushed by git, and shown with their links, sidebar and footer', async (t) => {
  await git(work, 'clone', '--quiet', cloneUrl('alice', 'site.wiki'), 'wiki');
  const folder = path.join(work, 'wiki');
  const files = {
    'Home.md':
      '# Welcome\n\n[[First steps]] [[the guide|docs/Guide]] [up](First-steps.md#usage) `[[not]]` ![logo](img/logo.png)\n\n<script>alert(1)</script>\n',
    'First-steps.md': '## Usage\n\nOnly a needle here.\n',
    'a-b.-.md': 'hyphens\n',
    '_Sidebar.md': '[[Home]] beside\n',
    '_Footer.md': 'Below all\n',
    'notes.txt': 'a file\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  await git(folder, 'switch', '--quiet', '-c', 'pages');
  symlinkSync('/etc/passwd', path.join(folder, 'Passwords.md'));
  symlinkSync('../../config', path.join(folder, 'Config.md'));
  await git(folder, 'add', '.');
  await git(folder, 'commit', '--quiet', '-m', 'First pages');
  await git(folder, 'push', '--quiet', 'origin', 'pages');

  const home = (await anonymous.get(wiki)).body;
  const main = extractMain({ body: home } as never);
  t.match(home, /<a href="\/repos\/alice\/site\/wiki\/First-steps"[^>]*>First steps<\/a>/);
  t.match(home, /<a href="\/repos\/alice\/site\/wiki\/docs\/Guide"[^>]*>the guide<\/a>/);
  t.match(home, /href="\/repos\/alice\/site\/wiki\/First-steps#user-content-usage"/);
  t.match(home, /<code>\[\[not\]\]<\/code>/);
  t.match(home, /src="\/repos\/alice\/site\/wiki\/_raw\/img\/logo\.png"/);
  t.match(home, /beside[^]*Below all|Below all[^]*beside/);
  t.notMatch(home, /alert\(1\)<\/script>/);
  t.ok(main);
  t.match((await anonymous.get(`${wiki}/a-b`)).body, /hyphens/);
  t.equal((await anonymous.get(`${wiki}/first-STEPS`)).headers['location'], `${wiki}/First-steps`);
  const list = (await anonymous.get(`${wiki}/_pages`)).body;
  t.match(list, /First steps[^]*Home[^]*a-b/);
  t.notMatch(list, /Passwords|Config|_Sidebar|notes/, 'symbolic links and other files are no pages');
  for (const outside of [
    'Passwords',
    'Config',
    '_raw/Passwords.md',
    '_raw/Config.md',
    '_raw/../../config',
    '_raw/%2e%2e/%2e%2e/config',
    '_raw/',
  ])
    t.equal((await anonymous.get(`${wiki}/${outside}`)).status, 404, outside);
  t.match((await anonymous.get(`${wiki}/_raw/notes.txt`)).headers['content-disposition'], /^attachment/);
  const found = (await anonymous.get(`${wiki}/_search?q=NEEDLE`)).body;
  t.match(found, /wiki\/First-steps">[^]*Only a <mark>needle<\/mark> here/i);
  t.match((await anonymous.get(`${wiki}/_search?q=zebra`)).body, /No page has “zebra”/);
});

t.test('pages are created, edited, renamed and deleted in the browser, each as a commit', async (t) => {
  t.match(await carol.post(`${wiki}/_new`, { title: 'New  page', text: 'Hello', message: 'Begin' }), {
    status: 303,
    headers: { location: `${wiki}/New-page?done=wiki-saved` },
  });
  t.match((await anonymous.get(`${wiki}/New-page`)).body, /Hello/);
  for (const title of ['', '_x', '../x', 'a//b', 'x/.git/y', 'a?b', 'x'.repeat(201), 'a\0b'])
    t.equal((await carol.post(`${wiki}/_new`, { title, text: 'x' })).status, 422, JSON.stringify(title.slice(0, 20)));
  const taken = await carol.post(`${wiki}/_new`, { title: 'new PAGE', text: 'Kept text' });
  t.match([taken.status, taken.body], [422, /A page[^]*already exists[^]*Kept text/]);
  const form = (await carol.get(`${wiki}/_edit/New-page`)).body;
  const [, blob = ''] = /name="blob" value="([0-9a-f]{40})"/.exec(form) ?? [];
  const preview = await carol.post(`${wiki}/_edit/New-page`, {
    title: 'New page',
    text: '**bold**',
    blob,
    action: 'preview',
  });
  t.match(preview.body, /<strong>bold<\/strong>/);
  const edit = (text: string, title = 'New page') => carol.post(`${wiki}/_edit/New-page`, { title, text, blob });
  t.equal((await edit('Second')).status, 303);
  const stale = await edit('Third');
  t.equal(stale.status, 422, 'somebody else was faster');
  t.match(stale.body, /Someone edited this page[^]*Second[^]*Third/);
  t.equal((await carol.post(`${wiki}/_edit/New-page`, { title: 'docs/Moved', text: 'Second' })).status, 303);
  t.equal((await anonymous.get(`${wiki}/New-page`)).status, 404);
  t.match((await anonymous.get(`${wiki}/docs/Moved`)).body, /Second/);
  const history = (await anonymous.get(`${wiki}/_history/docs/Moved`)).body;
  t.match(history, /Rename New page to docs\/Moved[^]*Update New page[^]*Begin/);
  const [, version = ''] = /New-page\?version=([0-9a-f]{40})"[^>]*><bdi>Update New page/.exec(history) ?? [];
  t.match((await anonymous.get(`${wiki}/New-page?version=${version}`)).body, /older version[^]*Second/);
  t.equal((await anonymous.get(`${wiki}/New-page?version=HEAD`)).status, 404);
  t.equal((await carol.post(`${wiki}/_delete/docs/Moved`, {})).status, 303);
  t.equal((await anonymous.get(`${wiki}/docs/Moved`)).status, 404);
  const folder = path.join(work, 'wiki');
  await git(folder, 'pull', '--quiet', 'origin', 'pages');
  t.match(await git(folder, 'log', '--format=%an %s', '-5'), /carol Delete docs\/Moved/);
});

t.test('the rights are those of the parent, for pages, forms and git; hidden and absent answer alike', async (t) => {
  const forms = ['_new', '_edit/Home', '_delete/Home'];
  for (const form of forms) t.equal((await bob.post(`${wiki}/${form}`, { title: 'x', text: 'x' })).status, 404, form);
  t.match(
    await fails(path.join(work, 'wiki'), 'push', cloneUrl('bob', 'site.wiki'), 'HEAD:refs/heads/pages'),
    /not push to it|403/,
  );
  await alice.post('/repos/alice/secret/wiki/_new', { title: 'Home', text: 'Hidden words' });
  const places = ['', '/Home', '/_pages', '/_search?q=Hidden', '/_history/Home', '/_raw/x', '/_new', '/_edit/Home'];
  for (const place of places) {
    const absent = await bob.get(`/repos/alice/absent/wiki${place}`);
    const hidden = await bob.get(`/repos/alice/secret/wiki${place}`);
    t.strictSame([hidden.status, hidden.body.replaceAll('secret', 'absent')], [404, absent.body], place);
    const signedOut = await anonymous.get(`/repos/alice/secret/wiki${place}`);
    t.equal(signedOut.status, (await anonymous.get(`/repos/alice/absent/wiki${place}`)).status, place);
  }
  t.match((await carol.get('/repos/alice/secret/wiki')).body, /Hidden words/);
  t.equal((await carol.post('/repos/alice/secret/wiki/_new', { title: 'x', text: 'x' })).status, 404);
  t.match(await fails(work, 'clone', '--quiet', cloneUrl('bob', 'secret.wiki'), 'b1'), /not found/i);
  t.match(await fails(work, 'clone', '--quiet', cloneUrl('bob', 'absent.wiki'), 'b2'), /not found/i);
  t.equal(await fails(work, 'clone', '--quiet', cloneUrl('carol', 'secret.wiki'), 'c1'), 'done');
  const { repository } = await repositories.find(owner, 'alice', 'secret');
  tokens.alice = await secretOf(alice.id, [repository.id]);
  t.equal(
    await fails(work, 'clone', '--quiet', cloneUrl('alice', 'secret.wiki'), 'a1'),
    'done',
    'a limited token opens the wiki',
  );
  t.match(
    await fails(path.join(work, 'wiki'), 'push', cloneUrl('alice', 'site.wiki'), 'HEAD:refs/heads/x'),
    /not push|403/,
  );
  tokens.alice = await secretOf(alice.id);
});

t.test('a wiki is no repository in any list, count, feed or search, and a push to it is no push', async (t) => {
  t.equal((await repositories.countAll()).count, 2);
  t.strictSame((await repositories.listAll()).map(({ name }) => name).sort(), ['secret', 'site']);
  t.strictSame(await web.modules.db.read.query('SELECT * FROM pushes'), []);
  for (const place of ['/explore', '/users/alice', '/', '/search?q=wiki', '/repos/alice/site/activity'])
    t.notMatch(extractMain(await alice.get(place)), /site\.wiki|First pages/, place);
  t.equal((await alice.get('/repos/alice/site.wiki')).status, 404);
  t.ok((await alice.post('/repos', { name: 'other.wiki', visibility: 'PUBLIC' })).status === 422);
});

t.test('rename, archive, transfer, trash and deletion are those of the parent', async (t) => {
  await repositories.rename(owner, 'alice', 'site', 'place');
  t.match((await anonymous.get('/repos/alice/place/wiki')).body, /Welcome/);
  t.equal(
    await fails(work, 'clone', '--quiet', cloneUrl('bob', 'site.wiki'), 'moved'),
    'done',
    'the former name redirects',
  );
  await repositories.setArchived(owner, 'alice', 'place', true);
  t.equal((await alice.post('/repos/alice/place/wiki/_new', { title: 'x', text: 'x' })).status >= 400, true);
  t.match(
    await fails(path.join(work, 'wiki'), 'push', cloneUrl('alice', 'place.wiki'), 'HEAD:refs/heads/y'),
    /archived|403/,
  );
  await repositories.setArchived(owner, 'alice', 'place', false);
  const before = (await repositories.find(owner, 'alice', 'place')).path;
  await web.modules.organisations.create(owner, { name: 'acme' });
  await repositories.transfers.start(owner, 'alice', 'place', 'acme');
  t.match((await anonymous.get('/repos/acme/place/wiki')).body, /Welcome/);
  t.equal(existsSync(path.join(before, 'wiki.git')), false);
  const after = (await repositories.find(owner, 'acme', 'place')).path;
  await repositories.trash.move(owner, 'acme', 'place');
  t.equal((await alice.get('/repos/acme/place/wiki')).status, 404);
  t.equal(existsSync(path.join(after, 'wiki.git')), false);
});
