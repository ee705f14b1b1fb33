// People whom an owner blocks: each form by role, and what is refused.
import t from 'tap';
import type { Visitor } from '../../fixtures/web-fixture.ts';
import { extractMain } from '../../fixtures/web-fixture.ts';
import { reasonOf } from '../../issues/issues-fixture.ts';
import { issueWeb, words } from './issues-fixture.ts';

t.setTimeout(240_000);

const roof = { owner: 'alice', name: 'roof' };

t.test('an owner blocks people, and unblocks them', async (t) => {
  const { web, alice, bob, issues, viewers } = await issueWeb(t);
  await web.modules.organisations.create(viewers.alice, { name: 'guild' });
  await web.modules.repositories.create(viewers.alice, { owner: 'guild', name: 'hall', visibility: 'PUBLIC' });
  const pages: [string, { owner: string; name: string }][] = [
    ['/settings/blocks', roof],
    ['/orgs/guild/settings/blocks', { owner: 'guild', name: 'hall' }],
  ];
  for (const [page, at] of pages) {
    t.match(words(await alice.get(page)), /Nobody is blocked/);
    const blocked: Visitor = bob;
    t.match(await alice.post(page, { username: 'nobody-here', reason: 'kept' }), { body: /value="kept"/ });
    t.match(await alice.post(page, { username: 'alice' }), { status: 422, body: /cannot block yourself/ });
    t.equal((await alice.post(page, { username: 'bob', reason: 'Shouts' })).status, 303);
    t.match(words(await alice.get(page)), /bob Blocked .* Shouts Unblock/);
    t.equal(await reasonOf(issues.open(viewers.bob, at, { title: 'Hello' })), 'blocked_by_owner');
    t.notMatch(extractMain(await blocked.get(`/repos/${at.owner}/${at.name}/issues`)), /New issue/);
    t.equal((await alice.post(`${page}/bob/remove`)).status, 303);
    web.clock.advance(61_000);
    t.match(await issues.open(viewers.bob, at, { title: 'Hello' }), { state: 'OPEN' });
  }
  t.equal((await bob.get('/orgs/guild/settings/blocks')).status, 404);
  t.equal((await bob.post('/orgs/guild/settings/blocks', { username: 'alice' })).status, 404);
});
