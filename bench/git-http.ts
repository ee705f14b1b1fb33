// Clones over HTTP: Hearth beside git's http-backend behind nginx.
// usage: bench/git-http [--rounds N] [--repository PATH] [--executable PATH] [--url OTHER-FORGE] [--install]
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { cloneRequest, drain, moveRefs } from './fetch-request.ts';
import { startHearthServer } from './hearth-server.ts';
import { startHttpPeer } from './peers/http-peer.ts';
import { cpuOfTree } from './process-usage.ts';
import { compare, comparisonHead, readNumberOption } from './harness.ts';
import type { Measurement } from './harness.ts';
import { fillRepository } from './sample-history.ts';

const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const peer = await startHttpPeer(hearth);
const ours = {
  url: `${hearth.url}/git/alice/bench.git`,
  moveRefs: () => moveRefs(hearth.repository),
  cpuS: () => cpuOfTree([hearth.pid]),
};

type Server = Pick<typeof peer, 'url' | 'moveRefs' | 'cpuS'>;

/** @param isNew whether this is the first request since the last push */
const drained =
  (server: Server, body: string, isNew: boolean): Measurement =>
  async () => {
    if (isNew) server.moveRefs();
    const cpuBefore = server.cpuS();
    const startedAt = performance.now();
    const bytes = await drain(`${server.url}/git-upload-pack`, body);
    const wallS = (performance.now() - startedAt) / 1000;
    if (bytes < 1000) throw new Error(`${server.url} sent only ${bytes} bytes`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { wallS, cpuS: cpuBefore === undefined ? undefined : server.cpuS()! - cpuBefore };
  };
const cloned =
  (server: { url: string }, name: string): Measurement =>
  async () => {
    const target = path.join(hearth.folder, `clone-${name}`);
    execFileSync('rm', ['-rf', target]);
    const startedAt = performance.now();
    execFileSync('git', ['clone', '-q', '--bare', server.url, target]);
    return { wallS: (performance.now() - startedAt) / 1000 };
  };

const rounds = readNumberOption('rounds', 7);
const full = cloneRequest(hearth.repository);
const shallow = cloneRequest(hearth.repository, 1);
const serverSide = (title: string, body: string, isNew: boolean) =>
  compare(title, rounds, { hearth: drained(ours, body, isNew), [peer.name]: drained(peer, body, isNew) });
const rows = [
  ...(await serverSide('HTTP clone, server side, first after a push', full, true)),
  ...(await serverSide('The same clone again', full, false)),
  ...(await serverSide('HTTP clone of depth 1, first after a push', shallow, true)),
  ...(await serverSide('The same again', shallow, false)),
  ...(await compare('HTTP clone with its client', Math.min(rounds, 5), {
    hearth: cloned(ours, 'a'),
    [peer.name]: cloned(peer, 'b'),
  })),
];
console.log([...comparisonHead, ...rows].join('\n'));
peer.stop();
await hearth.stop();
