// time limit: 300 s
// Organisations, collaborators, images and lifecycle of repositories in a real browser with scripts off; then all these
// pages with axe, in light and dark, narrow and wide.
import t from 'tap';
import { mkdirSync } from 'node:fs';
import { launchBrowser } from '../fixtures/browser.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { localAdministrator } from '../../src/access/index.ts';
import { generateKey } from '../../src/openssh/index.ts';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { sampleImages } from '../images/sample-images.ts';
import { fillRepository, password, signedIn, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';

t.setTimeout(180_000);

/** Folder for screenshots; none are made without it. */
const pictures = process.env['HEARTH_PICTURES'];

let web: Web;
let browser: Browser;
const sessions = new Map<string, string>();

async function open(who: string, more: Parameters<Browser['newContext']>[0] = {}): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    javaScriptEnabled: false,
    reducedMotion: 'reduce',
    ...more,
  });
  context.setDefaultTimeout(10_000);
  await context.addCookies([{ name: 'hearth_session', value: sessions.get(who)!, url: web.origin }]);
  return context;
}

const tab = async (who: string): Promise<Page> => (await open(who)).newPage();
const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click();
const picture = (name: string, type: keyof typeof sampleImages) => ({
  name,
  mimeType: type,
  buffer: sampleImages[type],
});
/** Waits for the confirmation message of a form. */
const says = (page: Page, text: string | RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor();

t.before(async () => {
  web = await startWeb(t);
  browser = await launchBrowser();
  for (const name of ['alice', 'bob', 'carol', 'dave'])
    sessions.set(name, (await signedIn(web, name)).cookies.get('hearth_session') ?? '');
});
t.teardown(() => browser?.close());

t.test('an organisation from its creation to its members, by clicks alone', async (t) => {
  const page = await tab('alice');
  await page.goto(web.origin);
  await page.getByRole('link', { name: 'New organisation' }).last().click();
  await page.getByLabel('Name', { exact: true }).fill('bob');
  await press(page, 'Create organisation');
  await page.getByRole('alert').filter({ hasText: 'already taken' }).waitFor();
  t.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'bob', 'what was typed is still there');
  await page.getByLabel('Name', { exact: true }).fill('potters');
  await page.getByLabel('Display name', { exact: true }).fill('The Potters');
  await press(page, 'Create organisation');
  await says(page, 'You are its first owner');

  await page.getByRole('link', { name: 'Members' }).click();
  await page.getByText('Every organisation needs at least one owner').waitFor();
  for (const [who, role] of [
    ['bob', 'MEMBER'],
    ['carol', 'GUEST'],
  ] as const) {
    await page.getByLabel('Username', { exact: true }).fill(who);
    await page.getByLabel('Role', { exact: true }).selectOption(role);
    await press(page, 'Add');
    await says(page, 'The member has been added');
  }
  await page.getByLabel('Role of carol', { exact: true }).selectOption('MEMBER');
  await press(page, 'Save the role of carol');
  await says(page, 'The role has been changed');
  await page.getByRole('listitem').filter({ hasText: 'carol' }).getByText('Remove', { exact: true }).first().click();
  await page.getByRole('listitem').filter({ hasText: 'carol' }).getByRole('button', { name: 'Remove' }).click();
  await says(page, 'The member has been removed');
  await page.getByLabel('Role of alice', { exact: true }).selectOption('GUEST');
  await press(page, 'Save the role of alice');
  await page.getByRole('alert').filter({ hasText: 'at least one owner' }).waitFor();

  await page.getByRole('link', { name: 'Settings' }).first().click();
  await page.getByLabel('Description', { exact: true }).fill('Everything that spins.');
  await press(page, 'Save');
  await says(page, 'The settings have been saved');
  await page.getByLabel('A picture', { exact: true }).setInputFiles(picture('logo.png', 'image/png'));
  await press(page, 'Upload');
  await says(page, 'The picture has been saved');
  const member = await tab('bob');
  await member.goto(`${web.origin}/orgs/potters`);
  await member.getByRole('link', { name: 'New repository' }).last().click();
  t.equal(await member.getByLabel('Owner', { exact: true }).inputValue(), 'potters');
  await member.locator('#name').fill('studio');
  await member.locator('input[value=PUBLIC]').check();
  await press(member, 'Create repository');
  await member.waitForURL('**/repos/potters/studio');
  t.equal(await member.getByRole('link', { name: 'Members' }).count(), 0, 'a MEMBER has no tabs of an OWNER');
});

