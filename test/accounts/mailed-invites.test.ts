import t from 'tap';
import { dayMs, minuteMs, openAccounts, password, reasonOf } from './accounts-fixture.ts';
import { createMailStub } from './mail-stub.ts';

const baseUrl = 'https://git.example.org';

async function open(t: Parameters<typeof openAccounts>[0], isConfigured = true) {
  const queued = createMailStub(isConfigured);
  const modules = await openAccounts(t, { baseUrl }, queued.mail);
  const root = await modules.accounts.addPerson({ username: 'root-person', password, isAdministrator: true });
  return { ...modules, ...queued, root };
}

t.test('who uses the mailed link has the address verified', async (t) => {
  const { accounts, root, last, render } = await open(t);
  const { invite, secret } = await accounts.addInvite(root.id, { address: 'Carol@example.org' });
  t.match(invite, { address: 'Carol@example.org', createdBy: root.id });
  const mailed = last().data.secret!;
  t.not(mailed, secret, 'the administrator knows another link');
  const message = await render();
  t.match(message, { to: 'Carol@example.org', subject: 'Invitation to git.example.org' });
  t.ok(message!.text.includes(`${baseUrl}/signup?invite=${mailed}`));
  await accounts.checkInvite(mailed);
  const carol = await accounts.signUp({ token: mailed, username: 'carol', password });
  t.match(await accounts.addresses.list(carol.id), [
    { address: 'Carol@example.org', isPrimary: true, isPublic: false },
  ]);
  for (const used of [mailed, secret]) t.equal(await reasonOf(accounts.checkInvite(used)), 'sign_up_closed');
  t.equal(await render(), null, 'a mail that was still queued is not sent');
});

t.test('the link that an administrator hands out shows nothing about the mailbox', async (t) => {
  const { accounts, root } = await open(t);
  const { secret } = await accounts.addInvite(root.id, { address: 'carol@example.org' });
  const carol = await accounts.signUp({ token: secret, username: 'carol', password });
  t.match(await accounts.addresses.list(carol.id), [{ address: 'carol@example.org', verifiedAt: null }]);
});

t.test('sending again replaces the mailed link', async (t) => {
  const { accounts, root, last, sent, render, clock } = await open(t);
  const { invite, secret } = await accounts.addInvite(root.id, { address: 'carol@example.org' });
  const first = last();
  t.equal(await reasonOf(accounts.resendInvite(invite.id)), 'too_many_mails');
  clock.advance(minuteMs);
  await accounts.resendInvite(invite.id);
  t.equal(sent.length, 2);
  t.equal(await render(first), null);
  t.equal(await reasonOf(accounts.checkInvite(first.data.secret!)), 'sign_up_closed');
  for (const works of [secret, last().data.secret!]) t.equal(await reasonOf(accounts.checkInvite(works)), 'accepted');
  const { invite: without } = await accounts.addInvite(root.id);
  t.equal(await reasonOf(accounts.resendInvite(without.id)), 'unknown_invite', 'one without an address');
  clock.advance(7 * dayMs);
  t.equal(await reasonOf(accounts.resendInvite(invite.id)), 'unknown_invite', 'expired');
  t.equal(await render(), null);
});

t.test('an address that has an account is not invited, and one that got one meanwhile keeps it', async (t) => {
  const { accounts, root, last } = await open(t);
  await accounts.addresses.add(root.id, { address: 'root@example.org', isVerified: true });
  const cases: [string, string][] = [
    ['ROOT@example.org', 'address_in_use'],
    ['carol', 'invalid_address'],
    ['carol@example.org\r\nBcc: x@example.org', 'invalid_address'],
    ['x@noreply.git.example.org', 'reserved_address'],
  ];
  for (const [address, reason] of cases) t.equal(await reasonOf(accounts.addInvite(root.id, { address })), reason);
  await accounts.addInvite(root.id, { address: 'carol@example.org' });
  const mailed = last().data.secret!;
  const other = await accounts.addPerson({ username: 'other' });
  await accounts.addresses.add(other.id, { address: 'carol@example.org', isVerified: true });
  const carol = await accounts.signUp({ token: mailed, username: 'carol', password });
  t.match(await accounts.addresses.list(carol.id), [{ verifiedAt: null }]);
});

t.test('without mail an invitation with an address is a link like every other', async (t) => {
  const { accounts, root, sent } = await open(t, false);
  const { invite, secret } = await accounts.addInvite(root.id, { address: 'carol@example.org' });
  t.match(invite, { address: 'carol@example.org', mailedAt: null });
  t.same(sent, []);
  t.equal(await reasonOf(accounts.resendInvite(invite.id)), 'mail_not_configured');
  t.equal(await reasonOf(accounts.checkInvite(secret)), 'accepted');
});

t.test('names in mails are text: no header and no HTML comes from them', async (t) => {
  const { accounts, root, render } = await open(t);
  await accounts.updateProfile(root.id, { displayName: '<b>Bob</b> Bcc: x@example.org' });
  await accounts.addInvite(root.id, { address: 'carol@example.org' });
  const message = await render();
  t.notMatch(message!.subject, /Bcc|[\r\n]/);
  t.notMatch(message!.html, /<b>Bob/);
  t.match(message!.html, '&lt;b&gt;Bob');
});
