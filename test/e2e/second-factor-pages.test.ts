// time limit: 240 s
// Second factors in Chromium: an authenticator app with scripts off, passkeys with the virtual authenticator of the
// DevTools protocol; and axe on their pages in light and dark, wide and narrow. Screenshots: SHOTS=folder.
import t from 'tap';
import path from 'node:path';
import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core';
import { stepOf, totpCode } from '../../src/accounts/second-factor/totp.ts';
import { launchBrowser, mainText } from '../fixtures/browser.ts';
import { allRules, presentationRules, findViolations } from '../fixtures/axe.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth } from '../fixtures/start-hearth.ts';

t.setTimeout(200_000);

type Tap = typeof t;
const { SHOTS } = process.env;
let hearth: Hearth;
let browser: Browser;
let origin = '';

t.before(async () => {
  const port = await freePort();
  // Browsers have passkeys on localhost without https, but not at 127.0.0.1.
  origin = `http://localhost:${port}`;
  hearth = await startHearth(t, { env: { SERVICE_HTTP_LISTEN: `127.0.0.1:${port}`, SERVICE_BASE_URL: origin } });
  browser = await launchBrowser();
});
t.teardown(() => browser.close());

const newContext = (scripts: boolean): Promise<BrowserContext> =>
  browser.newContext({ javaScriptEnabled: scripts, baseURL: origin, viewport: { width: 1280, height: 900 } });

async function signIn(page: Page, username: string, password: string): Promise<void> {
  await page.goto('/login?next=/explore/repos');
  await page.getByLabel('Username').fill(username);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

const signOut = async (page: Page): Promise<void> => {
  await page.context().clearCookies();
};

let copies: Promise<Page> | undefined;

/** axe in four looks, and a picture of each: of a copy of the page, because axe is a script. */
async function look(t: Pick<Tap, 'ok' | 'same'>, page: Page, name: string): Promise<void> {
  // One for all: a window of its own takes a quarter of a second of CPU time.
  const copy = await (copies ??= browser.newPage({ baseURL: origin, reducedMotion: 'reduce' }));
  await copy.goto('/api/v1');
  await copy.setContent(await page.content(), { waitUntil: 'load' });
  let rules: Parameters<typeof findViolations>[1] = allRules;
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 360]) {
      await copy.emulateMedia({ colorScheme });
      await copy.setViewportSize({ width, height: 900 });
      t.same(await findViolations(copy, rules), [], `${name} ${colorScheme} ${width}`);
      rules = presentationRules;
      const scroll = await copy.evaluate<number>('document.documentElement.scrollWidth');
      t.ok(scroll <= width, `${name}: ${scroll} px wide of ${width}`);
      if (SHOTS)
        await copy.screenshot({ path: path.join(SHOTS, `${name}-${colorScheme}-${width}.png`), fullPage: true });
    }
  }
}

t.test('an app and recovery codes, with scripts off', async (t) => {
  const alice = await hearth.addPerson('alice');
  const page = await (await newContext(false)).newPage();
  await page.goto('/login');
  t.notMatch(await mainText(page), /passkey/i, 'nothing about passkeys before any person has one');
  await signIn(page, 'alice', alice.password);
  await page.goto('/settings/security');
  t.notMatch(await mainText(page), /Recovery codes/);
  await look(t, page, 'security-empty');
  await page.getByRole('link', { name: 'Set up an app' }).click();
  t.ok(await page.getByRole('img', { name: 'QR code' }).isVisible());
  const key = await page.locator('#secret').innerText();
  const secret = fromBase32(key.replaceAll(' ', ''));
  t.match(
    await page.getByRole('link', { name: 'Open the app' }).getAttribute('href'),
    /^otpauth:\/\/totp\/localhost%3A/,
  );
  await page.getByLabel('Six-digit code').fill('000000');
  await page.getByRole('button', { name: 'Confirm' }).click();
  t.match(await mainText(page), /This code is wrong/);
  t.equal(await page.locator('#secret').innerText(), key, 'the same key again');
  await look(t, page, 'app-refused');
  await page.getByLabel('Six-digit code').fill(totpCode(secret, stepOf(Date.now())));
  await page.getByRole('button', { name: 'Confirm' }).click();
  t.match(await mainText(page), /Your recovery codes/);
  const codes = (await page.locator('.recovery-codes').innerText()).trim().split(/\s+/);
  t.equal(codes.length, 10);
  await look(t, page, 'recovery-codes');
  const address = page.url();
  await page.goto(address);
  t.match(await mainText(page), /shown only once/);
  await look(t, page, 'security-app');

  await signOut(page);
  await signIn(page, 'alice', alice.password);
  t.match(page.url(), /\/login\/second-factor\?next=%2Fexplore%2Frepos$/);
  await page.goto('/settings/security');
  t.match(page.url(), /\/login/, 'the password alone signs nobody in');
  await page.goto('/login/second-factor?next=/explore/repos');
  await page.getByLabel('Code from your app').fill('123456');
  await page.getByRole('button', { name: 'Continue' }).click();
  t.match(await mainText(page), /This code is wrong or has already been used/);
  await look(t, page, 'second-factor-refused');
  await page.getByLabel('Code from your app').fill(totpCode(secret, stepOf(Date.now()) + 1));
  await page.getByRole('button', { name: 'Continue' }).click();
  t.equal(page.url(), `${origin}/explore/repos`);
  await page.goto('/settings/sessions');
  t.match(await mainText(page), /with password and authenticator app/);

  await signOut(page);
  await signIn(page, 'alice', alice.password);
  await page.getByLabel('Code from your app').fill(codes[0]!.toUpperCase());
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.goto('/settings/security');
  t.match(await mainText(page), /9 are left/);
  await page.getByText('Remove', { exact: true }).first().click();
  await page.getByRole('button', { name: 'Remove' }).click();
  t.match(await mainText(page), /The authenticator app has been removed/);
  await page.goto('/settings/security/app');
  t.not(await page.locator('#secret').innerText(), key, 'a new key');
});

