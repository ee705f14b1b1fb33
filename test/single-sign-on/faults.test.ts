import t from 'tap';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createDoctor } from '../../src/doctor/index.ts';
import { extractMain, sendRequest, signedIn, startWeb, visitor } from '../fixtures/web-fixture.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Visitor, Web } from '../fixtures/web-fixture.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import { startFaultyProvider } from './faulty-provider.ts';
import type { Faults } from './faulty-provider.ts';

/** @param alsoAllowed hosts that an administrator has named beside the provider */
async function startBoth(t: Owner, alsoAllowed: readonly string[] = []) {
  const provider = await startFaultyProvider(t);
  const env = provider.settings();
  const hosts = [env.SERVICE_OIDC_ALLOWED_HOSTS, ...alsoAllowed].join();
  const web = await startWeb(t, { env: { ...env, SERVICE_OIDC_ALLOWED_HOSTS: hosts } });
  return { provider, web };
}

/** Begins a sign-in. @returns what the provider was told */
async function begin(browser: Visitor): Promise<URLSearchParams> {
  const { headers } = await browser.get('/login/oidc/faulty');
  return new URL(headers.location!).searchParams;
}

async function signIn(browser: Visitor, faults: Faults, changed: Record<string, string> = {}) {
  const sent = await begin(browser);
  faults.nonce = sent.get('nonce')!;
  const answer = new URLSearchParams({ code: 'c', state: sent.get('state')!, ...changed });
  return browser.get(`/login/oidc/faulty/callback?${answer}`);
}

const people = async (web: Web) => (await web.modules.accounts.listPeople()).map(({ username }) => username);

t.test('the stub signs in when nothing is wrong, so that each fault below is the only one', async (t) => {
  const { provider, web } = await startBoth(t);
  const sent = await begin(visitor(web));
  t.match(Object.fromEntries(sent), {
    response_type: 'code',
    scope: 'openid profile email',
    code_challenge_method: 'S256',
    redirect_uri: `${web.origin}/login/oidc/faulty/callback`,
  });
  for (const secret of ['state', 'nonce', 'code_challenge']) t.match(sent.get(secret), /^[\w-]{43}$/, secret);
  const browser = visitor(web);
  t.equal((await signIn(browser, provider.faults)).status, 303);
  t.ok(browser.cookies.has('hearth_session'));
});

t.test('an answer that is not exactly right signs nobody in', async (t) => {
  // Nothing but the rule about redirects keeps a secret from it.
  const elsewhere = await startReceiver(t);
  const { provider, web } = await startBoth(t, [elsewhere.host]);
  const now = Math.floor(Date.now() / 1000);
  const wrong: Record<string, Partial<Faults>> = {
    'another issuer': { claims: { iss: 'https://other.example.org' } },
    'no issuer': { claims: { iss: null } },
    'another audience': { claims: { aud: 'other' } },
    'several audiences, another party': { claims: { aud: ['hearth', 'other'], azp: 'other' } },
    'a wrong nonce': { claims: { nonce: 'x'.repeat(43) } },
    'no nonce': { claims: { nonce: null } },
    expired: { claims: { exp: now - 120 } },
    'no end': { claims: { exp: null } },
    'not valid yet': { claims: { nbf: now + 600 } },
    'no subject': { claims: { sub: null } },
    'an empty subject': { claims: { sub: '' }, userinfo: { sub: '' } },
    'a subject of a megabyte': { claims: { sub: 's'.repeat(300_000) }, userinfo: { sub: 's'.repeat(300_000) } },
    'alg: none': { algorithm: 'none' },
    'signed with the client secret': { algorithm: 'HS256' },
    'signed by another key': { algorithm: 'another key' },
    'another algorithm in the header': { algorithm: 'ES256 in name' },
    'another subject at the userinfo endpoint': { userinfo: { sub: 's-2' } },
    'tokens that are no JSON': { token: (response) => response.writeHead(200).end('<html>') },
    'an error': {
      token: (response) =>
        response.writeHead(400, { 'Content-Type': 'application/json' }).end('{"error":"invalid_grant"}'),
    },
    ...Object.fromEntries(
      [301, 302, 303, 307, 308].map((status) => [
        `a redirect of the token endpoint by ${status}`,
        { token: (response) => void response.writeHead(status, { Location: elsewhere.url }).end() } as Partial<Faults>,
      ]),
    ),
    'no ID token': {
      token: (response) =>
        response
          .writeHead(200, { 'Content-Type': 'application/json' })
          .end('{"access_token":"a","token_type":"Bearer"}'),
    },
  };
  for (const [name, fault] of Object.entries(wrong)) {
    Object.assign(provider.faults, { claims: {}, algorithm: 'RS256', userinfo: {}, token: null }, fault);
    const browser = visitor(web);
    const { status, body } = await signIn(browser, provider.faults);
    t.equal(status, 422, name);
    t.match(body, /could not be verified/, name);
    t.notOk(browser.cookies.has('hearth_session'), name);
  }
  t.same(await people(web), []);
  t.strictSame(elsewhere.got, [], 'neither the code nor the secret of the client goes elsewhere');
  const logged = web.log.filter(({ event }) => event === 'sign_in.provider_answer');
  t.equal(logged.length, Object.keys(wrong).length, 'each with its reason in the log');
});

