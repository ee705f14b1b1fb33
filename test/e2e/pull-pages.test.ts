// time limit: 400 s
// The pages of pull requests in Chromium: axe in light and dark, wide and narrow; and one pull request from a branch to
// its merge, its revert and the end of its branch, with scripts off. Screenshots: SHOTS=folder.
import t from 'tap';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser, mainText } from '../fixtures/browser.ts';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { validateHtml } from '../fixtures/validate-html.ts';
import { fillRepository, signedIn, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { pullWork } from '../pages/pulls/pulls-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(380_000);

const { SHOTS } = process.env;
const roof = '/repos/alice/roof';

let web: Web;
let browser: Browser;
const sessions = new Map<string, string>();

interface Look {
  width: number;
  theme: 'light' | 'dark';
  scripts: boolean;
}

async function open(who: string | null, { width, theme, scripts }: Look): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    javaScriptEnabled: scripts,
    reducedMotion: 'reduce',
  });
  if (who !== null) await context.addCookies([{ name: 'hearth_session', value: sessions.get(who)!, url: web.origin }]);
  return context;
}

const template = '<!-- What does it change? -->\n\n- [ ] Tested in the rain\n';

t.before(async () => {
  web = await startWeb(t);
  browser = await launchBrowser();
  const { issues, pulls, repositories } = web.modules;
  const ids = new Map<string, string>();
  for (const name of ['alice', 'bob', 'carol']) {
    const person = await signedIn(web, name);
    sessions.set(name, person.cookies.get('hearth_session')!);
    ids.set(name, person.id);
  }
  const viewer = (name: string) => viewerOf(ids.get(name)!, name);
  const place = { owner: 'alice', name: 'roof' };
  const at = (number: number) => ({ ...place, number });
  for (const name of ['roof', 'empty'])
    await repositories.create(viewer('alice'), { name, visibility: 'PUBLIC', description: 'Keeps the rain out' });
  for (const name of ['carol', 'bob'])
    await repositories.collaborators.add(viewer('alice'), 'alice', 'roof', { username: name, role: 'write' });
  const found = await repositories.find(viewer('alice'), 'alice', 'roof');
  await fillRepository(t, found.path, {
    'README.md': '# Roof\n\nTiles\n',
    'gutter.txt': 'depth 10\n',
    '.hearth/pull_request.md': template,
  });
  const { commit, objects } = await pullWork(t, found.path);
  await issues.addDefaultLabels(viewer('alice'), { repository: place });

  // 1: open, with a conflict.
  await commit('deeper-gutter', { 'gutter.txt': 'depth 25\n' }, 'Make the gutter deeper\n\nIt overflowed.');
  await pulls.open(viewer('bob'), place, {
    head: 'deeper-gutter',
    title: 'Make the gutter deeper',
    body: 'It **overflowed**.',
  });
  // 2: may be merged, with checks, labels, rounds and words.
  const first = await commit('new-tiles', { 'tiles.txt': 'red\n' }, 'Lay new tiles');
  await pulls.open(viewer('carol'), place, {
    head: 'new-tiles',
    title: 'Lay new tiles on the northern side, where the old ones have begun to let the water through',
    body: 'They are red.',
    labels: ['kind/feature'],
    assignees: ['carol'],
  });
  const second = await objects({ 'tiles.txt': 'red\nand blue\n', 'glue.txt': 'strong\n' }, 'Glue them', first);
  await repositories.pushes.moveBranch(viewer('carol'), found, {
    branch: 'new-tiles',
    oldId: first,
    newId: second,
    right: 'push',
  });
  await waitUntil(async () => (await pulls.rounds.list(viewer('alice'), at(2))).length >= 2);
  await issues.comment(viewer('alice'), at(2), { body: 'Which glue, @carol?' });
  for (const [context, state] of [
    ['build', 'success'],
    ['rain / hour (long)', 'failure'],
  ] as const)
    await repositories.statuses.report(viewer('alice'), 'alice', 'roof', {
      sha: second,
      context,
      state,
      description: 'Ran in 3 minutes',
      targetUrl: 'https://ci.example.org/1',
    });
  await pulls.reviews.submit(viewer('bob'), at(2), {
    verdict: 'REQUEST_CHANGES',
    body: 'The glue **smells**.',
    round: 2,
  });
  await pulls.attention.request(viewer('carol'), at(2), { add: ['alice'] });
  // 3: a draft; 4: merged.
  await commit('chimney', { 'chimney.txt': 'tall\n' }, 'Build a chimney');
  await pulls.open(viewer('bob'), place, { head: 'chimney', title: 'Build a chimney', body: '', isDraft: true });
  await commit('sweep', { 'gutter.txt': 'depth 12, swept\n' }, 'Sweep');
  await pulls.open(viewer('carol'), place, { head: 'sweep', title: 'Sweep the gutter', body: 'See #1.' });
  await pulls.merge(viewer('alice'), at(4), { style: 'squash', round: 1 });
  await commit('paint', { 'paint.txt': 'green\n' }, 'Paint it');
  await pulls.open(viewer('carol'), place, { head: 'paint', title: 'Paint it', body: '' });
  await pulls.reviews.submit(viewer('alice'), at(5), { verdict: 'APPROVE', body: '', round: 1 });
  // Another repository, whose rule asks for approvals of owners and for a check.
  await repositories.create(viewer('alice'), { name: 'hall', visibility: 'PUBLIC' });
  for (const name of ['carol', 'bob'])
    await repositories.collaborators.add(viewer('alice'), 'alice', 'hall', { username: name, role: 'write' });
  const hall = { owner: 'alice', name: 'hall' };
  const inHall = (number: number) => ({ ...hall, number });
  const { path: hallPath } = await repositories.find(viewer('alice'), 'alice', 'hall');
  await fillRepository(t, hallPath, { CODEOWNERS: '*.txt @bob @nowhere\n[Doors]\n/doors/** @alice\n' });
  const hallWork = await pullWork(t, hallPath);
  const heads: string[] = [];
  for (const name of ['door', 'window', 'floor']) {
    heads.push(await hallWork.commit(name, { [`${name}s/${name}.txt`]: 'oak\n' }, `Add a ${name}`));
    await pulls.open(viewer('carol'), hall, { head: name, title: `Add a ${name}`, body: 'Of oak.' });
  }
  await repositories.rules.add(viewer('alice'), 'alice', 'hall', {
    pattern: 'main',
    target: 'BRANCH',
    merging: { approvals: 1, ownersApprove: true, checks: ['build', 'lint/*'], threadsResolved: true },
  });
  await pulls.reviews.addComment(viewer('bob'), inHall(1), {
    round: 1,
    path: 'doors/door.txt',
    side: 'NEW',
    firstLine: 1,
    lastLine: 1,
    body: 'Oak? And not *pine*?',
    sendNow: true,
  });
  await pulls.reviews.addComment(viewer('alice'), inHall(1), {
    round: 1,
    path: 'doors/door.txt',
    side: 'NEW',
    firstLine: 1,
    lastLine: 1,
    body: 'Which key?',
    sendNow: false,
  });
  await pulls.reviews.submit(viewer('bob'), inHall(2), { verdict: 'APPROVE', body: '', round: 1 });
  await repositories.statuses.report(viewer('alice'), 'alice', 'hall', {
    sha: heads[1]!,
    context: 'build',
    state: 'pending',
    description: 'Runs',
    targetUrl: null,
  });
  await pulls.mergeWhenReady(viewer('alice'), inHall(2), { style: 'squash', title: 'A window', body: '', round: 1 });
  await issues.close(viewer('alice'), inHall(3));
  // Its commit is on no branch any more, and the page of the commit says so.
  await pulls.deleteBranch(viewer('carol'), inHall(3));
  pages.push([null, 'commit-of-pull', `/repos/alice/hall/commit/${heads[2]}`]);
  // A third one, with a merge queue: one is tested, one waits, one may enter.
  const shed = { owner: 'alice', name: 'shed' };
  await repositories.create(viewer('alice'), { name: 'shed', visibility: 'PUBLIC' });
  const { path: shedPath } = await repositories.find(viewer('alice'), 'alice', 'shed');
  const queueWorkflow = 'on: merge_group\njobs:\n  test:\n    runs-on: linux\n    steps: [{ run: ls }]\n';
  await fillRepository(t, shedPath, { '.hearth/workflows/queue.yml': queueWorkflow });
  const shedWork = await pullWork(t, shedPath);
  await repositories.rules.add(viewer('alice'), 'alice', 'shed', {
    pattern: 'main',
    target: 'BRANCH',
    merging: { upToDate: 'queue' },
  });
  for (const [index, name] of ['shelf', 'hook', 'lamp'].entries()) {
    await shedWork.commit(name, { [`${name}.txt`]: 'new\n' }, `Add a ${name}`);
    await pulls.open(viewer('alice'), shed, { head: name, title: `Add a ${name}`, body: '' });
    if (name !== 'lamp')
      await pulls.queue.enter(viewer('alice'), { ...shed, number: index + 1 }, { style: 'merge', round: 1 });
  }
  // A fourth one, with a stack of three: the second needs the first, and the third is for the branch of the second.
  const loft = { owner: 'alice', name: 'loft' };
  await repositories.create(viewer('alice'), { name: 'loft', visibility: 'PUBLIC' });
  const { path: loftPath } = await repositories.find(viewer('alice'), 'alice', 'loft');
  await fillRepository(t, loftPath, { 'README.md': '# Loft\n' });
  const loftWork = await pullWork(t, loftPath);
  for (const [name, base] of [
    ['joists', 'main'],
    ['boards', 'main'],
    ['carpet', 'boards'],
  ] as const) {
    await loftWork.commit(name, { [`${name}.txt`]: 'new\n' }, `Lay ${name}`);
    await pulls.open(viewer('alice'), loft, { head: name, base, title: `Lay ${name}`, body: '' });
  }
  await issues.addLink(viewer('alice'), { ...loft, number: 2 }, 'needs', { ...loft, number: 1 });
  // A fifth one, of an organisation, with a team that was asked; bob is in it, and carol does not know of it.
  const { organisations } = web.modules;
  const barn = { owner: 'guild', name: 'barn' };
  const glazers = { organisation: 'guild', name: 'glazers' };
  await organisations.create(viewer('alice'), { name: 'guild' });
  await organisations.teams.create(viewer('alice'), 'guild', { name: 'glazers' });
  await organisations.teams.addMember(viewer('alice'), glazers, 'bob');
  await repositories.create(viewer('alice'), { ...barn, visibility: 'PUBLIC' });
  await repositories.teams.setRole(viewer('alice'), glazers, barn, 'write');
  const { path: barnPath } = await repositories.find(viewer('alice'), 'guild', 'barn');
  await fillRepository(t, barnPath, { 'README.md': '# Barn\n' });
  await (await pullWork(t, barnPath)).commit('panes', { 'panes.txt': 'clear\n' }, 'Set panes');
  await pulls.open(viewer('alice'), barn, { head: 'panes', title: 'Set panes', body: '' });
  await pulls.attention.request(viewer('alice'), { ...barn, number: 1 }, { add: ['guild/glazers', 'carol'] });
  // For the journey, and for a form.
  await commit('ladder', { 'ladder.txt': 'long\n' }, 'Add a ladder\n\nIt is needed to get up.');
});
t.teardown(() => browser?.close());

