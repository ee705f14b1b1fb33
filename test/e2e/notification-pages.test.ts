// time limit: 300 s
// The inbox, its settings and the control of watching in Chromium: axe in light and dark, wide and narrow; the journey
// of a mention with scripts off, and the keys with them on. Screenshots: SHOTS=folder.
import t from 'tap';
import path from 'node:path';
import { launchBrowser, mainText } from '../fixtures/browser.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { signedIn, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';
import { viewerOf } from '../pages/issues/issues-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(240_000);

const { SHOTS } = process.env;
const roof = '/repos/alice/roof';
const place = { owner: 'alice', name: 'roof' };
const at = (number: number) => ({ ...place, number });
let web: Web;
let browser: Browser;
const sessions = new Map<string, string>();
const ids = new Map<string, string>();
const viewer = (name: string) => viewerOf(ids.get(name)!, name);

async function open(who: string | null, hasScripts: boolean): Promise<BrowserContext> {
  const context = await browser.newContext({ javaScriptEnabled: hasScripts, reducedMotion: 'reduce' });
  if (who !== null) await context.addCookies([{ name: 'hearth_session', value: sessions.get(who)!, url: web.origin }]);
  return context;
}

/** Waits until every entry is told. */
async function settle(): Promise<void> {
  const { db, notifications } = web.modules;
  await waitUntil(
    async () => (await db.read.query('SELECT 1 FROM issue_entries WHERE announced_at IS NULL LIMIT 1')).length === 0,
  );
  await notifications.tell();
}

const shot = async (page: Page, name: string): Promise<void> => {
  if (SHOTS !== undefined) await page.screenshot({ path: path.join(SHOTS, `${name}.png`), fullPage: true });
};

t.before(async () => {
  web = await startWeb(t);
  browser = await launchBrowser();
  const { issues, notifications, repositories } = web.modules;
  for (const name of ['alice', 'bob', 'carol']) {
    const person = await signedIn(web, name);
    sessions.set(name, person.cookies.get('hearth_session')!);
    ids.set(name, person.id);
  }
  const alice = viewer('alice');
  await repositories.create(alice, { name: 'roof', visibility: 'PUBLIC', description: 'Keeps the rain out' });
  await repositories.create(alice, { name: 'cellar', visibility: 'PRIVATE' });
  await repositories.collaborators.add(alice, 'alice', 'cellar', { username: 'carol', role: 'write' });
  const texts: [title: string, body: string][] = [
    [
      'The gutter overflows when it rains for longer than an hour, and the water comes down in the hall',
      '@alice, look!',
    ],
    ['Averyveryverylongwordwithoutanyplacewhereitcouldbebrokenbutitmustfitintoanarrowwindowallthesame', ''],
    ['Paint it red', 'Red is nice'],
  ];
  for (const [title, body] of texts) {
    web.clock.advance(61_000);
    await issues.open(viewer('bob'), place, { title, body });
  }
  await issues.open(viewer('carol'), { owner: 'alice', name: 'cellar' }, { title: 'Damp walls' });
  await issues.triage(alice, at(3), { assignees: ['carol'] });
  await issues.close(alice, at(2), 'not_planned');
  await settle();
  const run = {
    kind: 'run-failed',
    actorId: ids.get('alice')!,
    event: {
      subject: `run:${(await repositories.find(alice, 'alice', 'roof')).repository.id}`,
      repositoryId: (await repositories.find(alice, 'alice', 'roof')).repository.id,
      issueId: null,
      firstPosition: 12_001,
      lastPosition: 12_001,
      details: JSON.stringify({
        number: 12,
        workflow: 'Build',
        title: 'Seal the seams',
        ref: 'refs/heads/main',
        sha: '1',
      }),
      context: 'build.yml refs/heads/main',
    },
  };
  await web.modules.db.write(({ manager, now }) =>
    manager.query('INSERT INTO notification_batches (payload, created_at, next_at) VALUES (?, ?, ?)', [
      JSON.stringify(run),
      now,
      now,
    ]),
  );
  await notifications.tell();
  const { rows } = await notifications.list(alice, { view: 'inbox' }, { limit: 10 });
  await notifications.change(alice, 'save', { ids: [rows.at(-1)!.id] });
  await notifications.change(alice, 'read', { ids: [rows.at(-2)!.id] });
  // That bob and carol were given access is told above the inbox, and counted like what is in it.
  await notifications.readAccessNews(viewer('carol'), { upTo: web.clock.now() });
});
t.teardown(() => browser?.close());

