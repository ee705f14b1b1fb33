// Clones and listings over SSH: Hearth beside OpenSSH's server. Both with curve25519 and AES-GCM.
// usage: bench/git-ssh [--rounds N] [--repository PATH] [--install]
import { execFileSync } from 'node:child_process';
import { userInfo } from 'node:os';
import path from 'node:path';
import { startHearthServer } from './hearth-server.ts';
import { startSshd } from './peers/openssh.ts';
import { cpuOfTree } from './processes.ts';
import { compare, comparisonHead, option } from './rounds.ts';
import type { Side } from './rounds.ts';
import { copyRepository, fillRepository } from './sample-history.ts';

const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const peerRepository = path.join(hearth.folder, 'peer/bench.git');
copyRepository(hearth.repository, peerRepository);
const sshd = await startSshd(hearth.folder, `${hearth.keyFile}.pub`, hearth.gitConfig);

const env = {
  ...process.env,
  GIT_SSH_COMMAND:
    `ssh -F none -i ${hearth.keyFile} -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null ` +
    '-o LogLevel=ERROR -o KexAlgorithms=curve25519-sha256 -c aes128-gcm@openssh.com',
};
const servers = {
  hearth: { url: `ssh://git@127.0.0.1:${hearth.sshPort}/alice/bench.git`, cpuS: () => cpuOfTree([hearth.pid]) },
  openssh: { url: `ssh://${userInfo().username}@127.0.0.1:${sshd.port}${peerRepository}`, cpuS: () => sshd.cpuS() },
};
const timed = (server: { cpuS(): number }, args: () => string[]): Side => async () => {
  const list = args();
  const cpuBefore = server.cpuS();
  const startedAt = performance.now();
  execFileSync('git', list, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const wallS = (performance.now() - startedAt) / 1000;
  return { wallS, cpuS: server.cpuS() - cpuBefore };
};
const clone = (server: { url: string; cpuS(): number }, name: string) =>
  timed(server, () => {
    const target = path.join(hearth.folder, `clone-${name}`);
    execFileSync('rm', ['-rf', target]);
    return ['clone', '-q', '--bare', server.url, target];
  });
const list = (server: { url: string; cpuS(): number }) => timed(server, () => ['ls-remote', '-q', server.url]);

const rounds = option('rounds', 7);
const rows = [
  ...(await compare('SSH clone with its client', rounds, { hearth: clone(servers.hearth, 'a'), openssh: clone(servers.openssh, 'b') })),
  ...(await compare('SSH ls-remote', rounds * 2, { hearth: list(servers.hearth), openssh: list(servers.openssh) })),
];
console.log([...comparisonHead, ...rows].join('\n'));
sshd.stop();
await hearth.stop();
