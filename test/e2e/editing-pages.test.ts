// time limit: 300 s
// The pages that change files in Chromium: axe in light and dark, wide and narrow; journeys with scripts off and on.
// Screenshots: SHOTS=folder.
import path from 'node:path';
import t from 'tap';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser, mainText } from '../fixtures/browser.ts';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { validateHtml } from '../fixtures/validate-html.ts';
import { fillRepository, signedIn, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';

t.setTimeout(240_000);

const { SHOTS } = process.env;
const roof = '/repos/alice/roof';

let web: Web;
let browser: Browser;
let firstCommit = '';
let lastCommit = '';
const sessions = new Map<string, string>();

interface Look {
  width: number;
  theme: 'light' | 'dark';
  scripts: boolean;
}

async function open(who: string, { width, theme, scripts }: Look): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    javaScriptEnabled: scripts,
    reducedMotion: 'reduce',
  });
  await context.addCookies([{ name: 'hearth_session', value: sessions.get(who)!, url: web.origin }]);
  return context;
}

t.before(async () => {
  web = await startWeb(t);
  browser = await launchBrowser();
  const { repositories } = web.modules;
  const ids = new Map<string, string>();
  for (const name of ['alice', 'bob', 'carol']) {
    const person = await signedIn(web, name);
    sessions.set(name, person.cookies.get('hearth_session')!);
    ids.set(name, person.id);
  }
  const alice = viewerOf(ids.get('alice')!, 'alice');
  for (const name of ['roof', 'ruled', 'empty'])
    await repositories.create(alice, { name, visibility: 'PUBLIC', description: 'Keeps the rain out' });
  for (const name of ['roof', 'ruled']) {
    await repositories.collaborators.add(alice, 'alice', name, { username: 'bob', role: 'write' });
    const { path: folder } = await repositories.find(alice, 'alice', name);
    await fillRepository(t, folder, {
      'README.md': '# Roof\n\nIt keeps the rain **out**.\n',
      'src/tiles.js': 'export function lay(tiles) {\n  for (const tile of tiles) nail(tile);\n}\n',
      'picture.bin': Buffer.from([0, 1, 2]),
      '.editorconfig': '[*.js]\nindent_style = space\nindent_size = 2\n',
    });
  }
  const change = (text: string) =>
    repositories.contents.change(alice, 'alice', 'roof', {
      operations: [{ kind: 'put', path: 'src/tiles.js', content: Buffer.from(text) }],
      message: 'Nail them twice',
    });
  const { oid, parent } = await change(
    'export function lay(tiles) {\n  for (const tile of tiles) nail(nail(tile));\n}\n',
  );
  [firstCommit, lastCommit] = [parent!, oid];
  const [rule] = await repositories.rules.list(alice, 'alice', 'ruled');
  await repositories.rules.change(alice, 'alice', 'ruled', rule!.id, { grants: { push: { level: 'admin' } } });
});
t.teardown(() => browser?.close());

const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');
const shot = async (page: Page, name: string): Promise<void> => {
  if (SHOTS !== undefined) await page.screenshot({ path: path.join(SHOTS, `${name}.png`), fullPage: true });
};

t.test('axe finds nothing on any page that changes files, in any look', async (t) => {
  const pages: [who: string, name: string, path: string, status?: number][] = [
    ['bob', 'edit', `${roof}/edit/main/src/tiles.js`],
    ['bob', 'edit-ruled', '/repos/alice/ruled/edit/main/README.md'],
    ['carol', 'propose', `${roof}/edit/main/README.md`],
    ['bob', 'binary', `${roof}/edit/main/picture.bin`],
    ['bob', 'no-file', `${roof}/edit/main/nowhere`, 404],
    ['bob', 'new', `${roof}/new/main/src`],
    ['bob', 'upload', `${roof}/upload/main/src`],
    ['bob', 'delete', `${roof}/delete/main/README.md`],
    ['bob', 'revert', `${roof}/commit/${lastCommit}/revert`],
    ['bob', 'revert-first', `${roof}/commit/${firstCommit}/revert`],
    ['bob', 'file', `${roof}/blob/main/README.md`],
    ['bob', 'tree', `${roof}/tree/main/src`],
    ['bob', 'home', roof],
    ['alice', 'empty', '/repos/alice/empty'],
    ['alice', 'new-repository', '/repos/new'],
    ['alice', 'from-template', '/repos/new?template=alice/roof'],
  ];
  const looks = [360, 1280].flatMap((width) => (['light', 'dark'] as const).map((theme) => ({ width, theme })));
  const tabs = new Map<string, Page>();
  for (const [who, name, address, status = 200] of pages) {
    const tab = tabs.get(who) ?? (await (await open(who, { ...looks[0]!, scripts: true })).newPage());
    tabs.set(who, tab);
    const response = await tab.goto(web.origin + address);
    t.equal(response?.status(), status, name);
    for (const { width, theme } of looks) {
      await tab.setViewportSize({ width, height: 900 });
      await tab.emulateMedia({ colorScheme: theme });
      const what = `${name}, ${theme}, ${width} px`;
      t.same(await findViolations(tab, width === 360 && theme === 'light' ? allRules : presentationRules), [], what);
      t.notOk(await isTooWide(tab), `${what}: nothing sticks out`);
      await shot(tab, `${name}-${theme}-${width}`);
    }
    const html = await (await tab.request.get(web.origin + address)).text();
    t.same(validateHtml(html), [], `${name} is valid HTML`);
  }
  for (const tab of tabs.values()) await tab.context().close();
});

