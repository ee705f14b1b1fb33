// Memory of Hearth's processes after many different pages: what anonymous memory they hold (heaps, stacks) and what
// they share with the page cache (mapped packs, the executable), which the system takes back when it needs it.
// usage: bench/memory [--pages N] [--beside N] [--blames N] [--refs N] [--repository PATH]
import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { startHearthServer } from './hearth-server.ts';
import { treeOf } from './process-usage.ts';
import { readNumberOption, formatRow } from './harness.ts';
import { fillRepository } from './sample-history.ts';

const pages = readNumberOption('pages', 2_000);
/** Pages that are viewed while 46 MB are pushed and cloned. */
const beside = readNumberOption('beside', 500);
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
        (path.basename(command[0]!) === 'git'
          ? command.slice(1).find((word) => /^[a-z]+(-[a-z]+)*$/.test(word))
          : command.find((word) => word === 'serve')) ??
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

const anonymousOf = ({ anonymous }: Held): number => anonymous;
const byProcess = (processes: readonly Held[]): string =>
  Object.entries(Object.groupBy(processes, (one) => one.name))
    .map(([kind, all]) => `${kind} ${all!.length > 1 ? `×${all!.length} ` : ''}${sum(all!, anonymousOf).toFixed(0)}`)
    .join(', ');

let peak: readonly Held[] = [];
const watching = setInterval(() => {
  const now = held();
  if (sum(now, anonymousOf) > sum(peak, anonymousOf)) peak = now;
}, 250);

function report(name: string): void {
  const processes = held();
  console.log(
    formatRow([
      name,
      sum(processes, anonymousOf).toFixed(0),
      byProcess(processes),
      sum(peak, anonymousOf).toFixed(0),
      byProcess(peak),
      sum(processes, ({ mapped }) => mapped).toFixed(0),
    ]),
  );
  peak = [];
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
/** @param shift others between them, where there are enough */
const pick = <Item>(items: readonly Item[], count: number, shift = 0): Item[] =>
  Array.from({ length: count }, (_, at) => items[(Math.floor((at * items.length) / count) + shift) % items.length]!);
/** A quarter each of files, commits, histories and folders. */
const pagesOf = (count: number, shift = 0): string[] => {
  const [someFiles, someCommits] = [pick(files, count / 4, shift), pick(commits, count / 4, shift)];
  return [
    ...someFiles.map((file) => `/blob/${branch}/${file}`),
    ...someCommits.map((oid) => `/commit/${oid}`),
    ...someFiles.map((file) => `/commits/${branch}/${file}`),
    ...someCommits.map((oid) => `/tree/${oid}`),
  ];
};

/** Pushes a branch of 46 MB that does not compress, and clones it. */
async function pushAndClone(): Promise<void> {
  const client = path.join(hearth.folder, 'client');
  const run = (...args: string[]) =>
    promisify(execFile)('git', args, { env: { PATH: '/usr/bin:/bin', HOME: hearth.folder } });
  mkdirSync(client);
  for (let file = 0; file < 46; file += 1) writeFileSync(path.join(client, `file${file}`), randomBytes(1_000_000));
  const who = ['-c', 'user.name=Alice', '-c', 'user.email=alice@example.org'];
  await run('init', '--quiet', '--initial-branch=large', client);
  await run('-C', client, 'add', '.');
  await run('-C', client, ...who, 'commit', '--quiet', '--message=Large');
  const url = `${hearth.url.replace('://', `://alice:${hearth.token}@`)}/git/alice/bench.git`;
  await run('-C', client, 'push', '--quiet', url, 'large');
  await run('clone', '--quiet', '--bare', '--single-branch', '--branch', 'large', url, `${client}.git`);
}

/** Adds branches as lines of `packed-refs`: one by one git would write a file for each, for minutes. */
function addRefs(oids: readonly string[]): void {
  git(['pack-refs', '--all']);
  const file = path.join(hearth.repository, 'packed-refs');
  const [head = '', ...known] = readFileSync(file, 'latin1')
    .trimEnd()
    .split(/\n(?!\^)/);
  const added = oids.map((oid, at) => `${oid} refs/heads/many/${at}`);
  const nameOf = (line: string): string => /^\S+ (\S+)/.exec(line)![1]!;
  const lines = [...known, ...added].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
  writeFileSync(`${file}.new`, [head, ...lines, ''].join('\n'), 'latin1');
  renameSync(`${file}.new`, file);
}

console.log(`Repository of ${commits.length} commits and ${files.length} text files. Megabytes.\n`);
console.log(formatRow(['After', 'Anonymous', 'By process', 'Its peak meanwhile', 'By process', 'Mapped files']));
console.log(formatRow(['---', '---:', '---', '---:', '---', '---:']));
report('the start');
await view(pagesOf(pages));
report(`${pages} pages`);
if (beside > 0) {
  await Promise.all([view(pagesOf(beside, 1)), pushAndClone()]);
  report(`${beside} more, 46 MB pushed and cloned beside`);
}
await view(pick(files, blames).map((file) => `/blame/${branch}/${file}`));
report(`${blames} blames`);
addRefs(pick(commits, refs));
await fetch(`${hearth.url}/git/alice/bench.git/info/refs?service=git-upload-pack`).then((answer) =>
  answer.arrayBuffer(),
);
await view(['', `/branches`]);
report(`a listing of ${refs} refs`);
await new Promise((resolve) => setTimeout(resolve, 60_000));
report('a minute without requests');
clearInterval(watching);
await hearth.stop();
