import t from 'tap';
import { extractMain, password, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

const location = ({ headers }: PageResponse): string => headers.location ?? '';

t.test('the first administrator comes in through the setup link', async (t) => {
  const web = await startWeb(t);
  const browser = visitor(web);
  t.match(extractMain(await browser.get('/')), /hearth setup-url/, 'the start page says what is missing');
  for (const wrong of ['/setup', '/setup?token=', '/setup?token=AAAA-AAAA-AAAA-AAAA-AAAA'])
    t.equal((await browser.get(wrong)).status, 404, wrong);
  const token = await web.modules.accounts.setupToken();
  const link = `/setup?token=${token}`;
  const form = await browser.get(link);
  t.equal(form.status, 200);
  t.match(extractMain(form), new RegExp(`${web.origin}</code>[^]*base_url`), 'the setting that a name needs is told');

  const refused = await browser.post(link, { handle: 'ad min', password });
  t.equal(refused.status, 422);
  t.match(extractMain(refused), /value="ad min"/, 'input is kept');
  t.match(extractMain(refused), /id="handle"[^>]*aria-describedby="handle-hint handle-error" aria-invalid="true"/);
  t.notMatch(refused.body, password, 'but never a password');
  t.equal((await browser.post(link, { handle: 'alice', password: 'short' })).status, 422);
  t.equal((await browser.post('/setup', { handle: 'alice', password })).status, 404, 'no token, no form');

  const done = await browser.post(link, { handle: 'alice', password });
  t.match([done.status, location(done)], [303, '/settings/keys?done=welcome']);
  t.match(extractMain(await browser.get(location(done))), /Welcome!/);
  t.equal((await browser.get('/admin/invites')).status, 200, 'and administers');
  const again = await visitor(web).get(link);
  t.equal(again.status, 404, 'the link worked once');
  t.match(extractMain(again), /This link does not work.*creates the first administrator.*hearth setup-url/s);
  t.match(extractMain(await visitor(web).post(link, { handle: 'bob', password })), /This link does not work/);
  t.notMatch(extractMain(await visitor(web).get('/setup')), /This link/, 'without a token there is no page');
});
