// One Chromium for all: every page in light and dark, narrow and wide, with and without scripts.
// time limit: 400 s
import t from 'tap';
import { gzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { launchBrowser } from '../fixtures/browser.ts';
import type { Browser, BrowserContext, Page, Response } from 'playwright-core';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { fillRepository, password, signedIn, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';

/** 37 × 21 pixels. */
const logo = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAACUAAAAVCAYAAADB5CeuAAAAQklEQVR4AezSMQ0AAAgDQYI2/FsqFn7s8CRsHcjRzU3adqdwPIo+RSmlqADN2SmlqADN2SmlqADNVXbqAQAA///7nnxtAAAABklEQVQDABqUU7VZQYUtAAAAAElFTkSuQmCC',
  'base64',
);

const readme = `# Kiln

[![Build](https://img.example.org/b.svg)](https://ci.example.org) ![logo](logo.png)

See [the list](https://example.org). \`code\` and **bold**.

<img src="logo.png" width="370" alt="">

## Parts

- [x] Relay
- [ ] Fan

| Part | Count |
|------|------:|
| Relay | 1 |

> Hot.

\`\`\`sh
make install --with-a-very-long-line-that-does-not-fit-into-a-narrow-window-and-must-scroll-inside-its-box
\`\`\`
`;

// A browser on a busy machine: all of it may take longer than an ordinary test.
t.setTimeout(380_000);

let web: Web;
let browser: Browser;
/** By name: the value of the session cookie. */
const sessions = new Map<string, string>();
let invite = '';

interface Look {
  width: number;
  theme: 'light' | 'dark';
  scripts: boolean;
}

async function open(who: string | null, { width, theme, scripts }: Look): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    colorScheme: theme,
    javaScriptEnabled: scripts,
    reducedMotion: 'reduce',
  });
  const value = who === null ? undefined : sessions.get(who);
  if (value !== undefined) await context.addCookies([{ name: 'hearth_session', value, url: web.origin }]);
  return context;
}

t.before(async () => {
  // Images of other hosts have a test of their own (markdown.test.ts); here no other host would answer.
  web = await startWeb(t, { env: { SERVICE_REPOSITORIES_REMOTE_IMAGES: 'false' } });
  browser = await launchBrowser();
  const alice = await signedIn(web, 'alice', { isAdministrator: true });
  const bob = await signedIn(web, 'bob');
  sessions.set('alice', alice.cookies.get('hearth_session') ?? '').set('bob', bob.cookies.get('hearth_session') ?? '');
  await alice.post('/repos', { name: 'kiln', description: 'A quiet controller for kilns', visibility: 'PUBLIC' });
  await alice.post('/repos', { name: 'attic', visibility: 'PRIVATE' });
  await alice.post('/settings/tokens', { name: 'laptop', access: 'write', expires_in: '30', repos: 'all' });
  await alice.post('/settings/profile', {
    display_name: 'Alice',
    bio: 'Fires clay.',
    website: 'https://alice.example.org',
  });
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJl3dIeudNqd0DMROlYsKZMRJPIRy2B1DuQmBq4qD3wQ alice@example.org';
  await alice.post('/settings/keys', { title: 'Laptop', key });
  await web.modules.accounts.addInvite(null);
  invite = (await web.modules.accounts.addInvite(alice.id)).secret;
  const { path } = await web.modules.repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
  await fillRepository(t, path, {
    'README.md': readme,
    'src/main.c': 'int x;',
    'logo.png': logo,
    [`${'long-'.repeat(20)}name.txt`]: 'x',
  });
  const nameless = await web.modules.accounts.addPerson({ password });
  sessions.set(
    'nameless',
    (await web.modules.accounts.startSession(nameless.id, { address: '', userAgent: '' })).secret,
  );
});
t.teardown(() => browser?.close());

