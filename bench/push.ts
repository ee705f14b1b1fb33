// Pushes of one commit: Hearth over HTTP and SSH beside nginx + http-backend and OpenSSH.
// usage: bench/push [--rounds N] [--install]
import { execFileSync } from 'node:child_process';
import { userInfo } from 'node:os';
import path from 'node:path';
import { startHearthServer } from './hearth-server.ts';
import { startNginx } from './peers/nginx.ts';
import { startSshd } from './peers/openssh.ts';
import { compare, comparisonHead, option } from './rounds.ts';
import type { Side } from './rounds.ts';
import { copyRepository, fillRepository } from './sample-history.ts';

const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const peerRoot = path.join(hearth.folder, 'peer');
copyRepository(hearth.repository, path.join(peerRoot, 'bench.git'));
const nginx = await startNginx(hearth.folder, peerRoot, hearth.gitConfig, { countProcessorTime: false });
execFileSync('git', ['-C', path.join(peerRoot, 'bench.git'), 'config', 'http.receivepack', 'true']);
const sshd = await startSshd(hearth.folder, `${hearth.keyFile}.pub`, hearth.gitConfig);

const env = {
  ...process.env,
  GIT_SSH_COMMAND:
    `ssh -F none -i ${hearth.keyFile} -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null ` +
    '-o LogLevel=ERROR -o KexAlgorithms=curve25519-sha256 -c aes128-gcm@openssh.com',
};
const work = path.join(hearth.folder, 'work');
execFileSync('git', ['clone', '-q', '--depth', '1', `file://${hearth.repository}`, work]);
const person = ['-c', 'user.name=Alice', '-c', 'user.email=alice@example.org'];
/** Sent to both: the peer asks nobody who they are, and a refused first request would count against one side only. */
const credentials = `Authorization: Bearer ${hearth.token}`;
let count = 0;

/** Every side has a branch of its own, so that each push adds exactly one commit to it. */
const push = (url: string, branch: string): Side => async () => {
  execFileSync('git', [...person, '-C', work, 'commit', '-q', '--allow-empty', '-m', `Change ${count++}`]);
  const startedAt = performance.now();
  execFileSync('git', ['-C', work, '-c', `http.extraHeader=${credentials}`, 'push', '-q', url, `HEAD:refs/heads/${branch}`], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  return { wallS: (performance.now() - startedAt) / 1000 };
};

const rounds = option('rounds', 25);
const httpUrl = `${hearth.url}/git/alice/bench.git`;
const rows = [
  ...(await compare('HTTP push of one commit', rounds, {
    hearth: push(httpUrl, 'http'),
    'nginx + http-backend': push(`${nginx.url}/git/bench.git`, 'http'),
  })),
  ...(await compare('SSH push of one commit', rounds, {
    hearth: push(`ssh://git@127.0.0.1:${hearth.sshPort}/alice/bench.git`, 'ssh'),
    openssh: push(`ssh://${userInfo().username}@127.0.0.1:${sshd.port}${peerRoot}/bench.git`, 'ssh'),
  })),
];
console.log([...comparisonHead, ...rows].join('\n'));
nginx.stop();
sshd.stop();
await hearth.stop();
