// Memory of Hearth's processes after many different pages: what anonymous memory they hold (heaps, stacks) and what
// they share with the page cache (mapped packs, the executable), which the system takes back when it needs it.
// usage: bench/memory [--pages N] [--blames N] [--refs N] [--repository PATH]
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { startHearthServer } from './hearth-server.ts';
import { treeOf } from './process-usage.ts';
import { readNumberOption, formatRow } from './harness.ts';
import { fillRepository } from './sample-history.ts';

const pages = readNumberOption('pages', 2_000);
const blames = readNumberOption('blames', 256);
const refs = readNumberOption('refs', 100_000);

const hearth = await startHearthServer(JSON.parse(process.env['BENCH_ENV'] ?? '{}') as Record<string, string>);
await fillRepository(hearth.repository);
const git = (args: string[], input = ''): string =>
  execFileSync('git', ['-C', hearth.repository, ...args], { input, maxBuffer: 1e9 })
    .toString()
    .trim();
git(['commit-graph', 'write', '--reachable', '--changed-paths']);

interface Held {
  name: string;
  anonymous: number;
  mapped: number;
}

/** In MB, by process; shared pages count in proportion. */
function held(): Held[] {
  return treeOf(hearth.pid).flatMap((pid) => {
    try {
      const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
      const kilobytes = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const name =
        /--run-part=(\S+)/.exec(command.join(' '))?.[1] ??
        command.slice(0, 4).find((word) => /^(serve|cat-file)$/.test(word)) ??
        command[0]!;
      return [
        { name, anonymous: kilobytes('Pss_Anon') / 1000, mapped: (kilobytes('Pss') - kilobytes('Pss_Anon')) / 1000 },
      ];
    } catch {
      return [];
    }
  });
}

const sum = (processes: readonly Held[], of: (one: Held) => number): number =>
  processes.reduce((total, one) => total + of(one), 0);

let peak = 0;
const watching = setInterval(
  () =>
    (peak = Math.max(
      peak,
      sum(held(), ({ anonymous }) => anonymous),
    )),
  250,
);

function report(name: string): void {
  const processes = held();
  const parts = Object.entries(Object.groupBy(processes, (one) => one.name)).map(
    ([kind, all]) =>
      `${kind} ${all!.length > 1 ? `×${all!.length} ` : ''}${sum(all!, ({ anonymous }) => anonymous).toFixed(0)}`,
  );
  console.log(
    formatRow([
      name,
      sum(processes, ({ anonymous }) => anonymous).toFixed(0),
      peak.toFixed(0),
      sum(processes, ({ mapped }) => mapped).toFixed(0),
      parts.join(', '),
    ]),
  );
  peak = 0;
}

const base = `${hearth.url}/repos/alice/bench`;
let requests = 0;
/**
 * One address would soon have spent what anonymous people may ask of git. Connections end with the request: git runs
 * here between the requests and lets no timer run, so the client would use one that the server has closed.
 */
const fromAnotherAddress = () => {
  requests += 1;
  return {
    headers: { 'X-Forwarded-For': `198.51.${(requests >> 8) & 255}.${requests & 255}`, Connection: 'close' },
  };
};
async function view(urls: readonly string[], atOnce = 4): Promise<void> {
  const left = [...urls];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let url = left.shift(); url !== undefined; url = left.shift()) {
        let answer = await fetch(base + url, fromAnotherAddress());
        for (let tries = 0; answer.status === 503 && tries < 20; tries += 1) {
          await answer.text();
          await new Promise((resolve) => setTimeout(resolve, 500));
          answer = await fetch(base + url, fromAnotherAddress());
        }
        await answer.text();
        if (answer.status !== 200) console.error(`${url}: ${answer.status}`);
      }
    }),
  );
}

const branch = git(['symbolic-ref', '--short', 'HEAD']);
const commits = git(['rev-list', '--no-merges', 'HEAD']).split('\n');
const files = git(['ls-tree', '-r', '--name-only', 'HEAD'])
  .split('\n')
  .filter((name) => /^[\w./-]+\.(?:c|h|ts|go|js|py|rs|sh|md|txt|adoc)$/.test(name));
const pick = <Item>(items: readonly Item[], count: number): Item[] =>
  Array.from({ length: count }, (_, at) => items[Math.floor((at * items.length) / count)]!);

console.log(`Repository of ${commits.length} commits and ${files.length} text files. Megabytes.\n`);
console.log(formatRow(['After', 'Anonymous', 'Its peak meanwhile', 'Mapped files', 'Anonymous by process']));
console.log(formatRow(['---', '---:', '---:', '---:', '---']));
report('the start');
const quarter = Math.floor(pages / 4);
await view([
  ...pick(files, quarter).map((file) => `/blob/${branch}/${file}`),
  ...pick(commits, quarter).map((oid) => `/commit/${oid}`),
  ...pick(files, quarter).map((file) => `/commits/${branch}/${file}`),
  ...pick(commits, quarter).map((oid) => `/tree/${oid}`),
]);
report(`${pages} pages`);
await view(pick(files, blames).map((file) => `/blame/${branch}/${file}`));
report(`${blames} blames`);
git(
  ['update-ref', '--stdin'],
  pick(commits, refs)
    .map((oid, at) => `create refs/heads/many/${at} ${oid}\n`)
    .join(''),
);
git(['pack-refs', '--all']);
await fetch(`${hearth.url}/git/alice/bench.git/info/refs?service=git-upload-pack`).then((answer) =>
  answer.arrayBuffer(),
);
await view(['', `/branches`]);
report(`a listing of ${refs} refs`);
await new Promise((resolve) => setTimeout(resolve, 60_000));
report('a minute without requests');
clearInterval(watching);
await hearth.stop();
