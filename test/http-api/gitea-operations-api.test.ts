import t from 'tap';
import { generateKey } from '../../src/openssh/index.ts';
import { startWeb } from '../fixtures/web-fixture.ts';
import { callerOf, openWorld } from './gitea-world.ts';

t.setTimeout(300_000);

t.test('topics: for those who administer, found by search, hidden with their repository', async (t) => {
  const { alice, bob, anonymous } = await openWorld(t);
  t.strictSame((await anonymous('GET', '/repos/alice/site/topics')).json, { topics: [] });
  t.equal((await alice('PUT', '/repos/alice/site/topics', { topics: ['Git', 'forge', 'git'] })).status, 204);
  t.strictSame((await anonymous('GET', '/repos/alice/site/topics')).json, { topics: ['forge', 'git'] });
  t.strictSame((await anonymous('GET', '/repos/alice/site')).json.topics, ['forge', 'git']);
  t.equal((await alice('PUT', '/repos/alice/cellar/topics/secret')).status, 204);
  t.equal((await alice('DELETE', '/repos/alice/site/topics/forge')).status, 204);
  for (const [call, status] of [
    [bob, 404],
    [anonymous, 401],
  ] as const)
    for (const [method, path, body] of [
      ['PUT', '/repos/alice/site/topics', { topics: [] }],
      ['PUT', '/repos/alice/site/topics/x', undefined],
      ['DELETE', '/repos/alice/site/topics/git', undefined],
    ] as const)
      t.equal((await call(method, path, body)).status, status, `${method} ${path}`);
  for (const topic of ['-x', 'a b', 'x'.repeat(36), '%3Cb%3E'])
    t.equal((await alice('PUT', `/repos/alice/site/topics/${encodeURIComponent(topic)}`)).status, 422, topic);
  const many = Array.from({ length: 26 }, (_, at) => `t${at}`);
  t.equal((await alice('PUT', '/repos/alice/site/topics', { topics: many })).status, 422);
  const names = async (call: typeof alice, q: string) =>
    (await call('GET', `/topics/search?q=${q}`)).json.topics.map((one: { topic_name: string }) => one.topic_name);
  t.strictSame([await names(bob, ''), await names(alice, '')], [['git'], ['git', 'secret']]);
  const found = async (call: typeof alice, q: string) =>
    (await call('GET', `/repos/search?q=${q}&topic=true`)).json.data.map((one: { name: string }) => one.name);
  t.strictSame(
    [await found(bob, 'git'), await found(bob, 'secret'), await found(alice, 'secret')],
    [['site'], [], ['cellar']],
  );
});

t.test('stars and follows: by oneself, counted once, and nothing hidden shows', async (t) => {
  const { alice, bob, carol, anonymous, tokenOf } = await openWorld(t);
  const star = '/user/starred/alice/site';
  t.equal((await bob('GET', star)).status, 404);
  for (let twice = 0; twice < 2; twice++) t.equal((await bob('PUT', star)).status, 204);
  t.equal((await bob('GET', star)).status, 204);
  t.equal((await alice('PUT', '/user/starred/alice/cellar')).status, 204);
  t.equal((await bob('PUT', '/user/starred/alice/cellar')).status, 404, 'a private one of somebody else');
  t.equal((await anonymous('PUT', star)).status, 401);
  t.equal((await (await tokenOf('bob', 'read'))('PUT', star)).status, 403);
  t.equal((await anonymous('GET', '/repos/alice/site')).json.stars_count, 1);
  t.strictSame(
    (await anonymous('GET', '/repos/alice/site/stargazers')).json.map((one: { login: string }) => one.login),
    ['bob'],
  );
  const starred = async (call: typeof alice, path: string) =>
    (await call('GET', path)).json.map((one: { name: string }) => one.name);
  t.strictSame(await starred(alice, '/user/starred'), ['cellar']);
  t.strictSame(await starred(bob, '/users/alice/starred'), []);
  const counted = async (call: typeof alice) => (await call('GET', '/users/alice')).json.starred_repos_count;
  t.strictSame([await counted(alice), await counted(bob), await counted(anonymous)], [1, 0, 0]);
  t.equal((await bob('DELETE', star)).status, 204);
  t.equal((await anonymous('GET', '/repos/alice/site')).json.stars_count, 0);

  t.equal((await bob('PUT', '/user/following/alice')).status, 204);
  t.equal((await carol('PUT', '/user/following/alice')).status, 204);
  t.equal((await bob('PUT', '/user/following/bob')).status, 422);
  t.equal((await bob('PUT', '/user/following/nobody')).status, 404);
  const followers = await anonymous('GET', '/users/alice/followers?page=1&limit=1');
  t.equal(followers.headers['x-total-count'], '2');
  t.equal(followers.json.length, 1);
  t.match((await anonymous('GET', '/users/alice')).json, { followers_count: 2, following_count: 0 });
  t.equal((await anonymous('GET', '/users/bob/following/alice')).status, 204);
  t.equal((await anonymous('GET', '/users/alice/following/bob')).status, 404);
  t.equal((await bob('DELETE', '/user/following/alice')).status, 204);
  t.strictSame((await bob('GET', '/user/following')).json, []);
});

