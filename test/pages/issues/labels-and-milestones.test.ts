// Labels, milestones, settings, moderation, blocks and the trash of issues: each form by role, and what is refused.
import t from 'tap';
import type { Visitor } from '../../fixtures/web-fixture.ts';
import { main, signedIn } from '../../fixtures/web-fixture.ts';
import { reasonOf } from '../../issues/issues-fixture.ts';
import { issueWeb, roofUrl, viewerOf, words } from './issue-web.ts';

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
  t.match(words(preview), /It will look like this: b<i>c/);
  t.match(preview.body, /fill="#12ab9f"[^]*value="Under the roof"/, 'and nothing typed is lost');
  t.notMatch((await alice.get(labels)).body, /b&lt;i&gt;c/, 'nothing was saved');
  const refused = await alice.post(labels, { ...form, description: 'typed again' });
  t.match(refused, { status: 422, body: /There is a label of this name[^]*value="typed again"/ });
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
    t.notMatch(main(await browser.get(labels)), /action="[^"]*\/labels/, 'no form');
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
  t.match(await alice.get(page), { status: 200, body: /Every repository of guild/ });
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

t.test('milestones have a date, an end and issues, and are changed by those who write', async (t) => {
  const { alice, bob, carol, anonymous, issues, viewers, at } = await issueWeb(t);
  const milestones = `${roofUrl}/milestones`;
  t.match(words(await anonymous.get(milestones)), /No milestones yet/);
  const added = await carol.post(milestones, {
    title: 'Winter',
    due_on: '2020-12-01',
    description: 'Before\nthe snow',
  });
  t.match(added.headers.location, /milestones\/[0-9a-f-]{36}\?done=milestone-added/);
  const own = added.headers.location!.replace(/\?.*/, '');
  for (const [form, status, reason] of [
    [{ title: '' }, 422, /without quotes/],
    [{ title: 'a"b' }, 422, /without quotes/],
    [{ title: 'WINTER' }, 422, /There is a milestone/],
    [{ title: 'x', due_on: '2026-02-31' }, 422, /YYYY-MM-DD/],
    [{ title: 'x', due_on: 'soon' }, 422, /YYYY-MM-DD/],
  ] as const) {
    const refused = await carol.post(milestones, form);
    t.match(refused, { status, body: reason });
    t.match(refused.body, /<details class="new-branch" open/, 'the form again');
  }
  await issues.open(viewers.bob, roof, { title: 'Leak' });
  await issues.triage(viewers.alice, at(1), { milestone: 'Winter' });
  const page = await anonymous.get(own);
  t.match(words(page), /Was due on 1 December 2020 0% done, 1 open, 0 closed Before the snow 1 open 0 closed/);
  t.match(page.body, /Leak/);
  await issues.close(viewers.alice, at(1));
  t.match(words(await anonymous.get(own)), /100% done[^]*No open issue is in this milestone/);
  t.match((await anonymous.get(`${own}?state=closed`)).body, /Leak/);
  t.match(words(await bob.get(roofUrl + '/issues?q=is:closed')), /Winter/);

  t.equal((await carol.post(own, { title: 'Deep winter' })).status, 303);
  t.match(await carol.post(own, { title: '' }), { status: 422, body: /value=""/ });
  t.equal((await carol.post(`${own}/close`)).status, 303);
  t.match(words(await anonymous.get(milestones)), /No milestone is open/);
  t.match(words(await anonymous.get(`${milestones}?state=closed`)), /Deep winter Closed/);
  t.equal((await carol.post(`${own}/reopen`)).status, 303);
  for (const browser of [bob, anonymous])
    for (const path of [milestones, own, `${own}/close`, `${own}/reopen`, `${own}/delete`]) {
      const { status, headers } = await browser.post(path, { title: 'Mine' });
      t.ok(status === 404 || headers.location?.startsWith('/login'), path);
    }
  t.notMatch(main(await bob.get(own)), /action="[^"]*\/milestones/);
  t.notMatch(main(await bob.get(milestones)), /action="[^"]*\/milestones/);
  t.equal((await alice.post(`${own}/delete`)).status, 303);
  t.equal((await anonymous.get(own)).status, 404);
  t.equal((await anonymous.get(`${milestones}/x`)).status, 404);
});

t.test('the settings say who may write; what newcomers write waits', async (t) => {
  const { web, alice, bob, carol, anonymous, issues, viewers } = await issueWeb(t);
  const settings = `${roofUrl}/settings/issues`;
  for (const browser of [bob, carol, anonymous]) {
    const { status, headers } = await browser.get(settings);
    t.ok(status === 404 || headers.location?.startsWith('/login'));
    const sent = await browser.post(settings, { issues_from: 'nobody' });
    t.ok(sent.status === 404 || sent.headers.location?.startsWith('/login'));
  }
  t.match((await alice.get(settings)).body, /value="anyone" checked/);
  t.match(await alice.post(settings, { issues_from: 'all' }), {
    status: 422,
    body: /Choose nobody, members or anyone/,
  });
  t.equal((await alice.post(settings, { issues_from: 'anyone', holds_newcomers: 'yes' })).status, 303);
  t.match((await alice.get(settings)).body, /name="holds_newcomers" value="yes" checked/);

  await issues.open(viewers.bob, roof, { title: 'Buy <i>tiles</i>', body: 'Cheap!' });
  const moderation = `${roofUrl}/issues/moderation`;
  t.notMatch((await anonymous.get(`${roofUrl}/issues`)).body, /Cheap|Buy/);
  for (const browser of [bob, anonymous]) {
    const { status, headers } = await browser.get(moderation);
    t.ok(status === 404 || headers.location?.startsWith('/login'));
    const sent = await browser.post(`${moderation}/${bob.id}/admit`);
    t.ok(sent.status === 404 || sent.headers.location?.startsWith('/login'));
  }
  t.match(words(await carol.get(moderation)), /bob New issue Buy <i>tiles<\/i> #1 , .* Cheap! Let bob in/);
  t.equal((await carol.post(`${moderation}/x/admit`)).status, 404);
  t.match((await carol.post(`${moderation}/${bob.id}/admit`)).headers.location, /contributor-admitted/);
  t.match(words(await anonymous.get(`${roofUrl}/issues`)), /Buy <i>tiles<\/i>/);
  t.match(words(await carol.get(moderation)), /Nothing is waiting/);

  const dave = await signedIn(web, 'dave');
  web.clock.advance(61_000);
  await issues.open(viewerOf(dave.id, 'dave'), roof, { title: 'Spam' });
  t.match((await carol.post(`${moderation}/${dave.id}/refuse`)).headers.location, /contributor-refused/);
  const trash = `${roofUrl}/issues/trash`;
  t.equal((await carol.get(trash)).status, 404, 'the trash is for those who administer');
  t.match(words(await alice.get(trash)), /Spam #2 by dave , deleted .* by carol/);
  t.equal((await alice.post(`${roofUrl}/issues/2/purge`)).status, 303);
  t.match(words(await alice.get(trash)), /The trash is empty/);
});

t.test('an owner blocks people, and lets them back in', async (t) => {
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
    t.notMatch(main(await blocked.get(`/repos/${at.owner}/${at.name}/issues`)), /New issue/);
    t.equal((await alice.post(`${page}/bob/remove`)).status, 303);
    web.clock.advance(61_000);
    t.match(await issues.open(viewers.bob, at, { title: 'Hello' }), { state: 'OPEN' });
  }
  t.equal((await bob.get('/orgs/guild/settings/blocks')).status, 404);
  t.equal((await bob.post('/orgs/guild/settings/blocks', { username: 'alice' })).status, 404);
});
