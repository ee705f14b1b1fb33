import t from 'tap';
import { z } from 'zod';
import { operations } from '../../src/http-api/v1/operations.ts';
import { fillRepository, sendRequest, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

t.setTimeout(240_000);

type Json = { [name: string]: unknown };

function caller(web: Web, token: string | null) {
  return async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const response = await sendRequest(web, `/api/v1${path}`, {
      method,
      headers: {
        ...(token !== null && { Authorization: `token ${token}` }),
        ...(text !== undefined && {
          'Content-Type': 'application/json',
          'Content-Length': String(Buffer.byteLength(text)),
        }),
        ...headers,
      },
      ...(text !== undefined && { body: text }),
    });
    const isJson = /json/.test(String(response.headers['content-type'] ?? ''));
    return { ...response, json: (isJson && response.body !== '' ? JSON.parse(response.body) : null) as Json };
  };
}

/** alice has the public repositories site and shop, the private cellar and the organisation guild; bob writes site. */
async function openWorld(t: Owner) {
  const web = await startWeb(t);
  const { accounts } = web.modules;
  const tokenOf = async (username: string, access: 'read' | 'write' | 'admin' = 'admin', isAdministrator = false) => {
    const person = await accounts
      .personByUsername(username)
      .catch(() => accounts.addPerson({ username, displayName: username.toUpperCase(), isAdministrator }));
    const token = { name: `${access} ${Math.random()}`, access, repositoryIds: null, expiresAt: null };
    return caller(web, (await accounts.addToken(person.id, token)).secret);
  };
  const alice = await tokenOf('alice', 'admin', true);
  const bob = await tokenOf('bob');
  for (const name of ['site', 'shop']) await alice('POST', '/user/repos', { name, private: false });
  await alice('POST', '/user/repos', { name: 'cellar' });
  for (const name of ['guild', 'harbour']) await alice('POST', '/orgs', { username: name, full_name: name });
  await alice('POST', '/orgs/guild/repos', { name: 'hall', private: false });
  await alice('POST', '/repos/alice/site/collaborators', { username: 'bob', role: 'write' });
  return { web, alice, bob, anonymous: caller(web, null), tokenOf };
}

t.test('a repository, its owner and the caller’s rights have one form wherever they are', async (t) => {
  const { alice, bob, anonymous } = await openWorld(t);
  const shown = (await alice('GET', '/repos/alice/site')).json;
  t.match(shown, {
    full_name: 'alice/site',
    owner: { login: 'alice', visibility: 'public', full_name: 'ALICE' },
    private: false,
    empty: true,
    has_issues: true,
    permissions: { admin: true, push: true, pull: true },
    default_branch: 'main',
    html_url: /\/repos\/alice\/site$/,
    url: /\/api\/v1\/repos\/alice\/site$/,
  });
  t.match((await bob('GET', '/repos/alice/site')).json, { permissions: { admin: false, push: true, pull: true } });
  t.match((await anonymous('GET', '/repos/alice/site')).json, {
    permissions: { admin: false, push: false, pull: true },
  });
  t.match((await alice('GET', '/repos/guild/hall')).json, { owner: { login: 'guild', full_name: 'guild' } });
  const lists: [path: string, of: (json: never) => unknown][] = [
    ['/repos?name=site', (json) => json],
    ['/users/alice/repos', (json) => json],
    ['/user/repos', (json) => json],
    ['/repos/search?q=site', (json: { data: unknown }) => json.data],
  ];
  for (const [path, of] of lists) {
    const rows = of((await alice('GET', path)).json as never) as Json[];
    t.strictSame(
      rows.find(({ full_name }) => full_name === 'alice/site'),
      shown,
      path,
    );
  }
  t.strictSame((await alice('GET', `/repositories/${shown['id'] as number}`)).json, shown);
  const cellar = (await alice('GET', '/repos/alice/cellar')).json;
  t.match(cellar, { private: true });
  t.equal((await bob('GET', `/repositories/${cellar['id'] as number}`)).status, 404, 'a private one of somebody else');
  t.strictSame(
    ((await bob('GET', '/user/repos')).json as unknown as Json[]).map(({ full_name }) => full_name),
    ['alice/site'],
    'own ones and shared ones, and not what everybody sees',
  );
  t.strictSame(
    ((await anonymous('GET', '/users/alice/repos')).json as unknown as Json[]).map(({ name }) => name),
    ['shop', 'site'],
  );
});

