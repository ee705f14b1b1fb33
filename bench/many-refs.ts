// Many refs: a repository of 100,000 branches that is adopted, the first listing after it and after a push of one
// branch, and a push of 1,000 new branches, beside plain git (`git clone --mirror`, nginx + http-backend).
// usage: bench/many-refs [--rounds N] [--refs N] [--branches N] [--executable PATH] [--install]
import { execFile, execFileSync } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { executable, startHearthServer } from './hearth-server.ts';
import { startHttpPeer } from './peers/http-peer.ts';
import { compare, comparisonHead, readNumberOption } from './harness.ts';
import type { Measurement } from './harness.ts';
import { encodePacket } from './packet.ts';
import { fillRepository } from './sample-history.ts';

const rounds = readNumberOption('rounds', 3);
const refs = readNumberOption('refs', 100_000);
const branches = readNumberOption('branches', 1_000);

const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const peer = await startHttpPeer(hearth, { countProcessorTime: false });
const git = (...args: string[]): string => execFileSync('git', args, { maxBuffer: 1e9 }).toString().trim();

const commits = git('-C', hearth.repository, 'rev-list', '--max-count=1000', 'HEAD').split('\n');
const commitFor = (index: number): string => commits[index % commits.length]!;
const nameOf = (index: number): string => `branch-${String(index).padStart(6, '0')}`;

/** A repository as a large project has it: all refs packed, with `main` among them, and commits behind them. */
const source = path.join(hearth.folder, 'source.git');
git('clone', '-q', '--bare', `file://${hearth.repository}`, source);
appendFileSync(
  path.join(source, 'packed-refs'),
  Array.from({ length: refs - 1 }, (_, index) => `${commitFor(index)} refs/heads/many/${nameOf(index)}\n`).join(''),
);
git('-C', source, 'pack-refs', '--all');

const env = { PATH: '/usr/bin:/bin', HOME: hearth.folder };
const timed = async (work: () => Promise<unknown>): Promise<{ wallS: number }> => {
  const startedAt = performance.now();
  await work();
  return { wallS: (performance.now() - startedAt) / 1000 };
};

let adopted = 0;
const adopt: Measurement = () =>
  timed(() =>
    promisify(execFile)(executable, ['repo', 'adopt', source, `alice/adopted-${++adopted}`, '--public'], {
      cwd: hearth.folder,
      env,
      maxBuffer: 1e9,
    }),
  );
const mirror = path.join(hearth.folder, 'mirror.git');
const clone: Measurement = async () => {
  rmSync(mirror, { recursive: true, force: true });
  return timed(() => promisify(execFile)('git', ['clone', '-q', '--mirror', `file://${source}`, mirror]));
};

/** The listing that follows an adoption at once: nothing of it is in memory yet. */
const listFirst: Measurement = async () => {
  await adopt();
  return timed(() => list(adoptedUrl()));
};
/** Branches that were pushed, by URL. */
const pushed = new Map<string, number>();
const listPlain: Measurement = () => timed(() => list(`file://${source}`));
async function list(url: string): Promise<void> {
  const { stdout } = await promisify(execFile)('git', ['ls-remote', '-q', url], { maxBuffer: 1e9 });
  const count = stdout.split('\n').filter((line) => line.includes('refs/heads/')).length;
  const expected = refs + (pushed.get(url) ?? 0);
  if (count !== expected) throw new Error(`${count} of ${expected} refs at ${url}`);
}

const work = path.join(hearth.folder, 'work.git');
git('clone', '-q', '--bare', `file://${hearth.repository}`, work);
let round = 0;
async function pushNew(url: string, count: number): Promise<void> {
  const folder = `round-${++round}`;
  const names = Array.from({ length: count }, (_, index) => `${commitFor(index)}:refs/heads/${folder}/b${index}`);
  const token = `http.extraHeader=Authorization: Bearer ${hearth.token}`;
  await promisify(execFile)('git', ['-C', work, '-c', token, 'push', '-q', url, ...names], { maxBuffer: 1e9 });
  pushed.set(url, (pushed.get(url) ?? 0) + count);
}
const push =
  (url: string): Measurement =>
  () =>
    timed(() => pushNew(url, branches));

/** The listing that follows a push of one new branch. */
const listChanged =
  (urlOf: () => string, listWith = list): Measurement =>
  async () => {
    await pushNew(urlOf(), 1);
    return timed(() => listWith(urlOf()));
  };

const lsRefs = `${encodePacket('command=ls-refs\n')}0001${encodePacket('peel\n')}${encodePacket('symrefs\n')}0000`;
function expectRefs(response: Buffer): void {
  if (response.length < refs * 64) throw new Error(`a listing of ${response.length} bytes`);
}
async function listByHttp(url: string): Promise<void> {
  const response = await fetch(`${url}/git-upload-pack`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-git-upload-pack-request', 'Git-Protocol': 'version=2' },
    body: lsRefs,
  });
  expectRefs(Buffer.from(await response.arrayBuffer()));
}
async function listByUploadPack(): Promise<void> {
  const child = promisify(execFile)('git', ['upload-pack', '--stateless-rpc', source], {
    env: { ...process.env, GIT_PROTOCOL: 'version=2' },
    encoding: 'buffer',
    maxBuffer: 1e9,
  });
  child.child.stdin!.end(lsRefs);
  expectRefs((await child).stdout);
}
const adoptedUrl = (): string => `${hearth.url}/git/alice/adopted-${adopted}.git`;

const rows = [
  ...(await compare(`${branches} new branches in one push`, rounds, {
    hearth: push(`${hearth.url}/git/alice/bench.git`),
    [peer.name]: push(peer.url),
  })),
  ...(await compare(`\`repo adopt\` of ${refs} refs`, rounds, { hearth: adopt, 'git clone --mirror': clone })),
  ...(await compare('The first listing after it', rounds, { hearth: listFirst, 'plain git': listPlain })),
  ...(await compare('The first listing after a push of one branch', rounds, {
    hearth: listChanged(adoptedUrl),
    'plain git': listChanged(() => `file://${source}`),
  })),
  ...(await compare('The same without the client', rounds, {
    hearth: listChanged(adoptedUrl, listByHttp),
    'git upload-pack': listChanged(() => `file://${source}`, listByUploadPack),
  })),
];
console.log([...comparisonHead, ...rows].join('\n'));
peer.stop();
await hearth.stop();