t.test('commits of a year: a day each, and only of what the caller may see', async (t) => {
  const { web, alice, bob, anonymous } = await openWorld(t);
  const file = { content: 'YQ==', message: 'A' };
  await alice('POST', '/repos/alice/cellar/contents/a.txt', file);
  await web.modules.repositories.statistics.updateDue();
  const counted = async (call: typeof alice, name: string) => {
    const days = (await call('GET', `/users/${name}/heatmap`)).json as { timestamp: number; contributions: number }[];
    for (const { timestamp } of days) t.equal(timestamp % 86_400, 0);
    return days.reduce((sum, { contributions }) => sum + contributions, 0);
  };
  t.strictSame(await Promise.all([alice, bob, anonymous].map((call) => counted(call, 'alice'))), [3, 1, 1]);
  t.equal(await counted(bob, 'bob'), 0);
  t.equal((await anonymous('GET', '/users/nobody/heatmap')).status, 404);
});

t.test('files, statuses and branches where CI servers ask for them', async (t) => {
  const { alice, bob, anonymous } = await openWorld(t);
  t.equal((await anonymous('GET', '/repos/alice/site/raw/README.md?ref=main')).body, '# site');
  t.equal((await anonymous('GET', '/repos/alice/site/raw/none.md')).status, 404);
  t.equal((await bob('GET', '/repos/alice/cellar/raw/README.md')).status, 404);
  const sha = (await alice('GET', '/repos/alice/site/branches/main')).json.commit.id as string;
  await alice('POST', `/repos/alice/site/statuses/${sha}`, {
    state: 'pending',
    context: 'ci',
    target_url: 'https://ci.example.org/1',
  });
  for (const path of [`/repos/alice/site/statuses/${sha}`, '/repos/alice/site/commits/main/statuses'])
    t.match((await anonymous('GET', path)).json, [
      { status: 'pending', target_url: 'https://ci.example.org/1', creator: { login: 'alice' } },
    ]);
  t.match((await anonymous('GET', '/repos/alice/site/commits/main/status')).json, {
    state: 'pending',
    total_count: 1,
    sha,
    repository: { full_name: 'alice/site' },
  });
  const archive = await anonymous('GET', '/repos/alice/site/archive/main.tar.gz');
  t.match([archive.status, archive.headers['content-type']], [200, 'application/gzip']);
  t.equal((await anonymous('GET', '/repos/alice/site/archive/none.zip')).status, 404);

  // The year 1 is how clients in Go write no time.
  const none = '0001-01-01T00:00:00Z';
  const file = {
    content: 'eA==',
    branch: 'main',
    new_branch: 'work',
    message: 'x',
    dates: { author: none, committer: none },
  };
  const made = await alice('POST', '/repos/alice/site/contents/x.txt', file);
  t.equal(made.status, 201);
  t.ok(Date.parse(made.json.commit.author.date) > Date.parse('2020-01-01T00:00:00Z'));
  t.equal((await alice('PATCH', '/repos/alice/site/branches/work', { name: 'better' })).status, 204);
  t.equal((await alice('GET', '/repos/alice/site/branches/work')).status, 404);
  t.equal((await bob('PATCH', '/repos/alice/site/branches/better', { name: 'mine' })).status, 404);
  const move = (body: object) => alice('PUT', '/repos/alice/site/branches/better', body);
  t.equal((await move({ new_commit_id: sha })).status, 422, 'it would leave a commit behind');
  t.equal((await move({ new_commit_id: sha, old_commit_id: sha, force: true })).status, 422);
  t.equal((await move({ new_commit_id: '0'.repeat(40) })).status, 422);
  t.equal((await move({ new_commit_id: sha, force: true })).status, 204);
  t.equal((await alice('GET', '/repos/alice/site/branches/better')).json.commit.id, sha);
});