t.test('without an open first step the second one leads to the start', async (t) => {
  const page = await (await newContext(false)).newPage();
  await page.goto('/login/second-factor?next=/explore/repos');
  t.match(page.url(), /\/login\?done=sign-in-expired&next=%2Fexplore%2Frepos$/);
  t.match(await mainText(page), /took too long/);
});

/** A security key of Chromium's own, for one page. */
async function addAuthenticator(page: Page): Promise<{ cdp: CDPSession; id: string }> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId: id } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, id };
}

t.test('a passkey signs in instead of the password, and after it', async (t) => {
  const bob = await hearth.addPerson('bob');
  const context = await newContext(true);
  const page = await context.newPage();
  const { cdp, id } = await addAuthenticator(page);
  await signIn(page, 'bob', bob.password);
  await page.goto('/settings/security');
  await page.getByRole('link', { name: 'Add a passkey' }).click();
  await look(t, page, 'new-passkey');
  await page.getByLabel('Name').fill('Laptop <b>');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await page.waitForURL(/recovery-codes/);
  const codes = (await page.locator('.recovery-codes').innerText()).trim().split(/\s+/);
  t.equal(codes.length, 10);
  await page.getByRole('link', { name: 'I have saved them' }).click();
  t.match(await mainText(page), /Laptop <b>[^]*never used/);
  await look(t, page, 'security-passkey');

  await page.getByRole('link', { name: 'Add a passkey' }).click();
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await page.getByText('already has a passkey for your account').waitFor();

  await signOut(page);
  await page.goto('/login?next=/explore/repos');
  await look(t, page, 'login-with-passkeys');
  await page.getByRole('link', { name: 'Sign in with a passkey' }).click();
  await look(t, page, 'passkey-login');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.waitForURL(`${origin}/explore/repos`);
  await page.goto('/settings/sessions');
  t.match(await mainText(page), /with passkey\b/);

  await signOut(page);
  await signIn(page, 'bob', bob.password);
  t.match(page.url(), /second-factor/);
  t.match(await mainText(page), /Recovery code/);
  await look(t, page, 'second-factor-passkey');
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.waitForURL(`${origin}/explore/repos`);
  await page.goto('/settings/sessions');
  t.match(await mainText(page), /with password and passkey/);

  // The copy of a passkey: it counts from where it was copied.
  const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId: id });
  const [credential] = credentials;
  t.ok(credential!.signCount > 1);
  await cdp.send('WebAuthn.removeCredential', { authenticatorId: id, credentialId: credential!.credentialId });
  await cdp.send('WebAuthn.addCredential', { authenticatorId: id, credential: { ...credential!, signCount: 1 } });
  await signOut(page);
  await page.goto('/login/passkey');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('This passkey was not accepted').waitFor();
  t.match(await mainText(page), /Continue/, 'the form again');
  await look(t, page, 'passkey-refused');

  // Without the verification of its user.
  await cdp.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified: false });
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('It was cancelled, or took too long').waitFor();
  await signIn(page, 'bob', bob.password);
  await page.getByLabel('Recovery code').fill(codes[4]!);
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.waitForURL(`${origin}/explore/repos`);
});

t.test('without scripts the page of a passkey says what it needs', async (t) => {
  const page = await (await newContext(false)).newPage();
  await page.goto('/login/passkey');
  t.match(await mainText(page), /require JavaScript/);
  t.equal(await page.getByRole('button', { name: 'Continue' }).isVisible(), false);
  if (SHOTS) await page.screenshot({ path: path.join(SHOTS, 'passkey-without-script.png') });
});

function fromBase32(key: string): Buffer {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
  const bits = [...key].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}
