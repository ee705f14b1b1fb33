// Releases and tags in a real browser: from a commit to a release with a file with scripts off; then every page of them
// with axe, in light and dark, narrow and wide.
import t from 'tap';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { launchBrowser } from '../fixtures/browser.ts';
import type { Browser, BrowserContext } from 'playwright-core';
import { localAdministrator } from '../../src/access/index.ts';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { fillRepository, signedIn, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';

t.setTimeout(180_000);

/** Folder for screenshots; none are made without it. */
const pictures = process.env['HEARTH_PICTURES'];

let web: Web;
let browser: Browser;
const sessions = new Map<string, string>();

async function open(who: string | null, more: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    javaScriptEnabled: false,
    reducedMotion: 'reduce',
    ...more,
  });
  context.setDefaultTimeout(15_000);
  if (who !== null) await context.addCookies([{ name: 'hearth_session', value: sessions.get(who)!, url: web.origin }]);
  return context;
}

t.before(async () => {
  web = await startWeb(t);
  browser = await launchBrowser();
  for (const name of ['alice', 'bob'])
    sessions.set(name, (await signedIn(web, name)).cookies.get('hearth_session') ?? '');
  const { repositories } = web.modules;
  for (const name of ['garden', 'bare'])
    await repositories.create(localAdministrator, { owner: 'alice', name, visibility: 'PUBLIC' });
  const { path: bare } = await repositories.find(localAdministrator, 'alice', 'garden');
  await fillRepository(t, bare, { 'README.md': '# Garden\n\nPlants and plans.', 'beds/north.txt': 'beans' });
});
t.teardown(() => browser?.close());

t.test('a release from the first click to the download, without a script', async (t) => {
  const file = path.join(temporaryFolder(t), 'garden-1.0.0.tar.gz');
  writeFileSync(file, 'packed');
  const page = await (await open('alice', { acceptDownloads: true })).newPage();
  await page.goto(`${web.origin}/repos/alice/garden`);
  await page.getByRole('link', { name: 'Releases' }).click();
  await page.getByRole('link', { name: 'Publish the first one' }).click();
  await page.getByLabel('Tag', { exact: true }).fill('a..b');
  await page.getByLabel('Title', { exact: true }).fill('The first spring');
  await page.getByRole('button', { name: 'Generate release notes' }).click();
  await page.getByRole('alert').filter({ hasText: 'does not accept this tag name' }).waitFor();
  await page.getByLabel('Tag', { exact: true }).fill('v1.0.0');
  await page.getByRole('button', { name: 'Generate release notes' }).click();
  t.match(await page.getByLabel('Notes', { exact: true }).inputValue(), /Light the first fire/);
  await page.getByLabel('Add files').setInputFiles(file);
  await page.getByLabel('Target', { exact: true }).fill('nowhere');
  await page.getByRole('button', { name: 'Publish release' }).click();
  await page.getByRole('alert').filter({ hasText: 'no branch, tag or commit' }).waitFor();
  t.equal(await page.getByLabel('Title', { exact: true }).inputValue(), 'The first spring');
  await page.getByLabel('Target', { exact: true }).fill('main');
  await page.getByText('Tag message').click();
  await page.getByLabel('Message', { exact: true }).fill('Spring');
  await page.getByLabel('Add files').setInputFiles(file);
  await page.getByRole('button', { name: 'Publish release' }).click();
  await page.getByRole('status').filter({ hasText: 'The release has been published' }).waitFor();
  await page.getByText('Latest', { exact: true }).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'garden-1.0.0.tar.gz' }).click(),
  ]);
  t.equal(download.suggestedFilename(), 'garden-1.0.0.tar.gz');

  await page.getByRole('link', { name: 'All releases' }).click();
  await page.getByRole('link', { name: 'New release' }).click();
  await page.getByLabel('Tag', { exact: true }).fill('v2.0.0-rc1');
  await page.getByLabel('Notes', { exact: true }).fill('Nearly *there*.');
  await page.getByRole('button', { name: 'Preview' }).click();
  await page.getByLabel('Preview').getByText('there').waitFor();
  await page.getByLabel('Pre-release').check();
  await page.getByRole('button', { name: 'Save draft' }).click();
  await page.getByText('Publishing creates the tag').waitFor();

  const other = await (await open('bob')).newPage();
  await other.goto(`${web.origin}/repos/alice/garden/releases`);
  t.equal(await other.getByText('v2.0.0-rc1').count(), 0, 'a draft is not shown to readers');

  await page.goto(`${web.origin}/repos/alice/garden/tags`);
  await page.getByText('New tag').click();
  await page.getByLabel('Name', { exact: true }).fill('v0.1');
  await page.getByRole('button', { name: 'Create tag' }).click();
  await page.getByRole('status').filter({ hasText: 'The tag has been created' }).waitFor();
  await page.getByRole('link', { name: 'Delete v0.1' }).click();
  await page.getByRole('button', { name: 'Delete tag' }).click();
  await page.getByRole('status').filter({ hasText: 'The tag has been deleted' }).waitFor();
});

t.test('every page of releases passes axe in each look', async (t) => {
  const at = '/repos/alice/garden';
  const targets: Record<string, string> = {
    releases: `${at}/releases`,
    release: `${at}/releases/tag/v1.0.0`,
    draft: `${at}/releases/tag/v2.0.0-rc1`,
    new: `${at}/releases/new?tag=v3`,
    edit: `${at}/releases/edit/v1.0.0`,
    'edit-draft': `${at}/releases/edit/v2.0.0-rc1`,
    delete: `${at}/releases/delete/v1.0.0`,
    tags: `${at}/tags`,
    'delete-tag': `${at}/tags/delete?name=v1.0.0`,
    empty: '/repos/alice/bare/releases',
  };
  if (pictures !== undefined) mkdirSync(pictures, { recursive: true });
  for (const [colorScheme, width, runOnly] of [
    ['light', 1280, allRules],
    ['dark', 1280, presentationRules],
    ['light', 360, presentationRules],
    ['dark', 360, presentationRules],
  ] as const) {
    // axe is a script.
    const context = await open('alice', { colorScheme, viewport: { width, height: 900 }, javaScriptEnabled: true });
    const page = await context.newPage();
    for (const [name, target] of Object.entries(targets)) {
      await page.goto(web.origin + target);
      t.strictSame(await findViolations(page, runOnly), [], `${target}, ${colorScheme}, ${width}`);
      const isWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
      t.equal(await page.evaluate<boolean>(isWide), false, `${target} is not wider than ${width}`);
      if (pictures !== undefined)
        await page.screenshot({ path: path.join(pictures, `${name}-${colorScheme}-${width}.png`), fullPage: true });
    }
    await context.close();
  }
});
