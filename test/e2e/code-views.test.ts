// Code in a real browser: every level of tabs has one width, wherever lines of files are shown.
import t from 'tap';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser } from '../fixtures/browser.ts';
import { startPullWeb } from '../fixtures/pull-web-fixture.ts';

t.setTimeout(180_000);

const code = (word: string): string => `func main() {\n\tif true {\n\t\tfmt.${word}()\n\t\t\tdeep()\n\t}\n}\n`;

const garden = await startPullWeb(t, {
  '.editorconfig': 'root = true\n[*.three]\ntab_width = 3\n[*.five]\nindent_style = tab\nindent_size = 5\n',
  'main.go': code('Println'),
  'main.three': code('Println'),
  'deep/main.five': code('Println'),
  'both.go': code('Println'),
});
const { web, commit, git, alice, bob } = garden;
await git('checkout', '--quiet', 'main');
await commit({ 'both.go': code('Ours') }, 'Ours');
await git('push', '--quiet', 'origin', 'main');
await git('checkout', '--quiet', 'topic');
const turning = code('Print').replace('Print()', 'Print("\u202e")');
const changed = { 'main.go': code('Print'), 'main.three': turning, 'deep/main.five': code('Print') };
await commit({ ...changed, 'both.go': code('Theirs') }, 'Print');
const pull = await garden.open('Print');

const browser: Browser = await launchBrowser();
t.teardown(() => browser.close());

async function open(who: typeof alice, width = 1280): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width, height: 900 }, javaScriptEnabled: true });
  context.setDefaultTimeout(15_000);
  await context.addCookies([{ name: 'hearth_session', value: who.cookies.get('hearth_session')!, url: web.origin }]);
  return context;
}

/** Columns at which the code of each line begins that starts with these words, counted from the line without a tab. */
async function columnsOf(page: Page, box: string): Promise<number[]> {
  return page.evaluate((selector) => {
    const element = document.querySelector(selector)!;
    const words = ['func main', 'if true', 'fmt.', 'deep()'];
    const starts = words.map((word) => {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      let text = '';
      const nodes: [number, Text][] = [];
      for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
        nodes.push([text.length, node]);
        text += node.data;
      }
      const at = text.indexOf(word);
      const [start, node] = nodes.findLast(([from]) => from <= at)!;
      const range = document.createRange();
      range.setStart(node, at - start);
      range.setEnd(node, at - start + 1);
      const { x, width } = range.getBoundingClientRect();
      return { x, width };
    });
    return starts.map(({ x }) => Math.round(((x - starts[0]!.x) / starts[0]!.width) * 10) / 10);
  }, box);
}

const levels = (width: number): number[] => [0, width, 2 * width, 3 * width];

t.test('each level of tabs is as wide as .editorconfig says, else eight columns', async (t) => {
  const page = await (await open(alice)).newPage();
  const files: [path: string, width: number][] = [
    ['main.go', 8],
    ['main.three', 3],
    ['deep/main.five', 5],
  ];
  const repository = `${web.origin}/repos/alice/garden`;
  for (const [file, width] of files) {
    for (const [kind, box] of [
      ['blob', 'pre.code'],
      ['blame', '.blame'],
    ]) {
      await page.goto(`${repository}/${kind}/main/${file}`);
      t.same(await columnsOf(page, box!), levels(width), `${kind} of ${file}`);
    }
    for (const view of ['unified', 'split']) {
      await page.goto(`${web.origin}${pull.url}/changes?view=${view}&file=${file}`);
      t.same(await columnsOf(page, '.diff'), levels(width), `${view} changes of ${file}`);
    }
  }
  await page.goto(`${repository}/compare/main...topic`);
  t.same(await columnsOf(page, '.diff.tab-3'), levels(3), 'a comparison');
  await page.goto(`${repository}/search?q=${encodeURIComponent('[({]')}&pattern=1`);
  t.same((await columnsOf(page, '.found-lines.tab-3')).slice(0, 3), levels(3).slice(0, 3), 'hits of a search');
  await page.goto(`${repository}/edit/main/main.three`);
  t.equal(await page.locator('#content').evaluate((area) => getComputedStyle(area).tabSize), '3', 'the editor');
  await page.context().close();
});

t.test('lines in a thread keep their tabs, and dangerous characters are marked', async (t) => {
  const page = await (await open(bob)).newPage();
  await page.goto(`${web.origin}${pull.url}/changes?file=main.three&comment=main.three:NEW:3#comment`);
  await page.getByRole('textbox', { name: 'Comment' }).fill('```suggestion\n\t\tfmt.Printf()\n\t\t\tdeep()\n```\n');
  await page.getByRole('button', { name: 'Comment now' }).click();
  const quoted = page.locator('.thread .quoted');
  await quoted.waitFor();
  const text = (await quoted.textContent()) ?? '';
  t.match(text, /-\t\tfmt\.Print\("\ufffd/);
  t.match(text, /\+\t\tfmt\.Printf\(\)/);
  t.equal(text.split('\ufffd').length - 1, 1, 'the one that turns the direction');
  t.equal(await quoted.evaluate((box) => getComputedStyle(box).tabSize), '3');
  await page.context().close();
});
