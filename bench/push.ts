// Pushes of one commit: Hearth over HTTP and SSH beside nginx + http-backend and OpenSSH.
// usage: bench/push [--rounds N] [--repository PATH] [--executable PATH] [--url OTHER-FORGE] [--ssh-url OTHER-FORGE]
//        [--install]
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { startHearthServer } from './hearth-server.ts';
import { startHttpPeer } from './peers/http-peer.ts';
import { startSshPeer } from './peers/ssh-peer.ts';
import { compare, comparisonHead, readNumberOption } from './harness.ts';
import type { Measurement } from './harness.ts';
import { fillRepository } from './sample-history.ts';

const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const peer = await startHttpPeer(hearth, { countProcessorTime: false });
const sshPeer = await startSshPeer(hearth);

const env = { ...process.env, GIT_SSH_COMMAND: sshPeer.command };
const work = path.join(hearth.folder, 'work');
execFileSync('git', ['clone', '-q', '--depth', '1', `file://${hearth.repository}`, work]);
const person = ['-c', 'user.name=Alice', '-c', 'user.email=alice@example.org'];
/** Sent to nginx, too: it does not authenticate, and a refused first request would count against one side only. */
const credentials = (url: string) =>
  peer.repository === null && url === peer.url ? [] : ['-c', `http.extraHeader=Authorization: Bearer ${hearth.token}`];
let count = 0;

/** Every side has a branch of its own, so that each push adds exactly one commit to it. */
const push =
  (url: string, branch: string): Measurement =>
  async () => {
    execFileSync('git', [...person, '-C', work, 'commit', '-q', '--allow-empty', '-m', `Change ${count++}`]);
    const startedAt = performance.now();
    execFileSync('git', ['-C', work, ...credentials(url), 'push', '-q', url, `HEAD:refs/heads/${branch}`], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    return { wallS: (performance.now() - startedAt) / 1000 };
  };

const rounds = readNumberOption('rounds', 25);
const httpUrl = `${hearth.url}/git/alice/bench.git`;
const rows = [
  ...(await compare('HTTP push of one commit', rounds, {
    hearth: push(httpUrl, 'http'),
    [peer.name]: push(peer.url, 'http'),
  })),
  ...(await compare('SSH push of one commit', rounds, {
    hearth: push(`ssh://git@127.0.0.1:${hearth.sshPort}/alice/bench.git`, 'ssh'),
    [sshPeer.name]: push(sshPeer.url, 'ssh'),
  })),
];
console.log([...comparisonHead, ...rows].join('\n'));
peer.stop();
sshPeer.stop();
await hearth.stop();
