// Pages of workflows that wait for approval, without a browser: who sees the button, what stands above it, what it
// does.
import t from 'tap';
import { fillRepository } from '../../fixtures/web-fixture.ts';
import { issueWeb, roofUrl, words } from '../issues/issues-fixture.ts';
import { pullWork } from './pulls-fixture.ts';
import { waitUntil } from '../../fixtures/wait-until.ts';

const workflow = (step: string) =>
  `name: Checks\non: pull_request\njobs:\n  test:\n    runs-on: linux\n    steps: [{ run: ${step} }]\n`;
const place = { owner: 'alice', name: 'roof' };

t.test('workflows of an outside contributor: block, button, refusals, settings', async (t) => {
  const { repositories, viewers, web, alice, bob, carol, anonymous } = await issueWeb(t);
  const { pulls, ci, issues } = web.modules;
  const found = await repositories.find(viewers.alice, 'alice', 'roof');
  await fillRepository(t, found.path, {
    'README.md': '# Roof\n',
    '.hearth/workflows/checks.yml': workflow('make test'),
  });
  await repositories.forks.create(viewers.bob, 'alice', 'roof', {});
  const fork = await repositories.find(viewers.bob, 'bob', 'roof');
  const work = await pullWork(t, fork.path);
  const waiting = (number: number) => waitUntil(() => ci.pulls.approvalOf(viewers.alice, found, number));

  const head = await work.commit('tiles', { '.hearth/workflows/checks.yml': workflow('<b>evil</b>') }, 'Lay tiles');
  await pulls.open(viewers.bob, place, { head: 'bob:tiles', title: 'Lay tiles', body: '' });
  const { runs } = await waiting(1);
  const one = `${roofUrl}/pulls/1`;
  const run = `${roofUrl}/runs/${runs[0]!.number}`;
  for (const [name, who] of Object.entries({ anonymous, bob })) {
    for (const url of [one, run]) {
      const page = await who.get(url);
      t.match(words(page), /A workflow is waiting for approval/, `${name} ${url}`);
      t.notMatch(page.body, 'Approve and run', `${name} ${url}`);
    }
  }
  for (const who of [alice, carol]) {
    for (const [url, action] of [
      [one, `${one}/approve#approval`],
      [run, `${run}/approve`],
    ] as const) {
      const { body } = await who.get(url);
      t.match(body, `action="${action}"`);
      const [change, evil, button] = ['make test', '&lt;b&gt;evil', 'Approve and run'].map((text) =>
        body.indexOf(text),
      );
      t.ok(change! > 0 && evil! > change! && button! > evil!, `${url}: what it changes stands above the button`);
      t.notMatch(body, '<b>evil');
    }
  }
  t.match(words(await alice.get(run)), /Waiting for approval/);
  t.match(words(await alice.get(`${roofUrl}/runs`)), /Waiting for approval/);
  t.notMatch((await alice.get(run)).body, 'Re-run');

  t.match((await anonymous.post(`${one}/approve`, { head })).headers['location'] ?? '', /^\/login/);
  const byAuthor = await bob.post(`${one}/approve`, { head });
  t.equal(byAuthor.status, 403);
  t.equal((await bob.post(`${run}/approve`, {})).status, 404);
  const stale = await carol.post(`${one}/approve`, { head: 'a'.repeat(40) });
  t.equal(stale.status, 409);
  t.match(words(stale), /has new commits/);
  t.match(stale.body, `name="head" value="${head}"`, 'the form again, with the head that is there');
  const done = await carol.post(`${one}/approve`, { head });
  t.equal(done.status, 303);
  const approved = await carol.get(run);
  t.match(words(approved), /Approved by carol\./);
  t.notMatch(approved.body, 'Approve and run');
  t.notMatch((await carol.get(one)).body, 'A workflow is waiting for approval');
  const twice = await carol.post(`${run}/approve`, {});
  t.equal(twice.status, 409);
  t.match(words(twice), /is not waiting for approval/);

  // One that touches no workflow, by its run.
  await work.commit('gutter', { 'gutter.txt': 'deep\n' }, 'Dig a gutter');
  await pulls.open(viewers.bob, place, { head: 'bob:gutter', title: 'Dig a gutter', body: '' });
  const [other] = (await waiting(2)).runs;
  t.match(words(await alice.get(`${roofUrl}/pulls/2`)), /It does not change any workflows/);
  t.equal((await alice.post(`${roofUrl}/runs/${other!.number}/approve`, {})).status, 303);
  t.equal(await ci.pulls.approvalOf(viewers.alice, found, 2), null);

  // A conflict: no merge to test, and the page says so.
  await work.commit('readme', { 'README.md': '# Roofs\n' }, 'Roofs');
  await (await pullWork(t, found.path)).commit('main', { 'README.md': '# A roof\n' }, 'A roof');
  await pulls.open(viewers.bob, place, { head: 'bob:readme', title: 'Roofs', body: '' });
  t.match(words(await alice.get(`${roofUrl}/pulls/3`)), /Workflows do not run while there are conflicts/);
  t.notMatch(words(await alice.get(`${roofUrl}/pulls/2`)), /Workflows do not run/);

  const settings = `${roofUrl}/settings/issues`;
  const form = { issues_from: 'anyone', pulls_from: 'anyone' };
  t.match((await alice.get(settings)).body, /name="ci_approval" value="everyone"[^>]* checked/);
  t.equal((await alice.post(settings, { ...form, ci_approval: 'first_time' })).status, 303);
  t.equal((await issues.settingsOf(viewers.alice, place)).ciApproval, 'first_time');
  t.equal((await alice.post(settings, form)).status, 303);
  t.equal((await issues.settingsOf(viewers.alice, place)).ciApproval, 'first_time', 'a form without it keeps it');
  t.equal((await alice.post(settings, { ...form, ci_approval: 'nobody' })).status, 422);
});