const pages: [who: string | null, path: string][] = [
  [null, '/'],
  [null, '/login'],
  [null, '/users/alice'],
  [null, '/repos/alice/kiln'],
  [null, '/repos/alice/none'],
  [null, '/repos/alice/kiln/tree/main/src'],
  [null, '/repos/alice/kiln/blob/main/src/main.c?lines=1'],
  [null, '/repos/alice/kiln/blob/main/README.md'],
  [null, '/repos/alice/kiln/blame/main/src/main.c'],
  [null, '/repos/alice/kiln/commits'],
  [null, '/repos/alice/kiln/compare/main...main'],
  [null, '/repos/alice/kiln/branches'],
  [null, '/repos/alice/kiln/tags'],
  [null, '/repos/alice/kiln/activity'],
  [null, '/repos/alice/kiln/find/main?q=m'],
  [null, '/settings/appearance'],
  ['nameless', '/onboarding'],
  ['bob', '/'],
  ['bob', '/users/bob'],
  ['alice', '/'],
  ['alice', '/?q=nothing'],
  ['alice', '/repos/new'],
  ['alice', '/repos/alice/kiln'],
  ['alice', '/repos/alice/attic'],
  ['alice', '/repos/alice/kiln/settings'],
  ['alice', '/repos/alice/kiln/settings/webhooks'],
  ['alice', '/repos/alice/kiln/settings/mirror'],
  ['alice', '/repos/alice/kiln/activity'],
  ['alice', '/settings/profile?done=profile-saved'],
  ['alice', '/settings/account'],
  ['alice', '/settings/keys'],
  ['alice', '/settings/tokens'],
  ['alice', '/settings/sessions'],
  ['alice', '/settings/appearance'],
  ['alice', '/admin/invites'],
  ['alice', '/repos/alice/none'],
];

/** Runs an expression in the page. As text, because the types of browsers have no place in a server's sources. */
const inPage = <Result>(page: Page, expression: string): Promise<Result> => page.evaluate<Result>(expression);

const isTooWide = (page: Page): Promise<boolean> =>
  inPage(page, 'document.documentElement.scrollWidth > document.documentElement.clientWidth');

const looks = [320, 1280].flatMap((width) =>
  (['light', 'dark'] as const).map((theme): Look => ({ width, theme, scripts: true })),
);

/** Calls back with every page in a tab of a person who may see it. */
async function visitAll(look: Look, inspect: (tab: Page, where: string) => Promise<void>): Promise<void> {
  const tabs = new Map<string | null, Page>();
  for (const [who, path] of [...pages, [null, `/signup?invite=${invite}`] as const]) {
    const tab = tabs.get(who) ?? (await (await open(who, look)).newPage());
    tabs.set(who, tab);
    await tab.goto(web.origin + path);
    await inspect(tab, `${path} as ${who ?? 'nobody'}`);
  }
  for (const tab of tabs.values()) await tab.context().close();
}

t.test(
  'axe finds nothing on any page: once with all rules, then in every look with the rules that looks can break',
  async (t) => {
    await visitAll(looks[0]!, async (tab, where) => {
      for (const look of looks) {
        await tab.setViewportSize({ width: look.width, height: 800 });
        await tab.emulateMedia({ colorScheme: look.theme });
        const runOnly = look === looks[0] ? allRules : presentationRules;
        t.same(await findViolations(tab, runOnly), [], `${where}, ${look.theme}, ${look.width} px`);
        t.notOk(await isTooWide(tab), `${where}, ${look.width} px: nothing sticks out`);
      }
    });
  },
);

t.test('without scripts every page is complete', async (t) => {
  // axe needs timers, so it cannot run here; but the HTML is the same, and the script only reveals what it contains.
  await visitAll({ width: 320, theme: 'light', scripts: false }, async (tab, where) => {
    t.notOk(await isTooWide(tab), `${where}: nothing sticks out`);
    t.equal(await tab.locator('[data-copy]:visible').count(), 0, `${where}: no button that does nothing`);
    t.equal(await tab.locator('h1:visible').count(), 1, `${where}: one heading`);
  });
});

t.test('pages after a refusal, and with menus open, pass as well', async (t) => {
  for (const theme of ['light', 'dark'] as const) {
    const context = await open('alice', { width: 320, theme, scripts: true });
    const page = await context.newPage();
    const check = async (what: string) => {
      t.same(await findViolations(page), [], `${what}, ${theme}`);
      t.notOk(await isTooWide(page), what);
    };
    await page.goto(`${web.origin}/repos/new`);
    await page.fill('#name', 'kiln');
    await page.click('main button[type=submit]');
    // The browser focuses it with the first frame, not with the document.
    const focused = page.waitForFunction(`document.activeElement.classList.contains('refusal')`, null, {
      timeout: 10_000,
    });
    t.ok(await focused.catch(() => null), 'the summary has the focus');
    await check('a refused form');
    await page.goto(`${web.origin}/settings/keys`);
    await page.click('.remove summary');
    await page.click('.menu-button');
    await check('an open menu and a question');
    await page.goto(`${web.origin}/repos/alice/kiln`);
    await page.click('label[for=clone-ssh]');
    await page.click('.clone-help summary');
    await check('an open clone box');
    await page.goto(`${web.origin}/settings/tokens`);
    await page.check('input[name=repos][value=""]');
    await check('a choice of repositories');
    await page.fill('#name', `t-${theme}`);
    await page.check('input[name=repos][value=all]');
    await page.click('main form.panel button[type=submit]');
    await check('a new token');
    await context.close();
  }
});

