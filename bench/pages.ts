// Pages of one repository: Hearth beside cgit and beside a file of the same bytes; then the column of last commits
// beside git log.
// usage: bench/pages [--rounds N] [--seconds S] [--repository PATH] [--url OTHER-FORGE]
// OTHER-FORGE is the page of the same repository at another Gitea, Forgejo or Hearth; it must be public.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { startHearthServer } from './hearth-server.ts';
import { measureLastCommits } from './last-commits.ts';
import { startCgit } from './peers/cgit.ts';
import { runLoad } from './peers/wrk.ts';
import type { LoadResult } from './peers/wrk.ts';
import { median, readNumberOption, formatRow, readTextOption } from './harness.ts';
import { fillRepository } from './sample-history.ts';

const rounds = readNumberOption('rounds', 3);
const seconds = readNumberOption('seconds', 2);
const connections = 4;

const hearth = await startHearthServer();
await fillRepository(hearth.repository);
const git = (...args: string[]): string =>
  execFileSync('git', ['-C', hearth.repository, ...args], { maxBuffer: 1e9 })
    .toString()
    .trim();
git('commit-graph', 'write', '--reachable', '--changed-paths');

/** The largest folder below the root, and the code file nearest to a thousand lines. */
function choose(): { folder: string; file: string } {
  const files = git('ls-tree', '-r', '-l', 'HEAD')
    .split('\n')
    .map((line) => /^100\d+ blob \S+ +(\d+)\t(.*)$/.exec(line))
    .filter((found) => found !== null);
  const folders = Map.groupBy(
    files.map(([, , name]) => name!),
    (name) => name.split('/').slice(0, -1).join('/'),
  );
  const [folder] = [...folders].filter(([name]) => name !== '').sort((a, b) => b[1].length - a[1].length)[0]!;
  const near = files
    .filter(([, , name]) => /\.(?:c|ts|py|js|go)$/.test(name!))
    .sort((a, b) => Math.abs(Number(a[1]) - 33_000) - Math.abs(Number(b[1]) - 33_000))[0]!;
  return { folder, file: near[2]! };
}

const { folder, file } = choose();
const branch = git('symbolic-ref', '--short', 'HEAD');
const commit = git('log', '-1', '--no-merges', '--format=%H');
const B = `${hearth.url}/repos/alice/bench`;
const pages: Record<string, [ours: string, cgit: string]> = {
  home: [B, '/cgit/bench/'],
  tree: [`${B}/tree/${branch}`, '/cgit/bench/tree/'],
  folder: [`${B}/tree/${branch}/${folder}`, `/cgit/bench/tree/${folder}`],
  blob: [`${B}/blob/${branch}/${file}`, `/cgit/bench/tree/${file}`],
  commit: [`${B}/commit/${commit}`, `/cgit/bench/commit/?id=${commit}`],
  history: [`${B}/commits/${branch}`, '/cgit/bench/log/'],
  blame: [`${B}/blame/${branch}/${file}`, `/cgit/bench/blame/${file}`],
};
const other = readTextOption('url')?.replace(/\/$/, '');
/** Gitea's form of the URLs, or our own where supported. */
const isOurKind =
  other !== undefined && (await fetch(`${other}/tree/${branch}`, { redirect: 'manual' })).status === 200;
const externalUrls: Record<string, string> = {
  home: '',
  tree: `/src/branch/${branch}`,
  folder: `/src/branch/${branch}/${folder}`,
  blob: `/src/branch/${branch}/${file}`,
  commit: `/commit/${commit}`,
  history: `/commits/branch/${branch}`,
  blame: `/blame/branch/${branch}/${file}`,
};
const otherUrl = (name: string, ours: string): string =>
  other + (isOurKind ? ours.slice(B.length) : externalUrls[name]!);
const files = path.join(hearth.folder, 'files');
mkdirSync(files, { recursive: true });
const cgit = await startCgit(hearth.folder, hearth.repository, files);

/** Requests a page until it is complete: parts computed in the background are in a later view. */
async function warm(url: string): Promise<string> {
  for (;;) {
    const text = await fetch(url).then((response) => response.text());
    if (!text.includes('being looked up') && text === (await fetch(url).then((response) => response.text())))
      return text;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Views of pages that are not cached, one after the other. */
async function measureMaking(url: string, views = 40): Promise<number> {
  const took: number[] = [];
  for (let view = 0; view < views; view += 1) {
    const at = performance.now();
    await fetch(`${url}?view=${view}`).then((response) => response.text());
    took.push(performance.now() - at);
  }
  return median(took);
}

console.log(
  `Repository of ${git('rev-list', '--count', 'HEAD')} commits; folder ${folder}, file ${file}; ${connections} clients, ${seconds} s each, median of ${rounds} rounds.\n`,
);
console.log(
  [
    formatRow(['Page', 'Server', 'Requests/s', 'p50 ms', 'p95 ms', 'Bytes', 'Hearth faster by', 'Made anew, ms']),
    formatRow(['---', '---', '---:', '---:', '---:', '---:', '---:', '---:']),
  ].join('\n'),
);
for (const [name, [ours, theirs]] of Object.entries(pages)) {
  writeFileSync(path.join(files, name), await warm(ours));
  const making = await measureMaking(ours);
  const sides: Record<string, string> = {
    hearth: ours,
    cgit: cgit.url + theirs,
    'static file': `${cgit.url}/files/${name}`,
    ...(other === undefined ? {} : { 'other forge': otherUrl(name, ours) }),
  };
  const found = new Map<string, LoadResult[]>(Object.keys(sides).map((side) => [side, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const [side, url] of Object.entries(sides)) {
      const one = await runLoad(url, { seconds: round < 0 ? 1 : seconds, connections });
      if (round >= 0) found.get(side)!.push(one);
    }
  }
  const pick = (side: string, of: (one: LoadResult) => number): number => median(found.get(side)!.map(of));
  for (const side of found.keys()) {
    const faster = median(
      found.get(side)!.map(({ perSecond }, round) => found.get('hearth')![round]!.perSecond / perSecond),
    );
    console.log(
      formatRow([
        name,
        side,
        pick(side, (one) => one.perSecond).toFixed(0),
        pick(side, (one) => one.p50Ms).toFixed(2),
        pick(side, (one) => one.p95Ms).toFixed(2),
        String(found.get(side)![0]!.bytes),
        side === 'hearth' ? '' : `${faster.toFixed(2)}×`,
        side === 'hearth' ? making.toFixed(1) : '',
      ]),
    );
  }
}
console.log(`\n${(await measureLastCommits({ hearth, branch, folders: ['', folder], rounds })).join('\n')}`);
cgit.stop();
await hearth.stop();