t.test('an answer counts in the browser that asked, for its provider, once and for ten minutes', async (t) => {
  const provider = await startFaultyProvider(t);
  const other = { name: 'other', issuer: 'https://other.example.org', client_id: 'x' };
  const web = await startWeb(t, { env: provider.settings({}, [other]) });
  const [alice, attacker] = [visitor(web), visitor(web)];
  const expectRefused = async (browser: Visitor, target: string, name: string): Promise<void> => {
    const { status, body } = await browser.get(target);
    t.equal(status, 422, name);
    t.match(body, /started in another browser or too long ago/, name);
    t.notOk(browser.cookies.has('hearth_session'), name);
  };
  const sent = await begin(attacker);
  provider.faults.nonce = sent.get('nonce')!;
  const answer = `code=c&state=${sent.get('state')}`;
  await expectRefused(alice, `/login/oidc/faulty/callback?${answer}`, 'a link of an attacker: no cookie');
  await begin(alice);
  await expectRefused(alice, `/login/oidc/faulty/callback?${answer}`, 'the state of another browser');
  await expectRefused(attacker, '/login/oidc/faulty/callback?code=c', 'no state');
  await expectRefused(attacker, `/login/oidc/other/callback?${answer}`, 'the callback of another provider');
  attacker.cookies.set('hearth_provider', `${attacker.cookies.get('hearth_provider')}A`.replace('A', 'B'));
  await expectRefused(attacker, `/login/oidc/faulty/callback?${answer}`, 'a changed cookie');

  const late = await begin(alice);
  web.clock.advance(10 * 60_000);
  await expectRefused(alice, `/login/oidc/faulty/callback?code=c&state=${late.get('state')}`, 'too late');

  const again = await begin(alice);
  provider.faults.nonce = again.get('nonce')!;
  const target = `/login/oidc/faulty/callback?code=c&state=${again.get('state')}`;
  t.equal((await alice.get(target)).status, 303);
  t.notOk(alice.cookies.has('hearth_provider'));
  alice.cookies.delete('hearth_session');
  await expectRefused(alice, target, 'a second time');
});

t.test('a session that ended meanwhile links nothing, nor does one that another person began', async (t) => {
  const { provider, web } = await startBoth(t);
  const { accounts } = web.modules;
  const start = async (username: string) => {
    const person = await accounts.addPerson({ username });
    const browser = visitor(web);
    const started = await accounts.startSession(person.id, { address: '', userAgent: '' });
    browser.cookies.set('hearth_session', started.secret);
    return { browser, id: person.id };
  };
  const one = await start('alice');
  const two = await start('bob');
  const going = await one.browser.post('/settings/linked-accounts', { provider: 'faulty' });
  const [, url = ''] = /content="0;url=([^"]+)"/.exec(going.body) ?? [];
  const sent = new URL(url.replaceAll('&amp;', '&')).searchParams;
  provider.faults.nonce = sent.get('nonce')!;
  const target = `/login/oidc/faulty/callback?code=c&state=${sent.get('state')}`;
  const state = one.browser.cookies.get('hearth_provider')!;

  const signedOut = visitor(web);
  signedOut.cookies.set('hearth_provider', state);
  t.equal((await signedOut.get(target)).status, 422);
  two.browser.cookies.set('hearth_provider', state);
  t.equal((await two.browser.get(target)).status, 422);
  t.same([await accounts.listIdentities(one.id), await accounts.listIdentities(two.id)], [[], []]);

  t.equal((await one.browser.get(target)).status, 303);
  t.equal((await accounts.listIdentities(one.id)).length, 1);
  const again = await two.browser.post('/settings/linked-accounts', { provider: 'faulty' });
  const [, second = ''] = /content="0;url=([^"]+)"/.exec(again.body) ?? [];
  const secondSent = new URL(second.replaceAll('&amp;', '&')).searchParams;
  provider.faults.nonce = secondSent.get('nonce')!;
  const taken = await two.browser.get(`/login/oidc/faulty/callback?code=c&state=${secondSent.get('state')}`);
  t.equal(taken.status, 409);
  t.match(extractMain(taken), /Another user on this server signs in with this account/);
});

