// A fork in a real browser with scripts off: made, left behind, synced, diverged; then every page of it with axe, in
// light and dark, narrow and wide.
import t from 'tap';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { launchBrowser } from '../fixtures/browser.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { localAdministrator } from '../../src/access/index.ts';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { fillRepository, signedIn, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(180_000);

/** Folder for screenshots; none are made without it. */
const pictures = process.env['HEARTH_PICTURES'];

let web: Web;
let browser: Browser;
const sessions = new Map<string, string>();
const secrets = new Map<string, string>();

async function open(who: string, more: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    javaScriptEnabled: false,
    reducedMotion: 'reduce',
    ...more,
  });
  context.setDefaultTimeout(15_000);
  await context.addCookies([{ name: 'hearth_session', value: sessions.get(who)!, url: web.origin }]);
  return context;
}

/** Pushes a commit as a person does. */
async function push(who: string, repository: string, message: string): Promise<void> {
  const work = path.join(temporaryFolder(t), 'work');
  const address = `http://${who}:${secrets.get(who)}@127.0.0.1:${web.port}/git/${repository}.git`;
  await runGit(['clone', '--quiet', address, work], { cwd: path.dirname(work) });
  await runGit(['commit', '--quiet', '--allow-empty', '-m', message], { cwd: work });
  await runGit(['push', '--quiet', 'origin', 'main'], { cwd: work });
}

/** The line about the source comes once git has counted; the page says it when asked again. */
async function untilShown(page: Page, text: RegExp): Promise<void> {
  const isShown = async (): Promise<boolean> => {
    await page.goto(`${web.origin}/repos/bob/garden`);
    return (await page.getByText(text).count()) > 0;
  };
  await waitUntil(isShown, `the page says ${String(text)}`, { everyMs: 250 });
}

t.before(async () => {
  web = await startWeb(t);
  browser = await launchBrowser();
  const { accounts, organisations, repositories } = web.modules;
  for (const name of ['alice', 'bob']) {
    const person = await signedIn(web, name);
    sessions.set(name, person.cookies.get('hearth_session') ?? '');
    const token = { name: 'git', access: 'write', repositoryIds: null, expiresAt: null } as const;
    secrets.set(name, (await accounts.addToken(person.id, token)).secret);
  }
  const bob = (await accounts.personByUsername('bob'))!;
  const viewer = { ...localAdministrator, id: bob.id, username: 'bob', via: 'session' as const };
  await organisations.create(viewer, { name: 'potters' });
  await repositories.create(localAdministrator, {
    owner: 'alice',
    name: 'garden',
    visibility: 'PUBLIC',
    description: 'Plants and plans',
  });
  const { path: bare } = await repositories.find(localAdministrator, 'alice', 'garden');
  await fillRepository(t, bare, { 'README.md': '# Garden\n\nPlants and plans.', 'beds/north.txt': 'beans' });
});
t.teardown(() => browser?.close());

t.test('fork, fall behind, sync, diverge: by clicks alone', async (t) => {
  const page = await (await open('bob')).newPage();
  await page.goto(`${web.origin}/repos/alice/garden`);
  await page.getByRole('link', { name: 'Fork', exact: true }).click();
  t.equal(await page.getByLabel('Owner', { exact: true }).inputValue(), 'bob');
  await page.getByLabel('Name', { exact: true }).fill('a/b');
  await page.getByRole('button', { name: 'Create fork' }).click();
  await page.getByRole('alert').waitFor();
  t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'a/b', 'what was typed is still there');
  await page.getByLabel('Name', { exact: true }).fill('garden');
  await page.getByRole('button', { name: 'Create fork' }).click();
  await page.getByRole('status').filter({ hasText: 'This is your fork' }).waitFor();
  await page.getByText('forked from').waitFor();

  await push('alice', 'alice/garden', 'Sow the beans');
  await untilShown(page, /1 commit behind/);
  await page.getByRole('link', { name: 'Sync fork' }).click();
  await page.getByRole('button', { name: 'Sync fork' }).click();
  await page.getByRole('status').filter({ hasText: 'up to date' }).waitFor();
  await page.getByText('Sow the beans').first().waitFor();

  await push('bob', 'bob/garden', 'A pond');
  await push('alice', 'alice/garden', 'Harvest');
  await untilShown(page, /1 commit ahead of and 1 commit behind/);
  await page.getByRole('link', { name: 'Sync fork' }).click();
  await page.getByText('git merge upstream/main').waitFor();
  await page.getByRole('link', { name: 'alice/garden' }).first().click();
  await page.getByRole('link', { name: '1 fork', exact: true }).click();
  await page.getByRole('link', { name: /bob\/\s*garden/ }).waitFor();
});

t.test('every page of forks passes axe in each look', async (t) => {
  const targets = {
    fork: '/repos/alice/garden/fork',
    forks: '/repos/alice/garden/forks',
    'no-forks': '/repos/bob/garden/forks',
    home: '/repos/bob/garden',
    sync: '/repos/bob/garden/sync',
    branches: '/repos/bob/garden/branches',
    danger: '/repos/bob/garden/settings/danger',
  };
  if (pictures !== undefined) mkdirSync(pictures, { recursive: true });
  for (const [colorScheme, width, runOnly] of [
    ['light', 1280, allRules],
    ['dark', 1280, presentationRules],
    ['light', 360, presentationRules],
    ['dark', 360, presentationRules],
  ] as const) {
    // axe is a script.
    const context = await open('bob', { colorScheme, viewport: { width, height: 900 }, javaScriptEnabled: true });
    const page = await context.newPage();
    for (const [name, target] of Object.entries(targets)) {
      await page.goto(web.origin + target);
      t.strictSame(await findViolations(page, runOnly), [], `${target}, ${colorScheme}, ${width}`);
      const overflow = await page.evaluate<boolean>(
        'document.documentElement.scrollWidth > document.documentElement.clientWidth',
      );
      t.equal(overflow, false, `${target} is not wider than ${width}`);
      if (pictures !== undefined)
        await page.screenshot({ path: path.join(pictures, `${name}-${colorScheme}-${width}.png`), fullPage: true });
    }
    await context.close();
  }
});
