import t from 'tap';
import type { PersonViewer } from '../../../src/access/index.ts';
import { extractMain, signedIn, startWeb } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

const sessionViewer = (id: string, username: string): PersonViewer => ({
  kind: 'person',
  id,
  username,
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
});

const location = ({ headers }: PageResponse): string => headers.location ?? '';

t.test('tokens are shown once and reach what was chosen', async (t) => {
  const web = await startWeb(t);
  const [alice, bob] = [await signedIn(web, 'alice'), await signedIn(web, 'bob')];
  const mine = await web.modules.repositories.create(sessionViewer(alice.id, 'alice'), {
    name: 'ledger',
    visibility: 'PRIVATE',
  });
  const his = await web.modules.repositories.create(sessionViewer(bob.id, 'bob'), {
    name: 'secret',
    visibility: 'PRIVATE',
  });
  const make = (form: Record<string, string | string[]>) =>
    alice.post('/settings/tokens', { access: 'read', expires_in: '30', ...form });
  const tokenOf = async (response: PageResponse) =>
    /hth_\w+/.exec((await alice.get(location(response))).body)?.[0] ?? '';

  const first = await make({ name: 'all', repos: 'all' });
  t.equal((await bob.get(location(first))).status, 303, 'nobody else can look');
  const secret = await tokenOf(first);
  t.match(await web.modules.accounts.viewerOfToken(secret, { address: null }), { scope: 'read', repositoryIds: null });
  t.equal(location(await alice.get(location(first))), '/settings/tokens?done=token-gone');

  const some = await tokenOf(await make({ name: 'some', access: 'write', repos: ['', mine.id, his.id] }));
  t.match(await web.modules.accounts.viewerOfToken(some, { address: null }), {
    scope: 'write',
    repositoryIds: [mine.id],
  });
  const none = await make({ name: 'none', repos: ['', his.id] });
  t.match([none.status, extractMain(none)], [422, /id="repos-error"/]);
  const again = await make({ name: 'all', repos: 'all' });
  t.match([again.status, extractMain(again)], [422, /id="name-error"/]);
  t.match(extractMain(await make({ name: '', access: 'root', expires_in: '-1' })), /Enter a name for the token/);

  const list = extractMain(await alice.get('/settings/tokens'));
  t.match(list, `hth_…${some.slice(-4)}`);
  t.notMatch(list, some);
  t.match(list, /write on 1 repository[^]*Expires <time[^>]*>in 30 days</);
  const id = /\/settings\/tokens\/([\w-]+)\/delete/.exec(list)?.[1] ?? '';
  t.equal((await bob.post(`/settings/tokens/${id}/delete`)).status, 404);
  t.equal(location(await alice.post(`/settings/tokens/${id}/delete`)), '/settings/tokens?done=token-removed');
});
