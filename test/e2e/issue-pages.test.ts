// time limit: 300 s
// The pages of issues in Chromium: axe in light and dark, wide and narrow; and one discussion from a template to its
// end with scripts off. Screenshots: SHOTS=folder.
import t from 'tap';
import path from 'node:path';
import { launchBrowser, mainText } from '../fixtures/browser.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { validateHtml } from '../fixtures/validate-html.ts';
import { fillRepository, signedIn, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';

t.setTimeout(240_000);

const { SHOTS } = process.env;
const roof = '/repos/alice/roof';

const bugForm = `
name: Bug report
description: Something does not work
labels: [kind/bug]
body:
  - type: markdown
    attributes: { value: "Thanks for helping. Please be **exact**." }
  - type: input
    id: version
    attributes: { label: Version, description: As \`roof --version\` prints it, placeholder: "1.2" }
    validations: { required: true }
  - type: textarea
    id: what
    attributes: { label: What happened }
    validations: { required: true }
  - type: dropdown
    id: system
    attributes: { label: System, options: [Linux, BSD] }
  - type: checkboxes
    id: terms
    attributes: { label: Terms, options: [{ label: I have searched for similar issues, required: true }] }
`;

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

t.before(async () => {
  web = await startWeb(t);
  browser = await launchBrowser();
  const { issues, repositories } = web.modules;
  const ids = new Map<string, string>();
  for (const name of ['alice', 'bob', 'carol']) {
    const person = await signedIn(web, name);
    sessions.set(name, person.cookies.get('hearth_session')!);
    ids.set(name, person.id);
  }
  const viewer = (name: string) => viewerOf(ids.get(name)!, name);
  const place = { owner: 'alice', name: 'roof' };
  await repositories.create(viewer('alice'), { name: 'roof', visibility: 'PUBLIC', description: 'Keeps the rain out' });
  await repositories.collaborators.add(viewer('alice'), 'alice', 'roof', { username: 'carol', role: 'write' });
  await fillRepository(t, (await repositories.find(viewer('alice'), 'alice', 'roof')).path, {
    'README.md': '# Roof',
    '.hearth/issue/bug.yml': bugForm,
    '.hearth/issue/idea.md': '---\nname: Idea\nabout: Something new\n---\nWhat would be nice?',
    '.hearth/issue/broken.yml': 'name: [',
    '.hearth/issue/config.yml':
      'contact_links: [{name: Forum, url: "https://forum.example.org", about: Ask there first}]',
  });
  await issues.addDefaultLabels(viewer('alice'), { repository: place });
  await issues.addMilestone(viewer('alice'), place, { title: 'Autumn' });
  const at = (number: number) => ({ ...place, number });
  await issues.open(viewer('bob'), place, {
    title: 'The gutter overflows when it rains for longer than an hour',
    body: 'It **overflows**.\n\n```sh\nmeasure --depth --with-a-very-long-line-that-does-not-fit-into-a-narrow-window-and-scrolls\n```\n\n- [x] seen\n- [ ] mended\n\n| Hour | Depth |\n|---|---:|\n| 1 | 20 mm |',
  });
  await issues.open(viewer('alice'), place, { title: 'Clean the leaves out', body: 'See #1.' });
  await issues.comment(viewer('alice'), at(1), { body: '> It **overflows**.\n\nWhere does it come down?' });
  await issues.react(viewer('bob'), at(1), { position: 2, kind: '+1', isOn: true });
  await issues.react(viewer('carol'), at(1), { position: 2, kind: 'heart', isOn: true });
  await issues.triage(viewer('carol'), at(1), {
    labels: ['kind/bug', 'help wanted'],
    assignees: ['bob', 'carol'],
    milestone: 'Autumn',
    isPinned: true,
  });
  await issues.addLink(viewer('carol'), at(1), 'needs', at(2));
  await issues.comment(viewer('bob'), at(1), { body: 'Buy ladders at ladders.example.org' });
  await issues.hideComment(viewer('carol'), at(1), { position: 8, reason: 'spam' });
  web.clock.advance(3_600_000);
  await issues.editText(viewer('bob'), at(1), {
    position: 0,
    revision: 1,
    body: 'It **overflows** on the north side.\n\n```sh\nmeasure --depth\n```',
  });
  const { position } = await issues.comment(viewer('bob'), at(1), { body: 'To be deleted' });
  await issues.deleteComment(viewer('bob'), at(1), position);
  await issues.comment(viewer('carol'), at(1), { body: 'Mended.', state: 'completed' });
  await issues.open(viewer('bob'), place, { title: 'Gone', body: '' });
  await issues.trash(viewer('alice'), at(3));
});
t.teardown(() => browser?.close());

const pages: [who: string | null, name: string, path: string][] = [
  [null, 'issue', '/issues/1'],
  ['bob', 'issue-author', '/issues/1'],
  ['alice', 'issue-owner', '/issues/1'],
  ['alice', 'open-issue', '/issues/2'],
  ['alice', 'edit', '/issues/1?edit=0'],
  ['alice', 'title', '/issues/1?edit=title'],
  ['bob', 'quote', '/issues/1?quote=2'],
  [null, 'history', '/issues/1/history/0'],
  ['alice', 'trash', '/issues/3'],
  ['bob', 'chooser', '/issues/new'],
  ['bob', 'form', '/issues/new?template=bug.yml'],
  ['alice', 'new', '/issues/new?template=blank'],
];

const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');

const shot = async (page: Page, name: string): Promise<void> => {
  if (SHOTS !== undefined) await page.screenshot({ path: path.join(SHOTS, `${name}.png`), fullPage: true });
};

t.test('axe finds nothing on any page of issues, in any look', async (t) => {
  const looks = [360, 1280].flatMap((width) => (['light', 'dark'] as const).map((theme) => ({ width, theme })));
  const tabs = new Map<string | null, Page>();
  for (const [who, name, address] of pages) {
    const tab = tabs.get(who) ?? (await (await open(who, { ...looks[0]!, scripts: true })).newPage());
    tabs.set(who, tab);
    await tab.goto(web.origin + roof + address);
    for (const { width, theme } of looks) {
      await tab.setViewportSize({ width, height: 900 });
      await tab.emulateMedia({ colorScheme: theme });
      const what = `${name}, ${theme}, ${width} px`;
      t.same(await findViolations(tab, width === 360 && theme === 'light' ? allRules : presentationRules), [], what);
      t.notOk(await isTooWide(tab), `${what}: nothing sticks out`);
      await shot(tab, `${name}-${theme}-${width}`);
    }
    const html = await (await tab.request.get(web.origin + roof + address)).text();
    t.same(validateHtml(html), [], `${name} is valid HTML`);
  }
  for (const tab of tabs.values()) await tab.context().close();
});

t.test('open menus, and forms that were refused', async (t) => {
  for (const [width, theme] of [
    [360, 'light'],
    [1280, 'dark'],
  ] as const) {
    const context = await open('alice', { width, theme, scripts: true });
    const page = await context.newPage();
    const check = async (name: string) => {
      t.same(await findViolations(page), [], `${name}, ${theme}`);
      t.notOk(await isTooWide(page), `${name}, ${width} px`);
      await shot(page, `${name}-${theme}-${width}`);
    };
    await page.goto(`${web.origin}${roof}/issues/2`);
    for (const details of await page.locator('.side-change > summary').all()) await details.click();
    await check('all-side-forms');
    await page.goto(`${web.origin}${roof}/issues/1`);
    await page.locator('#e2 .entry-menu > summary').click();
    await page.locator('#e2 .entry-menu .remove > summary').click();
    await check('menu');
    await page.goto(`${web.origin}${roof}/issues/1`);
    await page.locator('#e2 .reaction-choice > summary').click();
    await check('reactions');
    await page.goto(`${web.origin}${roof}/issues/2`);
    await page.locator('text=Comment').and(page.locator('button')).click();
    await check('empty-comment');
    await page.fill('#reply', 'It is **wet**');
    await page.click('text=Preview');
    await check('preview');
    await page.goto(`${web.origin}${roof}/issues/new?template=bug.yml`);
    await page.fill('#title', 'Leak');
    await page.click('text=Open issue');
    await check('refused-form');
    await context.close();
  }
});

t.test('without scripts: from a template through a discussion to the end', async (t) => {
  const bob = await (await open('bob', { width: 1280, theme: 'light', scripts: false })).newPage();
  const carol = await (await open('carol', { width: 360, theme: 'dark', scripts: false })).newPage();
  await bob.goto(`${web.origin}${roof}/issues/new`);
  await bob.click('text=Bug report');
  await bob.fill('#title', 'A tile is loose');
  await bob.fill('[name=answer-version]', '3.1');
  await bob.click('text=Open issue');
  t.match(await mainText(bob), /Please fill this in/);
  t.equal(await bob.inputValue('[name=answer-version]'), '3.1');
  await bob.fill('[name=answer-what]', 'It rattles, @carol. Perhaps because of #1.');
  await bob.selectOption('[name=answer-system]', 'BSD');
  await bob.check('[name=answer-terms]');
  await bob.click('text=Preview');
  t.match(await bob.locator('.text-preview').innerText(), /It rattles/);
  await bob.click('text=Open issue');
  const url = new URL(bob.url()).pathname;
  t.match(url, `${roof}/issues/4`);
  t.match(await bob.locator('.issue-side').innerText(), /kind\/bug/);

  await carol.goto(web.origin + url);
  await carol.click('#e0 >> text=Quote');
  t.match(await carol.inputValue('#reply'), /> ### Version/);
  await carol.fill('#reply', 'I am on it, @bob.');
  await carol.click('button[value=draft]');
  t.equal(await carol.inputValue('#reply'), 'I am on it, @bob.');
  await carol.click('button[value=comment]');
  t.match(await carol.locator('.timeline').innerText(), /I am on it/);
  await carol.click('summary:has-text("Change labels")');
  await carol.check('input[name=labels][value="help wanted"]');
  await carol.click('text=Save labels');
  await carol.click('text=Assign yourself');
  await carol.click('summary:has-text("Change milestone")');
  await carol.selectOption('[name=milestone]', 'Autumn');
  await carol.locator('form[action$="/milestone"] button').click();
  await carol.click('summary:has-text("Add a link")');
  await carol.selectOption('#link-kind', 'needs');
  await carol.fill('#to', '#2');
  await carol.click('text=Add link');
  await carol.locator('#e0 .reaction-choice > summary').click();
  await carol.locator('#e0 button[aria-label=Heart]').click();
  await carol.selectOption('.close-choice [name=reason]', 'completed');
  await carol.click('text=Close issue');

  await bob.goto(web.origin + url);
  const text = await mainText(bob);
  for (const line of ['added', 'self-assigned this', 'added this to the milestone Autumn', 'closed this as completed'])
    t.match(text, line);
  t.match(await bob.locator('.issue-badge').innerText(), 'Closed');
  await bob.fill('#reply', 'Thank you!');
  await bob.click('text=Reopen');
  await bob.locator('.issue-badge', { hasText: 'Open' }).waitFor();
  await bob.goto(`${web.origin}${roof}/issues/1`);
  t.match(await bob.locator('.timeline').innerText(), /bob mentioned this in\s+Open:\s+A tile is loose\s+#4/);
  await bob.context().close();
  await carol.context().close();
});

t.test('with scripts a draft keeps itself, and Ctrl+Enter sends', async (t) => {
  const page = await (await open('bob', { width: 1280, theme: 'light', scripts: true })).newPage();
  await page.goto(`${web.origin}${roof}/issues/2`);
  await page.keyboard.press('r');
  t.equal(await page.evaluate<string>('document.activeElement.id'), 'reply');
  await page.keyboard.type('Half a thought');
  await page.waitForSelector('text=Draft saved', { timeout: 15_000 });
  await page.reload();
  t.equal(await page.inputValue('#reply'), 'Half a thought');
  await page.fill('#reply', 'A whole thought');
  await page.focus('#reply');
  await page.keyboard.press('Control+Enter');
  await page.waitForURL(/#e\d+$/);
  t.match(await page.locator('.timeline').innerText(), /A whole thought/);
  t.equal(await page.inputValue('#reply'), '', 'the draft went with it');
  await page.context().close();
});
