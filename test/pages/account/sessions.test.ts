import t from 'tap';
import { extractMain, password, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

const location = ({ headers }: PageResponse): string => headers.location ?? '';

t.test('sessions are listed and ended', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  const other = visitor(web);
  await other.post(
    '/login',
    { username: 'alice', password },
    { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0' },
  );
  const list = extractMain(await alice.get('/settings/sessions'));
  t.match(list, /Firefox on Linux/);
  t.match(list, /This one/);
  const id = /\/settings\/sessions\/([\w-]+)\/revoke"/.exec(list)?.[1] ?? '';
  const bob = await signedIn(web, 'bob');
  t.equal((await bob.post(`/settings/sessions/${id}/revoke`)).status, 404);
  t.equal(location(await alice.post(`/settings/sessions/${id}/revoke`)), '/settings/sessions?done=session-ended');
  t.equal((await other.get('/settings/keys')).status, 303, 'security E04 at once');
  await other.post('/login', { username: 'alice', password });
  t.equal(location(await alice.post('/settings/sessions/revoke-others')), '/settings/sessions?done=sessions-ended');
  t.equal((await other.get('/settings/keys')).status, 303);
  t.equal((await alice.get('/settings/keys')).status, 200);
});
