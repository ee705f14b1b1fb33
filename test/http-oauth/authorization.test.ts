// The OAuth2 provider by its addresses: codes, tokens, refreshing, revocation, refusals, with two people and three
// kinds of clients.
import t from 'tap';
import { askFor, authorizePath, callProtocol, newPkce, pathOf, startOAuth } from '../fixtures/oauth-client.ts';
import type { OAuthFixture, RegisteredClient } from '../fixtures/oauth-client.ts';
import { sendRequest, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';

const redirect = 'https://ci.example.org/authorize';
const token = '/login/oauth/access_token';

let server: OAuthFixture;
let confidential: RegisteredClient;
let other: RegisteredClient;
let local: RegisteredClient;

t.before(async () => {
  server = await startOAuth(t);
  const { alice, bob } = server;
  confidential = await server.add({ kind: 'user', id: alice.id }, { redirectUris: [redirect] });
  other = await server.add({ kind: 'user', id: bob.id }, { redirectUris: [redirect], name: 'Another' });
  local = await server.add(
    { kind: 'instance' },
    { redirectUris: ['http://127.0.0.1/', 'com.example.tool:/back'], isConfidential: false, name: 'Tool' },
  );
  await server.web.modules.repositories.create((await viewerOf('alice'))!, { name: 'secret', visibility: 'PRIVATE' });
  await server.web.modules.repositories.create((await viewerOf('bob'))!, { name: 'hidden', visibility: 'PRIVATE' });
});

async function viewerOf(username: 'alice' | 'bob') {
  const browser = server[username];
  const secret = browser.cookies.get('hearth_session')!;
  return (await server.web.modules.accounts.viewerOfSession(secret, { address: null }))?.viewer;
}

/** A code of a new request of alice. */
async function newCode(client: RegisteredClient, query: Record<string, string> = {}, browser = server.alice) {
  const pkce = newPkce();
  const { callback, consent, last } = await askFor(server, browser, {
    client_id: client.clientId,
    redirect_uri: redirect,
    code_challenge: pkce.challenge,
    code_challenge_method: 'S256',
    ...query,
  });
  return { code: callback?.searchParams.get('code') ?? '', verifier: pkce.verifier, callback, consent, last };
}

const redeem = (
  client: RegisteredClient,
  { code, verifier }: { code: string; verifier: string },
  more: Record<string, string> = {},
) =>
  callProtocol(
    server.web,
    token,
    { grant_type: 'authorization_code', code, redirect_uri: redirect, code_verifier: verifier, ...more },
    client,
  );

const refresh = (client: RegisteredClient, refreshToken: unknown) =>
  callProtocol(server.web, token, { grant_type: 'refresh_token', refresh_token: String(refreshToken) }, client);

const whoIs = async (accessToken: unknown, path = '/api/v1/user') => {
  const response = await sendRequest(server.web, path, { headers: { Authorization: `Bearer ${accessToken}` } });
  return { status: response.status, json: JSON.parse(response.body || '{}') as Record<string, unknown> };
};

t.test('a person allows an application, which acts as them', async (t) => {
  const asked = await newCode(confidential, { scope: 'openid profile write:repository' });
  t.match(asked.consent?.body, /Allow Build server\?/);
  t.match(asked.consent?.body, /push to repositories/);
  t.match(asked.consent?.body, /ci\.example\.org/);
  t.equal(asked.callback?.origin + (asked.callback?.pathname ?? ''), redirect);
  t.equal(asked.callback?.searchParams.get('state'), 'the state');
  t.equal(asked.callback?.searchParams.get('iss'), server.web.origin);
  const { status, json } = await redeem(confidential, asked);
  t.equal(status, 200, JSON.stringify(json));
  t.match(json, { token_type: 'Bearer', expires_in: 3600, access_token: /^hto_/, refresh_token: /^htr_/ });
  t.match(await whoIs(json['access_token']), { status: 200, json: { login: 'alice' } });
  t.match(await whoIs(json['access_token'], '/api/v1/repos/alice/secret'), { status: 200 });
  t.match(await whoIs(json['access_token'], '/api/v1/repos/bob/hidden'), { status: 404 });
  // Writing in repositories is no right to change the account.
  t.match(await whoIs(json['access_token'], '/api/v1/users/alice/tokens'), { status: 403 });
  const refs = await sendRequest(server.web, '/git/alice/secret.git/info/refs?service=git-upload-pack', {
    headers: { Authorization: `Basic ${Buffer.from(`oauth2:${json['access_token']}`).toString('base64')}` },
  });
  t.equal(refs.status, 200, 'git takes the token as password');

  t.test('the second time nobody is asked', async (t) => {
    const again = await newCode(confidential, { scope: 'openid profile write:repository' });
    t.equal(again.consent, null);
    t.equal((await redeem(confidential, again)).status, 200);
    const more = await newCode(confidential, { scope: 'openid admin:org all' });
    t.not(more.consent, null, 'but for more');
    const bobs = await newCode(confidential, { scope: 'openid' }, server.bob);
    t.not(bobs.consent, null, 'and another person is');
  });
});

t.test('a request without scopes asks for all, as in Gitea, and one for identity opens nothing else', async (t) => {
  const all = await redeem(other, await newCode(other));
  t.match(await whoIs(all.json['access_token'], '/api/v1/users/alice/tokens'), { status: 200 });
  // Words of tea, of one part, and of GitHub.
  const words = 'admin user issue misc notification organization package repository';
  for (const [scope, granted, consented] of [
    ['', 'all', /Do everything that you can do/],
    [words, words.replaceAll(/\w+/g, 'write:$&'), /Do everything that you can do/],
    ['repository', 'write:repository', /Read everything that you can read, and push/],
    ['openid repository', 'openid write:repository', /Read everything that you can read, and push/],
    ['package', 'write:package', /Download and publish packages as you/],
    ['repo admin:org', 'all', /Do everything that you can do/],
    ['openid repo', 'openid', /Know which account you have here/],
  ] as const) {
    const asked = await newCode(other, { scope, prompt: 'consent' });
    t.match(asked.consent, { body: consented }, scope);
    t.same(
      String((await redeem(other, asked)).json['scope'])
        .split(' ')
        .sort(),
      granted.split(' ').sort(),
      scope,
    );
  }
  const onlyName = await redeem(
    confidential,
    await newCode(confidential, { scope: 'openid email', prompt: 'consent' }),
  );
  t.equal((await whoIs(onlyName.json['access_token'])).status, 401);
  t.match(await whoIs(onlyName.json['access_token'], '/login/oauth/userinfo'), { status: 200 });
});

t.test('codes', async (t) => {
  const used = await newCode(confidential, { scope: 'openid read:user' });
  const first = await redeem(confidential, used);
  t.equal(first.status, 200);
  t.match(await redeem(confidential, used), { status: 400, json: { error: 'invalid_grant' } }, 'a code is used once');
  t.equal((await whoIs(first.json['access_token'])).status, 401, 'and its second use ends what the first one gave');

  const together = await newCode(confidential, { scope: 'openid read:user' });
  const both = await Promise.all([redeem(confidential, together), redeem(confidential, together)]);
  t.ok(both.filter(({ status }) => status === 200).length <= 1, 'of two at once at most one gets tokens');

  const table: [string, RegisteredClient, Record<string, string>][] = [
    ['another application', other, {}],
    ['another redirect address', confidential, { redirect_uri: `${redirect}/` }],
    ['another verifier', confidential, { code_verifier: newPkce().verifier }],
    ['an unknown code', confidential, { code: 'x'.repeat(43) }],
    ['a wrong secret', { ...confidential, secret: other.secret }, {}],
    ['no secret', { ...confidential, secret: null }, {}],
  ];
  for (const [name, client, more] of table) {
    const asked = await newCode(confidential, { scope: 'openid read:user' });
    const { status, json } = await redeem(client, asked, more);
    t.ok([400, 401].includes(status), `${name}: ${status}`);
    t.match(json['error'], /^invalid_(grant|client)$/, name);
    t.equal(json['access_token'], undefined, name);
  }
});

t.test('the secret may be in the form', async (t) => {
  const { code, verifier } = await newCode(confidential, { scope: 'openid read:user' });
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirect, code_verifier: verifier };
  t.equal((await callProtocol(server.web, token, form, confidential, { secretIn: 'form' })).status, 200);
});