t.test('the main flow works without scripts', async (t) => {
  const context = await open(null, { width: 1280, theme: 'light', scripts: false });
  const page = await context.newPage();
  await page.goto(`${web.origin}/signup?invite=${invite}`);
  await page.fill('#handle', 'carol');
  await page.fill('#password', password);
  await page.click('main button[type=submit]');
  t.equal(new URL(page.url()).pathname, '/settings/keys');

  await page.click('text=New repository');
  await page.fill('#name', 'site');
  await page.check('input[value=PUBLIC]');
  await page.click('main button[type=submit]');
  t.equal(new URL(page.url()).pathname, '/repos/carol/site');
  t.ok(await page.locator('#fresh-https').isVisible());
  await page.click('label[for=clone-ssh]');
  t.notOk(await page.locator('#fresh-https').isVisible(), 'the choice of transport needs no script');
  t.ok(await page.locator('#fresh-ssh').isVisible());

  await page.click('.menu-button');
  t.ok(await page.locator('#person-menu').isVisible(), 'nor does the menu');
  await page.click('#person-menu >> text=Sign out');
  t.match(page.url(), /\/login\?done=signed-out$/);
  await page.fill('#username', 'carol');
  await page.fill('#password', password);
  await Promise.all([page.waitForURL(`${web.origin}/`), page.keyboard.press('Enter')]);
  t.equal(await page.textContent('h1'), 'Your repositories');
  await context.close();
});

t.test('scripts add convenience: copy buttons, remembered choices, going back', async (t) => {
  const context = await open('alice', { width: 1280, theme: 'light', scripts: true });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: web.origin });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  await page.goto(`${web.origin}/repos/alice/kiln`);
  await page.click('.https .copy');
  t.equal(await inPage(page, 'navigator.clipboard.readText()'), `${web.origin}/git/alice/kiln.git`);
  t.match(await page.textContent('.https .copy'), 'Copied');
  await page.click('label[for=clone-ssh]');
  await page.reload();
  t.ok(await page.isChecked('#clone-ssh'));
  t.same(complaints, [], 'the content security policy has nothing to refuse');
  await context.close();

  const outsider = await open(null, { width: 1280, theme: 'light', scripts: true });
  const lost = await outsider.newPage();
  await lost.goto(`${web.origin}/repos/alice/attic`);
  t.match(await lost.getAttribute('a[data-return]', 'href'), '/login?next=%2Frepos%2Falice%2Fattic');
  await outsider.close();
});

t.test('single-key shortcuts follow links, never while typing, and can be switched off', async (t) => {
  const context = await open('alice', { width: 1280, theme: 'light', scripts: true });
  const page = await context.newPage();
  const at = `${web.origin}/repos/alice/kiln/blob/main/src/main.c`;
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await page.goto(at);
  await press('?');
  t.match(await page.textContent('dialog.shortcuts'), /Permalink[^]*Blame/);
  t.same(await findViolations(page), [], 'the help');
  await press('b');
  t.equal(page.url(), at, 'nothing else happens while it is open');
  await press('Escape');
  await page.locator('dialog').waitFor({ state: 'detached' });
  t.equal(await page.locator('dialog').count(), 0);
  const leads = async (to: string, ...keys: string[]) => {
    await page.goto(at);
    await Promise.all([page.waitForURL(to), press(...keys)]);
    t.equal(page.url(), to, keys.join(' '));
  };
  await leads(`${web.origin}/repos/alice/kiln/blame/main/src/main.c`, 'b');
  await leads(`${web.origin}/repos/alice/kiln/find/main`, 't');
  await leads(`${web.origin}/repos/alice/kiln`, 'g', 'c');
  await leads(`${web.origin}/`, 'g', 'd');
  await page.goto(`${web.origin}/repos/alice/kiln`);
  await press('j', 'j');
  t.ok(await inPage(page, `document.activeElement.matches('a.file')`), 'j moves along the rows');
  await press('s', 'b', 't');
  t.equal(await inPage(page, 'document.activeElement.value'), 'bt', 'what is typed is typed');

  await page.goto(`${web.origin}/settings/appearance`);
  await page.check('input[name=keys][value=off]');
  await page.click('main button[type=submit]');
  await page.goto(at);
  await press('?', 'b', 't', 'y', 'g', 'd', 'j', '/');
  await page.waitForTimeout(100);
  t.same(
    [page.url(), await page.locator('dialog').count(), await inPage(page, 'document.activeElement === document.body')],
    [at, 0, true],
    'no key does anything any more',
  );
  await context.close();
});

