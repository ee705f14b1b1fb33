// The stock client of Git LFS over HTTP and SSH: push, clone, fetch, prune, lock, migrate.
import t from 'tap';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { localAdministrator } from '../../src/access/index.ts';
import { clientGit } from '../git/git-fixture.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startGitServer } from './git-server.ts';

const port = await freePort();
const server = await startGitServer(t, {
  SERVICE_BASE_URL: `http://127.0.0.1:${port}`,
  SERVICE_HTTP_LISTEN: `127.0.0.1:${port}`,
  SERVICE_SSH_ENABLED: 'true',
  SERVICE_SSH_LISTEN: '127.0.0.1:0',
});
const home = path.join(server.folder, 'home');
mkdirSync(home);
const env = { HOME: home, GIT_CONFIG_GLOBAL: path.join(home, 'config') };

async function git(cwd: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await clientGit(args, { cwd, env });
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}${stdout}`);
  return stdout + stderr;
}

t.test('push, clone, fetch, prune', async (t) => {
  const url = await server.newRepository('game', 'PRIVATE');
  await git(server.folder, 'lfs', 'install', '--skip-repo');
  const work = path.join(server.folder, 'work');
  await git(server.folder, 'init', '--quiet', '--initial-branch=main', work);
  await git(work, 'lfs', 'track', '*.bin');
  const contents = Array.from({ length: 5 }, () => randomBytes(200_000));
  for (const [at, content] of contents.entries()) writeFileSync(path.join(work, `${at}.bin`), content);
  await git(work, 'add', '.');
  await git(work, 'commit', '--quiet', '-m', 'art');
  await git(work, 'remote', 'add', 'origin', url);
  await git(work, 'push', '--quiet', 'origin', 'main');

  const clone = path.join(server.folder, 'clone');
  await git(server.folder, 'clone', '--quiet', url, clone);
  for (const [at, content] of contents.entries())
    t.ok(readFileSync(path.join(clone, `${at}.bin`)).equals(content), `${at}.bin`);
  await git(clone, 'lfs', 'fsck');

  writeFileSync(path.join(work, '0.bin'), randomBytes(1_000));
  await git(work, 'commit', '--quiet', '-am', 'another one');
  await git(work, 'push', '--quiet', 'origin', 'main');
  await git(clone, 'pull', '--quiet');
  t.equal(readFileSync(path.join(clone, '0.bin')).length, 1_000);
  t.match(await git(clone, 'lfs', 'prune', '--verify-remote', '--recent', '--force'), /prune: Deleting objects: 100%/);
  rmSync(path.join(clone, '.git', 'lfs', 'objects'), { recursive: true, force: true });
  await git(clone, 'lfs', 'fetch', '--all');
  await git(clone, 'lfs', 'fsck');

  t.test('lock and unlock', async (t) => {
    t.match(await git(work, 'lfs', 'lock', '1.bin'), /Locked 1\.bin/);
    t.match(await git(work, 'lfs', 'locks'), /1\.bin\s+alice/);
    t.match(await git(work, 'lfs', 'locks', '--verify'), /O 1\.bin/);
    await t.rejects(git(work, 'lfs', 'lock', '1.bin'), /already/i);
    t.match(await git(work, 'lfs', 'unlock', '1.bin'), /Unlocked 1\.bin/);
    t.notMatch(await git(work, 'lfs', 'locks'), /bin/);
  });

  t.test('without the right to push, nothing is uploaded', async (t) => {
    const bob = server.url('game', server.tokens.bob);
    await t.rejects(git(work, 'push', bob, 'main:refs/heads/other'), /not found/i);
  });

  t.test('over SSH, with a token for the objects', async (t) => {
    const key = path.join(server.folder, 'key');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
    const { accounts } = server.app.modules;
    const { id } = await accounts.personByUsername('alice');
    await accounts.addKey(id, { title: 'test', line: readFileSync(`${key}.pub`, 'utf8') });
    const options = [
      'StrictHostKeyChecking=no',
      'UserKnownHostsFile=/dev/null',
      'IdentitiesOnly=yes',
      'LogLevel=ERROR',
    ];
    const ssh = ['ssh', '-F', 'none', '-i', key, ...options.flatMap((option) => ['-o', option])].join(' ');
    await git(work, 'config', '--global', 'core.sshCommand', ssh);
    const at = `ssh://git@127.0.0.1:${server.sshPort}/alice/game.git`;
    const clone = path.join(server.folder, 'ssh-clone');
    await git(server.folder, 'clone', '--quiet', at, clone);
    t.equal(readFileSync(path.join(clone, '4.bin')).length, 200_000);
    const content = randomBytes(5_000);
    writeFileSync(path.join(clone, 'ssh.bin'), content);
    await git(clone, 'add', '.');
    await git(clone, 'commit', '--quiet', '-m', 'over SSH');
    await git(clone, 'push', '--quiet', 'origin', 'main');
    await git(work, 'pull', '--quiet', 'origin', 'main');
    t.ok(readFileSync(path.join(work, 'ssh.bin')).equals(content));
    t.match(await git(clone, 'lfs', 'lock', 'ssh.bin'), /Locked/);
    t.match(await git(clone, 'lfs', 'unlock', 'ssh.bin'), /Unlocked/);
  });

  t.test('over SSH, with a deploy key', async (t) => {
    const { repositories } = server.app.modules;
    const keys: Record<string, string> = {};
    for (const access of ['read', 'write']) {
      const key = (keys[access] = path.join(server.folder, `deploy-${access}`));
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', `robot-${access}`, '-f', key]);
      const line = readFileSync(`${key}.pub`, 'utf8');
      await repositories.deployKeys.add(localAdministrator, 'alice', 'game', { line, access });
    }
    const as = async (access: string, cwd: string, ...args: string[]) => {
      const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'IdentitiesOnly=yes'];
      const more = [...options, 'LogLevel=ERROR'].flatMap((option) => ['-o', option]);
      const ssh = ['ssh', '-F', 'none', '-i', keys[access]!, ...more].join(' ');
      await git(cwd, 'config', '--global', 'core.sshCommand', ssh);
      return git(cwd, ...args);
    };
    const at = `ssh://git@127.0.0.1:${server.sshPort}/alice/game.git`;
    const clone = path.join(server.folder, 'deploy-clone');
    await as('read', server.folder, 'clone', '--quiet', at, clone);
    t.equal(readFileSync(path.join(clone, '4.bin')).length, 200_000, 'read with the token that SSH gave');

    const content = randomBytes(4_000);
    writeFileSync(path.join(clone, 'robot.bin'), content);
    await git(clone, 'add', '.');
    await git(clone, 'commit', '--quiet', '-m', 'by a machine');
    await t.rejects(as('read', clone, 'push', '--quiet', 'origin', 'main'), /can read this repository/);
    await as('write', clone, 'push', '--quiet', 'origin', 'main');
    await git(work, 'pull', '--quiet', 'origin', 'main');
    t.ok(readFileSync(path.join(work, 'robot.bin')).equals(content));
    await t.rejects(as('write', clone, 'lfs', 'lock', 'robot.bin'), 'a lock belongs to a person');

    const { accounts, lfs } = server.app.modules;
    const [, writing] = await repositories.deployKeys.list(localAdministrator, 'alice', 'game');
    const viewer = await accounts.deployKeys.viewerOf(server.app.modules.db.lookup, writing!.id);
    const { repository } = await repositories.find(localAdministrator, 'alice', 'game');
    const token = lfs.tokens.sign({ viewer: viewer!, repositoryId: repository.id, operation: 'upload', object: null });
    t.match(await lfs.tokens.verify(token), { viewer: { kind: 'deployKey', scope: 'write' } });
    await repositories.deployKeys.remove(localAdministrator, 'alice', 'game', writing!.id);
    t.equal(await lfs.tokens.verify(token), null, 'a token of a key that is gone opens nothing');
  });
});

t.test('a history is migrated to LFS and pushed', async (t) => {
  const url = await server.newRepository('migrated');
  const work = path.join(server.folder, 'migrated');
  await git(server.folder, 'init', '--quiet', '--initial-branch=main', work);
  for (const size of [3_000, 4_000]) {
    writeFileSync(path.join(work, 'film.mov'), randomBytes(size));
    await git(work, 'add', '.');
    await git(work, 'commit', '--quiet', '-m', `${size}`);
  }
  await git(work, 'lfs', 'migrate', 'import', '--include=*.mov', '--everything', '--yes');
  await git(work, 'push', '--quiet', url, 'main');
  const clone = path.join(server.folder, 'migrated-clone');
  await git(server.folder, 'clone', '--quiet', server.url('migrated'), clone);
  t.equal(readFileSync(path.join(clone, 'film.mov')).length, 4_000, 'anonymous, from a public repository');
  await git(clone, 'lfs', 'fetch', '--all');
  await git(clone, 'checkout', '--quiet', 'HEAD~1');
  t.equal(readFileSync(path.join(clone, 'film.mov')).length, 3_000);
});
