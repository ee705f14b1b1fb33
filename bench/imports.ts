// An import of 10,000 issues with 100,000 comments from a server that pages as Gitea does: CPU time of ours for each
// item, memory above idle, requests for fifty items; then a full run that changes nothing. Without reactions, which no
// list of Gitea has.
// usage: bench/imports [--issues N] [--comments N] [--executable PATH]
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { formatRow, readNumberOption } from './harness.ts';
import { executable, startHearthServer } from './hearth-server.ts';
import { cpuOfTree, memoryOfTree } from './process-usage.ts';

const issues = readNumberOption('issues', 10_000);
const comments = readNumberOption('comments', 100_000);
const items = issues + comments;
const sampleMs = 500;

const forge = spawn(
  process.execPath,
  [fileURLToPath(new URL('imports-forge.ts', import.meta.url)), String(issues), String(comments)],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
process.once('exit', () => forge.kill());
const port = Number(await new Promise((resolve) => forge.stdout.once('data', resolve)));
const source = fileURLToPath(new URL('../bin/hearth', import.meta.url));
const settings = { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` };
const program = existsSync(executable) ? executable : source;
const hearth = await startHearthServer(settings, undefined, program);
process.once('exit', () => hearth.kill());

const countRequests = async (): Promise<number> => Number(await (await fetch(`http://127.0.0.1:${port}/count`)).text());
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface State {
  state: string;
  written: number;
  unchanged: number;
}

/**
 * Runs a command that imports, and watches it with the server, which runs the import: CPU seconds of both, and the
 * highest memory of the server in MB.
 */
async function watch(args: string[]): Promise<{ state: State; cpu: number; peak: number }> {
  const command = spawn(program, [...args, '--json'], {
    cwd: hearth.folder,
    env: { PATH: '/usr/bin:/bin', HOME: hearth.folder, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => command.once('exit', resolve));
  const cpuBefore = cpuOfTree([hearth.pid]);
  let [text, cpu, peak, isOver] = ['', 0, 0, false];
  command.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  void ended.then(() => (isOver = true));
  while (!isOver) {
    cpu = Math.max(cpu, cpuOfTree([hearth.pid, command.pid!]) - cpuBefore);
    peak = Math.max(peak, memoryOfTree(hearth.pid));
    await pause(sampleMs);
  }
  if ((await ended) !== 0) throw new Error(`${args.join(' ')} failed`);
  return { state: JSON.parse(text) as State, cpu, peak };
}

async function measure(title: string, args: string[]): Promise<string[]> {
  const [requestsBefore, startedAt] = [await countRequests(), performance.now()];
  const { state, cpu, peak } = await watch(args);
  if (state.state !== 'done') throw new Error(JSON.stringify(state));
  const requests = (await countRequests()) - requestsBefore;
  return [
    formatRow([`${title}: ${state.written} written, ${state.unchanged} unchanged, s`, wallOf(startedAt), '']),
    formatRow(['The same: CPU ms for each item', ((cpu * 1000) / items).toFixed(2), '3']),
    formatRow(['The same: MB above an idle server', (peak - idle).toFixed(0), '150']),
    formatRow(['The same: requests for 50 items', ((requests / items) * 50).toFixed(2), '1.2']),
  ];
}

const wallOf = (startedAt: number): string => ((performance.now() - startedAt) / 1000).toFixed(0);

await pause(3_000);
const idle = memoryOfTree(hearth.pid);
const address = `http://127.0.0.1:${port}/bob/tool`;
const rows = await measure('Import', ['import', 'start', address, 'alice/tool', '--kind', 'gitea', '--no-reactions']);
rows.push(...(await measure('Full run without changes', ['import', 'run', 'alice/tool', '--full'])));
console.log([formatRow(['What', 'Measured', 'Limit']), formatRow(['---', '---:', '---:']), ...rows].join('\n'));
await hearth.stop();
forge.kill();
