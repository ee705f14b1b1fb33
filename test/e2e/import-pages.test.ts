// time limit: 240 s
// A person moves a repository in with three fields and sees it happen, in a real browser with and without scripts, at
// two widths and in both themes. Screenshots: SHOTS=folder.
import t from 'tap';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { launchBrowser, mainText } from '../fixtures/browser.ts';
import { freePort } from '../fixtures/free-port.ts';
import { signedIn, startWeb } from '../fixtures/web-fixture.ts';
import { startGiteaStub } from '../imports/gitea-stub.ts';

t.setTimeout(230_000);

const { SHOTS } = process.env;
const port = await freePort();
const web = await startWeb(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` } });
const alice = await signedIn(web, 'alice');
const forge = await startGiteaStub(t, { port, pageSize: 50 });
forge.addComment(forge.addIssue({ title: 'Slugs eat the salad' }), 'Copper helps.');
forge.world.extras.set('/actions/secrets', [{ name: 'DEPLOY_TOKEN' }]);
const browser = await launchBrowser();
t.teardown(() => browser.close());

async function open(javaScriptEnabled: boolean): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
    javaScriptEnabled,
  });
  context.setDefaultTimeout(30_000);
  await context.addCookies([{ name: 'hearth_session', value: alice.cookies.get('hearth_session')!, url: web.origin }]);
  const page = await context.newPage();
  page.on('pageerror', (error) => t.fail(error.message));
  return page;
}

/** No page is wider than its window, whatever the theme. */
async function look(page: Page, name: string): Promise<void> {
  for (const [width, colorScheme] of [
    [1280, 'light'],
    [1280, 'dark'],
    [360, 'light'],
    [360, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    t.ok((await page.locator('html').evaluate((html) => html.scrollWidth)) <= width, `${name} at ${width}`);
    if (SHOTS) await page.screenshot({ path: path.join(SHOTS, `${name}-${width}-${colorScheme}.png`), fullPage: true });
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

for (const scripts of [true, false])
  t.test(`three fields move a repository in, ${scripts ? 'with' : 'without'} scripts`, async (t) => {
    const name = scripts ? 'with-scripts' : 'plain';
    const page = await open(scripts);
    await page.goto(`${web.origin}/repos/new`);
    await page.locator('main a[href="/repos/import"]').click();
    await page.getByLabel('Address', { exact: true }).fill(`${forge.url}/bob/tool`);
    await page.getByLabel('Token', { exact: true }).fill('a-wrong-one');
    await page.getByLabel('Name', { exact: true }).fill(name);
    await look(page, `import-form-${name}`);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    t.match(await mainText(page), /does not accept the token/);
    t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), name, 'what was typed stays');
    t.equal(await page.getByLabel('Token', { exact: true }).inputValue(), '', 'but no token travels back');
    await look(page, `import-refused-${name}`);

    // The answer to one question does not come: the page shows the run.
    forge.heal();
    forge.fail({ pattern: /\/labels/, hangs: true, times: 1 });
    const asked = forge.requests.length;
    await page.getByLabel('Token', { exact: true }).fill(forge.world.token);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.waitForURL(new RegExp(`/repos/alice/${name}/settings/import`));
    const step = page.locator('[aria-current="step"]');
    await step.filter({ hasText: 'Labels and milestones' }).waitFor();
    t.equal(await step.count(), 1, 'one step is now');
    await look(page, `import-running-${name}`);
    t.ok(forge.requests.slice(asked).some((request) => request.path.includes('/labels')));
    forge.cut();
    await page.getByText('Up to date', { exact: true }).waitFor();
    t.equal(await step.count(), 0, 'the page has seen the end by itself');
    t.match(await mainText(page), /DEPLOY_TOKEN/, 'and lists what is to be done');
    await look(page, `import-done-${name}`);
    await page.goto(`${web.origin}/repos/alice/${name}/issues/1`);
    t.match(await mainText(page), /Slugs eat the salad[^]*Copper helps/);
    await page.context().close();
  });