const pages: [who: string | null, name: string, path: string][] = [
  [null, 'list', `${roof}/pulls`],
  ['alice', 'list-all', `${roof}/pulls?q=is:all`],
  ['alice', 'list-narrow', `${roof}/pulls?q=is:open+review:approved+author:bob`],
  ['alice', 'list-empty', '/repos/alice/empty/pulls'],
  ['bob', 'new-blank', `${roof}/pulls/new`],
  ['carol', 'new', `${roof}/pulls/new?base=main&head=ladder`],
  [null, 'conflict-reader', `${roof}/pulls/1`],
  ['bob', 'conflict', `${roof}/pulls/1`],
  ['alice', 'mergeable', `${roof}/pulls/2`],
  ['alice', 'squash', `${roof}/pulls/5?style=squash`],
  ['bob', 'draft', `${roof}/pulls/3`],
  ['alice', 'merged', `${roof}/pulls/4`],
  ['alice', 'blocked', '/repos/alice/hall/pulls/1'],
  ['alice', 'blocked-changes', '/repos/alice/hall/pulls/1/changes'],
  ['alice', 'when-ready', '/repos/alice/hall/pulls/2'],
  ['carol', 'closed', '/repos/alice/hall/pulls/3'],
  ['alice', 'queue-testing', '/repos/alice/shed/pulls/1'],
  ['alice', 'queue-waiting', '/repos/alice/shed/pulls/2'],
  ['alice', 'queue-enter', '/repos/alice/shed/pulls/3'],
  [null, 'queue', '/repos/alice/shed/pulls/queue'],
  ['bob', 'queue-empty', `${roof}/pulls/queue`],
  ['bob', 'patch', `${roof}/pulls/new/patch?pull=7`],
  ['alice', 'team', '/repos/guild/barn/pulls/1'],
  ['bob', 'team-changes', '/repos/guild/barn/pulls/1/changes'],
  ['bob', 'team-waiting', '/dashboard/pulls'],
  ['carol', 'team-hidden', '/repos/guild/barn/pulls/1'],
  ['alice', 'stack', '/repos/alice/loft/pulls/2'],
  [null, 'stack-changes', '/repos/alice/loft/pulls/3/changes'],
  [null, 'commits', `${roof}/pulls/2/commits`],
  ['alice', 'settings', `${roof}/settings/issues`],
  ['alice', 'waiting', '/dashboard/pulls'],
  ['carol', 'dashboard', '/'],
  ['alice', 'rule', `${roof}/settings/branches/new?for=branch`],
];

