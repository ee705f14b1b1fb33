// First views: pages requested for the first time, one after the other with a session, beside cgit
// (which keeps nothing) and another forge. CPU time is of the whole process tree of each server.
// usage: bench/first-views [--views N] [--repository PATH] [--url OTHER-FORGE]
// OTHER-FORGE is the page of the same repository at a Gitea or Forgejo; it must be public.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { mkdirSync } from 'node:fs';
import { addPerson, openModulesIn } from './data-folder.ts';
import { startHearthServer } from './hearth-server.ts';
import { startCgit } from './peers/cgit.ts';
import { cpuOfTree, memoryOfTree } from './process-usage.ts';
import { median, readNumberOption, formatRow, readTextOption } from './harness.ts';
import { fillRepository } from './sample-history.ts';

const views = readNumberOption('views', 1_000);
const other = readTextOption('url')?.replace(/\/$/, '') ?? null;

let cookie = '';
const hearth = await startHearthServer({}, async (dataDir) => {
  const modules = await openModulesIn(dataDir);
  cookie = `hearth_session=${(await addPerson(modules, 'bob')).session}`;
  await modules.close();
});
await fillRepository(hearth.repository);
const git = (...args: string[]): string =>
  execFileSync('git', ['-C', hearth.repository, ...args], { maxBuffer: 1e9 })
    .toString()
    .trim();
git('commit-graph', 'write', '--reachable', '--changed-paths');

interface Place {
  oid: string;
  file: string;
  folder: string;
}

/** Files and folders of the branch, all different as far as there are enough, and commits of its younger half. */
function choosePlaces(): Place[] {
  const commits = git('rev-list', '--no-merges', 'HEAD').split('\n');
  const names = git('ls-tree', '-r', '--name-only', 'HEAD')
    .split('\n')
    .filter((name) => /^[\w./-]+\.(?:c|h|ts|go|js|py|rs|sh|md|txt|adoc)$/.test(name) && name.includes('/'));
  const folders = [...new Set(names.map((name) => path.posix.dirname(name)))];
  const spread = <Item>(items: readonly Item[], part: number): Item[] =>
    Array.from({ length: views }, (_, at) => items[Math.floor((at * items.length * part) / views)]!);
  const [oids, files, places] = [spread(commits, 0.5), spread(names, 1), spread(folders, 1)];
  return oids.map((oid, at) => ({ oid, file: files[at]!, folder: places[at]! }));
}

const branch = git('symbolic-ref', '--short', 'HEAD');
const places = choosePlaces();
const base = `${hearth.url}/repos/alice/bench`;
const pages: Record<
  string,
  { ours: (place: Place) => string; cgit: (place: Place) => string; theirs: (place: Place) => string }
> = {
  file: {
    ours: ({ file }) => `/blob/${branch}/${file}`,
    cgit: ({ file }) => `tree/${file}`,
    theirs: ({ file }) => `/src/branch/${branch}/${file}`,
  },
  commit: {
    ours: ({ oid }) => `/commit/${oid}`,
    cgit: ({ oid }) => `commit/?id=${oid}`,
    theirs: ({ oid }) => `/commit/${oid}`,
  },
  'history of a file': {
    ours: ({ file }) => `/commits/${branch}/${file}`,
    cgit: ({ file }) => `log/${file}`,
    theirs: ({ file }) => `/commits/branch/${branch}/${file}`,
  },
  folder: {
    ours: ({ folder }) => `/tree/${branch}/${folder}`,
    cgit: ({ folder }) => `tree/${folder}`,
    theirs: ({ folder }) => `/src/branch/${branch}/${folder}`,
  },
};

const files = path.join(hearth.folder, 'files');
mkdirSync(files, { recursive: true });
const cgit = await startCgit(hearth.folder, hearth.repository, files, { countProcessorTime: true });

interface Seen {
  p50Ms: number;
  p95Ms: number;
  cpuMs: number;
}

async function view(urls: readonly string[], cpuS: () => number): Promise<Seen> {
  const took: number[] = [];
  const before = cpuS();
  for (const url of urls) {
    const at = performance.now();
    const answer = await fetch(url, url.startsWith(hearth.url) ? { headers: { cookie } } : {});
    await answer.text();
    if (answer.status !== 200) throw new Error(`${url}: ${answer.status}`);
    took.push(performance.now() - at);
  }
  // What a page leaves to the background counts, too.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const cpuMs = ((cpuS() - before) * 1000) / urls.length;
  took.sort((a, b) => a - b);
  return { p50Ms: median(took), p95Ms: took[Math.floor(took.length * 0.95)]!, cpuMs };
}

console.log(
  `Repository of ${git('rev-list', '--count', 'HEAD')} commits; at most ${views} first views of each page.\n`,
);
console.log(formatRow(['Page', 'Server', 'Views', 'CPU ms', 'p50 ms', 'p95 ms']));
console.log(formatRow(['---', '---', '---:', '---:', '---:', '---:']));
for (const [name, { ours, cgit: cgitPath, theirs }] of Object.entries(pages)) {
  const sides: Record<string, { url: (place: Place) => string; cpuS: () => number }> = {
    hearth: { url: (place) => base + ours(place), cpuS: () => cpuOfTree([hearth.pid]) },
    cgit: { url: (place) => `${cgit.url}/cgit/bench/${cgitPath(place)}`, cpuS: cgit.cpuS },
    ...(other === null ? {} : { 'other forge': { url: (place: Place) => other + theirs(place), cpuS: () => NaN } }),
  };
  for (const [side, { url, cpuS }] of Object.entries(sides)) {
    // A page that is asked for again is no first view: some histories have fewer folders than views.
    const urls = [...new Set(places.map(url))];
    // The first requests compile code and templates.
    await view(urls.slice(0, 10), cpuS);
    const counted = urls.slice(10);
    const { cpuMs, p50Ms, p95Ms } = await view(counted, cpuS);
    console.log(
      formatRow([
        name,
        side,
        String(counted.length),
        Number.isNaN(cpuMs) ? '' : cpuMs.toFixed(1),
        p50Ms.toFixed(1),
        p95Ms.toFixed(1),
      ]),
    );
  }
}
console.log(`\nMemory of Hearth's processes afterwards: ${memoryOfTree(hearth.pid).toFixed(0)} MB.`);
cgit.stop();
await hearth.stop();
