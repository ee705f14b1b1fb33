// A push of very many new branches of one commit while another process asks `/healthz` every 10 ms, with all listeners
// on (federation, webhooks, watchers, workflows, the index of code): how late its answers are, when the push is
// announced, and what the home page and the page of the repository cost before and afterwards.
// usage: bench/push-beside-health [--branches N] [--executable PATH]
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { askHealth } from './ask-health.ts';
import { formatRow, median, readNumberOption } from './harness.ts';
import { startHearthServer } from './hearth-server.ts';
import { encodePacket } from './packet.ts';
import { cpuMsOfThreads } from './process-usage.ts';
import { fillRepository } from './sample-history.ts';

const branches = readNumberOption('branches', 45_000);
const views = 20;
const hearth = await startHearthServer({
  SERVICE_FEDERATION_ENABLED: 'true',
  SERVICE_FEDERATION_BASE_URL: 'http://127.0.0.1:9',
  SERVICE_FEDERATION_DEV_ALLOW_INSECURE: 'true',
  SERVICE_WEBHOOKS_ALLOWED_HOSTS: '127.0.0.1:9',
});
process.once('exit', () => hearth.kill());
await fillRepository(hearth.repository);
const git = (...args: string[]): string =>
  execFileSync('git', ['-C', hearth.repository, ...args])
    .toString()
    .trim();
const tip = git('rev-parse', 'HEAD');
const token = await hearth.run('token', 'add', '--user', 'alice', '--name', 'owner', '--access', 'admin');
const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
async function api(method: string, at: string, body: unknown): Promise<void> {
  const response = await fetch(`${hearth.url}/api/v1/repos/alice/bench${at}`, {
    method,
    headers,
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${at}: ${response.status} ${await response.text()}`);
}
const branch = git('symbolic-ref', '--short', 'HEAD');
const workflow = 'on: { push: { branches: [main] } }\njobs: { test: { runs-on: linux, steps: [{ run: ls }] } }\n';
await api('POST', '/contents/.hearth/workflows/ci.yml', {
  branch,
  message: 'Add a workflow',
  content: Buffer.from(workflow).toString('base64'),
});
await api('POST', '/hooks', {
  type: 'gitea',
  active: true,
  events: ['push', 'create'],
  config: { url: 'http://127.0.0.1:9/', content_type: 'json' },
});

const database = new DatabaseSync(path.join(hearth.folder, 'data/hearth.db'), { readOnly: true });
const unannounced = (): number =>
  Number(database.prepare('SELECT count(*) AS n FROM pushes WHERE announced_at IS NULL').get()!['n']);
const settle = async (): Promise<number> => {
  const startedAt = performance.now();
  while (unannounced() > 0) await new Promise((resolve) => setTimeout(resolve, 10));
  return performance.now() - startedAt;
};

/** CPU of the server for one view that no cache has, in ms. */
const pages = { home: '/', repository: '/repos/alice/bench' };
let asked = 0;
async function costOf(url: string): Promise<number> {
  const costs: number[] = [];
  for (let view = 0; view < views; view += 1) {
    asked += 1;
    const before = cpuMsOfThreads(hearth.pid);
    const response = await fetch(`${hearth.url}${url}?n=${asked}`);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`${url}: ${response.status}`);
    costs.push(cpuMsOfThreads(hearth.pid) - before);
  }
  return median(costs);
}
/** The least of some rounds: collecting garbage falls into the others. */
const costs = async (): Promise<number[]> => {
  const found = Object.values(pages).map(() => Infinity);
  for (let round = 0; round < 5; round += 1)
    for (const [index, url] of Object.values(pages).entries())
      found[index] = Math.min(found[index]!, await costOf(url));
  return found;
};

const packHead = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1');
const body = Buffer.concat([
  ...Array.from({ length: branches }, (_, at) =>
    Buffer.from(
      encodePacket(`${'0'.repeat(40)} ${tip} refs/heads/many/b${at}${at === 0 ? '\0report-status side-band-64k' : ''}`),
    ),
  ),
  Buffer.from('0000'),
  packHead,
  createHash('sha1').update(packHead).digest(),
]);

await settle();
// Nothing is compiled for the first time in what is measured.
await costs();
const before = await costs();
const health = askHealth(hearth.url);
await new Promise((resolve) => setTimeout(resolve, 500));
const startedAt = performance.now();
const response = await fetch(`${hearth.url}/git/alice/bench.git/git-receive-pack`, {
  method: 'POST',
  headers: { ...headers, 'Content-Type': 'application/x-git-receive-pack-request' },
  body: new Uint8Array(body),
});
const report = Buffer.from(await response.arrayBuffer()).toString('latin1');
const pushMs = performance.now() - startedAt;
if (!response.ok) throw new Error(`${response.status} ${report.slice(0, 300)}`);
const announcedMs = await settle();
await new Promise((resolve) => setTimeout(resolve, 500));
const { times, paused } = await health.stop();
const found = git('for-each-ref', '--format=x', 'refs/heads/many').split('\n').length;
if (found !== branches) throw new Error(`${found} of ${branches} branches`);
const after = await costs();
const at = (share: number): string => times[Math.min(times.length - 1, Math.floor(times.length * share))]!.toFixed(1);
console.log(
  [
    formatRow([`${branches.toLocaleString('en')} new branches in one push, all listeners on`, '']),
    formatRow(['---', '---:']),
    formatRow(['The push, ms', pushMs.toFixed(0)]),
    formatRow(['From its answer to the end of all listeners, ms', announcedMs.toFixed(0)]),
    formatRow([
      `\`/healthz\` meanwhile, ${times.length} requests (${paused} more while the machine was paused), ms: p50 / p99 / longest`,
      `${at(0.5)} / ${at(0.99)} / ${at(1)}`,
    ]),
    ...Object.keys(pages).map((name, index) =>
      formatRow([
        `Page of the ${name}, CPU ms before → after`,
        `${before[index]!.toFixed(1)} → ${after[index]!.toFixed(1)} (${(after[index]! / before[index]!).toFixed(2)}×)`,
      ]),
    ),
  ].join('\n'),
);
await hearth.stop();
process.exit(0);
