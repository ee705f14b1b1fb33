// Branch rules from the settings to the terminal: made in a real browser with scripts off, felt by stock git over HTTP
// and SSH; then their pages with axe, in light and dark, narrow and wide.
import t from 'tap';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { launchBrowser, mainText } from '../fixtures/browser.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { localAdministrator } from '../../src/access/index.ts';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { gitClient } from './git-client.ts';

t.setTimeout(240_000);

/** Folder for screenshots; none are made without it. */
const pictures = process.env['HEARTH_PICTURES'];
const B = '/repos/alice/work';

const hearth = await startHearth(t);
const { accounts, repositories } = hearth.modules;
const alice = await hearth.addPerson('alice');
const bob = await hearth.addPerson('bob');
const client = gitClient(hearth.folder);
await accounts.addKey(bob.id, { title: 'test', line: readFileSync(client.publicKeyFile, 'utf8') });
await repositories.create(localAdministrator, { owner: 'alice', name: 'work', visibility: 'PUBLIC' });
await repositories.collaborators.add(localAdministrator, 'alice', 'work', { username: 'bob', role: 'write' });

const work = path.join(hearth.folder, 'work');
mkdirSync(work);
const git = (...args: string[]) => client.expect(work, ...args);
const commit = async (text: string) => {
  writeFileSync(path.join(work, text), text);
  await git('add', '.');
  await git('commit', '--quiet', `--message=${text}`);
};
const http = (person: { token: string }, name: string) =>
  `${hearth.url.replace('://', `://${name}:${person.token}@`)}/git/alice/work.git`;
const origins = {
  http: http(bob, 'bob'),
  ssh: `ssh://git@${hearth.ssh.host}:${hearth.ssh.port}/alice/work.git`,
};