const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');

const shot = async (page: Page, name: string): Promise<void> => {
  if (SHOTS !== undefined) await page.screenshot({ path: path.join(SHOTS, `${name}.png`), fullPage: true });
};

t.test('axe finds nothing on any page of pull requests, in any look', async (t) => {
  const looks = [360, 1280].flatMap((width) => (['light', 'dark'] as const).map((theme) => ({ width, theme })));
  const tabs = new Map<string | null, Page>();
  for (const [who, name, address] of pages) {
    const tab = tabs.get(who) ?? (await (await open(who, { ...looks[0]!, scripts: true })).newPage());
    tabs.set(who, tab);
    const response = await tab.goto(web.origin + address);
    t.equal(response?.status(), 200, name);
    for (const { width, theme } of looks) {
      await tab.setViewportSize({ width, height: 900 });
      await tab.emulateMedia({ colorScheme: theme });
      const what = `${name}, ${theme}, ${width} px`;
      t.same(await findViolations(tab, width === 360 && theme === 'light' ? allRules : presentationRules), [], what);
      t.notOk(await isTooWide(tab), `${what}: nothing sticks out`);
      await shot(tab, `${name}-${theme}-${width}`);
    }
    const html = await (await tab.request.get(web.origin + address)).text();
    if (name === 'commit-of-pull') t.match(html, /This commit is not on any branch or tag of this repository/);
    t.same(validateHtml(html), [], `${name} is valid HTML`);
  }
  for (const tab of tabs.values()) await tab.context().close();
});

