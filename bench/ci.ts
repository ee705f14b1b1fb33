// CI: from a push to the task of a waiting runner, and the cost of fifty idle runners, also beside 500 queued jobs.
// usage: bench/ci [--rounds N] [--seconds N] [--pushes-only yes] [--url OTHER-FORGE --registration-token TOKEN]
// `--url` is an empty repository at another forge, with write credentials: a runner registers with the token and polls
// as stock runners do, every two seconds unless the forge has long polling. The cost of idle runners there is not
// measured.
import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startHearthServer } from './hearth-server.ts';
import { cpuOfTree } from './process-usage.ts';
import { readNumberOption, formatRow, readTextOption } from './harness.ts';

const rounds = readNumberOption('rounds', 100);
const seconds = readNumberOption('seconds', 60);
/** Leaves out what takes minutes: the cost of idle runners. */
const pushesOnly = readTextOption('pushes-only') !== null;
const runners = 50;

const hearth = await startHearthServer();

interface Runner {
  /** One call, over a connection of its own that stays open. */
  call(
    procedure: string,
    message: object,
    timeoutMs?: number,
  ): Promise<{ task?: { id: string }; runner?: { uuid: string; token: string } }>;
  close(): void;
}

/** A client of the runner protocol; the headers identify the runner. */
function connectRunner(forge: string, identity: Record<string, string>): Runner {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    close: () => agent.destroy(),
    call: (procedure, message, timeoutMs = 60_000) =>
      new Promise((resolve, reject) => {
        const headers = { 'Content-Type': 'application/json', 'Connect-Timeout-Ms': String(timeoutMs), ...identity };
        const calling = request(
          new URL(`/api/actions/runner.v1.RunnerService/${procedure}`, forge),
          { method: 'POST', agent, headers },
          (response) => {
            let text = '';
            response
              .setEncoding('utf8')
              .on('data', (part: string) => (text += part))
              .on('end', () => {
                if (response.statusCode === 200) resolve(JSON.parse(text) as Awaited<ReturnType<Runner['call']>>);
                else reject(new Error(`${procedure}: ${response.statusCode} ${text}`));
              });
          },
        );
        calling.on('error', reject);
        calling.end(JSON.stringify(message));
      }),
  };
}

/** Registered over the network, as with any forge that implements the protocol. */
async function registerRunner(forge: string, token: string): Promise<Runner> {
  const labels = ['linux'];
  const { runner } = await connectRunner(forge, {}).call('Register', {
    name: 'bench',
    token,
    version: 'bench',
    labels,
  });
  const registered = connectRunner(forge, { 'x-runner-uuid': runner!.uuid, 'x-runner-token': runner!.token });
  await registered.call('Declare', { version: 'bench', labels });
  return registered;
}

const oneJob =
  'on: push\njobs:\n  build:\n    runs-on: linux\n    steps:\n      - uses: actions/checkout@v4\n      - run: make\n';
/** Jobs that no runner takes, in two matrices. */
const queuedJobs = 500;
const manyJobs = ['a', 'b'].reduce(
  (text, name) =>
    `${text}  ${name}:\n    runs-on: ${name}\n    strategy: {matrix: {n: [${Array.from({ length: queuedJobs / 2 }, (_, at) => at).join(', ')}]}}\n    steps: [{run: make}]\n`,
  'on: push\njobs:\n',
);

/** A work tree with one workflow, and how it is pushed. */
async function workTree(name: string, url: string, settings: readonly string[] = [], workflow = oneJob) {
  const work = path.join(hearth.folder, name);
  mkdirSync(path.join(work, '.github/workflows'), { recursive: true });
  writeFileSync(path.join(work, '.github/workflows/ci.yml'), workflow);
  const git = (...args: string[]) =>
    promisify(execFile)('git', [
      '-C',
      work,
      '-c',
      'user.name=Alice',
      '-c',
      'user.email=alice@example.org',
      ...settings,
      ...args,
    ]);
  await git('init', '-q', '-b', 'main');
  await git('add', '.');
  return { git, push: (branch = 'main') => git('push', '-q', url, branch) };
}
type WorkTree = Awaited<ReturnType<typeof workTree>>;

