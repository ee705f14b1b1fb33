// What an attacker of OAuth2 and OpenID Connect tries (RFC 9700, 6749, 7636, 8628): addresses that are nearly the
// registered one, codes and tokens of others, weaker proofs, wider scopes, parameters twice, and tokens of applications
// that are gone.
import t from 'tap';
import { askFor, authorizePath, callProtocol, newPkce, pathOf, startOAuth } from '../fixtures/oauth-client.ts';
import type { OAuthFixture, RegisteredClient, TokenAnswer } from '../fixtures/oauth-client.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';

t.setTimeout(300_000);

const redirect = 'https://app.example.org/back';
const tokenPath = '/login/oauth/access_token';

let server: OAuthFixture;
let app: RegisteredClient;
let other: RegisteredClient;
let tool: RegisteredClient;

t.before(async () => {
  server = await startOAuth(t);
  const { alice, bob, web } = server;
  app = await server.add(
    { kind: 'user', id: alice.id },
    { redirectUris: [redirect, `${redirect}/other`], name: 'Application' },
  );
  other = await server.add({ kind: 'user', id: bob.id }, { redirectUris: [redirect], name: 'Another' });
  tool = await server.add(
    { kind: 'user', id: bob.id },
    { redirectUris: ['http://127.0.0.1:4000/back', 'http://[::1]/back'], isConfidential: false, name: 'Tool' },
  );
  const secret = alice.cookies.get('hearth_session')!;
  const { viewer } = (await web.modules.accounts.viewerOfSession(secret, { address: null }))!;
  await web.modules.repositories.create(viewer, { name: 'vault', visibility: 'PRIVATE' });
});

const queryOf = (client: RegisteredClient, more: Record<string, string> = {}) => ({
  client_id: client.clientId,
  redirect_uri: redirect,
  scope: 'openid read:repository',
  ...more,
});

/** A code for alice, with the verifier that belongs to it; null asks without PKCE. */
async function newCode(client: RegisteredClient, more: Record<string, string> = {}, usesPkce = true) {
  const { verifier, challenge } = newPkce();
  const proof: Record<string, string> = usesPkce ? { code_challenge: challenge, code_challenge_method: 'S256' } : {};
  const { callback } = await askFor(server, server.alice, queryOf(client, { ...proof, ...more }));
  return { code: callback?.searchParams.get('code') ?? '', verifier, callback };
}

const redeem = (client: RegisteredClient, form: Record<string, string>): Promise<TokenAnswer> =>
  callProtocol(server.web, tokenPath, { grant_type: 'authorization_code', redirect_uri: redirect, ...form }, client);

async function tokensOf(client: RegisteredClient, more: Record<string, string> = {}) {
  const { code, verifier } = await newCode(client, more);
  const { status, json } = await redeem(client, { code, code_verifier: verifier });
  t.equal(status, 200, JSON.stringify(json));
  return { access: String(json['access_token']), refresh: String(json['refresh_token']) };
}

const refresh = (client: RegisteredClient, token: string, more: Record<string, string> = {}) =>
  callProtocol(server.web, tokenPath, { grant_type: 'refresh_token', refresh_token: token, ...more }, client);

/** Where a token may be tried: the API, git and LFS as password of Basic, artifacts of jobs. */
async function statusesOf(token: string): Promise<Record<string, number>> {
  const { web } = server;
  const basic = { Authorization: `Basic ${Buffer.from(`oauth2:${token}`).toString('base64')}` };
  const bearer = { Authorization: `Bearer ${token}` };
  const batch = JSON.stringify({ operation: 'download', objects: [{ oid: 'a'.repeat(64), size: 1 }] });
  const lfs = { 'Content-Type': 'application/vnd.git-lfs+json', Accept: 'application/vnd.git-lfs+json' };
  const asked = {
    api: await sendRequest(web, '/api/v1/repos/alice/vault', { headers: bearer }),
    git: await sendRequest(web, '/git/alice/vault.git/info/refs?service=git-upload-pack', { headers: basic }),
    lfs: await sendRequest(web, '/git/alice/vault.git/info/lfs/objects/batch', {
      method: 'POST',
      headers: { ...basic, ...lfs, 'Content-Length': String(batch.length) },
      body: batch,
    }),
    artifacts: await sendRequest(web, '/twirp/github.actions.results.api.v1.ArtifactService/ListArtifacts', {
      method: 'POST',
      headers: { ...bearer, 'Content-Type': 'application/json', 'Content-Length': '2' },
      body: '{}',
    }),
    userinfo: await sendRequest(web, '/login/oauth/userinfo', { headers: bearer }),
  };
  return Object.fromEntries(Object.entries(asked).map(([name, { status }]) => [name, status]));
}

