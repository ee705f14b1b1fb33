/** `hearth mail`, and what `hearth doctor` finds about mail, beside a running server. */
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { headerOf, startMailServer } from '../fixtures/mail-server.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { runCli } from './run-cli.ts';

const server = await startMailServer(t, { user: 'hearth' });
const hearth = await startHearth(t, { env: server.env });
const { mail, db } = hearth.modules;
const passwordFile = server.env['SERVICE_MAIL_PASSWORD_FILE']!;

const runWith = (env: Record<string, string>, ...words: string[]) =>
  runCli(words, { cwd: hearth.folder, env: { ...env, SERVICE_DATA_DIR: hearth.config.dataDir } });
const run = (...words: string[]) => runWith(server.env, ...words);
const json = async (...words: string[]) => JSON.parse((await run(...words, '--json')).stdout);

interface Finding {
  check: string;
  message: string;
  remedy: string | null;
}
/** What doctor finds in its group `mail`. */
async function findings(env: Record<string, string>): Promise<Finding[]> {
  const { stdout } = await runWith(env, 'doctor', '--json');
  const all = JSON.parse(stdout) as { areas?: { findings: Finding[] }[]; findings?: Finding[] } | Finding[];
  const list = Array.isArray(all) ? all : (all.findings ?? all.areas!.flatMap((area) => area.findings));
  return list.filter(({ check }) => check.startsWith('mail.'));
}

mail.define<{ to: string }>('sample', async ({ to }) => ({ to, subject: `For ${to}`, text: 'x', html: 'x' }));

t.test('mail test sends a message and says what the server said', async (t) => {
  const sent = await run('mail', 'test', 'alice@example.org');
  t.match(sent, { code: 0, stdout: /accepted the test email for alice@example\.org: 250/ });
  t.match(headerOf(await server.next(), 'subject'), /^Test message from/);
  t.match(await run('mail', 'test', 'nobody@example.org'), { code: 4, stderr: /User unknown/ });
  t.match(await run('mail', 'test', 'what'), { code: 2, stderr: /enter a valid email address/ });
  t.match(await runWith({}, 'mail', 'test', 'alice@example.org'), { code: 4, stderr: /mail\.host, mail\.from/ });
});

t.test('mail list shows the queue, mail retry queues a failed mail again', async (t) => {
  for (const to of ['nobody@example.org', 'bob@example.org'])
    await db.write((tx) => mail.enqueue(tx, { kind: 'sample', data: { to } }));
  await mail.drain();
  await server.next('bob@example.org');
  const rows = await json('mail', 'list');
  t.match(rows, [{ kind: 'sample', state: 'FAILED', to: 'nobody@example.org', attempts: 1, error: /User unknown/ }]);
  t.equal(rows.length, 1);
  t.match(await json('mail', 'list', '--state', 'delivered'), [{ to: 'bob@example.org', response: /^250/ }]);
  t.match(await run('mail', 'queue'), { code: 0, stdout: /For nobody@example\.org/ });
  t.match(await run('mail', 'retry'), { code: 2 });
  t.match(await run('mail', 'retry', 'x'), { code: 2, stderr: /an email number/ });
  t.match(await run('mail', 'retry', '9999'), { code: 3 });
  t.match(await runWith({}, 'mail', 'retry', String(rows[0].id)), { code: 4, stderr: /email is disabled/ });

  t.match(await findings(server.env), [
    { check: 'mail.refused', message: /1 email failed since yesterday: .*User unknown/ },
  ]);
  t.match(await run('mail', 'retry', String(rows[0].id)), { code: 0, stdout: /queued again/ });
  await mail.drain();
  t.match(await json('mail', 'retry', '--state', 'failed'), { retried: 1 });
  await db.write(({ manager }) => manager.query("UPDATE outbox SET attempts = 7, last_error = 'asks to try later'"));
  const found = await findings(server.env);
  t.match(found, [
    { check: 'mail.retried', message: /retried several times: asks to try later/, remedy: /hearth mail test/ },
  ]);
  await db.write(({ manager }) => manager.query('DELETE FROM outbox'));
});

t.test('doctor checks the settings and the password file', async (t) => {
  t.same(await findings(server.env), []);
  t.same(await findings({}), [], 'an instance without mail misses nothing');
  const { SERVICE_MAIL_FROM: _from, SERVICE_BASE_URL: _url, ...incomplete } = server.env;
  t.match(await findings(incomplete), [{ check: 'mail.incomplete', message: /mail\.from and base_url/ }]);
  const { SERVICE_MAIL_USER: _user, ...userless } = server.env;
  t.match(await findings(userless), [{ check: 'mail.no_user' }]);
  const { SERVICE_MAIL_PASSWORD_FILE: _file, ...fileless } = server.env;
  t.match(await findings(fileless), [{ check: 'mail.no_password' }]);
  t.match(await findings({ ...server.env, SERVICE_MAIL_PASSWORD_FILE: '/absent/password' }), [
    { check: 'mail.password_file', message: /cannot be read: ENOENT/ },
  ]);
  const open = path.join(hearth.folder, 'password');
  writeFileSync(open, 'x');
  chmodSync(open, 0o644);
  t.match(await findings({ ...server.env, SERVICE_MAIL_PASSWORD_FILE: open }), [
    { check: 'mail.password_readable', remedy: `chmod 640 ${open}` },
  ]);
  chmodSync(passwordFile, 0o600);
});