const percentile = (values: readonly number[], part: number): string => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!.toFixed(1);
};

/** The default polling interval of runners; a forge with long polling responds within it. */
const pauseMs = 2_000;

async function fetchTask(runner: Runner): Promise<{ id: string; at: number }> {
  for (;;) {
    const { task } = await runner.call('FetchTask', {});
    if (task !== undefined) return { id: task.id, at: performance.now() };
    await sleep(pauseMs);
  }
}

/** How long a push took, and how long after its end a waiting runner had its task; negative when it had it before. */
async function pushOnce(
  waiting: () => Promise<{ id: string; at: number; runner: Runner }>,
  { git, push }: WorkTree,
  number: number,
): Promise<{ pushMs: number; responseMs: number }> {
  await git('commit', '-q', '--allow-empty', '-m', `Change ${number}`);
  const fetched = waiting();
  // By then the request has been authenticated and is held.
  await sleep(20);
  const startedAt = performance.now();
  await push();
  const endedAt = performance.now();
  const { id, at, runner } = await fetched;
  await runner.call('UpdateTask', { state: { id, result: 'RESULT_SUCCESS' } });
  return { pushMs: endedAt - startedAt, responseMs: at - endedAt };
}

const line = (what: string, values: readonly number[]) =>
  formatRow([what, percentile(values, 0.5), percentile(values, 0.95), Math.max(...values).toFixed(1)]);

/** One runner that asks before each push. */
const oneWaits = (runner: Runner) => async () => ({ ...(await fetchTask(runner)), runner });

async function measurePushes(
  what: string,
  waiting: () => Promise<{ id: string; at: number; runner: Runner }>,
  tree: WorkTree,
): Promise<void> {
  const samples = [];
  for (let round = -5; round < rounds; round += 1) {
    const sample = await pushOnce(waiting, tree, round);
    if (round >= 0) samples.push(sample);
  }
  console.log(
    line(
      `${what}: push`,
      samples.map(({ pushMs }) => pushMs),
    ),
  );
  console.log(
    line(
      `${what}: from its end to the runner’s answer`,
      samples.map(({ responseMs }) => responseMs),
    ),
  );
}

const token = (await hearth.run('runner', 'token')).trim();
const first = await registerRunner(hearth.url, token);
console.log(formatRow([`${rounds} pushes, one job each`, 'p50 ms', 'p95 ms', 'largest ms']));
console.log(formatRow(['---', '---:', '---:', '---:']));
const asAlice = ['-c', `http.extraHeader=Authorization: Bearer ${hearth.token}`];
const tree = await workTree('work', `${hearth.url}/git/alice/bench.git`, asAlice);
await measurePushes('one runner waits', oneWaits(first), tree);
const [otherUrl, registrationToken] = [readTextOption('url'), readTextOption('registration-token')];
if (otherUrl !== null && registrationToken !== null) {
  const runner = await registerRunner(new URL(otherUrl).origin, registrationToken);
  await measurePushes(
    `${new URL(otherUrl).host}: one runner waits`,
    oneWaits(runner),
    await workTree('other', otherUrl),
  );
  runner.close();
}

const idle = await Promise.all(Array.from({ length: runners }, () => registerRunner(hearth.url, token)));

/** Runners poll until the time is over. Returns the server's share of one core, in percent. */
async function cpuOf(
  polling: readonly Runner[],
  { holdMs, pauseMs }: { holdMs: number; pauseMs: number },
): Promise<{ share: number; polls: number }> {
  let polls = 0;
  const until = performance.now() + (seconds + 5) * 1000;
  const fetches = polling.map(async (runner) => {
    await sleep(Math.random() * 3_000);
    while (performance.now() < until) {
      await runner.call('FetchTask', {}, holdMs);
      polls += 1;
      await sleep(pauseMs);
    }
  });
  await sleep(5_000);
  const [before, startedAt, already] = [cpuOfTree([hearth.pid]), performance.now(), polls];
  await sleep(seconds * 1000);
  const share = ((cpuOfTree([hearth.pid]) - before) / (performance.now() - startedAt)) * 100_000;
  const during = polls - already;
  await Promise.all(fetches);
  return { share, polls: during / seconds };
}