t.test('the form of before is there for those who name it, and no cache takes one for the other', async (t) => {
  const { web, alice } = await openWorld(t);
  const older = await alice('GET', '/repos/alice/site', undefined, { Accept: 'application/vnd.hearth.v0+json' });
  t.match(older.headers, { 'content-type': /^application\/vnd\.hearth\.v0\+json/, vary: /Accept/ });
  t.match(older.json, { owner: 'alice', url: `${web.origin}/repos/alice/site`, parent: null, visibility: 'PUBLIC' });
  const newer = await alice('GET', '/repos/alice/site', undefined, { 'If-None-Match': older.headers.etag! });
  t.equal(newer.status, 200, 'each form has its own ETag');
  t.match(newer.headers, { vary: /Accept/ });
});

t.test('every list takes page and limit, and ends', async (t) => {
  const { web, alice } = await openWorld(t);
  const { repositories, accounts } = web.modules;
  const { id } = await accounts.personByUsername('alice');
  const viewer = {
    kind: 'person',
    id,
    username: 'alice',
    isAdministrator: true,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  } as const;
  const { path } = await repositories.find(viewer, 'alice', 'site');
  await fillRepository(t, path, { 'README.md': '# Site\n', 'src/one.txt': 'one\n' });
  await alice('POST', '/repos/alice/site/issues', { title: 'The gate squeaks' });
  await alice('POST', '/repos/alice/site/issues/1/comments', { body: 'It does.' });
  await alice('POST', '/repos/alice/site/labels', { name: 'wet', color: '#00f' });
  const values: Record<string, string> = {
    owner: 'alice',
    name: 'site',
    org: 'guild',
    username: 'alice',
    number: '1',
    commit: 'main',
    filepath: 'src',
    id: String((await alice('GET', '/repos/alice/site')).json['id']),
  };
  const lists = operations.filter(({ method, response }) => method === 'GET' && response instanceof z.ZodArray);
  t.ok(lists.length > 60, `${lists.length} lists`);
  let answered = 0;
  for (const { path: template, id: name } of lists) {
    const at = template.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => values[parameter] ?? 'none');
    const ask = (query: string) => alice('GET', `${at}?${query}`);
    const first = await ask('page=1&limit=1');
    if (first.status !== 200) continue;
    answered++;
    const rows = first.json as unknown as unknown[];
    t.ok(rows.length <= 1, `${name} has at most one row`);
    const beyond = await ask('page=50&limit=1');
    t.strictSame([beyond.status, beyond.json], [200, []], `${name} ends`);
    t.equal((await ask('page=1000000000&limit=30')).body, '[]', `${name} ends far beyond its end`);
    const whole = await ask('page=1&limit=100');
    for (const query of ['page=0&limit=1000000000', 'page=-1&limit=all']) {
      const { status, json, headers } = await ask(query);
      t.strictSame([status, json], [200, whole.json], `${name} takes ${query} for the default`);
      const total = String((whole.json as unknown as unknown[]).length);
      t.equal(headers['x-total-count'], total, `${name} counts its rows at ${query}`);
    }
  }
  t.ok(answered > 40, `${answered} answered`);
});

t.test('a page by its number is where the links lead to, and costs what the first one costs', async (t) => {
  const { web, alice } = await openWorld(t);
  const count = 47;
  for (let at = 0; at < count; at += 1) {
    await alice('POST', '/repos/alice/site/issues', { title: `Issue ${at}` });
    if (at % 3 === 0) await alice('PATCH', `/repos/alice/site/issues/${at + 1}`, { state: 'closed' });
  }
  const { path } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'site');
  await fillRepository(t, path, { 'README.md': '# Site\n' });
  for (const name of ['zoë', 'a/b', 'a-b', 'a', 'b', 'c', 'd', 'e', 'f', 'Z', '日本', 'm']) {
    await alice('POST', '/repos/alice/site/branches', { new_branch_name: name });
    await alice('POST', '/repos/alice/site/tags', { tag_name: name });
  }
  for (let at = 0; at < 12; at += 1) await alice('POST', '/user/repos', { name: `shed-${at}` });
  const read = web.modules.db.read.query.bind(web.modules.db.read);
  let statements = 0;
  web.modules.db.read.query = ((...given: Parameters<typeof read>) => {
    statements += 1;
    return read(...given);
  }) as typeof web.modules.db.read.query;
  const lists = [
    ...['newest', 'oldest', 'updated', 'comments'].flatMap((sort) =>
      ['open', 'closed', 'all'].map((state) => `/repos/alice/site/issues?sort=${sort}&state=${state}`),
    ),
    '/repos/alice/site/issues?state=all&q=Issue',
    '/repos/issues/search?state=all',
    '/repos/alice/site/issues?state=all&since=2000-01-01T00:00:00Z',
    '/repos/alice/site/branches?',
    '/repos/alice/site/tags?',
    '/repos?sort=name',
    '/user/repos?',
  ];
  for (const list of lists) {
    const whole: unknown[] = [];
    const walked: unknown[] = [];
    const costs: number[] = [];
    const limit = 5;
    for (let at = `${list}&limit=${limit}`; at !== ''; ) {
      const { json, headers } = await alice('GET', at);
      walked.push(...(json as unknown as { id: unknown }[]).map(({ id }) => id));
      at = /<[^>]*?\/api\/v1([^>]+)>; rel="next"/.exec(String(headers['link'] ?? ''))?.[1] ?? '';
    }
    for (let page = 1; ; page += 1) {
      statements = 0;
      const { json, status } = await alice('GET', `${list}&limit=${limit}&page=${page}`);
      costs.push(statements);
      t.equal(status, 200);
      const rows = json as unknown as { id: unknown }[];
      if (rows.length === 0) break;
      whole.push(...rows.map(({ id }) => id));
    }
    t.ok(whole.length > 2 * limit, `${list} has ${whole.length}`);
    t.strictSame(whole, walked, list);
    t.ok(costs.at(-3)! <= costs[0]!, `${list}: statements of its pages: ${costs.join(', ')}`);
  }
});