t.test('the settings of a repository: image, visibility, collaborators', async (t) => {
  const page = await tab('alice');
  await page.goto(`${web.origin}/repos/new`);
  await page.locator('#name').fill('kiln');
  await press(page, 'Create repository');
  const { path } = await web.modules.repositories.find(localAdministrator, 'alice', 'kiln');
  await fillRepository(t, path, { 'README.md': '# Kiln' });
  await page.getByRole('link', { name: 'Settings' }).first().click();
  await page
    .getByLabel('Custom image', { exact: true })
    .setInputFiles({ name: 'x.png', mimeType: 'image/png', buffer: Buffer.from('no image') });
  await press(page, 'Upload');
  await page.getByRole('alert').filter({ hasText: 'its content does not match' }).waitFor();
  await page.getByLabel('Custom image', { exact: true }).setInputFiles({
    name: 'x.png',
    mimeType: 'image/png',
    buffer: Buffer.concat([sampleImages['image/png'], Buffer.alloc(2_200_000)]),
  });
  await press(page, 'Upload');
  await page.getByRole('alert').filter({ hasText: 'at most 2 MB' }).waitFor();
  await page.getByLabel('Custom image', { exact: true }).setInputFiles(picture('kiln.gif', 'image/gif'));
  await press(page, 'Upload');
  await says(page, 'The image has been saved');
  t.match(await page.locator('main img.avatar').first().getAttribute('src'), /^\/repos\/alice\/kiln\/image\?v=\d+$/);

  await page.getByText('Make it public').click();
  await page.getByText('with their whole history').waitFor();
  await press(page, 'Make this repository public');
  await says(page, 'public now');

  await page.getByRole('link', { name: 'Collaborators' }).click();
  await page.getByLabel('Username', { exact: true }).fill('nobody');
  await press(page, 'Add');
  await page.getByRole('alert').filter({ hasText: 'No user has this username' }).waitFor();
  await page.getByLabel('Username', { exact: true }).fill('bob');
  await page.getByLabel('Role', { exact: true }).selectOption('admin');
  await press(page, 'Add');
  await says(page, 'The collaborator has been added');
  const keeper = await tab('bob');
  await keeper.goto(`${web.origin}/repos/alice/kiln`);
  await keeper.getByRole('link', { name: 'Settings' }).click();
  await keeper.waitForURL('**/settings/collaborators');
  t.equal(await keeper.getByRole('link', { name: 'Danger zone' }).count(), 0);
});

t.test('pin, move, unpin', async (t) => {
  const page = await tab('alice');
  for (const repository of ['alice/kiln', 'potters/studio']) {
    await page.goto(`${web.origin}/repos/${repository}`);
    await press(page, 'Pin');
    await page.getByRole('button', { name: 'Unpin', exact: true }).waitFor();
  }
  await page.goto(web.origin);
  const pinned = () => page.locator('.pin .row-title').allInnerTexts();
  t.same(await pinned(), ['alice/kiln', 'potters/studio']);
  await press(page, 'Move up potters/studio');
  t.same(await pinned(), ['potters/studio', 'alice/kiln']);
  await press(page, 'Unpin potters/studio');
  t.same(await pinned(), ['alice/kiln']);
});

