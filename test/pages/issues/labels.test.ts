// Labels of a repository and of an organisation: each form by role, and what is refused.
import t from 'tap';
import { extractMain } from '../../fixtures/web-fixture.ts';
import { issueWeb, roofUrl, words } from './issues-fixture.ts';

t.setTimeout(240_000);

const roof = { owner: 'alice', name: 'roof' };

t.test('labels are added, edited and deleted by those who administer', async (t) => {
  const { alice, bob, anonymous, issues, viewers, at } = await issueWeb(t);
  const labels = `${roofUrl}/labels`;
  t.match(words(await anonymous.get(labels)), /Labels sort issues/);
  t.equal((await alice.post(`${labels}/defaults`)).status, 303);
  t.notMatch(words(await alice.get(labels)), /Add the default labels/, 'they are there');
  await issues.open(viewers.bob, roof, { title: 'Leak' });
  await issues.triage(viewers.alice, at(1), { labels: ['kind/bug'] });
  t.match(words(await anonymous.get(labels)), /kind\/bug Exclusive Something does not work 1 open issue/);

  const form = { name: 'area/attic', colour: '#12ab9f', description: 'Under the roof', exclusive: 'yes' };
  t.match((await alice.post(labels, form)).headers.location, /done=label-added/);
  const preview = await alice.post(labels, { ...form, name: 'b<i>c', action: 'preview' });
  t.match(words(preview), /Preview: b<i>c/);
  t.match(preview.body, /fill="#12ab9f"[^]*value="Under the roof"/, 'and nothing typed is lost');
  t.notMatch((await alice.get(labels)).body, /b&lt;i&gt;c/, 'nothing was saved');
  const refused = await alice.post(labels, { ...form, description: 'typed again' });
  t.match(refused, { status: 422, body: /A label with this name[^]*value="typed again"/ });
  for (const [change, reason] of [
    [{ name: '' }, /without commas/],
    [{ name: 'a,b' }, /without commas/],
    [{ colour: 'red' }, /six hex digits/],
    [{ colour: '#12345' }, /six hex digits/],
    [{ description: 'x'.repeat(1_001) }, /description/i],
  ] as const)
    t.match(await alice.post(labels, { ...form, name: 'new', ...change }), { status: 422, body: reason });
  const [label] = (await issues.listLabels(viewers.alice, roof)).filter(({ name }) => name === 'area/attic');
  t.match(label, { colour: '12ab9f', isExclusive: true });
  const own = `${labels}/${label!.id}`;
  t.match(await alice.post(own, { ...form, name: 'KIND/BUG' }), {
    status: 422,
    body: /<details class="edit-row" open/,
  });
  t.equal((await alice.post(own, { name: 'attic', colour: 'ffffff' })).status, 303);
  t.match((await anonymous.get(labels)).body, /fill="#ffffff"[^]*attic/);

  for (const browser of [bob, anonymous]) {
    t.notMatch(extractMain(await browser.get(labels)), /action="[^"]*\/labels/, 'no form');
    for (const path of [labels, own, `${own}/delete`, `${labels}/defaults`]) {
      const { status, headers } = await browser.post(path, form);
      t.ok(status === 404 || headers.location?.startsWith('/login'), path);
    }
  }
  t.equal((await alice.post(`${own}/delete`)).status, 303);
  t.equal((await alice.post(`${own}/delete`)).status, 404);
  t.equal((await alice.post(`${labels}/x`, form)).status, 404);
});

t.test('labels of an organisation are those of all its repositories', async (t) => {
  const { web, alice, bob, issues, viewers, repositories } = await issueWeb(t);
  await web.modules.organisations.create(viewers.alice, { name: 'guild' });
  await repositories.create(viewers.alice, { owner: 'guild', name: 'hall', visibility: 'PUBLIC' });
  const page = '/orgs/guild/settings/labels';
  t.equal((await bob.get(page)).status, 404);
  t.equal((await bob.post(page, { name: 'x', colour: '000000' })).status, 404);
  t.match(await alice.get(page), { status: 200, body: /Every repository owned by guild/ });
  t.equal((await alice.post(page, { name: 'shared', colour: '#aa0000' })).status, 303);
  t.equal((await alice.post(`${page}/defaults`)).status, 303);
  t.match(words(await bob.get('/repos/guild/hall/labels')), /shared Of the organisation/);
  await issues.open(viewers.alice, { owner: 'guild', name: 'hall' }, { title: 'Cold hall', labels: ['shared'] });
  t.match(words(await bob.get('/orgs/guild/issues')), /Cold hall shared/);
  t.match((await bob.get('/orgs/guild')).body, /href="\/orgs\/guild\/issues"/);
  const [shared] = (await issues.listOrganisationLabels('guild')).filter(({ name }) => name === 'shared');
  t.equal((await alice.post(`/repos/guild/hall/labels/${shared!.id}/delete`)).status, 404, 'not from a repository');
  t.equal((await alice.post(`${page}/${shared!.id}/delete`)).status, 303);
});