t.test(
  'the API is below the address of git, too, where a client cuts owner and name off that of a clone',
  async (t) => {
    const { web, alice } = await openWorld(t);
    const there = await sendRequest(web, '/git/api/v1/repos/alice/site', {});
    t.equal(there.status, 200);
    t.equal(JSON.parse(there.body).full_name, 'alice/site');
    const hidden = await sendRequest(web, '/git/api/v1/repos/alice/cellar', {});
    const absent = await sendRequest(web, '/git/api/v1/repos/alice/absent', {});
    t.match(
      [hidden.status, absent.status, JSON.parse(hidden.body).message],
      [404, 404, JSON.parse(absent.body).message],
    );
    t.equal((await alice('GET', '/repos/alice/cellar')).status, 200);
    t.equal((await sendRequest(web, '/git/api/v1x/version', {})).status, 404);
  },
);

t.test('a status without a context, or with an empty one, is the default one', async (t) => {
  const { alice } = await openWorld(t);
  await alice('POST', '/user/repos', { name: 'built', auto_init: true });
  const { sha } = ((await alice('GET', '/repos/alice/built/commits')).json as unknown as { sha: string }[])[0]!;
  for (const body of [{ state: 'pending' }, { state: 'success', context: '' }])
    t.match(await alice('POST', `/repos/alice/built/statuses/${sha}`, body), {
      status: 201,
      json: { context: 'default' },
    });
  const { json } = await alice('GET', `/repos/alice/built/commits/${sha}/status`);
  t.match(json, { total_count: 1, state: 'success' });
});

t.test('Link has first, prev, next and last where pages are counted, and X-Total-Count', async (t) => {
  const { alice } = await openWorld(t);
  const answer = await alice('GET', '/orgs?page=1&limit=1');
  t.match(String(answer.headers['link']), /page=2>?[^,]*rel="next"/);
  const last = await alice('GET', '/orgs?page=2&limit=1');
  t.match(String(last.headers['link']), /rel="first".*rel="prev"/);
  t.equal(last.headers['x-total-count'], '2');
  t.notMatch(String(last.headers['link']), /next/);
});

t.test('lists say how many rows they have: all pages together, and only what the caller may see', async (t) => {
  const { web, alice, bob, anonymous } = await openWorld(t);
  for (const name of ['one', 'two', 'three']) await alice('POST', '/user/repos', { name, private: name === 'two' });
  await alice('POST', '/user/repos', { name: 'built', private: false, auto_init: true });
  for (const name of ['a', 'b', 'c']) {
    const file = { content: 'YQ==', message: name, branch: 'main' };
    await alice('POST', `/repos/alice/built/contents/${name}.txt`, file);
    await alice('POST', '/repos/alice/built/releases', { tag_name: name, name, draft: name === 'c' });
    await web.modules.accounts.addPerson({ username: `user-${name}` });
    await alice('POST', '/repos/alice/built/collaborators', { username: `user-${name}`, role: 'read' });
  }
  for (const call of [alice, bob]) await call('PUT', '/repos/alice/built/subscription');
  await bob('POST', '/repos/alice/built/forks', {});
  await alice('POST', '/repos/alice/built/forks', { organization: 'guild' });
  const lists: [path: string, call: typeof alice, total: number][] = [
    ['/orgs', anonymous, 2],
    ['/admin/users', alice, 5],
    ['/admin/orgs', alice, 2],
    ['/user/repos', alice, 9],
    ['/user/repos', bob, 2],
    ['/users/alice/repos', alice, 7],
    ['/users/alice/repos', anonymous, 5],
    ['/orgs/guild/repos', alice, 2],
    ['/repos?owner=alice', anonymous, 5],
    ['/repos?owner=alice', alice, 7],
    ['/repos/alice/built/forks', anonymous, 2],
    ['/repos/alice/built/commits', anonymous, 4],
    ['/repos/alice/built/releases', anonymous, 2],
    ['/repos/alice/built/releases', alice, 3],
    ['/repos/alice/built/releases?draft=false', alice, 2],
    ['/repos/alice/built/collaborators', alice, 3],
    ['/repos/alice/built/subscribers', alice, 2],
  ];
  for (const [path, call, total] of lists) {
    const at = `${path}${path.includes('?') ? '&' : '?'}limit=1`;
    for (const page of [1, 2]) {
      const { headers, status } = await call('GET', `${at}&page=${page}`);
      const last = page === total ? /^(?!.*last)/ : new RegExp(`[?&]page=${total}>; rel="last"`);
      t.match({ status, ...headers }, { status: 200, 'x-total-count': String(total), link: last }, `${path} ${page}`);
    }
    t.match((await call('GET', at)).headers, { 'x-total-count': String(total) }, path);
  }
});