t.test('the keyboard reaches every control with a visible focus', async (t) => {
  const context = await open('alice', { width: 1280, theme: 'light', scripts: true });
  const page = await context.newPage();
  await page.goto(`${web.origin}/repos/alice/kiln`);
  await page.keyboard.press('Tab');
  t.equal(await inPage(page, 'document.activeElement.textContent'), 'Skip to content');
  await page.keyboard.press('Enter');
  t.equal(await inPage(page, 'document.activeElement.id'), 'main');
  await page.goto(`${web.origin}/repos/alice/kiln`);
  const seen: string[] = [];
  for (let step = 0; step < 60; step += 1) {
    await page.keyboard.press('Tab');
    // After the last one the browser's own controls follow.
    if (await inPage(page, 'document.activeElement === document.body')) break;
    // A hidden radio button shows its focus ring on its label.
    const at = await inPage<{ name: string; ring: boolean }>(
      page,
      `(() => {
      const element = document.activeElement;
      const { outlineStyle, outlineWidth } = getComputedStyle(element.matches('.segments input') ? element.nextElementSibling : element);
      const name = (element.getAttribute('aria-label') ?? element.textContent).trim() || element.id;
      return { name, ring: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 };
    })()`,
    );
    if (!at.ring) t.fail(`no ring on ${at.name}`);
    seen.push(at.name);
  }
  t.match(
    seen.join(' | '),
    /Skip to content \| Hearth \| Explore \| site-search \| New repository \| Notifications \| Menu of alice [^]*\| Code \| Issues \| Pull requests \| Releases \| Runs \| Activity \| Settings[^]*\| clone-https \| HTTP clone address \| Copy the HTTP address/,
  );
  await context.close();
});

t.test('targets are at least 24 px, or spaced apart', async (t) => {
  const context = await open('alice', { width: 320, theme: 'light', scripts: true });
  const page = await context.newPage();
  for (const path of ['/', '/repos/alice/kiln', '/settings/tokens', '/settings/keys']) {
    await page.goto(web.origin + path);
    const small = await inPage<string[]>(
      page,
      `[...document.querySelectorAll('button, .button, input, select, nav a, summary')].filter((element) => {
      const { height, width } = (element.closest('label') ?? element).getBoundingClientRect();
      const isShown = height > 0 && getComputedStyle(element).opacity !== '0' && !element.matches(':disabled');
      return isShown && (height < 24 || width < 24);
    }).map((element) => element.outerHTML.slice(0, 90))`,
    );
    t.same(small, [], path);
  }
  await context.close();
});

