// time limit: 400 s
// Sign-in at a real provider and the page "Confirm it is you" in Chromium with scripts off, and with a passkey; axe in
// light and dark, wide and narrow. Screenshots: SHOTS=folder.
import t from 'tap';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchBrowser, mainText } from '../fixtures/browser.ts';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startProvider } from '../fixtures/openid-provider.ts';
import type { TestProvider } from '../fixtures/openid-provider.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth } from '../fixtures/start-hearth.ts';

t.setTimeout(380_000);

type Tap = typeof t;
const { SHOTS } = process.env;
const clock = fixedClock(Date.now());
let hearth: Hearth;
let provider: TestProvider;
let browser: Browser;
let origin = '';

t.before(async () => {
  const port = await freePort();
  // Browsers have passkeys on localhost without https, but not at 127.0.0.1.
  origin = `http://localhost:${port}`;
  provider = await startProvider(t);
  const groups = [{ group: 'developers', organisation: 'forge', role: 'MEMBER' }];
  hearth = await startHearth(t, {
    clock,
    env: {
      SERVICE_HTTP_LISTEN: `127.0.0.1:${port}`,
      SERVICE_BASE_URL: origin,
      ...provider.settings({ sign_up: true, groups }),
    },
  });
  await provider.serve(origin);
  provider.accounts.set('s-dora', { preferred_username: 'dora', name: 'Dora Lind', groups: ['developers'] });
  provider.accounts.set('s-alice', { preferred_username: 'alice', name: 'Alice Arden' });
  browser = await launchBrowser();
});
t.teardown(() => browser.close());

const newContext = (scripts: boolean): Promise<BrowserContext> =>
  browser.newContext({
    javaScriptEnabled: scripts,
    bypassCSP: scripts,
    baseURL: origin,
    viewport: { width: 1280, height: 900 },
  });

/** axe in the looks that differ most, of a copy of the page, because axe is a script. */
async function look(t: Pick<Tap, 'ok' | 'same'>, page: Page, name: string): Promise<void> {
  const html = (await page.content()).replace(/<meta http-equiv="refresh"[^>]*>/, '');
  const looks = [
    { colorScheme: 'light', width: 1280, rules: allRules },
    { colorScheme: 'dark', width: 360, rules: presentationRules },
  ] as const;
  for (const { colorScheme, width, rules } of looks) {
    const context = await browser.newContext({ baseURL: origin, viewport: { width, height: 900 }, colorScheme });
    const copy = await context.newPage();
    await copy.goto('/api/v1');
    await copy.setContent(html, { waitUntil: 'load' });
    t.same(await findViolations(copy, rules), [], `${name} ${colorScheme} ${width}`);
    const scroll = await copy.evaluate<number>('document.documentElement.scrollWidth');
    t.ok(scroll <= width, `${name}: ${scroll} px wide of ${width}`);
    if (SHOTS) await copy.screenshot({ path: path.join(SHOTS, `${name}-${colorScheme}-${width}.png`), fullPage: true });
    await context.close();
  }
}