t.test('a provider that is down, or not what the settings say, is named to administrators only', async (t) => {
  const { provider, web } = await startBoth(t);
  const { singleSignOn } = web.modules;
  const expectDown = async (why: RegExp, name: string): Promise<void> => {
    web.clock.advance(2 * 60 * 60_000);
    const { status, body } = await visitor(web).get('/login/oidc/faulty');
    t.equal(status, 503, name);
    t.match(body, /Faulty cannot be reached right now/, name);
    t.match(await singleSignOn.check(), [{ name: 'faulty', error: why }], name);
    t.notMatch(body, why, name);
  };
  provider.faults.metadata = { issuer: 'https://other.example.org' };
  await expectDown(/issuer/, 'another issuer in the discovery document');
  provider.faults.metadata = { issuer: `${provider.issuer}/` };
  await expectDown(/calls itself/, 'an issuer that is written otherwise');
  provider.faults.metadata = {};
  t.match(await singleSignOn.check(), [{ name: 'faulty', error: null }]);
  t.equal((await visitor(web).get('/login/oidc/faulty')).status, 303, 'back at once after an administrator has asked');
  await provider.stop();
  t.equal((await visitor(web).get('/login/oidc/faulty')).status, 303, 'the discovery document is kept for a while');
  await expectDown(/refused the connection/, 'down');
});

t.test('a provider on a private address needs the word of the administrator', async (t) => {
  const provider = await startFaultyProvider(t);
  const { SERVICE_OIDC_PROVIDERS } = provider.settings();
  const web = await startWeb(t, { env: { SERVICE_OIDC_PROVIDERS } });
  t.equal((await visitor(web).get('/login/oidc/faulty')).status, 503);
  t.match(await web.modules.singleSignOn.check(), [{ error: /https|HTTPS/ }]);

  const named = [{ name: 'inner', issuer: 'https://127.0.0.1:1', client_id: 'x' }];
  const inner = await startWeb(t, { env: { SERVICE_OIDC_PROVIDERS: JSON.stringify(named) } });
  t.match(await inner.modules.singleSignOn.check(), [{ error: /not a public address/ }]);
});

t.test(
  'the doctor names a provider that does not answer, a readable secret, and an organisation that is not there',
  async (t) => {
    const provider = await startFaultyProvider(t);
    const file = path.join(temporaryFolder(t), 'secret');
    writeFileSync(file, 'the secret of the client\nmore\n');
    chmodSync(file, 0o644);
    const groups = [{ group: 'developers', organisation: 'forge', role: 'MEMBER' }];
    const env = provider.settings({ groups, client_secret: undefined, client_secret_file: file });
    const web = await startWeb(t, { env });
    const examine = async () => {
      const { modules } = web;
      const doctor = createDoctor({
        ...modules,
        settingsFile: null,
        userId: null,
        backupState: () => modules.backups.state(),
        auditBreak: () => modules.audit.findBreak(),
      });
      const found: string[] = [];
      for await (const { findings } of doctor.examine('single-sign-on'))
        found.push(...findings.map(({ check }) => check));
      return found.sort();
    };
    const names = (...found: string[]) => found.map((name) => `single-sign-on.${name}`);
    t.same(await examine(), names('no_base_url', 'secret_readable', 'unknown_organisation'));
    chmodSync(file, 0o600);
    const alice = await signedIn(web, 'alice');
    await alice.post('/orgs', { name: 'forge' });
    t.same(await examine(), names('no_base_url'));
    t.equal((await signIn(visitor(web), provider.faults)).status, 303, 'the first line of the file is the secret');
    await provider.stop();
    t.same(await examine(), names('no_base_url', 'unreachable'));
  },
);

t.test('the API lists the linked accounts of the caller', async (t) => {
  const web = await startWeb(t);
  const { accounts } = web.modules;
  const { id } = await accounts.addPerson({ username: 'alice' });
  await accounts.addIdentity(id, { issuer: 'https://id.example.org', subject: 's-1', label: 'alice@id' });
  const { secret } = await accounts.addToken(id, { name: 'x', access: 'read', repositoryIds: null, expiresAt: null });
  const headers = { Authorization: `Bearer ${secret}` };
  const { status, body } = await sendRequest(web, '/api/v1/user/linked-accounts', { headers });
  t.equal(status, 200);
  t.match(JSON.parse(body), [{ issuer: 'https://id.example.org', subject: 's-1', label: 'alice@id' }]);
});
