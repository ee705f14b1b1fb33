import t from 'tap';
import { sendRequest, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { encodeMultipart } from '../fixtures/upload.ts';

// What the SDKs of Gitea call in the order in which programs call it, with the words that they read.
t.setTimeout(300_000);

// biome-ignore lint/suspicious/noExplicitAny: the fields are what the test is about
type Json = any;

function callerOf(web: Web, authorization: string | null) {
  return async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const response = await sendRequest(web, `/api/v1${path}`, {
      method,
      headers: {
        ...(authorization !== null && { Authorization: authorization }),
        ...(text && { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) }),
        ...headers,
      },
      ...(text && { body: text }),
    });
    const isJson = /json/.test(String(response.headers['content-type'] ?? ''));
    return { ...response, json: (isJson && response.body !== '' ? JSON.parse(response.body) : null) as Json };
  };
}

const basic = (name: string, password: string) => `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;

/** alice administers the server and has the public site; bob writes it, carol does not; guild is of bob. */
async function openWorld(t: Owner) {
  const web = await startWeb(t, { env: { SERVICE_API_SUDO: 'true' } });
  const { accounts } = web.modules;
  const tokenOf = async (username: string, access: 'read' | 'write' | 'admin' = 'admin') => {
    const { id } = await accounts
      .personByUsername(username)
      .catch(() => accounts.addPerson({ username, isAdministrator: username === 'alice' }));
    const token = { name: `${access} ${Math.random()}`, access, repositoryIds: null, expiresAt: null };
    return callerOf(web, `token ${(await accounts.addToken(id, token)).secret}`);
  };
  const [alice, bob, carol] = [await tokenOf('alice'), await tokenOf('bob'), await tokenOf('carol')];
  await alice('POST', '/user/repos', { name: 'site', private: false, auto_init: true });
  await alice('PUT', '/repos/alice/site/collaborators/bob', { permission: 'write' });
  await bob('POST', '/orgs', { username: 'guild' });
  return { web, alice, bob, carol, tokenOf, anonymous: callerOf(web, null) };
}

t.test('the same issue and comment twice are two, with a due date and a branch from those who may', async (t) => {
  const { alice, bob, carol } = await openWorld(t);
  const said = { title: 'The gate squeaks', body: 'It does.' };
  const numbers = [];
  for (let twice = 0; twice < 2; twice++)
    numbers.push((await carol('POST', '/repos/alice/site/issues', said)).json.number);
  t.strictSame(numbers, [1, 2]);
  for (let twice = 0; twice < 2; twice++) await carol('POST', '/repos/alice/site/issues/1/comments', { body: 'Yes.' });
  t.equal((await carol('GET', '/repos/alice/site/issues/1')).json.comments, 2);

  const planned = { title: 'Oil', due_date: '2026-12-24T10:00:00Z', ref: 'main' };
  t.match((await bob('POST', '/repos/alice/site/issues', planned)).json, {
    due_date: '2026-12-24T23:59:59Z',
    ref: 'main',
  });
  t.match(await carol('POST', '/repos/alice/site/issues', planned), {
    status: 403,
    json: { error: { code: 'not_allowed_on_issue' } },
  });
  t.equal((await carol('PATCH', '/repos/alice/site/issues/1', { due_date: '2026-12-24' })).status, 403);
  for (const [body, code] of [
    [{ due_date: '2026-02-31' }, 'invalid_date'],
    [{ ref: 'a b' }, 'invalid_ref'],
  ] as const)
    t.match(await bob('PATCH', '/repos/alice/site/issues/3', body), { status: 422, json: { error: { code } } });
  const edited = await bob('PATCH', '/repos/alice/site/issues/3', { due_date: '2027-01-02T00:00:00Z', ref: '' });
  t.match(edited.json, { due_date: '2027-01-02T23:59:59Z', ref: '' });
  t.equal((await bob('PATCH', '/repos/alice/site/issues/3', { unset_due_date: true })).json.due_date, null);

  const at = '/repos/alice/site/issues/1/subscriptions';
  const statuses = [];
  for (const [call, method] of [
    [carol, 'PUT'],
    [carol, 'DELETE'],
    [carol, 'DELETE'],
    [carol, 'PUT'],
  ] as const)
    statuses.push((await call(method, `${at}/carol`)).status);
  t.strictSame(statuses, [200, 201, 200, 201], 'the author is subscribed already');
  t.equal((await alice('PUT', `${at}/carol`)).status, 403, 'nobody subscribes another');
});

t.test('labels: a repository lists its own, and each names the address where it belongs', async (t) => {
  const { bob, anonymous } = await openWorld(t);
  await bob('POST', '/orgs/guild/repos', { name: 'hall', private: false });
  await bob('POST', '/orgs/guild/labels', { name: 'blue', color: '#0000ff' });
  await bob('POST', '/repos/guild/hall/labels', { name: 'red', color: '#ff0000' });
  const names = async (path: string) => (await anonymous('GET', path)).json.map((one: Json) => one.name);
  t.strictSame(await names('/repos/guild/hall/labels'), ['red']);
  t.strictSame(await names('/orgs/guild/labels'), ['blue']);
  const { labels } = (await bob('POST', '/repos/guild/hall/issues', { title: 'Paint', labels: ['blue', 'red'] })).json;
  t.match(
    labels.map(({ url }: Json) => url),
    [/\/api\/v1\/orgs\/guild\/labels\/\d+$/, /\/api\/v1\/repos\/guild\/hall\/labels\/\d+$/],
  );
  t.equal((await anonymous('GET', new URL(labels[0].url).pathname.replace('/api/v1', ''))).json.name, 'blue');
});

t.test('the OWNERs of an organisation are its team Owners; a member shows itself alone', async (t) => {
  const { web, alice, bob, carol, anonymous } = await openWorld(t);
  await bob('POST', '/orgs/guild/repos', { name: 'hall', private: false });
  const [owners] = (await bob('GET', '/orgs/guild/teams')).json;
  t.match(owners, { name: 'Owners', permission: 'owner', includes_all_repositories: true });
  const at = `/teams/${owners.id}`;
  t.strictSame((await bob('GET', at)).json, owners);
  t.strictSame((await bob('GET', '/repos/guild/hall/teams')).json, [owners]);
  t.equal((await bob('GET', '/repos/guild/hall/teams/owners')).json.id, owners.id);
  t.match((await bob('GET', `${at}/repos`)).json, [{ full_name: 'guild/hall' }]);
  const logins = async () => (await bob('GET', `${at}/members`)).json.map((one: Json) => one.login);
  t.strictSame(await logins(), ['bob']);
  for (const [method, path] of [
    ['GET', at],
    ['GET', `${at}/members`],
    ['PUT', `${at}/members/carol`],
  ] as const)
    t.equal((await carol(method, path)).status, 404, `${method} ${path} of somebody else`);
  t.equal((await bob('PUT', `${at}/members/carol`)).status, 204);
  t.strictSame(await logins(), ['bob', 'carol']);
  t.equal((await bob('PUT', `${at}/members/carol`)).status, 204, 'twice');

  t.equal((await carol('PUT', '/orgs/guild/public_members/bob')).status, 403);
  t.equal((await alice('PUT', '/orgs/guild/public_members/alice')).status, 404, 'no member');
  t.equal((await carol('PUT', '/orgs/guild/public_members/carol')).status, 204);
  t.match((await anonymous('GET', '/orgs/guild/public_members')).json, [{ login: 'carol' }]);
  t.strictSame((await anonymous('GET', '/orgs/guild/public_members')).json.length, 1);
  t.equal((await bob('GET', '/orgs/guild/public_members/carol')).status, 204);
  t.equal((await bob('GET', '/orgs/guild/public_members/bob')).status, 404);
  t.equal((await carol('DELETE', '/orgs/guild/public_members/carol')).status, 204);
  t.strictSame((await anonymous('GET', '/orgs/guild/public_members')).json, []);

  t.equal((await bob('DELETE', `${at}/members/carol`)).status, 204);
  t.strictSame(await logins(), ['bob']);
  t.equal((await bob('DELETE', `${at}/members/bob`)).status, 409, 'the last one');
  const { id } = await web.modules.organisations.find('guild');
  t.equal((await bob('GET', `/teams/${Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)}`)).status, 404);
});

t.test('the repositories of a team are paged by name, only those in which it has a role', async (t) => {
  const { bob, carol } = await openWorld(t);
  const { id } = (await bob('POST', '/orgs/guild/teams', { name: 'makers', permission: 'write', units: [] })).json;
  for (const name of ['hall', 'barn', 'shed', 'yard']) {
    await bob('POST', '/orgs/guild/repos', { name });
    if (name !== 'yard') await bob('PUT', `/teams/${id}/repos/guild/${name}`);
  }
  const namesOf = async (query: string) => {
    const { headers, json } = await bob('GET', `/teams/${id}/repos${query}`);
    return { link: headers['link'], total: headers['x-total-count'], names: json.map(({ name }: Json) => name) };
  };
  t.match(await namesOf(''), { total: '3', names: ['barn', 'hall', 'shed'] });
  t.match(await namesOf('?limit=2&page=1'), { link: /page=2>; rel="next"/, total: '3', names: ['barn', 'hall'] });
  t.match(await namesOf('?limit=2&page=2'), { total: '3', names: ['shed'] });
  t.strictSame((await namesOf('?limit=2&page=3')).names, []);
  t.equal((await carol('GET', `/teams/${id}/repos`)).status, 404, 'not of others');
});

t.test('a name comes back to who deleted the organisation, and to administrators', async (t) => {
  const { alice, bob, carol } = await openWorld(t);
  t.equal((await carol('DELETE', '/orgs/guild')).status, 404);
  t.equal((await bob('DELETE', '/orgs/guild')).status, 204);
  t.match(await carol('POST', '/orgs', { username: 'guild' }), {
    status: 409,
    json: { error: { code: 'handle_taken' } },
  });
  t.equal((await carol('GET', '/orgs/guild')).status, 404);
  t.equal((await bob('POST', '/orgs', { username: 'Guild' })).status, 201);
  t.equal((await alice('DELETE', '/orgs/guild')).status, 204, 'an administrator deletes what is empty');
  t.equal((await alice('POST', '/orgs', { username: 'guild' })).status, 409, 'in the name of its OWNER');
  t.equal((await bob('POST', '/orgs', { username: 'guild' })).status, 201);

  const account = { username: 'dave', password: 'correct horse battery', email: 'dave@example.org' };
  const made = await alice('POST', '/admin/users', account);
  t.equal(made.status, 201);
  t.equal((await alice('DELETE', '/admin/users/dave')).status, 204);
  t.equal((await bob('POST', '/orgs', { username: 'dave' })).status, 409, 'nobody else takes the name');
  const again = await alice('POST', '/admin/users', account);
  t.equal(again.status, 201);
  t.equal(again.json.id, made.json.id + 1, 'another account, counted on');
  await alice('POST', '/admin/users/dave/rename', { new_username: 'david' });
  t.equal((await alice('POST', '/admin/users', account)).status, 409, 'the former name of an account that is there');
  t.match((await alice('GET', '/users/Dave')).json, { login: 'david' }, 'a former name reads');
  t.equal((await alice('GET', '/users/dave/repos')).status, 200);
});

t.test('former names of an organisation work for every method', async (t) => {
  const { alice, bob } = await openWorld(t);
  t.equal((await alice('POST', '/orgs', { username: 'before' })).status, 201);
  t.equal((await alice('POST', '/orgs/before/rename', { new_name: 'after' })).status, 204);
  t.match((await alice('GET', '/orgs/before')).json, { username: 'after' });
  t.equal((await alice('PATCH', '/orgs/BEFORE', { description: 'Moved' })).status, 200);
  t.match((await alice('GET', '/orgs/after')).json, { description: 'Moved' });
  t.match((await alice('POST', '/orgs/before/repos', { name: 'site' })).json, { full_name: 'after/site' });
  t.equal((await bob('PATCH', '/orgs/before', { description: 'Taken' })).status, 404, 'with the same rights');
  t.equal((await alice('GET', '/orgs/none')).status, 404);
});

t.test('name and password sign every call, and a second factor or another name none', async (t) => {
  const { web, alice } = await openWorld(t);
  const account = { username: 'dave', password: 'correct horse battery', must_change_password: false };
  await alice('POST', '/admin/users', account);
  const dave = callerOf(web, basic('dave', account.password));
  const first = process.cpuUsage();
  t.equal((await dave('GET', '/user')).json.login, 'dave');
  const hashed = process.cpuUsage(first);
  const second = process.cpuUsage();
  for (let again = 0; again < 3; again++) t.equal((await dave('GET', '/user')).status, 200);
  const remembered = process.cpuUsage(second);
  t.ok(remembered.user + remembered.system < 3 * (hashed.user + hashed.system), 'no hash for each');
  t.equal((await dave('POST', '/user/repos', { name: 'own' })).status, 201);
  t.equal((await dave('GET', '/admin/users')).status, 403);
  t.equal((await dave('GET', '/user', undefined, { Sudo: 'alice' })).status, 403);
  for (const [name, password] of [
    ['dave', 'wrong horse battery'],
    ['nobody', account.password],
    ['alice', account.password],
    ['dave', 'hth_nothing'],
  ] as const)
    t.equal((await callerOf(web, basic(name, password))('GET', '/user')).status, 401, `${name} ${password}`);
  await alice('PATCH', '/admin/users/dave', { password: 'another horse battery' });
  t.equal((await dave('GET', '/user')).status, 401, 'a changed password is not remembered');
  const changed = callerOf(web, basic('dave', 'another horse battery'));
  t.equal((await changed('GET', '/user')).json.error?.code ?? 'signed in', 'signed in');
  await alice('PATCH', '/admin/users/dave', { prohibit_login: true });
  t.equal((await changed('GET', '/user')).status, 403);
});

t.test('every status that was reported is told, a warning as one', async (t) => {
  const { alice, bob, carol } = await openWorld(t);
  const { id: sha } = (await alice('GET', '/repos/alice/site/branches/main')).json.commit;
  const report = (call: typeof alice, state: string, context: string) =>
    call('POST', `/repos/alice/site/statuses/${sha}`, { state, context, target_url: '', description: state });
  t.equal((await report(carol, 'success', 'ci')).status, 404);
  t.equal((await report(bob, 'skipped', 'ci')).status, 422);
  for (const [state, context] of [
    ['pending', 'ci'],
    ['warning', 'lint'],
    ['success', 'ci'],
  ] as const)
    t.match(await report(bob, state, context), { status: 201, json: { status: state, creator: { login: 'bob' } } });
  const told = async (query = '') =>
    (await carol('GET', `/repos/alice/site/statuses/${sha}${query}`)).json.map(
      (one: Json) => `${one.context} ${one.status}`,
    );
  t.strictSame((await told()).sort(), ['ci pending', 'ci success', 'lint warning']);
  t.strictSame(await told('?state=warning'), ['lint warning']);
  t.strictSame(await told('?page=2&limit=2'), (await told('?page=1&limit=3')).slice(2));
  t.match((await carol('GET', `/repos/alice/site/commits/${sha}/status`)).json, {
    state: 'failure',
    total_count: 2,
    statuses: [{ context: 'ci' }, { context: 'lint', status: 'warning' }],
  });
  await report(bob, 'success', 'lint');
  t.equal((await carol('GET', `/repos/alice/site/commits/${sha}/status`)).json.state, 'success');
});

t.test('commits by the name of a bot, their texts, and what tags and branches answer', async (t) => {
  const { alice, bob, carol, anonymous } = await openWorld(t);
  const file = (name: string, more: object) =>
    bob('POST', `/repos/alice/site/contents/${name}`, {
      content: Buffer.from(`${name}\n`).toString('base64'),
      ...more,
    });
  const bot = { name: 'A bot', email: 'bot@example.org' };
  const { commit } = (await file('one', { message: 'Add one', committer: bot })).json;
  t.match(commit, { author: bot, committer: { name: 'bob' } });
  t.equal((await file('two', { message: 'Add two', committer: { name: 'A <bot' } })).status, 422);
  const diff = await anonymous('GET', `/repos/alice/site/git/commits/${commit.sha}.diff`);
  t.match(diff.body, /^diff --git a\/one b\/one\nnew file mode 100644\nindex 0000000\.\.[0-9a-f]{7}\n/);
  const patch = await anonymous('GET', `/repos/alice/site/git/commits/${commit.sha}.patch`);
  t.match(patch.body, /^From [0-9a-f]{40} .*\nFrom: A bot <bot@example.org>\n/);
  t.equal((await anonymous('GET', `/repos/alice/site/git/commits/${'0'.repeat(40)}.diff`)).status, 404);
  t.equal((await anonymous('GET', `/repos/alice/site/git/notes/${commit.sha}`)).status, 404);
  t.match(await anonymous('GET', '/repos/alice/site/raw/none'), { status: 404, json: { message: 'not found' } });

  const tag = (await bob('POST', '/repos/alice/site/tags', { tag_name: 'v1', message: 'One.\n\nYes.' })).json;
  t.match(tag, { message: 'One.\n\nYes.', zipball_url: /\/\/[^/]+\/alice\/site\/archive\/v1\.zip$/ });
  t.equal((await anonymous('GET', `/repos/alice/site/git/tags/${tag.id}`)).json.message, 'One.\n\nYes.\n');
  await bob('POST', '/repos/alice/site/branches', { new_branch_name: 'v1' });
  const shadowed = (await anonymous('GET', '/repos/alice/site/tags/v1')).json;
  t.match(shadowed.tarball_url, /\/archive\/refs\/tags\/v1\.tar\.gz$/, 'by its full name beside a branch');

  const before = (await alice('GET', '/repos/alice/site/branches/main')).json.commit.id;
  await bob('POST', '/repos/alice/site/branches', { new_branch_name: 'feature' });
  const { sha } = (await file('three', { message: 'Add three' })).json.commit;
  const move = { new_commit_id: sha, old_commit_id: before };
  t.equal((await bob('PUT', '/repos/alice/site/branches/feature', move)).status, 204);
  t.match(await bob('PUT', '/repos/alice/site/branches/feature', move), {
    status: 422,
    json: { error: { code: 'ref_moved' } },
  });
  t.equal((await carol('PUT', '/repos/alice/site/branches/feature', move)).status, 404);
  await bob('POST', '/orgs/guild/repos', { name: 'site' });
  await bob('POST', '/user/repos', { name: 'site' });
  t.equal((await bob('POST', '/repos/bob/site/transfer', { new_owner: 'guild' })).status, 422);
});

t.test('the rule that nobody made is not listed, until it is changed', async (t) => {
  const { alice } = await openWorld(t);
  const at = '/repos/alice/site/branch_protections';
  const names = async () => (await alice('GET', at)).json.map((one: Json) => one.rule_name);
  t.strictSame(await names(), []);
  t.equal((await alice('GET', `${at}/~DEFAULT_BRANCH`)).json.enable_force_push, false);
  t.equal((await alice('POST', at, { rule_name: 'release/*' })).status, 201);
  t.strictSame(await names(), ['release/*']);
  t.equal((await alice('PATCH', `${at}/~DEFAULT_BRANCH`, { required_approvals: 1 })).status, 200);
  t.strictSame((await names()).sort(), ['release/*', '~DEFAULT_BRANCH']);
});

t.test('reviews: a text that waits, one taken back, an answer to a comment, and threads by number', async (t) => {
  const { alice, bob, carol } = await openWorld(t);
  const content = Buffer.from('one\ntwo\nthree\n').toString('base64');
  await bob('POST', '/repos/alice/site/contents/new', { content, message: 'Add', branch: 'main', new_branch: 'topic' });
  const opened = await bob('POST', '/repos/alice/site/pulls', { head: 'topic', base: 'main', title: 'New' });
  t.match(opened, { status: 201, json: { number: 1, mergeable: true } });
  const at = '/repos/alice/site/pulls/1';
  const pending = await alice('POST', `${at}/reviews`, { body: 'Later.' });
  t.match(pending, { status: 200, json: { state: 'PENDING', body: 'Later.' } });
  t.equal((await bob('GET', `${at}/reviews`)).json.length, 0, 'others see no draft');
  const more = await alice('POST', `${at}/reviews`, { comments: [{ path: 'new', new_position: 1, body: 'Why?' }] });
  t.equal(more.json.id, pending.json.id);
  const review = `${at}/reviews/${pending.json.id}`;
  t.match((await alice('POST', review, { event: 'COMMENT' })).json, { body: 'Later.', comments_count: 1 });

  const [comment] = (await bob('GET', `${review}/comments`)).json;
  const answer = await bob('POST', `${at}/comments/${comment.id}/replies`, { body: 'Because.' });
  t.match(answer, { status: 201, json: { body: 'Because.', pull_request_review_id: pending.json.id } });
  t.strictSame(
    (await carol('GET', `${review}/comments`)).json.map(({ body }: Json) => body),
    ['Why?', 'Because.'],
  );
  await alice('POST', '/user/repos', { name: 'cellar', auto_init: true });
  for (const [call, path, status] of [
    [bob, `/repos/alice/cellar/pulls/comments/${comment.id}/resolve`, 404],
    [alice, `/repos/alice/cellar/pulls/comments/${comment.id}/resolve`, 404],
    [alice, '/repos/alice/site/pulls/comments/1/resolve', 404],
    [carol, `/repos/alice/site/pulls/comments/${comment.id}/resolve`, 403],
    [bob, `/repos/alice/site/pulls/comments/${comment.id}/resolve`, 204],
  ] as const)
    t.equal((await call('POST', path)).status, status, path);
  t.equal((await bob('GET', `${review}/comments`)).json[0].resolver.login, 'bob');
  t.equal((await bob('POST', `/repos/alice/site/pulls/comments/${comment.id}/unresolve`)).status, 204);
  t.equal((await bob('GET', `${review}/comments`)).json[0].resolver, null);

  const said = (await carol('POST', `${at}/reviews`, { event: 'COMMENT', body: 'Hm.' })).json;
  t.equal((await bob('DELETE', `${at}/reviews/${said.id}`)).status, 403, 'of somebody else');
  t.equal((await carol('DELETE', `${at}/reviews/${said.id}`)).status, 204);
  t.equal((await carol('GET', `${at}/reviews/${said.id}`)).status, 404);
  t.equal((await bob('POST', `${at}/requested_reviewers`, { reviewers: ['carol'] })).status, 201);
  t.match((await bob('GET', `${at}/reviews`)).json.at(-1), { state: 'REQUEST_REVIEW', user: { login: 'carol' } });
  t.equal((await carol('DELETE', `${at}/requested_reviewers`, { reviewers: ['alice', 'carol'] })).status, 403);
  t.equal((await carol('DELETE', `${at}/requested_reviewers`, { reviewers: ['carol'] })).status, 204);
  t.strictSame(
    (await bob('GET', `${at}/reviews`)).json.map(({ user, comments_count: comments }: Json) => [user.login, comments]),
    [
      ['alice', 1],
      ['bob', 1],
    ],
  );
});

t.test('administrators: tasks, addresses of all accounts, and users by their address', async (t) => {
  const { alice, bob } = await openWorld(t);
  await alice('POST', '/admin/users', { username: 'dave', password: 'correct horse battery', email: 'd@example.org' });
  await alice('POST', '/admin/users', { username: 'erin', password: 'correct horse battery', email: 'e@example.com' });
  t.match((await alice('GET', '/admin/emails')).json, [
    { email: 'd@example.org', username: 'dave' },
    { email: 'e@example.com', username: 'erin' },
  ]);
  t.match((await alice('GET', '/admin/emails/search?q=EXAMPLE.com')).json, [{ email: 'e@example.com' }]);
  t.equal((await bob('GET', '/admin/emails')).status, 403);
  const found = async (call: typeof alice, q: string) =>
    (await call('GET', `/users/search?q=${q}`)).json.data.map((one: Json) => one.login);
  t.strictSame([await found(alice, 'example.org'), await found(bob, 'example.org')], [['dave'], []]);
  t.equal((await alice('POST', '/admin/cron/none')).status, 404);
  t.equal((await bob('POST', '/admin/cron/none')).status, 403);
});

t.test('time that is spent on issues: by those who may write, seen by all of them, and stopwatches', async (t) => {
  const { web, alice, bob, carol, anonymous, tokenOf } = await openWorld(t);
  await alice('POST', '/user/repos', { name: 'cellar', auto_init: true });
  for (const name of ['site', 'cellar'])
    for (const title of ['One', 'Two']) await alice('POST', `/repos/alice/${name}/issues`, { title });
  const at = '/repos/alice/site/issues/1/times';
  const spent = await bob('POST', at, { time: 90 });
  t.match(spent, { status: 200, json: { time: 90, user_name: 'bob', issue: { number: 1, title: 'One' } } });
  t.match((await alice('POST', at, { time: 30, user_name: 'bob', created: '2026-01-01T00:00:00Z' })).json, {
    user_name: 'bob',
    created: '2026-01-01T00:00:00Z',
  });
  t.equal((await bob('POST', at, { time: 30, user_name: 'alice' })).status, 403, 'for somebody else');
  await alice('POST', '/repos/alice/site/issues/2/times', { time: 5 });
  await alice('POST', '/repos/alice/cellar/issues/1/times', { time: 7 });
  for (const [call, status] of [
    [carol, 403],
    [anonymous, 401],
    [await tokenOf('bob', 'read'), 403],
  ] as const)
    t.equal((await call('POST', at, { time: 1 })).status, status);
  for (const time of [0, -1, 1.5, 40_000_000]) t.equal((await bob('POST', at, { time })).status, 422, String(time));
  const times = async (call: typeof alice, path: string) =>
    (await call('GET', path)).json.map((one: Json) => `${one.user_name} ${one.time}`);
  t.strictSame(await times(bob, at), ['bob 90', 'bob 30']);
  t.strictSame(await times(alice, '/repos/alice/site/times'), ['bob 90', 'bob 30', 'alice 5']);
  t.strictSame(await times(alice, '/repos/alice/site/times/alice'), ['alice 5']);
  t.strictSame(await times(alice, `${at}?before=2026-01-01T00:00:01Z`), ['bob 30']);
  t.strictSame(await times(carol, '/repos/alice/site/times'), [], 'a reader sees their own');
  t.strictSame(await times(alice, '/user/times'), ['alice 5', 'alice 7']);
  t.strictSame(await times(bob, '/user/times'), ['bob 90', 'bob 30']);
  t.equal((await bob('GET', '/repos/alice/cellar/times')).status, 404);
  const archive = (archived: boolean) => alice('PATCH', '/repos/alice/site', { archived });
  t.equal((await archive(true)).status, 200);
  t.strictSame(await times(alice, '/repos/alice/site/times'), ['bob 90', 'bob 30', 'alice 5'], 'an archive shows all');
  t.strictSame(await times(alice, at), ['bob 90', 'bob 30']);
  t.strictSame(await times(carol, '/repos/alice/site/times'), []);
  t.equal((await alice('POST', at, { time: 5 })).status, 403, 'and takes no more');
  t.equal((await archive(false)).status, 200);
  const second = (await alice('GET', '/repos/alice/site/issues/2/times')).json[0].id;
  t.equal((await bob('DELETE', `/repos/alice/site/issues/2/times/${second}`)).status, 403, 'of somebody else');
  t.equal((await alice('DELETE', `${at}/${second}`)).status, 404, 'of another issue');
  t.equal((await alice('DELETE', `/repos/alice/site/issues/2/times/${second}`)).status, 204);
  t.equal((await bob('DELETE', at)).status, 204);
  t.equal((await bob('DELETE', at)).status, 404);
  t.strictSame(await times(alice, '/repos/alice/site/times'), []);

  const watch = (call: typeof alice, issue: string, act: string, method = 'POST') =>
    call(method, `/repos/alice/${issue}/stopwatch/${act}`);
  t.equal((await watch(carol, 'site/issues/1', 'start')).status, 403);
  t.equal((await watch(bob, 'site/issues/1', 'stop')).status, 409);
  t.equal((await watch(bob, 'site/issues/1', 'start')).status, 201);
  t.equal((await watch(bob, 'site/issues/1', 'start')).status, 409, 'it runs already');
  t.strictSame((await alice('GET', '/user/stopwatches')).json, [], 'of somebody else');
  web.clock.advance(65_000);
  t.match((await bob('GET', '/user/stopwatches')).json, [
    { seconds: 65, duration: '0h1m5s', issue_index: 1, repo_owner_name: 'alice', repo_name: 'site' },
  ]);
  t.equal((await watch(bob, 'site/issues/2', 'start')).status, 201);
  t.strictSame(await times(bob, '/user/times'), ['bob 65'], 'the first one was stopped');
  t.equal((await watch(bob, 'site/issues/2', 'delete', 'DELETE')).status, 204);
  t.strictSame([await times(bob, '/user/times'), (await bob('GET', '/user/stopwatches')).json], [['bob 65'], []]);

  t.match(await bob('POST', '/repos/alice/site/issues/1/deadline', { due_date: '2026-12-24T00:00:00Z' }), {
    status: 201,
    json: { due_date: '2026-12-24T23:59:59Z' },
  });
  t.equal((await carol('POST', '/repos/alice/site/issues/1/deadline', { due_date: null })).status, 403);
  t.equal((await bob('POST', '/repos/alice/site/issues/1/deadline', { due_date: null })).json.due_date, null);
});

t.test(
  'what tea sends for nothing: one empty name for nobody, and the first second of the year 1 for no time',
  async (t) => {
    const { web, alice, bob } = await openWorld(t);
    await bob('PUT', '/repos/alice/site/contents/x', { content: 'eA==', message: 'x', new_branch: 'more' });
    const unset = { assignee: '', assignees: [''] };
    const made = await bob('POST', '/repos/alice/site/issues', { title: 'One', ...unset });
    t.match(made, { status: 201, json: { assignees: { length: 0 } } });
    const pull = await bob('POST', '/repos/alice/site/pulls', { title: 'More', head: 'more', base: 'main', ...unset });
    t.match(pull, { status: 201, json: { assignees: { length: 0 } } });
    const named = await bob('PATCH', '/repos/alice/site/issues/1', { assignees: ['', 'bob'] });
    t.same(
      named.json.assignees.map((one: Json) => one.login),
      ['bob'],
    );
    t.match(await bob('PATCH', '/repos/alice/site/issues/1', { assignees: [''] }), {
      json: { assignees: { length: 0 } },
    });

    const spent = await bob('POST', '/repos/alice/site/issues/1/times', { time: 60, created: '0001-01-01T00:00:00Z' });
    t.equal(spent.json.created, new Date(web.clock.now()).toISOString().replace(/\.\d+/, ''));
    for (const query of ['since=2020-01-01T00:00:00Z', 'since=0001-01-01T00:00:00Z', 'before=0001-01-01T00:00:00Z'])
      t.equal((await alice('GET', `/repos/alice/site/times?${query}`)).json.length, 1, query);
  },
);

t.test('several files at once, and a file or a folder whichever it is', async (t) => {
  const { alice, bob, anonymous } = await openWorld(t);
  await alice('POST', '/user/repos', { name: 'cellar', auto_init: true });
  const at = '/repos/alice/site';
  const asked = { files: ['README.md', 'none', '/README.md/'] };
  const [first, none, same] = (await anonymous('POST', `${at}/file-contents`, asked)).json;
  t.match(first, { path: 'README.md', encoding: 'base64', content: Buffer.from('# site').toString('base64') });
  t.strictSame([none, same], [null, first]);
  const body = encodeURIComponent(JSON.stringify(asked));
  t.strictSame((await anonymous('GET', `${at}/file-contents?body=${body}&ref=main`)).json, [first, none, same]);
  t.equal((await bob('GET', `/repos/alice/cellar/file-contents?body=${body}`)).status, 404);
  for (const wrong of ['x', '[]', '{"files":"README.md"}', JSON.stringify({ files: Array(51).fill('x') })])
    t.equal((await anonymous('GET', `${at}/file-contents?body=${encodeURIComponent(wrong)}`)).status, 422, wrong);
  t.match((await anonymous('GET', `${at}/contents-ext/README.md`)).json, {
    file_contents: { path: 'README.md', encoding: 'base64' },
    dir_contents: null,
  });
  const content = Buffer.from('x\n').toString('base64');
  await alice('POST', `${at}/contents/src/one`, { content });
  t.match((await anonymous('GET', `${at}/contents-ext/src`)).json, {
    file_contents: null,
    dir_contents: [{ path: 'src/one' }],
  });
  t.equal((await anonymous('GET', `${at}/contents-ext/none`)).status, 404);
});

t.test('files of comments, and other names for them', async (t) => {
  const { web, bob, carol, anonymous, tokenOf } = await openWorld(t);
  await carol('POST', '/repos/alice/site/issues', { title: 'One' });
  const { id } = (await carol('POST', '/repos/alice/site/issues/1/comments', { body: 'Look:' })).json;
  await bob('POST', '/repos/alice/site/issues/1/comments', { body: 'Mine' });
  const at = `/repos/alice/site/issues/comments/${id}/assets`;
  const { accounts } = web.modules;
  const upload = async (username: string) => {
    const { id: personId } = await accounts.personByUsername(username);
    const token = { name: `up ${Math.random()}`, access: 'admin' as const, repositoryIds: null, expiresAt: null };
    const { secret } = await accounts.addToken(personId, token);
    const { type, body } = encodeMultipart([
      { name: 'attachment', bytes: 'words', fileName: 'a.txt', type: 'text/plain' },
    ]);
    return sendRequest(web, `/api/v1${at}?name=notes.txt`, {
      method: 'POST',
      headers: { Authorization: `token ${secret}`, 'Content-Type': type },
      body,
    });
  };
  t.equal((await upload('bob')).status, 403, 'the text of somebody else');
  const added = await upload('carol');
  t.equal(added.status, 201);
  const asset = JSON.parse(added.body) as Json;
  t.match(asset, { name: 'notes.txt', size: 5 });
  t.equal((await anonymous('GET', at)).json.length, 1);
  t.strictSame((await anonymous('GET', `${at}/${asset.id}`)).json, asset);
  t.equal((await anonymous('GET', `/repos/alice/site/issues/1/assets/${asset.id}`)).status, 404, 'of the comment');
  t.match((await carol('GET', `/repos/alice/site/issues/comments/${id}`)).json.body, /^Look:\n\n\[notes.txt\]/);
  const dave = await tokenOf('dave');
  for (const [call, status] of [
    [dave, 403],
    [anonymous, 401],
    [carol, 201],
  ] as const)
    t.equal((await call('PATCH', `${at}/${asset.id}`, { name: '../other.txt' })).status, status);
  t.equal((await anonymous('GET', `${at}/${asset.id}`)).json.name, 'other.txt');
  t.equal((await dave('DELETE', `${at}/${asset.id}`)).status, 403);
  t.equal((await carol('DELETE', `${at}/${asset.id}`)).status, 204);
  t.equal((await anonymous('GET', `${at}/${asset.id}`)).status, 404);
});

/** What the plugin of Jenkins asks for (77eb7dc of 2026-03-01), in its order, and all that it reads of the answers. */
t.test('Jenkins: owners, heads, files, hooks and statuses as its plugin asks for them', async (t) => {
  const { web, alice, bob, anonymous } = await openWorld(t);
  const site = '/repos/alice/site';
  for (const name of ['topic/oil', 'ci']) await alice('POST', `${site}/branches`, { new_branch_name: name });
  const put = (path: string, text: string, branch: string) =>
    alice('POST', `${site}/contents/${path}`, {
      content: Buffer.from(text).toString('base64'),
      branch,
      message: 'Add',
    });
  await put('ci/Jenkinsfile', 'of main', 'main');
  await put('ci/Jenkinsfile', 'of topic', 'topic/oil');
  await put('one.txt', 'one', 'topic/oil');
  await alice('POST', `${site}/pulls`, { title: 'Oil', head: 'topic/oil', base: 'main' });
  await alice('POST', `${site}/tags`, { tag_name: 'v1', target: 'main', message: 'First' });
  await alice('POST', `${site}/releases`, { tag_name: 'v1', name: 'First', prerelease: true });
  await alice('POST', `${site}/releases`, { tag_name: 'v2', name: 'Second', draft: true });

  await t.test('an owner: an organisation has no address, a user with a public one has it', async (t) => {
    const { id } = await web.modules.accounts.personByUsername('alice');
    await web.modules.accounts.addresses.add(id, { address: 'alice@example.org', isVerified: true });
    await alice('PATCH', '/user/settings', { hide_email: false });
    t.match((await bob('GET', '/orgs/alice')).status, 404, 'first asked for as an organisation');
    for (const caller of [bob, anonymous]) {
      const person = (await caller('GET', '/users/alice')).json;
      t.match(person, { login: 'alice', username: 'alice', email: 'alice@example.org', avatar_url: /^http/ });
      const guild = await caller('GET', '/users/guild');
      t.match(guild, { status: 200, json: { login: 'guild', username: 'guild', email: '', is_admin: false } });
      t.equal(guild.json.id, (await caller('GET', '/orgs/guild')).json.id);
    }
    t.match(await bob('GET', '/users/none'), { status: 404, json: { error: { code: 'unknown_person' } } });
  });

  await t.test('the next page is the first of the links, which its pattern takes whole', async (t) => {
    const pattern = /<(.*)>;\s*rel="next"/;
    for (const path of [`${site}/branches`, '/users/alice/repos', `${site}/tags`, `${site}/releases`])
      for (let [at, pages] = [`${web.origin}/api/v1${path}?limit=1`, 0]; ; pages += 1) {
        const { headers, status } = await alice('GET', at.slice(`${web.origin}/api/v1`.length));
        t.equal(status, 200, at);
        const next = pattern.exec(String(headers['link'] ?? ''))?.[1];
        if (next === undefined || pages === 9) {
          t.ok(pages < 9, `${path} ends`);
          break;
        }
        at = next;
      }
  });

  await t.test('branches, tags, commits and pull requests', async (t) => {
    const branches = (await alice('GET', `${site}/branches`)).json;
    t.strictSame(branches.map(({ name }: Json) => name).sort(), ['ci', 'main', 'topic/oil']);
    for (const { commit } of branches)
      t.match(commit, { id: /^[0-9a-f]{40}$/, message: String, timestamp: /^\d{4}-.*(Z|[+-]\d\d:\d\d)$/ });
    t.match((await alice('GET', `${site}/branches/topic/oil`)).json, { name: 'topic/oil', commit: { id: String } });
    const [tag] = (await alice('GET', `${site}/tags`)).json;
    t.match(tag, { name: 'v1', id: /^[0-9a-f]{40}$/, commit: { sha: /^[0-9a-f]{40}$/ } });
    t.match((await alice('GET', `${site}/git/tags/${tag.id}`)).json, {
      tag: 'v1',
      tagger: { date: /^\d{4}-/ },
      object: { type: 'commit', sha: tag.commit.sha },
    });
    t.match((await alice('GET', `${site}/git/commits/${tag.commit.sha}`)).json, {
      sha: tag.commit.sha,
      commit: { author: { date: /^\d{4}-/ }, committer: { date: /^\d{4}-/ } },
    });
    const repo = { full_name: 'alice/site', owner: { username: 'alice' }, clone_url: String };
    const pull = {
      number: 1,
      state: 'open',
      head: { ref: 'topic/oil', repo },
      base: { ref: 'main', sha: String, repo },
    };
    for (const state of ['?state=open', '?state='])
      t.match((await alice('GET', `${site}/pulls${state}`)).json, { length: 1, 0: pull });
    t.match((await alice('GET', `${site}/pulls/1`)).json, pull);
    for (const [query, tags] of [
      ['?draft=false&pre-release=false', []],
      ['?draft=false', ['v1']],
    ] as const) {
      const releases = (await alice('GET', `${site}/releases${query}`)).json;
      t.strictSame(
        releases.map(({ tag_name }: Json) => tag_name),
        tags,
        query,
      );
    }
  });

  await t.test('files at raw/REF/PATH', async (t) => {
    const { id } = (await alice('GET', `${site}/branches/main`)).json.commit;
    for (const [path, text] of [
      ['main/ci/Jenkinsfile', 'of main'],
      ['topic/oil/ci/Jenkinsfile', 'of topic'],
      ['v1/ci/Jenkinsfile', 'of main'],
      [`${id}/ci/Jenkinsfile`, 'of main'],
      ['ci/Jenkinsfile', 'of main'],
      ['ci/README.md', '# site'],
    ] as const)
      for (const kind of ['raw', 'media']) {
        const { status, body } = await alice('GET', `${site}/${kind}/${path}`);
        t.match({ status, body }, { status: 200, body: new RegExp(`^${text}`) }, `${kind}/${path}`);
      }
    t.equal((await alice('GET', `${site}/raw/topic/oil/ci/Jenkinsfile?ref=main`)).status, 404, 'a ref is the only one');
    for (const path of ['main/none', 'none/ci/Jenkinsfile', 'topic/oil', 'main', `${'0'.repeat(40)}/ci/Jenkinsfile`])
      t.equal((await alice('GET', `${site}/raw/${path}`)).status, 404, path);
  });

  await t.test('a hook and a status with null for what it leaves out', async (t) => {
    const events = ['create', 'delete', 'pull_request', 'push', 'release', 'repository'];
    const none = { color: null, channel: null, icon_url: null, username: null };
    const url = 'https://jenkins.example.org/gitea-webhook/post';
    const asked = { type: 'gitea', config: { ...none, content_type: 'json', url }, events, active: true };
    for (const [caller, path] of [
      [alice, `${site}/hooks`],
      [bob, '/orgs/guild/hooks'],
    ] as const) {
      t.equal((await caller('POST', path, { id: 0, ...asked, created_at: null, updated_at: null })).status, 201, path);
      const [hook] = (await caller('GET', path)).json;
      t.match(hook, { type: 'gitea', active: true, config: { url, content_type: 'json' } });
      for (const event of events.filter((name) => name !== 'repository')) t.ok(hook.events.includes(event), event);
      t.equal((await caller('DELETE', `${path}/${hook.id}`)).status, 204);
    }
    const { id } = (await alice('GET', `${site}/branches/main`)).json.commit;
    const status = {
      ...{ id: 0, url: null, creator: null, created_at: null, updated_at: null, status: 'pending', state: 'pending' },
      ...{ context: 'alice/site/pipeline/head', description: 'Runs', target_url: 'https://jenkins.example.org/1' },
    };
    t.match(await alice('POST', `${site}/statuses/${id}`, status), {
      status: 201,
      json: { status: 'pending', context: status.context, target_url: status.target_url },
    });
    t.match((await alice('GET', `${site}/statuses/${id}`)).json, { length: 1, 0: { description: 'Runs' } });
  });
});