let browser: Browser;
async function open(person: { session: string }, more: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  const context: BrowserContext = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    javaScriptEnabled: false,
    reducedMotion: 'reduce',
    ...more,
  });
  context.setDefaultTimeout(10_000);
  await context.addCookies([{ name: 'hearth_session', value: person.session, url: hearth.url }]);
  return context.newPage();
}
const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();
const says = (page: Page, text: string | RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor();

t.before(async () => {
  browser = await launchBrowser();
  await git('init', '--quiet', '--initial-branch=main');
  for (const text of ['one', 'two']) await commit(text);
  await git('tag', 'v1.0');
  await git('push', '--quiet', origins.http, 'main', 'main:release/1', 'main:release/2', 'main:topic', 'v1.0');
});
t.teardown(() => browser?.close());

t.test('rules are made by forms alone, and a refused form keeps what was typed', async (t) => {
  const page = await open(alice);
  await page.goto(`${hearth.url}${B}/settings`);
  await page.getByRole('link', { name: 'Branch rules' }).first().click();
  t.match(await mainText(page), /Default branch\s*main[^]*Force push\s*nobody[^]*Applies to 1 branch at present: main/);
  await page.getByRole('link', { name: 'Add a branch rule' }).click();
  await page.getByLabel('Branches', { exact: true }).fill('release/{1,2');
  const push = page.getByRole('group', { name: 'Push', exact: true });
  await push.getByLabel('Who may').selectOption('Nobody');
  await push.getByLabel('These users').fill('bob, nobody-here');
  await page.getByLabel('Require a linear history').check();
  await press(page, 'Add rule');
  await page.getByRole('alert').filter({ hasText: 'Braces hold alternatives' }).waitFor();
  await page.getByLabel('Branches', { exact: true }).fill('release/*');
  await press(page, 'Add rule');
  await page.getByRole('alert').filter({ hasText: 'no active user with the username nobody-here' }).waitFor();
  t.equal(await push.getByLabel('Who may').inputValue(), 'nobody');
  t.ok(await page.getByLabel('Require a linear history').isChecked());
  await push.getByLabel('These users').fill('bob');
  await press(page, 'Add rule');
  await says(page, 'The rule has been added');
  const row = page.getByRole('listitem').filter({ hasText: 'release/*' });
  t.match(await row.innerText(), /No merge commits[^]*Push\s*bob[^]*2 branches at present: release\/1, release\/2/);
  await page.getByRole('link', { name: 'Add a tag rule' }).click();
  await page.getByLabel('Tags', { exact: true }).fill('v*');
  await page.getByRole('group', { name: 'Create' }).getByLabel('Who may').selectOption('Owners');
  await press(page, 'Add rule');
  await says(page, 'The rule has been added');
  await page.getByRole('link', { name: 'Add a branch rule' }).click();
  await page.getByLabel('Branches', { exact: true }).fill('rel*');
  await press(page, 'Add rule');
  await press(page, 'Move rel* up');
  const names = await page.locator('.branch-rules').first().getByRole('link').allInnerTexts();
  t.same(
    names.map((name) => name.trim()),
    ['Default branch', 'rel*', 'release/*'],
  );
  await page.getByRole('link', { name: 'rel*' }).click();
  await page.getByText('Remove this rule').first().click();
  await press(page, 'Remove this rule');
  await says(page, 'The rule has been removed');
  await page.getByRole('link', { name: 'release/*' }).click();
  t.match(await mainText(page), /What it applies to now\s*release\/1\s*release\/2/);
  t.equal(await page.getByRole('group', { name: 'Push', exact: true }).getByLabel('These users').inputValue(), 'bob');
  await press(page, 'Save');
  await says(page, 'The rule has been saved');
});

t.test('branches and tags are marked, and no button offers what is refused', async (t) => {
  const page = await open(bob);
  await page.goto(`${hearth.url}${B}/branches`);
  const row = (name: string) =>
    page.getByRole('listitem').filter({ has: page.getByRole('link', { name, exact: true }) });
  t.match(await row('main').innerText(), /Default\s+Protected/);
  t.match(await row('release/1').innerText(), /Protected/);
  t.equal(
    await row('release/1')
      .getByRole('link', { name: /^Delete/ })
      .count(),
    0,
  );
  t.notMatch(await row('topic').innerText(), /Protected/);
  t.equal(
    await row('topic')
      .getByRole('link', { name: /^Delete/ })
      .count(),
    1,
  );
  await page.goto(`${hearth.url}${B}/branches/delete?name=release%2F1`);
  await page.locator('form button.danger').click();
  await page.getByRole('alert').filter({ hasText: 'Branch rule "release/*": deleting is not allowed.' }).waitFor();
  await page.goto(`${hearth.url}${B}/tags`);
  t.match(await row('v1.0').innerText(), /Protected/);
  t.equal((await page.goto(`${hearth.url}${B}/settings/branches`))?.status(), 404, 'for administrators only');
});

for (const [via, origin] of Object.entries(origins)) {
  t.test(`stock git over ${via} gets the reason of each ref, and the others go`, async (t) => {
    await git('fetch', '--quiet', '--force', origin, 'main', 'release/*:refs/remotes/release/*');
    await git('reset', '--quiet', '--hard', 'FETCH_HEAD');
    const push = (...args: string[]) => client.run(work, 'push', origin, ...args);
    await commit(`${via}-forward`);
    t.equal((await push('main', 'main:release/1')).code, 0, 'who is named pushes');
    await git('commit', '--quiet', '--amend', `--message=${via} rewritten`);
    const forced = await push('--force', 'main', 'main:release/1', 'main:topic', `main:refs/tags/v-${via}`);
    t.not(forced.code, 0);
    t.match(
      forced.stderr,
      /! \[remote rejected\] main -> main \(branch rule "default branch" \(~DEFAULT_BRANCH\): force pushes are not allowed/,
    );
    t.match(forced.stderr, /main -> release\/1 \(branch rule "release\/\*": force pushes are not allowed/);
    t.match(forced.stderr, new RegExp(`main -> v-${via} \\(tag rule "v\\*": you may not create it\\)`));
    t.match(forced.stderr, /main -> topic/);
    t.notMatch(forced.stderr, /rejected\] main -> topic/, 'the others go');
    t.match((await push(':release/2')).stderr, /\(branch rule "release\/\*": deleting is not allowed\)/);
    t.match((await push('--force', 'main:v1.0')).stderr, /\(tag rule "v\*": a tag that exists may not be moved\)/);
    await git('reset', '--quiet', '--hard', 'HEAD~1');
    await git('checkout', '--quiet', '-B', 'side');
    await commit(`${via}-side`);
    await git('checkout', '--quiet', 'main');
    await git('fetch', '--quiet', origin, 'release/1');
    await git('reset', '--quiet', '--hard', 'FETCH_HEAD');
    await git('merge', '--quiet', '--no-ff', '--message=together', 'side');
    const merged = await push('--force', 'main:release/1', 'main:topic');
    t.match(
      merged.stderr,
      /main -> release\/1 \(branch rule "release\/\*": merge commits are not allowed; rebase instead\)/,
    );
    t.match(merged.stderr, /main -> topic/);
    t.notMatch(merged.stderr, /rejected\] main -> topic/);
  });
}

t.test('signed commits are required, and verified by the keys of people', async (t) => {
  const page = await open(alice);
  await page.goto(`${hearth.url}${B}/settings/branches/new?for=branch`);
  await page.getByLabel('Branches', { exact: true }).fill('signed');
  await page.getByLabel('Require signed commits').check();
  await press(page, 'Add rule');
  await says(page, 'The rule has been added');
  await git('checkout', '--quiet', '-B', 'signed', 'main');
  const push = () => client.run(work, 'push', '--force', origins.http, 'signed');
  await commit('unsigned');
  const unsigned = (await git('rev-parse', 'HEAD')).slice(0, 10);
  t.match((await push()).stderr, new RegExp(`branch rule "signed": commit ${unsigned} is not signed`));
  const key = client.publicKeyFile.replace(/\.pub$/, '');
  const sign = ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${key}`];
  await git(...sign, 'commit', '--quiet', '--amend', '--no-edit', '-S');
  const unknown = await push();
  t.match(unknown.stderr, /commit [0-9a-f]{10} has no verified signature \(unverified_email\)/);
  await accounts.addresses.add(bob.id, { address: 'alice@example.org', isVerified: true });
  t.equal((await push()).code, 0, 'signed by a key of bob, with his verified address');
  await commit('unsigned-again');
  await git('push', '--quiet', origins.http, 'signed:refs/heads/elsewhere');
  t.match(
    (await push()).stderr,
    /branch rule "signed": commit [0-9a-f]{10} is not signed/,
    'what the server has already',
  );
});

t.test('these pages pass axe and do not overflow, in light and dark, narrow and wide', async (t) => {
  const rules = await repositories.rules.list(localAdministrator, 'alice', 'work');
  const at = `${B}/settings/branches`;
  const one = rules.find(({ pattern }) => pattern === 'release/*')!;
  await repositories.collaborators.changeRole(localAdministrator, 'alice', 'work', { username: 'bob', role: 'read' });
  for (const address of [at, `${at}/new`, `${at}/new?for=tag`, `${at}/${one.id}`, `${B}/branches`, `${B}/tags`]) {
    for (const width of [1280, 360]) {
      const page = await open(alice, { javaScriptEnabled: true, viewport: { width, height: 900 } });
      await page.goto(hearth.url + address);
      if (address.endsWith(one.id)) t.match(await mainText(page), /bob can no longer push to this repository/);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        const broken = await findViolations(page, colorScheme === 'light' ? allRules : presentationRules);
        t.same(broken, [], `${address} ${width} ${colorScheme}`);
        if (pictures !== undefined) {
          mkdirSync(pictures, { recursive: true });
          const name = address.replace(one.id, 'one').replace(/\W+/g, '-');
          await page.screenshot({ path: `${pictures}/${name}-${width}-${colorScheme}.png`, fullPage: true });
        }
      }
      t.ok(
        await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
        `${address} fits ${width}`,
      );
      await page.context().close();
    }
  }
});