const pages: [who: string, name: string, address: string][] = [
  ['alice', 'inbox', '/notifications'],
  ['alice', 'inbox-saved', '/notifications?view=saved'],
  ['alice', 'inbox-done-empty', '/notifications?view=done'],
  ['alice', 'inbox-filtered-empty', '/notifications?repository=alice/roof&reason=assigned'],
  ['bob', 'inbox-bob', '/notifications?view=unread'],
  ['alice', 'notification-settings', '/settings/notifications'],
  ['bob', 'notification-settings-none', '/settings/notifications'],
  ['carol', 'repository-head', `${roof}/issues`],
];

const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth');

t.test('axe finds nothing on any of these pages, in any look', async (t) => {
  const looks = [360, 1280].flatMap((width) => (['light', 'dark'] as const).map((theme) => ({ width, theme })));
  const tabs = new Map<string, Page>();
  for (const [who, name, address] of pages) {
    const tab = tabs.get(who) ?? (await (await open(who, true)).newPage());
    tabs.set(who, tab);
    const response = await tab.goto(web.origin + address);
    t.equal(response?.status(), 200, name);
    for (const { width, theme } of looks) {
      await tab.setViewportSize({ width, height: 900 });
      await tab.emulateMedia({ colorScheme: theme });
      const what = `${name}, ${theme}, ${width} px`;
      t.same(await findViolations(tab, width === 360 && theme === 'light' ? allRules : presentationRules), [], what);
      t.notOk(await isTooWide(tab), `${what}: nothing sticks out`);
      // Open, it hides what is below.
      if (name === 'repository-head') await tab.click('.watch > summary');
      t.notOk(await isTooWide(tab), `${what}: nor when a menu is open`);
      await shot(tab, `${name}-${theme}-${width}`);
      if (name === 'repository-head') await tab.click('.watch > summary');
    }
  }
});

t.test('without scripts: a mention, the count in the head, the inbox, the issue, done, and undo', async (t) => {
  const { issues } = web.modules;
  const tab = await (await open('carol', false)).newPage();
  await tab.goto(web.origin);
  const counter = tab.locator('.inbox-link');
  t.equal(await counter.getAttribute('aria-label'), 'Notifications, 1 unread', 'the assignment');
  web.clock.advance(61_000);
  await issues.comment(viewer('bob'), at(1), { body: 'What do you think, @carol?' });
  await settle();
  await tab.reload();
  t.equal(await counter.getAttribute('aria-label'), 'Notifications, 2 unread');
  await counter.click();
  t.equal(await tab.locator('.inbox .row').count(), 2);
  const first = tab.locator('.inbox .row').first();
  t.match(await first.innerText(), /The gutter overflows[^]*You were mentioned/);
  await first.locator('.row-title').click();
  t.equal(new URL(tab.url()).pathname + new URL(tab.url()).hash, `${roof}/issues/1#e1`, 'at what is unread');
  t.equal(await counter.getAttribute('aria-label'), 'Notifications, 1 unread', 'and it is read');
  await tab.goto(`${web.origin}/notifications`);
  await tab.locator('.inbox .row').first().locator('button[data-done]').click();
  t.match(await tab.locator('.undo').innerText(), /Marked as done/);
  t.equal(await tab.locator('.inbox .row').count(), 1);
  await shot(tab, 'inbox-undo');
  await tab.locator('.undo button').click();
  t.equal(await tab.locator('.inbox .row').count(), 2, 'it is back');
  t.equal(await tab.locator('.inbox .is-unread').count(), 1, 'and still read');
  await tab.locator('.inbox input[name=id]').first().check();
  await tab.getByRole('button', { name: 'Unread', exact: true }).click();
  t.equal(await counter.getAttribute('aria-label'), 'Notifications, 2 unread');
  await tab.getByRole('button', { name: 'Mark all as read' }).click();
  t.equal(await counter.getAttribute('aria-label'), 'Notifications');
  await tab.locator('.undo button').click();
  t.equal(await counter.getAttribute('aria-label'), 'Notifications, 2 unread');
});

