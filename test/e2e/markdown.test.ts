// A README in Chromium: what it shows passes axe in both themes and at both widths, asks no other host, and an SVG of
// another host runs no script, also when it is opened by itself.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { launchBrowser } from '../fixtures/browser.ts';
import type { Browser } from 'playwright-core';
import { presentationRules, findViolations } from '../fixtures/axe.ts';
import { sendRequest, fillRepository, signedIn, startWeb } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';

t.setTimeout(180_000);

let browser: Browser;
let web: Web;
let host = '';
/** Requests that reached the other host: where each came from, as its headers say. */
const requestedUrls: string[] = [];

const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"><title>before</title>
<rect width="90" height="20" fill="#4c1"/><script>document.title = 'after'; fetch('/stolen');</script>
<foreignObject width="9" height="9"><body xmlns="http://www.w3.org/1999/xhtml" onload="document.title='after'"></body></foreignObject></svg>`;

const readme = (): string => `# Roof :tada:

![build](http://${host}/build.svg) [![linked](http://${host}/linked.svg)](https://example.org)

See #1, @alice and alice/roof#1.

- [x] done
- [ ] to do with $x^2$
  - [ ] below

Inline $\\frac{a}{b}$.

$$
\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix} \\cdot \\int_0^\\infty e^{-x^2}\\,dx
$$

\`\`\`ts
// A comment.
export const answer: number = 42;
\`\`\`

\`\`\`mermaid
graph TD
\`\`\`

| a | b |
|---|--:|
| $x$ | \`y\` |
`;

t.before(async () => {
  const server = createServer((request, response) => {
    requestedUrls.push(`${request.url} ${request.headers['user-agent']} ${request.headers.cookie ?? ''}`);
    response.writeHead(200, { 'Content-Type': 'image/svg+xml' }).end(svg);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  web = await startWeb(t, { env: { SERVICE_REPOSITORIES_REMOTE_IMAGE_HOSTS: host } });
  const { id } = await signedIn(web, 'alice');
  const alice = {
    kind: 'person' as const,
    id,
    username: 'alice',
    isAdministrator: false,
    via: 'session' as const,
    scope: 'admin' as const,
    repositoryIds: null,
  };
  await web.modules.repositories.create(alice, { name: 'roof', visibility: 'PUBLIC' });
  await web.modules.issues.open(alice, { owner: 'alice', name: 'roof' }, { title: 'It leaks' });
  const { path } = await web.modules.repositories.find(alice, 'alice', 'roof');
  await fillRepository(t, path, { 'README.md': readme() });
  // On a busy machine a first view may have found no thread up.
  for (let view = 0; view < 20; view += 1) {
    const { body } = await sendRequest(web, '/repos/alice/roof/blob/main/README.md');
    if (body.includes('x-keyword') && body.includes('<msup>')) break;
  }
  browser = await launchBrowser();
  t.teardown(() => browser.close());
});

t.test('a README shows code, formulas, badges and links, in both themes and at both widths', async (t) => {
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
    ['dark', 360],
  ] as const) {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
    const page = await context.newPage();
    const requests: string[] = [];
    const complaints: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    await page.goto(`${web.origin}/repos/alice/roof/blob/main/README.md`, { waitUntil: 'networkidle' });
    const look = `${colorScheme} ${width}`;
    t.strictSame(
      await findViolations(page, colorScheme === 'light' && width === 1280 ? undefined : presentationRules),
      [],
      look,
    );
    t.strictSame(complaints, [], `${look}: the Content-Security-Policy has nothing to refuse`);
    t.ok(
      requests.every((url) => url.startsWith(`${web.origin}/`)),
      `${look}: no other host is asked`,
    );
    const widths = await page.$$eval('.prose img', (images) =>
      images.map((image) => (image as never as { naturalWidth: number }).naturalWidth),
    );
    t.strictSame(widths, [90, 90], `${look}: the badges are there`);
    t.ok(
      await page.$eval('math[display="block"]', (math) => {
        const box = (
          math as never as { getBoundingClientRect(): { height: number; width: number } }
        ).getBoundingClientRect();
        return box.height > 20 && box.width > 60;
      }),
      `${look}: a formula has a size`,
    );
    t.equal(
      await page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth'),
      true,
      `${look}: it fits`,
    );
    await context.close();
  }
  t.ok(requestedUrls.length >= 2);
  t.ok(
    requestedUrls.every((line) => /^\/(?:build|linked)\.svg Hearth\/[\d.]+(?: \(\+http\S+\))? $/.test(line)),
    'the other host learns nothing of the reader',
  );
});

t.test('an SVG that is opened by itself runs no script', async (t) => {
  const page = await browser.newPage();
  await page.goto(`${web.origin}/repos/alice/roof`);
  const address = await page.$eval('.prose img', (image) => (image as never as { src: string }).src);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(new URL(request.url()).pathname));
  const response = await page.goto(address);
  await page.waitForTimeout(500);
  t.equal(response?.headers()['content-type'], 'image/svg+xml');
  t.notOk(requests.includes('/stolen'));
  t.not(await page.title(), 'after');
  await page.close();
});
