// time limit: 120 s
// Fields of texts in Chromium: the toolbar and its keys, suggestions by keyboard, filters of pickers, the counter; axe
// beside an open list. Screenshots: SHOTS=folder.
import t from 'tap';
import path from 'node:path';
import { allRules, findViolations } from '../fixtures/axe.ts';
import { launchBrowser } from '../fixtures/browser.ts';
import { issueWeb, roofUrl } from '../pages/issues/issues-fixture.ts';

t.setTimeout(110_000);

const { SHOTS } = process.env;

t.test('a text is written with keys, and labels are found', async (t) => {
  const { web, issues, viewers, alice, at } = await issueWeb(t);
  await issues.open(viewers.bob, at(0), { title: 'Leak' });
  for (let number = 100; number < 250; number += 1)
    await issues.addLabel(viewers.alice, { repository: at(0) }, { name: `place/${number}`, colour: 'd73a4a' });
  for (let number = 10; number < 25; number += 1)
    await issues.addMilestone(viewers.alice, at(0), { title: `Step ${number}` });
  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
  await context.addCookies([{ name: 'hearth_session', value: alice.cookies.get('hearth_session')!, url: web.origin }]);
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on('pageerror', (error) => t.fail(error.message));
  await page.goto(`${web.origin}${roofUrl}/issues/1`);
  const text = page.locator('textarea#reply');
  const list = page.locator('.reply-form .suggestions');

  // Keys and buttons: on, and off again; the undo of the browser holds.
  await text.fill('one two');
  await text.press('End');
  for (let at = 0; at < 3; at += 1) await text.press('Shift+ArrowLeft');
  await text.press('Control+b');
  t.equal(await text.inputValue(), 'one **two**');
  await text.press('Control+b');
  t.equal(await text.inputValue(), 'one two');
  await text.press('Control+i');
  t.equal(await text.inputValue(), 'one _two_');
  await text.press('Control+z');
  t.equal(await text.inputValue(), 'one two');
  await text.press('Control+e');
  t.equal(await text.inputValue(), 'one `two`');
  await text.fill('see https://example.org');
  await text.press('End');
  for (let at = 0; at < 'https://example.org'.length; at += 1) await text.press('Shift+ArrowLeft');
  await text.press('Control+k');
  await page.keyboard.type('this');
  t.equal(await text.inputValue(), 'see [this](https://example.org)');
  await text.fill('one\ntwo');
  await text.press('Control+a');
  await page.getByRole('button', { name: 'Quote' }).first().click();
  t.equal(await text.inputValue(), '> one\n> two');
  await text.press('Control+a');
  await page.getByRole('button', { name: 'Quote' }).first().click();
  t.equal(await text.inputValue(), 'one\ntwo');

  // Suggestions.
  await text.fill('');
  await text.pressSequentially('Ask @car');
  await list.waitFor({ state: 'visible' });
  if (SHOTS) await page.screenshot({ path: path.join(SHOTS, 'suggestions-1280-light.png'), fullPage: true });
  t.strictSame(await findViolations(page, allRules), []);
  await text.press('Enter');
  t.equal(await text.inputValue(), 'Ask @carol ');
  await list.waitFor({ state: 'hidden' });
  await text.pressSequentially('about #1');
  await list.waitFor({ state: 'visible' });
  await text.press('Escape');
  t.equal(await text.inputValue(), 'Ask @carol about #1', 'nothing is taken');
  await text.pressSequentially(' :tad');
  await list.waitFor({ state: 'visible' });
  await text.press('Tab');
  t.equal(await text.inputValue(), 'Ask @carol about #1 :tada: ');
  await text.fill('x'.repeat(65_000));
  await page.getByText('Characters left: 536').waitFor();

  // Pickers.
  await page.locator('summary', { hasText: 'Change labels' }).click();
  const boxes = page.locator('.label-boxes');
  await page.getByLabel('Filter labels').fill('place/249');
  await boxes.locator('label:visible').filter({ hasText: 'place/249' }).locator('input').check();
  t.equal(await boxes.locator('label:visible').count(), 1, 'a label that was not on the page');
  if (SHOTS) await page.screenshot({ path: path.join(SHOTS, 'labels-1280-light.png'), fullPage: true });
  await page.getByRole('button', { name: 'Save labels' }).click();
  await page.locator('p.label-chips', { hasText: 'place/249' }).waitFor();
  await page.locator('summary', { hasText: 'Change assignees' }).click();
  await page.locator('input#assignees').pressSequentially('car');
  await page.locator('.side-section .suggestions:visible').waitFor();
  await page.locator('input#assignees').press('Enter');
  t.equal(await page.locator('input#assignees').inputValue(), 'carol, ');
  await page.getByRole('button', { name: 'Save assignees' }).click();
  await page.getByRole('link', { name: 'carol' }).first().waitFor();
  await page.locator('summary', { hasText: 'Change milestone' }).click();
  await page.getByLabel('Filter milestones').fill('step 23');
  t.strictSame(await page.locator('select[name=milestone] option').allTextContents(), ['None', 'Step 23']);

  // Narrow and dark.
  await page.setViewportSize({ width: 360, height: 800 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto(`${web.origin}${roofUrl}/issues/new`);
  await page.locator('textarea#body').pressSequentially('Ask somebody else, perhaps @a');
  await page.locator('.suggestions:visible').waitFor();
  if (SHOTS) await page.screenshot({ path: path.join(SHOTS, 'suggestions-360-dark.png'), fullPage: true });
  t.strictSame(await findViolations(page, allRules), []);
  t.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
  await context.close();
});
