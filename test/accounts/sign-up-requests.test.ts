// Requests for an account: who is told, what approving and refusing do, and what is answered alike.
import t from 'tap';
import { dayMs, minuteMs, openAccounts, password, reasonOf } from './accounts-fixture.ts';
import { createMailStub } from './mail-stub.ts';

async function open(
  t: Parameters<typeof openAccounts>[0],
  signUp: 'invite' | 'approval' = 'approval',
  isMailed = true,
) {
  const queued = createMailStub(isMailed);
  const modules = await openAccounts(t, { baseUrl: 'https://git.example.org', signUp }, queued.mail);
  const root = await modules.accounts.addPerson({ username: 'root-person', password, isAdministrator: true });
  await modules.accounts.addresses.add(root.id, { address: 'root@example.org', isVerified: true });
  const bob = await modules.accounts.addPerson({ username: 'bob', password });
  await modules.accounts.addresses.add(bob.id, { address: 'bob@example.org', isVerified: true });
  queued.sent.length = 0;
  const ask = (address: string, reason = '') => {
    modules.clock.advance(1_000);
    return reasonOf(modules.accounts.requestSignUp({ address, reason, network: '192.0.2.1' }));
  };
  return { ...modules, ...queued, root, ask };
}

t.test('a request waits, administrators are told once, approving invites', async (t) => {
  const { accounts, ask, sent, last, render, root, clock } = await open(t);
  t.equal(await ask('Carol@example.org', ' I write the manual. '), 'accepted');
  t.match(sent, { length: 1, 0: { kind: 'sign-up-request', data: { personId: root.id } } });
  t.match(await render(), { to: 'root@example.org', text: /A person asks for an account[^]*Carol@example.org/ });
  for (const address of ['carol@EXAMPLE.org', 'bob@example.org', 'dora@example.org'])
    t.equal(await ask(address), 'accepted', 'the same answer for all');
  t.equal(sent.length, 1, 'one mail an hour');
  t.match(await accounts.listSignUpRequests(), {
    length: 2,
    0: { address: 'Carol@example.org', reason: 'I write the manual.' },
    1: { address: 'dora@example.org' },
  });
  const [carol, dora] = await accounts.listSignUpRequests();
  const { invite } = await accounts.approveSignUp(root.id, carol!.id);
  t.match(invite, { address: 'Carol@example.org', createdBy: root.id });
  t.match(last(), { kind: 'invite' });
  t.equal(await reasonOf(accounts.approveSignUp(root.id, carol!.id)), 'unknown_sign_up_request', 'the second of two');
  const made = await accounts.signUp({ token: last().data.secret!, username: 'carol', password });
  t.match(await accounts.addresses.list(made.id), [{ address: 'Carol@example.org', isPrimary: true }]);
  await accounts.refuseSignUp(dora!.id);
  t.match(last(), { kind: 'sign-up-refused' });
  t.match(await render(), { to: 'dora@example.org', text: /decided against it/ });
  t.strictSame(await accounts.listSignUpRequests(), []);
  t.equal(await render(sent[0]), null, 'a mail about no request is not sent');
  clock.advance(61 * minuteMs);
  t.equal(await ask('erin@example.org'), 'accepted');
  t.match(last(), { kind: 'sign-up-request' });
  clock.advance(31 * dayMs);
  t.strictSame(await accounts.listSignUpRequests(), [], 'forgotten after a month');
});

t.test('bad input and closed registration change nothing', async (t) => {
  const { accounts, ask, sent } = await open(t);
  for (const [address, reason, refused] of [
    ['', '', 'invalid_address'],
    ['no address', '', 'invalid_address'],
    ['carol@example.org', 'x'.repeat(501), 'text_too_long'],
  ] as const)
    t.equal(await ask(address, reason), refused);
  t.strictSame(await accounts.listSignUpRequests(), []);
  t.equal(sent.length, 0);
  let last = '';
  for (let at = 0; at < 200 && last !== 'too_many_resets'; at += 1) last = await ask(`person-${at}@example.org`);
  t.equal(last, 'too_many_resets', 'from one network');
  t.equal(await (await open(t, 'invite')).ask('carol@example.org'), 'sign_up_closed');
  const withoutMail = await open(t, 'approval', false);
  t.equal(await withoutMail.ask('carol@example.org'), 'accepted');
  const [request] = await withoutMail.accounts.listSignUpRequests();
  const { invite, secret } = await withoutMail.accounts.approveSignUp(null, request!.id);
  t.match(invite, { mailedAt: null, createdBy: null });
  await withoutMail.accounts.checkInvite(secret);
});