t.test('refresh tokens rotate, and an old one ends them all', async (t) => {
  const first = await redeem(confidential, await newCode(confidential, { scope: 'openid read:user' }));
  const second = await refresh(confidential, first.json['refresh_token']);
  t.equal(second.status, 200);
  t.not(second.json['refresh_token'], first.json['refresh_token']);
  t.equal((await refresh(other, second.json['refresh_token'])).status, 400, 'not by another application');
  t.equal((await whoIs(second.json['access_token'])).status, 200);
  t.match(await refresh(confidential, first.json['refresh_token']), { status: 400, json: { error: 'invalid_grant' } });
  t.equal((await whoIs(second.json['access_token'])).status, 401);
  t.equal((await refresh(confidential, second.json['refresh_token'])).status, 400);
});

t.test('requests that lead nowhere', async (t) => {
  const { alice, web } = server;
  const ask = (query: Record<string, string>) => alice.get(authorizePath(query));
  const shown: [string, Record<string, string>][] = [
    ['an unknown application', { client_id: 'nobody', redirect_uri: redirect }],
    ['an address that is not registered', { client_id: confidential.clientId, redirect_uri: 'https://evil.example/' }],
    ['a longer one', { client_id: confidential.clientId, redirect_uri: `${redirect}/more` }],
    ['one with a query', { client_id: confidential.clientId, redirect_uri: `${redirect}?x=1` }],
    ['another port', { client_id: confidential.clientId, redirect_uri: 'https://ci.example.org:8443/authorize' }],
    ['a loopback host that is not registered', { client_id: local.clientId, redirect_uri: 'http://localhost:5000/' }],
  ];
  for (const [name, query] of shown) {
    const response = await ask(query);
    t.equal(response.status, 400, name);
    t.equal(response.headers.location, undefined, `${name}: no redirect`);
    t.match(response.body, /The application cannot continue/, name);
  }
  const told: [string, Record<string, string>, string][] = [
    [
      'no PKCE of a public client',
      { client_id: local.clientId, redirect_uri: 'http://127.0.0.1:5000/' },
      'invalid_request',
    ],
    [
      'plain PKCE',
      {
        client_id: local.clientId,
        redirect_uri: 'http://127.0.0.1:5000/',
        code_challenge: 'a'.repeat(43),
        code_challenge_method: 'plain',
      },
      'invalid_request',
    ],
    [
      'a token in the address',
      { client_id: confidential.clientId, redirect_uri: redirect, response_type: 'token' },
      'unsupported_response_type',
    ],
  ];
  for (const [name, query, error] of told) {
    const { location = '' } = (await ask(query)).headers;
    const { searchParams, hash } = new URL(location, web.origin);
    t.equal(searchParams.get('error') ?? new URLSearchParams(hash.slice(1)).get('error'), error, name);
  }
  const denied = await askFor(
    server,
    alice,
    { client_id: other.clientId, redirect_uri: redirect, scope: 'openid sudo', prompt: 'consent' },
    'deny',
  );
  t.equal(denied.callback?.searchParams.get('error'), 'access_denied');
});