t.test('without scripts: from a branch to the merge, its revert and the end of the branch', async (t) => {
  const carol = await (await open('carol', { width: 1280, theme: 'light', scripts: false })).newPage();
  const alice = await (await open('alice', { width: 360, theme: 'dark', scripts: false })).newPage();
  await carol.goto(`${web.origin}${roof}/pulls`);
  await carol.click('main .actions >> text=New pull request');
  await carol.fill('#head', 'nowhere');
  await carol.click('text=Compare');
  t.match(await mainText(carol), /There is no branch called “nowhere”/);
  await carol.fill('#head', 'ladder');
  await carol.click('text=Compare');
  t.equal(await carol.inputValue('#title'), 'Add a ladder');
  t.match(await carol.inputValue('#body'), /^It is needed to get up\.\n\n<!-- What does it change\? -->/);
  t.match(await mainText(carol), /ladder has 1 commit that main does not have/);
  await carol.fill('#title', ' ');
  await carol.click('text=Create pull request');
  t.match(await mainText(carol), /title/i);
  t.match(await carol.inputValue('#body'), /^It is needed/, 'what was typed stays');
  await carol.fill('#title', 'Add a ladder');
  await carol.click('text=Create draft');
  t.equal(new URL(carol.url()).pathname, `${roof}/pulls/6`);
  t.match(await mainText(carol), /carol wants to merge 1 commit into main from ladder/);
  t.match(await mainText(carol), /Mark it as ready for review before merging/);
  await carol.click('button:has-text("Ready for review")');
  t.match(await mainText(carol), /carol marked this as ready for review/);
  t.match(await mainText(carol), /No conflicts with the base branch/);

  await alice.goto(`${web.origin}${roof}/pulls/6`);
  await alice.fill('#reply', 'Is it long enough?');
  await alice.click('button[value=comment]');
  t.match(await mainText(alice), /Is it long enough\?/);
  t.match(await mainText(alice), /No conflicts with the base branch/);
  await alice.click('.merge-styles >> text=Squash');
  t.equal(await alice.inputValue('#message_title'), 'Add a ladder (#6)');
  await alice.fill('#message_title', 'A ladder (#6)');
  await alice.check('[name=delete_branch]');
  await alice.click('text=Squash and merge');
  const merged = await mainText(alice);
  t.match(merged, /alice merged this into main as one commit/);
  t.match(merged, /alice deleted the branch ladder/);
  t.match(await alice.locator('.issue-badge').first().innerText(), 'Merged');
  await alice.click('text=Restore the branch');
  t.match(await mainText(alice), /alice restored the branch ladder/);
  await alice.click('button:has-text("Revert")');
  t.equal(new URL(alice.url()).pathname, `${roof}/pulls/7`);
  t.match(await mainText(alice), /Revert "Add a ladder"/);
  await alice.click('text=Close pull request');
  t.match(await alice.locator('.issue-badge').first().innerText(), 'Closed');
  await alice.click('text=Reopen');
  t.match(await alice.locator('.issue-badge').first().innerText(), 'Open');

  await alice.goto(`${web.origin}${roof}/issues/6`);
  t.equal(new URL(alice.url()).pathname, `${roof}/pulls/6`, 'the number leads to the pull request');
  await carol.context().close();
  await alice.context().close();
});

