// OpenID Connect with the package openid-client as the application: discovery, identity tokens, userinfo, devices,
// sign-out, rotated keys.
import { createRemoteJWKSet, jwtVerify } from 'jose';
import * as client from 'openid-client';
import t from 'tap';
import { askFor, callProtocol, newPkce, pathOf, startOAuth } from '../fixtures/oauth-client.ts';
import type { OAuthFixture, RegisteredClient } from '../fixtures/oauth-client.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';

const redirect = 'https://app.example.org/callback';
let server: OAuthFixture;
let app: RegisteredClient;
let tool: RegisteredClient;

t.before(async () => {
  server = await startOAuth(t);
  const { web, alice, bob } = server;
  app = await server.add({ kind: 'instance' }, { redirectUris: [redirect], name: 'Wiki' });
  tool = await server.add(
    { kind: 'user', id: bob.id },
    { redirectUris: ['http://127.0.0.1'], isConfidential: false, name: 'Tool' },
  );
  const secret = alice.cookies.get('hearth_session')!;
  const { viewer } = (await web.modules.accounts.viewerOfSession(secret, { address: null }))!;
  await web.modules.organisations.create(viewer, { name: 'crew', displayName: 'Crew' });
  const { id } = await web.modules.accounts.addresses.add(alice.id, { address: 'alice@example.org' });
  await web.modules.accounts.addresses.markVerified(alice.id, id);
  await web.modules.accounts.addresses.setPrimary(alice.id, id);
});

const configured = (registered: RegisteredClient) =>
  client.discovery(
    new URL(server.web.origin),
    registered.clientId,
    undefined,
    registered.secret === null ? client.None() : client.ClientSecretPost(registered.secret),
    { execute: [client.allowInsecureRequests] },
  );

