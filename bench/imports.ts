// An import of 10,000 issues with 100,000 comments from a server that pages as Gitea does: CPU time of ours for each
// item, memory above idle, requests for fifty items; then a full run that changes nothing.
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
const hearth = await startHearthServer(
  { SERVICE_MIRRORS_ALLOWED_HOSTS: `127.0.0.1:${port}` },
  undefined,
  existsSync(executable) ? executable : source,
);
process.once('exit', () => hearth.kill());

const call = (path: string, body?: object) =>
  fetch(`${hearth.url}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: `token ${hearth.token}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const countRequests = async (): Promise<number> => Number(await (await fetch(`http://127.0.0.1:${port}/count`)).text());
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface State {
  state: string;
  run: number;
  written: number;
  unchanged: number;
  last_error: string | null;
}

/** Waits until a run is over; the highest memory in between, in MB. */
async function follow(run: number): Promise<{ state: State; peak: number }> {
  let peak = 0;
  for (;;) {
    const state = (await (await call('/repos/alice/tool/import')).json()) as State;
    peak = Math.max(peak, memoryOfTree(hearth.pid));
    if (state.last_error !== null || state.state === 'paused') throw new Error(JSON.stringify(state));
    if (state.state === 'done' && state.run === run) return { state, peak };
    await pause(sampleMs);
  }
}

async function measure(title: string, run: number, begin: () => Promise<unknown>): Promise<string[]> {
  const idle = memoryOfTree(hearth.pid);
  const [cpuBefore, requestsBefore, startedAt] = [cpuOfTree([hearth.pid]), await countRequests(), performance.now()];
  await begin();
  const { state, peak } = await follow(run);
  const cpuMs = (cpuOfTree([hearth.pid]) - cpuBefore) * 1000;
  const requests = (await countRequests()) - requestsBefore;
  return [
    formatRow([`${title}: ${state.written} written, ${state.unchanged} unchanged, s`, wallOf(startedAt), '']),
    formatRow(['The same: CPU ms of the server for each item', (cpuMs / items).toFixed(2), '3']),
    formatRow(['The same: MB above idle', (peak - idle).toFixed(0), '150']),
    formatRow(['The same: requests for 50 items', ((requests / items) * 50).toFixed(2), '1.2']),
  ];
}

const wallOf = (startedAt: number): string => ((performance.now() - startedAt) / 1000).toFixed(0);

await pause(3_000);
const rows = await measure('Import', 1, () =>
  call('/repos/migrate', {
    ...{ clone_addr: `http://127.0.0.1:${port}/bob/tool`, service: 'gitea', repo_name: 'tool', issues: true },
    ...{ labels: true, milestones: true, pull_requests: false, releases: false },
  }),
);
rows.push(...(await measure('Full run without changes', 2, () => hearth.run('import', 'run', 'alice/tool', '--full'))));
console.log([formatRow(['What', 'Measured', 'Limit']), formatRow(['---', '---:', '---:']), ...rows].join('\n'));
await hearth.stop();
forge.kill();