async function signInWithPassword(page: Page, username: string, password: string): Promise<void> {
  await page.goto('/login?next=/explore/repos');
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

t.test('a new person signs in with the provider, chooses a username, and signs out, with scripts off', async (t) => {
  await hearth.addPerson('dora');
  const page = await (await newContext(false)).newPage();
  await page.goto('/login?next=/explore/repos');
  await look(t, page, 'login');
  provider.signedIn = null;
  await page.getByRole('link', { name: 'Sign in with Company' }).click();
  t.match(await mainText(page), /You did not complete the sign-in at Company/);
  await look(t, page, 'declined');
  provider.signedIn = 's-dora';
  await page.goto('/login?next=/explore/repos');
  await page.getByRole('link', { name: 'Sign in with Company' }).click();
  t.match(await mainText(page), /The name dora belongs to another account/);
  await page.getByLabel('Username').fill('dora');
  await page.getByRole('button', { name: 'Create my account' }).click();
  t.equal(await page.getByLabel('Username').inputValue(), 'dora');
  await look(t, page, 'choose-a-username');
  await page.getByLabel('Username').fill('dora-lind');
  await page.getByRole('button', { name: 'Create my account' }).click();
  t.match(page.url(), /\/explore\/repos$/);

  await page.goto('/settings/account');
  t.match(await mainText(page), /do not have a password/);
  await look(t, page, 'account-without-password');
  await page.goto('/settings/linked-accounts');
  await page.getByText('Unlink', { exact: true }).first().click();
  await page.getByRole('button', { name: 'Unlink' }).click();
  t.match(await mainText(page), /You would not be able to sign in without it/);
  await look(t, page, 'only-way-in');
  await page.goto('/settings/sessions');
  t.match(await mainText(page), /single sign-on/);

  await page.goto('/settings/profile');
  await page.click('.menu-button');
  await page.click('#person-menu >> text=Sign out');
  t.match(await mainText(page), /still signed in at Company/);
  await look(t, page, 'signed-out');
  await page.getByRole('link', { name: 'Sign out of Company' }).click();
  t.ok(page.url().startsWith(provider.issuer), 'the provider asks whether to sign out there');
  await page.context().close();
});

t.test('a person with a password links the provider, and confirms later with it, with scripts off', async (t) => {
  const alice = await hearth.addPerson('alice');
  provider.signedIn = 's-alice';
  const page = await (await newContext(false)).newPage();
  await signInWithPassword(page, 'alice', alice.password);
  await page.goto('/settings/linked-accounts');
  await look(t, page, 'linked-accounts-empty');
  await page.getByRole('button', { name: 'Link Company' }).click();
  await page.waitForURL(/done=account-linked/);
  t.match(await mainText(page), /The account has been linked/);
  await look(t, page, 'linked-accounts');

  clock.advance(10 * 60_000);
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f laptop';
  await page.goto('/settings/keys');
  await page.getByLabel('Public key', { exact: false }).first().fill(key);
  await page.getByRole('button', { name: 'Add key' }).click();
  t.match(await mainText(page), /Confirm it is you/);
  await look(t, page, 'confirm');
  await page.getByLabel('Your password').fill('not this');
  await page.getByRole('button', { name: 'Confirm and continue' }).click();
  t.match(await mainText(page), /This is not your password/);
  await look(t, page, 'confirm-refused');
  await page.getByRole('link', { name: 'Confirm with Company' }).click();
  t.match(await mainText(page), /You have confirmed that it is you/);
  await look(t, page, 'confirmed');
  await page.getByRole('button', { name: 'Continue' }).click();
  t.match(page.url(), /done=key-added/);
  t.match(await mainText(page), /SHA256:/);

  clock.advance(10 * 60_000);
  await page.goto('/settings/tokens');
  await page.getByLabel('Name').first().fill('backup');
  await page
    .getByRole('button', { name: /Make|Create|Add/ })
    .first()
    .click();
  t.match(await mainText(page), /Confirm it is you/);
  await page.getByLabel('Your password').fill(alice.password);
  await page.getByRole('button', { name: 'Confirm and continue' }).click();
  t.match(page.url(), /\/settings\/tokens\/new\//, 'at once, without another step');
  await page.context().close();
});

t.test('a passkey confirms, too', async (t) => {
  const bob = await hearth.addPerson('bob');
  const context = await newContext(true);
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await signInWithPassword(page, 'bob', bob.password);
  await page.goto('/settings/security/passkeys/new');
  await page.getByRole('button', { name: /passkey/i }).click();
  await page.waitForURL(/recovery-codes/);
  clock.advance(10 * 60_000);
  await page.goto('/settings/tokens');
  await page.getByLabel('Name').first().fill('phone');
  await page
    .getByRole('button', { name: /Make|Create|Add/ })
    .first()
    .click();
  t.match(await mainText(page), /Confirm it is you/);
  await look(t, page, 'confirm-with-passkey');
  await page.getByRole('button', { name: 'Confirm with a passkey' }).click();
  await page.waitForURL(/\/settings\/tokens\/new\//);
  await context.close();
});

t.test('what administrators see, and the link for when the provider is down', async (t) => {
  const carol = await hearth.addPerson('carol');
  const { accounts } = hearth.modules;
  await accounts.setAdministrator(carol.id, true);
  const page = await (await newContext(false)).newPage();
  await signInWithPassword(page, 'carol', carol.password);
  await page.goto('/admin/single-sign-on');
  t.match(await mainText(page), /Responding/);
  await look(t, page, 'administration');
  await provider.stop();
  await page.goto('/admin/single-sign-on');
  t.match(await mainText(page), /Not responding/);
  await look(t, page, 'administration-down');
  await page.context().clearCookies();
  clock.advance(2 * 60 * 60_000);
  await page.goto('/login/oidc/company');
  t.match(await mainText(page), /Company cannot be reached/);
  await look(t, page, 'down');
  const { secret } = await accounts.makeSignInLink(carol.id);
  await page.goto(`/login/link?token=${secret}`);
  await look(t, page, 'sign-in-link');
  await page.getByRole('button', { name: 'Sign in as carol' }).click();
  await page.goto('/settings/sessions');
  t.match(await mainText(page), /sign-in link/);
});
