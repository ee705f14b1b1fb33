import t from 'tap';
import { extractMain, password, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

const location = ({ headers }: PageResponse): string => headers.location ?? '';

t.test('who was given a password changes it first', async (t) => {
  const web = await startWeb(t);
  await web.modules.accounts.addPerson({ username: 'alice', password, mustChangePassword: true });
  const browser = visitor(web);
  await browser.post('/login', { username: 'alice', password });
  t.equal(location(await browser.get('/')), '/settings/account');
  t.match(extractMain(await browser.get('/settings/account')), /Choose your own password/);
  const change = (form: Record<string, string>) => browser.post('/settings/account', form);
  const wrong = await change({ current_password: 'wrong wrong', new_password: 'a better one here' });
  t.match(extractMain(wrong), /id="current_password-error"/);
  t.equal(wrong.status, 422);
  t.match(extractMain(await change({ current_password: password, new_password: 'short' })), /id="new_password-error"/);
  t.equal(
    location(await change({ current_password: password, new_password: 'a better one here' })),
    '/settings/account?done=password-changed',
  );
  t.equal((await browser.get('/')).status, 200, 'and stays signed in');
});

t.test('a person changes the handle, and old URLs redirect', async (t) => {
  const web = await startWeb(t);
  const bob = await signedIn(web, 'bob');
  const carol = await signedIn(web, 'carol');
  const anonymous = visitor(web);
  const where = ({ status, headers }: PageResponse): [number, string | undefined] => [status, headers.location];
  await carol.post('/repos', { name: 'press', visibility: 'PUBLIC' });
  t.equal((await carol.post('/settings/account/handle', { handle: 'caroline', confirm: 'x' })).status, 422);
  t.equal((await carol.post('/settings/account/handle', { handle: 'bob', confirm: 'carol' })).status, 422);
  t.same(where(await carol.post('/settings/account/handle', { handle: 'caroline', confirm: 'carol' })), [
    303,
    '/settings/account?done=handle-changed',
  ]);
  for (const [from, to] of [
    ['/users/carol', '/users/caroline'],
    ['/Carol', '/users/caroline'],
    ['/repos/carol/press?x=1', '/repos/caroline/press?x=1'],
  ]) {
    t.same(where(await anonymous.get(from!)), [301, to]);
  }
  t.equal(
    (await bob.post('/settings/account/handle', { handle: 'carol', confirm: 'bob' })).status,
    422,
    'nobody else gets it',
  );

  const owning = await carol.post('/settings/account/delete', { confirm: 'caroline', password });
  t.match([owning.status, extractMain(owning)], [409, /still owns press/]);
  await carol.post('/repos/caroline/press/settings/delete', { confirm: 'caroline/press' });
  t.equal((await carol.post('/settings/account/delete', { confirm: 'carol', password })).status, 422);
  for (const wrong of [undefined, '', `${password}x`]) {
    const response = await carol.post('/settings/account/delete', {
      confirm: 'caroline',
      ...(wrong === undefined ? {} : { password: wrong }),
    });
    t.match(
      [response.status, extractMain(response)],
      [422, /This is not your password/],
      'a session that was left open is not enough',
    );
  }
  t.equal((await anonymous.get('/users/caroline')).status, 200);
  t.same(where(await carol.post('/settings/account/delete', { confirm: 'caroline', password })), [
    303,
    '/login?done=account-deleted',
  ]);
  t.equal((await anonymous.get('/users/caroline')).status, 404);
  t.equal((await carol.get('/settings/account')).status, 303, 'signed out');
});