t.test('collaborators and permissions by name', async (t) => {
  const { alice, bob, carol } = await openWorld(t);
  const at = '/repos/alice/cellar/collaborators/bob';
  t.equal((await alice('GET', at)).status, 404);
  t.equal((await alice('PUT', at, { permission: 'read' })).status, 204);
  t.equal((await alice('PUT', at, { permission: 'write' })).status, 204, 'another role');
  t.equal((await alice('GET', at)).status, 204);
  t.match((await alice('GET', `${at}/permission`)).json, { permission: 'write', user: { login: 'bob' } });
  t.match((await bob('GET', `${at}/permission`)).json, { permission: 'write' }, 'one’s own');
  t.match((await alice('GET', '/repos/alice/cellar/collaborators/alice/permission')).json, { permission: 'owner' });
  t.equal((await bob('GET', '/repos/alice/cellar/collaborators/alice/permission')).status, 404);
  for (const [method, body] of [
    ['GET', undefined],
    ['PUT', { permission: 'admin' }],
  ] as const)
    for (const call of [bob, carol]) t.equal((await call(method, at, body)).status, 404, method);
  t.equal((await alice('PUT', at, { permission: 'owner' })).status, 422);
  t.equal((await alice('PUT', at, { permision: 'admin' })).status, 422, 'a mistyped key gives no usual role');
  t.strictSame(
    (await alice('GET', '/repos/alice/cellar/assignees')).json.map((one: { login: string }) => one.login),
    ['alice', 'bob'],
  );
});

