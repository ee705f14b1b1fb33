// Pages about mail and the mails themselves as a person sees them: Chromium, light and dark, wide and narrow.
// time limit: 200 s
import t from 'tap';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { launchBrowser } from '../fixtures/browser.ts';
import type { Browser, Page } from 'playwright-core';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { startMailServer } from '../fixtures/mail-server.ts';
import type { MailServer } from '../fixtures/mail-server.ts';
import { validateHtml } from '../fixtures/validate-html.ts';
import { password, startWeb, visitor } from '../fixtures/web-fixture.ts';
import type { Web } from '../fixtures/web-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(180_000);

/** Folder for screenshots; none are made without it. */
const pictures = process.env['HEARTH_PICTURES'];
const looks = [360, 1280].flatMap((width) => (['light', 'dark'] as const).map((theme) => ({ width, theme })));
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';

interface Assertions {
  same(found: unknown, wanted: unknown, message: string): unknown;
  notOk(found: unknown, message: string): unknown;
}

let browser: Browser;
let server: MailServer;
let web: Web;
let session: string;

async function administratorOf(site: Web): Promise<string> {
  await site.modules.accounts.addPerson({ username: 'alice', password, isAdministrator: true });
  const person = visitor(site);
  await person.post('/login', { username: 'alice', password });
  return person.cookies.get('hearth_session')!;
}

async function tabOf(site: Web, cookie: string): Promise<Page> {
  // Scripts of pages stay off: what axe runs is put in from outside.
  const context = await browser.newContext({ bypassCSP: true, reducedMotion: 'reduce' });
  await context.addCookies([{ name: 'hearth_session', value: cookie, url: site.origin }]);
  return context.newPage();
}

async function inAllLooks(t: Assertions, tab: Page, name: string): Promise<void> {
  for (const { width, theme } of looks) {
    await tab.setViewportSize({ width, height: 800 });
    await tab.emulateMedia({ colorScheme: theme });
    const what = `${name}, ${theme}, ${width} px`;
    t.same(await findViolations(tab, width === 360 && theme === 'light' ? allRules : presentationRules), [], what);
    const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
    t.notOk(await tab.evaluate<boolean>(isTooWide), `${what}: nothing sticks out`);
    if (pictures !== undefined)
      await tab.screenshot({ path: path.join(pictures, `${name}-${theme}-${width}.png`), fullPage: true });
  }
}

t.before(async () => {
  browser = await launchBrowser();
  server = await startMailServer(t, { tls: 'starttls', user: 'hearth@example.org' });
  const { SERVICE_HTTP_LISTEN: _listen, ...env } = server.env;
  web = await startWeb(t, { env });
  session = await administratorOf(web);
});
t.teardown(() => browser?.close());

t.test('pages of administrators, with and without mail', async (t) => {
  const { mail, db, accounts } = web.modules;
  mail.define<{ to: string; subject: string }>('sample', async ({ to, subject }) => ({
    to,
    subject,
    text: 'x',
    html: 'x',
  }));
  const long =
    'An unusually long subject of an issue that somebody has written without thinking of narrow screens at all';
  for (const [to, subject] of [
    ['nobody@example.org', '[alice/site] The gutter overflows (#7)'],
    ['bob@example.org', long],
    ['carol@example.org', 'New sign-in to your account on git.example.org'],
  ])
    await db.write((tx) => mail.enqueue(tx, { kind: 'sample', data: { to, subject } }));
  await mail.drain();
  await db.write((tx) => mail.enqueue(tx, { kind: 'sample', data: { to: 'd@example.org', subject: 'Later' } }));
  const alice = (await accounts.personByUsername('alice'))!;
  await accounts.addresses.add(alice.id, { address: 'alice@example.org', isVerified: true });

  const tab = await tabOf(web, session);
  for (const [name, address] of [
    ['mail-queued', '/admin/mail'],
    ['mail-failed', '/admin/mail?state=failed'],
    ['mail-sent', '/admin/mail?state=sent'],
    ['notices', '/settings/notices'],
  ] as const) {
    await tab.goto(web.origin + address);
    await inAllLooks(t, tab, name);
    t.same(validateHtml(await (await tab.request.get(web.origin + address)).text()), [], `${name} is valid HTML`);
  }
  const off = await startWeb(t);
  const tabWithout = await tabOf(off, await administratorOf(off));
  await tabWithout.goto(`${off.origin}/admin/mail`);
  await inAllLooks(t, tabWithout, 'mail-off');
});

t.test('a test message is sent and a refusal shown, by hand and without a script', async (t) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  await context.addCookies([{ name: 'hearth_session', value: session, url: web.origin }]);
  const tab = await context.newPage();
  await tab.goto(`${web.origin}/admin/mail`);
  await tab.getByLabel('To').fill('nobody@example.org');
  await tab.getByRole('button', { name: 'Send a test message' }).click();
  t.match(await tab.getByRole('alert').textContent(), /User unknown/);
  t.equal(await tab.getByLabel('To').inputValue(), 'nobody@example.org');
  await tab.getByLabel('To').fill('alice@example.org');
  await tab.getByRole('button', { name: 'Send a test message' }).click();
  t.match(await tab.getByRole('status').textContent(), /accepted the test message/);
  await context.close();
});

t.test('every mail as HTML, in light and dark, and as text', async (t) => {
  const { accounts, mail, db } = web.modules;
  server.mails.length = 0;
  const alice = (await accounts.personByUsername('alice'))!;
  await accounts.signIn({ username: 'alice', password, address: '198.51.100.7', userAgent: firefox });
  await accounts.addToken(alice.id, { name: '<b>ci</b>', access: 'write', repositoryIds: null, expiresAt: null });
  await accounts.setPassword(alice.id, password);
  await db.write(async (tx) => {
    const fingerprint = 'SHA256:0123456789abcdefghijklmnopqrstuvwxyzABCDEFG';
    const key = { kind: 'ssh_key_added' as const, title: 'alice@laptop', fingerprint, uses: 'both' as const };
    await accounts.announceSecurityEvent(tx, alice.id, key);
    await accounts.announceSecurityEvent(tx, alice.id, { kind: 'gpg_key_added', fingerprint: 'AB12'.repeat(10) });
  });
  const other = await accounts.addresses.add(alice.id, { address: 'other@example.org', isVerified: true });
  await accounts.addresses.setPrimary(alice.id, other.id);
  await mail.drain();
  await mail.sendTest('alice@example.org');
  // Those that the server itself was sending when the queue was drained.
  await waitUntil(() => server.mails.length >= 7);
  t.ok(server.mails.length >= 7, `${server.mails.length} mails`);
  const context = await browser.newContext({ bypassCSP: true, reducedMotion: 'reduce' });
  const tab = await context.newPage();
  const asked: string[] = [];
  tab.on('request', (request) => asked.push(request.url()));
  for (const [number, { html, text, headers }] of server.mails.entries()) {
    const subject = new Map(headers).get('subject')!;
    await tab.setContent(html);
    await inAllLooks(t, tab, `mail-${number}`);
    t.match(text, subject.includes('Test message') ? 'Mail works' : subject, 'the text begins with the same title');
    t.notMatch(text, /<\/?(p|a|table|div)\b/);
    const links = await tab.evaluate<string[]>('[...document.links].map((link) => link.href)');
    for (const link of links) t.ok(text.includes(link), `the text has the link ${link}`);
    if (pictures !== undefined) await writeFile(path.join(pictures, `mail-${number}.txt`), `${subject}\n\n${text}`);
  }
  t.same(asked, [], 'nothing is loaded from anywhere');
});
