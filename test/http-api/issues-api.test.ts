import t from 'tap';
import { sendRequest, startWeb } from '../fixtures/web-fixture.ts';
import type { PageResponse, Web } from '../fixtures/web-fixture.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

t.setTimeout(240_000);

type Json = { [name: string]: unknown };
type Caller = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<PageResponse & { json: Json }>;

function caller(web: Web, token: string | null): Caller {
  return async (method, path, body, headers = {}) => {
    const response = await sendRequest(web, `/api/v1${path}`, {
      method,
      headers: {
        ...(token !== null && { Authorization: `token ${token}` }),
        ...(body !== undefined && {
          'Content-Type': 'application/json',
          'Content-Length': String(Buffer.byteLength(JSON.stringify(body))),
        }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { ...response, json: (response.body === '' ? null : JSON.parse(response.body)) as Json };
  };
}

const roof = '/repos/alice/roof';

/** alice has the public roof and the private attic; bob writes in both, carol reads the attic, dora is no member. */
async function openWorld(t: Owner) {
  const web = await startWeb(t);
  const { accounts, repositories } = web.modules;
  const ids: Record<string, string> = {};
  const tokenOf = async (name: string, access: 'read' | 'write' | 'admin', repositoryIds: string[] | null = null) =>
    (
      await accounts.addToken(ids[name]!, {
        name: `${access} ${Math.random()}`,
        access,
        repositoryIds,
        expiresAt: null,
      })
    ).secret;
  for (const username of ['alice', 'bob', 'carol', 'dora'])
    ids[username] = (await accounts.addPerson({ username, displayName: username.toUpperCase() })).id;
  const as = async (name: string, access: 'read' | 'write' | 'admin' = 'admin', only: string[] | null = null) =>
    caller(web, await tokenOf(name, access, only));
  const alice = await as('alice');
  await alice('POST', '/repos', { name: 'roof', visibility: 'PUBLIC' });
  await alice('POST', '/repos', { name: 'attic', visibility: 'PRIVATE' });
  for (const repository of ['roof', 'attic']) {
    await alice('POST', `/repos/alice/${repository}/collaborators`, { username: 'bob', role: 'write' });
    await alice('POST', `/repos/alice/${repository}/collaborators`, { username: 'carol', role: 'read' });
  }
  const viewer = { kind: 'person', id: ids['alice']!, username: 'alice', isAdministrator: false } as const;
  const idOf = async (name: string) =>
    (await repositories.find({ ...viewer, via: 'session', scope: 'admin', repositoryIds: null }, 'alice', name))
      .repository.id;
  return {
    web,
    as,
    idOf,
    alice,
    bob: await as('bob'),
    carol: await as('carol'),
    dora: await as('dora'),
    anonymous: caller(web, null),
  };
}

t.test('the life of an issue in the shapes that clients of Gitea read', async (t) => {
  const { alice, bob, dora, anonymous } = await openWorld(t);
  // What the Go SDK of Gitea sends: every field of its option, empty where it is not set.
  const label = await alice('POST', `${roof}/labels`, { name: 'kind/bug', color: '#d73a4a', description: '' });
  t.match(label, { status: 201, json: { id: Number, name: 'kind/bug', color: 'd73a4a', exclusive: false } });
  const milestone = await bob('POST', `${roof}/milestones`, { title: 'Winter', due_on: '2026-12-31T00:00:00Z' });
  t.match(milestone, { status: 201, json: { title: 'Winter', state: 'open', due_on: '2026-12-31T23:59:59Z' } });
  t.equal(milestone.json['updated_at'], milestone.json['created_at'], 'never null: clients of Forgejo require it');
  const opened = await bob('POST', `${roof}/issues`, {
    title: 'It rains in',
    body: 'Bring a **bucket**.',
    ref: '',
    assignee: '',
    assignees: ['alice'],
    due_date: null,
    milestone: milestone.json['id'],
    labels: [label.json['id']],
    closed: false,
  });
  t.match(opened, {
    status: 201,
    headers: { location: '/api/v1/repos/alice/roof/issues/1' },
    json: {
      number: 1,
      title: 'It rains in',
      body: 'Bring a **bucket**.',
      state: 'open',
      user: { login: 'bob', username: 'bob', full_name: 'BOB', id: Number },
      labels: [{ name: 'kind/bug', id: label.json['id'] }],
      milestone: { id: milestone.json['id'], open_issues: 1 },
      assignee: { login: 'alice' },
      assignees: [{ login: 'alice' }],
      comments: 0,
      is_locked: false,
      closed_at: null,
      html_url: /\/repos\/alice\/roof\/issues\/1$/,
      repository: { name: 'roof', owner: 'alice', full_name: 'alice/roof' },
      revision: 1,
    },
  });
  const posted = await dora('POST', `${roof}/issues/1/comments`, { body: 'Here, too.' });
  t.match(posted, { status: 201, json: { body: 'Here, too.', user: { login: 'dora' }, id: Number, position: Number } });
  const id = Number(posted.json['id']);
  t.ok(Number.isSafeInteger(id) && id > 1_048_576);
  t.same((await anonymous('GET', `${roof}/issues/comments/${id}`)).json, posted.json, 'the id finds it again');
  t.match(await anonymous('GET', `${roof}/issues/1/comments`), {
    headers: { 'x-total-count': '1' },
    json: [{ id, body: 'Here, too.' }],
  });
  t.match((await anonymous('GET', `${roof}/issues/comments`)).json, [{ id }]);
  t.match(await dora('PATCH', `${roof}/issues/comments/${id}`, { body: 'And here.' }), {
    status: 200,
    json: { body: 'And here.', revision: 2 },
  });
  t.match((await anonymous('GET', `${roof}/issues/comments/${id}/revisions`)).json, [
    { revision: 1, body: 'Here, too.', editor: { login: 'dora' } },
  ]);
  t.match(await alice('PUT', `${roof}/issues/comments/${id}/hidden`, { reason: 'off_topic' }), { status: 204 });
  t.match((await anonymous('GET', `${roof}/issues/comments/${id}`)).json, { hidden: 'off_topic' });
  t.match(await bob('POST', `${roof}/issues/1/reactions`, { content: 'heart' }), {
    status: 201,
    json: { content: 'heart', user: { login: 'bob' } },
  });
  t.match((await anonymous('GET', `${roof}/issues/1/reactions`)).json, [{ content: 'heart', user: { login: 'bob' } }]);
  t.match(await bob('DELETE', `${roof}/issues/1/reactions`, { content: 'heart' }), { status: 200 });
  t.same((await anonymous('GET', `${roof}/issues/1/reactions`)).json, []);
  t.match(await dora('DELETE', `${roof}/issues/comments/${id}`), { status: 204 });
  t.match(await dora('GET', `${roof}/issues/comments/${id}`), { status: 404 });
  t.match(await alice('PATCH', `${roof}/issues/1`, { state: 'closed', title: '', assignees: null, milestone: 0 }), {
    status: 201,
    json: { state: 'closed', close_reason: 'completed', title: 'It rains in', milestone: null, comments: 0 },
  });
  t.match(
    ((await anonymous('GET', `${roof}/issues/1/timeline`)).json as unknown as { type: string }[]).map(
      ({ type }) => type,
    ),
    ['label', 'assignees', 'milestone', 'comment', 'milestone', 'close'],
    'edits and deletions are not in it',
  );
  t.match(await anonymous('GET', '/version'), { status: 200, json: { version: /^1\.\d+\.\d+\+hearth-/ } });
  t.match((await bob('GET', '/user')).json, { login: 'bob', full_name: 'BOB', id: Number, username: 'bob' });
});

t.test('an edit is all or nothing, and names the revision that it was made from', async (t) => {
  const { alice, bob, dora } = await openWorld(t);
  await bob('POST', `${roof}/issues`, { title: 'Leak', body: 'one' });
  const one = `${roof}/issues/1`;
  t.match(await bob('PATCH', one, { title: 'Changed', labels: ['none'] }), {
    status: 422,
    json: { error: { code: 'unknown_label' } },
  });
  t.match((await bob('GET', one)).json, { title: 'Leak' }, 'the title stayed, too');
  t.match(await alice('PATCH', one, { body: 'two' }, { 'If-Match': '"1"' }), { status: 201, json: { revision: 2 } });
  for (const header of ['"1"', '1', 'W/"2"', '"1", "2"'])
    t.match(await alice('PATCH', one, { body: 'three' }, { 'If-Match': header }), {
      status: 412,
      json: { error: { code: 'revision_mismatch' } },
    });
  t.match(await alice('PATCH', one, { body: 'three', revision: 1 }), {
    status: 409,
    json: { error: { code: 'text_changed_meanwhile' } },
  });
  t.match(await alice('PATCH', one, { body: 'three' }, { 'If-Match': '*' }), { status: 201, json: { body: 'three' } });
  t.match(await dora('PATCH', one, { body: 'mine' }), { status: 403 });
  t.match(await alice('PATCH', one, { due_date: '2026-12-31T00:00:00Z' }), {
    json: { due_date: '2026-12-31T23:59:59Z' },
  });
  t.match(await alice('POST', `${roof}/issues`, { title: 'Long', body: 'é'.repeat(32_768) }), { status: 201 });
  t.match(await alice('POST', `${roof}/issues`, { title: 'Long', body: 'x'.repeat(65_537) }), { status: 422 });
});

t.test('lists have pages by number, by key, and filters', async (t) => {
  const { alice, bob, anonymous } = await openWorld(t);
  await alice('POST', `${roof}/labels`, { name: 'wet', color: '0000ff' });
  for (let at = 1; at <= 5; at++) await bob('POST', `${roof}/issues`, { title: `Leak ${at}` });
  const numbers = async (query: string) =>
    ((await anonymous('GET', `${roof}/issues${query}`)).json as unknown as { number: number }[]).map(
      ({ number }) => number,
    );
  t.same(await numbers(''), [5, 4, 3, 2, 1]);
  t.same(await numbers('?page=1&limit=2'), [5, 4]);
  t.same(await numbers('?page=3&limit=2'), [1]);
  t.same(await numbers('?page=4&limit=2'), []);
  const first = await anonymous('GET', `${roof}/issues?page=1&limit=2`);
  t.match(first.headers, { link: /page=2.*rel="next"/, 'x-total-count': '5' });
  const keyed = await anonymous('GET', `${roof}/issues?limit=2`);
  const next = /<[^>]*\/api\/v1([^>]*)>/.exec(String(keyed.headers['link']))?.[1];
  t.match((await anonymous('GET', next!)).json, [{ number: 3 }, { number: 2 }]);
  await bob('POST', `${roof}/issues/2/labels`, { labels: ['wet'] });
  await bob('PATCH', `${roof}/issues/3`, { state: 'closed' });
  t.same(await numbers('?labels=wet'), [2]);
  t.same(await numbers('?state=closed'), [3]);
  t.same((await numbers('?state=all')).length, 5);
  t.same(await numbers('?created_by=alice'), []);
  t.same(await numbers('?type=pulls'), []);
  t.same((await numbers('?since=2000-01-01T00:00:00Z')).length, 4);
  t.same(await numbers('?before=2000-01-01T00:00:00Z'), []);
  t.match(await anonymous('GET', `${roof}/issues?since=yesterday`), { status: 422 });
  t.match(await anonymous('GET', `${roof}/issues?page=5000&limit=100`), { status: 200, body: '[]' });
});

t.test('a search over all repositories finds what the caller may see', async (t) => {
  const { alice, dora, anonymous } = await openWorld(t);
  await alice('POST', `${roof}/issues`, { title: 'Leak', body: 'over the chimney' });
  await alice('POST', '/repos/alice/attic/issues', { title: 'Leak in the attic' });
  const found = async (call: Caller, query: string) =>
    ((await call('GET', `/repos/issues/search${query}`)).json as unknown as { title: string }[]).map(
      ({ title }) => title,
    );
  t.same((await found(alice, '?q=leak')).sort(), ['Leak', 'Leak in the attic']);
  t.same(await found(dora, '?q=leak'), ['Leak']);
  t.same(await found(anonymous, '?q=chimney'), ['Leak'], 'a word of the text');
  t.same(await found(anonymous, '?q=attic'), []);
  t.same(await found(anonymous, '?created_by=dora'), []);
});

t.test('who may call what: every role on every kind of operation', async (t) => {
  const { as, idOf, alice, bob, carol, dora, anonymous } = await openWorld(t);
  for (const name of ['roof', 'attic']) {
    await alice('POST', `/repos/alice/${name}/labels`, { name: 'wet', color: '0000ff' });
    await alice('POST', `/repos/alice/${name}/issues`, { title: 'Leak', body: 'by alice' });
    await alice('POST', `/repos/alice/${name}/issues`, { title: 'Crack' });
    await alice('POST', `/repos/alice/${name}/issues/1/comments`, { body: 'mine' });
  }
  const comments = await alice('GET', '/repos/alice/roof/issues/1/comments');
  const inAttic = await alice('GET', '/repos/alice/attic/issues/1/comments');
  const idIn = (response: typeof comments) => (response.json as unknown as { id: number }[])[0]!.id;
  const roles: Record<string, Caller> = {
    anonymous,
    reader: dora,
    guest: carol,
    writer: bob,
    owner: alice,
    readToken: await as('alice', 'read'),
    otherToken: await as('alice', 'admin', [await idOf('attic')]),
  };
  const names = Object.keys(roles);
  type Row = [method: string, path: string, body: unknown, roof: number[], attic: number[]];
  // anonymous, signed in, GUEST, write, owner, a token that reads, one limited to the attic
  const allSucceed = [200, 200, 200, 200, 200, 200, 200];
  const members = [404, 404, 200, 200, 200, 200, 200];
  const contributes = (status: number): [number[], number[]] => [
    [401, status, status, status, status, 403, 403],
    [401, 404, status, status, status, 403, status],
  ];
  const triages = (status: number): [number[], number[]] => [
    [401, 403, 403, status, status, 403, 403],
    [401, 404, 403, status, status, 403, status],
  ];
  const manages = (status: number): [number[], number[]] => [
    [401, 403, 403, 403, status, 403, 403],
    [401, 404, 403, 403, status, 403, status],
  ];
  const rows: Row[] = [
    ...['', '/1', '/1/comments', '/comments', '/1/timeline', '/1/reactions', '/1/labels', '/pinned', '/1/dependencies']
      .concat(['/1/revisions', '/comments/{comment}', '/comments/{comment}/reactions'])
      .map((path): Row => ['GET', `/issues${path}`, undefined, allSucceed, members]),
    ...['/labels', '/milestones', '/issue_settings', '/issue_templates', '/issue_config'].map(
      (path): Row => ['GET', path, undefined, allSucceed, members],
    ),
    ['POST', '/issues', { title: 'New' }, ...contributes(201)],
    ['POST', '/issues', { title: 'New', labels: ['wet'] }, ...triages(201)],
    ['POST', '/issues/1/comments', { body: 'A word' }, ...contributes(201)],
    ['POST', '/issues/1/reactions', { content: 'eyes' }, ...contributes(201)],
    // Who said something is subscribed already.
    ['PUT', '/issues/1/subscriptions/{self}', undefined, ...contributes(200)],
    ['PATCH', '/issues/1', { title: 'Renamed' }, ...triages(201)],
    ['PATCH', '/issues/1', { body: 'Rewritten' }, ...triages(201)],
    ['PATCH', '/issues/1', { state: 'closed' }, ...triages(201)],
    ['PATCH', '/issues/1', { state: 'open' }, ...triages(201)],
    ['POST', '/issues/1/labels', { labels: ['wet'] }, ...triages(200)],
    ['PUT', '/issues/1/labels', { labels: [] }, ...triages(200)],
    ['POST', '/issues/1/pin', undefined, ...triages(204)],
    ['DELETE', '/issues/1/pin', undefined, ...triages(204)],
    ['PUT', '/issues/2/lock', undefined, ...triages(204)],
    ['DELETE', '/issues/2/lock', undefined, ...triages(204)],
    ['POST', '/issues/1/dependencies', { index: 2 }, ...triages(201)],
    ['DELETE', '/issues/1/dependencies', { index: 2 }, ...triages(200)],
    ['PUT', '/issues/comments/{comment}/hidden', { reason: 'spam' }, ...triages(204)],
    ['DELETE', '/issues/comments/{comment}/hidden', undefined, ...triages(204)],
    ['PATCH', '/issues/comments/{comment}', { body: 'Others may not' }, ...manages(200)],
    ['DELETE', '/issues/comments/{comment}', undefined, ...manages(204)],
    ['DELETE', '/issues/2', undefined, ...manages(204)],
  ];
  for (const [method, path, body, ...wanted] of rows)
    for (const [index, name] of ['roof', 'attic'].entries()) {
      const comment = String(idIn(index === 0 ? comments : inAttic));
      const got: number[] = [];
      // Each as often as there are roles: what a role has done is done for the next one, so the owner is last.
      for (const role of ['anonymous', 'reader', 'guest', 'readToken', 'writer', 'otherToken', 'owner']) {
        const self = { reader: 'dora', guest: 'carol', writer: 'bob' }[role] ?? 'alice';
        const at = path.replace('{comment}', comment).replace('{self}', self);
        // What can be done once is tried by one of those who may.
        const isOnce = method === 'DELETE' && wanted[index]!.includes(204) && /comment}$|issues\/2$/.test(path);
        const expected = wanted[index]![names.indexOf(role)]!;
        if (isOnce && expected < 300 && role !== 'owner') got[names.indexOf(role)] = expected;
        else got[names.indexOf(role)] = (await roles[role]!(method, `/repos/alice/${name}${at}`, body)).status;
      }
      t.same(got, wanted[index], `${method} ${name}${path} ${JSON.stringify(body ?? '')}`);
    }
});

t.test('moderation: settings, blocks, what waits, the trash, and the audit log', async (t) => {
  const { web, alice, bob, dora } = await openWorld(t);
  t.match(await bob('PATCH', `${roof}/issue_settings`, { issues_from: 'members' }), { status: 404 });
  await alice('PATCH', `${roof}/issue_settings`, { issues_from: 'members' });
  t.match(await dora('POST', `${roof}/issues`, { title: 'Leak' }), { json: { error: { code: 'members_only' } } });
  await alice('PATCH', `${roof}/issue_settings`, { issues_from: 'anyone', holds_newcomers: true });
  t.match(await dora('POST', `${roof}/issues`, { title: 'Leak', body: 'x' }), { status: 201, json: { held: true } });
  t.match((await bob('GET', `${roof}/issues/held`)).json, [{ user: { login: 'dora' }, issue: 1, position: 0 }]);
  t.match(await bob('PUT', `${roof}/held_contributors/dora`), { status: 204 });
  t.match((await dora('GET', `${roof}/issues/1`)).json, { held: false });
  t.match(await alice('PUT', '/user/blocks/dora?note=noise'), { status: 204 });
  t.match((await alice('GET', '/user/blocks')).json, [{ login: 'dora' }]);
  t.match(await dora('POST', `${roof}/issues/1/comments`, { body: 'y' }), {
    json: { error: { code: 'blocked_by_owner' } },
  });
  t.match(await alice('DELETE', '/user/blocks/dora'), { status: 204 });
  t.match(await alice('DELETE', `${roof}/issues/1`), { status: 204 });
  t.match(await dora('GET', `${roof}/issues/1`), { status: 404 });
  t.match((await alice('GET', `${roof}/issue_trash`)).json, [{ number: 1 }]);
  t.match(await alice('POST', `${roof}/issue_trash/1/restore`), { status: 204 });
  t.match(await dora('GET', `${roof}/issues/1`), { status: 200 });
  await web.modules.audit.flush();
  const events = (await web.modules.audit.list({ limit: 50 }))
    .map(({ event }) => event)
    .filter((event) => /^issue/.test(event));
  t.same(events.reverse(), [
    'issue.settings_changed',
    'issue.settings_changed',
    'issue.contributor_admitted',
    'issue.person_blocked',
    'issue.person_unblocked',
    'issue.trashed',
    'issue.restored',
  ]);
});