t.test('rename, transfer with its acceptance, archive, delete and restore', async (t) => {
  const page = await tab('alice');
  await page.goto(`${web.origin}/repos/alice/kiln/settings/danger`);
  await page.getByLabel('New name', { exact: true }).fill('oven');
  await press(page, 'Rename');
  await says(page, 'Renamed');
  await page.goto(`${web.origin}/repos/alice/kiln`);
  await page.waitForURL('**/repos/alice/oven');

  await page.goto(`${web.origin}/repos/alice/oven/settings/danger`);
  await press(page, 'Archive this repository');
  await says(page, 'archived');
  await press(page, 'Unarchive this repository');
  await says(page, 'has been unarchived');
  await page.getByLabel('New owner', { exact: true }).fill('carol');
  await page.locator('#transfer-confirm').fill('alice/oven');
  await press(page, 'Transfer this repository');
  await says(page, 'Offered');
  const receiver = await tab('carol');
  await receiver.goto(web.origin);
  await receiver.getByRole('link', { name: 'View it' }).click();
  await press(receiver, 'Accept alice/oven');
  await says(receiver, 'new owner');
  await receiver.waitForURL('**/repos/carol/oven?done=transferred');

  await receiver.goto(`${web.origin}/repos/carol/oven/settings/danger`);
  await receiver.locator('#delete-confirm').fill('oven');
  await press(receiver, 'Delete this repository');
  await receiver.getByRole('alert').getByRole('link').click();
  t.match(receiver.url(), /#confirm$/, 'the summary leads to the field');
  await receiver.locator('#confirm').fill('carol/oven');
  await press(receiver, 'Delete this repository');
  await says(receiver, 'in the trash');
  await receiver.goto(`${web.origin}/settings/repositories`);
  await press(receiver, 'Restore carol/oven');
  await says(receiver, 'The repository has been restored');
});

t.test('a repository of an organisation: deleted by an OWNER, listed in its trash, restored', async (t) => {
  const page = await tab('alice');
  await page.goto(`${web.origin}/repos/potters/studio/settings/danger`);
  await page.locator('#delete-confirm').fill('potters/studio');
  await press(page, 'Delete this repository');
  await says(page, 'in the trash');
  const member = await tab('bob');
  await member.goto(`${web.origin}/settings/repositories`);
  t.equal(await member.getByRole('button', { name: 'Restore potters/studio' }).count(), 0, 'only OWNERs');
  await page.goto(`${web.origin}/orgs/potters/settings`);
  await page.getByText('Deleted repositories of potters: studio').waitFor();
  await page.getByRole('link', { name: 'restore them' }).click();
  await page.getByLabel('Name for potters/studio').fill('workshop');
  await press(page, 'Restore potters/studio');
  await says(page, 'The repository has been restored');
  await page.waitForURL('**/repos/potters/workshop?done=restored');
});

t.test('the default branch is chosen and its rule is removed', async (t) => {
  const page = await tab('carol');
  const { path } = await web.modules.repositories.find(localAdministrator, 'carol', 'oven');
  await runGit(['branch', 'next', 'main'], { cwd: path });
  await page.goto(`${web.origin}/repos/carol/oven/settings`);
  await page.getByLabel('Default branch', { exact: true }).selectOption('next');
  await page.getByLabel('Description', { exact: true }).fill('Bakes what the kiln does not.');
  await press(page, 'Save');
  await says(page, 'The settings have been saved');
  t.equal(await page.getByLabel('Default branch', { exact: true }).inputValue(), 'next');
  await page.goto(`${web.origin}/repos/carol/oven/settings/branches`);
  await page.locator('.branch-rules a.row-title').first().click();
  await page.getByText('Remove this rule').first().click();
  await press(page, 'Remove this rule');
  await page.getByText('There are no branch rules').waitFor();
  await page.goto(`${web.origin}/repos/carol/oven`);
  await page.getByText('Bakes what the kiln does not.').first().waitFor();
});

t.test('a collaborator sees their grant, and leaves; an offer is declined; a member leaves', async (t) => {
  const owner = await tab('carol');
  await owner.goto(`${web.origin}/repos/carol/oven/settings/collaborators`);
  await owner.getByLabel('Username', { exact: true }).fill('dave');
  await owner.getByLabel('Role', { exact: true }).selectOption('write');
  await press(owner, 'Add');
  await says(owner, 'The collaborator has been added');
  const page = await tab('dave');
  await page.goto(`${web.origin}/repos/carol/oven`);
  await page.getByText('You can push here, as collaborator').waitFor();
  await page.getByText('Leave this repository').first().click();
  await press(page, 'Leave this repository');
  await says(page, 'You are no longer a collaborator of that repository');

  await owner.goto(`${web.origin}/repos/carol/oven/settings/danger`);
  await owner.getByLabel('New owner', { exact: true }).fill('dave');
  await owner.locator('#transfer-confirm').fill('carol/oven');
  await press(owner, 'Transfer this repository');
  await says(owner, 'Offered');
  await page.goto(`${web.origin}/settings/repositories`);
  await press(page, 'Decline carol/oven');
  await says(page, 'declined');

  const member = await tab('bob');
  await member.goto(`${web.origin}/orgs/potters`);
  await member.getByText('Leave', { exact: true }).first().click();
  await press(member, 'Leave');
  await says(member, 'left');
});

t.test('a person: profile, avatar, handle, and deletion of the account, which needs the password', async (t) => {
  const page = await tab('dave');
  await page.goto(`${web.origin}/settings/profile`);
  await page.getByLabel('Name', { exact: true }).fill('Dave of Example');
  await press(page, 'Save');
  await says(page, /saved/);
  await page.getByLabel('Your own picture', { exact: true }).setInputFiles(picture('me.webp', 'image/webp'));
  await press(page, 'Upload');
  await says(page, 'The picture has been saved');
  await press(page, 'Remove this picture');
  await says(page, 'removed');

  await page.goto(`${web.origin}/settings/account`);
  await page.getByLabel('New username', { exact: true }).fill('david');
  await page.locator('#handle-confirm').fill('dave');
  await press(page, 'Change username');
  await says(page, /username has been changed/);
  await page.goto(`${web.origin}/users/dave`);
  await page.waitForURL('**/users/david');

  await page.goto(`${web.origin}/settings/account`);
  await page.locator('#delete-confirm').fill('david');
  await page.getByLabel('Your password', { exact: true }).fill('not it');
  await press(page, 'Delete my account');
  await page.getByRole('alert').filter({ hasText: 'This is not your password' }).waitFor();
  await page.getByLabel('Your password', { exact: true }).fill(password);
  await press(page, 'Delete my account');
  await page.waitForURL('**/login?done=account-deleted');
});

t.test('an organisation is renamed, and deleted once it owns nothing', async (t) => {
  const page = await tab('bob');
  await page.goto(`${web.origin}/orgs/new`);
  await page.getByLabel('Name', { exact: true }).fill('weavers');
  await press(page, 'Create organisation');
  await page.goto(`${web.origin}/orgs/weavers/settings`);
  await page.getByLabel('New name', { exact: true }).fill('spinners');
  await press(page, 'Rename');
  await says(page, /renamed/i);
  await page.goto(`${web.origin}/orgs/weavers`);
  await page.waitForURL('**/orgs/spinners');
  await page.goto(`${web.origin}/orgs/spinners/settings`);
  await page.locator('#delete-confirm').fill('spinners');
  await press(page, 'Delete this organisation');
  await says(page, 'deleted');
});

/** One page in every look. */
async function photograph(page: Page, path: string, who: string): Promise<void> {
  mkdirSync(pictures!, { recursive: true });
  const before = page.viewportSize()!;
  for (const width of [1280, 360]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await page.screenshot({
        path: `${pictures}/${path.replace(/\W+/g, '-')}-${who}-${width}-${colorScheme}.png`,
        fullPage: true,
      });
    }
  }
  await page.setViewportSize(before);
}

