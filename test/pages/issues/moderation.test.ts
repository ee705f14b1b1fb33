// Who may open issues, what waits for a member, and the trash: each form by role.
import t from 'tap';
import { signedIn } from '../../fixtures/web-fixture.ts';
import { issueWeb, roofUrl, viewerOf, words } from './issues-fixture.ts';

t.setTimeout(240_000);

const roof = { owner: 'alice', name: 'roof' };

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
  t.match(words(await carol.get(`${roofUrl}/issues`)), /Moderation 1 waiting/);
  t.match(words(await carol.get(moderation)), /bob New issue Buy <i>tiles<\/i> #1 , .* Cheap! Approve bob/);
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
