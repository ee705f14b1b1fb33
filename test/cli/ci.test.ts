// `hearth runner …` and `hearth run …` beside a running server, with runners simulated by an independent client.
import path from 'node:path';
import t from 'tap';
import { localAdministrator, personViewer } from '../../src/access/index.ts';
import { openModules as realOpenModules } from '../../src/app/index.ts';
import { runCli } from './run-cli.ts';
import type { CliResult, RunCliOptions } from './run-cli.ts';
import { matrixWorkflow, rowsOf, startForge } from '../http-runner/rpc-fixture.ts';
import type { Forge } from '../http-runner/rpc-fixture.ts';
import { pullWork } from '../pages/pulls/pulls-fixture.ts';
import { fillRepository } from '../fixtures/web-fixture.ts';
import { connectClient } from '../http-runner/runner-client.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

t.setTimeout(120_000);

let forge: Forge;
t.before(async () => void (forge = await startForge(t)));

/** Modules of their own, as in another process; opened once, because that is most of the time of a command. */
let opened: ReturnType<typeof realOpenModules> | undefined;
const openModules: typeof realOpenModules = async (config, options) => {
  opened ??= realOpenModules(config, options);
  return { ...(await opened), close: async () => {} };
};
t.teardown(async () => (await opened)?.close());

function hearth(words: readonly string[], options: RunCliOptions = {}): Promise<CliResult> {
  return runCli(words, {
    cwd: forge.folder,
    openModules,
    ...options,
    env: { SERVICE_DATA_DIR: path.join(forge.folder, 'data'), ...options.env },
  });
}

async function outputOf(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await hearth(words);
  const text = `${stdout}${stderr === '' ? '' : `[stderr] ${stderr}`}[${code}]`;
  return text
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/\b[0-9a-f]{40}\b/g, '<hex>');
}

const json = async (...words: string[]) => JSON.parse((await hearth([...words, '--json'])).stdout);

t.test('a registration token is alone on stdout, and only replaced on request', async (t) => {
  const made = await hearth(['runner', 'token']);
  t.match(made, {
    code: 0,
    stdout: /^[0-9a-f]{40}\n$/,
    stderr: /for every repository on this server\. It is shown only once/,
  });
  const token = made.stdout.trim();
  t.match(
    await outputOf('runner', 'token'),
    /a registration token already exists, and only its hash is stored\nhint: --once creates a token for a single runner; --reset replaces the current token.*\[4\]$/s,
  );
  t.match(await connectClient(forge.url).register({ name: 'first', token, labels: ['linux'], version: 'v1' }), {
    runner: { name: 'first' },
  });
  t.match(await hearth(['runner', 'token', '--reset']), { code: 0, stdout: /^[0-9a-f]{40}\n$/ });
  t.match(
    await connectClient(forge.url)
      .register({ name: 'late', token })
      .catch((error: unknown) => error),
    { message: /has been invalidated/ },
  );

  const once = await hearth(['runner', 'token', '--once']);
  t.match(once, {
    code: 0,
    stdout: /^[0-9a-f]{40}\n$/,
    stderr: /The first runner that registers with this token within a day can run jobs for every/,
  });
  t.match(await connectClient(forge.url).register({ name: 'single', token: once.stdout.trim() }), {
    runner: { name: 'single' },
  });
  t.match(
    await connectClient(forge.url)
      .register({ name: 'again', token: once.stdout.trim() })
      .catch((error: unknown) => error),
    { message: /has been invalidated/ },
  );
  t.match(await outputOf('runner', 'token', '--once', '--reset'), /Use only one of them.*\[2\]$/s);

  await forge.modules.organisations.create(forge.viewer, { name: 'acme' });
  for (const [scope, words] of [
    ['alice', /all repositories of alice/],
    ['acme', /all repositories of acme/],
    ['alice/work', /for alice\/work\. /],
  ] as const) {
    t.match(await hearth(['runner', 'token', '--scope', scope]), { code: 0, stderr: words }, scope);
  }
  t.match(await json('runner', 'token', '--scope', 'acme', '--reset'), { scope: 'acme', token: /^[0-9a-f]{40}$/ });
  t.match(
    await outputOf('runner', 'token', '--scope', 'nobody'),
    /no user or organisation is named nobody\nhint: .*hearth user list\n\[3\]$/s,
  );
  t.match(await outputOf('runner', 'token', '--scope', 'alice/none'), /repository not found.*\[3\]$/s);
});

