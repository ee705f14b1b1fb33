// time limit: 300 s
// Lists of issues and the pages around them in Chromium: axe in light and dark, wide and narrow; menus, keys, and a
// bulk action with scripts off. Screenshots: SHOTS=folder.
import t from 'tap';
import path from 'node:path';
import { launchBrowser } from '../fixtures/browser.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { signedIn, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';

t.setTimeout(240_000);

const { SHOTS } = process.env;
const roof = '/repos/alice/roof';
let web: Web;
let browser: Browser;
const sessions = new Map<string, string>();

async function open(who: string | null, hasScripts: boolean): Promise<BrowserContext> {
  const context = await browser.newContext({ javaScriptEnabled: hasScripts, reducedMotion: 'reduce' });
  if (who !== null) await context.addCookies([{ name: 'hearth_session', value: sessions.get(who)!, url: web.origin }]);
  return context;
}

t.before(async () => {
  web = await startWeb(t);
  browser = await launchBrowser();
  const { issues, organisations, repositories } = web.modules;
  const ids = new Map<string, string>();
  for (const name of ['alice', 'bob', 'carol', 'dave']) {
    const person = await signedIn(web, name);
    sessions.set(name, person.cookies.get('hearth_session')!);
    ids.set(name, person.id);
  }
  const viewer = (name: string) => viewerOf(ids.get(name)!, name);
  const alice = viewer('alice');
  const place = { owner: 'alice', name: 'roof' };
  await repositories.create(alice, { name: 'roof', visibility: 'PUBLIC', description: 'Keeps the rain out' });
  await repositories.create(alice, { name: 'empty', visibility: 'PUBLIC' });
  await repositories.collaborators.add(alice, 'alice', 'roof', { username: 'carol', role: 'write' });
  await organisations.create(alice, { name: 'guild' });
  await repositories.create(alice, { owner: 'guild', name: 'hall', visibility: 'PUBLIC' });
  await issues.addDefaultLabels(alice, { repository: place });
  await issues.addLabel(
    alice,
    { organisation: 'guild' },
    { name: 'shared', colour: '5319e7', description: 'Everywhere' },
  );
  await issues.addMilestone(alice, place, {
    title: 'Before winter',
    dueOn: '2020-12-01',
    description: 'So that\nit is dry.',
  });
  await issues.addMilestone(alice, place, { title: 'Some day' });
  const wait = () => web.clock.advance(61_000);
  for (const [title, body] of [
    ['The gutter overflows when it rains for longer than an hour, and the water comes down in the hall', 'A puddle.'],
    ['Clean the leaves out', 'See #1. A puddle of leaves stands behind the chimney, @carol.'],
    ['Averyveryverylongwordwithoutanyplacewhereitcouldbebrokenbutitmustfitintoanarrowwindowallthesame', ''],
    ['Paint it red', 'Red is nice'],
  ] as const) {
    wait();
    await issues.open(viewer('bob'), place, { title, body });
  }
  const at = (number: number) => ({ ...place, number });
  await issues.triage(alice, at(1), {
    labels: ['kind/bug', 'help wanted', 'priority/high'],
    assignees: ['bob', 'carol'],
    milestone: 'Before winter',
    isPinned: true,
  });
  await issues.triage(alice, at(2), { labels: ['kind/question'], milestone: 'Before winter', assignees: ['alice'] });
  await issues.triage(alice, at(4), { state: 'not_planned', isLocked: true, milestone: 'Before winter' });
  wait();
  await issues.comment(viewer('carol'), at(1), { body: 'I have seen that puddle, too.' });
  await issues.open(alice, { owner: 'guild', name: 'hall' }, { title: 'A cold hall', labels: ['shared'] });
  wait();
  await issues.open(viewer('bob'), place, { title: 'In the trash' });
  await issues.trash(alice, at(5));
  await issues.changeSettings(alice, place, { holdsNewcomers: true });
  wait();
  await issues.open(viewer('dave'), place, { title: 'Cheap tiles', body: 'Buy tiles!\n\nThey are very cheap.' });
  await issues.block(alice, { owner: 'alice', username: 'dave', reason: 'Sells tiles' });
});
t.teardown(() => browser?.close());

const pages: [who: string | null, name: string, path: string][] = [
  [null, 'list-anonymous', `${roof}/issues`],
  ['alice', 'list', `${roof}/issues`],
  ['alice', 'list-all', `${roof}/issues?q=is:all+sort:oldest`],
  ['alice', 'list-unknown', `${roof}/issues?q=colour:red+nothing`],
  ['alice', 'list-empty', '/repos/alice/empty/issues'],
  [null, 'labels-anonymous', `${roof}/labels`],
  ['alice', 'labels', `${roof}/labels`],
  ['alice', 'labels-empty', '/repos/alice/empty/labels'],
  ['alice', 'labels-organisation', '/orgs/guild/settings/labels'],
  ['carol', 'milestones', `${roof}/milestones`],
  ['alice', 'milestones-empty', '/repos/alice/empty/milestones'],
  ['carol', 'moderation', `${roof}/issues/moderation`],
  ['alice', 'moderation-empty', '/repos/alice/empty/issues/moderation'],
  ['alice', 'deleted', `${roof}/issues/trash`],
  ['alice', 'settings', `${roof}/settings/issues`],
  ['alice', 'blocks', '/settings/blocks'],
  ['alice', 'blocks-organisation', '/orgs/guild/settings/blocks'],
  ['carol', 'own', '/dashboard/issues'],
  ['carol', 'own-none', '/dashboard/issues?reason=created'],
  ['alice', 'dashboard', '/'],
  [null, 'profile', '/users/bob'],
  [null, 'of-person', '/users/bob/issues'],
  ['alice', 'of-organisation', '/orgs/guild/issues'],
  [null, 'search', '/search/issues?q=puddle'],
  [null, 'search-blank', '/search/issues'],
  [null, 'search-none', '/search/issues?q=nowhere+colour:red'],
];

