import t from 'tap';
import { extractMain, password, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

const location = ({ headers }: PageResponse): string => headers.location ?? '';

t.test('signing in, where it leads, and out again', async (t) => {
  const web = await startWeb(t);
  await web.modules.accounts.addPerson({ username: 'alice', password });
  const browser = visitor(web);
  const redirected = await browser.get('/settings/keys?x=1');
  t.match([redirected.status, location(redirected)], [303, '/login?next=%2Fsettings%2Fkeys%3Fx%3D1']);
  t.match(extractMain(await browser.get(location(redirected))), /name="next" value="\/settings\/keys\?x=1"/);

  const wrong = await browser.post('/login', { username: 'alice', password: 'wrong wrong', next: '/settings/keys' });
  const unknownName = await browser.post('/login', {
    username: 'alice2',
    password: 'wrong wrong',
    next: '/settings/keys',
  });
  t.match([wrong.status, unknownName.status], [422, 422]);
  t.equal(
    extractMain(wrong).replace('value="alice"', ''),
    extractMain(unknownName).replace('value="alice2"', ''),
    'security D05 one text for both',
  );
  t.match(extractMain(wrong), /role="alert" tabindex="-1" autofocus/);
  t.equal(wrong.headers['set-cookie'], undefined);

  const right = await browser.post('/login', { username: ' Alice ', password, next: '/settings/keys' });
  t.match([right.status, location(right)], [303, '/settings/keys']);
  t.match(right.headers['set-cookie']?.[0], /^hearth_session=[\w-]{43}; Path=\/; Max-Age=\d+; SameSite=Lax; HttpOnly$/);
  t.equal((await browser.get('/settings/keys')).status, 200);
  t.match(location(await browser.get('/login?next=/repos/new')), '/repos/new', 'who is in needs no form');

  for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example', '/\tx']) {
    const response = await visitor(web).post('/login', { username: 'alice', password, next });
    t.equal(location(response), '/', JSON.stringify(next));
  }

  const session = browser.cookies.get('hearth_session') ?? '';
  const again = await browser.post('/login', { username: 'alice', password });
  t.equal(again.status, 303);
  const old = visitor(web);
  old.cookies.set('hearth_session', session);
  t.equal((await old.get('/settings/keys')).status, 303, 'security D03 a new sign-in ends the session it came with');

  const out = await browser.post('/logout');
  t.match([out.status, location(out)], [303, '/login?done=signed-out']);
  t.equal(browser.cookies.has('hearth_session'), false);
  t.equal((await browser.get('/settings/keys')).status, 303);
  t.equal((await visitor(web).post('/logout')).status, 303, 'signing out twice is no fault');
});

t.test('security D04 too many wrong passwords are 429 with a time to wait', async (t) => {
  const web = await startWeb(t);
  await web.modules.accounts.addPerson({ username: 'alice', password });
  const browser = visitor(web);
  let response = await browser.post('/login', { username: 'alice', password: 'wrong wrong' });
  for (let index = 0; index < 10 && response.status === 422; index += 1)
    response = await browser.post('/login', { username: 'alice', password: 'wrong wrong' });
  t.equal(response.status, 429);
  t.match(response.headers['retry-after'], /^\d+$/);
  t.match(extractMain(response), /Too many wrong passwords/);
});