const valid = { api: 200, git: 200, lfs: 200, artifacts: 401, userinfo: 200 };
const ended = { api: 401, git: 401, lfs: 401, artifacts: 401, userinfo: 401 };

t.test('addresses that are nearly the registered one are shown an error, and nobody is led there', async (t) => {
  const near: [client: RegisteredClient, address: string][] = [
    ...[
      'https://app.example.org:444/back',
      'https://app.example.org:443/back',
      'https://app.example.org/back/',
      'https://app.example.org/back/more',
      'https://app.example.org/back/../back',
      'https://app.example.org/back/..%2fevil',
      'https://app.example.org/b%61ck',
      'https://app.example.org/BACK',
      'HTTPS://app.example.org/back',
      'https://APP.example.org/back',
      'https://app.example.org./back',
      'https://app.example.org/back?x=1',
      'https://app.example.org/back?',
      'https://app.example.org/back#',
      'https://app.example.org/back#fragment',
      'https://alice@app.example.org/back',
      'https://app.example.org@evil.example/back',
      'https://evil.example/https://app.example.org/back',
      'https://app.example.org.evil.example/back',
      'https://evil.app.example.org/back',
      'https:app.example.org/back',
      'https:\\\\app.example.org\\back',
      'http://app.example.org/back',
      '//app.example.org/back',
      '/back',
      'javascript:alert(1)',
      'data:text/html,x',
      ' https://app.example.org/back',
      'https://app.example.org/back\n',
      'https://app.example.org/back\0',
      'https://app.example.org/back https://evil.example/',
    ].map((address): [RegisteredClient, string] => [app, address]),
    ...[
      'http://localhost:4000/back',
      'http://127.0.0.2:4000/back',
      'http://127.1:4000/back',
      'http://2130706433:4000/back',
      'http://127.0.0.1.evil.example:4000/back',
      'http://127.0.0.1:4000@evil.example/back',
      'https://127.0.0.1:4000/back',
      'http://127.0.0.1:4000/back/',
      'http://127.0.0.1:4000/back?x=1',
      'http://127.0.0.1:4000/back#x',
      'http://127.0.0.1:99999/back',
      'http://[::2]:5000/back',
    ].map((address): [RegisteredClient, string] => [tool, address]),
  ];
  for (const [client, address] of near) {
    const answer = await server.alice.get(authorizePath(queryOf(client, { redirect_uri: address })));
    t.equal(answer.status, 400, JSON.stringify(address));
    t.equal(answer.headers.location, undefined, `${JSON.stringify(address)} is no redirect`);
    t.notMatch(answer.headers, { refresh: /./ }, 'nor a page that leads on');
    t.notMatch(answer.body, /href="(https?:)?\/\/evil|href="javascript:/, 'nor a link');
  }
  // Another port of a loopback address is what RFC 8252, 7.3, wants.
  for (const address of ['http://127.0.0.1:4001/back', 'http://[::1]:4002/back']) {
    const { challenge } = newPkce();
    const proof = { code_challenge: challenge, code_challenge_method: 'S256' };
    const { callback } = await askFor(server, server.alice, queryOf(tool, { redirect_uri: address, ...proof }));
    t.equal(callback?.href.split('?')[0], address);
  }
});

t.test('a code is worth nothing without what belongs to it', async (t) => {
  const own = () => app;
  type Form = (asked: { verifier: string }) => Record<string, string>;
  const right: Form = ({ verifier }) => ({ code_verifier: verifier });
  const table: [name: string, usesPkce: boolean, form: Form, client: () => RegisteredClient][] = [
    ['no verifier although a challenge was given', true, () => ({}), own],
    ['an empty verifier', true, () => ({ code_verifier: '' }), own],
    ['another verifier', true, ({ verifier }) => ({ code_verifier: verifier.slice(1) + verifier[0]! }), own],
    ['a verifier although no challenge was given', false, right, own],
    ['by another application', true, right, () => other],
    ['by a public one', true, right, () => tool],
    ['without the address, of which there are two', true, (asked) => ({ ...right(asked), redirect_uri: '' }), own],
    ['with the other address', true, (asked) => ({ ...right(asked), redirect_uri: `${redirect}/other` }), own],
    ['with a foreign address', true, (asked) => ({ ...right(asked), redirect_uri: 'https://evil.example/' }), own],
    ['as another grant', true, (asked) => ({ ...right(asked), grant_type: 'client_credentials' }), own],
    ['as a password', true, (asked) => ({ ...right(asked), grant_type: 'password' }), own],
  ];
  for (const [name, usesPkce, form, client] of table) {
    const asked = await newCode(app, {}, usesPkce);
    t.not(asked.code, '', name);
    const { status, json } = await redeem(client(), { code: asked.code, ...form(asked) });
    t.ok(status === 400 || status === 401, `${name}: ${status}`);
    t.match(json['error'], /^(invalid_grant|invalid_request|unsupported_grant_type|unauthorized_client)$/, name);
    t.notOk('access_token' in json || 'id_token' in json, name);
  }
});

