// Ref listings per second over HTTP, four connections kept open: Hearth beside nginx + http-backend.
// usage: bench/ls-remote [--seconds N] [--rounds N] [--executable PATH] [--url OTHER-FORGE] [--install]
import { execFileSync } from 'node:child_process';
import { startHearthServer } from './hearth-server.ts';
import { encodePacket } from './packet.ts';
import { startHttpPeer } from './peers/http-peer.ts';
import { runLoad } from './peers/wrk.ts';
import { median, readNumberOption, formatRow, formatSpread } from './harness.ts';
import { fillRepository } from './sample-history.ts';

const listing = `${encodePacket('command=ls-refs\n')}${encodePacket('object-format=sha1')}0001${encodePacket('symrefs')}${encodePacket('peel')}0000`;
const connections = 4;
const seconds = readNumberOption('seconds', 3);
const rounds = readNumberOption('rounds', 5);

interface Call {
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** Sends requests as fast as the server responds, and returns their number. */
async function rate(address: string, { path, headers, body }: Call): Promise<number> {
  const url = new URL(address + path);
  const authorization = `Basic ${Buffer.from(`${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`).toString('base64')}`;
  const credentials: Record<string, string> = url.username === '' ? {} : { authorization };
  url.username = url.password = '';
  return (await runLoad(url.href, { seconds, connections, headers: { ...headers, ...credentials }, body })).perSecond;
}

const version2 = { 'git-protocol': 'version=2' };
const calls: Record<string, Call> = {
  'v0 info/refs': { path: '/info/refs?service=git-upload-pack', headers: {} },
  'v2 capabilities': { path: '/info/refs?service=git-upload-pack', headers: version2 },
  'v2 ls-refs': {
    path: '/git-upload-pack',
    headers: { ...version2, 'content-type': 'application/x-git-upload-pack-request' },
    body: listing,
  },
};

/** Gives a repository this many packed branches, all at the commit of HEAD. */
function setBranches(repository: string, count: number): void {
  const git = (args: string[], input = '') =>
    execFileSync('git', ['-C', repository, ...args], { input })
      .toString()
      .trim();
  const tip = git(['rev-parse', 'HEAD']);
  const missing = count - git(['for-each-ref', '--format=x']).split('\n').length;
  git(
    ['update-ref', '--stdin'],
    Array.from({ length: missing }, (_, at) => `create refs/heads/topic/${count}-${at} ${tip}\n`).join(''),
  );
  git(['pack-refs', '--all']);
}

const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const peer = await startHttpPeer(hearth, { countProcessorTime: false });

console.log(formatRow(['Listing', 'Hearth per s (min–max)', `${peer.name} per s (min–max)`, 'Ratio']));
console.log(formatRow(['---', '---:', '---:', '---:']));
for (const refs of [10, 10_000]) {
  setBranches(hearth.repository, refs);
  peer.follow();
  for (const [name, call] of Object.entries(calls)) {
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < rounds; round++) {
      ours.push(await rate(`${hearth.url}/git/alice/bench.git`, call));
      theirs.push(await rate(peer.url, call));
    }
    const ratio = median(ours.map((value, index) => value / theirs[index]!));
    console.log(
      formatRow([
        `${name}, ${refs.toLocaleString('en')} refs`,
        formatSpread(ours),
        formatSpread(theirs),
        `${ratio.toFixed(1)}×`,
      ]),
    );
  }
}
peer.stop();
await hearth.stop();