t.test('who is not signed in, signs in first', async (t) => {
  const query = { client_id: confidential.clientId, redirect_uri: redirect, scope: 'openid' };
  const signedOut = await sendRequest(server.web, authorizePath(query));
  t.equal(signedOut.status, 303);
  t.match(signedOut.headers.location, /^\/login\?next=%2Flogin%2Foauth%2Fauthorize/);
  const silent = await sendRequest(server.web, authorizePath({ ...query, prompt: 'none' }));
  t.match(silent.headers.location, /error=login_required/);
});

t.test('a request belongs to the session in which it began', async (t) => {
  const { alice, bob, web } = server;
  const query = { client_id: other.clientId, redirect_uri: redirect, scope: 'openid write:user', prompt: 'consent' };
  const begun = await alice.get(authorizePath(query));
  const at = pathOf(web, begun.headers.location);
  t.equal((await bob.get(at)).status, 404);
  t.equal((await bob.post(`${at}/allow`)).status, 404);
  t.equal((await sendRequest(web, at)).status, 303, 'signedOuts sign in');
  const foreign = await alice.post(
    `${at}/allow`,
    {},
    { Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' },
  );
  t.equal(foreign.status, 403, 'a form of another site decides nothing');
  t.match((await alice.get(at)).headers, { 'content-security-policy': /frame-ancestors 'none'/ });
  t.equal((await alice.post(`${at}/allow`)).status, 200);
});

t.test('loopback addresses have any port, and own schemes are taken', async (t) => {
  for (const address of ['http://127.0.0.1:49152/', 'http://127.0.0.1:1025/', 'com.example.tool:/back']) {
    const asked = await newCode(local, { redirect_uri: address, scope: 'read:repository' });
    t.equal(asked.callback?.href.split('?')[0], address);
    const { status, json } = await redeem(local, asked, { redirect_uri: address });
    t.equal(status, 200, JSON.stringify(json));
  }
  const preset = { id: '', clientId: 'a4792ccc-144e-407e-86c9-5e7d8d9c3269', secret: null };
  const asked = await newCode(preset, { redirect_uri: 'http://127.0.0.1:40001', scope: 'write:repository' });
  t.equal((await redeem(preset, asked, { redirect_uri: 'http://127.0.0.1:40001' })).status, 200);
});

t.test('for the token, a loopback address may have another port, and nothing else', async (t) => {
  const issued = 'http://127.0.0.1:40001/back';
  const owner = { kind: 'user', id: server.alice.id } as const;
  const both = [issued, 'http://localhost/back', 'http://127.0.0.1/other'];
  const tool = await server.add(owner, { redirectUris: both, isConfidential: false, name: 'Tool' });
  const kept = await server.add(owner, { redirectUris: both, name: 'With a secret' });
  const table: [name: string, client: RegisteredClient, form: Record<string, string>, status: number][] = [
    ['the same', tool, {}, 200],
    ['port 0', tool, { redirect_uri: 'http://127.0.0.1:0/back' }, 200],
    ['no port', tool, { redirect_uri: 'http://127.0.0.1/back' }, 200],
    ['another path', tool, { redirect_uri: 'http://127.0.0.1:40001/other' }, 400],
    ['another name of the machine', tool, { redirect_uri: 'http://localhost:40001/back' }, 400],
    ['a query', tool, { redirect_uri: 'http://127.0.0.1:0/back?x=1' }, 400],
    ['a fragment', tool, { redirect_uri: 'http://127.0.0.1:0/back#x' }, 400],
    ['a user', tool, { redirect_uri: 'http://x@127.0.0.1:0/back' }, 400],
    ['https', tool, { redirect_uri: 'https://127.0.0.1:0/back' }, 400],
    ['another machine', tool, { redirect_uri: 'http://127.0.0.1.example.org:0/back' }, 400],
    ['no address', tool, { redirect_uri: 'port 0' }, 400],
    ['port 0 without the proof', tool, { redirect_uri: 'http://127.0.0.1:0/back', code_verifier: '' }, 400],
    [
      'port 0 with another proof',
      tool,
      { redirect_uri: 'http://127.0.0.1:0/back', code_verifier: newPkce().verifier },
      400,
    ],
    ['port 0, of an application with a secret', kept, { redirect_uri: 'http://127.0.0.1:0/back' }, 400],
  ];
  for (const [name, client, form, status] of table) {
    const asked = await newCode(client, { redirect_uri: issued, scope: 'read:repository', prompt: 'consent' });
    const answer = await redeem(client, asked, { redirect_uri: issued, ...form });
    t.equal(answer.status, status, `${name}: ${JSON.stringify(answer.json)}`);
  }
});

t.test('an application that is removed takes all that it was given with it, and nothing of another', async (t) => {
  const { web, alice } = server;
  const owner = { kind: 'user', id: alice.id } as const;
  const gone = await server.add(owner, { redirectUris: [redirect], name: 'Gone' });
  const tokensOf = async (client: RegisteredClient) =>
    (await redeem(client, await newCode(client, { scope: 'openid read:user', prompt: 'consent' }))).json;
  const [its, others] = [await tokensOf(gone), await tokensOf(confidential)];
  const kept = async ({ clientId }: RegisteredClient): Promise<string[]> => {
    const rows: { kind: string }[] = await web.modules.db.read.query(
      'SELECT kind FROM oauth_records WHERE client_id = ? ORDER BY kind',
      [clientId],
    );
    return rows.map(({ kind }) => kind);
  };
  const before = await kept(confidential);
  t.strictSame([...new Set(await kept(gone))], ['AccessToken', 'AuthorizationCode', 'Grant', 'RefreshToken']);
  await web.modules.oauth.applications.remove(owner, gone.id);
  t.strictSame(await kept(gone), []);
  t.equal((await whoIs(its['access_token'])).status, 401);
  t.strictSame(await kept(confidential), before);
  t.equal((await whoIs(others['access_token'])).status, 200);
});

t.test('revocation, introspection, and ends from this side', async (t) => {
  const tokensOf = async (client: RegisteredClient) =>
    (await redeem(client, await newCode(client, { scope: 'openid read:user' }))).json;
  const introspect = async (client: RegisteredClient, value: unknown) =>
    (await callProtocol(server.web, '/login/oauth/introspect', { token: String(value) }, client)).json;

  const one = await tokensOf(confidential);
  t.match(await introspect(confidential, one['access_token']), { active: true, client_id: confidential.clientId });
  t.match(await introspect(other, one['access_token']), { active: false }, 'another application learns nothing');
  const revoke = (client: RegisteredClient, value: unknown) =>
    callProtocol(server.web, '/login/oauth/revoke', { token: String(value) }, client);
  await revoke(other, one['access_token']);
  t.equal((await whoIs(one['access_token'])).status, 200, 'another application revokes nothing');
  t.equal((await revoke(confidential, one['refresh_token'])).status, 200);
  t.equal((await refresh(confidential, one['refresh_token'])).status, 400);

  const two = await tokensOf(confidential);
  const settings = await server.alice.get('/settings/applications');
  const [, grant = ''] = /applications\/grants\/([^/]+)\/delete/.exec(settings.body) ?? [];
  t.match(settings.body, /Build server/);
  t.equal((await server.bob.post(`/settings/applications/grants/${grant}/delete`)).status, 404, 'a grant of another');
  t.equal((await whoIs(two['access_token'])).status, 200);
  for (const { id } of await server.web.modules.oauth.grants.list(server.alice.id))
    t.equal((await server.alice.post(`/settings/applications/grants/${id}/delete`)).status, 303);
  t.equal((await whoIs(two['access_token'])).status, 401);
  t.equal((await refresh(confidential, two['refresh_token'])).status, 400);

  const three = await tokensOf(confidential);
  await server.web.modules.accounts.setDisabled(server.alice.id, true);
  t.equal((await whoIs(three['access_token'])).status, 401, 'a disabled account');
  for (const token of ['access_token', 'refresh_token'])
    t.strictSame(await introspect(confidential, three[token]), { active: false }, `${token} of a disabled account`);
  t.equal((await refresh(confidential, three['refresh_token'])).status, 400);
  await server.web.modules.accounts.setDisabled(server.alice.id, false);
  t.match(await introspect(confidential, three['access_token']), { active: true });
});

t.test('git and LFS ask by the realm by which credential helpers know the preset clients', async (t) => {
  const asks = ['/git/alice/secret.git/info/refs?service=git-upload-pack', '/git/alice/secret.git/info/lfs/locks'];
  const local = await startWeb(t);
  for (const path of asks) {
    const challenges = async (web: Web) => {
      const { status, headers } = await sendRequest(web, path);
      return [status, headers['www-authenticate']];
    };
    t.strictSame(await challenges(server.web), [401, 'Basic realm="Gitea", charset="UTF-8"'], path);
    t.strictSame(await challenges(local), [401, 'Basic realm="Hearth", charset="UTF-8"'], `${path}, no base_url`);
  }
});

t.test('what a person has allowed for a time counts until its last millisecond', async (t) => {
  const { web, alice, bob } = server;
  const { grants, records } = web.modules.oauth;
  const { clientId } = await server.add(
    { kind: 'user', id: alice.id },
    { redirectUris: ['https://short.example.org/'] },
  );
  const allowed = { accountId: bob.id, clientId, openid: { scope: 'openid' } };
  await records.save('Grant', 'for-a-minute', allowed, 60);
  const seen = async () => [
    await grants.of(bob.id, clientId),
    (await grants.list(bob.id)).some(({ id }) => id === 'for-a-minute'),
  ];
  t.strictSame(await seen(), ['for-a-minute', true]);
  web.clock.advance(59_999);
  t.strictSame(await seen(), ['for-a-minute', true]);
  web.clock.advance(1);
  t.strictSame(await seen(), [null, false]);
});
