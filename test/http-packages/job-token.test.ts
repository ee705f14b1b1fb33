// The token of a job: it publishes packages of its own repository where the workflow asks for `packages: write` and the
// run is trusted; it reads what the repository reads, and is nothing after the end of the job.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { driveRunner } from '../ci/ci-fixture.ts';
import { instanceScope } from '../../src/ci/index.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { basic, npmBody, pypiBody, startPackageServer } from './package-server.ts';
import type { Answer } from './package-server.ts';

const server = await startPackageServer(t);
const { tokens, send } = server;
const { ci, db } = server.app.modules;

/** Jobs of the private repository "closed": what each may is its name. */
const permissions: Readonly<Record<string, string>> = {
  writes: '{packages: write}',
  reads: '{packages: read}',
  'reads-code': '{contents: read}',
  nothing: '{}',
};
const work = path.join(server.folder, 'work');
mkdirSync(path.join(work, '.hearth', 'workflows'), { recursive: true });
const jobs = Object.entries(permissions).map(
  ([name, text]) => `  ${name}: {runs-on: linux, permissions: ${text}, steps: [{run: "true"}]}\n`,
);
writeFileSync(path.join(work, '.hearth', 'workflows', 'ci.yml'), `on: push\njobs:\n${jobs.join('')}`);
for (const args of [
  ['init', '-q', '-b', 'main'],
  ['add', '--all'],
  ['commit', '-q', '-m', 'A workflow'],
])
  await runGit(args, { cwd: work });

const { runner, token } = await ci.runners.create(instanceScope, { name: 'builder', ephemeral: false });
const driven = await driveRunner(server.app.modules as never, { uuid: runner.uuid, token });
await ci.runners.declare(await driven.row(), { version: 'v1', labels: ['linux'], capabilities: [] });
await runGit(['push', '-q', server.url('closed', tokens.alice), 'main'], { cwd: work });

const secrets: Record<string, string> = {};
const taskIds: number[] = [];
while (taskIds.length < jobs.length) {
  const task = await driven.fetch(5_000);
  if (task === null) continue;
  taskIds.push(task.taskId);
  secrets[String(task.context['job'])] = String(task.context['token']);
}

const put = (secret: string, owner: string, name: string, version: string): Promise<Answer> =>
  send('PUT', `/packages/${owner}/generic/${name}/${version}/f`, { auth: basic(secret), body: 'x' });

t.test('a job publishes to packages of its repository alone', async (t) => {
  const alice = tokens.alice;
  t.equal((await put(alice, 'alice', 'open', '1')).status, 201, 'a package that follows another repository');
  t.equal((await put(alice, 'alice', 'apart', '1')).status, 201, 'one that follows none');
  const cases: readonly (readonly [job: string, owner: string, name: string, status: number])[] = [
    ['writes', 'alice', 'closed', 201],
    ['writes', 'alice', 'tool', 201],
    ['writes', 'alice', 'open', 403],
    ['writes', 'alice', 'apart', 403],
    ['writes', 'bob', 'tool', 403],
    ['writes', 'acme', 'tool', 403],
    ['writes', 'nobody', 'tool', 403],
    ['reads', 'alice', 'closed', 403],
    ['reads', 'alice', 'new', 403],
    ['reads-code', 'alice', 'closed', 401],
    ['nothing', 'alice', 'new', 401],
  ];
  for (const [job, owner, name, status] of cases)
    t.equal((await put(secrets[job]!, owner, name, `2-${job}`)).status, status, `${job}: ${owner}/${name}`);
  const stored = async () => Number((await db.read.query('SELECT count(*) AS stored FROM package_blobs'))[0].stored);
  const before = await stored();
  for (const [job, owner] of [
    ['writes', 'bob'],
    ['reads', 'alice'],
  ] as const) {
    const auth = basic(secrets[job]!);
    t.equal((await send('POST', `/packages/${owner}/pypi/`, { auth, ...pypiBody('filler', job) })).status, 403);
  }
  t.equal(await stored(), before, 'nothing of a refused upload is stored');
  const npm = await send('PUT', '/packages/alice/npm/lib', {
    auth: `Bearer ${secrets['writes']}`,
    body: npmBody('lib', '1.0.0'),
  });
  t.equal(npm.status, 201);
  const { package: made } = await server.app.modules.packages.find(
    { ...aliceViewer, id: server.ids.alice },
    { owner: 'alice', format: 'generic', name: 'tool' },
  );
  t.strictSame([made.repositoryId, made.visibility], [server.ids.closed, 'PRIVATE'], 'it follows the repository');
});

const aliceViewer = {
  kind: 'person',
  username: 'alice',
  isAdministrator: false,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
} as const;

t.test('it reads by the permission of what it reads', async (t) => {
  const read = async (job: string, target: string) =>
    (await send('GET', target, { auth: basic(secrets[job]!) })).status;
  const file = '/packages/alice/generic/tool/2-writes/f';
  t.strictSame(
    [
      await read('writes', file),
      await read('reads', file),
      await read('reads-code', file),
      await read('nothing', file),
    ],
    [200, 200, 401, 401],
  );
  const modules = '/packages/alice/go/127.0.0.1/alice/closed/@v/list';
  t.strictSame(
    [await read('reads-code', modules), await read('reads', modules), await read('nothing', modules)],
    [200, 404, 404],
    'modules are code',
  );
});

t.test('a run of untrusted code only reads', async (t) => {
  await db.write(({ manager }) => manager.query('UPDATE ci_runs SET is_trusted = 0'));
  const answer = await put(secrets['writes']!, 'alice', 'tool', '3');
  t.match([answer.status, answer.text], [403, /workflow that is trusted/]);
  t.equal((await put(secrets['writes']!, 'alice', 'newer', '3')).status, 403);
  const file = '/packages/alice/generic/tool/2-writes/f';
  t.equal((await send('GET', file, { auth: basic(secrets['writes']!) })).status, 200);
  t.equal((await send('GET', file.replace('2-writes', '3'), { auth: basic(tokens.alice) })).status, 404);
  await db.write(({ manager }) => manager.query('UPDATE ci_runs SET is_trusted = 1'));
});

t.test('after its end the token is none', async (t) => {
  for (const taskId of taskIds) await driven.finish(taskId);
  t.equal((await put(secrets['writes']!, 'alice', 'tool', '4')).status, 401);
});
