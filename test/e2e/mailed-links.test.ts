// time limit: 240 s
// An address, a new password and an invitation, by mails of a real SMTP server, in Chromium with scripts off; and axe
// on their pages in light and dark, wide and narrow. Screenshots and mails: SHOTS=folder.
import t from 'tap';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { launchBrowser, mainText } from '../fixtures/browser.ts';
import type { Browser, Page } from 'playwright-core';
import { allRules, findViolations } from '../fixtures/axe.ts';
import { headerOf, startMailServer } from '../fixtures/mail-server.ts';
import type { MailServer, ReceivedMail } from '../fixtures/mail-server.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth } from '../fixtures/start-hearth.ts';

t.setTimeout(200_000);

const { SHOTS } = process.env;
let hearth: Hearth;
let mails: MailServer;
let browser: Browser;

t.before(async () => {
  mails = await startMailServer(t);
  hearth = await startHearth(t, { env: mails.env });
  browser = await launchBrowser();
});
t.teardown(() => browser.close());

const newPage = async (): Promise<Page> =>
  (await browser.newContext({ javaScriptEnabled: false, baseURL: hearth.url })).newPage();

/** The link of a mail, the same in both parts; nothing else is loaded from anywhere. */
function linkOf(mail: ReceivedMail, name: string): string {
  if (SHOTS) {
    writeFileSync(path.join(SHOTS, `${name}.txt`), mail.text);
    writeFileSync(path.join(SHOTS, `${name}.html`), mail.html);
  }
  const [link = ''] = /https?:\S+token=\S+|https?:\S+invite=\S+/.exec(mail.text) ?? [];
  t.ok(link.startsWith(hearth.url), `${name}: ${link}`);
  t.ok(mail.html.includes(`href="${link}"`));
  t.notMatch(mail.html, /<img|src=|<script/);
  return link;
}

/** The next mail about this; notices about the account come between. */
async function nextMail(to: string, subject: RegExp): Promise<ReceivedMail> {
  for (;;) {
    const mail = await mails.next(to);
    if (subject.test(headerOf(mail, 'subject') ?? '')) return mail;
  }
}

