// Commands about other servers, and about what pushes and scheduled tasks leave behind, beside a running server.
import { execFile, execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { openModules as realOpenModules } from '../../src/app/index.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import type { Hearth, TestPerson } from '../fixtures/start-hearth.ts';
import { hasSshd, createBareRepository, startSshRemote } from '../mirrors/remote-servers.ts';
import { clientEnvironment } from '../git/git-fixture.ts';
import { startReceiver } from '../webhooks/receiver.ts';
import type { Receiver } from '../webhooks/receiver.ts';
import { runCli } from './run-cli.ts';
import { insertRow } from '../fixtures/test-database.ts';
import { insertDelivery } from '../webhooks/insert-delivery.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(120_000);

let server: Hearth;
let alice: TestPerson;
let target: Receiver;
let env: Record<string, string>;
let work: string;
/** The address of another forge, started by its test. */
let other: string;
/** The port of an sshd that its test starts. */
let sshPort: number;
const canTrySsh = hasSshd() ? {} : { skip: 'needs an sshd that can be started here' };

let opened: ReturnType<typeof realOpenModules> | undefined;
const openModules: typeof realOpenModules = async (config, options) => {
  opened ??= realOpenModules(config, options);
  return { ...(await opened), close: async () => {} };
};
t.teardown(async () => (await opened)?.close());
const hearth = (...words: string[]) =>
  runCli(words, { cwd: server.folder, openModules, env: { ...env, SERVICE_DATA_DIR: server.config.dataDir } });
const json = async (...words: string[]) => JSON.parse((await hearth(...words, '--json')).stdout);
const keyFile = (line: string): string => {
  const file = path.join(server.folder, 'key.pub');
  writeFileSync(file, `${line}\n`);
  return file;
};
const run = promisify(execFile);
/** Asynchronous: the server runs in this thread. */
const git = async (...args: string[]): Promise<string> =>
  (
    await run('git', ['-c', 'user.name=alice', '-c', 'user.email=alice@example.org', ...args], {
      cwd: work,
      env: clientEnvironment,
    })
  ).stdout.trim();

t.before(async () => {
  target = await startReceiver(t);
  const port = await freePort();
  sshPort = await freePort();
  other = `http://127.0.0.1:${await freePort()}`;
  env = {
    SERVICE_HTTP_LISTEN: `127.0.0.1:${port}`,
    SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port},${new URL(other).host},127.0.0.1:${sshPort}`,
    SERVICE_WEBHOOKS_ALLOWED_HOSTS: target.host,
  };
  server = await startHearth(t, { env });
  alice = await server.addPerson('alice');
  work = path.join(server.folder, 'work');
  mkdirSync(work);
  await hearth('repo', 'add', 'alice/site', '--public');
  await git('init', '--quiet', '-b', 'main');
  await git('remote', 'add', 'origin', `${server.url.replace('://', `://alice:${alice.token}@`)}/git/alice/site.git`);
  await git('commit', '--quiet', '--allow-empty', '-m', 'one');
  await git('push', '--quiet', 'origin', 'main', 'main:topic');
});

t.test('repo undo lists lost commits and restores them', async (t) => {
  const lost = await git('rev-parse', 'HEAD');
  await git('push', '--quiet', 'origin', ':topic');
  // Lost commits are recorded right after the push was acknowledged.
  const tips = await waitUntil(async () => {
    const found: { id: string; ref: string; oldId: string }[] = await json('repo', 'undo', 'alice/site');
    return found.length > 0 && found;
  });
  t.match(tips, [{ ref: 'refs/heads/topic', oldId: lost }]);
  t.match(await hearth('repo', 'undo', 'alice/site', '--restore', 'feed'), {
    code: 3,
    stderr: /hint: to list what can be restored: hearth repo undo OWNER\/NAME/,
  });
  t.match(await hearth('repo', 'undo', 'alice/site', '--as', 'x'), { code: 2 });
  t.match(await hearth('repo', 'undo', 'alice/site', '--restore', tips[0]!.id, '--as', 'rescued'), {
    code: 0,
    stdout: /^Restored refs\/heads\/rescued of alice\/site to /,
  });
  t.match(await git('ls-remote', 'origin', 'rescued'), lost);
});

t.test('repo import and mirror: import a repository, mirror it, pause, resume', async (t) => {
  const address = `${server.url}/git/alice/site.git`;
  t.match(await hearth('repo', 'import', 'nonsense', 'alice/copy'), { code: 2, stderr: /enter the https or SSH URL/i });
  for (const ssh of ['ssh://git.example.org/x', 'git@git.example.org:x'])
    t.match(await hearth('repo', 'import', ssh, 'alice/copy'), {
      code: 2,
      stderr: /only https is allowed.*mirrors\.allowed_hosts = \["git\.example\.org"\]/i,
    });
  t.match(await hearth('repo', 'import', address, 'alice/copy', '--mirror', '--public'), {
    code: 0,
    stdout: /^Imported alice\/copy: \d branches and tags; it stays in sync\.\n$/,
  });
  t.match(await json('repo', 'mirror', 'list'), [
    { name: 'alice/copy', direction: 'pull', address, state: 'ok', lastError: null },
  ]);
  t.match(await hearth('repo', 'mirror', 'show', 'alice/copy'), {
    code: 0,
    stdout: /^Repository\talice\/copy\nDirection\tpull\n/,
  });
  t.match(await hearth('repo', 'mirror', 'show', 'alice/site'), { code: 4, stderr: /is not a mirror/ });
  t.match(await hearth('repo', 'mirror', 'pause', 'alice/copy'), { code: 0, stdout: /mirror resume alice\/copy/ });
  t.match(await json('repo', 'mirror', 'list'), [{ nextAt: null }]);
  t.match(await hearth('repo', 'mirror', 'resume', 'alice/copy'), { code: 0, stdout: /^Resumed alice\/copy: / });
  t.match(await hearth('repo', 'mirror', 'sync', 'alice/copy'), { code: 0, stdout: 'alice/copy is up to date.\n' });
  t.match(await json('repo', 'list'), [
    { name: 'copy', state: 'mirror' },
    { name: 'site', state: 'ok' },
  ]);
  t.match(await json('repo', 'show', 'alice/copy'), { mirror: { direction: 'pull', address }, followers: 0 });
});

t.test('key import-github and import github: keys and repositories of an account elsewhere', async (t) => {
  const [first, second] = [0, 1].map(() => {
    const { publicKey } = generateKeyPairSync('ed25519');
    const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
    const text = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
    return `ssh-ed25519 ${Buffer.concat([text(Buffer.from('ssh-ed25519')), text(raw)]).toString('base64')}`;
  });
  const requestedUrls: string[] = [];
  const listed = (name: string, address: string, isPrivate = false) => ({
    name,
    full_name: `bob/${name}`,
    clone_url: address,
    private: isPrivate,
    description: 'From there',
  });
  const forge = createServer((request, response) => {
    requestedUrls.push(`${request.url} ${request.headers.authorization ?? ''}`);
    if (request.url === '/bob.keys') return void response.end(`${first}\n${second}\nssh-dss AAAA\n`);
    if (request.url?.startsWith('/users/bob/repos?') !== true && request.url?.startsWith('/user/repos?') !== true)
      return void response.writeHead(404).end();
    response.end(
      JSON.stringify([
        listed('bobs', `${server.url}/git/alice/site.git`),
        listed('site', `${server.url}/git/alice/site.git`),
        listed('gone', `${server.url}/git/alice/none.git`, true),
      ]),
    );
  });
  await new Promise<void>((resolve) => forge.listen(Number(new URL(other).port), '127.0.0.1', resolve));
  t.teardown(() => forge.close());

  t.match(await hearth('key', 'import-github', `${other}/bob.keys`, '--user', 'alice', '--dry-run'), {
    code: 0,
    stdout: /^ssh-ed25519\tSHA256:\S+\twould be added\n/,
  });
  await hearth('key', 'add', '--user', 'alice', '--title', 'mine', keyFile(second!));
  const imported = await hearth('key', 'import-github', `${other}/bob.keys`, '--user', 'alice');
  t.match(
    imported,
    {
      code: 0,
      stdout: /^ssh-ed25519\tSHA256:\S+\tadded\nssh-ed25519\tSHA256:\S+\tthere already\nssh-dss\tSHA256:\S+\tskipped: /,
    },
    imported.stderr,
  );
  t.match(await hearth('key', 'import-github', `${other}/carol.keys`, '--user', 'alice'), {
    code: 3,
    stderr: /has no account of this name/,
  });
  t.match(await hearth('key', 'import-github', 'http://127.0.0.2/bob.keys', '--user', 'alice'), {
    code: 4,
    stderr: /only https is allowed/i,
  });
  t.match(await hearth('key', 'import-github', 'https://127.0.0.2/bob.keys', '--user', 'alice'), {
    code: 4,
    stderr: /not a public address.*mirrors\.allowed_hosts/,
  });
  t.match(await hearth('key', 'import-github', 'no/name', '--user', 'alice'), {
    code: 2,
    stderr: /not a valid GitHub username/,
  });

  const from = ['import', 'github', 'bob', '--user', 'alice', '--api', other];
  t.match(await hearth(...from, '--dry-run'), {
    code: 0,
    stdout:
      'alice/bobs\tbob/bobs\twould be imported, private\nalice/site\tbob/site\tskipped: the name is in use here\nalice/gone\tbob/gone\twould be imported, private\n',
  });
  writeFileSync(path.join(server.folder, 'token'), 'canary\n');
  const brought = await hearth(...from, '--keep-visibility', '--secret-file', path.join(server.folder, 'token'));
  t.match(
    brought,
    {
      code: 1,
      stdout:
        /^alice\/bobs\tbob\/bobs\timported, public: \d refs\nalice\/site\t[^\n]*skipped[^\n]*\nalice\/gone\tbob\/gone\tfailed: /,
    },
    brought.stderr,
  );
  t.match(requestedUrls.at(-1), /^\/user\/repos\?.* Bearer canary$/);
  t.match(await json('repo', 'show', 'alice/bobs'), { visibility: 'PUBLIC', description: 'From there', mirror: null });
  t.match(await hearth('import', 'github', 'carol', '--user', 'alice', '--api', other), {
    code: 3,
    stderr: /has no account/,
  });
  t.match(await hearth('import', 'github', 'bob', '--user', 'nobody', '--api', other), {
    code: 2,
    stderr: /no user or organisation is named nobody/,
  });
  t.match(await hearth('import', 'gone.bundle'), { code: 3 }, 'files are imported as before');
  await hearth('repo', 'delete', 'alice/bobs', '--yes');
});

t.test('webhook add, list, test, deliveries and remove', async (t) => {
  writeFileSync(path.join(server.folder, 'secret'), 'it is a secret\n');
  const added = await hearth(
    'webhook',
    'add',
    'alice/site',
    target.url,
    '--events',
    'push, create',
    '--secret-file',
    'nowhere',
  );
  t.match(added, { code: 2, stderr: /nowhere cannot be read/ });
  const { id } = await json(
    'webhook',
    'add',
    'alice/site',
    target.url,
    '--events',
    'push,create',
    '--secret-file',
    path.join(server.folder, 'secret'),
  );
  t.match(await json('webhook', 'list', 'alice/site'), [
    { id, url: target.url, hasSecret: true, events: ['push', 'create'], active: true },
  ]);
  t.match(await hearth('webhook', 'add', 'alice/site', target.url, '--events', 'psh'), {
    code: 2,
    stderr: /choose from push, create, delete, fork, repository, run/,
  });
  t.match(await hearth('webhook', 'list', 'alice'), {
    code: 3,
    stderr: /the organisation alice does not exist\. To specify a repository, use owner\/name/,
  });
  t.match(await hearth('webhook', 'test', 'alice/site', id.slice(0, 8)), {
    code: 0,
    stdout: /^Delivery \d+: The server responded with status 200 after \d+ ms\.\n$/,
  });
  t.equal(target.got.length, 1);
  const [first] = await json('webhook', 'deliveries', 'alice/site', id);
  t.match(first, { state: 'DELIVERED', status: 200 });
  t.match(await hearth('webhook', 'deliveries', 'alice/site', id, '--redeliver', String(first.id)), {
    code: 0,
    stdout: /status 200/,
  });
  t.match(await hearth('webhook', 'deliveries', 'alice/site', id, '--redeliver', 'x'), { code: 2 });
  t.equal(target.got.length, 2);
  t.match(await hearth('webhook', 'remove', 'alice/site', id, '--dry-run'), { code: 0, stdout: /^Would remove/ });
  t.match(await hearth('webhook', 'remove', 'alice/site', id), { code: 2, stderr: /add --yes/ });
  t.match(await hearth('webhook', 'remove', 'alice/site', id, '--yes'), { code: 0 });
  t.same(await json('webhook', 'list', 'alice/site'), []);
});

t.test('job list shows queued and failed work of every queue, and job retry retries', async (t) => {
  const { id: hook } = await json('webhook', 'add', 'alice/site', target.url);
  const { db } = server.modules;
  await db.write(async (tx) => {
    const { manager, now } = tx;
    await insertDelivery(tx, {
      id: 900,
      uuid: 'u',
      webhook_id: hook,
      event: 'push',
      payload: '{}',
      state: 'FAILED',
      attempts: 8,
      next_attempt_at: 1,
      locked_until: 0,
      created_at: now + 2,
      error: 'it did not answer',
    });
    await insertRow(tx, 'outbox', {
      id: 901,
      kind: 'mail',
      key: 'alice',
      state: 'FAILED',
      attempts: 8,
      next_at: 1,
      created_at: now,
      last_error: 'no such address',
    });
    await manager.query(
      "INSERT INTO federation_outbox (id, actor_path, type, is_public, activity, created_at) VALUES ('a', '/ap/repos/alice/site', 'Push', 1, '{}', 1)",
    );
    await manager.query(
      "INSERT INTO federation_delivery (id, outbox_id, target_inbox, host, state, attempts, next_attempt_at, created_at) VALUES (7, 'a', 'https://forge.example.org/inbox', 'forge.example.org', 'PENDING', 0, ?, ?)",
      [now + 60_000, now + 1],
    );
    await manager.query(
      "UPDATE mirrors SET failures = 3, last_error = 'refused' WHERE repository_id = (SELECT id FROM repositories WHERE name = 'copy')",
    );
  });
  const rows = await json('job', 'list');
  t.match(
    rows.find(({ id }: { id: string }) => id === 'webhook-900'),
    { kind: 'webhook', about: target.url, state: 'failed', tries: 8, nextAt: null, error: 'it did not answer' },
  );
  t.match(
    rows.find(({ id }: { id: string }) => id === 'message-901'),
    { kind: 'message', about: 'mail alice', state: 'failed', tries: 8, nextAt: null, error: 'no such address' },
  );
  t.match(await hearth('job', 'retry', 'message-901'), { code: 0 });
  t.match(
    (await json('job', 'list')).find(({ id }: { id: string }) => id === 'message-901'),
    { state: 'waiting', tries: 0 },
  );
  t.match(await hearth('job', 'retry', 'message-901'), { code: 4, stderr: /only a FAILED one/ });
  t.match(await hearth('job', 'retry', 'message-902'), { code: 3 });
  t.match(
    rows.find(({ id }: { id: string }) => id === 'delivery-7'),
    { kind: 'delivery', state: 'waiting', tries: 0, nextAt: /Z$/, error: null },
  );
  const mirror = rows.find(({ kind }: { kind: string }) => kind === 'mirror');
  t.match(mirror, { about: 'alice/copy', state: 'failing', tries: 3, error: 'refused' });
  t.match(await hearth('job', 'list', '--state', 'failed'), {
    code: 0,
    stdout: /^webhook-900\twebhook\t\S+\tfailed\t8\t\tit did not answer\n/,
  });
  t.match(await hearth('job', 'list', '--limit', '1'), { code: 0, stdout: /^[^\n]*\n$/ });
  t.match(await hearth('job', 'list', '--state', 'lost'), { code: 2 });
  t.match(await hearth('job', 'retry', 'webhook-900'), {
    code: 0,
    stdout: /^Created webhook delivery \d+ to send it again\.\n$/,
  });
  t.match(await hearth('job', 'retry', mirror.id), { code: 0, stdout: 'Retried the mirror: ok.\n' });
  for (const [id, code] of [
    ['webhook-1', 3],
    ['delivery-99', 3],
    ['mirror-x', 3],
    ['ci-1', 2],
    ['push-1', 3],
    ['x', 2],
  ] as const)
    t.equal((await hearth('job', 'retry', id)).code, code, id);
  await hearth('webhook', 'remove', 'alice/site', hook, '--yes');
  await db.write(({ manager }) => manager.query('DELETE FROM federation_outbox'));
});

t.test('a parked push is listed with the reason, and job retry announces it in the running server', async (t) => {
  const { db, repositories } = server.modules;
  await db.write(({ manager, now }) =>
    manager.query(
      `INSERT INTO pushes (id, repository_id, via, created_at, settled_at, attempts, tried_at, last_error, parked_at)
      SELECT ?, id, 'http', ?, ?, 3, ?, 'ci: broken', ? FROM repositories WHERE name = 'site'`,
      ['0b9f2c1e-6d5a-4f1b-9c39-5f1c2a7d8e90', now, now, now, now],
    ),
  );
  const id = 'push-0b9f2c1e-6d5a-4f1b-9c39-5f1c2a7d8e90';
  t.match(await json('job', 'list', '--state', 'failed'), [
    { id, kind: 'push', about: 'alice/site', state: 'failed', tries: 3, nextAt: null, error: 'ci: broken' },
  ]);
  let isMended = false;
  const received: string[] = [];
  repositories.pushes.onPush({
    name: 'of-the-server',
    record: async (_tx, push) => {
      if (!isMended) throw new Error('not yet');
      received.push(push.id);
    },
  });
  t.match(await hearth('job', 'retry', id), {
    code: 1,
    stdout: 'Retried the push, but it failed: of-the-server: not yet.\n',
  });
  isMended = true;
  t.match(await hearth('job', 'retry', id), {
    code: 0,
    stdout: 'Retried the push. All listeners are notified now.\n',
  });
  t.strictSame(received, [id.slice('push-'.length)], 'the server announced it, once');
  t.match(await hearth('job', 'retry', id), { code: 4, stderr: /all listeners have already received/ });
  t.strictSame(await json('job', 'list', '--state', 'failed'), []);
});

t.test('backup list, drill and prune; ssh hostkey show', async (t) => {
  const made = await json('backup', 'create', '--with-keys');
  t.match(await json('backup', 'list'), [{ name: made.name, repositories: 3, withKeys: true, proof: null }]);
  t.match(await hearth('backup', 'drill'), { code: 0, stdout: '3 of 3 repositories restored intact.\n' });
  t.match(await hearth('backup', 'list'), { stdout: /\t3\tnever\t3 of 3\n$/ });
  t.match(await hearth('backup', 'verify', made.name), { code: 0, stdout: /^files\t\d+\tok\ndatabase\t/ });
  t.match(await json('backup', 'list'), [{ verified: { at: /^20/, isWhole: false, problems: [] } }]);
  t.match(await hearth('backup', 'verify', made.name, '--all'), { code: 0 }, 'what was noted is no file too many');
  t.match(await hearth('backup', 'drill', 'nope'), { code: 3 });
  t.match(
    await hearth('backup', 'prune', '--keep-daily', '0', '--keep-weekly', '0', '--keep-monthly', '0', '--dry-run'),
    { code: 0, stdout: /^(Would remove|Removed) \d/ },
  );
  t.match(await hearth('backup', 'prune', '--keep-daily', 'x'), { code: 2, stderr: /is not a number of backups/ });
  t.match(await hearth('backup', 'prune'), { code: 0, stdout: 'Removed 0, kept 1.\n' });
  t.match(await hearth('ssh', 'hostkey', 'show'), {
    code: 0,
    stdout: /^SHA256:\S+ \(ED25519\)\nSHA256:\S+ \(ECDSA\)\n$/,
  });
});

t.test('repo import and mirror by ssh: a generated key, or an existing one', canTrySsh, async (t) => {
  const there = await startSshRemote(t, sshPort);
  createBareRepository(there.folder, 'tool.git');
  const address = `${there.url}/tool.git`;
  const made = await hearth('repo', 'import', address, 'alice/later', '--mirror');
  t.match(made, {
    code: 0,
    stdout:
      /^Created the empty repository alice\/later\. Add its public key on 127\.0\.0\.1:\d+:\n\nssh-ed25519 \S+ mirror@\S+\n/,
  });
  t.match(made.stderr, `presents the host key ED25519 ${there.fingerprint()}`);
  t.match(made.stderr, 'hearth repo mirror sync alice/later');
  t.match(await hearth('repo', 'mirror', 'sync', 'alice/later'), { code: 6, stderr: /does not accept the SSH key/ });
  const { publicKey } = await json('repo', 'mirror', 'show', 'alice/later');
  there.allow(publicKey);
  t.match(await hearth('repo', 'mirror', 'sync', 'alice/later'), { code: 0, stdout: 'alice/later is up to date.\n' });
  t.match(
    (await hearth('repo', 'mirror', 'show', 'alice/later')).stdout,
    /\nPublic key\tssh-ed25519 .*\nHost key\tED25519 SHA256:/,
  );

  await there.changeHostKey();
  t.match(await hearth('repo', 'mirror', 'sync', 'alice/later'), { code: 6, stderr: /a host key that differs/ });
  t.match(await json('repo', 'mirror', 'show', 'alice/later'), {
    state: 'host key changed',
    offeredHostKeyFingerprint: `ED25519 ${there.fingerprint()}`,
  });
  const accept = ['repo', 'mirror', 'accept-host-key', 'alice/later', '--fingerprint'];
  t.match(await hearth(...accept, 'SHA256:other'), { code: 4, stderr: /is not the fingerprint that you confirmed/ });
  t.match(await hearth(...accept, there.fingerprint()), { code: 0, stdout: /: ok\.\n$/ });
  t.match(await hearth(...accept, there.fingerprint()), { code: 4, stderr: /no host key other than/ });

  const file = path.join(server.folder, 'known-key');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  there.allow(readFileSync(`${file}.pub`, 'utf8').trim());
  t.match(await hearth('repo', 'import', address, 'alice/now', '--key', 'nowhere'), {
    code: 2,
    stderr: /cannot be read/,
  });
  t.match(await hearth('repo', 'import', address, 'alice/now', '--key', `${file}.pub`), { code: 2, stderr: /Ed25519/ });
  t.match(await hearth('repo', 'import', address, 'alice/now', '--key', file), {
    code: 0,
    stdout: 'Imported alice/now: 2 branches and tags.\n',
  });
});