t.test('a weaker proof is refused before the user is asked', async (t) => {
  const { challenge, verifier } = newPkce();
  const address = 'http://127.0.0.1:4000/back';
  const proofs: Record<string, string>[] = [
    {},
    { code_challenge: verifier, code_challenge_method: 'plain' },
    { code_challenge: challenge },
    { code_challenge: 'short', code_challenge_method: 'S256' },
    { code_challenge_method: 'S256' },
    { code_challenge: challenge, code_challenge_method: 's256' },
  ];
  for (const proof of proofs) {
    const { headers } = await server.alice.get(authorizePath(queryOf(tool, { redirect_uri: address, ...proof })));
    const location = new URL(headers.location ?? '', server.web.origin);
    t.equal(location.searchParams.get('error'), 'invalid_request', JSON.stringify(proof));
    t.equal(location.origin, 'http://127.0.0.1:4000', 'told to the application');
    t.equal(location.searchParams.get('code'), null);
  }
});

t.test('answers name who gave them, and say the state of the request', async (t) => {
  const { callback } = await newCode(app);
  t.equal(callback?.searchParams.get('iss'), server.web.origin);
  t.equal(callback?.searchParams.get('state'), 'the state');
  const refused = await askFor(server, server.alice, queryOf(app, { scope: 'openid sudo', prompt: 'consent' }), 'deny');
  t.equal(refused.callback?.searchParams.get('error'), 'access_denied');
  t.equal(refused.callback?.searchParams.get('iss'), server.web.origin, 'also of a refusal');
  const { body } = await sendRequest(server.web, '/.well-known/openid-configuration');
  t.match(JSON.parse(body), { issuer: server.web.origin, authorization_response_iss_parameter_supported: true });
});

