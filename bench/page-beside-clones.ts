// How long a page takes while four clients clone repeatedly, beside how long it takes without load.
// usage: bench/page-beside-clones [--rounds N] [--seconds N] [--clients N] [--repository PATH] [--executable PATH]
//        [--install] [--url PAGE --clone-url REPOSITORY]
// PAGE is the page of a repository at another forge, REPOSITORY its clone URL: a second table. Both must be public.
// Clone the same repository here (`--repository`) to compare.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { Agent as TlsAgent, request as requestTls } from 'node:https';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cloneRequest } from './fetch-request.ts';
import { startHearthServer } from './hearth-server.ts';
import { requirePrograms } from './peers/require-programs.ts';
import { median, readNumberOption, formatRow, formatSpread, readTextOption } from './harness.ts';
import { fillRepository } from './sample-history.ts';

const rounds = readNumberOption('rounds', 5);
const seconds = readNumberOption('seconds', 3);
const clients = readNumberOption('clients', 4);
/** The response time is measured, not the throughput. */
const pauseMs = 5;

const [otherPage, otherClone] = [readTextOption('url'), readTextOption('clone-url')];
if ((otherPage === null) !== (otherClone === null))
  throw new Error('--url and --clone-url go together: a page, and where its repository is cloned from');
requirePrograms({ curl: 'curl' });
const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const requestFile = path.join(hearth.folder, 'clone-request');
const agents = [
  new Agent({ keepAlive: true, maxSockets: 1 }),
  new TlsAgent({ keepAlive: true, maxSockets: 1 }),
] as const;

async function page(url: string): Promise<number> {
  const startedAt = performance.now();
  const call = url.startsWith('https:') ? requestTls(url, { agent: agents[1] }) : request(url, { agent: agents[0] });
  const [response] = await once(call.end(), 'response');
  if (response.statusCode !== 200) throw new Error(`${url} answers ${response.statusCode}`);
  await once(response.resume(), 'end');
  return performance.now() - startedAt;
}

async function medianOfPages(url: string): Promise<number> {
  const took: number[] = [];
  for (const until = performance.now() + seconds * 1000; performance.now() < until; await sleep(pauseMs))
    took.push(await page(url));
  return median(took);
}

/** Runs a shell command repeatedly, several at a time, while pages are requested. */
async function measureBeside(pageUrl: string, line: (client: number) => string): Promise<number> {
  // Processes of their own with low priority: as if they were on other machines.
  const cloning = Array.from({ length: clients }, (_, client) =>
    spawn('nice', ['-n', '19', 'sh', '-c', `while :; do ${line(client)} || exit 1; done`], {
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  );
  await sleep(500);
  const took = await medianOfPages(pageUrl);
  const isFailed = cloning.some(({ exitCode }) => exitCode !== null);
  for (const { pid, exitCode } of cloning) if (exitCode === null) process.kill(-pid!, 'SIGKILL');
  if (isFailed) {
    hearth.kill();
    throw new Error('a clone failed');
  }
  await sleep(300);
  return took;
}

async function measure(pageUrl: string, url: string, whole: string): Promise<void> {
  writeFileSync(requestFile, whole);
  const situations: Record<string, () => Promise<number>> = {
    'nobody clones': () => medianOfPages(pageUrl),
    [`${clients} clients of git clone`]: () =>
      measureBeside(
        pageUrl,
        (client) =>
          `rm -rf '${hearth.folder}/clone-${client}' && git clone -q --bare '${url}' '${hearth.folder}/clone-${client}'`,
      ),
    [`${clients} clients take bytes as fast as they can`]: () =>
      measureBeside(
        pageUrl,
        () =>
          `curl -sf -o /dev/null -H 'Git-Protocol: version=2' -H 'Content-Type: application/x-git-upload-pack-request' --data-binary '@${requestFile}' '${url}/git-upload-pack'`,
      ),
  };
  const samples: Record<string, number[]> = {};
  for (let round = -1; round < rounds; round++) {
    for (const [name, look] of Object.entries(situations)) {
      const took = await look();
      if (round >= 0) (samples[name] ??= []).push(took);
    }
  }
  const idle = samples['nobody clones']!;
  console.log(
    formatRow([
      `The page of a repository at ${pageUrl.startsWith(hearth.url) ? 'Hearth' : new URL(pageUrl).host}, while`,
      'p50 ms (min–max)',
      'Of idle',
    ]),
  );
  console.log(formatRow(['---', '---:', '---:']));
  for (const [name, took] of Object.entries(samples)) {
    console.log(
      formatRow([name, formatSpread(took, 2), `${median(took.map((value, at) => value / idle[at]!)).toFixed(2)}×`]),
    );
  }
}

await measure(`${hearth.url}/repos/alice/bench`, `${hearth.url}/git/alice/bench.git`, cloneRequest(hearth.repository));
if (otherPage !== null && otherClone !== null) {
  const copy = path.join(hearth.folder, 'other.git');
  execFileSync('git', ['clone', '-q', '--mirror', otherClone, copy]);
  console.log();
  await measure(otherPage, otherClone.replace(/\/$/, ''), cloneRequest(copy));
}
for (const agent of agents) agent.destroy();
await hearth.stop();
