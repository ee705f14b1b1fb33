import t from 'tap';
import { extractMain, password, signedIn, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { PageResponse, Web } from '../../fixtures/web-fixture.ts';

const location = ({ headers }: PageResponse): string => headers.location ?? '';

const mailEnv = {
  SERVICE_BASE_URL: 'https://git.example.org',
  // Nothing listens there: mails stay in the queue.
  SERVICE_MAIL_HOST: '127.0.0.1',
  SERVICE_MAIL_PORT: '1',
  SERVICE_MAIL_TLS: 'none',
  SERVICE_MAIL_FROM: 'hearth@example.org',
};

/** Catches the secrets of links before they are encrypted for the queue. */
function catchSecrets({ modules: { accounts, mail } }: Web): string[] {
  const secrets: string[] = [];
  t.ok(accounts.addresses.canSendLinks);
  const { enqueue } = mail;
  mail.enqueue = (tx, message) => {
    const { secret } = message.data as { secret?: string };
    if (secret !== undefined) secrets.push(secret);
    return enqueue(tx, message);
  };
  return secrets;
}

t.test('without mail addresses can be listed, and an administrator verifies them', async (t) => {
  const web = await startWeb(t);
  const alice = await signedIn(web, 'alice');
  const root = await signedIn(web, 'root-person', { isAdministrator: true });
  const empty = extractMain(await alice.get('/settings/emails'));
  t.match(empty, /This server does not send email/);
  t.match(empty, /git config --global user\.email [0-9a-f-]{36}\+alice@noreply\./);
  t.equal(
    location(await alice.post('/settings/emails', { address: 'alice@example.org' })),
    '/settings/emails?done=address-listed',
  );
  const listed = extractMain(await alice.get('/settings/emails'));
  t.match(listed, /alice@example\.org[^]*Not verified[^]*Ask an administrator/);
  t.notMatch(listed, /Send again|Make primary/);

  const here = `/admin/people/${alice.id}/emails`;
  t.equal((await alice.get(here)).status, 404);
  t.match(extractMain(await root.get('/admin/people')), `href="${here}"`);
  const [, id] = /\/emails\/([\w-]+)\/verify/.exec((await root.get(here)).body) ?? [];
  t.equal((await alice.post(`${here}/${id}/verify`)).status, 404, 'nobody vouches for themselves');
  t.equal(location(await root.post(`${here}/${id}/verify`)), `${here}?done=address-verified`);
  t.match(extractMain(await alice.get('/settings/emails')), /Primary[^]*Verified/);
  const again = await root.post(here, { address: 'not an address' });
  t.equal(again.status, 422);
  t.match(extractMain(again), /value="not an address"/, 'the form keeps what was typed');
  t.equal(location(await root.post(here, { address: 'root@nas' })), `${here}?done=address-verified`);
  t.equal((await root.get('/admin/people/nobody/emails')).status, 404);

  const login = extractMain(await visitor(web).get('/login'));
  t.notMatch(login, /forgot/);
  t.match(login, /An administrator can give you a link/);
  t.match(extractMain(await visitor(web).get('/login/forgot')), /Ask an administrator/);
  t.equal((await visitor(web).post('/login/forgot', { address: 'alice@example.org' })).status, 409);
});

t.test('an address from its form to the profile, with a link of a mail', async (t) => {
  const web = await startWeb(t, { env: mailEnv });
  const secrets = catchSecrets(web);
  const alice = await signedIn(web, 'alice');
  const bob = await signedIn(web, 'bob');
  for (const address of ['', 'alice', 'аlice@example.org', 'alice@example.org\r\nBcc: bob@example.org']) {
    const refused = await alice.post('/settings/emails', { address });
    t.equal(refused.status, 422, JSON.stringify(address));
    t.match(extractMain(refused), /class="field is-wrong"/);
  }
  t.equal(
    location(await alice.post('/settings/emails', { address: 'alice@example.org' })),
    '/settings/emails?done=address-added',
  );
  const link = `/settings/emails/verify?token=${secrets[0]}`;
  const anonymous = await visitor(web).get(link);
  t.match([anonymous.status, location(anonymous)], [303, /^\/login/], 'who is not signed in signs in first');
  const asked = await alice.get(link);
  t.equal(asked.status, 200);
  t.match(extractMain(asked), /Does <strong>alice@example\.org<\/strong> belong to you, <strong>alice/);
  t.match(extractMain(await alice.get('/settings/emails')), /Not verified/, 'a look uses nothing up');
  const closed: [string, PageResponse][] = [
    ['foreign', await bob.get(link)],
    ['truncated', await alice.get(link.slice(0, -3))],
    ['none', await alice.get('/settings/emails/verify')],
    ['posted by another', await bob.post('/settings/emails/verify', { token: secrets[0]! })],
  ];
  t.equal(
    location(await alice.post('/settings/emails/verify', { token: secrets[0]! })),
    '/settings/emails?done=address-verified',
  );
  closed.push(['replayed', await alice.get(link)]);
  closed.push(['posted again', await alice.post('/settings/emails/verify', { token: secrets[0]! })]);
  for (const [title, response] of closed) {
    t.equal(response.status, 404, title);
    t.match(extractMain(response), /This link does not work[^]*works once, within 24 hours/, title);
  }

  const page = extractMain(await alice.get('/settings/emails'));
  const [, id] = /\/settings\/emails\/([\w-]+)\/public/.exec(page) ?? [];
  t.notMatch(extractMain(await bob.get('/users/alice')), 'alice@example.org', 'private at first');
  await alice.post(`/settings/emails/${id}/public`, { on: 'yes' });
  t.match(extractMain(await bob.get('/users/alice')), 'href="mailto:alice@example.org"');
  await alice.post(`/settings/emails/${id}/public`, { on: '' });
  t.notMatch(extractMain(await bob.get('/users/alice')), 'alice@example.org');
  for (const action of ['primary', 'send', 'delete']) {
    t.equal((await bob.post(`/settings/emails/${id}/${action}`)).status, 404, action);
  }
  t.equal(location(await alice.post(`/settings/emails/${id}/delete`)), '/settings/emails?done=address-removed');
  t.match(extractMain(await alice.get('/settings/emails')), /not added an address yet/);
});

t.test('a forgotten password: one answer to every address, and a link that works once', async (t) => {
  const web = await startWeb(t, { env: mailEnv });
  const secrets = catchSecrets(web);
  const { accounts } = web.modules;
  const alice = await signedIn(web, 'alice');
  await accounts.addresses.add(alice.id, { address: 'alice@example.org', isVerified: true });
  const browser = visitor(web);
  t.match(extractMain(await browser.get('/login')), 'href="/login/forgot"');
  const [known, unknown] = [
    await browser.post('/login/forgot', { address: 'alice@example.org' }),
    await browser.post('/login/forgot', { address: 'nobody@example.org' }),
  ];
  t.equal(known.status, 200);
  t.equal(extractMain(known), extractMain(unknown));
  t.match(
    extractMain(await browser.post('/login/forgot', { address: 'alice' })),
    /class="field is-wrong"[^]*value="alice"/,
  );
  await accounts.settled();
  t.equal(secrets.length, 1);
  const [token = ''] = secrets;
  const form = await browser.get(`/login/reset?token=${token}`);
  t.match(extractMain(form), /For the account <strong>alice<\/strong>\. All sessions end/);
  t.match(form.headers['cache-control'], 'no-store');
  const short = await browser.post('/login/reset', { token, password: 'short' });
  t.equal(short.status, 422);
  t.match(extractMain(short), /at least 8 characters/);
  const next = 'another long password';
  t.equal(location(await browser.post('/login/reset', { token, password: next })), '/login?done=password-reset');
  t.match(extractMain(await browser.get('/login?done=password-reset')), /all sessions have ended/);
  t.equal((await alice.get('/settings/emails')).status, 303, 'the session has ended');
  for (const response of [
    await browser.get(`/login/reset?token=${token}`),
    await browser.get('/login/reset'),
    await browser.post('/login/reset', { token, password: next }),
    await browser.post('/login/reset', { token: token.slice(1), password: 'short' }),
  ]) {
    t.equal(response.status, 404);
    t.match(extractMain(response), /This link does not work[^]*Send another link/);
  }
  t.equal((await browser.post('/login', { username: 'alice@example.org', password })).status, 422);
  t.equal((await browser.post('/login', { username: 'alice@example.org', password: next })).status, 303);
  const lines = JSON.stringify(web.log);
  t.notMatch(lines, token, 'no secret in the log');
  for (let n = 0; n < 5; n += 1) await browser.post('/login/forgot', { address: 'nobody@example.org' });
  const many = await browser.post('/login/forgot', { address: 'nobody@example.org' });
  t.equal(many.status, 429);
  t.ok(many.headers['retry-after']);
});

t.test('an invitation by mail lets its reader in, into an organisation', async (t) => {
  const web = await startWeb(t, { env: mailEnv });
  const secrets = catchSecrets(web);
  const { accounts, organisations } = web.modules;
  const root = await signedIn(web, 'root-person', { isAdministrator: true });
  await root.post('/orgs', { name: 'guild' });
  const wrong = await root.post('/admin/invites', { address: 'carol' });
  t.equal(wrong.status, 422);
  t.match(extractMain(wrong), /class="field is-wrong"[^]*value="carol"/);
  const made = await root.post('/admin/invites', {
    address: 'carol@example.org',
    organisation: 'guild',
    role: 'GUEST',
  });
  t.match(extractMain(await root.get(location(made))), /on its way to carol@example\.org/);
  t.match(extractMain(await root.get('/admin/invites')), /For carol@example\.org[^]*joins guild[^]*Send again/);
  const carol = visitor(web);
  t.equal(
    location(await carol.post(`/signup?invite=${secrets[0]}`, { handle: 'carol', password })),
    '/settings/keys?done=welcome',
  );
  t.match(extractMain(await carol.get('/settings/emails')), /carol@example\.org[^]*Primary/);
  const person = await accounts.personByUsername('carol');
  t.match(await organisations.organisationsOf(person.id), [{ role: 'GUEST', organisation: { name: 'guild' } }]);

  const bob = await signedIn(web, 'bob-admin', { isAdministrator: true });
  const refused = await bob.post('/admin/invites', {
    address: 'dave@example.org',
    organisation: 'guild',
    role: 'OWNER',
  });
  t.equal(refused.status, 404, 'who is no owner invites nobody into an organisation');
});
