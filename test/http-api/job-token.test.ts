// The token of a job at the API: each permission of `permissions` against the endpoints that it is for.
import t from 'tap';
import type { TaskContent } from '../../src/ci/index.ts';
import { fillRepository, sendRequest, startWeb } from '../fixtures/web-fixture.ts';
import { reasonOf } from '../ci/ci-fixture.ts';
import { pullWork } from '../pages/pulls/pulls-fixture.ts';

const R = '/api/v1/repos/alice/tool';

/** What a job may ask for, by the name of the job. */
const asked: Record<string, string> = {
  none: '{}',
  'contents-read': '{contents: read}',
  'contents-write': '{contents: write}',
  'statuses-read': '{statuses: read}',
  'statuses-write': '{statuses: write}',
  'issues-read': '{issues: read}',
  'issues-write': '{issues: write}',
  'pull-requests-read': '{pull-requests: read}',
  'pull-requests-write': '{pull-requests: write}',
  'actions-read': '{actions: read}',
  'actions-write': '{actions: write}',
  'read-all': 'read-all',
  'write-all': 'write-all',
};
const jobs = Object.entries(asked)
  .map(([name, permissions]) => `  ${name}: {runs-on: linux, permissions: ${permissions}, steps: [{run: x}]}\n`)
  .join('');
const file = `on: workflow_dispatch
permissions: {contents: read}
jobs:
${jobs}  workflow: {runs-on: linux, steps: [{run: x}]}
`;
const again = 'on: workflow_dispatch\njobs:\n  a: {runs-on: nowhere, steps: [{run: x}]}\n';

interface Endpoint {
  call: [method: string, path: string, body?: unknown];
  /** Names as in `permissions`: any one of them is enough. */
  needs: readonly string[];
  level: 'read' | 'write';
}

const read = (path: string, ...needs: string[]): Endpoint => ({ call: ['GET', path], needs, level: 'read' });
const write = (method: string, path: string, body: unknown, ...needs: string[]): Endpoint => ({
  call: [method, path, body],
  needs,
  level: 'write',
});
const base64 = (text: string) => Buffer.from(text).toString('base64');
let made = 0;
const fresh = () => `new-${(made += 1)}`;

const endpoints = (): Record<string, Endpoint> => ({
  'get the repository': read('', 'metadata'),
  'list branches': read('/branches', 'contents'),
  'get a file': read('/contents/README.md', 'contents'),
  'list releases': read('/releases', 'contents'),
  'get a status': read('/commits/main/status', 'statuses', 'contents'),
  'list issues': read('/issues', 'issues'),
  'get an issue': read('/issues/1', 'issues'),
  'get a pull request as an issue': read('/issues/2', 'issues', 'pull-requests'),
  'list comments': read('/issues/comments', 'issues', 'pull-requests'),
  'get a pull request': read('/pulls/2', 'pull-requests'),
  'list runs': read('/runs', 'actions'),
  'write a file': write('POST', `/contents/${fresh()}.txt`, { content: base64('x') }, 'contents'),
  'create a branch': write('POST', '/branches', { new_branch_name: fresh(), old_ref_name: 'main' }, 'contents'),
  'create a tag': write('POST', '/tags', { tag_name: fresh(), target: 'main' }, 'contents'),
  'publish a release': write('POST', '/releases', { tag_name: fresh(), target_commitish: 'main' }, 'contents'),
  'report a status': write('POST', '/commits/main/statuses', { context: 'lint', state: 'success' }, 'statuses'),
  'report a status as with Gitea': write('POST', '/statuses/main', { state: 'success' }, 'statuses'),
  'open an issue': write('POST', '/issues', { title: 'Broken' }, 'issues'),
  'comment on an issue': write('POST', '/issues/1/comments', { body: 'Seen' }, 'issues'),
  'comment on a pull request': write('POST', '/issues/2/comments', { body: 'Seen' }, 'issues', 'pull-requests'),
  'close an issue': write('PATCH', '/issues/1', { state: 'closed' }, 'issues'),
  'edit an issue': write('PATCH', '/issues/1', { title: `One ${fresh()}`, body: 'Edited', state: 'open' }, 'issues'),
  'label an issue': write('POST', '/issues/1/labels', { labels: ['bug'] }, 'issues'),
  'label a pull request': write('PUT', '/issues/2/labels', { labels: ['bug'] }, 'issues', 'pull-requests'),
  'start a workflow': write('POST', '/runs', { workflow: 'again.yml' }, 'actions'),
});

/** For people alone, whatever the workflow asks for. */
const never: [method: string, path: string, body?: unknown][] = [
  ['PATCH', '', { description: 'x' }],
  ['DELETE', ''],
  ['GET', '/collaborators'],
  ['GET', '/secrets'],
  ['GET', '/webhooks'],
  ['GET', '/branch_protections'],
  ['POST', '/forks', {}],
  ['POST', '/runs/1/approve'],
  ['POST', '/runners', { name: 'x' }],
  ['POST', '/issues/1/move', { owner: 'alice', name: 'other' }],
];

