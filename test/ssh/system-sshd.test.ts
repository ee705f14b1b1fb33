// time limit: 300 s
// The system's OpenSSH server in front of Hearth: a real sshd on a free port, the real client, the program as people
// run it.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { userInfo } from 'node:os';
import t from 'tap';
import { programs, startServerProcess } from '../e2e/server-process.ts';
import { gitClient } from '../e2e/git-client.ts';
import { freePort } from '../fixtures/free-port.ts';
import { requiredProgram } from '../fixtures/required-program.ts';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const program = programs.either;
const sshd = requiredProgram('sshd');
const me = userInfo().username;

async function freshHearth() {
  const port = await freePort();
  const server = await startServerProcess(t, 'either', {
    env: { SERVICE_SSH_SYSTEM_SSHD: 'true', SERVICE_SSH_PUBLIC_PORT: String(port) },
  });
  const client = gitClient(server.folder);
  await server.command('user', 'add', 'alice', '--random-password', '--admin');
  await server.command('repo', 'create', 'alice/garden');
  await server.command('key', 'add', '--user', 'alice', '--title', 'laptop', client.publicKeyFile);
  return { server, client, port };
}

const { server, client, port } = await freshHearth();

t.test('ssh keys prints one line for a known key, and nothing for any other', async (t) => {
  const [type = '', key = ''] = client.publicKey.split(' ');
  const line = await server.command('ssh', 'keys', '--data-dir', server.dataDir, 'git', type, key);
  t.match(
    line,
    new RegExp(`^restrict,command="${program} ssh shell --data-dir ${server.dataDir} [0-9a-f-]{36}" ${type} `),
  );
  t.ok(line.endsWith(` ${type} ${key}`));
  const other = gitClient(temporaryFolder(t)).publicKey.split(' ')[1]!;
  t.equal(await server.command('ssh', 'keys', '--data-dir', server.dataDir, 'git', type, other), '');
  for (const odd of ['', '"', `${key}\nssh-rsa AAAA`])
    t.equal(await server.command('ssh', 'keys', '--data-dir', server.dataDir, 'git', type, odd || 'x'), '');
});

t.test('status and clone addresses name the port of sshd', async (t) => {
  t.match(
    await server.command('status'),
    new RegExp(`\nSSH\tssh://git@[^/\n]+:${port}   through this machine's own sshd\n`),
  );
  t.match(
    await server.command('repo', 'show', 'alice/garden'),
    new RegExp(`\nClone \\(SSH\\)\tssh://git@[^/\n]+:${port}/alice/garden.git`),
  );
});

