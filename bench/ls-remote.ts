// Ref listings per second over HTTP, four connections kept open: Hearth beside nginx + http-backend.
// usage: bench/ls-remote [--seconds N] [--rounds N] [--install]
import { Agent, request } from 'node:http';
import path from 'node:path';
import { startHearthServer } from './hearth-server.ts';
import { packet } from './packet.ts';
import { startNginx } from './peers/nginx.ts';
import { median, option, row, spread } from './rounds.ts';
import { copyRepository, fillRepository } from './sample-history.ts';

const listing = `${packet('command=ls-refs\n')}${packet('object-format=sha1')}0001${packet('symrefs')}${packet('peel')}0000`;
const connections = 4;
const seconds = option('seconds', 3);
const rounds = option('rounds', 5);

interface Call {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** Asks as often as the server answers, and tells how often that was. */
async function rate(url: string, call: Call): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const until = performance.now() + seconds * 1000;
  let answers = 0;
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      const sent = request(url + call.path, { method: call.method, headers: call.headers, agent }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`${call.path} answers ${response.statusCode}`));
        response.resume().on('end', resolve);
      });
      sent.on('error', reject).end(call.body);
    });
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < until) {
        await ask();
        answers++;
      }
    }),
  );
  agent.destroy();
  return answers / seconds;
}

const version2 = { 'git-protocol': 'version=2' };
const calls: Record<string, Call> = {
  'v0 info/refs': { method: 'GET', path: '/info/refs?service=git-upload-pack', headers: {} },
  'v2 capabilities': { method: 'GET', path: '/info/refs?service=git-upload-pack', headers: version2 },
  'v2 ls-refs': {
    method: 'POST',
    path: '/git-upload-pack',
    headers: { ...version2, 'content-type': 'application/x-git-upload-pack-request' },
    body: listing,
  },
};

const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const peerRoot = path.join(hearth.folder, 'peer');
copyRepository(hearth.repository, path.join(peerRoot, 'bench.git'));
const nginx = await startNginx(hearth.folder, peerRoot, hearth.gitConfig, { countProcessorTime: false });

console.log(row(['Listing', 'Hearth per s (min–max)', 'nginx + http-backend per s (min–max)', 'Ratio']));
console.log(row(['---', '---:', '---:', '---:']));
for (const [name, call] of Object.entries(calls)) {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(await rate(`${hearth.url}/git/alice/bench.git`, call));
    theirs.push(await rate(`${nginx.url}/git/bench.git`, call));
  }
  const ratio = median(ours.map((value, index) => value / theirs[index]!));
  console.log(row([name, spread(ours), spread(theirs), `${ratio.toFixed(1)}×`]));
}
nginx.stop();
await hearth.stop();