const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');

const shot = async (page: Page, name: string): Promise<void> => {
  if (SHOTS !== undefined) await page.screenshot({ path: path.join(SHOTS, `${name}.png`), fullPage: true });
};

t.test('axe finds nothing on any of these pages, in any look', async (t) => {
  const looks = [360, 1280].flatMap((width) => (['light', 'dark'] as const).map((theme) => ({ width, theme })));
  const tabs = new Map<string | null, Page>();
  for (const [who, name, address] of pages) {
    const tab = tabs.get(who) ?? (await (await open(who, true)).newPage());
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
  }
  for (const tab of tabs.values()) await tab.context().close();
});

t.test('open menus, and forms that were refused', async (t) => {
  for (const [width, theme] of [
    [360, 'dark'],
    [1280, 'light'],
  ] as const) {
    const page = await (await open('alice', true)).newPage();
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: theme });
    const check = async (name: string) => {
      t.same(await findViolations(page), [], `${name}, ${theme}`);
      t.notOk(await isTooWide(page), `${name}, ${width} px`);
      await shot(page, `${name}-${theme}-${width}`);
    };
    for (const menu of ['Author', 'Label', 'Milestone', 'Assignee', 'Sort']) {
      await page.goto(`${web.origin}${roof}/issues`);
      await page.locator('.filter-menu > summary', { hasText: menu }).click();
      await check(`menu-${menu.toLowerCase()}`);
    }
    await page.goto(`${web.origin}${roof}/issues`);
    await page.locator('.bulk > summary').click();
    await check('bulk');
    await page.locator('button[value=close]').click();
    t.match(await page.textContent('.refusal'), /Select issues first/);
    await check('bulk-refused');
    await page.goto(`${web.origin}${roof}/labels`);
    await page.locator('.edit-row > summary').first().click();
    await page.locator('.edit-row .remove > summary').first().click();
    await check('label-form');
    await page.goto(`${web.origin}${roof}/milestones`);
    await page.locator('.new-branch > summary').click();
    await check('milestone-form');
    await page.locator('.rows a.row-title').first().click();
    await page.locator('.milestone-actions .new-branch > summary').click();
    await page.locator('.milestone-actions .remove > summary').click();
    await check('milestone');
    await page.context().close();
  }
});

t.test('keys lead to the list, to a new issue, from row to row, and tick', async (t) => {
  const page = await (await open('alice', true)).newPage();
  await page.goto(web.origin + roof);
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await page.waitForURL(`**${roof}/issues`);
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  t.equal(await page.locator('.issue-rows input:checked').count(), 1);
  await page.keyboard.press('x');
  t.equal(await page.locator('.issue-rows input:checked').count(), 0);
  await page.keyboard.press('c');
  await page.waitForURL(`**${roof}/issues/new`);
  await page.goto(`${web.origin}/settings/profile`);
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await page.waitForURL('**/dashboard/issues');
  await page.context().close();
});

t.test('without scripts: filter by a menu and by words, tick two, and change both', async (t) => {
  const page = await (await open('carol', false)).newPage();
  await page.goto(`${web.origin}${roof}/issues`);
  await page.locator('.filter-menu > summary', { hasText: 'Label' }).click();
  await page.locator('.filter-menu li a', { hasText: 'kind/bug' }).click();
  t.equal(await page.locator('.issue-rows li').count(), 1);
  t.equal(await page.inputValue('#q'), 'is:open label:kind/bug');
  await page.fill('#q', 'is:open puddle');
  await page.press('#q', 'Enter');
  t.equal(await page.locator('.issue-rows li').count(), 2, 'words of the text and of a comment');
  for (const tick of await page.locator('.issue-rows input').all()) await tick.check();
  await page.locator('.bulk > summary').click();
  await page.selectOption('#bulk-label', 'kind/feature');
  await page.locator('button[value=label]').click();
  t.match(await page.textContent('.notice'), /The issues have been changed/);
  t.equal(await page.inputValue('#q'), 'is:open puddle', 'the list as it was');
  t.equal(await page.locator('.label-chip', { hasText: 'kind/feature' }).count(), 2);
  t.equal(await page.locator('.label-chip', { hasText: 'kind/bug' }).count(), 0, 'the exclusive label took its place');
  await page.context().close();
});