t.test(
  'an OWNER makes a team, gives it people and a repository, and deletes it; others see what is theirs',
  async (t) => {
    const form = async (page: Page, action: string, fields: Record<string, string>): Promise<void> => {
      const at = page.locator(`form[action="${action}"]`);
      for (const [name, value] of Object.entries(fields)) {
        const field = at.locator(`[name="${name}"]`);
        if (name === 'role') await field.selectOption(value);
        else await field.fill(value);
      }
      await at.locator('button[type="submit"]').click();
    };
    const page = await (await open('alice')).newPage();
    await page.goto(`${web.origin}/orgs/potters/teams`);
    t.match(await page.textContent('main'), /No teams yet/);
    await page.click('text=New team');
    await form(page, '/orgs/potters/teams', { name: 'two words', description: 'They fire', role: 'write' });
    t.match(await page.textContent('main'), /1 to 39 letters/);
    t.equal(await page.inputValue('[name="description"]'), 'They fire', 'what was typed is there again');
    await form(page, '/orgs/potters/teams', { name: 'kiln' });
    t.equal(new URL(page.url()).pathname, '/orgs/potters/teams/kiln');
    await form(page, '/orgs/potters/teams/kiln/members', { username: 'unknown-one' });
    t.match(await page.textContent('main'), /No user has this username/);
    await form(page, '/orgs/potters/teams/kiln/members', { username: 'carol' });
    t.match(await page.textContent('main'), /carol/);
    await form(page, '/orgs/potters/teams/kiln/repositories', { repository: 'nothing' });
    t.match(await page.textContent('main'), /has no repository with this name/);
    await form(page, '/orgs/potters/teams/kiln/repositories', { repository: 'workshop', role: 'read' });
    t.match(await page.textContent('main'), /workshop/);
    const ofCarol = await (await open('carol')).newPage();
    t.equal((await ofCarol.goto(`${web.origin}/orgs/potters/teams/kiln`))!.status(), 200);
    t.equal(await ofCarol.locator('form[action$="/kiln/delete"]').count(), 0, 'only OWNERs manage');
    await form(page, '/orgs/potters/teams/kiln/delete', { confirm: 'wrong' });
    t.match(await page.textContent('main'), /Type kiln to confirm/);
    await page.goto(`${web.origin}/orgs/potters/teams/kiln`);
    await form(page, '/orgs/potters/teams/kiln', { name: 'ovens', role: 'admin' });
    t.equal(new URL(page.url()).pathname, '/orgs/potters/teams/ovens');
    await form(page, '/orgs/potters/teams/ovens/delete', { confirm: 'ovens' });
    t.match(await page.textContent('main'), /No teams yet/);
    t.equal((await ofCarol.goto(`${web.origin}/orgs/potters/teams/ovens`))!.status(), 404);
    await page.context().close();
    await ofCarol.context().close();
  },
);

