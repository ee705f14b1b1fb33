import t from 'tap';
import { extractMain, password, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';

t.setTimeout(240_000);

t.test('people ask for an account, and an administrator lets them in', async (t) => {
  const web = await startWeb(t, { env: { SERVICE_ACCOUNTS_SIGN_UP: 'approval' } });
  const alice = await signedIn(web, 'alice', { isAdministrator: true });
  const bob = await signedIn(web, 'bob');
  const guest = visitor(web);
  t.match((await guest.get('/login')).body, 'href="/signup/request"');
  t.equal((await guest.get('/signup/request')).status, 200);
  t.match(await guest.post('/signup/request', { address: 'no address' }), { status: 422, body: /value="no address"/ });
  for (const address of ['carol@example.org', 'carol@example.org', 'dora@example.org'])
    t.match(await guest.post('/signup/request', { address, reason: '<b>Hello</b>' }), {
      status: 200,
      body: /Request sent/,
    });
  const page = extractMain(await alice.get('/admin/invites'));
  t.match(page, /&lt;b&gt;Hello/);
  const idOf = (name: string): string =>
    new RegExp(`${name}@example\\.org[^]*?/admin/sign-ups/([\\w-]+)/approve`).exec(page)?.[1] ?? '';
  const [carol, dora] = [idOf('carol'), idOf('dora')];
  for (const who of [bob, guest]) {
    const { status, headers } = await who.post(`/admin/sign-ups/${carol}/approve`);
    t.ok(status === 404 || headers.location?.startsWith('/login'));
  }
  const made = await alice.post(`/admin/sign-ups/${carol}/approve`);
  const shown = await alice.get(made.headers.location!);
  const link = /value="http[^"]*(\/signup\?invite=[^"]+)"/.exec(shown.body)?.[1] ?? '';
  t.equal((await guest.post(link, { handle: 'carol', password })).headers.location, '/settings/keys?done=welcome');
  t.equal((await alice.post(`/admin/sign-ups/${carol}/approve`)).status, 404);
  t.equal((await alice.post(`/admin/sign-ups/${dora}/refuse`)).headers.location, '/admin/invites?done=sign-up-refused');
  t.notMatch((await alice.get('/admin/invites')).body, 'dora@example.org');
});

t.test('where people come by invitation alone, there is no such page', async (t) => {
  const web = await startWeb(t);
  t.equal((await visitor(web).get('/signup/request')).status, 404);
  t.equal((await visitor(web).post('/signup/request', { address: 'carol@example.org' })).status, 404);
  t.notMatch((await visitor(web).get('/login')).body, '/signup/request');
});
