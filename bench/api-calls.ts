// The API's most used operations beside Gitea with the same content: the processor time of each server's whole process
// tree for the same calls, and how long a call takes.
// usage: bench/api-calls --against gitea=PROGRAM [--static-root FOLDER] [--calls N] [--rounds N] [--executable PATH]
// PROGRAM is a Gitea; FOLDER has its `templates`, `options` and `public`, where the program does not contain them.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { formatRow, median, readNumberOption, readTextOption } from './harness.ts';
import { startHearthServer } from './hearth-server.ts';
import { startGitea } from './peers/gitea.ts';
import { cpuOfTree } from './process-usage.ts';
import { fillRepository } from './sample-history.ts';

interface Server {
  name: string;
  pid: number;
  url: string;
  token: string;
}

const calls = readNumberOption('calls', 100);
const rounds = readNumberOption('rounds', 5);
const against = /^gitea=(?<program>.+)$/.exec(readTextOption('against') ?? '')?.groups?.['program'];
if (against === undefined) {
  console.error('This benchmark needs: --against gitea=PROGRAM');
  process.exit(2);
}
const issues = 100;
const commentsEach = 10;
const releases = 20;
const pulls = 20;
const branches = 30;

const hearth = await startHearthServer({ SERVICE_API_RATE_PER_MINUTE: '0' });
process.once('exit', () => hearth.kill());
await fillRepository(hearth.repository, { commits: 1000 });
const gitea = await startGitea(path.resolve(against), readTextOption('static-root'));
const servers: Server[] = [
  { name: 'Hearth', pid: hearth.pid, url: hearth.url, token: hearth.token },
  { name: `Gitea ${gitea.version}`, pid: gitea.pid, url: gitea.url, token: gitea.token },
];

