// time limit: 240 s
// What is done every day, in a real browser with and without scripts: follow the links that another forge left, write
// while the session ends, review with ten comments and answer them in the conversation. Screenshots: SHOTS=folder.
import t from 'tap';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { localAdministrator } from '../../src/access/index.ts';
import { launchBrowser, mainText } from '../fixtures/browser.ts';
import { numbered, startPullWeb } from '../fixtures/pull-web-fixture.ts';
import { password } from '../fixtures/web-fixture.ts';

t.setTimeout(230_000);

const { SHOTS } = process.env;
const garden = await startPullWeb(t, { 'README.md': '# Garden\n\n## Beds\n', 'src/bed.ts': numbered(20) });
const { web, alice, bob } = garden;
const { repositories } = web.modules;
await repositories.create(localAdministrator, { owner: 'alice', name: 'cellar', visibility: 'PRIVATE' });
await garden.commit({ 'src/bed.ts': numbered(20, { 5: 'beans', 9: 'peas' }) }, 'Sow');
const pull = await garden.open('Sow');
const main = (await garden.git('rev-parse', 'main')).trim();
await alice.post('/repos/alice/garden/issues/new', { title: 'Snails', body: 'Everywhere.' });

const browser = await launchBrowser();
t.teardown(() => browser.close());

async function open(who: typeof alice | null, javaScriptEnabled: boolean): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
    javaScriptEnabled,
  });
  context.setDefaultTimeout(20_000);
  if (who !== null)
    await context.addCookies([{ name: 'hearth_session', value: who.cookies.get('hearth_session')!, url: web.origin }]);
  const page = await context.newPage();
  page.on('pageerror', (error) => t.fail(error.message));
  return page;
}

const shot = async (page: Page, name: string) => {
  if (SHOTS) await page.screenshot({ path: path.join(SHOTS, `${name}.png`), fullPage: true });
};

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('Username or email address').fill('bob');
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** As they stand in READMEs and chats after a move: GitHub's and Gitea's forms, and where each ends. */
const links: readonly [from: string, to: string, seen: RegExp][] = [
  ['/alice/garden', '', /Garden/],
  ['/alice/garden/issues', '/issues', /Snails/],
  ['/alice/garden/issues/2', '/issues/2', /Everywhere/],
  ['/alice/garden/pull/1/files', '/pulls/1/changes', /beans/],
  ['/alice/garden/pulls/1', '/pulls/1', /Sow/],
  ['/alice/garden/blob/main/src/bed.ts#L3', '/blob/main/src/bed.ts#L3', /line 3/],
  ['/alice/garden/src/branch/main/src/bed.ts', '/blob/main/src/bed.ts', /line 3/],
  [`/alice/garden/tree/${main}/src`, `/tree/${main}/src`, /bed\.ts/],
  [`/alice/garden/commit/${main}`, `/commit/${main}`, /Start/],
  ['/alice/garden/commits/branch/topic', '/commits/topic', /Sow/],
  ['/alice/garden/compare/main...topic', '/compare/main...topic', /beans/],
  ['/alice/garden/releases', '/releases', /Releases/],
  ['/alice/garden/actions', '/runs', /Runs/],
];