t.test('a deploy key is added, refused twice, and removed', async (t) => {
  const page = await tab('carol');
  const line = `ssh-ed25519 ${generateKey('robot').blob.toString('base64')} robot@example.org`;
  await page.goto(`${web.origin}/repos/carol/oven/settings/collaborators`);
  await page.getByRole('link', { name: 'Deploy keys' }).click();
  await page.getByText('There are no deploy keys yet').waitFor();
  await page.getByLabel('Public key', { exact: true }).fill('no key');
  await page.getByLabel('Title', { exact: true }).fill('Oven timer');
  await page.getByLabel('Read and write', { exact: false }).check();
  await press(page, 'Add key');
  await page.getByRole('alert').filter({ hasText: 'not a readable public key' }).waitFor();
  t.equal(await page.getByLabel('Title', { exact: true }).inputValue(), 'Oven timer', 'what was typed is still there');
  t.ok(await page.getByLabel('Read and write', { exact: false }).isChecked());
  await page.getByLabel('Public key', { exact: true }).fill(line);
  await press(page, 'Add key');
  await says(page, 'The deploy key has been added');
  await page.getByText('Oven timer').waitFor();
  t.match(await page.textContent('main'), /Read and write.*SHA256:.*by\s+carol, never used/s);
  await page.getByLabel('Public key', { exact: true }).fill(line);
  await press(page, 'Add key');
  await page.getByRole('alert').filter({ hasText: 'already in use' }).waitFor();
  await page.getByText('Remove', { exact: true }).first().click();
  await press(page, 'Remove');
  await says(page, 'The deploy key has been removed');
  await page.getByText('There are no deploy keys yet').waitFor();
});