async function call(server: Server, method: string, address: string, body?: unknown): Promise<string> {
  const response = await fetch(`${server.url}/api/v1${address}`, {
    method,
    headers: { authorization: `token ${server.token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${server.name}: ${method} ${address}: ${response.status} ${text.slice(0, 300)}`);
  return text;
}

const here = '/repos/alice/bench';
const files = path.join(hearth.folder, 'files.git');
execFileSync('git', ['clone', '-q', '--bare', `file://${hearth.repository}`, files]);
for (let at = 1; at <= branches; at += 1) {
  const tip = execFileSync('git', ['-C', files, 'rev-parse', `main~${at}`])
    .toString()
    .trim();
  execFileSync('git', ['-C', files, 'update-ref', `refs/heads/topic-${at}`, tip]);
}
/** One commit of each pull request, beside the default branch. */
for (let at = 1; at <= pulls; at += 1) {
  const person = ['-c', 'user.name=Alice', '-c', 'user.email=alice@example.org'];
  const commit = execFileSync('git', [
    ...person,
    '-C',
    files,
    'commit-tree',
    '-p',
    'main',
    '-m',
    `Pull ${at}`,
    'main^{tree}',
  ]);
  execFileSync('git', ['-C', files, 'update-ref', `refs/heads/pull-${at}`, commit.toString().trim()]);
}

async function fill(server: Server): Promise<void> {
  if (server.name !== 'Hearth') await call(server, 'POST', '/user/repos', { name: 'bench', default_branch: 'main' });
  const address = new URL(server.url);
  address.pathname = server.name === 'Hearth' ? '/git/alice/bench.git' : '/alice/bench.git';
  address.username = 'alice';
  address.password = server.token;
  execFileSync('git', ['-C', files, 'push', '-q', '--all', address.href], { stdio: 'inherit' });
  for (let issue = 1; issue <= issues; issue += 1) {
    await call(server, 'POST', `${here}/issues`, {
      title: `Issue ${issue}`,
      body: `Text of **issue** ${issue}.\n`.repeat(5),
    });
    if (issue === 1)
      for (let comment = 1; comment <= commentsEach; comment += 1)
        await call(server, 'POST', `${here}/issues/1/comments`, { body: `Comment ${comment}` });
  }
  for (let pull = 1; pull <= pulls; pull += 1)
    await call(server, 'POST', `${here}/pulls`, { title: `Pull ${pull}`, head: `pull-${pull}`, base: 'main' });
  for (let release = 1; release <= releases; release += 1)
    await call(server, 'POST', `${here}/releases`, {
      tag_name: `v1.${release}`,
      target_commitish: 'main',
      body: 'Text',
    });
}

const operations: [method: string, address: string, body?: unknown][] = [
  ['GET', here],
  ['GET', '/user/repos?limit=50'],
  ['GET', `${here}/issues?state=open&type=issues&limit=50`],
  ['GET', `${here}/issues/1`],
  ['GET', `${here}/issues/1/comments`],
  ['GET', `${here}/pulls?state=open&limit=20`],
  ['GET', `${here}/pulls/${issues + 1}`],
  ['GET', `${here}/branches?limit=30`],
  ['GET', `${here}/commits?limit=30&stat=false&files=false&verification=false`],
  ['GET', `${here}/contents/src/part1`],
  ['GET', `${here}/raw/src/part1/file1.ts`],
  ['GET', `${here}/releases?limit=20`],
  ['POST', `${here}/issues/2/comments`, { body: 'Another comment' }],
  ['POST', `${here}/statuses/SHA`, { state: 'success', context: 'bench', description: 'Passed' }],
];

for (const server of servers) await fill(server);
const sha = execFileSync('git', ['-C', files, 'rev-parse', 'main']).toString().trim();

interface Cost {
  cpuMs: number;
  wallMs: number;
}

async function measure(server: Server, [method, address, body]: (typeof operations)[number]): Promise<Cost> {
  const cpuBefore = cpuOfTree([server.pid]);
  const startedAt = performance.now();
  for (let each = 0; each < calls; each += 1) await call(server, method, address.replace('SHA', sha), body);
  return {
    wallMs: (performance.now() - startedAt) / calls,
    cpuMs: ((cpuOfTree([server.pid]) - cpuBefore) * 1000) / calls,
  };
}

const rows: string[] = [];
const totals = servers.map(() => 0);
for (const operation of operations) {
  const costs: Cost[][] = servers.map(() => []);
  // The first round is not counted.
  for (let round = 0; round <= rounds; round += 1)
    for (const [index, server] of servers.entries()) {
      const cost = await measure(server, operation);
      if (round > 0) costs[index]!.push(cost);
    }
  const cpu = costs.map((each) => median(each.map(({ cpuMs }) => cpuMs)));
  const wall = costs.map((each) => median(each.map(({ wallMs }) => wallMs)));
  for (const index of totals.keys()) totals[index]! += cpu[index]!;
  rows.push(
    formatRow([
      `${operation[0]} ${operation[1]}`,
      ...cpu.map((value) => value.toFixed(2)),
      `${(cpu[0]! / cpu[1]!).toFixed(2)}×`,
      ...wall.map((value) => value.toFixed(2)),
    ]),
  );
  process.stderr.write(`${rows.at(-1)}\n`);
}
console.log(
  [
    `${calls} calls of each operation, one after the other, ${rounds} rounds in turns; of the whole process tree.`,
    '',
    formatRow([
      'Operation',
      ...servers.map(({ name }) => `${name}, CPU ms`),
      'Ratio',
      ...servers.map(({ name }) => `${name}, ms`),
    ]),
    formatRow(['---', '---:', '---:', '---:', '---:', '---:']),
    ...rows,
    formatRow(['All', ...totals.map((value) => value.toFixed(2)), `${(totals[0]! / totals[1]!).toFixed(2)}×`, '', '']),
  ].join('\n'),
);
await gitea.stop();
await hearth.stop();
process.exit(0);
