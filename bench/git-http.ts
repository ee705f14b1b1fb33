// Clones over HTTP: Hearth beside git's http-backend behind nginx.
// usage: bench/git-http [--rounds N] [--repository PATH] [--install]
import { execFileSync } from 'node:child_process';
import { request } from 'node:http';
import path from 'node:path';
import { startHearthServer } from './hearth-server.ts';
import { packet } from './packet.ts';
import { startNginx } from './peers/nginx.ts';
import { cpuOfTree } from './processes.ts';
import { compare, comparisonHead, option } from './rounds.ts';
import type { Side } from './rounds.ts';
import { copyRepository, fillRepository } from './sample-history.ts';

/** The request that `git clone` sends after it has seen the refs; `depth` for a shallow one. */
function cloneRequest(repository: string, depth?: number): string {
  const refs = execFileSync('git', ['-C', repository, 'for-each-ref', '--format=%(objectname)']).toString().trim().split('\n');
  return [
    packet('command=fetch'),
    packet('object-format=sha1'),
    '0001',
    packet('ofs-delta'),
    packet('no-progress'),
    ...(depth === undefined ? [] : [packet(`deepen ${depth}`)]),
    ...[...new Set(refs)].map((id) => packet(`want ${id}\n`)),
    packet('done\n'),
    '0000',
  ].join('');
}

/** Sends the request and throws the answer away: what is left is the server. */
function drain(url: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2', 'content-length': Buffer.byteLength(body) },
    });
    call.on('error', reject).on('response', (response) => {
      let bytes = 0;
      if (response.statusCode !== 200) reject(new Error(`${url} answers ${response.statusCode}`));
      response.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('end', () => resolve(bytes)).on('error', reject);
    });
    call.end(body);
  });
}

const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const peerRoot = path.join(hearth.folder, 'peer');
copyRepository(hearth.repository, path.join(peerRoot, 'bench.git'));
const nginx = await startNginx(hearth.folder, peerRoot, hearth.gitConfig);
const servers = {
  hearth: { url: `${hearth.url}/git/alice/bench.git`, cpuS: () => cpuOfTree([hearth.pid]) },
  nginx: { url: `${nginx.url}/git/bench.git`, cpuS: () => nginx.cpuS() },
};

const drained = (server: { url: string; cpuS(): number }, body: string): Side => async () => {
  const cpuBefore = server.cpuS();
  const startedAt = performance.now();
  const bytes = await drain(`${server.url}/git-upload-pack`, body);
  const wallS = (performance.now() - startedAt) / 1000;
  if (bytes < 1000) throw new Error(`${server.url} sent only ${bytes} bytes`);
  await new Promise((resolve) => setTimeout(resolve, 300));
  return { wallS, cpuS: server.cpuS() - cpuBefore };
};
const cloned = (server: { url: string }, name: string): Side => async () => {
  const target = path.join(hearth.folder, `clone-${name}`);
  execFileSync('rm', ['-rf', target]);
  const startedAt = performance.now();
  execFileSync('git', ['clone', '-q', '--bare', server.url, target]);
  return { wallS: (performance.now() - startedAt) / 1000 };
};

const rounds = option('rounds', 7);
const full = cloneRequest(hearth.repository);
const shallow = cloneRequest(hearth.repository, 1);
const rows = [
  ...(await compare('HTTP clone, server side', rounds, { hearth: drained(servers.hearth, full), 'nginx + http-backend': drained(servers.nginx, full) })),
  ...(await compare('HTTP clone of depth 1, server side', rounds, { hearth: drained(servers.hearth, shallow), 'nginx + http-backend': drained(servers.nginx, shallow) })),
  ...(await compare('HTTP clone with its client', Math.min(rounds, 5), { hearth: cloned(servers.hearth, 'a'), 'nginx + http-backend': cloned(servers.nginx, 'b') })),
];
console.log([...comparisonHead, ...rows].join('\n'));
nginx.stop();
await hearth.stop();
