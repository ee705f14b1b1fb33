// time limit: 120 s
// Fences called `mermaid` in Chromium: drawn in frames that have no origin and reach nothing, whatever they hold; the
// source where nothing can be drawn and without scripts. Screenshots: SHOTS=folder.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { allRules, findViolations } from '../fixtures/axe.ts';
import { launchBrowser } from '../fixtures/browser.ts';
import { localAdministrator } from '../../src/access/index.ts';
import { fillRepository, signedIn, startWeb, visitor } from '../fixtures/web-fixture.ts';

t.setTimeout(110_000);

const { SHOTS } = process.env;
const policy = 'content-security-policy';
const fence = (source: string): string => `\`\`\`mermaid\n${source}\n\`\`\`\n\n`;

const drawn: Readonly<Record<string, string>> = {
  flow: 'flowchart LR\n  A[Push] --> B{Rules}\n  B -->|hold| C[Branch]\n  B -->|refuse| D[Message]',
  sequence: 'sequenceDiagram\n  alice->>hearth: push\n  hearth-->>alice: accepted',
  states: 'stateDiagram-v2\n  [*] --> Open\n  Open --> Merged\n  Merged --> [*]',
  classes: 'classDiagram\n  Issue <|-- Pull\n  Issue : +int number',
  entities: 'erDiagram\n  OWNER ||--o{ REPOSITORY : has',
  chart: 'pie title Parts\n  "code" : 60\n  "tests" : 40',
};

/** What would leave a mark in the page, or on the way to another host, if anything of it ran. */
const hostile = (host: string): string[] => [
  'flowchart LR\n  A["<img src=x onerror=\'parent.postMessage({height:7777},`*`)\'>"] --> B',
  'flowchart LR\n  A["<script>document.title=`pwned`</script>"] --> B',
  '%%{init: {"securityLevel": "loose", "htmlLabels": true}}%%\nflowchart LR\n  A["<b onmouseover=alert(1)>x</b>"] --> B',
  `flowchart LR\n  A --> B\n  click A "javascript:parent.document.title=1"\n  click B href "http://${host}/"`,
  `%%{init: {"themeCSS": "@import url(http://${host}/a.css); *{background:url(//${host}/b)}"}}%%\n` +
    'flowchart LR\n  A --> B',
  `flowchart LR\n  A@{ img: "http://${host}/c.png", label: "d" } --> B`,
  'flowchart LR\n  A["</style><style>*{display:none}</style>"] --> B',
];

/** What is no diagram, and one beyond the limit of Mermaid. */
const undrawable: readonly string[] = ['', 'no diagram at all', `flowchart LR\n${'  A --> B\n'.repeat(10_000)}`];

const frames = (page: Page) => page.locator('.diagram > iframe[style*="block"]');
const waiting = (page: Page) => page.locator('.diagram > iframe[style*="hidden"]');

