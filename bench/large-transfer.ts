// Large transfers: a clone over SSH beside OpenSSH's server, and a push of everything into an empty repository beside
// nginx with git-http-backend, with Hearth's git settings and with git's own.
// usage: bench/large-transfer [--rounds N] [--commits N] [--repository PATH] [--executable PATH] [--install]
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { executable, startHearthServer } from './hearth-server.ts';
import { cloneRequest, moveRefs } from './fetch-request.ts';
import { startNginx } from './peers/nginx.ts';
import { startSshPeer } from './peers/ssh-peer.ts';
import { cpuOfTree } from './process-usage.ts';
import { compare, comparisonHead, readNumberOption } from './harness.ts';
import type { Measurement } from './harness.ts';
import { fillRepository } from './sample-history.ts';

const rounds = readNumberOption('rounds', 5);

const hearth = await startHearthServer();
// Some 45 MB packed.
await fillRepository(hearth.repository, { commits: 15_000 });
const sshPeer = await startSshPeer(hearth);

interface Server {
  cpuS(): number | undefined;
}
const ours: Server = { cpuS: () => cpuOfTree([hearth.pid]) };
const timed =
  (server: Server, prepare: () => unknown, work: () => Promise<unknown>): Measurement =>
  async () => {
    await prepare();
    const cpuBefore = server.cpuS();
    const startedAt = performance.now();
    await work();
    const wallS = (performance.now() - startedAt) / 1000;
    const cpuAfter = server.cpuS();
    return { wallS, cpuS: cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore };
  };

/** A clone whose client takes the pack and does not look at it, so that the server alone is measured. */
const clone = async (url: string, minBytes: number): Promise<void> => {
  const { username, hostname, port, pathname } = new URL(url);
  const [program, ...options] = sshPeer.command.split(' ') as [string, ...string[]];
  const client = spawn(
    program,
    [
      ...options,
      '-o',
      'SetEnv=GIT_PROTOCOL=version=2',
      '-p',
      port,
      `${username}@${hostname}`,
      `git-upload-pack '${pathname}'`,
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  let bytes = 0;
  client.stdout.on('data', (chunk: Buffer) => (bytes += chunk.length));
  client.stdin.end(cloneRequest(hearth.repository));
  const [code] = await once(client, 'close');
  if (code !== 0 || bytes < minBytes) throw new Error(`${url}: exit status ${code} after ${bytes} bytes`);
};
const packBytes =
  1024 *
  Number(/size-pack: (\d+)/.exec(execFileSync('git', ['-C', hearth.repository, 'count-objects', '-v']).toString())![1]);
const sshUrl = `ssh://git@127.0.0.1:${hearth.sshPort}/alice/bench.git`;
const cloneOf = (server: Server, url: string, prepare = () => {}) =>
  timed(server, prepare, () => clone(url, packBytes * 0.9));

const root = path.join(hearth.folder, 'peer');
const gitDefaults = path.join(hearth.folder, 'defaults');
writeFileSync(gitDefaults, '[safe]\n\tdirectory = *\n[http]\n\treceivepack = true\n');
const peers = {
  'nginx + http-backend': await startNginx(hearth.folder, root, hearth.gitConfig),
  'the same, git’s own settings': await startNginx(path.join(hearth.folder, 'defaults-peer'), root, gitDefaults),
};
let pushes = 0;
let target = '';
const push = (url: string): Promise<unknown> =>
  promisify(execFile)('git', [
    '-C',
    hearth.repository,
    '-c',
    `http.extraHeader=Authorization: Bearer ${hearth.token}`,
    'push',
    '-q',
    url,
    'refs/heads/*:refs/heads/*',
    'refs/tags/*:refs/tags/*',
  ]);
const createOurs = async (): Promise<void> => {
  target = `push-${++pushes}`;
  const env = { PATH: '/usr/bin:/bin', HOME: hearth.folder };
  await promisify(execFile)(executable, ['repo', 'create', `alice/${target}`], { cwd: hearth.folder, env });
};
const createTheirs = (): void => {
  target = `push-${++pushes}.git`;
  execFileSync('git', ['init', '-q', '--bare', path.join(root, target)]);
  execFileSync('git', ['-C', path.join(root, target), 'config', 'http.receivepack', 'true']);
};

console.log(`${(packBytes / 1e6).toFixed(0)} MB packed.\n\n${comparisonHead.join('\n')}`);
const rows = [
  ...(await compare('SSH clone, first after a push', rounds, {
    hearth: cloneOf(ours, sshUrl, () => moveRefs(hearth.repository)),
    [sshPeer.name]: cloneOf(sshPeer, sshPeer.url),
  })),
  ...(await compare('The same again', rounds, {
    hearth: cloneOf(ours, sshUrl),
    [sshPeer.name]: cloneOf(sshPeer, sshPeer.url),
  })),
  ...(await compare('HTTP push into an empty repository', rounds, {
    hearth: timed(ours, createOurs, () => push(`${hearth.url}/git/alice/${target}.git`)),
    ...Object.fromEntries(
      Object.entries(peers).map(([name, peer]) => [
        name,
        timed(peer, createTheirs, () => push(`${peer.url}/git/${target}`)),
      ]),
    ),
  })),
];
console.log(rows.join('\n'));
sshPeer.stop();
for (const peer of Object.values(peers)) peer.stop();
await hearth.stop();
