import t from 'tap';
import { sendRequest, fillRepository, signedIn, startWeb } from '../fixtures/web-fixture.ts';
import type { PageResponse, Web } from '../fixtures/web-fixture.ts';

// Much of it is whole pages: on a busy machine together they take longer than one ordinary file.
t.setTimeout(180_000);

type Caller = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<PageResponse & { json: unknown }>;

const api = '/api/v1';

function caller(web: Web, authorization: string | null): Caller {
  return async (method, path, body, headers = {}) => {
    const response = await sendRequest(web, api + path, {
      method,
      headers: {
        ...(authorization !== null && { Authorization: authorization }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return {
      ...response,
      json:
        response.body === ''
          ? null
          : response.headers['content-type']?.startsWith('application/json')
            ? (JSON.parse(response.body) as unknown)
            : null,
    };
  };
}

type Scope = 'read' | 'write' | 'admin';

async function withToken(
  web: Web,
  personId: string,
  access: Scope,
  repositoryIds: string[] | null = null,
): Promise<Caller> {
  const name = `${access} ${Math.random()}`;
  const { secret } = await web.modules.accounts.addToken(personId, { name, access, repositoryIds, expiresAt: null });
  return caller(web, `Bearer ${secret}`);
}

async function start(t: Parameters<typeof startWeb>[0]) {
  const web = await startWeb(t);
  const [alice, bob] = [
    await web.modules.accounts.addPerson({ username: 'alice', displayName: 'Alice A.' }),
    await web.modules.accounts.addPerson({ username: 'bob' }),
  ];
  return {
    web,
    alice,
    bob,
    anonymous: caller(web, null),
    asAlice: await withToken(web, alice.id, 'admin'),
    asBob: await withToken(web, bob.id, 'admin'),
  };
}

const created = { name: 'ledger', visibility: 'PRIVATE', description: 'Accounts of the hearth' };

t.test('SPEC §4.2 GET /api/v1/search, byte for byte', async (t) => {
  const { web, anonymous, asAlice, asBob } = await start(t);
  await asAlice('POST', '/repos', created);
  await asAlice('POST', '/repos', { name: 'Hearth', visibility: 'PUBLIC', description: 'A "forge"' });
  const nothing = '{"repositories":[],"persons":[]}';
  const open =
    '{"owner":"alice","name":"Hearth","visibility":"PUBLIC","description":"A \\"forge\\"","createdAt":"2026-01-01T12:00:00.000Z"}';
  const hidden =
    '{"owner":"alice","name":"ledger","visibility":"PRIVATE","description":"Accounts of the hearth","createdAt":"2026-01-01T12:00:00.000Z"}';
  const cases: [Caller, string, string][] = [
    [anonymous, '/search', nothing],
    [anonymous, '/search?q=', nothing],
    [anonymous, '/search?q=%20%09', nothing],
    [anonymous, '/search?q=HEARTH', `{"repositories":[${open}],"persons":[]}`],
    [asBob, '/search?q=hearth', `{"repositories":[${open}],"persons":[]}`],
    [asAlice, '/search?q=hearth', `{"repositories":[${open},${hidden}],"persons":[]}`],
    [
      anonymous,
      '/search?q=alice%20a.',
      '{"repositories":[],"persons":[{"username":"alice","displayName":"Alice A."}]}',
    ],
    [anonymous, '/search?q=BOB&q=alice', '{"repositories":[],"persons":[{"username":"bob","displayName":""}]}'],
    [anonymous, '/search?q=%25', nothing],
    [anonymous, '/search?q=accounts&limit=x&unknown=1', nothing],
    [anonymous, `/search?q=${'a'.repeat(256)}`, nothing],
  ];
  for (const [call, path, wanted] of cases) {
    const { status, headers, body } = await call('GET', path);
    t.match(
      [status, headers['content-type'], headers['cache-control']],
      [200, 'application/json; charset=utf-8', 'no-store'],
      path,
    );
    t.equal(body, wanted, path);
    t.notOk(headers.etag, 'nothing that could be kept');
  }
  // Folding, signs that mean themselves, and the order: owner, then name, whatever their case.
  const odd = 'Une École, die Straße, ΟΔΟΣ, İstanbul: 100%_sure';
  for (const name of ['Zeta', 'alpha', 'Beta'])
    await asBob('POST', '/repos', { name, visibility: 'PUBLIC', description: name === 'Beta' ? odd : 'of the HEARTH' });
  const one = (owner: string, name: string, description: string) =>
    `{"owner":"${owner}","name":"${name}","visibility":"PUBLIC","description":"${description}","createdAt":"2026-01-01T12:00:00.000Z"}`;
  const inOrder = [open, one('bob', 'alpha', 'of the HEARTH'), one('bob', 'Zeta', 'of the HEARTH')].join(',');
  t.equal((await anonymous('GET', '/search?q=hEaRtH')).body, `{"repositories":[${inOrder}],"persons":[]}`);
  t.equal(
    (await asAlice('GET', '/search?q=hearth')).body,
    `{"repositories":[${inOrder.replace(open, `${open},${hidden}`)}],"persons":[]}`,
    'hers are where they belong',
  );
  t.equal(
    (await asBob('GET', '/search?q=b')).body,
    `{"repositories":[${[one('bob', 'alpha', 'of the HEARTH'), one('bob', 'Beta', odd), one('bob', 'Zeta', 'of the HEARTH')].join(',')}],"persons":[{"username":"bob","displayName":""}]}`,
  );
  const found = `{"repositories":[${one('bob', 'Beta', odd)}],"persons":[]}`;
  for (const query of [
    'école',
    'ÉCOLE',
    'e\u0301cole',
    'STRAẞE',
    'straße',
    'οδος',
    'ΟΔΟΣ',
    'οδοσ',
    'İSTANBUL',
    'i\u0307stanbul',
    '100%',
    '%_',
    '_SURE',
    ': 1',
  ]) {
    t.equal((await anonymous('GET', `/search?q=${encodeURIComponent(query)}`)).body, found, query);
  }
  for (const query of [
    'ecole',
    'strasse',
    'istanbul',
    '1%0',
    '1_0',
    '*',
    '"école"',
    'betaune',
    'bob/beta',
    'bob beta',
  ]) {
    t.equal((await anonymous('GET', `/search?q=${encodeURIComponent(query)}`)).body, nothing, query);
  }
  // More than the cap, and more than one read of the socket.
  const usernames = JSON.stringify(Array.from({ length: 1200 }, (_, at) => `crowd-${String(at).padStart(4, '0')}`));
  await web.modules.db.write(({ manager }) =>
    manager.query(
      `INSERT INTO users (id, username, display_name, created_at) SELECT value, value, 'One of many, with a name of some length: ' || value, 1 FROM json_each(?)`,
      [usernames],
    ),
  );
  const everyone = `{"repositories":[],"persons":[${(JSON.parse(usernames) as string[])
    .slice(0, 1000)
    .map((name) => `{"username":"${name}","displayName":"One of many, with a name of some length: ${name}"}`)
    .join(',')}]}`;
  const packed = async () => ({ body: await (await fetch(`${web.origin}${api}/search?q=CROWD`)).text() });
  for (const { body } of await Promise.all([
    anonymous('GET', '/search?q=crowd'),
    packed(),
    asBob('GET', '/search?q=crowd-'),
    packed(),
    anonymous('GET', '/search?q=name%20of%20some'),
  ])) {
    t.equal(body.length, everyone.length);
    t.ok(body === everyone, 'the first thousand, whole');
  }
  for (const malformed of [`/search?q=${'a'.repeat(257)}`, '/search?q=%00', '/search?q=%', '/search?q=%ff']) {
    t.match(
      await anonymous('GET', malformed),
      { status: 400, json: { error: { code: 'malformed_request', message: String } } },
      malformed,
    );
  }
  for (const bad of ['Bearer hth_wrong', 'Bearer', 'Basic YWxpY2U6eA==', 'hth_x'])
    for (const path of ['/search?q=a', '/search'])
      t.equal((await caller(web, bad)('GET', path)).status, 401, `${bad} is never taken for nobody`);
});

t.test(
  'security D02, D09, D11 missing, mistyped, expired and revoked tokens get the same response; cookies and the query are ignored',
  async (t) => {
    const { web, alice, anonymous } = await start(t);
    const { accounts } = web.modules;
    const expiring = await accounts.addToken(alice.id, {
      name: 'expiring',
      access: 'read',
      repositoryIds: null,
      expiresAt: web.clock.now() + 1000,
    });
    const revoked = await accounts.addToken(alice.id, {
      name: 'revoked',
      access: 'read',
      repositoryIds: null,
      expiresAt: null,
    });
    const call = caller(web, `Bearer ${expiring.secret}`);
    t.equal((await call('GET', '/user')).status, 200);
    web.clock.advance(1000);
    await accounts.removeToken(alice.id, revoked.token.id);
    const refused = await anonymous('GET', '/user');
    t.match(refused, {
      status: 401,
      headers: { 'www-authenticate': /^Bearer/ },
      json: { error: { code: 'token_needed' } },
    });
    for (const secret of [expiring.secret, revoked.secret, 'hth_wrong', ''])
      t.equal((await caller(web, `Bearer ${secret}`)('GET', '/user')).body, refused.body);

    const browser = await signedIn(web, 'carol');
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    t.equal((await sendRequest(web, `${api}/user`, { headers: { Cookie: cookie } })).body, refused.body);
    const valid = await accounts.addToken(alice.id, {
      name: 'valid',
      access: 'read',
      repositoryIds: null,
      expiresAt: null,
    });
    t.equal((await caller(web, `Bearer ${valid.secret}`)('GET', '/user')).status, 200);
    for (const parameter of ['access_token', 'private_token', 'token'])
      t.equal((await sendRequest(web, `${api}/user?${parameter}=${valid.secret}`)).status, 401, parameter);
    const nameless = await accounts.addPerson({});
    const early = await withToken(web, nameless.id, 'admin');
    for (const path of ['/user', '/search?q=a'])
      t.match(await early('GET', path), { status: 403, json: { error: { code: 'onboarding_required' } } });
  },
);

t.test('security E03 a repository that is hidden, absent or out of one’s rights gives the same bytes', async (t) => {
  const { asAlice, asBob, anonymous } = await start(t);
  await asAlice('POST', '/repos', created);
  await asAlice('POST', '/repos', { name: 'open', visibility: 'PUBLIC' });
  const plain = ({ status, headers, body }: PageResponse) => ({
    status,
    body,
    headers: { ...headers, date: '', 'x-request-id': '' },
  });
  const reads = [
    '',
    '/branches',
    '/tags',
    '/commits',
    '/commits/main',
    '/commits/main/status',
    '/tree',
    '/raw?path=x',
    '/archive',
    '/image',
  ];
  for (const rest of reads) {
    for (const call of [anonymous, asBob]) {
      const absent = plain(await call('GET', `/repos/alice/absent${rest}`));
      t.equal(absent.status, 404);
      t.strictSame(plain(await call('GET', `/repos/alice/ledger${rest}`)), absent, rest);
      t.strictSame(plain(await call('GET', `/repos/nobody/absent${rest}`)), absent, rest);
    }
  }
  const changes: [string, string, unknown?][] = [
    ['PATCH', '', { description: 'x' }],
    ['DELETE', ''],
    ['POST', '/rename', { name: 'x' }],
    ['GET', '/collaborators'],
    ['POST', '/collaborators', { username: 'bob', role: 'admin' }],
    ['POST', '/commits/main/statuses', { context: 'x', state: 'success' }],
    ['POST', '/statuses/main', { context: 'x', state: 'success' }],
    ['DELETE', '/image'],
  ];
  for (const [method, rest, body] of changes) {
    const absent = plain(await asBob(method, `/repos/alice/absent${rest}`, body));
    for (const name of ['ledger', 'open'])
      t.strictSame(plain(await asBob(method, `/repos/alice/${name}${rest}`, body)), absent, `${method} ${name}${rest}`);
    const unknown = await anonymous(method, `/repos/alice/ledger${rest}`, body);
    t.equal(unknown.status, 401, `${method} ${rest} without a token`);
    t.equal((await anonymous(method, `/repos/alice/absent${rest}`, body)).body, unknown.body);
  }
});

t.test('tokens do what their scope and their list of repositories let them', async (t) => {
  const { web, alice, asAlice } = await start(t);
  for (const name of ['one', 'two']) await asAlice('POST', '/repos', { name, visibility: 'PRIVATE' });
  const id = async (name: string) =>
    (
      await web.modules.repositories.find(
        {
          kind: 'person',
          id: alice.id,
          username: 'alice',
          isAdministrator: false,
          via: 'session',
          scope: 'admin',
          repositoryIds: null,
        },
        'alice',
        name,
      )
    ).repository.id;
  const [reads, writes, one] = [
    await withToken(web, alice.id, 'read'),
    await withToken(web, alice.id, 'write'),
    await withToken(web, alice.id, 'admin', [await id('one')]),
  ];
  const key = { key: 'not a key' };
  const cases: [Caller, string, string, unknown, number][] = [
    [reads, 'GET', '/repos/alice/one', undefined, 200],
    [reads, 'PATCH', '/repos/alice/one', { description: 'x' }, 403],
    [reads, 'PATCH', '/repos/alice/absent', { description: 'x' }, 404],
    [reads, 'POST', '/repos', { name: 'three' }, 403],
    [reads, 'PUT', '/repos/alice/one/pin', undefined, 403],
    [reads, 'POST', '/user/tokens', { name: 'x', access: 'admin' }, 403],
    [writes, 'PATCH', '/repos/alice/one', { description: 'x' }, 403],
    [writes, 'PUT', '/repos/alice/one/pin', undefined, 204],
    [writes, 'POST', '/user/keys', key, 403],
    [writes, 'POST', '/user/tokens', { name: 'x', access: 'admin' }, 403],
    [writes, 'DELETE', '/orgs/absent', undefined, 403],
    [one, 'GET', '/repos/alice/one', undefined, 200],
    [one, 'GET', '/repos/alice/two', undefined, 404],
    [one, 'PATCH', '/repos/alice/one', { description: 'x' }, 200],
    [one, 'POST', '/repos', { name: 'three' }, 403],
    [one, 'POST', '/user/keys', key, 403],
    [one, 'POST', '/user/tokens', { name: 'x', access: 'read' }, 403],
    [asAlice, 'POST', '/user/keys', key, 422],
  ];
  for (const [call, method, path, body, wanted] of cases) {
    const { status, json } = await call(method, path, body);
    t.equal(status, wanted, `${method} ${path}`);
    if (wanted === 403) t.match(json, { error: { code: 'insufficient_scope' } });
  }
  const listed = async (call: Caller) =>
    ((await call('GET', '/repos')).json as { name: string }[]).map(({ name }) => name).sort();
  t.strictSame([await listed(reads), await listed(one)], [['one', 'two'], ['one']]);
});

t.test('the life of a repository by script', async (t) => {
  const { web, asAlice } = await start(t);
  const made = await asAlice('POST', '/repos', created);
  t.match(made, { status: 201, headers: { location: '/api/v1/repos/alice/ledger' } });
  t.match(made.json, {
    owner: { login: 'alice', visibility: 'public' },
    full_name: 'alice/ledger',
    permissions: { admin: true, push: true, pull: true },
    ...created,
    defaultBranch: 'main',
    archived: false,
    pushedAt: null,
    imageUrl: null,
    cloneUrl: `${web.origin}/git/alice/ledger.git`,
  });
  t.match(
    await asAlice('POST', '/repos', created),
    { status: 409, json: { error: { code: 'repository_name_taken', field: 'name' } } },
    'a taken name is 409 in JSON',
  );
  t.match(await asAlice('POST', '/repos', { name: '.git' }), {
    status: 422,
    json: { error: { code: 'invalid_repository_name' } },
  });

  t.match(
    await asAlice('GET', '/repos/alice/ledger/commits'),
    { status: 404, json: { error: { code: 'revision_not_found' } } },
    'empty',
  );
  const alice = {
    kind: 'person',
    id: (await web.modules.accounts.personByUsername('alice')).id,
    username: 'alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  } as const;
  const { path } = await web.modules.repositories.find(alice, 'alice', 'ledger');
  await fillRepository(t, path, {
    'README.md': '# Ledger\n',
    'src/a b.txt': 'text\n',
    'src/bytes': Buffer.from([0, 1, 2]),
    'src/large': Buffer.alloc(3_000_000),
  });

  const [{ id: tip }] = (await asAlice('GET', '/repos/alice/ledger/branches')).json as [{ id: string }];
  const person = { name: 'Alice', email: 'alice@example.org', username: '' };
  t.strictSame((await asAlice('GET', '/repos/alice/ledger/branches')).json, [
    {
      name: 'main',
      id: tip,
      isDefault: true,
      commit: {
        id: tip,
        message: 'Light the first fire\n',
        url: `${web.origin}/repos/alice/ledger/commit/${tip}`,
        author: person,
        committer: person,
        verification: { verified: false, reason: 'unsigned', signature: '', payload: '', signer: null },
        timestamp: '2025-12-30T10:00:00Z',
        added: null,
        removed: null,
        modified: null,
      },
      protected: true,
      effective_branch_protection_name: '~DEFAULT_BRANCH',
      user_can_push: true,
      user_can_merge: true,
      required_approvals: 0,
      enable_status_check: false,
      status_check_contexts: [],
    },
  ]);
  t.match((await asAlice('GET', '/repos/alice/ledger/commits/main')).json, {
    id: tip,
    parents: [],
    message: 'Light the first fire\n',
    author: { name: 'Alice', date: '2025-12-30T10:00:00Z' },
  });
  t.match((await asAlice('GET', '/repos/alice/ledger/tree?path=src/')).json, {
    commit: tip,
    path: 'src',
    truncated: false,
    entries: [
      { name: 'a b.txt', path: 'src/a b.txt', kind: 'file', size: 5 },
      { name: 'bytes', size: 3 },
      { name: 'large', size: 3_000_000 },
    ],
  });
  const raw = async (file: string) => asAlice('GET', `/repos/alice/ledger/raw?path=${encodeURIComponent(file)}`);
  t.match(await raw('src/a b.txt'), {
    status: 200,
    body: 'text\n',
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'content-security-policy': /sandbox/,
      'x-content-type-options': 'nosniff',
    },
  });
  t.match(await raw('src/bytes'), {
    status: 200,
    headers: { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment' },
  });
  const warnings: Error[] = [];
  const warned = (warning: Error) => void warnings.push(warning);
  process.on('warning', warned);
  t.equal((await raw('src/large')).body.length, 3_000_000, 'streamed');
  process.off('warning', warned);
  t.same(
    warnings.filter(({ name }) => name === 'MaxListenersExceededWarning'),
    [],
  );
  for (const file of ['src', 'nowhere', '../x', '']) t.equal((await raw(file)).status, 404, file);
  t.strictSame((await asAlice('GET', '/repos/alice/ledger/archive')).json, {
    commit: tip,
    tarGz: `${web.origin}/repos/alice/ledger/archive/${tip}.tar.gz`,
    zip: `${web.origin}/repos/alice/ledger/archive/${tip}.zip`,
  });

  t.match(
    (await asAlice('PATCH', '/repos/alice/ledger', { visibility: 'PUBLIC', archived: true, description: 'Public now' }))
      .json,
    { visibility: 'PUBLIC', archived: true, description: 'Public now' },
  );
  t.match(await asAlice('PATCH', '/repos/alice/ledger', { visibility: 'PRIVATE', defaultBranch: 'nowhere' }), {
    status: 422,
    json: { error: { code: 'branch_not_found' } },
  });
  t.match(
    (await asAlice('GET', '/repos/alice/ledger')).json,
    { visibility: 'PUBLIC' },
    'refused, nothing of it was done',
  );
  t.match(await asAlice('POST', '/repos/alice/ledger/rename', { name: 'book' }), {
    status: 200,
    json: { name: 'book' },
  });
  t.match((await asAlice('GET', '/repos/ALICE/ledger')).json, { name: 'book' }, 'the old path still reads');
  t.equal((await asAlice('PATCH', '/repos/alice/ledger', { description: 'x' })).status, 200, 'and changes');
  t.equal((await asAlice('DELETE', '/repos/alice/book')).status, 204);
  t.equal((await asAlice('GET', '/repos/alice/book')).status, 404);
});

t.test('lists come in pages that the Link header leads through, and an ETag saves what has not changed', async (t) => {
  const { web, asAlice } = await start(t);
  for (let number = 0; number < 7; number++) await asAlice('POST', '/repos', { name: `r${number}` });
  const names: string[] = [];
  let path = '/repos?sort=name&limit=3&owner=alice';
  for (let pages = 0; ; pages++) {
    const { headers, json } = await asAlice('GET', path);
    names.push(...(json as { name: string }[]).map(({ name }) => name));
    if (headers['link'] === undefined) {
      t.equal(pages, 2);
      break;
    }
    path = /^<([^>]*)>; rel="next"/.exec(String(headers['link']))![1]!.slice(`${web.origin}${api}`.length);
  }
  t.strictSame(names, ['r0', 'r1', 'r2', 'r3', 'r4', 'r5', 'r6']);
  t.match(await asAlice('GET', '/repos?after=nonsense'), { status: 422, json: { error: { code: 'invalid_page' } } });
  // As in Gitea, what is no positive number means the default.
  for (const limit of ['x', '1e1', '-1', '0', '101', '', '999999999'])
    t.equal(((await asAlice('GET', `/repos?limit=${limit}`)).json as unknown as unknown[]).length, 7, limit);

  const first = await asAlice('GET', '/user');
  t.match(first.headers, { etag: /^W\/"/, 'cache-control': 'private, no-cache', vary: /Authorization/ });
  t.match(await asAlice('GET', '/user', undefined, { 'If-None-Match': first.headers.etag! }), {
    status: 304,
    body: '',
  });
  await asAlice('PATCH', '/user', { bio: 'changed' });
  t.equal((await asAlice('GET', '/user', undefined, { 'If-None-Match': first.headers.etag! })).status, 200);
});

t.test('security D13, I06 what cannot be read is refused in words, before anything is done', async (t) => {
  const { web, asAlice, anonymous } = await start(t);
  const cases: [body: string, headers: Record<string, string>, status: number, code: string][] = [
    ['{', {}, 400, 'malformed_request'],
    ['', {}, 400, 'malformed_request'],
    ['"\ud800"', {}, 422, 'invalid_input'],
    ['null', {}, 422, 'invalid_input'],
    ['{"name":"x","surprise":1}', {}, 422, 'invalid_input'],
    ['{"name":["x"]}', {}, 422, 'invalid_input'],
    ['{"name":"x","__proto__":{"visibility":"PUBLIC"}}', {}, 422, 'invalid_input'],
    ['name=x', { 'Content-Type': 'application/x-www-form-urlencoded' }, 415, 'unsupported_type'],
    ['{"name":"x"}', { 'Content-Encoding': 'gzip' }, 415, 'unsupported_type'],
    [`{"name":"${'x'.repeat(70_000)}"}`, {}, 413, 'body_too_large'],
  ];
  for (const [body, headers, status, code] of cases)
    t.match(await asAlice('POST', '/repos', body, headers), { status, json: { error: { code } } }, body.slice(0, 40));
  t.strictSame((await asAlice('GET', '/repos')).json, []);
  t.match(await asAlice('OPTIONS', '/repos'), {
    status: 405,
    headers: { allow: /GET.*POST/ },
    json: { error: { code: 'method_not_allowed' } },
  });
  t.match(await anonymous('GET', '/nowhere'), { status: 404, json: { error: { code: 'no_such_operation' } } });
  t.match(await sendRequest(web, '/api/v2/x'), { status: 404, body: /^\{"error"/ });
  t.match(await sendRequest(web, `${api}/search?q=a`, { headers: { Host: 'a b' } }), {
    status: 400,
    body: /^\{"error"/,
  });
  const head = await anonymous('HEAD', '/search?q=a');
  t.match([head.status, head.body], [200, '']);
});

t.test('organisations, members, collaborators and statuses by script', async (t) => {
  const { web, alice, bob, asAlice, asBob } = await start(t);
  t.match(await asAlice('POST', '/orgs', { name: 'guild', displayName: 'The Guild' }), {
    status: 201,
    headers: { location: '/api/v1/orgs/guild' },
    json: { members: 1 },
  });
  t.match(await asBob('POST', '/orgs', { name: 'ALICE' }), { status: 409, json: { error: { code: 'handle_taken' } } });
  t.match(await asBob('POST', '/orgs', { name: 'admin' }), {
    status: 422,
    json: { error: { code: 'reserved_handle' } },
  });
  t.match(await asAlice('POST', '/orgs/guild/members', { username: 'nobody', role: 'MEMBER' }), {
    status: 404,
    json: { error: { code: 'no_such_person' } },
  });
  t.match(await asAlice('POST', '/orgs/guild/members', { username: 'BOB', role: 'MEMBER' }), {
    status: 201,
    json: { username: 'bob', role: 'MEMBER' },
  });
  t.match(await asAlice('POST', '/orgs/guild/members', { username: 'bob', role: 'MEMBER' }), {
    status: 409,
    json: { error: { code: 'already_member' } },
  });
  t.match(await asAlice('PATCH', '/orgs/guild/members/alice', { role: 'GUEST' }), {
    status: 409,
    json: { error: { code: 'last_owner' } },
  });
  t.equal((await asBob('GET', '/orgs/guild/members')).status, 404, 'SPEC §4.4 for OWNERs');
  t.match((await asBob('GET', '/user/orgs')).json, [{ username: 'guild', organisation: 'guild', role: 'MEMBER' }]);
  t.match(await asBob('POST', '/repos', { name: 'shared', owner: 'guild' }), {
    status: 201,
    json: { owner: { login: 'guild' }, visibility: 'PRIVATE' },
  });
  t.match(await asAlice('DELETE', '/orgs/guild'), {
    status: 409,
    json: { error: { code: 'organisation_owns_repositories' } },
  });
  t.equal((await asBob('DELETE', '/orgs/guild/members/bob')).status, 204, 'leaving');
  t.equal((await asBob('GET', '/repos/guild/shared')).status, 404);

  t.match(await asAlice('POST', '/repos/guild/shared/collaborators', { username: 'bob', role: 'write' }), {
    status: 201,
    json: { username: 'bob', role: 'write', level: 'write' },
  });
  const viewer = {
    kind: 'person',
    id: alice.id,
    username: 'alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  } as const;
  await fillRepository(t, (await web.modules.repositories.find(viewer, 'guild', 'shared')).path, { a: 'a' });
  const at = '/repos/guild/shared/commits/main';
  const unreported = (await asBob('GET', `${at}/status`)).json as { state: unknown; statuses: unknown };
  t.strictSame([unreported.state, unreported.statuses], ['', []]);
  t.match(
    await asBob('POST', `${at}/statuses`, { context: 'ci', state: 'pending', targetUrl: 'https://ci.example.org/1' }),
    { status: 201, json: { creator: { login: 'bob' }, target_url: 'https://ci.example.org/1', status: 'pending' } },
  );
  t.equal((await asBob('POST', `${at}/statuses`, { context: 'lint', state: 'success' })).status, 201);
  t.match((await asBob('GET', `${at}/status`)).json, {
    state: 'pending',
    statuses: [{ context: 'ci' }, { context: 'lint' }],
  });
  await asBob('POST', `${at}/statuses`, { context: 'ci', state: 'failure', description: 'broken' });
  t.match((await asBob('GET', `${at}/status`)).json, {
    state: 'failure',
    statuses: [{ context: 'ci', state: 'failure', description: 'broken', targetUrl: null }, {}],
  });
  const ofGitea = '/repos/guild/shared/statuses/main';
  t.match(await asBob('POST', ofGitea, { context: 'ci', state: 'success', target_url: 'https://ci.example.org/2' }), {
    status: 201,
    json: { context: 'ci', state: 'success', targetUrl: 'https://ci.example.org/2' },
  });
  t.match(await asBob('POST', ofGitea, { state: 'success', target_url: '' }), {
    status: 201,
    json: { context: 'default', targetUrl: null },
  });
  t.match(await asBob('POST', '/repos/guild/shared/statuses/nowhere', { state: 'success' }), { status: 404 });
  t.match((await asBob('GET', `${at}/status`)).json, { statuses: [{ context: 'ci', state: 'success' }, {}, {}] });
  for (const targetUrl of ['javascript:alert(1)', 'runs/1'])
    t.match(await asBob('POST', `${at}/statuses`, { context: 'x', state: 'success', targetUrl }), {
      status: 422,
      json: { error: { code: 'invalid_target_url' } },
    });
  t.equal(
    (await (await withToken(web, bob.id, 'read'))('POST', `${at}/statuses`, { context: 'x', state: 'success' })).status,
    403,
  );
  t.equal((await asAlice('DELETE', '/repos/guild/shared/collaborators/bob')).status, 204);
  t.equal((await asBob('POST', `${at}/statuses`, { context: 'x', state: 'success' })).status, 404);
});

t.test('keys, tokens, images and pins by script', async (t) => {
  const { asAlice, asBob, anonymous } = await start(t);
  const made = await asAlice('POST', '/user/tokens', { name: 'ci', access: 'read', expiresAt: '2026-02-01T00:00:00Z' });
  t.match(made, {
    status: 201,
    json: { secret: /^hth_/, repositories: null },
    headers: { 'cache-control': 'no-store' },
  });
  t.notMatch((await asAlice('GET', '/user/tokens')).body, /hth_/);
  t.match(await asAlice('POST', '/user/tokens', { name: 'x', access: 'read', repositories: ['bob/none'] }), {
    status: 422,
    json: { error: { code: 'invalid_repositories' } },
  });
  t.match(await asAlice('POST', '/user/tokens', { name: 'x', access: 'read', expiresAt: '2020-01-01T00:00:00Z' }), {
    status: 422,
    json: { error: { code: 'invalid_expiry' } },
  });
  const { id } = made.json as { id: string };
  t.equal((await asBob('DELETE', `/user/tokens/${id}`)).status, 404, 'the token of another person');
  t.equal((await asAlice('DELETE', `/user/tokens/${id}`)).status, 204);

  await asAlice('POST', '/repos', { name: 'open', visibility: 'PUBLIC' });
  t.equal((await asBob('PUT', '/repos/alice/open/pin')).status, 204);
  t.match((await asBob('GET', '/user/pins')).json, [{ owner: { login: 'alice' }, name: 'open' }]);
  t.equal((await anonymous('PUT', '/repos/alice/open/pin')).status, 401);

  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('latin1');
  t.match(await asAlice('PUT', '/repos/alice/open/image', 'GIF89a', { 'Content-Type': 'image/png' }), {
    status: 422,
    json: { error: { code: 'image_content_mismatch' } },
  });
  t.match(
    await asAlice('PUT', '/repos/alice/open/image', `GIF89a${'x'.repeat(2_097_152)}`, { 'Content-Type': 'image/gif' }),
    { status: 422, json: { error: { code: 'image_too_large' } } },
  );
  t.equal(
    (await asAlice('PUT', '/repos/alice/open/image', `GIF89a${png}`, { 'Content-Type': 'image/gif' })).status,
    204,
  );
  t.match(await anonymous('GET', '/repos/alice/open/image'), { status: 200, headers: { 'content-type': 'image/gif' } });
  t.match((await asAlice('GET', '/repos/alice/open')).json, { imageUrl: /\/repos\/alice\/open\/image\?v=\d+$/ });
  t.equal((await asAlice('DELETE', '/repos/alice/open/image')).status, 204);
  t.equal((await anonymous('GET', '/repos/alice/open/image')).status, 404);
});

t.test('the document is OpenAPI 3.1 and has a page', async (t) => {
  const { web, anonymous } = await start(t);
  const { json, headers } = await anonymous('GET', '/openapi.json');
  t.match(json, {
    openapi: /^3\.1\.\d$/,
    info: { title: 'Hearth', version: String },
    servers: [{ url: '/api/v1' }],
    paths: { '/search': { get: { operationId: 'search' } } },
  });
  t.equal(headers['content-type'], 'application/json; charset=utf-8');
  const { paths } = json as { paths: Record<string, Record<string, { operationId: string; responses: object }>> };
  const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
  t.equal(new Set(ids).size, ids.length, 'each operation has a name of its own');
  t.notMatch(JSON.stringify(json), /\$defs/);
  const page = await sendRequest(web, api);
  t.equal(page.status, 200);
  for (const id of ids) if (!page.body.includes(`id="${id}"`)) t.fail(`${id} is not on the page`);
});
