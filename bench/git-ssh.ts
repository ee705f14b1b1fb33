// Clones and listings over SSH: Hearth beside OpenSSH's server. Both with curve25519 and AES-GCM.
// usage: bench/git-ssh [--rounds N] [--repository PATH] [--executable PATH] [--ssh-url OTHER-FORGE] [--install]
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { startHearthServer } from './hearth-server.ts';
import { startSshPeer } from './peers/ssh-peer.ts';
import { cpuOfTree } from './process-usage.ts';
import { compare, comparisonHead, readNumberOption } from './harness.ts';
import type { Measurement } from './harness.ts';
import { fillRepository } from './sample-history.ts';

const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const peer = await startSshPeer(hearth);
const ours = { url: `ssh://git@127.0.0.1:${hearth.sshPort}/alice/bench.git`, cpuS: () => cpuOfTree([hearth.pid]) };

type Server = Pick<typeof peer, 'url' | 'cpuS'>;
const env = { ...process.env, GIT_SSH_COMMAND: peer.command };
const timed =
  (server: Server, args: () => string[]): Measurement =>
  async () => {
    const list = args();
    const cpuBefore = server.cpuS();
    const startedAt = performance.now();
    execFileSync('git', list, { env, stdio: ['ignore', 'ignore', 'inherit'] });
    const wallS = (performance.now() - startedAt) / 1000;
    return { wallS, cpuS: cpuBefore === undefined ? undefined : server.cpuS()! - cpuBefore };
  };
const clone = (server: Server, name: string) =>
  timed(server, () => {
    const target = path.join(hearth.folder, `clone-${name}`);
    execFileSync('rm', ['-rf', target]);
    return ['clone', '-q', '--bare', server.url, target];
  });
const list = (server: Server) => timed(server, () => ['ls-remote', '-q', server.url]);

const rounds = readNumberOption('rounds', 7);
const rows = [
  ...(await compare('SSH clone with its client', rounds, { hearth: clone(ours, 'a'), [peer.name]: clone(peer, 'b') })),
  ...(await compare('SSH ls-remote', rounds * 2, { hearth: list(ours), [peer.name]: list(peer) })),
];
console.log([...comparisonHead, ...rows].join('\n'));
peer.stop();
await hearth.stop();