t.test('without scripts: a team is asked, waits, and is named only to those who know of it', async (t) => {
  const look = { width: 1280, theme: 'light', scripts: false } as const;
  const [alice, bob, carol] = [
    await (await open('alice', look)).newPage(),
    await (await open('bob', look)).newPage(),
    await (await open('carol', look)).newPage(),
  ];
  const barn = `${web.origin}/repos/guild/barn/pulls/1`;
  await bob.goto(`${web.origin}/dashboard/pulls`);
  t.match(await mainText(bob), /Set panes[^]*Your team was asked for a review/);
  await carol.goto(barn);
  t.match(await mainText(carol), /requested a review from a team/);
  t.notMatch(await carol.content(), /glazers/);
  await alice.goto(barn);
  t.match(await mainText(alice), /requested a review from guild\/glazers/);
  t.match(await alice.locator('.reviewers').innerText(), /carol[^]*guild\/glazers[^]*Requested/);
  await alice.click('text=Request a review');
  await alice.check('label:has-text("Cancel the review request to guild/glazers") input');
  await alice.click('text=Save reviewers');
  t.notMatch(await alice.locator('.reviewers').innerText(), /glazers/);
  t.match(await mainText(alice), /removed the review request for guild\/glazers/);
  await alice.click('text=Request a review');
  await alice.fill('#reviewers', 'guild/nothing');
  await alice.click('text=Save reviewers');
  t.match(await mainText(alice), /This team does not exist/);
  t.equal(await alice.inputValue('#reviewers'), 'guild/nothing', 'what was typed stays');
  await alice.fill('#reviewers', '@guild/glazers');
  await alice.click('text=Save reviewers');
  t.match(await alice.locator('.reviewers').innerText(), /guild\/glazers/);
  await bob.goto(`${barn}/changes`);
  await bob.check('input[name=verdict][value=APPROVE]');
  await bob.click('.review-panel button[type=submit]');
  await alice.goto(barn);
  const reviewers = await alice.locator('.reviewers').innerText();
  t.match(reviewers, /bob[^]*Approved/);
  t.notMatch(reviewers, /glazers/, 'it has its answer');
  await bob.goto(`${web.origin}/dashboard/pulls`);
  t.notMatch(await mainText(bob), /Set panes/);
  for (const page of [alice, bob, carol]) await page.context().close();
});

t.test('a patch that does not apply: what was pasted stays, and says why', async (t) => {
  for (const [width, theme] of [
    [360, 'light'],
    [1280, 'dark'],
  ] as const) {
    const bob = await (await open('bob', { width, theme, scripts: true })).newPage();
    await bob.goto(`${web.origin}${roof}/pulls/new/patch`);
    await bob.fill(
      '#patch',
      'From: Alice <alice@example.org>\nSubject: [PATCH] Paint\n\n---\ndiff --git a/none b/none\n--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n',
    );
    await bob.click('main button.primary');
    t.match(await mainText(bob), /cannot be applied/);
    t.match(await bob.inputValue('#patch'), /^From: Alice[^]*Paint/);
    t.same(await findViolations(bob, allRules), []);
    t.notOk(await isTooWide(bob));
    await shot(bob, `patch-refused-${width}-${theme}`);
    await bob.context().close();
  }
});
