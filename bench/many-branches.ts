// A push of very many new branches of one commit, server side: a prepared body over HTTP beside nginx with
// git-http-backend, and over SSH beside OpenSSH, with the same settings of git. Each round begins without them.
// usage: bench/many-branches [--rounds N] [--most N] [--executable PATH] [--install]
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { comparisonHead, compare, formatRow, median, readNumberOption } from './harness.ts';
import type { Measurement } from './harness.ts';
import { startHearthServer } from './hearth-server.ts';
import { startHttpPeer } from './peers/http-peer.ts';
import { startSshPeer } from './peers/ssh-peer.ts';
import { encodePacket } from './packet.ts';
import { cpuOfTree, memoryOfTree } from './process-usage.ts';

const rounds = readNumberOption('rounds', 3);
const most = readNumberOption('most', 20_000);
const hearth = await startHearthServer();
process.once('exit', () => hearth.kill());
const git = (...args: string[]): string => execFileSync('git', args).toString().trim();
const identity = ['-c', 'user.name=Alice', '-c', 'user.email=alice@example.org'];
const emptyTree = git('-C', hearth.repository, 'hash-object', '-t', 'tree', '-w', '/dev/null');
const tip = git('-C', hearth.repository, ...identity, 'commit-tree', '-m', 'One', emptyTree);
git('-C', hearth.repository, 'update-ref', 'refs/heads/main', tip);
const http = await startHttpPeer(hearth);
const ssh = await startSshPeer(hearth);
const sshRepository = path.join(hearth.folder, 'ssh-peer', 'bench.git');

const packHead = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
const emptyPack = Buffer.concat([packHead, createHash('sha1').update(packHead).digest()]);
const zeros = '0'.repeat(40);
const bodyOf = (count: number): Buffer =>
  Buffer.concat([
    ...Array.from({ length: count }, (_, at) =>
      Buffer.from(
        encodePacket(`${zeros} ${tip} refs/heads/many/b${at}${at === 0 ? '\0report-status side-band-64k' : ''}`),
      ),
    ),
    Buffer.from('0000'),
    emptyPack,
  ]);

/** Without the branches of the round before, and all of them there afterwards. */
async function measured(
  repository: string,
  count: number,
  cpuS: () => number | undefined,
  send: (body: Buffer) => Promise<unknown>,
): ReturnType<Measurement> {
  rmSync(path.join(repository, 'refs/heads/many'), { recursive: true, force: true });
  if (existsSync(path.join(repository, 'packed-refs'))) writeFileSync(path.join(repository, 'packed-refs'), '');
  git('-C', repository, 'update-ref', 'refs/heads/main', tip);
  const body = bodyOf(count);
  await new Promise((resolve) => setTimeout(resolve, 500));
  const before = cpuS();
  const startedAt = performance.now();
  await send(body);
  const wallS = (performance.now() - startedAt) / 1000;
  const cpu = before === undefined ? undefined : cpuS()! - before;
  const found = git('-C', repository, 'for-each-ref', '--format=x', 'refs/heads/many').split('\n').length;
  if (found !== count) throw new Error(`${found} of ${count} branches in ${repository}`);
  return { wallS, cpuS: cpu };
}

async function post(url: string, body: Buffer): Promise<void> {
  const response = await fetch(`${url}/git-receive-pack`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${hearth.token}`,
      'Content-Type': 'application/x-git-receive-pack-request',
    },
    body: new Uint8Array(body),
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
}

async function overSsh(url: string, body: Buffer): Promise<void> {
  const { username, hostname, port, pathname } = new URL(url);
  const [program = '', ...options] = ssh.command.split(' ');
  const child = spawn(program, [...options, '-p', port, `${username}@${hostname}`, `git-receive-pack '${pathname}'`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdout.resume();
  child.stdin.end(body);
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`ssh ended with ${code}`);
}

const ours = {
  http: `${hearth.url}/git/alice/bench.git`,
  ssh: `ssh://git@127.0.0.1:${hearth.sshPort}/alice/bench.git`,
};
const ourCpu = (): number => cpuOfTree([hearth.pid]);
const times = new Map<string, number[]>();
const timed =
  (name: string, measurement: Measurement): Measurement =>
  async () => {
    const sample = await measurement();
    times.set(name, [...(times.get(name) ?? []), sample.wallS]);
    return sample;
  };

const idle = memoryOfTree(hearth.pid);
let peak = idle;
const watch = setInterval(() => (peak = Math.max(peak, memoryOfTree(hearth.pid))), 50);
const rows: string[] = [];
const counts = [Math.trunc(most / 4), most];
for (const count of counts) {
  rows.push(
    ...(await compare(`${count} new branches over HTTP`, rounds, {
      hearth: timed(`HTTP ${count}`, () => measured(hearth.repository, count, ourCpu, (body) => post(ours.http, body))),
      [http.name]: () => measured(http.repository!, count, http.cpuS, (body) => post(http.url, body)),
    })),
    ...(await compare(`${count} new branches over SSH`, rounds, {
      hearth: timed(`SSH ${count}`, () =>
        measured(hearth.repository, count, ourCpu, (body) => overSsh(ours.ssh, body)),
      ),
      [ssh.name]: () => measured(sshRepository, count, ssh.cpuS, (body) => overSsh(ssh.url, body)),
    })),
  );
}
clearInterval(watch);
const grown = ['HTTP', 'SSH'].map((way) => {
  const [few, many] = counts.map((count) => median(times.get(`${way} ${count}`)!.slice(1))) as [number, number];
  return formatRow([`${way}: ${counts[1]} take of ${counts[0]}`, `${(many / few).toFixed(2)}×`]);
});
console.log(
  [
    ...comparisonHead,
    ...rows,
    '',
    formatRow(['Growth', 'Wall']),
    formatRow(['---', '---:']),
    ...grown,
    formatRow(['Memory above idle, all processes', `${(peak - idle).toFixed(0)} MB`]),
  ].join('\n'),
);
http.stop();
ssh.stop();
await hearth.stop();
process.exit(0);