t.test('without scripts: the header of a repository page shows the level of watching, and changes it', async (t) => {
  const tab = await (await open('bob', false)).newPage();
  await tab.goto(`${web.origin}${roof}`);
  t.match(await tab.locator('.watch > summary').innerText(), /Watch\s*1/);
  await tab.locator('.watch > summary').click();
  await tab.getByRole('button', { name: /^Everything/ }).click();
  t.equal(new URL(tab.url()).pathname, roof);
  t.match(await tab.locator('.watch > summary').innerText(), /Watching\s*2/);
  await tab.goto(`${web.origin}/settings/notifications`);
  t.match(await tab.locator('.rows').innerText(), /alice\/roof/);
  await tab.locator('.rows select').selectOption('ignore');
  await tab.getByRole('button', { name: 'Change', exact: true }).click();
  await tab.goto(`${web.origin}${roof}`);
  t.match(await tab.locator('.watch > summary').innerText(), /Ignoring\s*1/);
});

t.test('without scripts: rules are saved, and a feed gets an address that is shown once', async (t) => {
  const tab = await (await open('bob', false)).newPage();
  await tab.goto(`${web.origin}/settings/notifications`);
  t.match(await mainText(tab), /This server sends no mail/);
  await tab.getByRole('checkbox', { name: 'Inbox: You are assigned' }).uncheck();
  await tab.getByRole('button', { name: 'Save', exact: true }).click();
  t.notOk(await tab.getByRole('checkbox', { name: 'Inbox: You are assigned' }).isChecked());
  t.ok(await tab.getByRole('checkbox', { name: 'Inbox: You are mentioned' }).isChecked());
  await tab.getByRole('button', { name: 'Create an address' }).click();
  const address = await tab.locator('#secret').inputValue();
  t.match(address, /^http:\/\/127\.0\.0\.1:\d+\/notifications\/feed\.atom\?token=[\w-]{43}$/);
  await shot(tab, 'new-feed');
  const response = await fetch(address);
  t.equal(response.status, 200);
  t.match(await response.text(), /<title>Notifications of bob<\/title>[^]*Averyvery/);
  await tab.goto(`${web.origin}/settings/notifications`);
  await tab.locator('summary', { hasText: 'Withdraw' }).click();
  await tab.locator('.remove button').click();
  t.equal((await fetch(address)).status, 404);
});

t.test('keys: g n to the inbox, j and k through it, e when done', async (t) => {
  const tab = await (await open('alice', true)).newPage();
  await tab.goto(web.origin);
  await tab.keyboard.press('g');
  await tab.keyboard.press('n');
  await tab.waitForURL('**/notifications');
  const before = await tab.locator('.inbox .row').count();
  await tab.keyboard.press('j');
  await tab.keyboard.press('j');
  const title = await tab.evaluate<string>('document.activeElement.textContent');
  await tab.keyboard.press('e');
  await tab.waitForURL('**undo=done**');
  t.equal(await tab.locator('.inbox .row').count(), before - 1);
  t.notOk((await tab.locator('.inbox').innerText()).includes(title.replace('Unread: ', '')), 'the second row');
});
