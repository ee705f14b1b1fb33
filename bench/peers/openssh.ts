// The SSH peer: OpenSSH's own server, from Debian's package.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuOfTree } from '../process-usage.ts';
import { requirePrograms } from './require-programs.ts';
import { freePort } from './nginx.ts';
import type { Peer } from './nginx.ts';

/** @param publicKey file of the key that may sign in as the current user */
export async function startSshd(
  folder: string,
  publicKey: string,
  gitConfig: string,
): Promise<Peer & { port: number }> {
  requirePrograms({ '/usr/sbin/sshd': 'openssh-server' });
  const port = await freePort();
  const place = path.join(folder, 'sshd');
  mkdirSync(place, { recursive: true });
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path.join(place, 'host')]);
  copyFileSync(publicKey, path.join(place, 'authorized'));
  chmodSync(path.join(place, 'authorized'), 0o600);
  writeFileSync(
    path.join(place, 'config'),
    `Port ${port}
ListenAddress 127.0.0.1
HostKey ${place}/host
AuthorizedKeysFile ${place}/authorized
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
PidFile none
SetEnv GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=${gitConfig}
AcceptEnv GIT_PROTOCOL
`,
  );
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true });
  const sshd = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', path.join(place, 'config')], { stdio: 'ignore' });
  await sleep(300);
  return { port, cpuS: () => cpuOfTree([sshd.pid!]), stop: () => void sshd.kill('SIGTERM') };
}