t.test('keys on security tokens are accepted in this mode', async (t) => {
  const text = (words: string): Buffer => {
    const bytes = Buffer.from(words, 'latin1');
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const type = 'sk-ssh-ed25519@openssh.com';
  const key = Buffer.concat([text(type), text('k'.repeat(32)), text('ssh:')]).toString('base64');
  const file = path.join(server.folder, 'token.pub');
  writeFileSync(file, `${type} ${key} token\n`);
  t.notMatch(await server.command('key', 'add', '--user', 'alice', '--title', 'token', file), /cannot use/);
  t.match(await server.command('ssh', 'keys', '--data-dir', server.dataDir, 'git', type, key), `" ${type} ${key}`);
});

if (startsHere()) {
  const host = `ssh://${me}@127.0.0.1:${port}`;
  const folder = path.join(server.folder, 'sshd');
  mkdirSync(folder, { mode: 0o700 });
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path.join(folder, 'host')]);
  // sshd requires that root owns this command and all folders above it, as with env; a checkout may not be.
  writeFileSync(
    path.join(folder, 'config'),
    `
    Port ${port}
    ListenAddress 127.0.0.1
    HostKey ${folder}/host
    PidFile ${folder}/pid
    StrictModes no
    UsePAM no
    PasswordAuthentication no
    KbdInteractiveAuthentication no
    PermitRootLogin prohibit-password
    AuthorizedKeysFile none
    AcceptEnv GIT_PROTOCOL
    AuthorizedKeysCommand /usr/bin/env ${program} ssh keys --data-dir ${server.dataDir} %u %t %k
    AuthorizedKeysCommandUser ${me}
  `,
  );
  const daemon = spawn(sshd, ['-D', '-e', '-f', path.join(folder, 'config')], { stdio: ['ignore', 'ignore', 'pipe'] });
  t.teardown(() => daemon.kill('SIGTERM'));
  let log = '';
  daemon.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  await waitUntil(() => /listening/i.test(log) || daemon.exitCode !== null);

  const work = path.join(server.folder, 'work');
  mkdirSync(work);
  const ssh = (...words: string[]) => {
    const options = [
      '-i',
      path.join(server.folder, 'client-key'),
      '-o',
      'IdentitiesOnly=yes',
      '-o',
      'StrictHostKeyChecking=no',
      '-o',
      'UserKnownHostsFile=/dev/null',
      '-o',
      'LogLevel=ERROR',
    ];
    return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile('ssh', [...options, '-p', String(port), `${me}@127.0.0.1`, ...words], (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      );
    });
  };

  t.test('a push through OpenSSH is journalled, a clone gets it, and the key shows its last use', async (t) => {
    await client.expect(work, 'init', '-q', '-b', 'main');
    writeFileSync(path.join(work, 'large'), Buffer.alloc(3_000_000, 'a line of many\n'));
    await client.expect(work, 'add', '.');
    await client.expect(work, 'commit', '-q', '-m', 'first');
    const pushed = await client.run(work, 'push', `${host}/alice/garden.git`, 'main');
    t.equal(pushed.code, 0, pushed.stderr + log);
    await client.expect(server.folder, '-c', 'protocol.version=2', 'clone', '-q', `${host}/alice/garden.git`, 'clone');
    t.equal(readFileSync(path.join(server.folder, 'clone', 'large')).length, 3_000_000);
    const lines = (await server.command('log', 'tail', '-n', '500', '--json'))
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    t.match(
      JSON.parse(await server.command('stats', '--json')),
      { pushesToday: 1 },
      'the push went through the journal',
    );
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    t.match(metrics, /^hearth_git_operations_total\{service="receive-pack",transport="ssh",result="ok"\} 1$/m);
    t.match(
      metrics,
      /^hearth_git_bytes_total\{service="upload-pack",transport="ssh",result="ok",direction="sent"\} \d{3,}$/m,
    );
    t.match(
      lines.filter(({ event }) => event === 'ssh.command'),
      [{ command: 'git', via: 'sshd', address: '127.0.0.1', exitCode: 0 }, { exitCode: 0 }],
    );
    const keys = JSON.parse(await server.command('key', 'list', '--user', 'alice', '--json')) as {
      title: string;
      lastUsedAt: string | null;
    }[];
    t.ok(keys.find(({ title }) => title === 'laptop')!.lastUsedAt, 'the last use is noted');
  });

  t.test('the same policy and messages as the built-in server', async (t) => {
    t.match(await ssh(), { code: 0, stdout: /Hello alice/ });
    t.match(await ssh('whoami'), { code: 0, stdout: 'alice\n' });
    t.match(await ssh('cat', '/etc/passwd'), { code: 1, stdout: '', stderr: /only git/ });
    t.match(await client.run(work, 'ls-remote', `${host}/alice/absent.git`), {
      code: 128,
      stderr: /hearth: repository not found/,
    });
    await server.command('user', 'add', 'bob', '--random-password');
    await server.command('repo', 'create', 'bob/secret');
    t.match(await client.run(work, 'ls-remote', `${host}/bob/secret.git`), {
      code: 128,
      stderr: /hearth: repository not found/,
    });
  });

  t.test('forwarding, terminals and other people’s keys are refused', async (t) => {
    t.notMatch((await ssh('-tt', 'whoami')).stderr, /Permission denied/);
    const outsider = gitClient(temporaryFolder(t));
    t.match(await outsider.run(work, 'ls-remote', `${host}/alice/garden.git`), {
      code: 128,
      stderr: /Permission denied/,
    });
    t.not((await ssh('-o', 'ExitOnForwardFailure=yes', '-W', `127.0.0.1:${new URL(server.url).port}`)).code, 0);
  });

  t.test('a removed key is refused, and so is a disabled person’s', async (t) => {
    const keys = JSON.parse(await server.command('key', 'list', '--user', 'alice', '--json')) as {
      title: string;
      id: string;
    }[];
    const { id } = keys.find(({ title }) => title === 'laptop')!;
    await server.command('key', 'remove', id, '--yes');
    t.match(await ssh('whoami'), { code: 255, stderr: /Permission denied/ });
    await server.command('key', 'add', '--user', 'bob', client.publicKeyFile);
    t.match(await ssh('whoami'), { code: 0, stdout: 'bob\n' });
    await server.command('user', 'disable', 'bob', '--yes');
    t.match(await ssh('whoami'), { code: 255, stderr: /Permission denied/ });
  });

  t.test('while the server is down no client can sign in', async (t) => {
    t.equal(await server.stop(), 0);
    t.match(await ssh('whoami'), { code: 255, stderr: /Permission denied/ });
  });
} else {
  t.test('a real sshd', { skip: 'this system has no user for sshd' }, async () => {});
}

/** When run as root, sshd needs its user and folder for privilege separation. */
function startsHere(): boolean {
  if (process.getuid?.() !== 0) return true;
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  return /^sshd:/m.test(readFileSync('/etc/passwd', 'utf8'));
}