t.test('assignees one by one, pins in an order of their own, and labels of the timeline as they are', async (t) => {
  const { alice, bob, carol, anonymous } = await openWorld(t);
  await alice('PUT', '/repos/alice/cellar/collaborators/bob', { permission: 'read' });
  const I = '/repos/alice/cellar/issues';
  for (const title of ['One', 'Two', 'Three']) await alice('POST', I, { title });
  const assignees = `${I}/1/assignees`;
  for (const [call, method, path, body, status] of [
    [alice, 'POST', assignees, { assignees: ['bob', 'alice'] }, 201],
    [alice, 'POST', assignees, { assignees: ['bob'] }, 201],
    [alice, 'POST', assignees, { assignees: ['nobody'] }, 422],
    [alice, 'POST', assignees, { assignees: ['carol'] }, 422],
    [alice, 'POST', assignees, { assignees: [] }, 422],
    [alice, 'POST', `${I}/9/assignees`, { assignees: ['bob'] }, 404],
    [bob, 'POST', assignees, { assignees: ['bob'] }, 403],
    [bob, 'DELETE', assignees, { assignees: ['bob'] }, 403],
    [carol, 'POST', assignees, { assignees: ['bob'] }, 404],
    [anonymous, 'POST', assignees, { assignees: ['bob'] }, 401],
    [alice, 'GET', `${assignees}/bob`, undefined, 204],
    [alice, 'GET', `${assignees}/carol`, undefined, 404],
    [alice, 'GET', `${assignees}/nobody`, undefined, 404],
    [alice, 'GET', `${I}/9/assignees/bob`, undefined, 404],
    [bob, 'GET', `${assignees}/bob`, undefined, 404],
    [alice, 'GET', '/repos/alice/cellar/assignees/bob', undefined, 204],
    [alice, 'GET', '/repos/alice/cellar/assignees/carol', undefined, 404],
    [carol, 'GET', '/repos/alice/cellar/assignees/bob', undefined, 404],
  ] as const)
    t.equal((await call(method, path, body)).status, status, `${method} ${path} ${JSON.stringify(body)}`);
  const names = ({ json }: { json: { assignees: { login: string }[] } }) => json.assignees.map(({ login }) => login);
  t.strictSame(names(await alice('GET', `${I}/1`)).sort(), ['alice', 'bob']);
  await alice('PATCH', '/repos/alice/cellar/collaborators/bob', { role: 'none' });
  await alice('DELETE', '/repos/alice/cellar/collaborators/bob');
  t.strictSame(names(await alice('DELETE', assignees, { assignees: ['bob'] })), ['alice'], 'also who may read no more');

  const pinned = async () =>
    (await alice('GET', `${I}/pinned`)).json.map(({ number }: { number: number }) => number) as number[];
  for (const number of [1, 2, 3]) t.equal((await alice('POST', `${I}/${number}/pin`)).status, 204);
  for (const [number, position, order] of [
    [3, 1, [3, 1, 2]],
    [3, 2, [1, 3, 2]],
    [1, 99, [3, 2, 1]],
    [2, 2, [3, 2, 1]],
  ] as const) {
    t.equal((await alice('PATCH', `${I}/${number}/pin/${position}`)).status, 204);
    t.strictSame(await pinned(), order, `${number} to ${position}`);
  }
  await alice('DELETE', `${I}/2/pin`);
  t.match(await alice('PATCH', `${I}/2/pin/1`), { status: 422, json: { error: { code: 'issue_not_pinned' } } });
  for (const position of ['0', '-1', 'x']) t.equal((await alice('PATCH', `${I}/1/pin/${position}`)).status, 422);
  t.equal((await carol('PATCH', `${I}/1/pin/1`)).status, 404);
  t.equal((await alice('PATCH', `${I}/9/pin/1`)).status, 404);
  t.strictSame(await pinned(), [3, 1]);

  const { id } = (await alice('POST', '/repos/alice/cellar/labels', { name: 'wet', color: '#0000ff' })).json;
  const { id: gone } = (await alice('POST', '/repos/alice/cellar/labels', { name: 'dry', color: '#ff0000' })).json;
  await alice('POST', `${I}/2/labels`, { labels: [id] });
  await alice('POST', `${I}/2/labels`, { labels: [gone] });
  await alice('DELETE', `/repos/alice/cellar/labels/${gone}`);
  const labelled = (await alice('GET', `${I}/2/timeline`)).json.filter(
    ({ type }: { type: string }) => type === 'label',
  );
  t.match(labelled, [{ label: { id, name: 'wet', url: /labels/ } }, { label: { id: 0, name: 'dry', url: '' } }]);
});

t.test('accounts are administered by administrators alone, and Sudo is off unless it is set', async (t) => {
  const { alice, bob, tokenOf } = await openWorld(t);
  const made = await alice('POST', '/admin/users', {
    username: 'dora',
    email: 'dora@example.org',
    password: 'a good password',
  });
  t.match(made, { status: 201, json: { login: 'dora', email: 'dora@example.org', is_admin: false } });
  t.match((await alice('PATCH', '/admin/users/dora', { full_name: 'Dora', prohibit_login: true })).json, {
    full_name: 'Dora',
    prohibit_login: true,
  });
  t.equal((await alice('POST', '/admin/users', { username: 'eve', admin: true })).status, 422, 'no unknown right');
  for (const [method, path, body] of [
    ['GET', '/admin/users', undefined],
    ['POST', '/admin/users', { username: 'eve' }],
    ['PATCH', '/admin/users/carol', { admin: true }],
    ['DELETE', '/admin/users/carol', undefined],
    ['POST', '/admin/users/carol/orgs', { username: 'guild' }],
    ['GET', '/admin/cron', undefined],
  ] as const) {
    t.equal((await bob(method, path, body)).status, 403, `${method} ${path}`);
    t.equal((await (await tokenOf('alice', 'write'))(method, path, body)).status, 403, 'a narrower token');
  }
  t.equal((await alice('DELETE', '/admin/users/dora')).status, 204);
  for (const call of [alice, bob])
    t.match(await call('GET', '/user', undefined, { Sudo: 'carol' }), {
      status: 403,
      json: { error: { code: 'sudo_refused' } },
    });
  t.strictSame(
    (await bob('GET', '/users/search?q=car')).json.data.map((one: { login: string }) => one.login),
    ['carol'],
  );
});

