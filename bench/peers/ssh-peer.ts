// The peer of a benchmark over SSH: OpenSSH's own server, or with `--ssh-url` any other forge.
import { execFileSync } from 'node:child_process';
import { userInfo } from 'node:os';
import path from 'node:path';
import type { HearthServer } from '../hearth-server.ts';
import { readTextOption } from '../harness.ts';
import { copyRepository } from '../sample-history.ts';
import { startSshd } from './openssh.ts';

interface SshPeer {
  name: string;
  url: string;
  /** The ssh command of git, for both sides: the same key exchange and cipher. */
  command: string;
  /** CPU seconds so far; undefined when they cannot be measured. */
  cpuS(): number | undefined;
  stop(): void;
}

export async function startSshPeer(hearth: HearthServer): Promise<SshPeer> {
  const algorithms = '-o LogLevel=ERROR -o KexAlgorithms=curve25519-sha256 -c aes128-gcm@openssh.com';
  const command = `ssh -F none -i ${hearth.keyFile} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null ${algorithms}`;
  const url = readTextOption('ssh-url');
  if (url !== null) {
    // Authenticates with the user's own keys: an empty repository, `ssh://git@forge.example.org/alice/bench.git`.
    execFileSync(
      'git',
      ['-C', hearth.repository, 'push', '-q', '--force', url, 'refs/heads/*:refs/heads/*', 'refs/tags/*:refs/tags/*'],
      {
        env: { ...process.env, GIT_SSH_COMMAND: command },
        stdio: ['ignore', 'inherit', 'inherit'],
      },
    );
    return { name: new URL(url).host, url, command, cpuS: () => undefined, stop() {} };
  }
  const repository = path.join(hearth.folder, 'ssh-peer', 'bench.git');
  copyRepository(hearth.repository, repository);
  const sshd = await startSshd(hearth.folder, `${hearth.keyFile}.pub`, hearth.gitConfig);
  return {
    name: 'openssh',
    url: `ssh://${userInfo().username}@127.0.0.1:${sshd.port}${repository}`,
    command: `${command} -o IdentitiesOnly=yes`,
    cpuS: sshd.cpuS,
    stop: sshd.stop,
  };
}