t.test('offline registration: the same secret on both sides, repeatable', async (t) => {
  const secret = 'abcdef0123456789'.repeat(3).slice(0, 40);
  const register = (...words: string[]) =>
    hearth(['runner', 'register', '--secret-stdin', ...words], { input: `${secret}\n` });
  t.match(await register('--name', 'shared', '--scope', 'alice', '--labels', 'arm, big'), {
    code: 0,
    stdout: /^Registered runner \d+, shared, for alice with the UUID 61626364-6566-3031-3233-343536373839\.\n$/,
  });
  const client = connectClient(forge.url, {
    headers: { 'x-runner-uuid': '61626364-6566-3031-3233-343536373839', 'x-runner-token': secret },
  });
  t.match(await client.declare({ version: 'v9', labels: ['arm'] }), { runner: { name: 'shared', labels: ['arm'] } });
  const again = JSON.parse((await register('--name', 'renamed', '--scope', 'alice/work', '--json')).stdout) as {
    id: number;
  };
  t.match(again, { name: 'renamed', scope: 'alice/work', labels: ['arm'], version: 'v9' });
  t.equal((await json('runner', 'list', '--scope', 'alice')).length, 0, 'it is still one runner');
  t.match(await client.declare({ version: 'v9', labels: ['arm'] }), { runner: { name: 'renamed' } });
  t.match(await outputOf('runner', 'register', '--name', 'x'), /a secret is required.*--secret-stdin.*\[2\]$/s);
  t.match(await hearth(['runner', 'register', '--name', 'x', '--secret-stdin'], { input: 'short' }), {
    code: 2,
    stderr: /40 lowercase hexadecimal digits.*\nhint: to create one: openssl/,
  });
  t.match(await outputOf('runner', 'register', '--name', 'x', '--secret-file', 'gone'), /cannot be read.*\[2\]$/s);
  t.match(
    (await hearth(['runner', 'register', '--name', 'asked'], { terminal: true, answers: [`${'0f'.repeat(20)}\r`] }))
      .stdout,
    /asked, for instance/,
  );
});

t.test('runner list, show, disable, enable, remove', async (t) => {
  t.match(
    (await hearth(['runner', 'list'], { terminal: true, columns: 120 })).stdout,
    /^ *ID {2}NAME +SCOPE +STATUS +LABELS +VERSION +LAST SEEN\n *1 {2}first +instance +never seen +linux +v1 +never\n[^]*renamed +alice\/work [^]*4 runners\n$/,
  );
  t.match(
    await outputOf('runner', 'list', '--scope', 'alice/work'),
    /^3\trenamed\talice\/work\t\w+\tarm\tv9\t<time>\n\[0\]$/,
  );
  t.match(await json('runner', 'show', '1'), {
    id: 1,
    name: 'first',
    scope: 'instance',
    status: 'unspecified',
    disabled: false,
    labels: ['linux'],
    lastSeenAt: null,
  });
  t.match(
    await outputOf('runner', 'show', '1'),
    /^Runner\tfirst\nId\t1\nUuid\t<id>\nScope\tinstance\nStatus\tnever seen\n/,
  );
  t.equal(
    await outputOf('runner', 'edit', '1', '--trusted-only', 'yes'),
    'Runner 1, first, has the labels linux and accepts only code of people with write access.\n[0]',
  );
  t.match(await json('runner', 'show', '1'), { trustedOnly: true });
  t.match(await outputOf('runner', 'edit', '1', '--trusted-only', 'no'), /accepts approved code of others, too/);
  t.equal(await outputOf('runner', 'disable', '1'), 'Runner 1, first, gets no more jobs.\n[0]');
  t.match(await outputOf('runner', 'show', '1'), /Status\tdisabled\n/);
  t.equal(await outputOf('runner', 'resume', '1'), 'Runner 1, first, gets jobs again.\n[0]');
  t.match(await outputOf('runner', 'remove', '1'), /requires confirmation.*\[2\]$/s);
  t.equal(await outputOf('runner', 'remove', '1', '--dry-run'), 'Would remove runner 1, first.\n[0]');
  t.equal(await outputOf('runner', 'remove', '1', '--yes'), 'Removed runner 1, first.\n[0]');
  t.match(await outputOf('runner', 'show', '1'), /no such runner\nhint: .*hearth runner list\n\[3\]$/s);
  t.match(await outputOf('runner', 'show', 'first'), /enter a runner number.*\[2\]$/s);
});

