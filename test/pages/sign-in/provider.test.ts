import t from 'tap';
import { signInAt, startProvider } from '../../fixtures/openid-provider.ts';
import type { TestProvider } from '../../fixtures/openid-provider.ts';
import { extractMain, password, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { Owner } from '../../fixtures/temporary-folder.ts';
import type { Web } from '../../fixtures/web-fixture.ts';

async function startBoth(t: Owner, more: object = {}, env: Record<string, string> = {}) {
  const provider = await startProvider(t);
  const web = await startWeb(t, { env: { ...provider.settings(more), ...env } });
  await provider.serve(web.origin);
  return { provider, web };
}

const subjectOf = (provider: TestProvider, sub: string, claims: Record<string, unknown> = {}): void => {
  provider.accounts.set(sub, claims);
  provider.signedIn = sub;
};

const sessionOf = (web: Web, browser: { cookies: Map<string, string> }) =>
  web.modules.accounts.viewerOfSession(browser.cookies.get('hearth_session') ?? '', { address: null });

t.test('an instance without a provider has none of its pages', async (t) => {
  const web = await startWeb(t);
  const login = await visitor(web).get('/login');
  t.notMatch(login.body, /sign in with/i);
  t.equal((await visitor(web).get('/login/oidc/company')).status, 404);
  t.equal((await visitor(web).get('/login/oidc/company/callback?code=x&state=y')).status, 404);
  const alice = await signedIn(web, 'alice', { isAdministrator: true });
  t.notMatch((await alice.get('/settings/profile')).body, /linked-accounts/);
  t.notMatch((await alice.get('/admin/health')).body, /single-sign-on/);
});

t.test('a person links an account of the provider, and signs in with it from then on', async (t) => {
  const { provider, web } = await startBoth(t);
  subjectOf(provider, 's-1', { preferred_username: 'alice.a', email: 'alice@example.org', email_verified: true });
  const alice = await signedIn(web, 'alice');

  const going = await alice.post('/settings/linked-accounts', { provider: 'company' });
  t.equal(going.status, 200, 'a page that goes on by itself');
  const [, url = ''] = /content="0;url=([^"]+)"/.exec(going.body) ?? [];
  const { throughProvider } = await import('../../fixtures/openid-provider.ts');
  const back = new URL(await throughProvider(provider, url.replaceAll('&amp;', '&')));
  const linked = await alice.get(back.pathname + back.search);
  t.match([linked.status, linked.headers.location], [303, '/settings/linked-accounts?done=account-linked']);
  const list = extractMain(await alice.get('/settings/linked-accounts'));
  t.match(list, /Company/);
  t.match(list, /alice\.a/);

  const browser = visitor(web);
  t.match(extractMain(await browser.get('/login?next=%2Fexplore')), /href="\/login\/oidc\/company\?next=%2Fexplore"/);
  const done = await signInAt(provider, browser, '/login/oidc/company?next=/explore');
  t.match([done.status, done.headers.location], [303, '/explore']);
  t.notOk(browser.cookies.has('hearth_provider'), 'the state of the sign-in is gone');
  t.match(await sessionOf(web, browser), { person: { username: 'alice' }, session: { method: 'provider' } });
  t.ok(
    web.log.some(({ event, fields }) => event === 'identity.added' && fields.subject === 's-1'),
    'in the audit log',
  );
});

t.test(
  'an address finds no account: another person of the provider with the address of alice has none here',
  async (t) => {
    const { provider, web } = await startBoth(t);
    const { accounts } = web.modules;
    const alice = await accounts.addPerson({ username: 'alice', password, address: 'alice@example.org' });
    subjectOf(provider, 'thief', { preferred_username: 'alice', email: 'alice@example.org', email_verified: true });
    const browser = visitor(web);
    const answer = await signInAt(provider, browser);
    t.equal(answer.status, 403);
    t.match(extractMain(answer), /No account here yet/);
    t.equal(await sessionOf(web, browser), null);
    t.same(await accounts.listIdentities(alice.id), []);
  },
);

t.test('a subject that changes is another account, whatever else stays', async (t) => {
  const { provider, web } = await startBoth(t);
  const claims = { preferred_username: 'alice', email: 'alice@example.org', email_verified: true };
  const { id } = await web.modules.accounts.addPerson({ username: 'alice', password });
  await web.modules.accounts.addIdentity(id, { issuer: provider.issuer, subject: 'before', label: '' });
  subjectOf(provider, 'before', claims);
  t.equal((await signInAt(provider, visitor(web))).status, 303);
  subjectOf(provider, 'after', claims);
  t.equal((await signInAt(provider, visitor(web))).status, 403);
});