t.test('budgets: weight, requests, other hosts, layout shift', async (t) => {
  for (const [who, path] of [
    [null, '/'],
    ['alice', '/repos/alice/kiln'],
    ['alice', '/settings/tokens'],
  ] as const) {
    const context = await open(who, { width: 1280, theme: 'light', scripts: true });
    const page = await context.newPage();
    await page.addInitScript(`document.addEventListener('readystatechange', () =>
      requestAnimationFrame(() => requestAnimationFrame((now) => (window.wholeAt ??= now))), { once: true })`);
    const load = async () => {
      const responses: { url: string; bytes: number }[] = [];
      const listen = async (response: Response) => {
        responses.push({
          url: response.url(),
          bytes: response.fromServiceWorker() ? 0 : gzipSync(await response.body()).length,
        });
      };
      page.on('response', listen);
      await page.goto(web.origin + path, { waitUntil: 'networkidle' });
      page.off('response', listen);
      return responses;
    };
    const first = await load();
    const weight = first.reduce((sum, { bytes }) => sum + bytes, 0);
    t.ok(weight < 60_000, `${path}: ${weight} bytes at first sight`);
    t.ok(first.length <= 6, `${path}: ${first.length} requests`);
    t.same(
      first.filter(({ url }) => !url.startsWith(web.origin)),
      [],
      'nobody else is asked',
    );
    const html = first.find(({ url }) => url === web.origin + path)?.bytes ?? Infinity;
    t.ok(html < 20_000, `${path}: ${html} bytes at the next sight`);
    // Less than 0.0005 is a part of a pixel: Chromium counts it where an icon arrives late. A busy machine
    // paints the row of a head before the parser has its end; what moves later is the page's fault.
    const shifts = await inPage<string[]>(
      page,
      `new Promise((resolve) => {
      const found = [];
      new PerformanceObserver((list) => list.getEntries().forEach(({ value, startTime, sources }) => value > 0.0005 && startTime > window.wholeAt && found.push(value + sources.map(({ node }) => ' ' + (node?.outerHTML ?? node?.textContent ?? '').slice(0, 200))))).observe({ type: 'layout-shift', buffered: true });
      setTimeout(() => resolve(found), 50);
    })`,
    );
    t.same(shifts, [], `${path}: nothing moves`);
    await context.close();
  }
  const href = /href="(\/assets\/[^"]*style\.css)"/.exec(
    await fetch(`${web.origin}/login`).then((response) => response.text()),
  )![1]!;
  const stylesheet = await fetch(web.origin + href).then((response) => response.text());
  // At the level of src/http/assets.ts.
  const styleBytes = gzipSync(stylesheet, { level: 9 }).length;
  t.ok(styleBytes <= 10_000, `web-ui §6 stylesheet: ${styleBytes} bytes`);
  const script = readFileSync(new URL('../../templates/assets/app.js', import.meta.url));
  t.ok(gzipSync(script).length <= 10_000, `web-ui §7 script: ${gzipSync(script).length} bytes`);
});

t.test('security C04 the policy works in a browser: inline script, style and foreign images are blocked', async (t) => {
  const context = await open(null, { width: 1280, theme: 'light', scripts: true });
  const page = await context.newPage();
  await page.goto(`${web.origin}/login`);
  const refused = await inPage<{ violations: string[]; hacked: boolean }>(
    page,
    `(async () => {
    const violations = [];
    document.addEventListener('securitypolicyviolation', (event) => violations.push(event.effectiveDirective));
    const add = (name, fields) => document.body.append(Object.assign(document.createElement(name), fields));
    add('script', { textContent: 'window.hacked = true' });
    document.body.setAttribute('style', 'color: red');
    add('img', { src: 'https://img.example.org/x.png' });
    add('iframe', { src: '/' });
    await fetch('https://example.org').catch(() => {});
    for (let turn = 0; turn < 200 && new Set(violations).size < 5; turn += 1)
      await new Promise((resolve) => setTimeout(resolve, 50));
    return { violations, hacked: 'hacked' in window };
  })()`,
  );
  t.same(refused.hacked, false);
  for (const directive of ['connect-src', 'frame-src', 'img-src', 'script-src-elem', 'style-src-attr'])
    t.ok(refused.violations.includes(directive), directive);
  await context.close();
});

t.test('on plain http a real browser sends what the cross-site check needs', async (t) => {
  // Not localhost: only there, and on https, do browsers send Sec-Fetch-Site.
  const lan = await launchBrowser(['--host-resolver-rules=MAP *.home.arpa 127.0.0.1']);
  t.teardown(() => lan.close());
  const page = await lan.newPage();
  await page.goto(`http://forge.home.arpa:${web.port}/login`);
  await page.fill('#username', 'alice');
  await page.fill('#password', password);
  await page.click('main button[type=submit]');
  t.equal(await page.textContent('h1'), 'Your repositories', 'our own form passes by its Origin');

  await page.route('http://evil.example.org/**', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<form method="post" action="http://forge.home.arpa:${web.port}/repos"><input name="name" value="forged"><button>x</button></form>`,
    }),
  );
  await page.goto('http://evil.example.org/');
  await page.click('button');
  t.match(await page.textContent('main'), /This form was sent from http:\/\/evil\.example\.org/);
  t.equal(web.log.filter(({ level }) => level === 'error').length, 0);
});
