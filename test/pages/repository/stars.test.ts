// Stars, topics, the website and labels of a repository on its pages; following a person; the README of a profile;
// saved replies.
import t from 'tap';
import { personViewer } from '../../../src/access/index.ts';
import { extractMain, fillRepository, sendRequest, signedIn, startWeb } from '../../fixtures/web-fixture.ts';

const web = await startWeb(t);
const [alice, bob] = [await signedIn(web, 'alice'), await signedIn(web, 'bob')];
const { repositories, issues } = web.modules;
const owner = { ...personViewer(alice.id, 'admin'), username: 'alice' };
const anonymous = { get: (path: string) => sendRequest(web, path) };

for (const [name, visibility] of [
  ['site', 'PUBLIC'],
  ['shed', 'PUBLIC'],
  ['secret', 'PRIVATE'],
] as const)
  await repositories.create(owner, { name, visibility });

t.test('a reader stars a repository, and it is counted and listed', async (t) => {
  const home = async (who: { get(path: string): Promise<{ body: string }> }) =>
    (await who.get('/repos/alice/site')).body;
  t.match(await home(bob), /action="\/repos\/alice\/site\/star"[^]*>Star</);
  t.notMatch(await home(anonymous), /site\/star"/, 'signed out, there is no button');
  t.match(await bob.post('/repos/alice/site/star', { next: '/repos/alice/site/issues' }), {
    status: 303,
    headers: { location: '/repos/alice/site/issues' },
  });
  await bob.post('/repos/alice/site/star', {});
  t.match(await home(anonymous), /href="\/repos\/alice\/site\/stargazers" aria-label="1 star"><svg.*?<\/svg>1</);
  t.match(await home(bob), /site\/unstar"[^]*>Unstar</);
  t.match(extractMain(await anonymous.get('/repos/alice/site/stargazers')), /<h2>1 star<\/h2>[^]*\/users\/bob">bob</);
  t.equal((await bob.post('/repos/alice/secret/star', {})).status, 404, 'as an absent one');
  await alice.post('/repos/alice/secret/star', {});
  t.match((await alice.get('/users/alice/stars')).body, /href="\/repos\/alice\/secret"/);
  t.notMatch((await bob.get('/users/alice/stars')).body, 'secret', 'a private one is listed for its readers alone');
  const counted = async (who: { get(path: string): Promise<{ body: string }> }) =>
    /(\d+) starred repositor/.exec((await who.get('/users/alice')).body)?.[1] ?? null;
  t.strictSame([await counted(alice), await counted(bob), await counted(anonymous)], ['1', null, null]);
  await bob.post('/repos/alice/site/unstar', {});
  t.match(extractMain(await anonymous.get('/repos/alice/site/stargazers')), /0 stars[^]*Nobody has starred/);
});

t.test('topics and the website are set in the settings, shown, and lead to others of the topic', async (t) => {
  const save = (fields: Record<string, string>) =>
    alice.post('/repos/alice/site/settings', { description: 'A site', default_branch: 'main', ...fields });
  for (const [fields, error] of [
    [{ website: 'javascript:alert(1)', topics: '' }, /must be a URL that starts with https/],
    [{ website: 'https://', topics: '' }, /must be a URL/],
    [{ website: 'https://user:secret@example.org', topics: '' }, /must be a URL/],
    [{ website: '', topics: 'a topic, <b>' }, /A topic must start with/],
    [{ website: '', topics: Array.from({ length: 26 }, (_, at) => `t${at}`).join(' ') }, /at most 25 topics/],
  ] as const) {
    const refused = await save(fields);
    t.match([refused.status, refused.body], [422, error]);
  }
  t.equal((await save({ website: 'https://example.org/a?b=1', topics: 'Git, forge' })).status, 303);
  const home = (await anonymous.get('/repos/alice/site')).body;
  t.match(home, /<a href="https:\/\/example\.org\/a\?b=1" rel="nofollow noopener">example\.org\/a\?b=1<\/a>/);
  t.match(home, /href="\/explore\?topic=forge">forge<[^]*href="\/explore\?topic=git">git</);
  t.match((await alice.get('/repos/alice/site/settings')).body, /name="topics"[^>]* value="forge, git"/);
  await alice.post('/repos/alice/secret/settings', {
    description: '',
    default_branch: 'main',
    website: '',
    topics: 'git',
  });
  const listed = async (who: typeof anonymous, path: string) =>
    [...(await who.get(path)).body.matchAll(/class="row-title" href="\/repos\/([^"]+)"/g)]
      .map(([, name]) => name)
      .sort();
  t.strictSame(await listed(anonymous, '/explore?topic=git'), ['alice/site']);
  t.strictSame(await listed(alice, '/explore?topic=GIT'), ['alice/secret', 'alice/site']);
  t.strictSame(await listed(anonymous, '/explore?topic=other'), []);
  t.strictSame(
    await listed(anonymous, '/explore?topic=%3Cb%3E'),
    ['alice/shed', 'alice/site'],
    'no topic asks for all',
  );
  const old = await alice.post('/repos/alice/site/settings', { description: 'Older form', default_branch: 'main' });
  t.equal(old.status, 303);
  t.match((await anonymous.get('/repos/alice/site')).body, /topic=forge[^]*/, 'a form without the fields leaves them');
});

t.test('a new repository begins with the default labels, unless they are left out', async (t) => {
  t.match((await alice.get('/repos/new')).body, /name="labels" value="yes" checked/);
  await alice.post('/repos', { name: 'with', visibility: 'PUBLIC', labels: 'yes' });
  await alice.post('/repos', { name: 'without', visibility: 'PUBLIC' });
  const names = async (name: string) => (await issues.listLabels(owner, { owner: 'alice', name })).length;
  t.ok((await names('with')) > 3);
  t.equal(await names('without'), 0);
});

t.test('people follow each other', async (t) => {
  t.notMatch((await alice.get('/users/alice')).body, /users\/alice\/follow"/, 'nobody follows oneself');
  t.match((await bob.get('/users/alice')).body, /action="\/users\/alice\/follow"/);
  t.match(await bob.post('/users/alice/follow', {}), { status: 303, headers: { location: '/users/alice' } });
  t.match((await anonymous.get('/users/alice')).body, /\/users\/alice\/followers">1 follower</);
  t.match(extractMain(await anonymous.get('/users/alice/followers')), /\/users\/bob">bob</);
  t.match(extractMain(await anonymous.get('/users/bob/following')), /\/users\/alice">alice</);
  t.equal((await bob.post('/users/bob/follow', {})).status, 422);
  t.equal((await bob.post('/users/nobody/follow', {})).status, 404);
  await bob.post('/users/alice/unfollow', {});
  t.match((await anonymous.get('/users/alice')).body, /0 followers/);
});

t.test('the README of .profile, or of the repository named like its owner, stands on the profile', async (t) => {
  const profile = async () => (await anonymous.get('/users/alice')).body;
  t.notMatch(await profile(), /class="panel readme"/);
  const make = async (name: string, visibility: 'PUBLIC' | 'PRIVATE', text: string) => {
    await repositories.create(owner, { name, visibility });
    await fillRepository(t, (await repositories.find(owner, 'alice', name)).path, { 'README.md': text });
  };
  await make('alice', 'PUBLIC', '# By name\n\n[rules](RULES.md) <script>alert(1)</script>\n');
  t.match(await profile(), /By name[^]*href="\/repos\/alice\/alice\/blob\/main\/RULES\.md"/);
  t.notMatch(await profile(), /alert\(1\)<\/script>/);
  await make('.profile', 'PRIVATE', '# Hidden\n');
  t.match(await profile(), /By name/);
  t.notMatch((await alice.get('/users/alice')).body, /Hidden/, 'not even to its owner: a profile is one for all');
  await repositories.changeVisibility(owner, 'alice', '.profile', 'PUBLIC');
  t.match(await profile(), /Hidden/);
});

t.test('saved replies are of one person, and come into the field of a comment', async (t) => {
  t.equal((await bob.post('/settings/replies', { title: 'Thanks', body: 'Thank you & <b>goodbye</b>.' })).status, 303);
  for (const wrong of [
    { title: '', body: 'x' },
    { title: 'x', body: ' ' },
    { title: 'x\ny', body: 'x' },
  ])
    t.equal((await bob.post('/settings/replies', wrong)).status, 422);
  const list = (await bob.get('/settings/replies')).body;
  const [, id = ''] = /edit=([0-9a-f-]{36})/.exec(list) ?? [];
  t.notMatch((await alice.get('/settings/replies')).body, 'Thanks');
  t.equal((await alice.get(`/settings/replies?edit=${id}`)).status, 404);
  t.equal((await alice.post('/settings/replies', { id, title: 'Mine', body: 'x' })).status, 404);
  t.equal((await alice.post('/settings/replies/remove', { id })).status, 404);
  await issues.open(owner, { owner: 'alice', name: 'site' }, { title: 'Leak', body: '' });
  t.match((await bob.get('/repos/alice/site/issues/1')).body, new RegExp(`issues/1\\?saved=${id}#reply"[^>]*>Thanks<`));
  t.match((await bob.get(`/repos/alice/site/issues/1?saved=${id}`)).body, /Thank you &amp; &lt;b&gt;goodbye/);
  t.notMatch(extractMain(await alice.get(`/repos/alice/site/issues/1?saved=${id}`)), /Thank you/);
  t.equal((await bob.post('/settings/replies', { id, title: 'Thank you', body: 'Changed' })).status, 303);
  t.match((await bob.get('/settings/replies')).body, /Thank you<[^]*Changed/);
  await bob.post('/settings/replies/remove', { id });
  t.match((await bob.get('/settings/replies')).body, /no saved replies yet/);
});