for (const scripts of [true, false]) {
  const way = scripts ? 'with scripts' : 'without scripts';

  t.test(`links of another forge lead to the same thing, ${way}`, async (t) => {
    const page = await open(null, scripts);
    await page.goto(`${web.origin}/alice/garden`);
    for (const [from, to, seen] of links) {
      const response = await page.goto(web.origin + from);
      t.equal(response?.status(), 200, from);
      t.equal(page.url(), `${web.origin}/repos/alice/garden${to}`, from);
      t.match(await mainText(page), seen, from);
    }
    const answers = [];
    for (const name of ['cellar', 'absent']) {
      const response = await page.goto(`${web.origin}/alice/${name}/blob/main/README.md`);
      answers.push([response?.status(), (await response!.text()).replaceAll(name, 'x')]);
    }
    t.equal(answers[0]![0], 404);
    t.strictSame(answers[0], answers[1], 'what is hidden answers as what is absent');
    // The sign-in that it asks for ends where the link led.
    await page.goto(`${web.origin}/pulls`);
    t.match(page.url(), /\/login\?next=/);
    await signIn(page);
    await page.waitForURL(/\/dashboard\/pulls$/);
    await page.context().close();
  });

  t.test(`what was written survives the end of the session, ${way}`, async (t) => {
    const text = `Copper helps, ${way}.\n\n- around *beds*`;
    const page = await open(null, scripts);
    await page.goto(`${web.origin}/login?next=/repos/alice/garden/issues/2`);
    await signIn(page);
    await page.locator('textarea#reply').fill(text);
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Comment', exact: true }).click();
    await page
      .getByRole('alert')
      .or(page.getByRole('heading', { name: 'signed out' }))
      .first()
      .waitFor();
    await shot(page, `session-ended-${scripts}`);
    t.equal((await page.locator('textarea').first().inputValue()).trim(), text);
    const other = await page.context().newPage();
    await other.goto(`${web.origin}/login`);
    await signIn(other);
    await other.waitForURL(`${web.origin}/`);
    await page.getByRole('button', { name: /^(?:Comment|Send it again)$/ }).click();
    await page
      .locator('.entry, article')
      .filter({ hasText: `Copper helps, ${way}` })
      .first()
      .waitFor();
    t.match(page.url(), /\/repos\/alice\/garden\/issues\/2/);

    // A settings page keeps what was entered in a page of its own.
    await page.goto(`${web.origin}/settings/profile`);
    await page.getByLabel('About you').fill(`Digs, ${way}.`);
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('link', { name: 'Sign in in a new tab' }).click(),
    ]);
    await signIn(tab);
    await tab.waitForURL(/\/settings\/profile$/);
    await page.getByRole('button', { name: 'Send it again' }).click();
    await page.getByLabel('About you').waitFor();
    t.equal(await page.getByLabel('About you').inputValue(), `Digs, ${way}.`);
    await page.context().close();
  });

  t.test(`ten comments of a review are answered in the conversation, ${way}`, async (t) => {
    const lines = Array.from({ length: 10 }, (_, at) => at + 1 + (scripts ? 0 : 10));
    const reviewer = await open(bob, scripts);
    for (const line of lines) {
      await reviewer.goto(`${web.origin}${pull.url}/changes?context=25&comment=src/bed.ts:NEW:${line}#comment`);
      await reviewer.locator('.comment-form textarea').fill(`About ${line}.`);
      await reviewer
        .locator('.comment-form')
        .getByRole('button', { name: /^(?:Start a review|Add to review)$/ })
        .click();
      await reviewer
        .locator('.thread')
        .filter({ hasText: `About ${line}.` })
        .first()
        .waitFor();
    }
    await reviewer.getByRole('link', { name: 'Finish your review' }).click();
    await reviewer.getByRole('radio', { name: /^Request changes/ }).check();
    await reviewer.getByLabel('Summary').fill(`See below, ${way}.`);
    await reviewer.getByRole('button', { name: 'Submit review' }).click();
    await reviewer.getByRole('status').filter({ hasText: 'Your review has been submitted.' }).waitFor();
    await reviewer.context().close();

    const author = await open(alice, scripts);
    await author.goto(web.origin + pull.url);
    const thread = (line: number) => author.locator('.talk-thread').filter({ hasText: `About ${line}.` });
    for (const line of lines) {
      t.match(await thread(line).innerText(), new RegExp(`line ${line}\\s`), 'with its line');
      await thread(line).getByText('Reply', { exact: true }).click();
      await thread(line).getByRole('textbox', { name: 'Reply' }).fill(`Answer ${line}.`);
      await thread(line).getByRole('button', { name: 'Comment', exact: true }).click();
      await thread(line).getByText(`Answer ${line}.`).waitFor();
    }
    await shot(author, `conversation-${scripts}`);
    await thread(lines[0]!).getByRole('button', { name: 'Resolve' }).click();
    await thread(lines[0]!).getByText('Resolved').waitFor();
    // The place of the thread in the address has opened it.
    await author.goto(web.origin + pull.url);
    t.equal(await thread(lines[0]!).getAttribute('open'), null, 'folded');
    t.not(await thread(lines[1]!).getAttribute('open'), null);
    await author.context().close();
  });
}
