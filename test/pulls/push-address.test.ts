// Without `base_url` a push prints an address all the same: the one that the client came to, and over SSH a path.
// A client that knows only the second host key is served.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import ssh2 from 'ssh2';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { startHearth } from '../fixtures/start-hearth.ts';
import { clientEnvironment } from '../git/git-fixture.ts';

const run = promisify(execFile);
const hearth = await startHearth(t);
const alice = await hearth.addPerson('alice');
await hearth.modules.repositories.create(localAdministrator, { owner: 'alice', name: 'site', visibility: 'PUBLIC' });
const pair = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 });
await hearth.modules.accounts.addKey(alice.id, { title: 'laptop', line: pair.public });
const work = path.join(hearth.folder, 'work');
mkdirSync(work);
const keyFile = path.join(hearth.folder, 'key');
writeFileSync(keyFile, pair.private, { mode: 0o600 });
const knownHosts = path.join(hearth.folder, 'known_hosts');
const hostKey = async (file: string) => {
  const { stdout } = await run('ssh-keygen', ['-y', '-f', path.join(hearth.config.dataDir, 'ssh', file)]);
  return `[127.0.0.1]:${hearth.ssh.port} ${stdout.trim()}\n`;
};
const sshCommand = (...options: string[]) =>
  ['ssh', '-F', '/dev/null', '-i', keyFile, '-o', `UserKnownHostsFile=${knownHosts}`, ...options].join(' ');
const git = async (words: string[], more: Record<string, string> = {}) =>
  run('git', ['-c', 'user.name=alice', '-c', 'user.email=alice@example.org', ...words], {
    cwd: work,
    env: { ...clientEnvironment, ...more },
  });
const commit = async (name: string) => {
  writeFileSync(path.join(work, name), name);
  await git(['add', '.']);
  await git(['commit', '--quiet', '-m', `Add ${name}`]);
};
const web = `${hearth.url.replace('://', `://alice:${alice.token}@`)}/git/alice/site.git`;
const overSsh = `ssh://git@127.0.0.1:${hearth.ssh.port}/alice/site.git`;
await git(['init', '--quiet', '-b', 'main']);
await commit('a');
await git(['push', '--quiet', web, 'main']);

t.test('over HTTP', async (t) => {
  await commit('b');
  const { stderr } = await git(['push', web, 'HEAD:refs/for/main/b']);
  t.match(stderr, `New pull request #1: ${hearth.url}/repos/alice/site/pulls/1`);
  const branch = await git(['push', web, 'HEAD:refs/heads/topic']);
  t.match(branch.stderr, `Open a pull request for topic: ${hearth.url}/repos/alice/site/pulls/new?head=topic`);
});

t.test('over SSH, with each of the two host keys', async (t) => {
  for (const [number, file, algorithm] of [
    [2, 'host_ed25519', 'ssh-ed25519'],
    [3, 'host_ecdsa', 'ecdsa-sha2-nistp256'],
  ] as const) {
    writeFileSync(knownHosts, await hostKey(file));
    t.match(readFileSync(knownHosts, 'utf8'), algorithm);
    await commit(file);
    // The client chooses by what it knows of this host.
    const { stderr } = await git(['push', overSsh, `HEAD:refs/for/main/${file}`], {
      GIT_SSH_COMMAND: sshCommand('-o', 'StrictHostKeyChecking=yes'),
    });
    t.match(stderr, `New pull request #${number}: /repos/alice/site/pulls/${number} on this server`);
  }
  writeFileSync(knownHosts, '');
  const first = await git(['ls-remote', overSsh], {
    GIT_SSH_COMMAND: sshCommand('-v', '-o', 'StrictHostKeyChecking=no'),
  });
  t.match(first.stderr, 'Server host key: ssh-ed25519', 'a new client is shown the first');
});
