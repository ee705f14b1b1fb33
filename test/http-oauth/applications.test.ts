// Applications of people, organisations and the instance: pages and the API of Gitea, with those of others beside them.
import t from 'tap';
import { startOAuth } from '../fixtures/oauth-client.ts';
import type { OAuthFixture } from '../fixtures/oauth-client.ts';
import { sendRequest, signedIn } from '../fixtures/web-fixture.ts';
import type { Visitor } from '../fixtures/web-fixture.ts';

const redirect = 'https://ci.example.org/authorize';
let server: OAuthFixture;
let root: Visitor & { id: string };

t.before(async () => {
  server = await startOAuth(t);
  root = await signedIn(server.web, 'carol', { isAdministrator: true });
  const { viewer } = (await server.web.modules.accounts.viewerOfSession(server.alice.cookies.get('hearth_session')!, {
    address: null,
  }))!;
  await server.web.modules.organisations.create(viewer, { name: 'crew', displayName: 'Crew' });
});

const clientIdIn = (body: string): string => /id="client-id"[^>]*value="([^"]+)"/.exec(body)?.[1] ?? '';

t.test('the same pages for each kind of owner', async (t) => {
  const places: [string, () => Visitor, (() => Visitor)[]][] = [
    ['/settings', () => server.alice, [() => server.bob]],
    ['/orgs/crew/settings', () => server.alice, [() => server.bob, () => root]],
    ['/admin', () => root, [() => server.alice, () => server.bob]],
  ];
  for (const [place, owner, others] of places) {
    const list = `${place}/applications`;
    t.match((await owner().get(list)).body, /Add an application/, list);
    const form = { name: 'CI', redirect_uris: `${redirect}\r\n\r\n${redirect}`, confidential: 'yes' };
    const added = await owner().post(list, form);
    t.equal(added.status, 303);
    const secretPage = await owner().get(added.headers.location ?? '');
    t.match(secretPage.body, /hts_[A-Za-z0-9_-]{43}/, 'the secret is shown');
    t.match(secretPage.headers['cache-control'], /no-store/);
    t.equal((await owner().get(added.headers.location ?? '')).status, 303, 'once');
    const [, at = ''] = /^(.*\/applications\/[^/]+)\/secret/.exec(added.headers.location ?? '') ?? [];
    const shown = await owner().get(at);
    const clientId = clientIdIn(shown.body);
    t.match(clientId, /^[0-9a-f-]{36}$/);
    t.notMatch(shown.body, /hts_[A-Za-z0-9_-]{43}/);
    for (const other of others) {
      const id = at.split('/').at(-1)!;
      for (const foreign of [at, `/settings/applications/${id}`])
        for (const [method, path] of [
          ['get', foreign],
          ['post', foreign],
          ['post', `${foreign}/secret`],
          ['post', `${foreign}/delete`],
        ] as const) {
          const { status } = method === 'get' ? await other().get(path) : await other().post(path, form);
          t.equal(status, 404, `${method} ${path}`);
        }
    }
    const edited = await owner().post(at, { ...form, name: 'Build', redirect_uris: 'https://build.example.org/' });
    t.match(edited.headers.location, /done=application-saved/);
    t.match((await owner().get(at)).body, /https:\/\/build\.example\.org\//);
    const replaced = await owner().post(`${at}/secret`);
    t.match((await owner().get(replaced.headers.location ?? '')).body, /hts_/);
    t.equal((await owner().post(`${at}/delete`)).status, 303);
    t.equal((await owner().get(at)).status, 404);
    t.equal(await server.web.modules.oauth.applications.find(clientId), null);
  }
});

t.test('refused forms keep what was typed', async (t) => {
  const table: [string, Record<string, string>, RegExp][] = [
    ['no name', { name: ' ', redirect_uris: redirect }, /Enter a name for the application/],
    ['no address', { name: 'x', redirect_uris: ' \n' }, /Enter at least one redirect address/],
    ['a relative one', { name: 'x', redirect_uris: '/authorize' }, /is not an absolute address/],
    ['a script', { name: 'x', redirect_uris: 'javascript:alert(1)', confidential: 'no' }, /must not use the scheme/],
    ['a fragment', { name: 'x', redirect_uris: `${redirect}#a` }, /must not have a fragment/],
    ['an empty fragment', { name: 'x', redirect_uris: `${redirect}#` }, /must not have a fragment/],
    ['credentials', { name: 'x', redirect_uris: 'https://a:b@example.org/' }, /username or password/],
    ['a wildcard', { name: 'x', redirect_uris: 'https://*.example.org/' }, /has a character/],
    ['a backslash', { name: 'x', redirect_uris: 'https:\\\\example.org/' }, /has a character/],
    ['an own scheme with a secret', { name: 'x', redirect_uris: 'org.example:/a' }, /only a public client/],
    [
      'web and machine in one',
      { name: 'x', redirect_uris: `${redirect}\nhttp://127.0.0.1`, confidential: 'no' },
      /make two applications/,
    ],
    ['too long', { name: 'x', redirect_uris: `https://example.org/${'a'.repeat(2000)}` }, /is longer than/],
    [
      'too many',
      { name: 'x', redirect_uris: Array.from({ length: 21 }, (_, n) => `https://example.org/${n}`).join('\n') },
      /at most 20/,
    ],
  ];
  for (const [name, form, message] of table) {
    const { status, body } = await server.alice.post('/settings/applications', { confidential: 'yes', ...form });
    t.equal(status, 422, name);
    t.match(body, message, name);
  }
  t.equal((await server.web.modules.oauth.applications.list({ kind: 'user', id: server.alice.id })).length, 0);
});

t.test('the API', async (t) => {
  const { web, alice, bob } = server;
  const tokenOf = async (id: string, access: 'admin' | 'write') =>
    (await web.modules.accounts.addToken(id, { name: access, access, repositoryIds: null, expiresAt: null })).secret;
  const call = async (secret: string, method: string, path: string, body?: object) => {
    const response = await sendRequest(web, `/api/v1/user/applications/oauth2${path}`, {
      method,
      headers: { Authorization: `token ${secret}`, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, json: response.body === '' ? null : (JSON.parse(response.body) as unknown) };
  };
  const own = await tokenOf(alice.id, 'admin');
  const foreign = await tokenOf(bob.id, 'admin');
  const input = { name: 'Woodpecker', redirect_uris: [redirect], confidential_client: true };
  t.equal((await call(await tokenOf(alice.id, 'write'), 'POST', '', input)).status, 403);
  const made = await call(own, 'POST', '', input);
  t.match(made, { status: 201, json: { ...input, client_id: /^[0-9a-f-]{36}$/, client_secret: /^hts_/ } });
  const { id, client_secret: first } = made.json as { id: number; client_secret: string };
  t.match(await call(own, 'GET', ''), { status: 200, json: [{ id, client_secret: '' }] });
  t.match(await call(own, 'GET', `/${id}`), { status: 200, json: { id, name: 'Woodpecker' } });
  const changed = await call(own, 'PATCH', `/${id}`, { ...input, name: 'CI' });
  t.match(changed, { status: 200, json: { id, name: 'CI', client_secret: /^hts_/ } });
  t.not((changed.json as { client_secret: string }).client_secret, first);
  const opened = await call(own, 'PATCH', `/${id}`, { ...input, confidential_client: false });
  t.match(opened, { status: 200, json: { confidential_client: false, client_secret: '' } }, 'a public one has none');
  const clientId = (made.json as { client_id: string }).client_id;
  const [row] = await web.modules.db.read.query('SELECT * FROM oauth_applications WHERE client_id = ?', [clientId]);
  t.match(row, { secret_hash: null, secret_ending: null }, 'and none is kept for later');
  const closed = await call(own, 'PATCH', `/${id}`, input);
  t.match(closed, { status: 200, json: { confidential_client: true, client_secret: /^hts_/ } });
  t.strictSame(await call(foreign, 'GET', ''), { status: 200, json: [] });
  for (const [method, body] of [['GET'], ['PATCH', input], ['DELETE']] as [string, object?][])
    t.equal((await call(foreign, method, `/${id}`, body)).status, 404, `${method} by another`);
  t.equal((await call(own, 'POST', '', { ...input, redirect_uris: ['nowhere'] })).status, 422);
  t.equal((await call(own, 'DELETE', `/${id}`)).status, 204);
  t.match(await call(own, 'GET', `/${id}`), { status: 404 });
});