t.test('parameters twice, unknown response types, and modes that were not asked for', async (t) => {
  const base = new URLSearchParams({ response_type: 'code', state: 's', ...queryOf(app) });
  for (const name of ['client_id', 'redirect_uri', 'response_type', 'scope', 'state', 'code_challenge']) {
    const query = `${base}&${name}=${encodeURIComponent(name === 'redirect_uri' ? 'https://evil.example/' : 'code')}`;
    const twice = name === 'code_challenge' ? `${query}&code_challenge=x` : query;
    const { status, headers } = await server.alice.get(`/login/oauth/authorize?${twice}`);
    t.notMatch(String(headers.location ?? ''), /evil\.example|[?&]code=|\/consent\//, name);
    t.ok(status === 400 || /error=invalid_request/.test(String(headers.location)), `${name}: ${status}`);
  }
  for (const type of ['none', 'token', 'id_token', 'code token', 'code id_token', 'id_token token', 'x', '']) {
    const { status, headers } = await server.alice.get(authorizePath(queryOf(app, { response_type: type })));
    const location = String(headers.location ?? '');
    t.notMatch(location, /[?&#](code|access_token|id_token)=|\/consent\//, type);
    t.ok(status === 400 || /error=(unsupported_response_type|invalid_request)/.test(location), `${type}: ${status}`);
  }
  const { code, verifier } = await newCode(app);
  const form = new URLSearchParams({ grant_type: 'authorization_code', code, code_verifier: verifier });
  const twice = `${form}&redirect_uri=${encodeURIComponent(redirect)}&code=${code}`;
  const answer = await sendRequest(server.web, tokenPath, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`${app.clientId}:${app.secret}`).toString('base64')}`,
      'Content-Type': 'application/x-www-form-urlencoded',
      'Content-Length': String(twice.length),
    },
    body: twice,
  });
  t.equal(answer.status, 400, 'a code twice');
  t.notMatch(answer.body, /access_token/);
});

t.test('without a page nobody is asked and nothing is allowed', async (t) => {
  const fresh = await server.add({ kind: 'instance' }, { redirectUris: [redirect], name: 'Fresh' });
  const silent = await server.alice.get(authorizePath(queryOf(fresh, { prompt: 'none' })));
  t.match(silent.headers.location, /error=consent_required|error=interaction_required/);
  const signedOut = await sendRequest(server.web, authorizePath(queryOf(fresh, { prompt: 'none' })));
  t.match(signedOut.headers.location, /error=login_required/);
  const both = await server.alice.get(authorizePath(queryOf(fresh, { prompt: 'none login' })));
  t.match(both.headers.location, /error=invalid_request/);
  const begun = await server.alice.get(authorizePath(queryOf(fresh)));
  const at = pathOf(server.web, begun.headers.location);
  const page = await server.alice.get(at);
  t.match(page.headers['content-security-policy'], /frame-ancestors 'none'/);
  t.match(page.headers['cache-control'], /no-store/);
  const foreign: Record<string, string>[] = [
    { Origin: 'https://evil.example' },
    { Origin: 'null' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
  ];
  for (const headers of foreign)
    t.equal((await server.alice.post(`${at}/allow`, {}, headers)).status, 403, JSON.stringify(headers));
  t.not((await server.alice.get(`${at}/allow`)).status, 200, 'an address alone allows nothing');
  t.match((await server.alice.get(authorizePath(queryOf(fresh, { prompt: 'none' })))).headers.location, /error=/);
});

t.test('a refresh gives no more than was allowed, and only to whom it was', async (t) => {
  const first = await tokensOf(app);
  for (const scope of ['openid read:repository write:repository', 'all', 'admin:org', 'sudo']) {
    const { status, json } = await refresh(app, first.refresh, { scope });
    t.equal(status, 400, scope);
    t.notOk('access_token' in json, scope);
  }
  t.match(await statusesOf(first.access), valid, 'refused requests end nothing');
  t.equal((await refresh(other, first.refresh)).status, 400);
  t.equal((await refresh(tool, first.refresh)).status, 400);
  t.equal((await refresh({ ...app, secret: 'wrong' }, first.refresh)).status, 401);
  t.equal((await refresh(app, first.access)).status, 400, 'an access token refreshes nothing');
  t.strictSame(await statusesOf(first.refresh), ended, 'a refresh token opens nothing');
  const second = await refresh(app, first.refresh, { scope: 'openid' });
  t.equal(second.status, 200);
  t.match(
    await statusesOf(String(second.json['access_token'])),
    { api: 401, git: 401, userinfo: 200 },
    'less is given',
  );
  t.equal((await refresh(app, first.refresh)).status, 400, 'used before');
  t.equal((await refresh(app, String(second.json['refresh_token']))).status, 400, 'its second use ends its successor');
});

t.test('tokens end with their revocation, and with their application, wherever they opened something', async (t) => {
  const revoked = await tokensOf(app);
  const kept = await tokensOf(other);
  t.match(await statusesOf(revoked.access), valid);
  for (const client of [other, tool])
    await callProtocol(server.web, '/login/oauth/revoke', { token: revoked.access }, client);
  t.match(await statusesOf(revoked.access), valid, 'by nobody else');
  t.equal((await callProtocol(server.web, '/login/oauth/revoke', { token: revoked.access }, app)).status, 200);
  t.strictSame(await statusesOf(revoked.access), ended);
  t.match(await statusesOf(kept.access), valid);

  const gone = await server.add({ kind: 'user', id: server.bob.id }, { redirectUris: [redirect], name: 'Gone' });
  const tokens = await tokensOf(gone);
  const { code, verifier } = await newCode(gone);
  t.match(await statusesOf(tokens.access), valid);
  await server.web.modules.oauth.applications.remove({ kind: 'user', id: server.bob.id }, gone.id);
  t.strictSame(await statusesOf(tokens.access), ended);
  t.equal((await refresh(gone, tokens.refresh)).status, 401);
  t.equal((await redeem(gone, { code, code_verifier: verifier })).status, 401);
  t.equal((await server.alice.get(authorizePath(queryOf(gone)))).status, 400);
  t.match(await statusesOf(kept.access), valid);
});

t.test('a device code: asked for by one application, allowed once, used once, for a time', async (t) => {
  const start = async (client = tool) =>
    (await callProtocol(server.web, '/login/oauth/device/code', { scope: 'read:repository' }, client)).json;
  const poll = (code: unknown, client = tool) =>
    callProtocol(
      server.web,
      tokenPath,
      { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: String(code) },
      client,
    );
  const { device_code: device, user_code: user } = await start();
  t.match(await poll(device), { status: 400, json: { error: 'authorization_pending' } });
  t.match(await poll(user), { status: 400, json: { error: 'invalid_grant' } }, 'what a person types opens nothing');
  const foreign: Record<string, string>[] = [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }];
  for (const headers of foreign)
    t.equal(
      (await server.alice.post('/login/device', { user_code: String(user), answer: 'allow' }, headers)).status,
      403,
    );
  t.match(await poll(device), { json: { error: 'authorization_pending' } }, 'a form of another site allows nothing');
  await server.alice.post('/login/device', { user_code: String(user), answer: 'allow' });
  t.match(await poll(device, other), { status: 400, json: { error: 'invalid_grant' } }, 'another application');
  t.equal((await poll(device)).status, 200);
  t.match(await poll(device), { status: 400, json: { error: 'invalid_grant' } }, 'the second time');
  const late = await start();
  server.web.clock.advance(10 * 60_000 + 1);
  t.match(await poll(late['device_code']), { status: 400, json: { error: /^(expired_token|invalid_grant)$/ } });
});
