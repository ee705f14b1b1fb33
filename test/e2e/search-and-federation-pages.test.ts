// Pages of search and of federation as a person sees them: Chromium, light and dark, wide and narrow.
// time limit: 300 s
import t from 'tap';
import { mkdirSync } from 'node:fs';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { launchBrowser } from '../fixtures/browser.ts';
import type { Browser, Page } from 'playwright-core';
import { localAdministrator } from '../../src/access/index.ts';
import { keysNumber, startFakePeer } from '../federation/fake-peer.ts';
import { startPeer } from '../federation/two-instances.ts';
import type { Peer } from '../federation/two-instances.ts';
import { fillRepository } from '../fixtures/web-fixture.ts';

t.setTimeout(240_000);

/** Folder for screenshots; none are made without it. */
const pictures = process.env['HEARTH_PICTURES'];

let browser: Browser;
let home: Peer;
const sessions: Record<string, string> = {};
let failed = 0;

async function signedIn(username: string, isAdministrator = false): Promise<string> {
  const person = await home.modules.accounts.addPerson({ username, isAdministrator });
  sessions[username] = (await home.modules.accounts.startSession(person.id, { address: '', userAgent: '' })).secret;
  return person.id;
}

t.before(async () => {
  browser = await launchBrowser();
  home = await startPeer(t, { host: '127.0.0.1', allow: ['127.0.0.3', '127.0.0.4'] });
  const { repositories, codeSearch, federation, db } = home.modules;
  const alice = await signedIn('alice', true);
  for (const [name, description, visibility] of [
    ['kiln', 'A quiet controller for kilns', 'PUBLIC'],
    ['attic', 'What is kept of the kiln', 'PRIVATE'],
  ] as const) {
    await repositories.create(localAdministrator, { owner: 'alice', name, description, visibility });
    const { path } = await repositories.find(localAdministrator, 'alice', name);
    await fillRepository(t, path, {
      'src/kiln.c': `int kiln_set(int degrees);\nint main(void) { return kiln_set(1280); } // ${'a long line '.repeat(20)}\n`,
      'README.md': '# Kiln\n',
    });
  }
  await codeSearch.update();

  const peer = await startFakePeer(t, { host: '127.0.0.3' });
  const actor = (name: string) =>
    peer.addActor(
      `/r/bob/${name}`,
      { type: 'Repository', preferredUsername: `bob/${name}`, url: `${peer.origin}/bob/${name}` },
      keysNumber(1),
    );
  const [glaze, clay] = [actor('glaze'), actor('clay')];
  peer.respond('/u/bob/r', { type: 'OrderedCollection', totalItems: 1, orderedItems: [clay.id] });
  peer.addActor(
    '/u/bob',
    { preferredUsername: 'bob', repositories: `${peer.origin}/u/bob/r`, url: `${peer.origin}/bob` },
    keysNumber(1),
  );
  await federation.follow(alice, glaze.id);
  await federation.follow(alice, `${peer.origin}/u/bob`);
  await federation.drain();
  const {
    repositories: [follow],
  } = await federation.followingOf(alice);
  await peer.deliver(glaze, `${home.origin}/ap/instance/inbox`, {
    id: peer.newId(),
    type: 'Accept',
    actor: glaze.id,
    object: { id: follow!.followId, type: 'Follow', object: glaze.id },
  });
  await peer.deliver(glaze, `${home.origin}/ap/instance/inbox`, {
    id: peer.newId(),
    type: 'Push',
    actor: glaze.id,
    target: { ref: 'refs/heads/main' },
    hashBefore: 'a'.repeat(40),
    hashAfter: 'b'.repeat(40),
    object: {
      type: 'OrderedCollection',
      totalItems: 2,
      orderedItems: [
        { hash: 'b'.repeat(40), summary: 'Fire at 1280 degrees' },
        { hash: 'c'.repeat(40), summary: 'Mix the glaze' },
      ],
    },
  });
  await peer.deliver(glaze, `${home.origin}/ap/repos/alice/kiln/inbox`, {
    id: peer.newId(),
    type: 'Follow',
    actor: glaze.id,
    object: `${home.origin}/ap/repos/alice/kiln`,
  });
  await peer.stop();
  await federation.drain();
  await db.write(({ manager }) =>
    manager.query(
      "UPDATE federation_delivery SET state = 'FAILED', attempts = 8, settled_at = 1, last_error = '127.0.0.3 answered 404 (there is no such inbox)' WHERE state = 'PENDING'",
    ),
  );
  failed = Number((await db.read.query("SELECT min(id) AS id FROM federation_delivery WHERE state = 'FAILED'"))[0].id);
});
t.teardown(() => browser?.close());

async function open(who: string | null, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  if (who !== null) await context.addCookies([{ name: 'hearth_session', value: sessions[who]!, url: home.origin }]);
  return context.newPage();
}

