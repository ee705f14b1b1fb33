// Keys and signatures as a person sees them: Chromium without scripts of the site, light and dark, wide and narrow.
// time limit: 300 s
import t from 'tap';
import { mkdirSync, readFileSync } from 'node:fs';
import { launchBrowser } from '../fixtures/browser.ts';
import type { Page } from 'playwright-core';
import { findViolations } from '../fixtures/axe.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { fillRepository, signedIn, startWeb } from '../fixtures/web-fixture.ts';
import { commitText, KeyRing, makeSshKey, signWithSsh, storeSigned } from '../signing/signed-commits.ts';

t.setTimeout(240_000);

/** Folder for screenshots; none are made without it. */
const pictures = process.env['HEARTH_PICTURES'];

t.test('badges open to say why, and keys are added without scripts', async (t) => {
  const web = await startWeb(t);
  const { accounts, repositories, signing } = web.modules;
  const alice = await signedIn(web, 'alice');
  await accounts.addresses.add(alice.id, { address: 'alice@example.org', isVerified: true });
  await alice.post('/repos', { name: 'kiln', visibility: 'PUBLIC' });
  const { path: bare } = await repositories.find({ kind: 'anonymous' }, 'alice', 'kiln');
  await fillRepository(t, bare, { 'a.txt': 'one\n' });
  const ring = new KeyRing(t);
  const [own, unknown] = [ring.make('Alice <alice@example.org>', 'ed25519'), ring.make('X <x@example.org>', 'ed25519')];
  ring.run(['--quick-add-uid', own, 'Alice at home <alice@home.example.org>']);
  const old = ring.make('Alice of old <alice@old.example.org>', 'ed25519', { expires: '1d', at: 1_700_000_000 });
  const ssh = makeSshKey(temporaryFolder(t), 'laptop', 'ed25519');
  const tree = (await runGit(['rev-parse', 'main^{tree}'], { cwd: bare })).trim();
  let parent = (await runGit(['rev-parse', 'main'], { cwd: bare })).trim();
  const at = Math.floor(web.clock.now() / 1000);
  const commits: [message: string, sign: (text: string) => string | Promise<string>, altered?: true][] = [
    ['Fire the kiln at twelve hundred degrees', (text) => ring.sign(own, text)],
    ['Mix the glaze', (text) => signWithSsh(ssh, text)],
    ['Open the door', (text) => ring.sign(unknown, text)],
    ['Close the door', (text) => ring.sign(own, text), true],
    ['Merge the glaze', (text) => signing.signCommit(Buffer.from(text))],
  ];
  for (const [index, [message, sign, isAltered]] of commits.entries()) {
    const text = commitText(tree, [parent], 'Alice <alice@example.org>', at - 900 + index, message);
    parent = storeSigned(bare, isAltered ? text.replace(message, `${message} again`) : text, await sign(text));
  }
  await runGit(['update-ref', 'refs/heads/main', parent], { cwd: bare });
  await runGit(['tag', '-m', 'First firing', 'v1', 'main'], { cwd: bare });

  const browser = await launchBrowser();
  t.teardown(() => browser.close());
  const session = (await accounts.startSession(alice.id, { address: '', userAgent: '' })).secret;
  const open = async (colorScheme: 'light' | 'dark', width: number): Promise<Page> => {
    const context = await browser.newContext({
      colorScheme,
      viewport: { width, height: 900 },
      reducedMotion: 'reduce',
    });
    // The pages bring no script along; axe needs the engine.
    await context.route('**/*.js', (route) => route.abort());
    await context.addCookies([{ name: 'hearth_session', value: session, url: web.origin }]);
    return context.newPage();
  };
  const look = async (page: Page, name: string): Promise<void> => {
    t.strictSame(await findViolations(page), [], name);
    t.ok(Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth')) <= 0, `${name} fits`);
    if (pictures === undefined) return;
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: `${pictures}/${name.replace(/\W+/g, '-')}.png`, fullPage: true });
  };

  const first = await open('light', 1280);
  await first.goto(`${web.origin}/settings/gpg`);
  await look(first, 'gpg, empty, light 1280');
  await first.getByLabel('Public key').fill('-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nnonsense');
  await first.getByRole('button', { name: 'Add key' }).click();
  await first.getByText('This is not a readable OpenPGP public key').first().waitFor();
  await look(first, 'gpg, refused, light 1280');
  for (const key of [own, old]) {
    await first.getByLabel('Public key').fill(ring.export(key));
    await first.getByRole('button', { name: 'Add key' }).click();
    await first.getByText('The key has been added.').waitFor();
  }
  await first.goto(`${web.origin}/settings/keys`);
  await first.getByLabel('Public key').fill(readFileSync(`${ssh}.pub`, 'utf8'));
  await first.getByLabel('Signing commits only').check();
  await first.getByRole('button', { name: 'Add key' }).click();
  await first.getByText('Commits that it signs are verified').waitFor();

  for (const [scheme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
    ['dark', 360],
  ] as const) {
    const page = scheme === 'light' && width === 1280 ? first : await open(scheme, width);
    const name = `${scheme} ${width}`;
    for (const path of ['/settings/gpg', '/settings/keys', '/repos/alice/kiln/tags']) {
      await page.goto(web.origin + path);
      await look(page, `${path} ${name}`);
    }
    await page.goto(`${web.origin}/repos/alice/kiln/commits/main`);
    t.equal(await page.locator('.signature').count(), 5);
    t.equal(await page.getByText('Verified', { exact: true }).count(), 3);
    const row = page.locator('li').filter({ hasText: 'Mix the glaze' });
    await row.getByText('Verified', { exact: true }).click();
    await row.locator('.signature-sheet').getByText('It is signed with the SSH key').waitFor();
    const box = await row.locator('.signature-sheet').boundingBox();
    t.ok(box !== null && box.x >= 0 && box.x + box.width <= width, 'the sheet is on the screen');
    await look(page, `history ${name}`);
    await page.goto(`${web.origin}/repos/alice/kiln/commit/${parent}`);
    await page.getByText('Verified', { exact: true }).click();
    await page.locator('.signature-sheet').getByText('Created on this server').waitFor();
    await look(page, `commit ${name}`);
  }
});
