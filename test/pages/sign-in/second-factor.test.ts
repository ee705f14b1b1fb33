/** Who has to set up a second factor is led there; the second step over HTTP; what administrators see and do. */
import t from 'tap';
import { stepOf, totpCode } from '../../../src/accounts/second-factor/totp.ts';
import { extractMain, password, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';

t.test('who has to have a second factor is led to it, and to nothing else', async (t) => {
  const web = await startWeb(t, { env: { SERVICE_ACCOUNTS_SECOND_FACTOR: 'administrators' } });
  const bob = await signedIn(web, 'bob');
  t.equal((await bob.get('/settings/profile')).status, 200, 'no administrator');
  const alice = await signedIn(web, 'alice', { isAdministrator: true });
  const { token } = await web.modules.accounts
    .addToken(alice.id, { name: 'ci', access: 'admin', repositoryIds: null, expiresAt: null })
    .then(({ secret }) => ({ token: secret }));
  for (const target of ['/', '/settings/profile', '/admin/people', '/explore/repos']) {
    const { status, headers } = await alice.get(target);
    t.same([status, headers.location], [303, '/settings/security'], target);
  }
  t.equal((await alice.post('/admin/people/x/disabled', { on: 'yes' })).headers.location, '/settings/security');
  t.match(extractMain(await alice.get('/settings/security')), /This server requires a second factor/);
  const api = await alice.get('/api/v1/user', { Authorization: `Bearer ${token}` });
  t.equal(api.status, 200, 'tokens go on');

  const shown = extractMain(await alice.get('/settings/security/app'));
  const secret = await web.modules.accounts.secondFactor.beginTotp(alice.id);
  t.match(shown, /<svg class="qr-code"/);
  t.notMatch(shown, new RegExp(secret.toString('hex')));
  const wrong = await alice.post('/settings/security/app', { code: '1' });
  t.equal(wrong.status, 422);
  const right = await alice.post('/settings/security/app', { code: totpCode(secret, stepOf(web.clock.now())) });
  t.match(right.headers.location, /^\/settings\/security\/recovery-codes\/[\w-]+$/);
  const codes = await alice.get(right.headers.location!);
  t.match(codes.headers['cache-control'], /no-store/);
  t.equal((await alice.get('/settings/profile')).status, 200);
  t.equal((await alice.get('/settings/security/app')).headers.location, '/settings/security', 'set up already');
  const events = web.log.filter(({ event }) => event === 'second_factor.app_added');
  t.match(events, [{ fields: { personId: alice.id } }]);
  t.notMatch(JSON.stringify(web.log), new RegExp(secret.toString('base64').slice(0, 20).replace(/[+/]/g, '.')));
});

t.test('the second step over HTTP', async (t) => {
  const web = await startWeb(t);
  const { accounts } = web.modules;
  const alice = await accounts.addPerson({ username: 'alice', password });
  const secret = await accounts.secondFactor.beginTotp(alice.id);
  const [recovery] = (await accounts.secondFactor.enableTotp(alice.id, totpCode(secret, stepOf(web.clock.now()))))!;
  const browser = visitor(web);
  const first = await browser.post('/login', { username: 'alice', password, next: '/settings/profile' });
  t.equal(first.headers.location, '/login/second-factor?next=%2Fsettings%2Fprofile');
  t.match(first.headers['set-cookie'], [/^hearth_sign_in=[\w-]{43}; Path=\/; Max-Age=900; SameSite=Lax; HttpOnly$/]);
  t.equal(browser.cookies.has('hearth_session'), false);

  const other = await visitor(web).post('/login/second-factor', { code: recovery! });
  t.match(other.headers.location, /^\/login\?done=sign-in-expired/, 'another browser');
  const foreign = await browser.post('/login/second-factor', { code: recovery! }, { Origin: 'https://evil.example' });
  t.equal(foreign.status, 403);
  const away = await browser.post('/login/second-factor', { code: '000000', next: 'https://evil.example/' });
  t.equal(away.status, 422);
  t.match(extractMain(away), /name="next" value="\/"/);
  t.match(extractMain(away), /This code is wrong/);
  t.notMatch(extractMain(away), /passkey/i, 'none is set up');
  for (let n = 0; n < 3; n += 1) await browser.post('/login/second-factor', { code: '000000' });
  const last = await browser.post('/login/second-factor', { code: '000000', next: '/settings/profile' });
  t.equal(last.headers.location, '/login?done=sign-in-expired&next=%2Fsettings%2Fprofile', 'five wrong answers');
  t.equal(browser.cookies.has('hearth_sign_in'), false);

  await browser.post('/login', { username: 'alice', password });
  const right = await browser.post('/login/second-factor', { code: recovery!, next: '/settings/profile' });
  t.equal(right.headers.location, '/settings/profile');
  t.equal(browser.cookies.has('hearth_sign_in'), false, 'the cookie of the first step is gone');
  t.match(extractMain(await browser.get('/settings/sessions')), /with password and recovery code/);
  t.equal((await browser.get('/login/second-factor?next=/settings/keys')).headers.location, '/settings/keys');
});

t.test('administrators see who has one, and remove it', async (t) => {
  const web = await startWeb(t);
  const { accounts } = web.modules;
  const root = await signedIn(web, 'root-admin', { isAdministrator: true });
  const alice = await signedIn(web, 'alice');
  t.notMatch(extractMain(await root.get('/admin/people')), /second factor/i);
  const secret = await accounts.secondFactor.beginTotp(alice.id);
  await accounts.secondFactor.enableTotp(alice.id, totpCode(secret, stepOf(web.clock.now())));
  t.match(extractMain(await root.get('/admin/people')), /Second factor/);
  t.equal((await alice.post(`/admin/people/${alice.id}/second-factor/reset`)).status, 404);
  const done = await root.post(`/admin/people/${alice.id}/second-factor/reset`);
  t.equal(done.headers.location, '/admin/people?done=second-factor-reset');
  t.equal((await alice.get('/settings/profile')).status, 303, 'the session has ended');
  const again = await root.post(`/admin/people/${alice.id}/second-factor/reset`);
  t.equal(again.status, 409);
  t.match(extractMain(again), /This account does not have a second factor\./);
  await web.modules.audit.flush();
  const entries = await web.modules.audit.list({ limit: 10 });
  t.ok(entries.some(({ event }) => event === 'second_factor.reset'));
});

t.test('where no one has a passkey nothing speaks of them, and where they cannot work none is offered', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  t.notMatch(extractMain(await visitor(web).get('/login')), /passkey/i);
  t.equal((await visitor(web).get('/login/passkey')).headers.location, '/login');
  t.notMatch(extractMain(await alice.get('/settings/security')), /Add a passkey/);
  t.equal((await alice.get('/settings/security/passkeys/new')).status, 409);
  t.equal((await visitor(web).post('/login/passkey', { response: '{}' })).status, 409);
});