t.test('a program makes itself a token with name and password, which sign other calls, too', async (t) => {
  const { web, alice } = await openWorld(t);
  const password = 'a good password';
  await web.modules.accounts.addPerson({ username: 'dora', password });
  const basic = (name: string, secret: string) => `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;
  const dora = callerOf(web, basic('dora', password));
  const made = await dora('POST', '/users/dora/tokens', { name: 'tool', scopes: ['write:repository', 'read:user'] });
  t.match(made, { status: 201, json: { name: 'tool', sha1: /^hth_/, scopes: Array } });
  t.match((await dora('GET', '/users/dora/tokens')).json, [{ name: 'tool', sha1: '' }]);
  const tool = callerOf(web, `token ${made.json.sha1}`);
  t.equal((await tool('GET', '/user')).json.login, 'dora');
  t.equal((await tool('POST', '/users/dora/tokens', { name: 'more', scopes: ['all'] })).status, 403, 'not with less');
  for (const [method, path] of [
    ['GET', '/user'],
    ['GET', '/user/repos'],
    ['GET', '/user/tokens'],
  ] as const)
    t.equal((await dora(method, path)).status, 200, path);
  t.equal((await callerOf(web, basic('dora', 'wrong password'))('GET', '/users/dora/tokens')).status, 401);
  t.equal((await callerOf(web, basic('nobody', password))('GET', '/users/dora/tokens')).status, 401);
  t.equal((await alice('GET', '/users/dora/tokens')).status, 404, 'of somebody else');
  t.equal((await dora('DELETE', '/users/dora/tokens/tool')).status, 204);
  t.equal((await tool('GET', '/user')).status, 401);
});

t.test('settings of a user: languages as Gitea writes them, and addresses shown or hidden', async (t) => {
  const { bob, anonymous, web } = await openWorld(t);
  const { accounts } = web.modules;
  const { id } = await accounts.personByUsername('bob');
  for (const address of ['bob@example.org', 'second@example.org'])
    await accounts.addresses.add(id, { address, isVerified: true });
  const shown = async () => (await anonymous('GET', '/users/bob')).json.email;
  t.match((await bob('GET', '/user/settings')).json, { language: '', theme: 'gitea-auto', hide_email: true });
  for (const [language, answer, kept] of [
    ['de-DE', 'de-DE', 'de'],
    ['fr_fr', 'fr-FR', 'fr'],
    ['en', 'en-US', 'en'],
    ['', '', null],
  ] as const) {
    t.equal((await bob('PATCH', '/user/settings', { language })).json.language, answer, language);
    t.equal((await accounts.personById(id)).language, kept, language);
  }
  t.match(await bob('PATCH', '/user/settings', { language: 'tlh' }), {
    status: 422,
    json: { error: { code: 'unknown_language' } },
  });
  for (const [hide, address] of [
    [false, 'bob@example.org'],
    [false, 'bob@example.org'],
    [true, ''],
  ] as const) {
    t.equal((await bob('PATCH', '/user/settings', { hide_email: hide })).json.hide_email, hide);
    t.equal(await shown(), address);
  }
  t.equal((await bob('PATCH', '/user/settings', { full_name: 'Bob' })).json.hide_email, true, 'left out');
});

t.test('administrators and the user see a private address, other callers do not', async (t) => {
  const { alice, bob, carol, anonymous, tokenOf, web } = await openWorld(t);
  const { accounts } = web.modules;
  const { id } = await accounts.personByUsername('bob');
  await accounts.addresses.add(id, { address: 'bob@example.org', isVerified: true });
  const callers = { alice, bob, carol, anonymous, reading: await tokenOf('alice', 'read') };
  const seen: Record<string, string> = {};
  for (const [name, call] of Object.entries(callers)) seen[name] = (await call('GET', '/users/bob')).json.email;
  const right = { alice: 'bob@example.org', bob: 'bob@example.org', carol: '', anonymous: '', reading: '' };
  t.strictSame(seen, right);
  for (const [name, call] of Object.entries(callers))
    seen[name] = (await call('GET', '/users/search?q=bob')).json.data[0].email;
  t.strictSame(seen, right, 'in a list');
});

t.test('an administrator reads the key of any user by its number, other users read their own', async (t) => {
  const { alice, bob, carol, tokenOf } = await openWorld(t);
  const line = (user: string) => `ssh-ed25519 ${generateKey(user).blob.toString('base64')}`;
  const key = (await bob('POST', '/user/keys', { title: 'laptop', key: line('bob') })).json;
  const other = (await carol('POST', '/user/keys', { title: 'desk', key: line('carol') })).json;
  const seen = async (call: typeof alice, id: number) => (await call('GET', `/user/keys/${id}`)).json.title ?? null;
  const reading = await tokenOf('alice', 'read');
  for (const [call, ...titles] of [
    [alice, 'laptop', 'desk'],
    [bob, 'laptop', null],
    [carol, null, 'desk'],
    [reading, null, null],
  ] as const)
    t.strictSame([await seen(call, key.id), await seen(call, other.id)], titles);
  t.match(await alice('GET', `/user/keys/${key.id}`), { json: { user: { login: 'bob' } } });
  for (const id of [key.id + 1, 0, 2 ** 48, 10 ** 15 - 1])
    t.equal((await alice('GET', `/user/keys/${id}`)).status, 404);
});

t.test('names in body and address, kinds of webhooks and websites, as Terraform sends and reads them', async (t) => {
  const { alice } = await openWorld(t);
  await alice('POST', '/orgs', { username: 'guild' });
  for (const [method, path, value] of [
    ['PUT', '/actions/secrets/SALT', 'data'],
    ['POST', '/actions/variables/HEAT', 'value'],
  ] as const)
    for (const at of ['/repos/alice/site', '/orgs/guild', '/user']) {
      const [name, refused] = [path.slice(-4), await alice(method, at + path, { name: 'OTHER', [value]: '1' })];
      t.match(refused, { status: 422, json: { error: { field: 'name' } } }, `${at}${path} with another name`);
      const list = path.slice(0, -5);
      t.strictSame((await alice('GET', at + list)).json, [], 'nothing is kept');
      const body = { name: name.toLowerCase(), [value]: '1' };
      t.equal((await alice(method, at + path, body)).status, 201, at + path);
      t.match((await alice('GET', at + list)).json, [{ name }]);
    }
  const hooks = '/repos/alice/site/hooks';
  for (const type of ['forgejo', 'gitea', 'gogs']) {
    const config = { url: `https://example.org/${type}`, content_type: 'json' };
    const { json } = await alice('POST', hooks, { type, config, events: ['push'] });
    t.equal(json.type, type);
    t.equal((await alice('GET', `${hooks}/${json.id}`)).json.type, type);
  }
  for (const [path, more] of [
    ['/orgs/guild', {}],
    ['/repos/alice/site', {}],
    ['/user/settings', {}],
  ] as const) {
    const { json } = await alice('PATCH', path, { website: 'https://example.org', ...more });
    t.equal(json.website, 'https://example.org', `${path}: as it was written`);
    t.equal((await alice('PATCH', path, { description: 'd' })).json.website, 'https://example.org', path);
    for (const website of ['mailto:a', 'https:example.org', 'https://a:b@example.org', 'https://a b', 'https://a\nb'])
      t.equal((await alice('PATCH', path, { website })).status, 422, `${path}: ${website}`);
    t.equal((await alice('PATCH', path, { website: `https://${'a'.repeat(300)}` })).status, 422, `${path}: too long`);
  }
  const founded = await alice('POST', '/orgs', { username: 'bakers', website: 'https://example.org/bread' });
  t.equal(founded.json.website, 'https://example.org/bread');
  t.match((await alice('GET', '/repos/alice/site')).json, {
    has_projects: true,
    has_packages: true,
    internal_tracker: { enable_time_tracker: true, allow_only_contributors_to_track_time: true },
  });
  for (const [name, asked, permission] of [
    ['one', {}, 'read'],
    ['two', { units_map: {} }, 'read'],
    ['three', { units_map: { 'repo.code': 'write', 'repo.issues': 'write' } }, 'write'],
    ['four', { units_map: { 'repo.code': 'write', 'repo.issues': 'admin' } }, 'write'],
    ['five', { units_map: { 'repo.code': 'none', 'repo.issues': 'admin' } }, 'read'],
    ['six', { units_map: { 'repo.code': 'read' }, permission: 'admin' }, 'admin'],
  ] as const)
    t.equal((await alice('POST', '/orgs/guild/teams', { name, ...asked })).json.permission, permission, name);
});