t.test('runs: a cancel reaches the runner, a re-run notifies the one that waits, a log is followed', async (t) => {
  const client = connectClient(forge.url, {
    headers: await forge.register(['linux'], { capabilities: ['cancelling'] }),
  });
  await client.declare({ version: 'v1', labels: ['linux'], capabilities: ['cancelling'] });
  const waiting = client.fetchTask({}, { timeoutMs: 20_000 });
  await forge.push(matrixWorkflow, 'Build it');
  const { task } = await waiting;
  await client.updateTask({ state: { id: task.id, startedAt: { seconds: 1_767_225_600n } } });
  t.match(await outputOf('run', 'list', 'alice/work'), /^1\trunning\tBuild it\tCI\tpush\tmain\t<time>\t\d+s\t\n\[0\]$/);
  t.match(await outputOf('run', 'list', 'alice/work', '--status', 'failure'), /^\[0\]$/);
  t.match(
    (await hearth(['run', 'list', 'alice/work', '--branch', 'main'], { terminal: true })).stdout,
    /^RUN {2}STATUS +TITLE[^]*\n1 run\n$/,
  );
  t.match(await json('run', 'show', 'alice/work', '1'), {
    number: 1,
    status: 'running',
    workflow: 'ci.yml',
    actor: 'alice',
    jobs: [
      { name: 'build (3.10)', status: 'running', labels: ['linux'] },
      { name: 'build (18)', status: 'waiting' },
      { name: 'deploy', needs: ['build'] },
    ],
  });
  t.match(
    await outputOf('run', 'show', 'alice/work', '1'),
    /Job 2\tbuild \(18\): waiting, All runners for linux are busy\.\nJob 3\tdeploy: blocked, It needs build first\.\n/,
  );

  const following = hearth(['run', 'log', 'alice/work', '1', 'build (3.10)', '--follow']);
  await client.updateLog({ taskId: task.id, rows: rowsOf('one', '\u001b[31mred\u001b[0m\t\u0007bell') });
  t.equal(await outputOf('run', 'cancel', 'alice/work', '1'), 'Run 1 is being cancelled.\n[0]');
  t.match(await client.updateTask({ state: { id: task.id } }), { state: { result: 3 } }, 'the runner is told to stop');
  await client.updateLog({ taskId: task.id, index: 2n, rows: rowsOf('post step'), noMore: true });
  t.match(
    await following,
    { code: 0, stdout: 'one\nred\t\\u0007bell\npost step\n' },
    'all of it, and nothing that a terminal acts on',
  );
  await client.updateTask({ state: { id: task.id, result: 3 } });
  t.match(await json('run', 'show', 'alice/work', '1'), { status: 'cancelled' });
  t.match(await outputOf('run', 'cancel', 'alice/work', '1'), /has already finished.*\[4\]$/s);

  const idle = client.fetchTask({}, { timeoutMs: 20_000 });
  t.equal(await outputOf('run', 'rerun', 'alice/work', '1'), 'Run 1 is running again as attempt 2.\n[0]');
  const { task: second } = await idle;
  t.ok(second !== undefined, 'a runner that waits gets what another process let go');
  t.match(
    await outputOf('run', 'rerun', 'alice/work', '1'),
    /has not finished yet\nhint: .*hearth run cancel.*\[4\]$/s,
  );
  const all = hearth(['run', 'log', 'alice/work', '1', '--follow']);
  const watching = hearth(['run', 'watch', 'alice/work', '1', '--exit-status']);
  const third = (await client.fetchTask({})).task;
  for (const [id, line] of [
    [second.id, 'a'],
    [third.id, 'b'],
  ] as const) {
    await client.updateLog({ taskId: id, rows: rowsOf(line), noMore: true });
    await client.updateTask({ state: { id, result: 1 } });
  }
  const last = (await client.fetchTask({})).task;
  await client.updateLog({ taskId: last.id, rows: rowsOf('c'), noMore: true });
  await client.updateTask({ state: { id: last.id, result: 2 } });
  t.match(await all, { code: 0, stdout: /^==> build \([^]*==> deploy <==\nc\n$/ });
  const watched = await watching;
  t.match(watched, { code: 1, stdout: /^build \(3\.10\): [^]*^deploy: failure/m, stderr: /Run 1: failure\n$/ });
  t.match(await outputOf('run', 'watch', 'alice/work', '1'), /^build \(3\.10\): success[^]*Run 1: failure\n\[0\]$/);
  t.equal((await hearth(['run', 'log', 'alice/work', '1', 'deploy', '--times'])).stdout, '2026-01-01T00:00:00Z c\n');
  t.match(
    (await hearth(['run', 'log', 'alice/work', '1', 'deploy', '--json'])).stdout,
    /^\{"job":\d+,"line":1,"at":"2026-01-01T00:00:00.000Z","content":"c"\}\n$/,
  );
  t.match(
    await outputOf('run', 'log', 'alice/work', '1', '1', '--attempt', '1'),
    /^one\nred\t\\u0007bell\npost step\n\[0\]$/,
    'the log of the first attempt stays',
  );
  t.equal(await outputOf('run', 'rerun', 'alice/work', '1', '--failed'), 'Run 1 is running again as attempt 3.\n[0]');
  t.equal(await outputOf('run', 'cancel', 'alice/work', '1', '--force'), 'Run 1 is cancelled.\n[0]');
  t.equal(
    await outputOf('run', 'rerun', 'alice/work', '1', '--job', 'build (3.10)'),
    'Run 1 is running again as attempt 4.\n[0]',
  );
});

t.test('a run of a person without write access is let run', async (t) => {
  const { accounts, repositories, pulls, ci } = await opened!;
  await repositories.changeVisibility(localAdministrator, 'alice', 'work', 'PUBLIC');
  const { id } = await accounts.addPerson({ username: 'bob' });
  const bob = { ...personViewer(id, 'admin'), username: 'bob' };
  await repositories.forks.create(bob, 'alice', 'work', {});
  const fork = await repositories.find(bob, 'bob', 'work');
  const file = 'on: pull_request\njobs:\n  test: {runs-on: linux, steps: [{run: make}]}\n';
  await (await pullWork(t, fork.path)).commit('topic', { '.hearth/workflows/pull.yml': file }, 'Mine');
  await pulls.open(bob, { owner: 'alice', name: 'work' }, { title: 'Mine', head: 'bob:topic' });
  const found = await repositories.find(localAdministrator, 'alice', 'work');
  await waitUntil(async () => (await ci.pulls.approvalOf(bob, found, 1)) !== null);
  t.match(await outputOf('run', 'list', 'alice/work'), /2\twaiting for approval\tMine/);
  t.match(await json('run', 'show', 'alice/work', '2'), { approval: 'waiting' });
  t.match(await outputOf('run', 'rerun', 'alice/work', '2'), /\[4\]$/);
  t.equal(await outputOf('run', 'approve', 'alice/work', '2'), 'Run 2 is approved.\n[0]');
  t.match(await outputOf('run', 'approve', 'alice/work', '2'), /is not waiting for approval.*\[4\]$/s);
  t.match(await outputOf('run', 'approve', 'alice/work', '1'), /is not waiting for approval.*\[4\]$/s);
  await ci.runs.cancel(localAdministrator, found, 2, { force: true });
});

t.test('workflows and repositories are switched; the key of identity tokens is replaced', async (t) => {
  const [{ workflow }] = (await json('workflow', 'list', 'alice/work')) as [{ workflow: string }];
  t.equal(
    await outputOf('workflow', 'disable', 'alice/work', workflow),
    `The workflow ${workflow} is now disabled.\n[0]`,
  );
  t.match(await json('workflow', 'list', 'alice/work'), [{ workflow, enabled: false }]);
  t.match(await outputOf('run', 'rerun', 'alice/work', '1'), /is disabled.*\[4\]$/s);
  t.match(
    await outputOf('workflow', 'disable', 'alice/work', 'none.yml'),
    /does not have the workflow none\.yml.*\[2\]$/s,
  );
  t.equal((await hearth(['workflow', 'enable', 'alice/work', workflow])).code, 0);
  t.match(await json('workflow', 'list', 'alice/work'), [{ workflow, enabled: true }]);
  t.match(await outputOf('ci', 'settings', 'alice/work'), /yes[^]*write \(default of the server\)/);
  const change = ['ci', 'settings', 'alice/work', '--enabled', 'no', '--token-permissions', 'read'];
  t.same(await json(...change), { enabled: false, token_permissions: 'read' });
  t.match(await outputOf('run', 'rerun', 'alice/work', '1'), /CI is disabled.*\[4\]$/s);
  const back = ['ci', 'settings', 'alice/work', '--enabled', 'yes', '--token-permissions', 'default'];
  t.same(await json(...back), { enabled: true, token_permissions: null });
  const { kid } = (await json('ci', 'rotate-key')) as { kid: string };
  t.not(((await json('ci', 'rotate-key')) as { kid: string }).kid, kid);
});

t.test('findings in the workflow files of all default branches', async (t) => {
  const { repositories, accounts } = forge.modules;
  const carol = personViewer((await accounts.addPerson({ username: 'carol' })).id, 'admin');
  for (const name of ['broken', 'archived', 'fine']) {
    await repositories.create({ ...carol, username: 'carol' }, { name, visibility: 'PRIVATE' });
    const { path: bare } = await repositories.find(localAdministrator, 'carol', name);
    const steps = name === 'fine' ? 'steps' : 'stepz';
    await fillRepository(t, bare, {
      '.hearth/workflows/ci.yml': `on: {push: , pull_request_target: }\njobs: {a: {runs-on: x, ${steps}: [{run: x}]}}\n`,
    });
  }
  await repositories.setArchived({ ...carol, username: 'carol' }, 'carol', 'archived', true);
  const found = (await json('workflow', 'problems', '--owner', 'carol')) as { repository: string; severity: string }[];
  t.strictSame([...new Set(found.map(({ repository, severity }) => `${repository} ${severity}`))].sort(), [
    'carol/broken error',
    'carol/broken warning',
    'carol/fine warning',
  ]);
  t.match(await json('workflow', 'problems', '--errors'), [
    { repository: 'carol/broken', workflow: 'ci.yml', severity: 'error', message: /"stepz" is not a key.*"steps"/ },
  ]);
  t.match(
    await outputOf('workflow', 'problems', '--owner', 'absent'),
    /no user or organisation is named absent.*\[3\]$/s,
  );
});

t.test('workflow files are checked without a server and without a data folder', async (t) => {
  const folder = t.testdir({
    '.hearth': {
      workflows: {
        'good.yml':
          'on: push\njobs:\n  a: {runs-on: x, snapshot: y, steps: [{run: z}]}\n  b: {uses: ./.hearth/workflows/called.yml}\n',
        'called.yml': 'on: workflow_call\njobs:\n  a: {runs-on: x, steps: [{run: z}]}\n',
        'bad.yml': 'on: push\njobs:\n  a: {runs-on: x, need: y, steps: [{run: z}]}\n',
      },
    },
  });
  const of = (...names: string[]) => names.map((name) => path.join(folder, '.hearth/workflows', name));
  const alone = { env: { SERVICE_DATA_DIR: path.join(folder, 'none') } };
  const good = await hearth(['workflow', 'check', ...of('good.yml', 'called.yml')], alone);
  t.match(good, { code: 0, stdout: /good\.yml:3:19\s+warning\s+"snapshot" has no effect/ });
  const bad = await hearth(['workflow', 'check', ...of('bad.yml', 'good.yml')], alone);
  t.match(bad, {
    code: /[1-9]/,
    stdout: /bad\.yml:3:19\s+error\s+"need" is not a key under "job"/,
    stderr: /one error, 1 warning/,
  });
  t.match(JSON.parse((await hearth(['workflow', 'check', ...of('bad.yml'), '--json'], alone)).stdout), [
    { severity: 'error', line: 3, column: 19, message: /need/ },
  ]);
  t.match(await hearth(['workflow', 'check', path.join(folder, 'absent.yml')], alone), {
    code: 2,
    stderr: /cannot be read/,
  });
});

t.test('unknown runs and impossible actions are refused', async (t) => {
  t.match(await outputOf('run', 'show', 'alice/work', '77'), /no such run\nhint: .*hearth run list.*\[3\]$/s);
  t.match(
    await outputOf('run', 'log', 'alice/work', '1', 'nothing'),
    /this run does not have the job nothing\. Its jobs: build.*\[3\]$/s,
  );
  t.match(await outputOf('run', 'show', 'alice/work', 'x'), /enter a run number.*\[2\]$/s);
  t.match(
    await outputOf('run', 'rerun', 'alice/work', '1', '--failed', '--job', '1'),
    /use only one of --failed and --job.*\[2\]$/s,
  );
  t.match(await outputOf('run', 'list', 'alice/none'), /\[3\]$/);
  await forge.push({ '.hearth/workflows/ci.yml': 'on: push\njobs: 1\n' }, 'Break it');
  // git exits before the run exists.
  await waitUntil(async () => (await json('run', 'list', 'alice/work')).length >= 3);
  t.match(await outputOf('run', 'log', 'alice/work', '3'), /ci\.yml.*\[3\]$/s);
  t.match(await outputOf('run', 'rerun', 'alice/work', '3'), /could not be read.*\[4\]$/s);
});
