// A rule that names whose approvals count, without a browser: its form, its row, and what the merge box and the
// reviewers of a pull request say.
import t from 'tap';
import { fillRepository } from '../../fixtures/web-fixture.ts';
import { issueWeb, roofUrl, words } from '../issues/issues-fixture.ts';
import { pullWork } from './pulls-fixture.ts';

const place = { owner: 'alice', name: 'roof' };

t.test('approvals of people whom the rule does not name are shown, and do not count', async (t) => {
  const { repositories, viewers, web, alice, bob } = await issueWeb(t);
  const { pulls } = web.modules;
  const found = await repositories.find(viewers.alice, 'alice', 'roof');
  await fillRepository(t, found.path, { 'README.md': '# Roof\n' });
  const work = await pullWork(t, found.path);
  await work.commit('tiles', { tiles: 'slate\n' }, 'Lay tiles');
  await pulls.open(viewers.alice, place, { head: 'tiles', title: 'Lay tiles', body: '' });
  await pulls.reviews.submit(viewers.carol, { ...place, number: 1 }, { verdict: 'APPROVE', body: '', round: 1 });

  const settings = `${roofUrl}/settings/branches`;
  const form = {
    target: 'branch',
    pattern: 'main',
    push_level: 'write',
    force_level: 'nobody',
    create_level: 'write',
    delete_level: 'nobody',
    merge_level: 'write',
    approvals: '1',
    approvals_survive: 'rebase',
    styles: 'merge',
  };
  const refused = await alice.post(settings, { ...form, approvers_only: 'yes', approvers: 'nowhere' });
  t.match([refused.status, words(refused)], [422, /There is no active user with the username nowhere/]);
  t.match(refused.body, /name="approvers_only"[^>]* checked/, 'what was sent stays');
  t.match(refused.body, /name="approvers"[^>]* value="nowhere"/);
  t.equal((await alice.post(settings, { ...form, approvers_only: 'yes', approvers: 'alice' })).status, 303);
  t.match(words(await alice.get(settings)), /Approval by named users/);
  const [rule] = (await repositories.rules.list(viewers.alice, 'alice', 'roof')).filter(
    ({ pattern }) => pattern === 'main',
  );
  const page = await alice.get(`${settings}/${rule!.id}`);
  t.match(page.body, /name="approvers_only"[^>]* checked/);
  t.match(page.body, /name="approvers"[^>]* value="alice"/);

  const one = `${roofUrl}/pulls/1`;
  const box = (language: string) => bob.get(one, { 'Accept-Language': language }).then(words);
  t.match(await box('en'), /1 approval by the users named in the rule needed, 0 given\./);
  t.match(await box('de'), /1 Genehmigung der in der Regel genannten Personen nötig, 0 erteilt\./);
  t.match(await box('fr'), /1 approbation requise des personnes nommées par la règle, 0 données\./);
  t.match(await box('en'), /Approved.{0,20}not counted|does not count/i);

  await alice.post(`${settings}/${rule!.id}`, { ...form, approvers_only: 'yes', approvers: 'carol' });
  t.notMatch(await box('en'), /approval by the people/);
  await alice.post(`${settings}/${rule!.id}`, { ...form, approvals: '2' });
  t.match(await box('en'), /2 approvals needed, 1 given\./, 'everyone’s count again');
  t.match(await box('de'), /2 Genehmigungen nötig, 1 erteilt\./);
});