t.test('the server says which parts it has', async (t) => {
  for (const [env, lfs] of [
    [{}, false],
    [{ SERVICE_LFS_ENABLED: 'false' }, true],
  ] as const) {
    const { json } = await callerOf(await startWeb(t, { env }), null)('GET', '/settings/repository');
    t.match(json, { lfs_disabled: lfs, migrations_disabled: false });
  }
});

t.test('secrets and variables where Gitea has them', async (t) => {
  const { alice, bob } = await openWorld(t);
  const at = '/repos/alice/site/actions';
  t.equal((await alice('PUT', `${at}/secrets/KEY`, { data: 'hidden' })).status, 201);
  t.equal((await alice('PUT', `${at}/secrets/KEY`, { data: 'hidden' })).status, 204);
  const listed = await alice('GET', `${at}/secrets`);
  t.match(listed.json, [{ name: 'KEY' }]);
  t.notMatch(listed.body, /hidden/);
  t.equal((await alice('POST', `${at}/variables/TARGET`, { value: 'here' })).status, 201);
  t.equal((await alice('POST', `${at}/variables/TARGET`, { value: 'there' })).status, 409);
  t.equal((await alice('PUT', `${at}/variables/TARGET`, { name: 'PLACE', value: 'there' })).status, 204);
  t.match((await alice('GET', `${at}/variables`)).json, [{ name: 'PLACE', data: 'there' }]);
  t.equal((await alice('GET', `${at}/variables/TARGET`)).status, 404);
  for (const path of ['secrets', 'variables', 'runners'])
    t.equal((await bob('GET', `${at}/${path}`)).status, 404, path);
  t.match((await alice('GET', `${at}/runners`)).json, { total_count: 0 });
});

t.test('what the server tells of itself', async (t) => {
  const { anonymous, alice } = await openWorld(t);
  for (const path of ['/settings/api', '/settings/ui', '/settings/repository', '/settings/attachment', '/licenses/MIT'])
    t.equal((await anonymous('GET', path)).status, 200, path);
  t.match((await anonymous('GET', '/version')).json, { version: /^1\.26\.0\+/ });
  t.ok((await anonymous('GET', '/gitignore/templates')).json.includes('Node'));
  t.equal((await anonymous('GET', '/gitignore/templates/None')).status, 404);
  t.equal((await anonymous('GET', '/label/templates/__proto__')).status, 404);
  await alice('POST', '/user/repos', { name: 'labelled', issue_labels: 'Default' });
  t.equal((await alice('GET', '/repos/alice/labelled/labels')).json.length, 7);
  t.equal((await alice('POST', '/user/repos', { name: 'other', object_format_name: 'sha256' })).status, 422);
});
