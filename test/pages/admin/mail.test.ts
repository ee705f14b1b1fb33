import t from 'tap';
import { startMailServer } from '../../fixtures/mail-server.ts';
import { extractMain, password, startWeb, visitor } from '../../fixtures/web-fixture.ts';
import type { Visitor, Web } from '../../fixtures/web-fixture.ts';
import { sendRequest } from '../../fixtures/web-fixture.ts';
import type { Owner } from '../../fixtures/temporary-folder.ts';

async function administrated(t: Owner, env: Record<string, string>): Promise<{ web: Web; administrator: Visitor }> {
  const web = await startWeb(t, { env });
  await web.modules.accounts.addPerson({ username: 'alice', password, isAdministrator: true });
  const administrator = visitor(web);
  await administrator.post('/login', { username: 'alice', password });
  return { web, administrator };
}

const page = async (administrator: Visitor, query = ''): Promise<string> =>
  extractMain(await administrator.get(`/admin/mail${query}`));

t.test('without settings the page says what is missing and how to set it', async (t) => {
  const { administrator } = await administrated(t, {});
  const body = await page(administrator);
  t.match(body, /This server sends no mail: mail\.host, mail\.from, base_url are not set/);
  t.match(body, /password_file = "\/etc\/hearth\/mail-password"/);
  t.notMatch(body, /Send a test message<\/button>/);
  const { status } = await administrator.post('/admin/mail/test', { to: 'alice@example.org' });
  t.equal(status, 409);
});

t.test('a test message, and a queue with the words of the server', async (t) => {
  const server = await startMailServer(t, { tls: 'starttls', user: 'hearth' });
  const { SERVICE_HTTP_LISTEN: _listen, ...env } = server.env;
  const { web, administrator } = await administrated(t, { ...env, SERVICE_METRICS_TOKEN: 'canary-token' });
  const first = await page(administrator);
  t.match(first, /127\.0\.0\.1, port \d+[^]*STARTTLS[^]*hearth, password in [^]*Hearth &lt;hearth@example\.org&gt;/);
  t.notMatch(first, 'correct horse');
  t.match(first, /The queue is empty/);

  const sent = await administrator.post('/admin/mail/test', { to: 'alice@example.org' });
  t.match(sent, { status: 303, headers: { location: '/admin/mail?done=mail-tested' } });
  t.match((await server.next()).text, /^Mail works/);
  t.match(await page(administrator, '?done=mail-tested'), /accepted the test message/);
  const refused = await administrator.post('/admin/mail/test', { to: 'nobody@example.org' });
  t.match(refused, { status: 409, body: /User unknown[^]*value="nobody@example\.org"/ });
  t.match(await administrator.post('/admin/mail/test', { to: 'what' }), {
    status: 422,
    body: /Enter a valid email address/,
  });

  const { mail, db } = web.modules;
  mail.define<{ to: string }>('sample', async ({ to }) => ({ to, subject: `<b>For</b> ${to}`, text: 'x', html: 'x' }));
  for (const to of ['nobody@example.org', 'bob@example.org'])
    await db.write((tx) => mail.enqueue(tx, { kind: 'sample', data: { to } }));
  t.match(await page(administrator), /Queued \(2\)[^]*Not attempted yet/);
  await mail.drain();
  t.match(await page(administrator), /Queued \(0\)[^]*Failed \(1\)/);
  const failed = await page(administrator, '?state=failed');
  t.match(failed, /&lt;b&gt;For&lt;\/b&gt; nobody@example\.org[^]*sample[^]*one attempt[^]*User unknown[^]*Retry/);
  t.match(await page(administrator, '?state=sent'), /For&lt;\/b&gt; bob@example\.org[^]*250/);

  const id = (await mail.list({ state: 'FAILED', limit: 1 }))[0]!.id;
  const retried = await administrator.post(`/admin/mail/${id}/retry`, {});
  t.match(retried, { status: 303, headers: { location: '/admin/mail?done=mail-retried' } });
  await mail.drain();
  t.match(await administrator.post('/admin/mail/retry', {}), { status: 303 });
  await mail.drain();
  t.equal((await administrator.post('/admin/mail/99999/retry', {})).status, 404);
  t.equal((await administrator.post('/admin/mail/what/retry', {})).status, 404);

  await web.modules.audit.flush();
  const entries = (await web.modules.audit.list({ limit: 20 })).map(({ event }) => event);
  for (const event of ['mail.test_sent', 'mail.retried', 'mail.failed_retried']) t.ok(entries.includes(event), event);

  const metrics = await sendRequest(web, '/metrics', { headers: { Authorization: 'Bearer canary-token' } });
  t.match(metrics.body, /outbox_attempts_total\{kind="mail",result="delivered"\} 1/);
  t.match(metrics.body, /outbox_attempts_total\{kind="webhook",result="delivered"\} 0/);
});

t.test('pages of a long queue', async (t) => {
  const server = await startMailServer(t);
  const { SERVICE_HTTP_LISTEN: _listen, ...env } = server.env;
  const { web, administrator } = await administrated(t, env);
  const { mail, db } = web.modules;
  mail.define<number>('sample', async (n) => ({ to: 'a@example.org', subject: `Mail ${n}`, text: 'x', html: 'x' }));
  await db.write(async (tx) => {
    for (let n = 1; n <= 60; n += 1) await mail.enqueue(tx, { kind: 'sample', data: n, key: 'one after the other' });
  });
  await mail.drain();
  const first = await page(administrator, '?state=sent');
  const [, older] = /href="([^"]+)" rel="next"/.exec(first) ?? [];
  const second = extractMain(await administrator.get(older!.replaceAll('&amp;', '&')));
  const subjects = (body: string): string[] => [...body.matchAll(/Mail \d+/g)].map(([text]) => text);
  const all = new Set([...subjects(first), ...subjects(second)]);
  t.equal(all.size, 60);
  t.notMatch(second, 'rel="next"');
});