t.test('every page of search and federation passes axe and does not overflow', async (t) => {
  const pages: [who: string | null, path: string][] = [
    [null, '/search'],
    [null, '/search?q=kiln'],
    ['alice', '/search?q=kiln'],
    [null, '/search/code'],
    ['alice', '/search/code?q=kiln_set'],
    ['alice', '/search/code?q=ki'],
    [null, '/repos/alice/kiln/search'],
    [null, '/repos/alice/kiln/search?q=kiln_set'],
    [null, '/repos/alice/kiln/search?q=%5B&pattern=1'],
    ['alice', '/following'],
    ['alice', '/admin/federation'],
    ['alice', '/admin/federation/follows'],
    ['alice', '/admin/federation/follows?user=carol'],
    ['alice', '/admin/federation/followers?repository=alice/kiln'],
    ['alice', '/admin/federation/actors'],
    ['alice', '/admin/federation/deliveries'],
    ['alice', `/admin/federation/deliveries/${failed}`],
    [null, '/api/v1'],
  ];
  /** Pages that only a form leads to. */
  const responses: Record<string, (tab: Page) => Promise<void>> = {
    'a pairing code, shown once': async (tab) => {
      await tab.goto(`${home.origin}/admin/federation`);
      await tab.getByRole('button', { name: 'Generate a code instead' }).click();
      await tab.getByRole('heading', { name: 'Pairing code' }).waitFor();
    },
    'a code of another server, before the word of the administrator': async (tab) => {
      await tab.goto(`${home.origin}/admin/federation`);
      await tab.getByLabel('Code from the other administrator').fill(`http://127.0.0.3/ap/pairing#${'A'.repeat(22)}`);
      await tab.getByRole('button', { name: 'Continue' }).click();
      await tab.getByText('Pair with 127.0.0.3?').waitFor();
    },
    'a code that is none': async (tab) => {
      await tab.goto(`${home.origin}/admin/federation`);
      await tab.getByLabel('Code from the other administrator').fill('nonsense');
      await tab.getByRole('button', { name: 'Continue' }).click();
      await tab.getByText('This is not a pairing code.').first().waitFor();
    },
    'what would be cleared away': async (tab) => {
      await tab.goto(`${home.origin}/admin/federation/deliveries`);
      await tab.getByText('Remove finished deliveries').click();
      await tab.getByRole('button', { name: 'Remove…' }).click();
      await tab.getByText(/^Remove [\d,]+ deliver/).waitFor();
    },
    'what a look for new repositories has brought': async (tab) => {
      await tab.goto(`${home.origin}/admin/federation/follows`);
      await tab.getByRole('button', { name: 'Check for new repositories' }).click();
      await tab.getByText('Checked 1 user').waitFor();
    },
  };
  for (const name of Object.keys(responses)) pages.push(['alice', name]);
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 360],
  ] as const) {
    const tabs = new Map<string | null, Page>();
    for (const [who, path] of pages) {
      const tab = tabs.get(who) ?? (await open(who, { colorScheme, viewport: { width, height: 900 } }));
      tabs.set(who, tab);
      await (responses[path]?.(tab) ?? tab.goto(home.origin + path));
      const rules = colorScheme === 'light' ? allRules : presentationRules;
      t.strictSame(await findViolations(tab, rules), [], `${path}, ${colorScheme}, ${width}`);
      t.ok(
        Number(await tab.evaluate('document.documentElement.scrollWidth - innerWidth')) <= 0,
        `${path} fits ${width} pixels`,
      );
      if (pictures === undefined) continue;
      mkdirSync(pictures, { recursive: true });
      await tab.screenshot({
        path: `${pictures}/${path.replace(/\W+/g, '-')}-${who ?? 'nobody'}-${colorScheme}-${width}.png`,
        fullPage: true,
      });
    }
    for (const tab of tabs.values()) await tab.context().close();
  }
});

t.test('a slash focuses the search box, on any page; matches are marked', async (t) => {
  const tab = await open('alice');
  await tab.goto(`${home.origin}/repos/alice/kiln`);
  await tab.keyboard.press('/');
  await tab.keyboard.type('kiln');
  await tab.keyboard.press('Enter');
  await tab.waitForURL(/\/search\?q=kiln/);
  t.match(await tab.locator('main mark').allInnerTexts(), ['kiln']);
  await tab.getByRole('link', { name: 'Code', exact: true }).click();
  await tab.waitForURL(/\/search\/code\?q=kiln/);
  t.match(await tab.locator('.found-lines mark').first().innerText(), /^kiln$/i);
  await tab.locator('.found-lines .line-number').first().click();
  await tab.waitForURL(/\/repos\/alice\/attic\/blob\/[^#]+#L1$/);
  await tab.context().close();
});

t.test(
  'without scripts: the administrator lists follows, opens a delivery, sends it again and deletes it',
  async (t) => {
    const tab = await open('alice', { javaScriptEnabled: false });
    await tab.goto(`${home.origin}/admin/federation`);
    await tab.getByRole('link', { name: /^\d+ failed$/ }).click();
    await tab
      .getByRole('link', { name: /^(Accept|Follow) to/ })
      .first()
      .click();
    t.match(await tab.locator('pre').innerText(), /"type": "(Accept|Follow)"/);
    await tab.getByRole('button', { name: 'Send again', exact: true }).click();
    await tab.getByText('It will be sent again within seconds.').waitFor();
    await tab.getByText('Remove finished deliveries').click();
    await tab.getByRole('button', { name: 'Remove…' }).click();
    await tab.getByRole('button', { name: 'Remove', exact: true }).click();
    await tab.getByText('The finished deliveries have been removed.').waitFor();

    await tab.getByRole('link', { name: 'Followers', exact: true }).click();
    await tab.getByLabel('Repository, as owner/name').fill('alice/kiln');
    await tab.getByRole('button', { name: 'Show' }).click();
    t.match(await tab.getByRole('main').innerText(), /Followers of alice\/kiln[^]*bob\/glaze/);
    await tab.getByRole('link', { name: 'Actors', exact: true }).click();
    t.match(await tab.getByRole('main').innerText(), /ap\/instance/);
    t.notMatch(await tab.content(), /PRIVATE KEY/);
    await tab.getByRole('link', { name: 'Follows', exact: true }).click();
    const row = tab.getByRole('listitem').filter({ hasText: 'bob/glaze@127.0.0.3' });
    await row.getByText('Unfollow').first().click();
    await row.getByRole('button', { name: 'Unfollow' }).click();
    await tab.getByText('The follow has ended').waitFor();
    t.equal(await row.count(), 0);
    await tab.context().close();
  },
);
