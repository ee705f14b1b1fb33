// Twenty identical clones at once, right after a push: Hearth beside git's http-backend behind nginx.
// usage: bench/concurrent-clones [--rounds N] [--clients N] [--repository PATH] [--executable PATH] [--url OTHER-FORGE]
//        [--install]
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { cloneRequest, drain, moveRefs } from './fetch-request.ts';
import { startHearthServer } from './hearth-server.ts';
import { startHttpPeer } from './peers/http-peer.ts';
import { cpuOfTree, memoryOfTree } from './process-usage.ts';
import { compare, comparisonHead, readNumberOption } from './harness.ts';
import type { Measurement } from './harness.ts';
import { fillRepository } from './sample-history.ts';

const clients = readNumberOption('clients', 20);
const rounds = readNumberOption('rounds', 3);
const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const peer = await startHttpPeer(hearth);
const ours = {
  url: `${hearth.url}/git/alice/bench.git`,
  moveRefs: () => moveRefs(hearth.repository),
  cpuS: () => cpuOfTree([hearth.pid]),
};

let peakMb = 0;
const burst =
  ({ url, moveRefs, cpuS }: Pick<typeof peer, 'url' | 'moveRefs' | 'cpuS'>, body: string): Measurement =>
  async () => {
    moveRefs();
    const cpuBefore = cpuS();
    const startedAt = performance.now();
    const watch = setInterval(() => (peakMb = Math.max(peakMb, memoryOfTree(hearth.pid))), 100);
    await Promise.all(Array.from({ length: clients }, () => drain(`${url}/git-upload-pack`, body)));
    clearInterval(watch);
    const wallS = (performance.now() - startedAt) / 1000;
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { wallS, cpuS: cpuBefore === undefined ? undefined : cpuS()! - cpuBefore };
  };
const both = (title: string, body: string) =>
  compare(title, rounds, { hearth: burst(ours, body), [peer.name]: burst(peer, body) });

const full = cloneRequest(hearth.repository);
const rows = [
  ...(await both(`${clients} clones at once`, full)),
  ...(await both(`${clients} clones of depth 1 at once`, cloneRequest(hearth.repository, 1))),
];
if (peer.repository !== null) {
  for (const repository of [hearth.repository, peer.repository]) {
    const packs = path.join(repository, 'objects', 'pack');
    for (const name of readdirSync(packs))
      if (name.endsWith('.bitmap')) rmSync(path.join(packs, name), { force: true });
  }
  rows.push(...(await both(`${clients} clones at once, without a bitmap`, full)));
}
console.log([...comparisonHead, ...rows].join('\n'));
console.log(`\nMost memory of Hearth's processes meanwhile: ${peakMb.toFixed(0)} MB.`);
peer.stop();
await hearth.stop();