t.test(
  'a provider may sign people up: the username comes from a claim, or is asked for when it is taken',
  async (t) => {
    const { provider, web } = await startBoth(t, { sign_up: true });
    const { accounts } = web.modules;
    subjectOf(provider, 's-1', {
      preferred_username: 'Zoë Müller',
      name: 'Zoë Müller',
      email: 'zoe@example.org',
      email_verified: true,
    });
    const zoe = visitor(web);
    t.match((await signInAt(provider, zoe)).headers.location, /^\/$/);
    const person = await accounts.personByUsername('Zoe-Muller');
    t.equal(person.displayName, 'Zoë Müller');
    t.match(await accounts.addresses.list(person.id), [{ address: 'zoe@example.org', isPrimary: true }]);
    t.equal(await accounts.hasPassword(person.id), false);

    subjectOf(provider, 's-2', { preferred_username: 'zoe-muller', email: 'zoe@example.org', email_verified: true });
    const other = visitor(web);
    t.match((await signInAt(provider, other)).headers.location, '/login/sign-up');
    t.match(extractMain(await other.get('/login/sign-up')), /zoe-muller.*belongs to another account/s);
    t.equal((await visitor(web).get('/login/sign-up')).status, 422, 'in this browser only');
    const refused = await other.post('/login/sign-up', { handle: 'ZOE-MULLER' });
    t.equal(refused.status, 422);
    t.match(extractMain(refused), /value="ZOE-MULLER"/);
    t.match((await other.post('/login/sign-up', { handle: 'zoe2' })).headers.location, '/');
    t.match(await sessionOf(web, other), { person: { username: 'zoe2' } });
    const second = await accounts.personByUsername('zoe2');
    t.same(await accounts.addresses.list(second.id), [], 'the verified address stays with its account');
    t.equal((await other.post('/login/sign-up', { handle: 'zoe3' })).status, 422, 'once');

    subjectOf(provider, 's-3', { email: 'nobody@example.org', preferred_username: '!!!' });
    const nameless = visitor(web);
    t.match((await signInAt(provider, nameless)).headers.location, '/login/sign-up');
    t.notMatch(extractMain(await nameless.get('/login/sign-up')), /belongs to another account/);
  },
);

t.test('an address that the provider has not verified is not taken over', async (t) => {
  const { provider, web } = await startBoth(t, { sign_up: true });
  subjectOf(provider, 's-1', { preferred_username: 'dora', email: 'dora@example.org', email_verified: false });
  t.equal((await signInAt(provider, visitor(web))).status, 303);
  const { id } = await web.modules.accounts.personByUsername('dora');
  t.same(await web.modules.accounts.addresses.list(id), []);
});

t.test('who declines at the provider is told so; a disabled account stays closed', async (t) => {
  const { provider, web } = await startBoth(t, { sign_up: true });
  provider.accounts.set('s-1', { preferred_username: 'alice' });
  const declined = await signInAt(provider, visitor(web));
  t.equal(declined.status, 403);
  t.match(extractMain(declined), /You did not complete the sign-in at Company/);
  provider.signedIn = 's-1';
  t.equal((await signInAt(provider, visitor(web))).status, 303);
  await web.modules.accounts.setDisabled((await web.modules.accounts.personByUsername('alice')).id, true);
  const closed = await signInAt(provider, visitor(web));
  t.equal(closed.status, 403);
  t.match(extractMain(closed), /This account is disabled/);
});

t.test('groups give memberships at each sign-in, and take only those that they gave', async (t) => {
  const groups = [
    { group: 'developers', organisation: 'forge', role: 'member' },
    { group: 'leads', organisation: 'forge', role: 'OWNER' },
    { group: 'developers', organisation: 'tools', role: 'GUEST' },
    { group: 'developers', organisation: 'missing', role: 'GUEST' },
  ];
  const { provider, web } = await startBoth(t, { sign_up: true, groups });
  const { accounts, organisations } = web.modules;
  const founder = await signedIn(web, 'founder');
  for (const name of ['forge', 'tools', 'private']) await founder.post('/orgs', { name });
  const rolesOf = async (username: string) => {
    const { id } = await accounts.personByUsername(username);
    const memberships = await organisations.organisationsOf(id);
    return Object.fromEntries(memberships.map(({ organisation, role }) => [organisation.name, role]));
  };
  const come = async (given: unknown) => {
    subjectOf(provider, 's-1', { preferred_username: 'dora', ...(given === undefined ? {} : { groups: given }) });
    t.equal((await signInAt(provider, visitor(web))).status, 303);
    return rolesOf('dora');
  };
  t.same(await come(['developers', 'others']), { forge: 'MEMBER', tools: 'GUEST' });
  t.same(await come(['leads', 'developers']), { forge: 'OWNER', tools: 'GUEST' }, 'the highest role counts');

  await founder.post('/orgs/private/members', { username: 'dora', role: 'MEMBER' });
  await founder.post('/orgs/tools/members/dora/remove');
  await founder.post('/orgs/tools/members', { username: 'dora', role: 'MEMBER' });
  t.same(await come(['developers']), { forge: 'MEMBER', private: 'MEMBER', tools: 'MEMBER' }, 'made by hand, so kept');
  t.same(await come([]), { private: 'MEMBER', tools: 'MEMBER' });
  t.same(await come('leads'), { forge: 'OWNER', private: 'MEMBER', tools: 'MEMBER' }, 'a single group as a text');

  const { id } = await accounts.personByUsername('dora');
  const second = await accounts.addIdentity(id, { issuer: provider.issuer, subject: 's-2', label: 'second' });
  await web.modules.singleSignOn.unlink(id, second.id);
  t.same(
    await rolesOf('dora'),
    { forge: 'OWNER', private: 'MEMBER', tools: 'MEMBER' },
    'what another account of the same provider gave stays when one is unlinked',
  );

  await founder.post('/orgs/forge/leave');
  t.same(await come(undefined), { forge: 'OWNER', private: 'MEMBER', tools: 'MEMBER' }, 'the last OWNER stays');
  t.match(
    web.log.find(({ event }) => event === 'organisation.member_kept'),
    { fields: { source: provider.issuer } },
  );
  await web.modules.audit.flush();
  const audited = await web.modules.audit.list({ limit: 50 });
  t.ok(audited.some(({ event, actor }) => event === 'organisation.member_kept' && actor === 'server'));
  t.ok(
    web.log.some(({ event, fields }) => event === 'organisation.mapping_unknown' && fields.organisation === 'missing'),
  );
});

