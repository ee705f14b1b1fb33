// CI through the JSON API: runs, runners of each scope, secrets and variables.
import { Readable } from 'node:stream';
import t from 'tap';
import { sendRequest, fillRepository, startWeb } from '../fixtures/web-fixture.ts';
import { driveRunner } from '../ci/ci-fixture.ts';
import { pullWork } from '../pages/pulls/pulls-fixture.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const api = '/api/v1';
const file = `name: Release
on: {workflow_dispatch: {inputs: {target: {description: Where to, type: choice, required: true, options: [here, there]}}}}
jobs:
  build: {runs-on: linux, steps: [{name: Make, run: make}]}
  deploy: {needs: build, runs-on: linux, steps: [{run: "true"}]}
`;

const onPull = 'on: pull_request\njobs:\n  test: {runs-on: linux, steps: [{run: make}]}\n';

async function start(t: Parameters<typeof startWeb>[0]) {
  const web = await startWeb(t);
  const { accounts, repositories, organisations, ci } = web.modules;
  async function join(username: string, more: { isAdministrator?: boolean } = {}) {
    const { id } = await accounts.addPerson({ username, ...more });
    const { secret } = await accounts.addToken(id, {
      name: 'x',
      access: 'admin',
      repositoryIds: null,
      expiresAt: null,
    });
    const viewer = {
      kind: 'person',
      id,
      username,
      isAdministrator: more.isAdministrator ?? false,
      via: 'session',
      scope: 'admin',
      repositoryIds: null,
    } as const;
    return { id, viewer, call: caller(`Bearer ${secret}`) };
  }
  const caller = (authorization: string | null) => async (method: string, path: string, body?: unknown) => {
    const headers = {
      ...(authorization !== null && { Authorization: authorization }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    };
    const response = await sendRequest(web, api + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
    return { ...response, json: isJson ? (JSON.parse(response.body) as unknown) : null };
  };
  const alice = await join('alice');
  await repositories.create(alice.viewer, { name: 'tool', visibility: 'PUBLIC' });
  const found = await repositories.find(alice.viewer, 'alice', 'tool');
  await fillRepository(t, found.path, { '.hearth/workflows/release.yml': file });
  await organisations.create(alice.viewer, { name: 'guild' });
  return {
    web,
    ci,
    found,
    alice,
    bob: await join('bob'),
    root: await join('root-admin', { isAdministrator: true }),
    anonymous: caller(null),
  };
}

const R = '/repos/alice/tool';

t.test('a run of an outside contributor is approved by who may write; a runner is kept for trusted code', async (t) => {
  const { web, ci, found, alice, bob, anonymous } = await start(t);
  const { repositories, pulls } = web.modules;
  await repositories.forks.create(bob.viewer, 'alice', 'tool', {});
  const fork = await repositories.find(bob.viewer, 'bob', 'tool');
  await (await pullWork(t, fork.path)).commit('topic', { '.hearth/workflows/pull.yml': onPull }, 'Mine');
  await pulls.open(bob.viewer, { owner: 'alice', name: 'tool' }, { title: 'Mine', head: 'bob:topic' });
  await waitUntil(async () => (await ci.pulls.approvalOf(alice.viewer, found, 1)) !== null);
  t.match(await anonymous('GET', `${R}/runs/1`), { status: 200, json: { status: 'blocked', approval: 'waiting' } });
  const approve = `${R}/runs/1/approve`;
  t.match(await anonymous('POST', approve), { status: 401 });
  t.match(await bob.call('POST', approve), { status: 404 });
  t.match(await alice.call('POST', `${R}/runs/9/approve`), { status: 404 });
  t.match(await alice.call('POST', approve), { status: 200, json: { approval: 'approved', status: 'waiting' } });
  t.match(await alice.call('POST', approve), { status: 409, json: { error: { code: 'run_not_waiting' } } });
  const { json: made } = await alice.call('POST', `${R}/runners`, { name: 'one' });
  const one = `${R}/runners/${(made as { id: number }).id}`;
  t.match(await alice.call('PATCH', one, { trustedOnly: true }), { json: { trustedOnly: true, disabled: false } });
  t.match(await alice.call('PATCH', one, { disabled: true }), { json: { trustedOnly: true, disabled: true } });
});

t.test('all filters of the list of runs together take an index that has its order', async (t) => {
  const { alice } = await start(t);
  const filters = `event=push&branch=main&status=in_progress&actor=alice&head_sha=${'a'.repeat(40)}`;
  t.match(await alice.call('GET', `${R}/actions/runs?limit=5&${filters}`), { status: 200 });
});

t.test('runs, jobs, tasks and workflows in the shapes of Gitea', async (t) => {
  const { web, ci, alice, bob, anonymous } = await start(t);
  const A = `${R}/actions`;
  const dispatches = `${A}/workflows/release.yml/dispatches`;
  const wish = { ref: 'main', inputs: { target: 'here' } };
  t.match(await bob.call('POST', dispatches, wish), { status: 404 });
  t.match(await alice.call('POST', `${A}/workflows/absent.yml/dispatches`, wish), { status: 404 });
  t.match(await alice.call('POST', dispatches, wish), { status: 204 });
  t.match(await alice.call('POST', dispatches, { ...wish, ref: 'refs/heads/main' }), { status: 204 });
  t.match(await anonymous('GET', `${A}/workflows`), {
    status: 200,
    json: {
      total_count: 1,
      workflows: [{ id: 'release.yml', name: 'Release', path: '.hearth/workflows/release.yml', state: 'active' }],
    },
  });
  const registration = await ci.runners.resetRegistrationToken({ kind: 'instance' }, null);
  const made = { name: 'builder', version: 'v1', labels: ['linux'], ephemeral: false, capabilities: [] };
  const { runner: registered, token } = await ci.runners.register(registration, made);
  const runner = await driveRunner(web.modules, { uuid: registered.uuid, token });
  const task = (await runner.fetch())!;
  const all = (await anonymous('GET', `${A}/runs`)).json as { workflow_runs: { id: number }[] };
  t.match(all, {
    total_count: 2,
    workflow_runs: [
      { run_number: 2, status: 'queued', conclusion: '' },
      {
        run_number: 1,
        status: 'in_progress',
        path: 'release.yml@refs/heads/main',
        head_branch: 'main',
        event: 'workflow_dispatch',
        actor: { login: 'alice' },
        completed_at: null,
      },
    ],
  });
  const one = `${A}/runs/${all.workflow_runs[1]!.id}`;
  await runner.finish(task.taskId, 'failure');
  t.match(await anonymous('GET', one), { json: { status: 'completed', conclusion: 'failure' } });
  for (const [query, numbers] of [
    ['status=failure', [1]],
    ['status=queued&event=workflow_dispatch&branch=main', [2]],
    ['status=completed&actor=alice', [1]],
    ['actor=absent', []],
    ['event=push', []],
    ['head_sha=ffff', []],
    ['limit=1&page=2', [1]],
  ] as const)
    t.match(
      await anonymous('GET', `${A}/runs?${query}`),
      { status: 200, json: { workflow_runs: numbers.map((number) => ({ run_number: number })) } },
      query,
    );
  t.equal((await anonymous('GET', `${A}/runs?status=odd`)).status, 422);
  const jobs = (await anonymous('GET', `${one}/jobs`)).json as { jobs: { id: number }[] };
  t.match(jobs, {
    total_count: 2,
    jobs: [
      {
        name: 'build',
        status: 'completed',
        conclusion: 'failure',
        runner_name: 'builder',
        labels: ['linux'],
        steps: [{ name: 'Make' }],
      },
      { name: 'deploy', conclusion: 'skipped', runner_name: null, steps: [] },
    ],
  });
  const job = `${A}/jobs/${jobs.jobs[0]!.id}`;
  t.match(await anonymous('GET', job), { json: { name: 'build', run_attempt: 1 } });
  t.match(await anonymous('GET', `${job}/logs`), { status: 200, body: /done/ });
  t.match(await anonymous('GET', `${A}/jobs/${jobs.jobs[1]!.id}/logs`), { status: 404 });
  t.match(await anonymous('GET', `${A}/jobs/99999`), { status: 404 });
  t.match(await anonymous('GET', `${A}/tasks`), {
    json: { total_count: 1, workflow_runs: [{ id: task.taskId, name: 'build', status: 'failure', run_number: 1 }] },
  });
  t.match(await bob.call('POST', `${one}/rerun`), { status: 404 });
  t.match(await alice.call('POST', `${one}/rerun-failed-jobs`), { status: 200, json: { run_attempt: 2 } });
  t.match(await anonymous('GET', `${A}/tasks`), { json: { total_count: 1 } }, 'a job that waits has no task');
  t.match(await alice.call('POST', `${one}/rerun`), { status: 409 });
  t.match(await alice.call('DELETE', one), { status: 409 });
  t.match(await bob.call('POST', `${one}/cancel`), { status: 404 });
  t.match(await alice.call('POST', `${one}/cancel`), { status: 204 });
  t.match(await bob.call('DELETE', one), { status: 404 });
  t.match(await alice.call('DELETE', one), { status: 204 });
  t.match(await anonymous('GET', one), { status: 404 });
  t.match(await anonymous('GET', `${A}/runs/x`), { status: 404 });
  t.match(await bob.call('PUT', `${A}/workflows/release.yml/disable`), { status: 404 });
  t.match(await alice.call('PUT', `${A}/workflows/release.yml/disable`), { status: 204 });
  t.match(await anonymous('GET', `${A}/workflows/release.yml`), { json: { state: 'disabled_manually' } });
  t.match(await alice.call('POST', dispatches, wish), { status: 409 });
  t.match(await alice.call('PUT', `${A}/workflows/release.yml/enable`), { status: 204 });
  t.match(await anonymous('GET', `${A}/workflows/absent.yml`), { status: 404 });
});

t.test('the addresses of GitHub that scripts read: refs, check runs, attempts and the logs of a run', async (t) => {
  const { web, ci, found, alice, bob, anonymous } = await start(t);
  await web.modules.repositories.create(alice.viewer, { name: 'vault', visibility: 'PRIVATE' });
  const vault = await web.modules.repositories.find(alice.viewer, 'alice', 'vault');
  await fillRepository(t, vault.path, { '.hearth/workflows/release.yml': file });
  const V = '/repos/alice/vault';
  const wish = { ref: 'main', inputs: { target: 'here' } };
  for (const at of [R, V]) await alice.call('POST', `${at}/actions/workflows/release.yml/dispatches`, wish);
  for (const name of ['main-2', 'feature/one']) await alice.call('POST', `${R}/branches`, { new_branch_name: name });
  await alice.call('POST', `${R}/tags`, { tag_name: 'v1', message: 'One' });

  const main = (await anonymous('GET', `${R}/git/ref/heads/main`)).json as { object: { sha: string } };
  t.match(main, { ref: 'refs/heads/main', object: { type: 'commit' } });
  t.match(await anonymous('GET', `${R}/git/ref/heads/feature/one`), { json: { ref: 'refs/heads/feature/one' } });
  t.match(await anonymous('GET', `${R}/git/ref/tags/v1`), { json: { ref: 'refs/tags/v1', object: { type: 'tag' } } });
  for (const absent of ['heads/mai', 'heads', 'heads/feature', 'pull/1/head', 'main'])
    t.match(await anonymous('GET', `${R}/git/ref/${absent}`), { status: 404 }, absent);
  const names = async (start: string) =>
    ((await anonymous('GET', `${R}/git/matching-refs/${start}`)).json as { ref: string }[]).map(({ ref }) => ref);
  t.strictSame(await names('heads/main'), ['refs/heads/main', 'refs/heads/main-2']);
  t.strictSame(await names('heads/none'), []);

  const checks = `${R}/commits/main/check-runs`;
  const listed = (await anonymous('GET', checks)).json as { check_runs: { id: number; url: string }[] };
  t.match(listed, {
    total_count: 2,
    check_runs: [
      { name: 'build', status: 'queued', conclusion: null, head_sha: main.object.sha, completed_at: null },
      { name: 'deploy', status: 'queued', conclusion: null },
    ],
  });
  const registration = await ci.runners.resetRegistrationToken({ kind: 'repository', id: found.repository.id }, null);
  const made = { name: 'builder', version: 'v1', labels: ['linux'], ephemeral: false, capabilities: [] };
  const { runner: registered, token } = await ci.runners.register(registration, made);
  const runner = await driveRunner(web.modules, { uuid: registered.uuid, token });
  const task = (await runner.fetch())!;
  t.match(await anonymous('GET', `${checks}?status=in_progress`), { json: { check_runs: [{ name: 'build' }] } });
  await runner.finish(task.taskId, 'failure');
  t.match(await anonymous('GET', `${checks}?check_name=build`), {
    json: { total_count: 1, check_runs: [{ status: 'completed', conclusion: 'failure' }] },
  });
  t.match(await anonymous('GET', `${checks}?per_page=1&page=2`), {
    json: { total_count: 2, check_runs: [{ name: 'deploy', conclusion: 'skipped' }] },
  });
  const id = listed.check_runs[0]!.id;
  const one = (await anonymous('GET', `${R}/check-runs/${id}`)).json;
  t.match(one, { id, name: 'build', head_sha: main.object.sha, check_suite: { id: Number } });
  t.match(await anonymous('GET', `${R}/check-runs/${id}/annotations`), { status: 200, json: { length: 0 } });
  // An outside check is a status: it has no job.
  await alice.call('POST', `${R}/statuses/${main.object.sha}`, {
    state: 'success',
    context: 'outside',
    target_url: `https://ci.example.org/runs/1/jobs/${id}`,
  });
  t.match(await anonymous('GET', checks), { json: { total_count: 2 } });

  const [{ id: run }] = ((await anonymous('GET', `${R}/actions/runs`)).json as { workflow_runs: [{ id: number }] })
    .workflow_runs;
  const zipped = await anonymous('GET', `${R}/actions/runs/${run}/logs`);
  t.match(zipped, {
    status: 200,
    headers: { 'content-type': 'application/zip', 'content-disposition': /^attachment/ },
  });
  t.match(zipped.body, /^PK/);
  t.match(zipped.body, /0_build\.txt/);
  t.notMatch(zipped.body, /deploy/, 'a job that did not run has no log');
  t.equal((await alice.call('GET', `${V}/actions/runs/${run + 1}/logs`)).status, 404, 'nothing has run yet');
  t.match(await anonymous('GET', `${R}/actions/jobs?status=failure`), {
    json: { total_count: 1, jobs: [{ name: 'build', run_id: run }] },
  });
  t.match(await anonymous('GET', `${R}/actions/jobs?per_page=1`), {
    json: { total_count: 2, jobs: [{ name: 'deploy' }] },
  });
  await alice.call('POST', `${R}/actions/runs/${run}/rerun-failed-jobs`);
  t.match(await anonymous('GET', `${R}/actions/runs/${run}/attempts/1/jobs`), { json: { jobs: [{ id }, {}] } });
  t.match(await anonymous('GET', `${R}/actions/runs/${run}/attempts/2/jobs`), {
    json: { jobs: [{ name: 'build', run_attempt: 2 }, {}] },
  });
  t.equal((await anonymous('GET', `${R}/actions/runs/${run}/attempts/3/jobs`)).status, 404);
  t.match(await anonymous('GET', `${R}/actions/runs/${run}/attempts/1`), {
    json: { id: run, run_attempt: 1, status: 'completed', conclusion: 'failure', started_at: String },
  });
  t.match(await anonymous('GET', `${R}/actions/runs/${run}/attempts/2`), {
    json: { run_attempt: 2, status: 'queued' },
  });
  t.equal((await anonymous('GET', `${R}/actions/runs/${run}/attempts/3`)).status, 404);
  t.match(await anonymous('GET', `${R}/actions/workflows/release.yml/runs?status=queued`), {
    json: { total_count: 1, workflow_runs: [{ id: run }] },
  });
  t.match(await anonymous('GET', `${R}/actions/workflows/absent.yml/runs`), { json: { total_count: 0 } });
  t.match(await anonymous('GET', `${checks}?check_name=build`), { json: { check_runs: [{ status: 'queued' }] } });

  const hidden = ((await alice.call('GET', `${V}/commits/main/check-runs`)).json as typeof listed).check_runs[0]!.id;
  for (const path of [
    'git/ref/heads/main',
    'git/matching-refs/heads',
    'commits/main/check-runs',
    `check-runs/${hidden}`,
    `check-runs/${hidden}/annotations`,
    `actions/runs/${run + 1}/logs`,
    `actions/runs/${run + 1}/attempts/1/jobs`,
    `actions/runs/${run + 1}/attempts/1`,
    'actions/workflows/release.yml/runs',
    'actions/jobs',
  ]) {
    t.equal((await alice.call('GET', `${V}/${path}`)).status, path.endsWith('logs') ? 404 : 200, path);
    for (const call of [bob.call, anonymous])
      t.strictSame(
        (await call('GET', `${V}/${path}`)).json,
        (await call('GET', `/repos/alice/absent/${path}`)).json,
        path,
      );
  }
  t.equal((await alice.call('GET', `${R}/check-runs/${hidden}`)).status, 404, 'a job of another repository');
});

t.test('a run is started, watched, cancelled and run again', async (t) => {
  const {
    ci,
    alice: { call: asAlice },
    bob: { call: asBob },
    anonymous,
  } = await start(t);
  t.match(await anonymous('GET', `${R}/workflows`), {
    status: 200,
    json: [
      {
        workflow: 'release.yml',
        name: 'Release',
        inputs: [{ name: 'target', type: 'choice', required: true, options: ['here', 'there'], default: null }],
      },
    ],
  });
  const wish = { workflow: 'release.yml', inputs: { target: 'here' } };
  t.equal((await anonymous('POST', `${R}/runs`, wish)).status, 401);
  t.equal((await asBob('POST', `${R}/runs`, wish)).status, 404);
  t.match(await asAlice('POST', `${R}/runs`, { ...wish, inputs: { target: 'elsewhere' } }), {
    status: 422,
    json: { error: { code: 'invalid_input', field: 'input-target' } },
  });
  t.match(await asAlice('POST', `${R}/runs`, { ...wish, ref: 'nowhere' }), {
    status: 404,
    json: { error: { code: 'revision_not_found' } },
  });
  t.match(await asAlice('POST', `${R}/runs`, wish), {
    status: 201,
    headers: { location: `${api}${R}/runs/1` },
    json: { number: 1, status: 'waiting', event: 'workflow_dispatch', actor: 'alice', ref: 'refs/heads/main' },
  });
  for (let more = 0; more < 3; more += 1) await asAlice('POST', `${R}/runs`, wish);
  const page = await anonymous('GET', `${R}/runs?limit=3&status=active&branch=main&workflow=release.yml`);
  t.match(page, { status: 200, json: [{ number: 4 }, { number: 3 }, { number: 2 }] });
  const [, next] = /^<[^>]*?(\/repos[^>]*)>; rel="next"/.exec(String(page.headers['link']))!;
  t.match(await anonymous('GET', next!), { json: [{ number: 1 }] });
  t.match(await anonymous('GET', `${R}/runs?after=x`), { status: 422, json: { error: { code: 'invalid_page' } } });

  const made = await asAlice('POST', `${R}/runners`, { name: 'builder' });
  const { uuid, token } = made.json as { uuid: string; token: string };
  const who = () => ci.runners.authenticate({ uuid, token }, { isActive: true });
  await ci.runners.declare(await who(), { version: 'v1', labels: ['linux'], capabilities: [] });
  t.match((await anonymous('GET', `${R}/runs/1`)).json, {
    number: 1,
    jobs: [
      { key: 'build', status: 'waiting', labels: ['linux'], reason: /busy/ },
      { key: 'deploy', status: 'blocked', needs: ['build'], reason: /needs build/ },
    ],
  });
  const task = (await ci.tasks.fetch(await who(), {
    deadlineMs: 0,
    requestKey: null,
    origin: null,
    signal: new AbortController().signal,
  }))!;
  const rows = ci.logs.newRows();
  for (let at = 0; at < 600; at += 1) rows.add({ seconds: 1_767_225_600n, nanos: 0 }, `row ${at}`);
  await ci.logs.receive(await who(), { taskId: task.taskId, index: 0, rows, noMore: true });
  await ci.tasks.report(await who(), {
    taskId: task.taskId,
    result: 'failure',
    startedAt: 1,
    stoppedAt: 2,
    outputs: new Map(),
    steps: [{ id: 0, result: 'failure', startedAt: 1, stoppedAt: 2, logIndex: 0, logLength: 600 }],
  });
  const [{ id }] = ((await anonymous('GET', `${R}/runs/1`)).json as { jobs: [{ id: number }] }).jobs;
  t.match((await anonymous('GET', `${R}/runs/1/jobs/${id}`)).json, {
    status: 'failure',
    runner: 'builder',
    logComplete: true,
    steps: [{ name: 'Make', status: 'failure', logFrom: 0, logRows: 600 }],
  });
  const log = (query: string) => anonymous('GET', `${R}/runs/1/jobs/${id}/log${query}`);
  const whole = await log('');
  t.match(whole, {
    status: 200,
    headers: { 'content-type': 'text/plain; charset=utf-8', 'content-disposition': 'attachment', 'x-log-rows': '600' },
  });
  const lines = whole.body.split('\n').slice(0, -1);
  t.equal(lines[7], '2026-01-01T00:00:00.0000000Z row 7');
  t.equal(lines.length, 600);
  for (const from of [1, 255, 256, 257, 599, 600, 5_000])
    t.same((await log(`?from=${from}`)).body.split('\n').slice(0, -1), lines.slice(from), `from ${from}`);
  t.same((await log('?tail=2')).body.split('\n').slice(0, -1), lines.slice(-2));
  t.equal((await log('?tail=0')).body, '');
  t.equal((await log('?from=-1')).status, 422);
  t.match(await anonymous('GET', `${R}/runs/1/jobs/9999/log`), {
    status: 404,
    json: { error: { code: 'run_not_found' } },
  });
  t.match(await anonymous('GET', `${R}/runs/2/jobs/${id}/log`), { status: 404 }, 'a job of another run');

  t.equal((await asBob('POST', `${R}/runs/2/cancel`, {})).status, 404);
  t.match(await asAlice('POST', `${R}/runs/2/cancel`, {}), { status: 200, json: { status: 'cancelled' } });
  t.match(await asAlice('POST', `${R}/runs/2/cancel`, { force: true }), {
    status: 409,
    json: { error: { code: 'run_ended' } },
  });
  t.match(await asAlice('POST', `${R}/runs/1/rerun`, { jobs: 'failed' }), {
    status: 200,
    json: { attempt: 2, status: 'waiting' },
  });
  t.match(await asAlice('POST', `${R}/runs/1/rerun`, { jobs: 'failed' }), { status: 409 });
  t.match(
    (await anonymous('GET', `${R}/runs/1?attempt=1`)).json,
    { attempt: 2, jobs: [{ id, status: 'failure' }, {}] },
    'the first attempt is still there',
  );
  t.match(await anonymous('GET', `${R}/runs/1?attempt=3`), { status: 404 });
  t.match(await asAlice('POST', `${R}/runs/2/rerun`, { jobs: 999_999 }), { status: 409 });
});

t.test('workflows are switched, events sent, and inputs are any JSON', async (t) => {
  const { web, alice, bob, anonymous, found } = await start(t);
  const on = `on: {workflow_dispatch: {inputs: {loud: {type: boolean}, size: {type: number}, list: {}}}, repository_dispatch: {types: [go]}}
jobs: {a: {runs-on: linux, steps: [{run: x}]}}
`;
  await (await pullWork(t, found.path)).commit('main', { '.hearth/workflows/typed.yml': on }, 'Typed');
  const inputs = { loud: true, size: 4, list: [1, 'two'] };
  t.match(await alice.call('POST', `${R}/runs`, { workflow: 'typed.yml', inputs }), { status: 201 });
  const { runs } = await web.modules.ci.runs.list(found, {}, { limit: 1 });
  t.same(runs[0]!.eventPayload['inputs'], { loud: 'true', size: '4', list: '[1,"two"]' });
  t.match(await alice.call('POST', `${R}/runs`, { workflow: 'typed.yml', inputs: { size: {} } }), { status: 422 });

  const event = { event_type: 'go', client_payload: { target: { port: 8080 } } };
  t.equal((await anonymous('POST', `${R}/dispatches`, event)).status, 401);
  t.equal((await bob.call('POST', `${R}/dispatches`, event)).status, 404);
  t.equal((await alice.call('POST', `${R}/dispatches`, event)).status, 204);
  t.match(await anonymous('GET', `${R}/runs?event=repository_dispatch`), { json: [{ workflow: 'typed.yml' }] });
  t.equal((await alice.call('POST', `${R}/dispatches`, { event_type: '' })).status, 422);

  t.equal((await bob.call('PUT', `${R}/workflows/typed.yml/disable`)).status, 404);
  t.equal((await alice.call('PUT', `${R}/workflows/typed.yml/disable`)).status, 204);
  t.match(await alice.call('POST', `${R}/runs`, { workflow: 'typed.yml' }), {
    status: 409,
    json: { error: { code: 'workflow_disabled' } },
  });
  t.equal((await alice.call('PUT', `${R}/workflows/typed.yml/enable`)).status, 204);
  t.match(await bob.call('GET', `${R}/ci_settings`), { status: 404 });
  t.match(await alice.call('GET', `${R}/ci_settings`), { json: { enabled: true, token_permissions: null } });
  const off = { enabled: false, token_permissions: 'read' };
  t.match(await alice.call('PATCH', `${R}/ci_settings`, off), { status: 200, json: off });
  t.match(await alice.call('POST', `${R}/runs`, { workflow: 'typed.yml' }), {
    status: 409,
    json: { error: { code: 'ci_disabled' } },
  });
  t.match(await alice.call('PATCH', `${R}/ci_settings`, { token_permissions: 'all' }), { status: 422 });
});

t.test('runners of each scope: made, registered, by whom it may be', async (t) => {
  const { ci, alice, bob, root, anonymous } = await start(t);
  const places = [
    {
      at: R,
      call: alice.call,
      others: [
        [anonymous, 401],
        [bob.call, 404],
      ],
    },
    {
      at: '/orgs/guild',
      call: alice.call,
      others: [
        [anonymous, 401],
        [bob.call, 404],
        [root.call, 404],
      ],
    },
    { at: '/user', call: alice.call, others: [[anonymous, 401]] },
    {
      at: '/admin',
      call: root.call,
      others: [
        [anonymous, 401],
        [alice.call, 403],
        [bob.call, 403],
      ],
    },
  ] as const;
  for (const [number, { at, call, others }] of places.entries()) {
    const secret = `${number}`.repeat(40);
    for (const [other, status] of others) {
      for (const [method, path, body] of [
        ['GET', '/runners'],
        ['POST', '/runners', { name: 'x' }],
        ['POST', '/runners/token'],
        ['PUT', '/runners/shared', { name: 'x', secret }],
        ['GET', '/runners/1'],
        ['PATCH', '/runners/1', { disabled: true }],
        ['DELETE', '/runners/1'],
        ['GET', '/secrets'],
        ['PUT', '/secrets/a', { value: 'x' }],
        ['DELETE', '/secrets/a'],
        ['GET', '/variables'],
        ['PUT', '/variables/a', { value: 'x' }],
        ['DELETE', '/variables/a'],
      ] as const)
        t.equal((await other(method, at + path, body)).status, status, `${method} ${at}${path}`);
    }
    const { json: made } = (await call('POST', `${at}/runners`, { name: 'made', ephemeral: true })) as {
      json: { id: number; uuid: string; token: string };
    };
    t.match(made, { name: 'made', ephemeral: true, status: 'unspecified', token: /^[0-9a-f]{40}$/ }, at);
    t.equal((await ci.runners.authenticate(made, { isActive: false })).id, made.id);
    const token = ((await call('POST', `${at}/runners/token`)) as { json: { token: string } }).json.token;
    const { runner } = await ci.runners.register(token, {
      name: 'joined',
      ephemeral: false,
      version: 'v1',
      labels: ['a'],
      capabilities: [],
    });
    t.match((await call('GET', `${at}/runners`)).json, [
      { id: made.id, name: 'made' },
      { id: runner.id, name: 'joined', labels: ['a'] },
    ]);
    t.notMatch((await call('GET', `${at}/runners`)).body, /token/i);
    t.match(await call('PUT', `${at}/runners/shared`, { name: 'shared', secret, labels: ['b'] }), {
      status: 200,
      json: { name: 'shared', labels: ['b'] },
    });
    t.match(await call('PUT', `${at}/runners/shared`, { name: 'again', secret }), {
      status: 200,
      json: { name: 'again', labels: ['b'] },
    });
    t.match(await call('PATCH', `${at}/runners/${runner.id}`, { disabled: true }), {
      status: 200,
      json: { disabled: true },
    });
    t.match((await call('GET', `${at}/runners/${runner.id}`)).json, { disabled: true });
    t.equal((await call('DELETE', `${at}/runners/${made.id}`)).status, 204);
    t.match(await call('DELETE', `${at}/runners/${made.id}`), {
      status: 404,
      json: { error: { code: 'runner_not_found' } },
    });
    t.equal((await call('GET', `${at}/runners/x`)).status, 404);
  }
  const stolen = { name: 'mine now', secret: `${'3'.repeat(16)}${'0'.repeat(24)}` };
  t.match(
    await alice.call('PUT', '/user/runners/shared', stolen),
    { status: 409, json: { error: { code: 'runner_elsewhere' } } },
    'a uuid that was seen takes nobody’s runner',
  );
  const [theirs] = (await root.call('GET', '/admin/runners')).json as [{ id: number }];
  t.equal((await alice.call('DELETE', `/user/runners/${theirs.id}`)).status, 404, 'a runner of another scope');
});

t.test('secrets are written and never read; variables are both', async (t) => {
  const { web, alice, root } = await start(t);
  for (const [at, call] of [
    [R, alice.call],
    ['/orgs/guild', alice.call],
    ['/user', alice.call],
    ['/admin', root.call],
  ] as const) {
    t.match(await call('PUT', `${at}/secrets/deploy_key`, { value: 'hunter2hunter2' }), { status: 204, body: '' });
    t.match(await call('GET', `${at}/secrets`), { status: 200, json: [{ name: 'DEPLOY_KEY' }] });
    for (const name of ['secrets/GITHUB_X', 'secrets/github_x', 'secrets/Runner_X', 'variables/Gitea_x'])
      t.match(await call('PUT', `${at}/${name}`, { value: 'x' }), {
        status: 422,
        json: { error: { code: 'invalid_secret_name' } },
      });
    t.match(await call('PUT', `${at}/secrets/A`, { value: '' }), {
      status: 422,
      json: { error: { code: 'invalid_secret_value', field: 'value' } },
    });
    t.equal((await call('PUT', `${at}/variables/target`, { value: 'here' })).status, 204);
    t.match((await call('GET', `${at}/variables`)).json, [{ name: 'TARGET', value: 'here' }]);
    t.equal((await call('DELETE', `${at}/variables/TARGET`)).status, 204);
    t.equal((await call('DELETE', `${at}/variables/TARGET`)).status, 404);
    t.notMatch((await call('GET', `${at}/secrets`)).body, /hunter2/);
  }
  t.notMatch(JSON.stringify(web.log), /hunter2/);
  for (const at of [R, '/user']) t.equal((await alice.call('DELETE', `${at}/secrets/DEPLOY_KEY`)).status, 204);
});

t.test('artifacts in the shapes of Gitea’s API, and retention', async (t) => {
  const { ci, found, alice, bob, anonymous } = await start(t);
  await alice.call('POST', `${R}/runs`, { workflow: 'release.yml', inputs: { target: 'here' } });
  const { token } = (await alice.call('POST', `${R}/runners/token`)).json as { token: string };
  const facts = { version: '1', labels: ['linux'], capabilities: [] };
  const made = await ci.runners.register(token, { name: 'builder', ephemeral: false, ...facts });
  const row = await ci.runners.authenticate({ uuid: made.runner.uuid, token: made.token }, { isActive: true });
  const signal = new AbortController().signal;
  const task = (await ci.tasks.fetch(row, { deadlineMs: 5_000, requestKey: null, origin: null, signal }))!;
  const job = await ci.artifacts.authoriseTask(task.context.gitea_runtime_token as string);
  for (const name of ['site', 'report']) {
    const query = await ci.artifacts.create(job, { name, expiresAt: null });
    await ci.artifacts.receive(query, { kind: 'whole' }, Readable.from([Buffer.from(`zip of ${name}`)]));
    await ci.artifacts.finish(job, { name, sizeBytes: null, digest: null });
  }
  const actions = `${R}/actions`;
  const listed = (await anonymous('GET', `${actions}/artifacts`)).json as { artifacts: { id: number }[] };
  t.match(listed, {
    total_count: 2,
    artifacts: [
      { name: 'report', size_in_bytes: 13, expired: false, workflow_run: { run_number: 1 }, digest: /^sha256:/ },
      { name: 'site' },
    ],
  });
  const {
    id,
    archive_download_url: archive,
    workflow_run: run,
  } = listed.artifacts[0] as unknown as {
    id: number;
    archive_download_url: string;
    workflow_run: { id: number };
  };
  t.match((await anonymous('GET', `${actions}/runs/${run.id}/artifacts?name=site`)).json, { total_count: 1 });
  t.match((await anonymous('GET', `${actions}/artifacts?limit=1&page=2`)).json, { artifacts: [{ name: 'site' }] });
  const sent = await anonymous('GET', new URL(archive).pathname.replace('/api/v1', ''));
  t.equal(sent.body, 'zip of report');
  t.match(sent.headers, { 'content-type': 'application/zip', 'content-disposition': /^attachment/ });
  for (const path of [`/artifacts/99`, '/artifacts/x', '/runs/99/artifacts', '/artifacts/99/zip'])
    t.equal((await alice.call('GET', actions + path)).status, 404, path);
  t.equal((await bob.call('DELETE', `${actions}/artifacts/${id}`)).status, 404, 'readers delete nothing');
  t.equal((await alice.call('DELETE', `${actions}/artifacts/${id}`)).status, 204);
  t.match((await alice.call('GET', `${actions}/artifacts/${id}`)).json, { expired: true });
  t.equal((await alice.call('GET', `${actions}/artifacts/${id}/zip`)).status, 404);

  t.match((await anonymous('GET', `${actions}/retention`)).json, { artifact_days: null, max_artifact_days: 90 });
  t.match((await alice.call('PATCH', `${actions}/retention`, { artifact_days: 7 })).json, { artifact_days: 7 });
  t.equal((await alice.call('PATCH', `${actions}/retention`, { log_days: 9_999 })).status, 422);
  t.equal((await bob.call('PATCH', `${actions}/retention`, { log_days: 9 })).status, 404);
  t.match(await ci.retention.of(found.repository.id), { artifactDays: 7, logDays: null });

  // Of two contents under one name in one attempt the list has the last; what was deleted stays as expired.
  t.equal((await alice.call('DELETE', `${actions}/artifacts/${listed.artifacts[1]!.id}`)).status, 204);
  const query = await ci.artifacts.create(job, { name: 'site', expiresAt: null });
  await ci.artifacts.receive(query, { kind: 'whole' }, Readable.from([Buffer.from('second')]));
  await ci.artifacts.finish(job, { name: 'site', sizeBytes: null, digest: null });
  t.match((await anonymous('GET', `${actions}/artifacts`)).json, {
    total_count: 2,
    artifacts: [
      { name: 'site', expired: false, size_in_bytes: 6 },
      { name: 'report', expired: true },
    ],
  });

  // The runner, its labels and its jobs.
  const runner = `${R}/runners/${made.runner.id}`;
  t.match((await alice.call('PATCH', runner, { labels: ['big'] })).json, { labels: ['big'], labelsChosen: true });
  t.match((await alice.call('PATCH', runner, { labels: null })).json, { labelsChosen: false });
  t.match((await alice.call('GET', `${runner}/jobs`)).json, [{ name: 'build', repository: 'alice/tool', run: 1 }]);
  t.equal((await bob.call('GET', `${runner}/jobs`)).status, 404);
});

t.test('a workflow is checked before it is committed', async (t) => {
  const { alice, bob, anonymous, ci, found } = await start(t);
  const check = (content: string) => ({ content, path: 'new.yml' });
  const at = `${R}/actions/workflows/check`;
  t.match(
    (
      await alice.call(
        'POST',
        at,
        check('on: {push: {branch: [a]}}\njobs: {a: {runs-on: x, snapshot: y, steps: [{run: z}]}}\n'),
      )
    ).json,
    {
      valid: false,
      findings: [
        { severity: 'error', line: 1, column: 13, message: /"branch" is not a key/ },
        { severity: 'warning', line: 2, column: 24, message: /"snapshot" has no effect/ },
      ],
    },
  );
  const calling = 'on: push\njobs: {a: {uses: ./.hearth/workflows/release.yml}}\n';
  t.match((await alice.call('POST', at, check(calling))).json, {
    valid: false,
    findings: [{ message: /no "workflow_call"/ }],
  });
  t.same((await alice.call('POST', at, check(file))).json, { valid: true, findings: [] });
  t.equal((await alice.call('POST', at, check(' '.repeat(4 * 1024 * 1024)))).status, 413);
  t.equal((await alice.call('POST', at, {})).status, 422);
  t.equal((await bob.call('POST', at, check(file))).status, 404, 'those who may write');
  t.equal((await anonymous('POST', at, check(file))).status, 401);
  t.equal((await ci.runs.list(found, {}, { limit: 10 })).runs.length, 0, 'nothing has started');
});