t.test('signs a person in', async (t) => {
  const config = await configured(app);
  t.match(config.serverMetadata(), {
    issuer: server.web.origin,
    authorization_endpoint: `${server.web.origin}/login/oauth/authorize`,
    token_endpoint: `${server.web.origin}/login/oauth/access_token`,
    userinfo_endpoint: `${server.web.origin}/login/oauth/userinfo`,
    jwks_uri: `${server.web.origin}/login/oauth/keys`,
    code_challenge_methods_supported: ['S256'],
  });
  const { verifier, challenge } = newPkce();
  const { callback } = await askFor(server, server.alice, {
    client_id: app.clientId,
    redirect_uri: redirect,
    scope: 'openid profile email groups',
    nonce: 'the nonce',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  const tokens = await client.authorizationCodeGrant(config, callback!, {
    pkceCodeVerifier: verifier,
    expectedState: 'the state',
    expectedNonce: 'the nonce',
    idTokenExpected: true,
  });
  const expected = {
    sub: server.alice.id,
    preferred_username: 'alice',
    name: 'alice',
    email: 'alice@example.org',
    email_verified: true,
    groups: ['crew'],
  };
  t.match(tokens.claims(), { ...expected, iss: server.web.origin, aud: app.clientId });
  t.match(await client.fetchUserInfo(config, tokens.access_token, server.alice.id), expected);
  const keys = createRemoteJWKSet(new URL(config.serverMetadata().jwks_uri!));
  const checked = await jwtVerify(tokens.id_token!, keys, { issuer: server.web.origin, audience: app.clientId });

  t.test('a rotated key is published until its tokens are over', async (t) => {
    await server.web.modules.oauth.keys.rotate({ now: true });
    const list = async () =>
      JSON.parse((await sendRequest(server.web, '/login/oauth/keys')).body) as { keys: object[] };
    const { keys: both } = await list();
    t.equal(both.length, 2);
    t.match(both[1], { kid: checked.protectedHeader.kid });
    t.notOk(
      both.some((key) => 'd' in key),
      'no private key',
    );
    server.web.clock.advance(25 * 3_600_000);
    await server.web.modules.oauth.keys.rotate();
    t.equal((await list()).keys.length, 1);
  });
});

t.test('asks again who it is where the application wants it', async (t) => {
  server.web.clock.advance(3_600_000);
  const query = { client_id: app.clientId, redirect_uri: redirect, scope: 'openid', prompt: 'login' };
  const begun = await server.alice.get(
    `/login/oauth/authorize?${new URLSearchParams({ response_type: 'code', ...query })}`,
  );
  const at = pathOf(server.web, begun.headers.location);
  t.match((await server.alice.get(at)).body, /Confirm it is you/);
  const asks = await server.alice.post(`${at}/confirm`);
  t.equal(asks.status, 403, 'the last confirmation is too old');
  const confirmed = await server.alice.post(`${at}/confirm`, { confirm_password: 'correct horse battery' });
  t.equal(confirmed.status, 200);
  const [, to = ''] = /url=(.*)$/.exec(String(confirmed.headers['refresh'])) ?? [];
  t.match(
    (await server.alice.get(pathOf(server.web, to))).headers.location,
    /^https:\/\/app\.example\.org\/callback\?code=/,
  );
});

t.test('a device', async (t) => {
  const start = (more: Record<string, string> = {}) =>
    callProtocol(server.web, '/login/oauth/device/code', { scope: 'read:repository', ...more }, tool);
  const poll = (code: unknown) =>
    callProtocol(
      server.web,
      '/login/oauth/access_token',
      { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: String(code) },
      tool,
    );
  const { json } = await start();
  t.match(json, { user_code: /^[A-Z]{4}-[A-Z]{4}$/, verification_uri: `${server.web.origin}/login/device` });
  t.match(await poll(json['device_code']), { status: 400, json: { error: 'authorization_pending' } });
  const code = String(json['user_code']);
  t.equal((await server.alice.post('/login/device', { user_code: 'BBBB-CCCC' })).status, 422);
  const shown = await server.alice.get(`/login/device?user_code=${code.toLowerCase().replace('-', '%20')}`);
  t.match(shown.body, /Tool wants to use your account/);
  t.match(shown.body, /Read everything that you can read/);
  t.match((await server.alice.post('/login/device', { user_code: code, answer: 'allow' })).body, /is connected/);
  const { status, json: tokens } = await poll(json['device_code']);
  t.equal(status, 200, JSON.stringify(tokens));
  const user = await sendRequest(server.web, '/api/v1/user', {
    headers: { Authorization: `token ${tokens['access_token']}` },
  });
  t.match(JSON.parse(user.body), { login: 'alice' });
  t.equal((await poll(json['device_code'])).status, 400, 'a device code is used once');
  t.equal((await server.bob.post('/login/device', { user_code: code, answer: 'allow' })).status, 422);

  const refused = (await start()).json;
  await server.bob.post('/login/device', { user_code: String(refused['user_code']), answer: 'deny' });
  t.match(await poll(refused['device_code']), { status: 400, json: { error: 'access_denied' } });

  const late = (await start()).json;
  server.web.clock.advance(11 * 60_000);
  t.equal(
    (await server.bob.post('/login/device', { user_code: String(late['user_code']), answer: 'allow' })).status,
    422,
  );
});

t.test('signs out at the wish of the application', async (t) => {
  const { bob, web } = server;
  const query = new URLSearchParams({ client_id: app.clientId, post_logout_redirect_uri: 'https://app.example.org/' });
  const page = await bob.get(`/login/oauth/logout?${query}`);
  t.match(page.body, /Wiki asks to end your session/);
  t.match(page.headers['content-security-policy'], /form-action 'self' https:\/\/app\.example\.org;/);
  const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(page.body) ?? [];
  const stays = await bob.post('/login/oauth/logout/confirm', { xsrf: 'another', logout: 'yes' });
  t.equal(stays.status, 400);
  t.equal((await bob.get('/settings/profile')).status, 200);
  const out = await bob.post('/login/oauth/logout/confirm', { xsrf, logout: 'yes' });
  t.match(out, { status: 303, headers: { location: /^https:\/\/app\.example\.org\// } });
  t.equal((await bob.get('/settings/profile')).status, 303);
  const elsewhere = new URLSearchParams({ client_id: app.clientId, post_logout_redirect_uri: 'https://evil.example/' });
  t.equal((await server.alice.get(`/login/oauth/logout?${elsewhere}`)).status, 400);
  t.equal((await sendRequest(web, '/login/oauth/logout')).status, 200);
});