t.test('sign-out ends the session here, and leads to the end of the one at the provider', async (t) => {
  const { provider, web } = await startBoth(t, { sign_up: true });
  subjectOf(provider, 's-1', { preferred_username: 'alice' });
  const browser = visitor(web);
  await signInAt(provider, browser);
  const out = await browser.post('/logout');
  t.equal(out.headers.location, '/login?done=signed-out&from=company');
  t.notOk(browser.cookies.has('hearth_session'));
  t.match(extractMain(await browser.get(out.headers.location!)), /href="\/logout\/oidc\/company"/);
  const leaving = await browser.get('/logout/oidc/company');
  t.equal(leaving.status, 303);
  const there = new URL(leaving.headers.location!);
  t.equal(there.origin, provider.issuer);
  t.equal(there.searchParams.get('client_id'), 'hearth');
  t.equal(there.searchParams.get('post_logout_redirect_uri'), `${web.origin}/login`);
  t.equal((await fetch(there, { redirect: 'manual' })).status, 200, 'the provider knows this address');
});

t.test(
  'without passwords: the login page has none, a password is refused, a link of an administrator helps',
  async (t) => {
    const { provider, web } = await startBoth(t, {}, { SERVICE_ACCOUNTS_PASSWORD_SIGN_IN: 'false' });
    const { accounts } = web.modules;
    const { id } = await accounts.addPerson({ username: 'alice', password });
    const browser = visitor(web);
    const login = extractMain(await browser.get('/login'));
    t.notMatch(login, /type="password"/);
    t.match(login, /Sign in with Company/);
    const refused = await browser.post('/login', { username: 'alice', password });
    t.equal(refused.status, 403);
    t.match(extractMain(refused), /Signing in with a password is turned off on this server\./);

    await provider.stop();
    const down = await browser.get('/login/oidc/company');
    t.equal(down.status, 503);
    t.match(extractMain(down), /Company cannot be reached/);

    const { secret } = await accounts.makeSignInLink(id);
    const page = await browser.get(`/login/link?token=${secret}`);
    t.match(extractMain(page), /Sign in as alice/);
    t.equal((await browser.get(`/login/link?token=${secret}`)).status, 200, 'opening it uses nothing up');
    const outcomes = await Promise.all([1, 2].map(() => visitor(web).post('/login/link', { token: secret })));
    t.same(outcomes.map(({ status }) => status).sort(), [303, 404], 'of two at once, one');
    t.equal((await browser.get(`/login/link?token=${secret}`)).status, 404);
    const late = await accounts.makeSignInLink(id);
    web.clock.advance(31 * 60_000);
    t.equal((await browser.post('/login/link', { token: late.secret })).status, 404);
  },
);

t.test('the only way in cannot be unlinked', async (t) => {
  const { provider, web } = await startBoth(t, { sign_up: true });
  subjectOf(provider, 's-1', { preferred_username: 'dora' });
  const dora = visitor(web);
  await signInAt(provider, dora);
  const { accounts } = web.modules;
  const { id } = await accounts.personByUsername('dora');
  const [identity] = await accounts.listIdentities(id);
  const refused = await dora.post(`/settings/linked-accounts/${identity!.id}/delete`);
  t.equal(refused.status, 409);
  t.match(extractMain(refused), /You would not be able to sign in without it/);
  t.equal((await dora.post('/settings/account', { new_password: 'a first password' })).status, 303, 'a first password');
  t.equal((await dora.post(`/settings/linked-accounts/${identity!.id}/delete`)).status, 303);
  t.same(await accounts.listIdentities(id), []);
});
