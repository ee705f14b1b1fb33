/** Notices about accounts: each event, to whom, and what a person has switched off. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import t from 'tap';
import { localAdministrator, personViewer } from '../../src/access/index.ts';
import { headerOf, startMailServer } from '../fixtures/mail-server.ts';
import { extractMain, password, sendRequest, startWeb, visitor } from '../fixtures/web-fixture.ts';
import { stepOf, totpCode } from '../../src/accounts/second-factor/totp.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';
const edge = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36 Edg/130.0';

const server = await startMailServer(t);
const { SERVICE_HTTP_LISTEN: _listen, ...env } = server.env;
const web = await startWeb(t, { env });
const { accounts, mail, notices, clock, db } = { ...web.modules, clock: web.clock };

const folder = temporaryFolder(t);
execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'alice@laptop', '-f', path.join(folder, 'key')]);
const line = execFileSync('cat', [path.join(folder, 'key.pub')], { encoding: 'utf8' });

const alice = await accounts.addPerson({ username: 'alice', password });
const first = await accounts.addresses.add(alice.id, { address: 'alice@example.org', isVerified: true });
const second = await accounts.addresses.add(alice.id, { address: 'other@example.org', isVerified: true });

// The first address gets a mail about the second.
await mail.drain();

const subjects = async (): Promise<string[]> => {
  server.mails.length = 0;
  await mail.drain();
  return server.mails.map((each) => `${each.to.join()}: ${headerOf(each, 'subject')}`);
};
const signIn = (address: string, userAgent: string) =>
  accounts.signIn({ username: 'alice', password, address, userAgent });

t.test('a sign-in from an unknown device or network is noticed once', async (t) => {
  await signIn('192.0.2.10', firefox);
  t.same(await subjects(), [], 'the first one of a new account');
  await signIn('192.0.77.3', firefox);
  t.same(await subjects(), [], 'another address of the same network');
  await signIn('192.0.2.10', edge);
  t.same(await subjects(), [
    'alice@example.org: New sign-in to your account on 127.0.0.1:' + new URL(env['SERVICE_BASE_URL']!).port,
  ]);
  const [noticed] = server.mails;
  t.match(
    noticed!.text,
    /Account: alice\nDevice: Edge on Windows\nAddress: 192\.0\.2\.10\nWhen: \d+ \w+ \d{4} at \d\d:\d\d UTC/,
  );
  t.match(noticed!.text, /\/settings\/sessions/);
  t.match(noticed!.html, /<a class="action" href="http:\/\/127\.0\.0\.1:\d+\/settings\/sessions">/);
  t.notMatch(noticed!.html, /<img|<script|<link|url\(/);
  await signIn('192.0.2.10', edge);
  t.same(await subjects(), []);
  await signIn('198.51.100.1', firefox);
  t.equal((await subjects()).length, 1, 'another network');
  await signIn('2001:db8:1:2::1', firefox);
  t.equal((await subjects()).length, 1);
  await signIn('2001:db8:9:9::9', firefox);
  t.same(await subjects(), [], 'the same wide network');
  clock.advance(366 * 86_400_000);
  await signIn('192.0.2.10', firefox);
  t.equal((await subjects()).length, 1, 'a year is long enough to forget');
});

t.test('a person who has no earlier sign-in, in an account that is not new, is told', async (t) => {
  const bob = await accounts.addPerson({ username: 'bob', password });
  await accounts.addresses.add(bob.id, { address: 'bob@example.org', isVerified: true });
  clock.advance(3_600_000);
  await accounts.signIn({ username: 'bob', password, address: '192.0.2.1', userAgent: firefox });
  t.match(await subjects(), [/^bob@example\.org: New sign-in/]);
});

t.test('keys, tokens and passwords', async (t) => {
  await accounts.addKey(alice.id, { line });
  t.match(await subjects(), [/^alice@example\.org: New SSH key in your account/]);
  t.match(server.mails[0]!.text, /Title: alice@laptop\nFingerprint: SHA256:/);
  const scope = { access: 'write' as const, repositoryIds: null, expiresAt: null };
  const { secret } = await accounts
    .addToken(alice.id, { name: 'ci\r\nBcc: x@example.org <b>', ...scope })
    .catch(() => accounts.addToken(alice.id, { name: 'ci <b>', ...scope }));
  t.match(await subjects(), [/New access token for your account/]);
  t.match(server.mails[0], { text: /Name: ci.*<b>\nAccess: write/, html: /ci.*&lt;b&gt;/ });
  t.notMatch(server.mails[0]!.raw, secret);
  const change = { currentPassword: password, newPassword: `${password} 2`, keepSessionId: null, address: null };
  await accounts.changePassword(alice.id, change);
  t.match(await subjects(), [/The password of your account on .* was changed/]);
  await accounts.setPassword(alice.id, password);
  t.match(await subjects(), [/was changed/]);
  t.match(server.mails[0]!.text, /An administrator has set a new password/);
});

t.test('what is refused is not noticed, and what is undone with its write neither', async (t) => {
  await t.rejects(accounts.addKey(alice.id, { line }), { code: 'conflict', reason: 'key_in_use' });
  const change = { currentPassword: 'wrong', newPassword: 'another long one', keepSessionId: null, address: null };
  await t.rejects(accounts.changePassword(alice.id, change), { code: 'invalid', reason: 'wrong_password' });
  await t.rejects(
    db.write(async (tx) => {
      await accounts.announceSecurityEvent(tx, alice.id, { kind: 'gpg_key_added', fingerprint: 'AB' });
      throw new Error('undone');
    }),
    { message: 'undone' },
  );
  t.same(await subjects(), []);
});

t.test(
  'a changed primary address is told to the old one, and a notice goes where it would have gone before',
  async (t) => {
    await accounts.addToken(alice.id, { name: 'before', access: 'read', repositoryIds: null, expiresAt: null });
    await accounts.addresses.setPrimary(alice.id, second.id);
    t.match(await subjects(), [
      /^alice@example\.org: New access token/,
      /^alice@example\.org: The primary email address/,
    ]);
    t.match(server.mails[1]!.text, /no longer sent to alice@example\.org[^]*New primary address: other@example\.org/);
    await accounts.addresses.setPrimary(alice.id, second.id);
    t.same(await subjects(), [], 'it was the primary one already');
    await accounts.addresses.remove(alice.id, second.id);
    t.match(await subjects(), [/^other@example\.org: The primary email address/]);
    t.equal(await accounts.addresses.primaryOf(alice.id), first.address);
  },
);

t.test('a second factor that is added, used up, renewed and removed is noticed', async (t) => {
  const erin = await accounts.addPerson({ username: 'erin', password });
  await accounts.addresses.add(erin.id, { address: 'erin@example.org', isVerified: true });
  await subjects();
  const { port } = new URL(env['SERVICE_BASE_URL']!);
  const of = (text: string) => [`erin@example.org: ${text.replace('HOST', `127.0.0.1:${port}`)}`];
  const secret = await accounts.secondFactor.beginTotp(erin.id);
  t.same(await subjects(), []);
  const codes = await accounts.secondFactor.enableTotp(erin.id, totpCode(secret, stepOf(clock.now())));
  t.same(await subjects(), of('New authenticator app for your account on HOST'));
  for (const each of [secret.toString('base64'), ...codes!]) t.notOk(server.mails[0]!.text.includes(each));
  const first = await accounts.signIn({ username: 'erin', password, address: '192.0.2.1', userAgent: firefox });
  t.same(await subjects(), [], 'the password alone is no sign-in');
  await accounts.secondFactor.answer({
    challenge: first.kind === 'second_factor' ? first.challenge : null,
    code: codes![0]!,
    address: '192.0.2.1',
    userAgent: firefox,
  });
  t.same(await subjects(), of('A recovery code of your account on HOST was used'));
  t.match(server.mails[0]!.text, /Codes left: 9/);
  await accounts.secondFactor.newRecoveryCodes(erin.id);
  t.same(await subjects(), of('New recovery codes for your account on HOST'));
  const guessed = await accounts.signIn({ username: 'erin', password, address: '203.0.113.9', userAgent: edge });
  for (let n = 0; n < 5; n += 1) {
    t.same(await subjects(), []);
    const challenge = guessed.kind === 'second_factor' ? guessed.challenge : null;
    const answer = { challenge, code: '000000', address: '203.0.113.9', userAgent: edge };
    const refused: unknown = await accounts.secondFactor.answer(answer).catch((error: unknown) => error);
    t.match(refused, { reason: 'wrong_code' });
  }
  t.same(await subjects(), of('Wrong codes for your account on HOST'));
  t.match(server.mails[0]!.text, /Device: Edge on Windows\nAddress: 203\.0\.113\.9/);
  await accounts.secondFactor.disableTotp(erin.id);
  t.same(await subjects(), of('The authenticator app of your account on HOST was removed'));
});

t.test('access that another person gives is told with who gave it', async (t) => {
  const { organisations, repositories } = web.modules;
  const dora = await accounts.addPerson({ username: 'dora', password });
  const owner = personViewer(dora.id, 'admin');
  const viewer = { ...owner, username: 'dora' };
  await repositories.create(viewer, { name: 'site', visibility: 'PRIVATE' });
  await organisations.create(viewer, { name: 'acme' });
  await organisations.teams.create(viewer, 'acme', { name: 'crew' });
  await subjects();
  await repositories.collaborators.add(viewer, 'dora', 'site', { username: 'alice', role: 'write' });
  t.strictSame(await subjects(), ['alice@example.org: dora added you to dora/site']);
  t.match(server.mails[0]!.text, /dora added you to the repository dora\/site\.[^]*Role: write[^]*\/repos\/dora\/site/);
  t.notMatch(server.mails[0]!.text, /If it was not you/);
  await organisations.addMember(viewer, 'acme', { username: 'alice', role: 'MEMBER' });
  await organisations.teams.addMember(localAdministrator, { organisation: 'acme', name: 'crew' }, 'alice');
  t.strictSame((await subjects()).sort(), [
    'alice@example.org: An administrator added you to acme/crew',
    'alice@example.org: dora added you to acme',
  ]);
});

t.test('a person switches kinds off and on, without a script', async (t) => {
  const browser = visitor(web);
  await browser.post('/login', { username: 'alice', password });
  await subjects();
  const before = extractMain(await browser.get('/settings/notices'));
  t.match(before, /alice@example\.org/);
  t.equal([...before.matchAll(/type="checkbox"[^>]* checked/g)].length, 8, 'all are on');
  t.match(before, /aria-current="page"[^]*Notices/);
  const saved = await browser.post('/settings/notices', { kind: ['password', 'ssh_key'] });
  t.match(saved, { status: 303, headers: { location: '/settings/notices?done=notices-saved' } });
  const after = extractMain(await browser.get('/settings/notices'));
  t.equal([...after.matchAll(/type="checkbox"[^>]* checked/g)].length, 2);
  await accounts.addToken(alice.id, { name: 'silent', access: 'read', repositoryIds: null, expiresAt: null });
  t.same(await subjects(), []);
  await accounts.setPassword(alice.id, password);
  t.equal((await subjects()).length, 1);
  await t.rejects(notices.setMuted(alice.id, ['everything']), { code: 'invalid', reason: 'unknown_notice' });
  t.equal((await sendRequest(web, '/settings/notices')).status, 303, 'who is not signed in is sent to do so');
});

t.test('nobody without a verified address, and nobody deleted meanwhile, gets a mail', async (t) => {
  const carol = await accounts.addPerson({ username: 'carol', password });
  await accounts.setPassword(carol.id, `${password} 3`);
  t.same(await subjects(), []);
  await accounts.addresses.add(carol.id, { address: 'carol@example.org', isVerified: true });
  await accounts.setPassword(carol.id, `${password} 4`);
  await accounts.deletePerson(carol.id);
  t.same(await subjects(), []);
});

t.test('without mail there is no page, no link to it and no row', async (t) => {
  const quiet = await startWeb(t);
  await quiet.modules.accounts.addPerson({ username: 'alice', password });
  const browser = visitor(quiet);
  await browser.post('/login', { username: 'alice', password });
  t.equal((await browser.get('/settings/notices')).status, 404);
  t.equal((await browser.post('/settings/notices', { kind: 'password' })).status, 404);
  t.notMatch((await browser.get('/settings/sessions')).body, '/settings/notices');
  t.same(await quiet.modules.db.read.query('SELECT * FROM known_sign_ins'), []);
});
