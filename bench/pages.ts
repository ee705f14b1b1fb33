// Pages of one repository: Hearth beside cgit and beside a file of the same bytes.
// usage: bench/pages [--rounds N] [--seconds S] [--repository PATH]
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { startHearthServer } from './hearth-server.ts';
import { startCgit } from './peers/cgit.ts';
import { median, option, row } from './rounds.ts';
import { fillRepository } from './sample-history.ts';

const rounds = option('rounds', 3);
const seconds = option('seconds', 2);
const atOnce = 4;

interface Measured {
  perSecond: number;
  p95Ms: number;
  bytes: number;
}

let client = 0;

function get(agent: Agent, url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    // Other addresses, because Hearth gives strangers only so much work in a minute.
    const headers = { 'X-Forwarded-For': `198.51.${(client += 1) % 250}.${Math.floor(client / 250) % 250}` };
    const call = request(url, { agent, headers }, (answer) => {
      let bytes = 0;
      answer.on('data', (piece: Buffer) => (bytes += piece.length)).on('end', () => (answer.statusCode === 200 ? resolve(bytes) : reject(new Error(`${url}: ${answer.statusCode}`))));
    });
    call.on('error', reject).end();
  });
}

/** A few clients, each asking again as soon as it is answered. */
async function measure(url: string): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const took: number[] = [];
  let bytes = 0;
  const until = performance.now() + seconds * 1000;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      while (performance.now() < until) {
        const at = performance.now();
        bytes = await get(agent, url);
        took.push(performance.now() - at);
      }
    }),
  );
  agent.destroy();
  const sorted = took.sort((a, b) => a - b);
  return { perSecond: took.length / ((performance.now() - startedAt) / 1000), p95Ms: sorted[Math.floor(sorted.length * 0.95)]!, bytes };
}

const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const git = (...args: string[]): string => execFileSync('git', ['-C', hearth.repository, ...args], { maxBuffer: 1e9 }).toString().trim();
git('commit-graph', 'write', '--reachable', '--changed-paths');

/** The folder with most entries below the root, and the code file that is nearest to a thousand lines long. */
function choose(): { folder: string; file: string } {
  const files = git('ls-tree', '-r', '-l', 'HEAD').split('\n').map((line) => /^100\d+ blob \S+ +(\d+)\t(.*)$/.exec(line)).filter((found) => found !== null);
  const folders = Map.groupBy(files.map(([, , name]) => name!), (name) => name.split('/').slice(0, -1).join('/'));
  const [folder] = [...folders].filter(([name]) => name !== '').sort((a, b) => b[1].length - a[1].length)[0]!;
  const near = files.filter(([, , name]) => /\.(?:c|ts|py|js|go)$/.test(name!)).sort((a, b) => Math.abs(Number(a[1]) - 33_000) - Math.abs(Number(b[1]) - 33_000))[0]!;
  return { folder, file: near[2]! };
}

const { folder, file } = choose();
const branch = git('symbolic-ref', '--short', 'HEAD');
const commit = git('log', '-1', '--no-merges', '--format=%H');
const B = `${hearth.url}/repos/alice/bench`;
const pages: Record<string, [ours: string, cgit: string]> = {
  home: [B, '/cgit/bench/'],
  tree: [`${B}/tree/${branch}/${folder}`, `/cgit/bench/tree/${folder}`],
  blob: [`${B}/blob/${branch}/${file}`, `/cgit/bench/tree/${file}`],
  commit: [`${B}/commit/${commit}`, `/cgit/bench/commit/?id=${commit}`],
  blame: [`${B}/blame/${branch}/${file}`, `/cgit/bench/blame/${file}`],
};
const files = path.join(hearth.folder, 'files');
mkdirSync(files, { recursive: true });
const cgit = await startCgit(hearth.folder, hearth.repository, files);

console.log(`Repository of ${git('rev-list', '--count', 'HEAD')} commits; tree ${folder}, file ${file}; ${atOnce} clients, ${seconds} s each, median of ${rounds} rounds.\n`);
console.log([row(['Page', 'Server', 'Requests/s', 'p95 ms', 'Bytes', 'Hearth faster by']), row(['---', '---', '---:', '---:', '---:', '---:'])].join('\n'));
for (const [name, [ours, theirs]] of Object.entries(pages)) {
  const warm = await fetch(ours).then((answer) => answer.text());
  writeFileSync(path.join(files, name), warm);
  // What is looked for behind the first page is there by now.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const sides: Record<string, string> = { hearth: ours, cgit: cgit.url + theirs, 'static file': `${cgit.url}/files/${name}` };
  const found = new Map<string, Measured[]>(Object.keys(sides).map((side) => [side, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const [side, url] of Object.entries(sides)) {
      const one = await measure(url);
      if (round >= 0) found.get(side)!.push(one);
    }
  }
  const own = median(found.get('hearth')!.map(({ perSecond }) => perSecond));
  for (const [side, all] of found) {
    const perSecond = median(all.map((one) => one.perSecond));
    console.log(row([name, side, perSecond.toFixed(0), median(all.map(({ p95Ms }) => p95Ms)).toFixed(1), String(all[0]!.bytes), side === 'hearth' ? '' : `${(own / perSecond).toFixed(2)}×`]));
  }
}
cgit.stop();
await hearth.stop();