console.log(
  `\n${formatRow([`${runners} runners without work, ${seconds} s`, 'Calls a second', 'CPU, % of one core'])}`,
);
console.log(formatRow(['---', '---:', '---:']));
for (const [what, polling, times] of pushesOnly
  ? []
  : ([
      ['no runner at all', [], { holdMs: 0, pauseMs: 0 }],
      ['as runners come: 5 s, then 2 s of pause', idle, { holdMs: 5_000, pauseMs: 2_000 }],
      ['with the settings that Hearth shows: 30 s, then 1 s', idle, { holdMs: 30_000, pauseMs: 1_000 }],
    ] as const)) {
  const { share, polls } = await cpuOf(polling, times);
  console.log(formatRow([what, polls.toFixed(1), share.toFixed(1)]));
}

console.log(
  `\n${formatRow([`${rounds} pushes among ${runners} runners with other labels`, 'p50 ms', 'p95 ms', 'largest ms'])}`,
);
console.log(formatRow(['---', '---:', '---:', '---:']));
await Promise.all(idle.map((runner) => runner.call('Declare', { version: 'bench', labels: ['other'] })));
let isOver = false;
const fetches = idle.map(async (runner) => {
  while (!isOver) await runner.call('FetchTask', {}, 5_000);
});
await measurePushes('among others', oneWaits(first), tree);
isOver = true;
await Promise.all(fetches);

/** Runners that ask again and again; `next` is the next task that one of them gets. */
function pollWith(polling: readonly Runner[]) {
  let isOver = false;
  let take: (got: { id: string; at: number; runner: Runner }) => void = () => {};
  const all = polling.map(async (runner) => {
    while (!isOver) {
      const { task } = await runner.call('FetchTask', {}, 30_000);
      if (task !== undefined) take({ id: task.id, at: performance.now(), runner });
      // Its connection is free for the report.
      await sleep(task === undefined ? 1_000 : 300);
    }
  });
  return {
    next: () => new Promise<{ id: string; at: number; runner: Runner }>((resolve) => (take = resolve)),
    async end() {
      isOver = true;
      await Promise.all(all);
    },
  };
}
console.log(
  `\n${formatRow([`${rounds} pushes, ${runners} runners wait for these jobs`, 'p50 ms', 'p95 ms', 'largest ms'])}`,
);
console.log(formatRow(['---', '---:', '---:', '---:']));
await Promise.all(idle.map((runner) => runner.call('Declare', { version: 'bench', labels: ['linux'] })));
const polls = pollWith(idle);
await sleep(1_000);
await measurePushes('all wait', polls.next, tree);
await polls.end();
await Promise.all(idle.map((runner) => runner.call('Declare', { version: 'bench', labels: ['other'] })));

console.log(`\n${formatRow([`${queuedJobs} queued jobs that no runner takes, ${seconds} s`, 'CPU, % of one core'])}`);
console.log(formatRow(['---', '---:']));
const { git, push } = await workTree('queue', `${hearth.url}/git/alice/bench.git`, [...asAlice], manyJobs);
await git('checkout', '-q', '-b', 'queue');
await git('commit', '-q', '-m', 'Many jobs');
await push('queue');
for (const [what, polling] of pushesOnly
  ? []
  : ([
      ['no runner at all', []],
      [`${runners} runners with other labels`, idle],
    ] as const))
  console.log(formatRow([what, (await cpuOf(polling, { holdMs: 30_000, pauseMs: 1_000 })).share.toFixed(1)]));
for (const runner of [first, ...idle]) runner.close();
await hearth.stop();