async function start(t: Parameters<typeof startWeb>[0]) {
  const web = await startWeb(t);
  const { accounts, repositories, issues, pulls, ci } = web.modules;
  const { id } = await accounts.addPerson({ username: 'alice' });
  const alice = {
    kind: 'person',
    id,
    username: 'alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  } as const;
  const at = { owner: 'alice', name: 'tool' };
  await repositories.create(alice, { name: 'tool', visibility: 'PRIVATE' });
  await repositories.create(alice, { name: 'other', visibility: 'PRIVATE' });
  const found = await repositories.find(alice, 'alice', 'tool');
  await fillRepository(t, found.path, {
    'README.md': 'Tool\n',
    '.hearth/workflows/all.yml': file,
    '.hearth/workflows/again.yml': again,
    '.hearth/workflows/plain.yml': 'on: workflow_dispatch\njobs:\n  plain: {runs-on: linux, steps: [{run: x}]}\n',
  });
  await issues.addLabel(alice, { repository: at }, { name: 'bug', colour: 'ff0000' });
  await issues.open(alice, at, { title: 'One' });
  await (await pullWork(t, found.path)).commit('topic', { 'a.txt': 'a\n' }, 'Topic');
  await pulls.open(alice, at, { title: 'Two', head: 'topic' });
  const { runner, token } = await ci.runners.create(
    { kind: 'repository', id: found.repository.id },
    { name: 'one', ephemeral: false },
  );
  const who = () => ci.runners.authenticate({ uuid: runner.uuid, token }, { isActive: true });
  await ci.runners.declare(await who(), { version: 'v1', labels: ['linux'], capabilities: [] });
  const fetchTask = async () =>
    ci.tasks.fetch(await who(), {
      deadlineMs: 0,
      requestKey: null,
      origin: null,
      signal: new AbortController().signal,
    });
  const finish = async (taskId: number) =>
    ci.tasks.report(await who(), {
      taskId,
      result: 'success',
      startedAt: 1,
      stoppedAt: 2,
      outputs: new Map(),
      steps: [],
    });
  const call = async (authorization: string, [method, path, body]: Endpoint['call']) => {
    const response = await sendRequest(web, path.startsWith('/api') ? path : R + path, {
      method,
      headers: { Authorization: authorization, ...(body !== undefined && { 'Content-Type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
    const { error } = (isJson ? JSON.parse(response.body) : {}) as { error?: { code?: string; reason?: string } };
    return { status: response.status, code: error?.reason ?? error?.code ?? null };
  };
  /** The tasks of a started workflow by the names of their jobs. */
  const run = async (path = 'all.yml') => {
    await ci.workflows.dispatch(alice, found, { path, ref: 'main', inputs: new Map() });
    const tasks: Record<string, TaskContent> = {};
    for (let task = await fetchTask(); task !== null; task = await fetchTask())
      tasks[String(task.context['job'])] = task;
    return tasks;
  };
  return { web, ci, alice, found, call, run, finish };
}

const tokenOf = (task: TaskContent | undefined): string => String(task!.context['token']);

t.test('each permission opens the endpoints that it is for, at its level, and no other', async (t) => {
  const { run, call, finish } = await start(t);
  const tasks = await run();
  const may = (job: string, { needs, level }: Endpoint): boolean => {
    if (needs.includes('metadata')) return true;
    const words = job === 'workflow' ? 'contents-read' : job;
    if (words === 'write-all' || (words === 'read-all' && level === 'read')) return true;
    return needs.some((need) => words === `${need}-write` || (level === 'read' && words === `${need}-read`));
  };
  for (const job of [...Object.keys(asked), 'workflow']) {
    for (const [what, endpoint] of Object.entries(endpoints())) {
      const { status, code } = await call(`Bearer ${tokenOf(tasks[job])}`, endpoint.call);
      const allowed = may(job, endpoint);
      const seen = status < 300 ? 'allowed' : `${status} ${code}`;
      t.equal(seen, allowed ? 'allowed' : '403 insufficient_scope', `${job}: ${what}`);
    }
  }
  const token = tokenOf(tasks['write-all']);
  for (const [method, path, body] of never)
    t.match(await call(`Bearer ${token}`, [method, path, body]), { status: 401, code: 'token_needed' }, path);
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;
  for (const authorization of [`token ${token}`, basic(`x-access-token:${token}`), basic(`${token}:`)])
    t.equal((await call(authorization, ['GET', '/branches'])).status, 200, authorization.slice(0, 6));
  const other = '/api/v1/repos/alice/other';
  t.equal((await call(`token ${token}`, ['GET', `${other}/branches`])).status, 404, 'no other private repository');
  t.equal((await call(`token ${token}`, ['POST', `${other}/issues`, { title: 'x' }])).status, 404);
  await finish(tasks['write-all']!.taskId);
  t.match(await call(`token ${token}`, ['GET', '']), { status: 401 }, 'it dies with its job');
});

t.test('a repository chooses what jobs get by default; read opens contents alone', async (t) => {
  const { run, call, ci, alice, found } = await start(t);
  const { plain } = await run('plain.yml');
  const token = `token ${tokenOf(plain)}`;
  const comment: Endpoint['call'] = ['POST', '/issues/1/comments', { body: 'Seen' }];
  t.equal((await call(token, comment)).status, 201);
  await ci.settings.change(alice, found, { tokenPermissions: 'read' });
  t.match(await call(token, comment), { status: 403, code: 'insufficient_scope' });
  t.equal((await call(token, ['GET', '/branches'])).status, 200);
  t.match(await call(token, ['GET', '/runs']), { status: 403 });
  const wrong = { tokenPermissions: 'all' as 'read' };
  t.equal(await reasonOf(ci.settings.change(alice, found, wrong)), 'invalid_token_permissions');
});