t.test('diagrams are drawn in frames that reach nothing', async (t) => {
  const reached: string[] = [];
  const away = createServer((request, response) => {
    reached.push(String(request.url));
    response.end();
  });
  await new Promise<void>((resolve) => away.listen(0, '127.0.0.1', resolve));
  t.teardown(() => away.close());
  const host = `127.0.0.1:${(away.address() as AddressInfo).port}`;
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  const files = {
    'README.md': `# Roof\n\n${Object.entries(drawn)
      .map(([name, source]) => `## ${name}\n\n${fence(source)}`)
      .join('')}`,
    'hostile.md': `# Other\n\n${hostile(host).map(fence).join('')}`,
    'undrawable.md': `# Other\n\n${undrawable.map(fence).join('')}`,
    'many.md': fence('flowchart LR\n  A --> B').repeat(25),
    'plain.md': '# Plain\n\n`<code class="language-mermaid">`\n\n```sh\n<code class="language-mermaid">\n```\n',
    'source.adoc': '= Roof\n\n[source,mermaid]\n----\nflowchart LR\n  A --> B\n----\n',
  };
  for (const [name, visibility] of [
    ['roof', 'PUBLIC'],
    ['cellar', 'PRIVATE'],
  ] as const) {
    await alice.post('/repos', { name, visibility });
    await fillRepository(t, (await web.modules.repositories.find(localAdministrator, 'alice', name)).path, files);
  }
  const at = (file: string, name = 'roof') => `${web.origin}/repos/alice/${name}/blob/main/${file}`;

  // The policies.
  const anonymous = visitor(web);
  for (const attempt of ['made', 'kept'])
    for (const who of [anonymous, alice]) {
      t.match((await who.get('/repos/alice/roof')).headers[policy], /; frame-src 'self'$/, attempt);
      t.notMatch((await who.get('/repos/alice/roof/blob/main/plain.md')).headers[policy], /frame-src/, attempt);
    }
  const frame = await anonymous.get('/assets/mermaid');
  t.equal(
    frame.headers[policy],
    `default-src 'none'; script-src ${web.origin}; style-src 'unsafe-inline'; frame-ancestors ${web.origin}`,
  );
  t.equal((await alice.get('/assets/mermaid')).body, frame.body, 'the same for everyone');
  t.equal(frame.headers['set-cookie'], undefined);

  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const open = async (options: Parameters<typeof browser.newContext>[0]) => {
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
    await context.addCookies([
      { name: 'hearth_session', value: alice.cookies.get('hearth_session')!, url: web.origin },
    ]);
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.on('dialog', (dialog) => t.fail(dialog.message()));
    return page;
  };

  for (const [width, colorScheme] of [
    [1280, 'light'],
    [1280, 'dark'],
    [360, 'light'],
    [360, 'dark'],
  ] as const) {
    const page = await open({ viewport: { width, height: 2400 }, colorScheme });
    await page.goto(`${web.origin}/repos/alice/cellar`);
    await frames(page)
      .nth(Object.keys(drawn).length - 1)
      .waitFor();
    for (const each of await frames(page).all()) {
      t.equal(await each.getAttribute('sandbox'), 'allow-scripts');
      t.ok((await each.boundingBox())!.height > 20);
    }
    t.strictSame(await findViolations(page, allRules), []);
    t.equal(await page.evaluate('document.documentElement.scrollWidth'), width);
    if (SHOTS)
      await page.screenshot({ path: path.join(SHOTS, `diagrams-${width}-${colorScheme}.png`), fullPage: true });
    if (width === 1280 && colorScheme === 'light') {
      const inside = page.frames()[1]!;
      t.equal(await inside.evaluate('origin'), 'null');
      for (const forbidden of ['document.cookie', 'localStorage', 'parent.document', `new XMLHttpRequest().send()`])
        await t.rejects(inside.evaluate(forbidden), forbidden);
      await t.rejects(inside.evaluate(`fetch('${web.origin}/')`));
      await page.locator('.diagram summary').first().click();
      t.match(await page.locator('.diagram pre').first().innerText(), /A\[Push\]/);
    }
    await page.context().close();
  }

  const page = await open({ viewport: { width: 1280, height: 6000 } });
  await page.goto(at('source.adoc'));
  await frames(page).waitFor();
  await page.goto(at('hostile.md'));
  // Each is drawn without what it wanted, or stays source.
  await waiting(page).first().waitFor({ state: 'detached' });
  t.match(await page.title(), /hostile\.md/);
  for (const each of page.frames().slice(1)) {
    const found = await each.evaluate(
      `document.querySelectorAll('script:not([src]), [onerror], [onmouseover], a[href^=java]').length`,
    );
    t.equal(found, 0);
  }
  for (const each of await frames(page).all()) t.ok((await each.boundingBox())!.height < 7777);
  // A link in a diagram leads nowhere from there.
  let links = 0;
  for (const each of page.frames().slice(1)) {
    for (const link of await each.locator('svg a').all()) {
      await link.click();
      links += 1;
    }
  }
  t.ok(links > 0, `${links} links`);
  await page.waitForTimeout(500);
  t.strictSame(reached, []);

  await page.goto(at('undrawable.md'));
  await page.locator('.diagram').first().waitFor({ state: 'detached' });
  t.equal(
    await page.locator('pre > code.language-mermaid').count(),
    undrawable.length,
    'what cannot be drawn is source',
  );

  await page.goto(at('many.md'));
  await page.locator('.diagram > iframe').nth(19).waitFor({ state: 'attached' });
  t.equal(await page.locator('.diagram > iframe').count(), 20);
  t.equal(await page.locator('pre > code.language-mermaid').count(), 25);

  const plain = await open({ javaScriptEnabled: false });
  await plain.goto(`${web.origin}/repos/alice/cellar`);
  t.equal(await plain.locator('pre > code.language-mermaid').count(), Object.keys(drawn).length);
  t.equal(await plain.locator('iframe').count(), 0);
});
