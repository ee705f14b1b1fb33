// Clones over HTTP: Hearth beside git's http-backend behind nginx.
// usage: bench/git-http [--rounds N] [--repository PATH] [--install]
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { cloneRequest, drain, moveRefs } from './fetch-request.ts';
import { startHearthServer } from './hearth-server.ts';
import { startNginx } from './peers/nginx.ts';
import { cpuOfTree } from './processes.ts';
import { compare, comparisonHead, option } from './rounds.ts';
import type { Side } from './rounds.ts';
import { copyRepository, fillRepository } from './sample-history.ts';

const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const peerRoot = path.join(hearth.folder, 'peer');
copyRepository(hearth.repository, path.join(peerRoot, 'bench.git'));
const nginx = await startNginx(hearth.folder, peerRoot, hearth.gitConfig);
const servers = {
  hearth: { url: `${hearth.url}/git/alice/bench.git`, repository: hearth.repository, cpuS: () => cpuOfTree([hearth.pid]) },
  nginx: { url: `${nginx.url}/git/bench.git`, repository: path.join(peerRoot, 'bench.git'), cpuS: () => nginx.cpuS() },
};

type Server = (typeof servers)['hearth'];

/** @param isNew whether nobody has asked for this since the last push */
const drained = (server: Server, body: string, isNew: boolean): Side => async () => {
  if (isNew) moveRefs(server.repository);
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
const serverSide = (title: string, body: string, isNew: boolean) =>
  compare(title, rounds, { hearth: drained(servers.hearth, body, isNew), 'nginx + http-backend': drained(servers.nginx, body, isNew) });
const rows = [
  ...(await serverSide('HTTP clone, server side, first after a push', full, true)),
  ...(await serverSide('The same clone again', full, false)),
  ...(await serverSide('HTTP clone of depth 1, first after a push', shallow, true)),
  ...(await serverSide('The same again', shallow, false)),
  ...(await compare('HTTP clone with its client', Math.min(rounds, 5), { hearth: cloned(servers.hearth, 'a'), 'nginx + http-backend': cloned(servers.nginx, 'b') })),
];
console.log([...comparisonHead, ...rows].join('\n'));
nginx.stop();
await hearth.stop();
