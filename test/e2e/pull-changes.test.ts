// time limit: 300 s
// The page of changes in a real browser with scripts off: comment on lines, review, a new round, threads that moved;
// then its states with axe, in light and dark, narrow and wide.
import t from 'tap';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from '../fixtures/browser.ts';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { numbered, startPullWeb } from '../fixtures/pull-web-fixture.ts';

t.setTimeout(240_000);

/** Folder for screenshots; none are made without it. */
const pictures = process.env['HEARTH_PICTURES'];

const bed = (beans: string, end = ''): string =>
  `${numbered(12)}/** Sows a row. */\nexport function sow(count: number): string {\n  const beans = ${beans};\n  return 'b'.repeat(count) + beans;\n}\n${numbered(20)}${end}`;

const garden = await startPullWeb(t, {
  'src/bed.ts': bed("'none'"),
  'README.md': '# Garden\n',
  'docs/old.md': numbered(4),
});
const { web, commit, git, alice, bob } = garden;
await commit({ 'src/bed.ts': bed("'many'"), 'docs/pond.md': '# Pond\n\nDeep.\n' }, 'Sow beans');
await commit({ 'docs/old.md': null, 'logo.bin': Buffer.from([0, 1, 2, 0]) }, 'Tidy up');
const pull = await garden.open('Beans and a pond');

const browser: Browser = await launchBrowser();
t.teardown(() => browser.close());

async function open(
  who: typeof alice | null,
  more: Parameters<Browser['newContext']>[0] = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    javaScriptEnabled: false,
    reducedMotion: 'reduce',
    ...more,
  });
  context.setDefaultTimeout(15_000);
  if (who !== null) {
    const value = who.cookies.get('hearth_session')!;
    await context.addCookies([{ name: 'hearth_session', value, url: web.origin }]);
  }
  return context;
}

const changes = `${web.origin}${pull.url}/changes`;

/** The link that comments on a line; the mouse finds it beside the line. */
const plus = (page: Page, place: string) => page.locator(`a.add[href*="comment=${place}#"]`);

t.test('comment on lines, on a file and on the round, then finish the review', async (t) => {
  const page = await (await open(bob)).newPage();
  await page.goto(changes);
  await plus(page, 'src/bed.ts:NEW:15').click();
  t.equal(await page.getByLabel('Lines', { exact: true }).inputValue(), '15');
  await page.getByLabel('to', { exact: true }).fill('16');
  await page.getByRole('textbox', { name: 'Comment' }).fill('Why *many*?');
  await page.getByRole('button', { name: 'Preview' }).click();
  t.equal(await page.locator('.text-preview em').textContent(), 'many');
  await page.getByRole('button', { name: 'Start a review' }).click();
  const thread = page.locator('.below .thread');
  await thread.getByText('src/bed.ts, lines 15 to 16').waitFor();
  t.equal(await thread.getByText('Pending').count(), 2, 'the thread and its comment');
  const signedOut = await (await open(null)).newPage();
  await signedOut.goto(changes);
  t.equal(await signedOut.locator('.thread, a.add').count(), 0, 'seen by its author alone, and nothing to click');

  await page.locator('.changed-file', { hasText: 'docs/pond.md' }).getByText('Comment on this file').click();
  await page.getByRole('textbox', { name: 'Comment' }).fill('A good place.');
  await page.getByRole('button', { name: 'Comment now' }).click();
  await page.locator('.file-top .thread').getByText('A good place.').waitFor();
  await page.getByRole('link', { name: 'Comment on the round' }).click();
  await page.getByRole('textbox', { name: 'Comment' }).fill('Well done, all in all.');
  await page.getByRole('button', { name: 'Add to review' }).click();
  await page.locator('.page-top .thread').getByText('Well done').waitFor();

  await page.getByRole('link', { name: 'Finish your review' }).click();
  await page.getByRole('radio', { name: /^Request changes/ }).check();
  await page.getByLabel('Summary').fill('Please look at the beans.');
  await page.getByRole('button', { name: 'Submit review' }).click();
  await page.getByRole('status').filter({ hasText: 'Your review has been submitted.' }).waitFor();
  await signedOut.goto(changes);
  t.equal(await signedOut.locator('.thread').count(), 3);
  t.match(await signedOut.locator('.open-threads').innerText(), /3 open threads/);
  await page.context().close();
});