t.test('issues and pull requests are switched off and on; a switch that is none here is named', async (t) => {
  const { alice, bob, anonymous } = await openWorld(t);
  const shown = async (name: string): Promise<unknown[]> => {
    const { json } = await anonymous('GET', `/repos/alice/${name}`);
    return [json['has_issues'], json['has_pull_requests']];
  };
  const edit = (body: Json, as = alice) => as('PATCH', '/repos/alice/site', body);
  const opens = async () => (await bob('POST', '/repos/alice/site/issues', { title: 'x' })).status;
  t.strictSame(await shown('site'), [true, true]);
  t.match(await edit({ has_issues: false }, bob), { status: 404 }, 'who may not change the repository');
  t.match(await edit({ has_issues: false }), { status: 200, json: { has_issues: false, has_pull_requests: true } });
  t.equal((await edit({ has_issues: false })).headers['warning'], undefined);
  t.not(await opens(), 201);
  t.match(await edit({ has_pull_requests: false, description: 'd' }), { json: { description: 'd' } });
  t.strictSame(await shown('site'), [false, false], 'one leaves the other');
  t.strictSame(await shown('shop'), [true, true], 'and another repository');
  t.match(await edit({ has_issues: true }), { json: { has_issues: true, has_pull_requests: false } });
  t.equal(await opens(), 201);
  await alice('PATCH', '/repos/alice/site/issue_settings', { issues_from: 'members' });
  await edit({ has_issues: true, has_pull_requests: true });
  t.match(
    (await alice('GET', '/repos/alice/site/issue_settings')).json,
    { issues_from: 'members' },
    'what is on stays',
  );
  for (const key of ['has_wiki', 'has_projects', 'has_releases', 'has_packages', 'has_actions'])
    t.match(await edit({ [key]: false }), { status: 200, headers: { warning: `299 hearth "Unknown keys: ${key}"` } });
});

t.test('bodies are read as Gitea reads them', async (t) => {
  const { alice } = await openWorld(t);
  const edited = await alice('PATCH', '/repos/alice/site', { description: 'd', has_wiki: false, website: null });
  t.match(edited, { status: 200, headers: { warning: '299 hearth "Unknown keys: has_wiki"' } });
  t.equal(edited.json['description'], 'd');
  t.match(
    await alice('POST', '/repos/alice/site/forks', { organization: 'guild', name: null }),
    { status: 409, json: { error: { code: 'repository_empty' } } },
    'the body is read; what is empty is not forked',
  );
  t.match(await alice('POST', '/repos/alice/site/milestones', { title: 'm', state: '' }), { status: 201 });
  const teamed = { name: 'devs', permission: 'write', units: ['repo.code'], can_create_org_repo: false };
  t.match(await alice('POST', '/orgs/guild/teams', teamed), { status: 201, json: { organization: { id: Number } } });
  // A key that was mistyped would leave more open than was meant.
  for (const [method, path, body, field] of [
    ['PATCH', '/repos/alice/site', { privat: true }, 'privat'],
    ['POST', '/user/repos', { name: 'x', visible: false }, 'visible'],
    ['POST', '/user/tokens', { name: 't', access: 'read', repository: ['alice/site'] }, 'repository'],
    ['POST', '/repos/alice/site/collaborators', { username: 'bob', role: 'read', level: 'x' }, 'level'],
  ] as const)
    t.match(await alice(method, path, body), { status: 422, json: { error: { code: 'invalid_input', field } } }, path);
  t.equal((await alice('GET', '/repos/alice/x')).status, 404);
  const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  t.match(await alice('POST', '/user/repos', `{"name":"deep","description":${nested}}`), { status: 422 });
});

t.test('an error has its sentence where Gitea’s clients look for it', async (t) => {
  const { anonymous } = await openWorld(t);
  const { json } = await anonymous('GET', '/repos/alice/cellar');
  t.match(json, { error: { code: 'repository_not_found' }, message: 'Repository not found', url: /\/api\/v1$/ });
});
