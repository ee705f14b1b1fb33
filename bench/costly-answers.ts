// How late `/healthz` is while four clients without an account, each from a network of its own, ask for the costliest
// answers of the API and the pages: long blame, folders and commits of thousands of files, lists of thousands of refs,
// large files, notebooks, archives, searches. A process of its own asks `/healthz` every 10 ms.
// usage: bench/costly-answers [--seconds S] [--only WORD] [--executable PATH]
import { execFileSync } from 'node:child_process';
import { askHealth } from './ask-health.ts';
import { startHearthServer } from './hearth-server.ts';
import { costlyAddresses, fillCostly } from './costly-history.ts';
import { formatRow, readNumberOption, readTextOption } from './harness.ts';

const seconds = readNumberOption('seconds', 4);
const only = readTextOption('only');
const clients = 4;

const hearth = await startHearthServer();
process.once('exit', () => hearth.kill());
const history = await fillCostly(hearth.repository);

const addresses: [what: string, address: string][] = [['nothing else', ''], ...costlyAddresses(history)];
const mixed: [string, string] = ['all of these in turn', '*'];
const rows: string[] = [];
let turn = 0;
for (const [what, address] of [...addresses, mixed]) {
  if (only !== null && !what.includes(only)) continue;
  rows.push(await measure(what, address));
  process.stderr.write(`${rows.at(-1)}\n`);
}
console.log(
  [
    `${clients} clients without an account, ${seconds} s each; ms from another process, every 10 ms.`,
    '',
    formatRow(['What they ask for', 'Answers', 'MB', '`/healthz` p50', 'p99', 'longest', 'CPU of the server, %']),
    formatRow(['---', '---', '---:', '---:', '---:', '---:', '---:']),
    ...rows,
  ].join('\n'),
);
await hearth.stop();
process.exit(0);

async function measure(what: string, address: string): Promise<string> {
  const until = performance.now() + seconds * 1000;
  const statuses = new Map<string, number>();
  let bytes = 0;
  async function ask(client: number): Promise<void> {
    while (performance.now() < until) {
      turn += 1;
      const asked = address === '*' ? addresses[1 + (turn % (addresses.length - 1))]![1] : address;
      const { promise: isOver, resolve: end } = Promise.withResolvers<null>();
      const timer = setTimeout(end, until - performance.now() + 2_000, null);
      const stop = new AbortController();
      // A network that has spent its budget is refused at once: each row begins with networks of its own.
      const headers = { 'X-Forwarded-For': `10.${rows.length + 1}.${client}.1` };
      const answer = fetch(hearth.url + asked.replace('N', String(turn)), { headers, signal: stop.signal })
        .then(async (response) => {
          let length = 0;
          for await (const chunk of response.body ?? []) length += (chunk as Uint8Array).length;
          return { status: String(response.status), length };
        })
        .catch((error: unknown) => ({ status: (error as Error).name, length: 0 }));
      const result = (await Promise.race([answer, isOver])) ?? { status: 'unfinished', length: 0 };
      clearTimeout(timer);
      stop.abort();
      statuses.set(result.status, (statuses.get(result.status) ?? 0) + 1);
      bytes += result.length;
      if (result.status === '429') await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  const before = cpuTicks();
  const probe = askHealth(hearth.url);
  await Promise.all([
    new Promise((resolve) => setTimeout(resolve, seconds * 1000)),
    ...(address === '' ? [] : Array.from({ length: clients }, (_, client) => ask(client))),
  ]);
  const { times: health } = await probe.stop();
  const cpu = (cpuTicks() - before) / seconds;
  const said = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
  const at = (share: number): string =>
    health[Math.min(health.length - 1, Math.floor(health.length * share))]!.toFixed(1);
  return formatRow([what, said || '–', (bytes / 1e6).toFixed(1), at(0.5), at(0.99), at(1), cpu.toFixed(0)]);
}

/** Hundredths of a second of the server's processes, ended ones included. */
function cpuTicks(): number {
  const read = (pid: string): number => {
    try {
      const fields = execFileSync('cat', [`/proc/${pid}/stat`], { stdio: ['ignore', 'pipe', 'ignore'] })
        .toString()
        .replace(/^.*\) /s, '')
        .split(' ');
      return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
    } catch {
      return 0;
    }
  };
  const children = (pid: string): string[] => {
    const found = execFileSync('sh', ['-c', `cat /proc/${pid}/task/*/children 2>/dev/null || true`]).toString();
    return found.split(/\s+/).filter((child) => child !== '');
  };
  const whole = (pid: string): number => read(pid) + children(pid).reduce((sum, child) => sum + whole(child), 0);
  return whole(String(hearth.pid));
}