t.test('what is refused is shown at its place with what was typed', async (t) => {
  const page = await (await open(bob)).newPage();
  await page.goto(`${changes}?comment=src/bed.ts:NEW:15#comment`);
  await page.getByLabel('to', { exact: true }).fill('999');
  await page.getByRole('textbox', { name: 'Comment' }).fill('Too far');
  await page.getByRole('button', { name: 'Comment now' }).click();
  t.match(await page.locator('.below .comment-form [role=alert]').innerText(), /not have these lines/);
  t.equal(await page.getByRole('textbox', { name: 'Comment' }).inputValue(), 'Too far');
  await page.getByRole('link', { name: 'Cancel' }).click();
  t.equal(await page.locator('.comment-form').count(), 0);
  await page.context().close();
});

t.test('reply, edit, delete, resolve', async (t) => {
  const page = await (await open(alice)).newPage();
  await page.goto(changes);
  const thread = page.locator('.below .thread');
  await thread.getByText('Reply', { exact: true }).click();
  await thread.getByRole('textbox', { name: 'Reply' }).fill('Because.');
  await thread.getByRole('button', { name: 'Comment now' }).click();
  await thread.getByText('Because.').waitFor();
  await thread.getByRole('link', { name: 'Edit' }).click();
  await page.getByRole('textbox', { name: 'Text of the comment' }).fill('Because of the soup.');
  await page.getByRole('button', { name: 'Save' }).click();
  await thread.getByText('Because of the soup.').waitFor();
  await thread.getByText('Delete', { exact: true }).click();
  await thread.getByRole('button', { name: 'Delete the comment' }).click();
  await thread.getByText('This comment was deleted.').waitFor();
  const onFile = page.locator('.file-top .thread');
  await onFile.getByRole('button', { name: 'Resolve' }).click();
  await onFile.getByText('Resolved').waitFor();
  t.match(await page.locator('.open-threads').innerText(), /2 open threads/);
  await page.context().close();
});

t.test('a viewed file is folded until it changes', async (t) => {
  const page = await (await open(bob)).newPage();
  await page.goto(changes);
  const pond = page.locator('.changed-file', { hasText: 'docs/pond.md' });
  const old = page.locator('.changed-file', { hasText: 'docs/old.md' });
  await old.getByRole('button', { name: 'Viewed' }).click();
  t.equal(await old.getAttribute('open'), null);
  await pond.getByRole('button', { name: 'Viewed' }).click();
  t.not(await pond.getAttribute('open'), null, 'not one with a thread');
  await page.getByText('2 viewed').waitFor();
  await page.locator('.changed-file', { hasText: 'src/bed.ts' }).getByRole('button', { name: 'Viewed' }).click();
  await page.context().close();
});

t.test('after a new round the threads are where their lines are', async (t) => {
  await git('checkout', '--quiet', 'main');
  await commit({ 'README.md': '# The garden\n' }, 'A title');
  await garden.push('main');
  await git('checkout', '--quiet', 'topic');
  await git('rebase', '--quiet', 'main');
  await commit({ 'src/bed.ts': bed("'a few'", 'the end\n') }, 'Fewer beans');
  await garden.pushRound();
  const page = await (await open(bob)).newPage();
  await page.goto(changes);
  const thread = page.locator('.changed-file', { hasText: 'src/bed.ts' }).locator('.thread');
  await thread.getByText('Changed since').waitFor();
  t.match(await thread.locator('.was-is').innerText(), /const beans = 'many'[^]*const beans = 'a few'/);
  await page.getByRole('link', { name: 'Since your last review' }).click();
  t.match(page.url(), /\?from=1$/);
  t.strictSame(await page.locator('.changed-name').allInnerTexts(), ['src/bed.ts']);
  t.match(await page.locator('.pairs tbody').innerText(), /Fewer beans/);
  await page.goto(changes);
  await page.getByRole('link', { name: 'Changed since you viewed it' }).click();
  t.match(page.url(), /\?from=1&file=src\/bed\.ts$/);
  await page.context().close();
});

