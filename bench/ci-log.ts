// The page of a job whose log has a million rows, and the memory of one call that brings 128 MiB of them.
// usage: bench/ci-log [--rounds N] [--rows N] [--mebibytes N]
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { executable, startHearthServer } from './hearth-server.ts';
import { readNumberOption, formatRow } from './harness.ts';

const rounds = readNumberOption('rounds', 40);
const rows = readNumberOption('rows', 1_000_000);
const mebibytes = readNumberOption('mebibytes', 128);
const steps = 13;

const hearth = await startHearthServer();

/** Protocol Buffers: a number, and bytes with their length. */
const varint = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
const number = (field: number, value: number): Buffer => Buffer.from([field * 8, ...varint(value)]);
const bytes = (field: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([field * 8 + 2, ...varint(content.length)]), content]);

const identity: Record<string, string> = {};

async function call(procedure: string, body: Buffer | object): Promise<Record<string, unknown>> {
  const isBinary = Buffer.isBuffer(body);
  const response = await fetch(`${hearth.url}/api/actions/runner.v1.RunnerService/${procedure}`, {
    method: 'POST',
    headers: { 'Content-Type': isBinary ? 'application/proto' : 'application/json', ...identity },
    body: isBinary ? new Uint8Array(body) : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${procedure}: ${response.status} ${await response.text()}`);
  return isBinary ? {} : ((await response.json()) as Record<string, unknown>);
}

const run = (...args: string[]): string =>
  execFileSync(executable, args, { cwd: hearth.folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

const work = path.join(hearth.folder, 'work');
mkdirSync(path.join(work, '.hearth/workflows'), { recursive: true });
const list = Array.from({ length: steps }, (_, at) => `{name: Part ${at + 1}, run: make}`).join(', ');
writeFileSync(
  path.join(work, '.hearth/workflows/ci.yml'),
  `on: push\njobs:\n  build: {runs-on: linux, steps: [${list}]}\n  large: {runs-on: linux, steps: [{run: make}]}\n`,
);
const git = (...args: string[]) =>
  execFileSync('git', ['-C', work, '-c', 'user.name=Alice', '-c', 'user.email=alice@example.org', ...args]);
git('init', '-q', '-b', 'main');
git('add', '.');
git('commit', '-q', '-m', 'Begin');

const token = run('runner', 'token');
const { runner } = (await call('Register', { name: 'bench', token, version: 'bench', labels: ['linux'] })) as {
  runner: { uuid: string; token: string };
};
Object.assign(identity, { 'x-runner-uuid': runner.uuid, 'x-runner-token': runner.token });
git(
  '-c',
  `http.extraHeader=Authorization: Bearer ${hearth.token}`,
  'push',
  '-q',
  `${hearth.url}/git/alice/bench.git`,
  'main',
);

async function fetchTask(): Promise<number> {
  for (;;) {
    const { task } = (await call('FetchTask', {})) as { task?: { id: string } };
    if (task !== undefined) return Number(task.id);
    await sleep(200);
  }
}

const error = rows - 400;
const content = (at: number): string =>
  at === error
    ? '::error file=src/module/a.c,line=12::Expected a number'
    : at % 1000 === 0
      ? `::group::Part ${at}`
      : `src/module/${at}.c:12:5: compiling object ${at} with -O2 -Wall, done`;
const message = (taskId: number, index: number, lines: readonly string[], noMore = false): Buffer =>
  Buffer.concat([
    number(1, taskId),
    number(2, index),
    ...lines.map((line) => bytes(3, bytes(2, Buffer.from(line)))),
    ...(noMore ? [number(4, 1)] : []),
  ]);

const first = await fetchTask();
const atOnce = 20_000;
for (let from = 0; from < rows; from += atOnce)
  await call(
    'UpdateLog',
    message(
      first,
      from,
      Array.from({ length: Math.min(atOnce, rows - from) }, (_, at) => content(from + at)),
    ),
  );
await call('UpdateLog', message(first, rows, [], true));
const time = new Date().toISOString();
await call('UpdateTask', {
  state: {
    id: String(first),
    result: 'RESULT_FAILURE',
    steps: Array.from({ length: steps }, (_, at) => {
      const start = Math.floor(rows / steps) * at;
      const end = at === steps - 1 ? rows : Math.floor(rows / steps) * (at + 1);
      return {
        id: String(at),
        result: at === steps - 1 ? 'RESULT_FAILURE' : 'RESULT_SUCCESS',
        startedAt: time,
        stoppedAt: time,
        logIndex: String(start),
        logLength: String(end - start),
      };
    }),
  },
});

console.log(
  formatRow([`${rows} rows, ${steps} steps, ${rounds} requests each`, 'p50 ms', 'p95 ms', 'largest ms', 'kB']),
);
console.log(formatRow(['---', '---:', '---:', '---:', '---:']));
const page = `${hearth.url}/repos/alice/bench/runs/1`;
for (const [what, address] of [
  ['the run', page],
  ['the job, at its first error', `${page}/jobs/1`],
  ['a step', `${page}/jobs/1?step=step-7`],
  ['a row in the middle', `${page}/jobs/1?row=${Math.floor(rows / 2)}`],
  ['a search, nothing found', `${page}/jobs/1?q=segmentation+fault`],
  ['a search, every row found', `${page}/jobs/1?q=COMPILING`],
] as const) {
  const samples: number[] = [];
  let size = 0;
  for (let round = 0; round < rounds; round += 1) {
    const startedAt = performance.now();
    const response = await fetch(`${address}${address.includes('?') ? '&' : '?'}round=${round}`);
    const text = await response.text();
    samples.push(performance.now() - startedAt);
    if (response.status !== 200) throw new Error(`${what}: ${response.status} ${text.slice(0, 500)}`);
    size = text.length;
  }
  const sorted = samples.toSorted((a, b) => a - b);
  const part = (share: number): string =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(1);
  console.log(formatRow([what, part(0.5), part(0.95), sorted.at(-1)!.toFixed(1), (size / 1000).toFixed(0)]));
}

/** Largest resident set of the server so far, in MiB. */
const peak = (): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${hearth.pid}/status`, 'utf8'))![1]) / 1024;
const second = await fetchTask();
const line = 'x'.repeat(1000);
const large = message(
  second,
  0,
  Array.from({ length: Math.floor((mebibytes * 1024 * 1024) / 1008) }, () => line),
  true,
);
// The kernel forgets the peak of the million rows.
writeFileSync(`/proc/${hearth.pid}/clear_refs`, '5');
const before = peak();
const startedAt = performance.now();
await call('UpdateLog', large);
console.log(
  `\n${formatRow([`one call of ${mebibytes} MiB`, 'before, MiB', 'peak, MiB', 'seconds'])}\n${formatRow(['---', '---:', '---:', '---:'])}`,
);
console.log(
  formatRow(['server', before.toFixed(0), peak().toFixed(0), ((performance.now() - startedAt) / 1000).toFixed(1)]),
);
await hearth.stop();
