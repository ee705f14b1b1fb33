// Start and memory of the executable: `--version`, ready to serve, memory after a quiet while.
// usage: bench/start [--rounds N] [--executable PATH] [--command "PROGRAM ARGS" --url URL]
// COMMAND starts any other server, by a line of shell in this environment; it is measured until URL responds with
// a 2xx, beside Hearth. It must stay in the foreground, and its first start, which is not counted, may create what it
// needs.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { executable } from './hearth-server.ts';
import { memoryOfTree, treeOf } from './process-usage.ts';
import { readNumberOption, formatRow, formatSpread, readTextOption } from './harness.ts';

const rounds = readNumberOption('rounds', 10);

function timed(program: string, args: string[]): number {
  const startedAt = performance.now();
  execFileSync(program, args, { stdio: 'ignore' });
  return performance.now() - startedAt;
}

/** From the start of the program to the first 200 of `/healthz`; the folder has been served before. */
async function ready(folder: string): Promise<{ readyMs: number; idleMb: number }> {
  const startedAt = performance.now();
  const child = spawn(executable, ['serve'], {
    cwd: folder,
    env: {
      PATH: '/usr/bin:/bin',
      HOME: folder,
      SERVICE_HTTP_LISTEN: '127.0.0.1:0',
      SERVICE_SSH_LISTEN: '127.0.0.1:0',
      SERVICE_GRPC_LISTEN: '127.0.0.1:0',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let block = '';
  for await (const chunk of child.stdout) {
    block += (chunk as Buffer).toString();
    if (/Web\s+http\S+\s/.test(block)) break;
  }
  const response = await fetch(`${/Web\s+(http\S+)/.exec(block)![1]}/healthz`);
  if (response.status !== 200) throw new Error(`/healthz answers ${response.status}`);
  const readyMs = performance.now() - startedAt;
  await sleep(2000);
  const idleMb = memoryOfTree(child.pid!);
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
  return { readyMs, idleMb };
}

/** The same of another server, which is ready when its URL responds. */
async function otherReady(command: string, url: string): Promise<{ readyMs: number; idleMb: number }> {
  const responses = () =>
    fetch(url).then(
      async (response) => (await response.arrayBuffer(), response.ok),
      () => false,
    );
  if (await responses()) throw new Error(`${url} answers before --command has started anything`);
  const startedAt = performance.now();
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'ignore', 'inherit'] });
  const gone = once(child, 'exit');
  try {
    while (!(await responses())) {
      if (child.exitCode !== null) throw new Error(`--command ended with ${child.exitCode} before ${url} answered`);
      if (performance.now() - startedAt > 60_000) throw new Error(`${url} does not answer within a minute`);
      await sleep(1);
    }
    const readyMs = performance.now() - startedAt;
    await sleep(2000);
    return { readyMs, idleMb: memoryOfTree(child.pid!) };
  } finally {
    // There may be a shell in between: the whole tree is signalled.
    for (const pid of treeOf(child.pid!)) if (child.exitCode === null) process.kill(pid, 'SIGTERM');
    await gone;
    while (await responses()) await sleep(20);
  }
}

const [command, url] = [readTextOption('command'), readTextOption('url')];
if ((command === null) !== (url === null))
  throw new Error('--command and --url go together: what to start, and what answers then');
const folder = mkdtempSync(path.join(tmpdir(), 'hearth-bench-'));
await ready(folder);
if (command !== null) await otherReady(command, url!);
const others: { readyMs: number; idleMb: number }[] = [];
const versions: number[] = [];
const bareNode: number[] = [];
const readies: { readyMs: number; idleMb: number }[] = [];
for (let round = 0; round < rounds; round++) {
  versions.push(timed(executable, ['--version']));
  bareNode.push(timed(process.execPath, ['--version']));
  readies.push(await ready(folder));
  if (command !== null) others.push(await otherReady(command, url!));
}
rmSync(folder, { recursive: true, force: true });

console.log(formatRow(['Start and memory', 'Median (min–max)']));
console.log(formatRow(['---', '---:']));
console.log(formatRow(['`hearth --version`', `${formatSpread(versions)} ms`]));
console.log(formatRow(['`node --version`, for comparison', `${formatSpread(bareNode)} ms`]));
console.log(
  formatRow(['`hearth serve` to the first answer', `${formatSpread(readies.map(({ readyMs }) => readyMs))} ms`]),
);
console.log(formatRow(['Memory when idle, all processes', `${formatSpread(readies.map(({ idleMb }) => idleMb))} MB`]));
console.log(formatRow(['Size of the executable', `${(statSync(executable).size / 2 ** 20).toFixed(1)} MiB`]));
if (command !== null) {
  console.log(
    formatRow(['The other server to the first answer', `${formatSpread(others.map(({ readyMs }) => readyMs))} ms`]),
  );
  console.log(
    formatRow(['Its memory when idle, all processes', `${formatSpread(others.map(({ idleMb }) => idleMb))} MB`]),
  );
}
