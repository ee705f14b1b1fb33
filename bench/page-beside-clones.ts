// How long a page takes while four people clone over and over, beside how long it takes when nobody does.
// usage: bench/page-beside-clones [--rounds N] [--seconds N] [--clients N] [--repository PATH] [--executable PATH] [--install]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cloneRequest } from './fetch-request.ts';
import { startHearthServer } from './hearth-server.ts';
import { needPrograms } from './peers/need-programs.ts';
import { median, option, row, spread } from './rounds.ts';
import { fillRepository } from './sample-history.ts';

const rounds = option('rounds', 5);
const seconds = option('seconds', 3);
const clients = option('clients', 4);
/** One answer is measured, not how many fit into a second. */
const pauseMs = 5;

needPrograms({ curl: 'curl' });
const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const url = `${hearth.url}/git/alice/bench.git`;
const asked = path.join(hearth.folder, 'clone-request');
writeFileSync(asked, cloneRequest(hearth.repository));
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

async function page(): Promise<number> {
  const startedAt = performance.now();
  const call = request(`${hearth.url}/repos/alice/bench`, { agent }).end();
  const [response] = await once(call, 'response');
  if (response.statusCode !== 200) throw new Error(`the page answers ${response.statusCode}`);
  await once(response.resume(), 'end');
  return performance.now() - startedAt;
}

async function medianOfPages(): Promise<number> {
  const took: number[] = [];
  for (const until = performance.now() + seconds * 1000; performance.now() < until; await sleep(pauseMs)) took.push(await page());
  return median(took);
}

/** Runs a line of shell again and again, several times at once, while pages are asked for. */
async function beside(line: (client: number) => string): Promise<number> {
  // Processes of their own, behind everything else: as if they were at other machines.
  const cloning = Array.from({ length: clients }, (_, client) =>
    spawn('nice', ['-n', '19', 'sh', '-c', `while :; do ${line(client)} || exit 1; done`], { detached: true, stdio: ['ignore', 'ignore', 'inherit'] }),
  );
  await sleep(500);
  const took = await medianOfPages();
  if (cloning.some(({ exitCode }) => exitCode !== null)) throw new Error('a clone failed');
  for (const { pid } of cloning) process.kill(-pid!, 'SIGKILL');
  await sleep(300);
  return took;
}

const situations: Record<string, () => Promise<number>> = {
  'nobody clones': medianOfPages,
  [`${clients} clients of git clone`]: () =>
    beside((client) => `rm -rf '${hearth.folder}/clone-${client}' && git clone -q --bare '${url}' '${hearth.folder}/clone-${client}'`),
  [`${clients} clients take bytes as fast as they can`]: () =>
    beside(() => `curl -sf -o /dev/null -H 'Git-Protocol: version=2' -H 'Content-Type: application/x-git-upload-pack-request' --data-binary '@${asked}' '${url}/git-upload-pack'`),
};
const samples: Record<string, number[]> = {};
for (let round = -1; round < rounds; round++) {
  for (const [name, measure] of Object.entries(situations)) {
    const took = await measure();
    if (round >= 0) (samples[name] ??= []).push(took);
  }
}
const idle = samples['nobody clones']!;
console.log(row(['The page of a repository, while', 'p50 ms (min–max)', 'Of idle']));
console.log(row(['---', '---:', '---:']));
for (const [name, took] of Object.entries(samples)) {
  console.log(row([name, spread(took, 2), `${median(took.map((value, at) => value / idle[at]!)).toFixed(2)}×`]));
}
agent.destroy();
await hearth.stop();