async function signIn(page: Page, username: string, password: string): Promise<void> {
  await page.goto('/login');
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

t.test('an address is verified by the link of a mail', async (t) => {
  const alice = await hearth.addPerson('alice');
  const page = await newPage();
  await signIn(page, 'alice', alice.password);
  await page.goto('/settings/emails');
  await page.getByLabel('Email address').fill('Alice@example.org');
  await page.getByRole('button', { name: 'Add address' }).click();
  t.match(await mainText(page), /that was sent to it[^]*Not verified/);
  const mail = await mails.next('Alice@example.org');
  t.match(headerOf(mail, 'subject'), /^Confirm your email address for /);
  const link = linkOf(mail, 'mail-verify');
  await page.goto(link);
  await page.getByRole('button', { name: 'Confirm address' }).click();
  t.match(await mainText(page), /The address has been verified[^]*Primary/);
  await page.goto(link);
  t.match(await mainText(page), /This link does not work/);
});

t.test('a forgotten password is replaced by the link of a mail, which ends the session', async (t) => {
  const alice = await hearth.modules.accounts.personByUsername('alice');
  await hearth.modules.accounts.setPassword(alice.id, 'forgotten password');
  const signedIn = await newPage();
  await signIn(signedIn, 'alice@example.org', 'forgotten password');
  t.match(signedIn.url(), /\/$/, 'signed in with the address');
  const page = await newPage();
  await page.goto('/login');
  await page.getByRole('link', { name: 'Forgot password?' }).click();
  await page.getByLabel('Email address').fill('alice@example.org');
  await page.getByRole('button', { name: 'Send link' }).click();
  t.match(await mainText(page), /Check your mail/);
  await page.goto(linkOf(await nextMail('Alice@example.org', /^A new password for your account/), 'mail-reset'));
  await page.getByLabel('New password').fill('a password to remember');
  await page.getByRole('button', { name: 'Set password' }).click();
  t.match(await mainText(page), /all sessions have ended/);
  await signedIn.goto('/settings/emails');
  t.match(signedIn.url(), /\/login/, 'the other browser is signed out');
  await signIn(page, 'alice', 'a password to remember');
  await page.goto('/settings/emails');
  t.match(await mainText(page), /Alice@example\.org/);
});

t.test('an invitation by mail is accepted, and its address is verified', async (t) => {
  const { accounts } = hearth.modules;
  const root = await accounts.addPerson({
    username: 'root-person',
    password: 'a long root password',
    isAdministrator: true,
  });
  await accounts.updateProfile(root.id, { displayName: 'Root "Bcc: x@example.org" <b>' });
  const page = await newPage();
  await signIn(page, 'root-person', 'a long root password');
  await page.goto('/admin/invites');
  await page.getByLabel('Email address').fill('carol@example.org');
  await page.getByRole('button', { name: 'Create invite' }).click();
  t.match(await mainText(page), /on its way to carol@example\.org/);
  const mail = await mails.next('carol@example.org');
  t.same(mail.to, ['carol@example.org']);
  t.same(
    mail.headers.filter(([name]) => name === 'bcc' || name === 'cc'),
    [],
  );
  const carol = await newPage();
  await carol.goto(linkOf(mail, 'mail-invite'));
  await carol.getByLabel('Username').fill('carol');
  await carol.getByLabel('Password').fill('a long carol password');
  await carol.getByRole('button', { name: 'Create my account' }).click();
  await carol.goto('/settings/emails');
  t.match(await mainText(carol), /carol@example\.org[^]*Primary/);
});

t.test('axe finds nothing on their pages, in light and dark, wide and narrow', async (t) => {
  const { accounts } = hearth.modules;
  const alice = await accounts.personByUsername('alice');
  const root = await accounts.personByUsername('root-person');
  await accounts.addresses.add(alice.id, { address: 'alice.with.a.rather.long.name@mail.department.example.org' });
  const { secret: verification } = await mailedSecret('alice.with.a.rather.long.name@mail.department.example.org');
  const { secret: reset } = await accounts.makeResetLink(alice.id);
  await accounts.addInvite(root.id, { address: 'dave@example.org' });
  const address = { address: '127.0.0.1', userAgent: 'test' };
  const [ofAlice, ofRoot] = [
    await accounts.startSession(alice.id, address),
    await accounts.startSession(root.id, address),
  ];
  const pages: [name: string, path: string, session: string | null][] = [
    ['emails', '/settings/emails', ofAlice.secret],
    ['verify', `/settings/emails/verify?token=${verification}`, ofAlice.secret],
    ['closed', '/settings/emails/verify?token=x', ofAlice.secret],
    ['login', '/login', null],
    ['forgot', '/login/forgot', null],
    ['reset', `/login/reset?token=${reset}`, null],
    ['reset-closed', '/login/reset', null],
    ['invites', '/admin/invites', ofRoot.secret],
    ['people', '/admin/people', ofRoot.secret],
    ['person', `/admin/people/${alice.id}/emails`, ofRoot.secret],
  ];
  for (const width of [1280, 360]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const [name, at, session] of pages) {
        const context = await browser.newContext({
          viewport: { width, height: 900 },
          colorScheme,
          reducedMotion: 'reduce',
        });
        if (session) await context.addCookies([{ name: 'hearth_session', value: session, url: hearth.url }]);
        const page = await context.newPage();
        await page.goto(`${hearth.url}${at}`);
        t.same(await findViolations(page, allRules), [], `${name} ${width} ${colorScheme}`);
        const wide = await page.evaluate(
          () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
        );
        t.notOk(wide, `${name} fits ${width}`);
        if (SHOTS)
          await page.screenshot({ path: path.join(SHOTS, `${name}-${width}-${colorScheme}.png`), fullPage: true });
        await context.close();
      }
    }
  }
});

/** The secret of the link in the newest mail to an address. */
async function mailedSecret(to: string): Promise<{ secret: string }> {
  const { text } = await mails.next(to);
  return { secret: /token=(\S+)/.exec(text)?.[1] ?? '' };
}