for (const scripts of [false, true])
  t.test(`with scripts ${scripts ? 'on' : 'off'}: a file is made, edited, looked at and deleted`, async (t) => {
    const bob = await (await open('bob', { width: scripts ? 1280 : 360, theme: 'light', scripts })).newPage();
    const name = scripts ? 'on' : 'off';
    await bob.goto(`${web.origin}${roof}/tree/main/src`);
    await bob.click('text=New file');
    t.equal(await bob.inputValue('#path'), 'src/');
    await bob.fill('#path', `src/${name}.md`);
    await bob.fill('#content', '# First\n\n<script>x</script>\n');
    await bob.click('button:has-text("Preview changes")');
    t.match(await mainText(bob), /Changes[^]*# First/);
    await shot(bob, `journey-diff-${name}`);
    t.equal(await bob.inputValue('#content'), '# First\n\n<script>x</script>\n');
    await bob.click('button:has-text("Commit changes")');
    t.match(await mainText(bob), /The file has been created/);
    t.equal(new URL(bob.url()).pathname, `${roof}/blob/main/src/${name}.md`);
    await bob.click('nav.file-links >> text=Edit');
    t.equal(await bob.inputValue('#content'), '# First\n\n<script>x</script>\n');
    await bob.fill('#content', '# Second\n');
    await bob.click('button:has-text("Preview text")');
    t.equal(await bob.locator('.text-preview :is(h1, h2, h3, h4)').first().innerText(), 'Second');
    // Meanwhile the file changes.
    await web.modules.repositories.contents.change(
      viewerOf((await web.modules.accounts.personByUsername('alice'))!.id, 'alice'),
      'alice',
      'roof',
      { operations: [{ kind: 'put', path: `src/${name}.md`, content: Buffer.from('# Theirs\n') }] },
    );
    await bob.click('button:has-text("Commit changes")');
    t.match(await mainText(bob), /has changed since you opened it/);
    if (scripts) t.same(await findViolations(bob, presentationRules), []);
    t.notOk(await isTooWide(bob));
    await shot(bob, `conflict-${name}`);
    t.equal(await bob.inputValue('#content'), '# Second\n');
    await bob.fill('#message', 'Mine');
    await bob.click('button:has-text("Commit my version")');
    t.match(await mainText(bob), /The file has been saved[^]*Second/);
    await bob.click('nav.file-links >> text=Delete');
    await bob.click('button:has-text("Delete the file")');
    t.match(await mainText(bob), /The file has been deleted. Revert brings it back/);
    await shot(bob, `deleted-${name}`);
    await bob.click('nav.file-links >> text=Revert');
    await bob.click('main button:has-text("Revert")');
    t.match(await mainText(bob), /Reverted by this commit/);
    await bob.goto(`${web.origin}${roof}/upload/main/src`);
    await bob.setInputFiles('#files', [
      { name: `${name}-1.txt`, mimeType: 'text/plain', buffer: Buffer.from('1') },
      { name: `${name}-2.txt`, mimeType: 'text/plain', buffer: Buffer.from('2') },
    ]);
    await bob.click('button:has-text("Commit files")');
    t.match(await mainText(bob), new RegExp(`The files have been uploaded[^]*${name}-1.txt[^]*${name}-2.txt`));
    await bob.goto(`${web.origin}/repos/alice/ruled/edit/main/README.md`);
    await bob.fill('#content', `# Ruled ${name}\n`);
    await bob.click('button:has-text("Commit changes")');
    t.match(await mainText(bob), /bob wants to merge 1 commit into main from bob-patch-/);
    await bob.context().close();
  });

t.test('a new repository with first files becomes a template of another one', async (t) => {
  const alice = await (await open('alice', { width: 1280, theme: 'light', scripts: false })).newPage();
  await alice.goto(`${web.origin}/repos/new`);
  await alice.fill('#name', 'begin');
  await alice.check('input[name=readme]');
  await alice.selectOption('#license', 'MIT');
  await alice.selectOption('#gitignores', 'Node');
  await alice.click('button:has-text("Create repository")');
  t.match(await mainText(alice), /\.gitignore[^]*LICENSE[^]*README\.md/);
  await alice.goto(`${web.origin}/repos/alice/begin/settings`);
  await alice.check('input[name=template]');
  await alice.click('form.panel button:has-text("Save")');
  await alice.goto(`${web.origin}/repos/alice/begin`);
  await alice.click('text=Use this template');
  t.match(await mainText(alice), /starts with the files of the template alice\/begin/);
  await alice.fill('#name', 'begin');
  await alice.click('button:has-text("Create repository")');
  t.match(await mainText(alice), /already has a repository named begin/);
  await alice.fill('#name', 'second');
  await alice.click('button:has-text("Create repository")');
  t.equal(new URL(alice.url()).pathname, '/repos/alice/second');
  t.match(await mainText(alice), /Initial commit[^]*LICENSE/);
  await alice.context().close();
});