t.test('suggestions are applied one by one or together', async (t) => {
  const page = await (await open(bob)).newPage();
  for (const [line, text] of [
    [14, 'export function sow(count: number, beans: string): string {'],
    [16, '  return beans.repeat(count);'],
    [20, 'line three'],
  ] as const) {
    await page.goto(`${changes}?file=src/bed.ts&context=25&comment=src/bed.ts:NEW:${line}#comment`);
    await page.getByRole('textbox', { name: 'Comment' }).fill(`Better:\n\n\`\`\`suggestion\n${text}\n\`\`\`\n`);
    await page.getByRole('button', { name: 'Comment now' }).click();
    await page.locator('.suggestion .added').filter({ hasText: text }).waitFor();
  }
  t.equal(await page.getByRole('button', { name: 'Apply', exact: true }).count(), 0, 'bob may not push');
  await page.context().close();

  const author = await (await open(alice)).newPage();
  await author.goto(`${changes}?file=src/bed.ts&context=25`);
  await author.locator('.suggestion', { hasText: 'line three' }).getByRole('button', { name: 'Apply' }).click();
  await author.getByRole('status').filter({ hasText: 'The suggestions have been applied' }).waitFor();
  await author.locator('.suggestion', { hasText: 'sow' }).getByLabel('Apply with others').check();
  await author.locator('.suggestion', { hasText: 'repeat' }).getByLabel('Apply with others').check();
  await author.getByRole('button', { name: 'Apply the selected suggestions' }).click();
  await author.getByRole('status').filter({ hasText: 'The suggestions have been applied' }).waitFor();
  await git('fetch', '--quiet', 'origin', 'topic');
  const file = await git('show', 'FETCH_HEAD:src/bed.ts');
  t.match(file, /sow\(count: number, beans: string\)[^]*return beans\.repeat\(count\);[^]*line three\n/);
  t.match(await git('show', '--no-patch', '--format=%B', 'FETCH_HEAD'), /Co-authored-by: bob/i);
  await author.context().close();
});

t.test('all suggestions of a review become one commit', async (t) => {
  const page = await (await open(bob)).newPage();
  for (const [line, text] of [
    [24, 'line twenty-four'],
    [26, 'line twenty-six'],
  ] as const) {
    await page.goto(`${changes}?file=src/bed.ts&context=25&comment=src/bed.ts:NEW:${line}#comment`);
    await page.getByRole('textbox', { name: 'Comment' }).fill(`\`\`\`suggestion\n${text}\n\`\`\`\n`);
    await page.getByRole('button', { name: /^(Start a review|Add to review)$/ }).click();
    await page.locator('.suggestion .added').filter({ hasText: text }).waitFor();
  }
  await page.getByRole('link', { name: 'Finish your review' }).click();
  await page.getByRole('radio', { name: /^Comment/ }).check();
  await page.getByRole('button', { name: 'Submit review' }).click();
  await page.getByRole('status').filter({ hasText: 'Your review has been submitted.' }).waitFor();
  await page.context().close();

  const author = await (await open(alice)).newPage();
  await author.goto(changes);
  await author.getByRole('button', { name: 'Apply all 2 suggestions of bob' }).click();
  await author.getByRole('status').filter({ hasText: 'The suggestions have been applied' }).waitFor();
  t.equal(await author.getByRole('button', { name: /^Apply all/ }).count(), 0);
  await git('fetch', '--quiet', 'origin', 'topic');
  t.match(await git('show', 'FETCH_HEAD:src/bed.ts'), /line twenty-four[^]*line twenty-six/);
  await author.context().close();
});

t.test('keys move between files and threads', async (t) => {
  const page = await (await open(bob, { javaScriptEnabled: true })).newPage();
  await page.goto(changes);
  const focused = () => page.evaluate<string>(`document.activeElement.closest('[id]')?.id ?? ''`);
  await page.keyboard.press(']');
  const first = await focused();
  await page.keyboard.press(']');
  const second = await focused();
  t.match(first, /^f[0-9a-f]{10}$/);
  t.not(first, second);
  await page.keyboard.press('[');
  t.equal(await focused(), first);
  await page.keyboard.press('n');
  t.match(await focused(), /^t-/);
  await page.context().close();
});

t.test('every state is accessible, in each look', async (t) => {
  const states: [string, string, typeof alice | null][] = [
    ['changes', changes, bob],
    ['split', `${changes}?view=split`, bob],
    ['form', `${changes}?comment=src/bed.ts:NEW:15#comment`, bob],
    ['file-form', `${changes}?comment=docs/pond.md:FILE#comment`, bob],
    ['rounds', `${changes}?from=1`, bob],
    ['plain', `${changes}?from=1&plain=1`, bob],
    ['signed-out', changes, null],
  ];
  if (pictures) mkdirSync(pictures, { recursive: true });
  for (const [name, url, who] of states) {
    // One for all looks: a window of its own takes a quarter of a second of CPU time.
    const context = await open(who, { javaScriptEnabled: true });
    const page = await context.newPage();
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(url);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const isFirst = colorScheme === 'light' && width === 1280;
        t.strictSame(
          await findViolations(page, isFirst ? allRules : presentationRules),
          [],
          `${name} ${colorScheme} ${width}`,
        );
        t.ok(
          await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'),
          `${name} ${width} fits`,
        );
        if (pictures && name !== 'plain')
          await page.screenshot({ path: path.join(pictures, `${name}-${colorScheme}-${width}.png`), fullPage: true });
      }
    }
    await context.close();
  }
});

t.teardown(() => {
  for (const { event, fields } of web.log) if (event === 'http.fault') console.error(event, fields['error']);
});
