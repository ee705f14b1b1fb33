// Gitea's operations on wikis, and who may call them.
import t from 'tap';
import { sendRequest, startWeb } from '../fixtures/web-fixture.ts';

t.setTimeout(120_000);
const web = await startWeb(t);
const { accounts, repositories } = web.modules;

async function callerOf(username: string) {
  const { id } = await accounts.addPerson({ username });
  const token = { name: 'api', access: 'write', repositoryIds: null, expiresAt: null } as const;
  const { secret } = await accounts.addToken(id, token);
  return { id, call: caller(`token ${secret}`) };
}

function caller(authorization: string | null) {
  return async (method: string, path: string, body?: object) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const response = await sendRequest(web, `/api/v1${path}`, {
      method,
      headers: {
        ...(authorization !== null && { Authorization: authorization }),
        ...(text && { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(text)) }),
      },
      ...(text && { body: text }),
    });
    return { ...response, json: response.body === '' ? null : JSON.parse(response.body) };
  };
}

const [alice, bob] = [await callerOf('alice'), await callerOf('bob')];
const anonymous = caller(null);
for (const [name, isPrivate] of [
  ['site', false],
  ['cellar', true],
] as const)
  await alice.call('POST', '/user/repos', { name, private: isPrivate });
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const wiki = '/repos/alice/site/wiki';

t.test('pages are created, read, listed, edited, renamed and deleted', async (t) => {
  t.equal((await anonymous('GET', `${wiki}/page/Home`)).status, 404);
  t.strictSame((await anonymous('GET', `${wiki}/pages`)).json, []);
  const made = await alice.call('POST', `${wiki}/new`, { title: 'Page With Name', content_base64: base64('Hello\n') });
  t.equal(made.status, 201);
  t.match(made.json, {
    title: 'Page With Name',
    sub_url: 'Page-With-Name',
    html_url: /\/repos\/alice\/site\/wiki\/Page-With-Name$/,
    content_base64: base64('Hello\n'),
    commit_count: 1,
    sidebar: '',
    footer: '',
    last_commit: { sha: /^[0-9a-f]{40}$/, author: { name: 'alice' }, message: /^Add Page With Name/ },
  });
  await alice.call('POST', `${wiki}/new`, { title: '&&&&', content_base64: base64('Signs') });
  await alice.call('POST', `${wiki}/new`, { title: '_Sidebar', content_base64: base64('Beside') });
  t.equal((await alice.call('POST', `${wiki}/new`, { title: 'page with name', content_base64: '' })).status, 409);
  for (const [title, content_base64] of [
    ['', ''],
    ...['.', '..', 'a/', '/a', 'a//b', '../x', 'x/..', 'x/ . /y', '\u202etxt.exe', 'a\u2066b'].map(
      (title) => [title, ''] as const,
    ),
    ['x', '#'],
  ] as const)
    t.equal((await alice.call('POST', `${wiki}/new`, { title, content_base64 })).status, 422, title);
  for (const [bytes, status] of [
    [1024 * 1024, 201],
    [3 * 1024 * 1024, 413],
  ] as const)
    t.equal(
      (await alice.call('POST', `${wiki}/new`, { title: 'Long', content_base64: base64('x'.repeat(bytes)) })).status,
      status,
      `${bytes} bytes`,
    );
  t.equal((await alice.call('DELETE', `${wiki}/page/Long`)).status, 204);
  const edited = await alice.call('PATCH', `${wiki}/page/Page-With-Name`, {
    content_base64: base64('Changed\n'),
    message: 'Better words',
  });
  t.match(edited.json, { title: 'Page With Name', commit_count: 2, sidebar: base64('Beside') });
  const listed = await anonymous('GET', `${wiki}/pages`);
  t.strictSame(
    listed.json.map(({ title }: { title: string }) => title),
    ['&&&&', 'Page With Name'],
  );
  t.equal(listed.headers['x-total-count'], '2');
  t.strictSame((await anonymous('GET', `${wiki}/pages?page=2&limit=1`)).json.length, 1);
  const revisions = (await anonymous('GET', `${wiki}/revisions/Page-With-Name`)).json;
  t.match(revisions, { count: 2, commits: [{ message: /^Better words/ }, { message: /^Add/ }] });
  const renamed = await alice.call('PATCH', `${wiki}/page/Page-With-Name`, {
    title: 'Other',
    content_base64: base64('Changed\n'),
  });
  t.match(renamed.json, { title: 'Other' });
  const onto = await alice.call('PATCH', `${wiki}/page/Other`, { title: '&&&&', content_base64: base64('Lost') });
  t.match(onto, { status: 409, json: { error: { code: 'page_exists' } } }, 'a page is not renamed onto another');
  t.match((await anonymous('GET', `${wiki}/page/%26%26%26%26`)).json, { content_base64: base64('Signs') });
  t.match((await anonymous('GET', `${wiki}/page/Other`)).json, { content_base64: base64('Changed\n') });
  t.equal((await anonymous('GET', `${wiki}/page/Page-With-Name`)).status, 404);
  t.equal((await alice.call('DELETE', `${wiki}/page/Other`)).status, 204);
  t.equal((await alice.call('DELETE', `${wiki}/page/Other`)).status, 404);
  t.equal((await anonymous('GET', '/repos/alice/site')).json.has_wiki, true);
});

t.test('others may not write, and learn nothing of a private one', async (t) => {
  const page = { title: 'Secret', content_base64: base64('quagmire') };
  await alice.call('POST', '/repos/alice/cellar/wiki/new', page);
  const calls: [method: string, path: string, body?: object][] = [
    ['GET', 'pages'],
    ['GET', 'page/Secret'],
    ['GET', 'revisions/Secret'],
    ['POST', 'new', page],
    ['PATCH', 'page/Secret', page],
    ['DELETE', 'page/Secret'],
  ];
  for (const [method, path, body] of calls) {
    const hidden = await bob.call(method, `/repos/alice/cellar/wiki/${path}`, body);
    const absent = await bob.call(method, `/repos/alice/absent/wiki/${path}`, body);
    t.strictSame([hidden.status, hidden.body], [absent.status, absent.body], `${method} ${path}`);
    t.equal(hidden.status, 404);
    if (method !== 'GET')
      t.not((await bob.call(method, `${wiki}/${path}`, body)).status < 300, true, `${method} ${path}`);
  }
  const viewer = { kind: 'anonymous' } as const;
  await t.rejects(repositories.wikis.find(viewer, 'alice', 'cellar'), { message: 'Repository not found' });
});
