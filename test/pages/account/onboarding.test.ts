import t from 'tap';
import { extractMain, password, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

const location = ({ headers }: PageResponse): string => headers.location ?? '';

t.test('SPEC §2.4 who has no handle chooses one before anything else', async (t) => {
  const web = await startWeb(t);
  const { id } = await web.modules.accounts.addPerson({ password });
  const browser = visitor(web);
  browser.cookies.set(
    'hearth_session',
    (await web.modules.accounts.startSession(id, { address: '', userAgent: '' })).secret,
  );
  for (const page of ['/', '/settings/keys', '/repos/new', '/users/x', '/nowhere/at/all'])
    t.equal(location(await browser.get(page)), '/onboarding', page);
  t.equal((await browser.post('/repos', { name: 'x' })).status, 303, 'forms wait too');
  t.equal((await browser.get('/settings/appearance')).status, 200);
  t.equal((await browser.post('/onboarding', { handle: 'admin' })).status, 422);
  t.match(extractMain(await browser.post('/onboarding', { handle: 'no_' })), /value="no_"/);
  t.equal(location(await browser.post('/onboarding', { handle: 'dora' })), '/settings/keys?done=welcome');
  t.equal((await browser.get('/users/dora')).status, 200);
  t.equal(location(await browser.get('/onboarding')), '/');
});
