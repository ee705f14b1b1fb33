import t from 'tap';
import { extractMain, password, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

const location = ({ headers }: PageResponse): string => headers.location ?? '';

t.test('people join by invitation, once per link', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice', { isAdministrator: true });
  t.equal((await visitor(web).get('/signup')).status, 404, 'registration is closed');
  const made = await alice.post('/admin/invites');
  t.match(location(made), /^\/admin\/invites\/new\/[\w-]{22}$/);
  const shown = await alice.get(location(made));
  t.match(shown.headers['cache-control'], 'no-store');
  const link = /value="http[^"]*(\/signup\?invite=[^"]+)"/.exec(shown.body)?.[1] ?? '';
  t.match(location(await alice.get(location(made))), '/admin/invites?done=invite-gone', 'shown once');

  const bob = visitor(web);
  t.equal((await bob.get(link)).status, 200);
  t.match(extractMain(await bob.post(link, { handle: 'alice', password })), /taken/, 'a taken handle is told');
  t.equal((await bob.post(link, { handle: 'alice', password })).status, 422, 'and is a wrong value, not a conflict');
  t.equal(location(await bob.post(link, { handle: 'bob', password })), '/settings/keys?done=welcome');
  for (const closed of [link, '/signup?invite=x', `/signup?invite=${'A'.repeat(43)}`]) {
    const again = await visitor(web).get(closed);
    t.equal(again.status, 404);
    t.match(extractMain(again), /This link does not work.*was used, has expired, or was withdrawn.*sign in/s, closed);
  }
  t.match(extractMain(await visitor(web).post(link, { handle: 'carol', password })), /This link does not work/);
  t.notMatch(extractMain(await visitor(web).get('/signup')), /This link/, 'without an invite there is no page');
  t.equal((await bob.get('/admin/invites')).status, 404);

  await alice.post('/admin/invites');
  const id = /\/admin\/invites\/([\w-]+)\/delete/.exec((await alice.get('/admin/invites')).body)?.[1] ?? '';
  t.equal(location(await alice.post(`/admin/invites/${id}/delete`)), '/admin/invites?done=invite-removed');
  t.equal((await alice.post(`/admin/invites/${id}/delete`)).status, 404);
});