t.test('these pages pass axe and do not overflow, in light and dark, narrow and wide', async (t) => {
  const { organisations, repositories } = web.modules;
  const glazers = { organisation: 'potters', name: 'glazers' };
  await organisations.teams.create(localAdministrator, 'potters', { name: 'glazers', description: 'They glaze.' });
  await organisations.teams.addMember(localAdministrator, glazers, 'carol');
  await repositories.teams.setRole(localAdministrator, glazers, { owner: 'potters', name: 'workshop' }, 'write');
  await repositories.deployKeys.add(localAdministrator, 'carol', 'oven', {
    title: 'A machine with a long name that builds and publishes everything',
    line: `ssh-ed25519 ${generateKey('robot').blob.toString('base64')}`,
    access: 'write',
  });
  const pages: [who: string, path: string][] = [
    ['carol', '/repos/carol/oven/settings/keys'],
    ['alice', '/'],
    ['alice', '/orgs/new'],
    ['alice', '/orgs/potters'],
    ['bob', '/orgs/potters'],
    ['alice', '/orgs/potters/members'],
    ['alice', '/orgs/potters/teams'],
    ['alice', '/orgs/potters/teams/new'],
    ['alice', '/orgs/potters/teams/glazers'],
    ['bob', '/orgs/potters/teams/glazers'],
    ['alice', '/orgs/potters/settings'],
    ['bob', '/repos/potters/workshop'],
    ['carol', '/repos/carol/oven/settings'],
    ['carol', '/repos/carol/oven/settings/collaborators'],
    ['carol', '/repos/carol/oven/settings/danger'],
    ['alice', '/settings/repositories'],
    ['alice', '/settings/account'],
    ['alice', '/settings/profile'],
    ['alice', '/explore'],
    ['alice', '/explore/users'],
    ['alice', '/explore/orgs'],
    ['alice', '/users/alice'],
    ['carol', '/repos/new'],
  ];
  const looks = [
    [320, 'dark', presentationRules],
    [1280, 'light', allRules],
  ] as const;
  for (const [width, colorScheme, runOnly] of looks) {
    const tabs = new Map<string, Page>();
    for (const [who, path] of pages) {
      const page =
        tabs.get(who) ??
        (await (await open(who, { viewport: { width, height: 900 }, colorScheme, javaScriptEnabled: true })).newPage());
      tabs.set(who, page);
      await page.goto(web.origin + path);
      t.same(await findViolations(page, runOnly), [], `${path} as ${who}, ${width} ${colorScheme}`);
      if (pictures !== undefined && width === 1280) await photograph(page, path, who);
      t.same(
        await page.evaluate(
          '[...document.querySelectorAll("main *, header *")].filter((each) => each.getBoundingClientRect().right > document.documentElement.clientWidth && getComputedStyle(each).clipPath === "none" && !each.closest(".tabs, .side-nav")).map((each) => each.outerHTML.slice(0, 80))',
        ),
        [],
        `${path} fits ${width}`,
      );
      // Tabs and the navigation of settings scroll in their row; the page does not.
      t.ok(await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'), path);
    }
  }
});
