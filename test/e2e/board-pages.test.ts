// time limit: 600 s
// Boards in Chromium: axe and width in every look; cards moved by drag, by keys and by the form without scripts.
// Screenshots: SHOTS=folder.
import path from 'node:path';
import t from 'tap';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from '../fixtures/browser.ts';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { validateHtml } from '../fixtures/validate-html.ts';
import { signedIn, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';

t.setTimeout(580_000);

const { SHOTS } = process.env;
const roof = { owner: 'alice', name: 'roof' };
const long = 'Donaudampfschifffahrtsgesellschaftskapitaensmuetzenabzeichen';

let web: Web;
let browser: Browser;
let session = '';
const boards: Record<'roof' | 'guild', string> = { roof: '', guild: '' };

async function open(width: number, scripts: boolean): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    javaScriptEnabled: scripts,
    reducedMotion: 'reduce',
  });
  await context.addCookies([{ name: 'hearth_session', value: session, url: web.origin }]);
  return context;
}

t.before(async () => {
  web = await startWeb(t);
  browser = await launchBrowser();
  const { issues, organisations, repositories } = web.modules;
  const person = await signedIn(web, 'alice');
  session = person.cookies.get('hearth_session')!;
  const alice = viewerOf(person.id, 'alice');
  await repositories.create(alice, { ...roof, visibility: 'PUBLIC' });
  await issues.addDefaultLabels(alice, { repository: roof });
  const titles = ['Rain comes in above the stairs', 'Order new tiles', long, 'Paint the gutter'];
  for (const title of titles) await issues.open(alice, roof, { title });
  await issues.triage(alice, { ...roof, number: 1 }, { labels: ['kind/bug', 'help wanted'], assignees: ['alice'] });
  const board = await issues.boards.add(alice, roof, { title: 'Winter', description: 'Before the snow' });
  for (const number of [4, 3, 2, 1]) await issues.boards.addCard(alice, roof, board.id, { ...roof, number });
  await issues.boards.editColumn(alice, roof, { boardId: board.id, columnId: board.columns[0]!.id }, { limit: 3 });
  await issues.boards.addColumn(alice, roof, board.id, { name: long.slice(0, 50), rule: 'label', label: 'duplicate' });
  boards.roof = `/repos/alice/roof/boards/${board.id}`;
  await organisations.create(alice, { name: 'guild' });
  await repositories.create(alice, { owner: 'guild', name: 'hall', visibility: 'PRIVATE' });
  await issues.open(alice, { owner: 'guild', name: 'hall' }, { title: 'The door squeaks' });
  const plan = await issues.boards.add(alice, { organisation: 'guild' }, { title: 'Plan' }, 'state');
  boards.guild = `/orgs/guild/boards/${plan.id}`;
});
t.teardown(() => browser?.close());

const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');

/** The titles of each column. */
const columns = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll('[data-column]')].map((column) =>
    [...column.querySelectorAll('.row-title')].map((link) => link.textContent.slice(0, 5)).join(' '))`);

t.test('axe finds nothing, and nothing sticks out, in any look', async (t) => {
  const tab = await (await open(1280, true)).newPage();
  const looks = [360, 1280].flatMap((width) => (['light', 'dark'] as const).map((theme) => ({ width, theme })));
  for (const [name, address] of [
    ['list', '/repos/alice/roof/boards'],
    ['board', boards.roof],
    ['list-of-organisation', '/orgs/guild/boards'],
    ['board-of-organisation', boards.guild],
  ] as const) {
    t.equal((await tab.goto(web.origin + address))?.status(), 200, name);
    for (const { width, theme } of looks) {
      await tab.setViewportSize({ width, height: 900 });
      await tab.emulateMedia({ colorScheme: theme });
      const what = `${name}, ${theme}, ${width} px`;
      t.same(await findViolations(tab, width === 360 && theme === 'light' ? allRules : presentationRules), [], what);
      t.notOk(await isTooWide(tab), `${what}: nothing sticks out`);
      if (SHOTS !== undefined)
        await tab.screenshot({ path: path.join(SHOTS, `${name}-${theme}-${width}.png`), fullPage: true });
    }
    await tab.setViewportSize({ width: 320, height: 900 });
    await tab.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))");
    t.notOk(await isTooWide(tab), `${name}, 320 px, all of it open`);
    t.same(await validateHtml(await (await tab.request.get(web.origin + address)).text()), [], name);
  }
  await tab.context().close();
});

t.test('a card is moved by drag and by keys, and the page says so', async (t) => {
  const tab = await (await open(1280, true)).newPage();
  await tab.goto(web.origin + boards.roof);
  t.same(await columns(tab), ['Rain  Order Donau Paint', '', '', '']);
  const moved = () => tab.waitForResponse((response) => response.request().method() === 'POST');
  const settled = (text: string) => tab.locator('#board-status', { hasText: text }).waitFor({ state: 'attached' });
  const [column] = await tab
    .locator('[data-column]')
    .all()
    .then((all) => all.slice(1));
  await Promise.all([moved(), tab.locator('.card').nth(1).dragTo(column!)]);
  await settled('Moved to In progress.');
  t.same(await columns(tab), ['Rain  Donau Paint', 'Order', '', '']);
  await tab.locator('.card .row-title', { hasText: 'Paint' }).focus();
  await Promise.all([moved(), tab.keyboard.press('Shift+ArrowUp')]);
  await settled('Moved to To do.');
  t.same(await columns(tab), ['Rain  Paint Donau', 'Order', '', '']);
  t.match(await tab.evaluate('document.activeElement.textContent'), /Paint/, 'the card keeps the focus');
  await Promise.all([moved(), tab.keyboard.press('Shift+ArrowRight')]);
  await settled('Moved to In progress.');
  t.same(await columns(tab), ['Rain  Donau', 'Paint Order', '', '']);
  await tab.reload();
  t.same(await columns(tab), ['Rain  Donau', 'Paint Order', '', ''], 'the server has it');
  await tab.context().close();
});

t.test('without scripts, the form moves what is selected', async (t) => {
  const tab = await (await open(1280, false)).newPage();
  await tab.goto(web.origin + boards.roof);
  await tab.getByRole('checkbox', { name: 'Select Paint the gutter' }).check();
  await tab.getByRole('checkbox', { name: 'Select Order new tiles' }).check();
  await tab.locator('#move-column').selectOption({ label: 'Done' });
  await tab.getByRole('button', { name: 'Move', exact: true }).click();
  const text = await tab.locator('[data-column]').nth(2).innerText();
  t.match(text, /Paint the gutter[^]*Order new tiles/);
  await tab.context().close();
});
