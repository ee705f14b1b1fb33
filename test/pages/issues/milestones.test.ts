// Milestones: each form by role, and what is refused.
import t from 'tap';
import { extractMain } from '../../fixtures/web-fixture.ts';
import { issueWeb, roofUrl, words } from './issues-fixture.ts';

t.setTimeout(240_000);

const roof = { owner: 'alice', name: 'roof' };

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
    [{ title: 'WINTER' }, 422, /A milestone with this title/],
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
  t.match(words(await anonymous.get(own)), /100% done[^]*This milestone has no open issues/);
  t.match((await anonymous.get(`${own}?state=closed`)).body, /Leak/);
  t.match(words(await bob.get(roofUrl + '/issues?q=is:closed')), /Winter/);

  t.equal((await carol.post(own, { title: 'Deep winter' })).status, 303);
  t.match(await carol.post(own, { title: '' }), { status: 422, body: /value=""/ });
  t.equal((await carol.post(`${own}/close`)).status, 303);
  t.match(words(await anonymous.get(milestones)), /There are no open milestones/);
  t.match(words(await anonymous.get(`${milestones}?state=closed`)), /Deep winter Closed/);
  t.equal((await carol.post(`${own}/reopen`)).status, 303);
  for (const browser of [bob, anonymous])
    for (const path of [milestones, own, `${own}/close`, `${own}/reopen`, `${own}/delete`]) {
      const { status, headers } = await browser.post(path, { title: 'Mine' });
      t.ok(status === 404 || headers.location?.startsWith('/login'), path);
    }
  t.notMatch(extractMain(await bob.get(own)), /action="[^"]*\/milestones/);
  t.notMatch(extractMain(await bob.get(milestones)), /action="[^"]*\/milestones/);
  t.equal((await alice.post(`${own}/delete`)).status, 303);
  t.equal((await anonymous.get(own)).status, 404);
  t.equal((await anonymous.get(`${milestones}/x`)).status, 404);
});
