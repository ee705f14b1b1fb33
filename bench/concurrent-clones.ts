// Twenty identical clones at once, right after a push: Hearth beside git's http-backend behind nginx.
// usage: bench/concurrent-clones [--rounds N] [--clients N] [--repository PATH] [--install]
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { cloneRequest, drain, moveRefs } from './fetch-request.ts';
import { startHearthServer } from './hearth-server.ts';
import { startNginx } from './peers/nginx.ts';
import { cpuOfTree, memoryOfTree } from './processes.ts';
import { compare, comparisonHead, option } from './rounds.ts';
import type { Side } from './rounds.ts';
import { copyRepository, fillRepository } from './sample-history.ts';

const clients = option('clients', 20);
const rounds = option('rounds', 3);
const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const peerRoot = path.join(hearth.folder, 'peer');
const peerRepository = path.join(peerRoot, 'bench.git');
copyRepository(hearth.repository, peerRepository);
const nginx = await startNginx(hearth.folder, peerRoot, hearth.gitConfig);

let peakMb = 0;
const burst = (url: string, repository: string, cpuS: () => number, body: string): Side => async () => {
  moveRefs(repository);
  const cpuBefore = cpuS();
  const startedAt = performance.now();
  const watch = setInterval(() => (peakMb = Math.max(peakMb, memoryOfTree(hearth.pid))), 100);
  await Promise.all(Array.from({ length: clients }, () => drain(`${url}/git-upload-pack`, body)));
  clearInterval(watch);
  const wallS = (performance.now() - startedAt) / 1000;
  await new Promise((resolve) => setTimeout(resolve, 300));
  return { wallS, cpuS: cpuS() - cpuBefore };
};
const both = (title: string, body: string) =>
  compare(title, rounds, {
    hearth: burst(`${hearth.url}/git/alice/bench.git`, hearth.repository, () => cpuOfTree([hearth.pid]), body),
    'nginx + http-backend': burst(`${nginx.url}/git/bench.git`, peerRepository, () => nginx.cpuS(), body),
  });

const full = cloneRequest(hearth.repository);
const rows = [
  ...(await both(`${clients} clones at once`, full)),
  ...(await both(`${clients} clones of depth 1 at once`, cloneRequest(hearth.repository, 1))),
];
for (const repository of [hearth.repository, peerRepository]) {
  const packs = path.join(repository, 'objects', 'pack');
  for (const name of readdirSync(packs)) if (name.endsWith('.bitmap')) rmSync(path.join(packs, name), { force: true });
}
rows.push(...(await both(`${clients} clones at once, without a bitmap`, full)));
console.log([...comparisonHead, ...rows].join('\n'));
console.log(`\nMost memory of Hearth's processes meanwhile: ${peakMb.toFixed(0)} MB.`);
nginx.stop();
await hearth.stop();
