// Environments and deployments through the API, in GitHub's shapes, and on the pages.
import t from 'tap';
import { driveRunner } from '../ci/ci-fixture.ts';
import { fillRepository, sendRequest, signedIn, startWeb } from '../fixtures/web-fixture.ts';
import type { Visitor } from '../fixtures/web-fixture.ts';

const file = `on: {workflow_dispatch: {inputs: {to: {type: environment}}}}
jobs:
  deploy: {runs-on: linux, environment: {name: production, url: "https://shop.example.org"}, steps: [{run: make}]}
`;
const R = '/repos/alice/shop';

async function openWorld() {
  const web = await startWeb(t);
  const { accounts, repositories, ci } = web.modules;
  const person = async (username: string) => {
    const browser = await signedIn(web, username);
    const token = async (access: 'read' | 'write' | 'admin') =>
      (
        await accounts.addToken(browser.id, {
          name: `${access} ${username}`,
          access,
          repositoryIds: null,
          expiresAt: null,
        })
      ).secret;
    return { browser, call: caller(await token('admin')), reading: caller(await token('read')) };
  };
  const caller = (token: string | null) => async (method: string, path: string, body?: unknown) => {
    const headers = {
      ...(token !== null && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    };
    const response = await sendRequest(web, `/api/v1${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
    return { status: response.status, json: isJson ? (JSON.parse(response.body) as unknown) : null };
  };
  const [alice, bob, carol, dave] = [
    await person('alice'),
    await person('bob'),
    await person('carol'),
    await person('dave'),
  ];
  await alice.browser.post('/repos', { name: 'shop', visibility: 'PRIVATE' });
  await alice.browser.post('/repos', { name: 'other', visibility: 'PUBLIC' });
  for (const [username, role] of [
    ['bob', 'read'],
    ['carol', 'write'],
  ])
    await alice.call('PUT', `${R}/collaborators/${username}`, { permission: role });
  const row = await accounts.personByUsername('alice');
  const viewer = {
    kind: 'person',
    id: row.id,
    username: 'alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  } as const;
  const found = await repositories.find(viewer, 'alice', 'shop');
  await fillRepository(t, found.path, { '.hearth/workflows/deploy.yml': file });
  const { runner, token } = await ci.runners.create(
    { kind: 'repository', id: found.repository.id },
    { name: 'one', ephemeral: false },
  );
  const driven = await driveRunner({ ci, clock: web.clock } as never, { uuid: runner.uuid, token });
  await ci.runners.declare(await driven.row(), { version: 'v1', labels: ['linux'], capabilities: [] });
  return { web, ci, viewer, found, alice, bob, carol, dave, driven, anonymous: caller(null) };
}

let opened: ReturnType<typeof openWorld> | null = null;
const world = () => (opened ??= openWorld());

/** Starts the workflow; its id and its number. */
async function start(): Promise<{ id: number; number: number }> {
  const { ci, viewer, found } = await world();
  const { id, number } = await ci.workflows.dispatch(viewer, found, {
    path: 'deploy.yml',
    ref: 'main',
    inputs: new Map(),
  });
  return { id, number };
}

t.test('rules are set and shown in GitHub’s shapes, by administrators of the repository', async (t) => {
  const { alice, bob, carol, dave, anonymous } = await world();
  t.match(await alice.call('GET', `${R}/environments`), {
    status: 200,
    json: { total_count: 0, environments: { length: 0 } },
  });
  const { json: me } = await bob.call('GET', '/user');
  const made = await alice.call('PUT', `${R}/environments/production`, {
    wait_timer: 5,
    prevent_self_review: true,
    reviewers: [{ type: 'User', id: (me as { id: number }).id }],
    deployment_branch_policy: { protected_branches: false, custom_branch_policies: true },
  });
  const shown = {
    name: 'production',
    url: /\/api\/v1\/repos\/alice\/shop\/environments\/production$/,
    protection_rules: [
      { type: 'wait_timer', wait_timer: 5 },
      {
        type: 'required_reviewers',
        prevent_self_review: true,
        reviewers: [{ type: 'User', reviewer: { login: 'bob' } }],
      },
      { type: 'branch_policy' },
    ],
    deployment_branch_policy: { protected_branches: false, custom_branch_policies: true },
  };
  t.match(made, { status: 200, json: shown });
  t.match(await bob.call('GET', `${R}/environments/PRODUCTION`), { status: 200, json: shown }, 'names ignore case');
  const policies = `${R}/environments/production/deployment-branch-policies`;
  const added = await alice.call('POST', policies, { name: 'main' });
  t.match(added, { status: 200, json: { name: 'main', type: 'branch' } });
  t.match(await alice.call('POST', policies, { name: 'v*', type: 'tag' }), { status: 200 });
  const { id } = added.json as { id: number };
  t.match(await alice.call('DELETE', `${policies}/${id + 1_000}`), { status: 404 });
  t.match(await bob.call('GET', policies), {
    json: { total_count: 2, branch_policies: [{ name: 'main' }, { name: 'v*' }] },
  });
  const review = `${R}/environments/${encodeURIComponent('review/12')}`;
  t.match(await alice.call('PUT', review, {}), {
    status: 200,
    json: { name: 'review/12', protection_rules: { length: 0 } },
  });
  t.match(await alice.call('GET', review), { status: 200 });
  const refused: [body: unknown, reason: string][] = [
    [{ wait_timer: -1 }, 'invalid_wait'],
    [{ reviewers: ['nobody'] }, 'no_such_reviewer'],
    [{ reviewers: [{ type: 'User', id: 4 }] }, 'no_such_reviewer'],
    [{ deployment_branch_policy: { protected_branches: true, custom_branch_policies: true } }, 'invalid_ref_policy'],
  ];
  for (const [body, reason] of refused)
    t.match(
      await alice.call('PUT', `${R}/environments/production`, body),
      { status: 422, json: { error: { code: reason } } },
      reason,
    );
  for (const name of ['..', 'a/../b', "it's"])
    t.match(
      await alice.call('PUT', `${R}/environments/${encodeURIComponent(name)}`, {}),
      { status: 422, json: { error: { code: 'invalid_environment_name' } } },
      name,
    );
  for (const [method, path, body] of [
    ['PUT', '', { wait_timer: 0 }],
    ['DELETE', '', undefined],
    ['GET', '/secrets', undefined],
    ['PUT', '/secrets/KEY', { value: 'x' }],
    ['GET', '/variables', undefined],
    ['POST', '/deployment-branch-policies', { name: 'x' }],
  ] as const)
    for (const [who, status] of [
      [carol.call, 404],
      [alice.reading, 403],
      [dave.call, 404],
      [anonymous, 401],
    ] as const)
      t.equal(
        (await who(method, `${R}/environments/production${path}`, body)).status,
        status,
        `${method} ${path} ${status}`,
      );
  t.match(await bob.call('GET', `${R}/environments/production`), { json: shown }, 'nothing changed');
  t.match(await alice.call('PUT', `${R}/environments/production/secrets/KEY`, { value: 'of it' }), { status: 204 });
  t.match(await alice.call('GET', `${R}/environments/production/secrets`), {
    json: { total_count: 1, secrets: [{ name: 'KEY' }] },
  });
  t.match(await alice.call('GET', `${R}/environments/review%2F12/secrets`), { json: { total_count: 0 } });
});

t.test('a run waits, one of its reviewers approves it, and its deployment is told', async (t) => {
  const { alice, bob, carol, driven } = await world();
  await alice.call('PUT', `${R}/environments/production`, {
    wait_timer: 0,
    prevent_self_review: false,
    deployment_branch_policy: null,
    can_admins_bypass: false,
  });
  const run = await start();
  const pending = `${R}/actions/runs/${run.id}/pending_deployments`;
  const { json } = await bob.call('GET', pending);
  t.match(json, [
    { environment: { name: 'production' }, current_user_can_approve: true, reviewers: [{ name: 'bob' }] },
  ]);
  t.match((await carol.call('GET', pending)).json, [{ current_user_can_approve: false }]);
  const ids = [(json as { environment: { id: number } }[])[0]!.environment.id];
  const decision = { environment_ids: ids, state: 'approved', comment: 'Go' };
  for (const [who, status] of [
    [carol.call, 403],
    [alice.call, 403],
    [bob.reading, 403],
  ] as const)
    t.equal((await who('POST', pending, decision)).status, status);
  t.match(await bob.call('POST', pending, { ...decision, environment_ids: [ids[0]! + 7] }), { status: 409 });
  t.match(await bob.call('POST', pending, decision), {
    status: 200,
    json: [{ state: 'approved', comment: 'Go', environments: [{ name: 'production' }], user: { login: 'bob' } }],
  });
  t.match(await bob.call('POST', pending, decision), {
    status: 409,
    json: { error: { code: 'deployment_not_waiting' } },
  });
  t.match((await carol.call('GET', `${R}/actions/runs/${run.id}/approvals`)).json, [{ state: 'approved' }]);
  const task = (await driven.fetch())!;
  t.equal(task.secrets.get('KEY'), 'of it');
  await driven.finish(task.taskId);
  const { json: list } = await carol.call('GET', `${R}/deployments?environment=production`);
  t.match(list, [
    { task: 'deploy', ref: 'main', environment: 'production', state: 'success', production_environment: true },
  ]);
  const { id } = (list as { id: number }[])[0]!;
  const { json: statuses } = await carol.call('GET', `${R}/deployments/${id}/statuses`);
  t.strictSame(
    (statuses as { state: string }[]).map(({ state }) => state),
    ['success', 'in_progress', 'queued', 'waiting'],
  );
  t.match(statuses, [{ environment_url: 'https://shop.example.org' }, {}, {}, {}]);
  t.match(await carol.call('POST', `${R}/deployments/${id}/statuses`, { state: 'failure' }), {
    status: 409,
    json: { error: { code: 'deployment_of_job' } },
  });
  t.match(await bob.call('POST', `${R}/deployments/${id}/redeploy`, {}), { status: 404 }, 'who only reads');
  t.match(await carol.call('POST', `${R}/deployments/${id}/redeploy`, {}), { status: 202, json: { attempt: 2 } });
  t.match((await bob.call('GET', pending)).json, [{ environment: { name: 'production' } }], 'it asks again');
  t.match(await bob.call('POST', pending, { state: 'rejected', environments: ['production'] }), { status: 200 });
});

t.test('a deployment that is made elsewhere', async (t) => {
  const { alice, bob, carol, dave } = await world();
  const D = `${R}/deployments`;
  const made = await carol.call('POST', D, {
    ref: 'main',
    environment: 'staging',
    required_contexts: [],
    payload: { a: [1] },
  });
  t.match(made, {
    status: 201,
    json: { state: 'pending', payload: { a: [1] }, creator: { login: 'carol' }, environment: 'staging' },
  });
  const { id } = made.json as { id: number };
  const status = { state: 'success', environment_url: 'https://staging.example.org', description: 'There' };
  t.match(await carol.call('POST', `${D}/${id}/statuses`, status), { status: 201, json: status });
  t.match(await carol.call('GET', `${D}/${id}`), { json: { state: 'success' } });
  const { json: statuses } = await carol.call('GET', `${D}/${id}/statuses`);
  const statusId = (statuses as { id: number }[])[0]!.id;
  t.match(await carol.call('GET', `${D}/${id}/statuses/${statusId}`), { status: 200, json: status });
  const second = (await carol.call('POST', D, { ref: 'main', environment: 'staging', required_contexts: [] })).json as {
    id: number;
  };
  t.match(await carol.call('GET', `${D}/${second.id}/statuses/${statusId}`), { status: 404 }, 'of another deployment');
  await carol.call('POST', `${D}/${second.id}/statuses`, { state: 'success' });
  t.match(await carol.call('GET', `${D}/${id}`), { json: { state: 'inactive' } }, 'one at a time');
  const refused: [body: object, status: number, reason: string][] = [
    [{ state: 'success', environment_url: 'javascript:alert(1)' }, 422, 'invalid_deployment_status'],
    [{ state: 'success', description: 'x'.repeat(141) }, 422, 'invalid_deployment_status'],
    [{ state: 'perhaps' }, 422, 'invalid_input'],
  ];
  for (const [body, code, reason] of refused)
    t.match(
      await carol.call('POST', `${D}/${id}/statuses`, body),
      { status: code, json: { error: { code: reason } } },
      reason,
    );
  t.match(await carol.call('POST', D, { ref: 'absent', required_contexts: [] }), { status: 404 });
  t.match(await carol.call('POST', D, { ref: 'main', environment: '..', required_contexts: [] }), { status: 422 });
  t.equal((await bob.call('POST', D, { ref: 'main', required_contexts: [] })).status, 404);
  t.equal((await dave.call('GET', D)).status, 404);
  t.equal((await alice.call('GET', `/repos/alice/other/deployments/${id}`)).status, 404, 'of another repository');
  t.match(await carol.call('DELETE', `${D}/${second.id}`), {
    status: 409,
    json: { error: { code: 'deployment_active' } },
  });
  t.match(await carol.call('DELETE', `${D}/${id}`), { status: 204 });
  t.match(await carol.call('GET', `${D}/${id}`), { status: 404 });
  t.strictSame((await carol.call('GET', `${D}?environment=none`)).json, []);
});

t.test('the pages show it, and who may decide has the buttons', async (t) => {
  const { alice, bob, carol, dave, driven } = await world();
  const main = await alice.browser.get(`${R}/commits/main`);
  const [, sha] = /\/commit\/([0-9a-f]{40})/.exec(main.body)!;
  const body = async (who: { browser: Visitor }, path: string) => (await who.browser.get(path)).body;
  t.match(await body(bob, '/repos/alice/other/environments'.replace('other', 'shop')), /production[^]*staging/);
  t.match(await body(alice, '/repos/alice/other/environments'), /No environments yet/);
  t.equal((await dave.browser.get(`${R}/environments`)).status, 404);
  t.match(await body(bob, `${R}/environments/review/12`), /Nothing was deployed here yet/);
  t.equal((await bob.browser.get(`${R}/environments/none`)).status, 404);
  const history = await body(carol, `${R}/environments/production`);
  t.match(history, /Reviewed by bob/);
  t.match(history, /Deploy again/);
  t.notMatch(await body(bob, `${R}/environments/production`), /Deploy again/, 'who only reads');
  t.match(await body(bob, `${R}/commit/${sha}`), /deployed-at[^]*production/);

  const { number } = await start();
  t.match(await body(bob, `${R}/runs/${number}`), /Approve and deploy/);
  t.notMatch(await body(carol, `${R}/runs/${number}`), /Approve and deploy/);
  t.match(await body(carol, `${R}/runs/${number}`), /Waiting for one of: bob/);
  const form = { environment: 'production', verdict: 'approved', comment: '<b>fine</b>' };
  const to = `${R}/runs/${number}/deployments`;
  t.equal((await carol.browser.post(to, form)).status, 403);
  t.equal((await dave.browser.post(to, form)).status, 404);
  t.equal((await bob.browser.post(to, { ...form, verdict: '' })).status, 422, 'no verdict is no approval');
  t.equal(await driven.fetch(), null);
  t.equal((await bob.browser.post(to, form)).status, 303);
  t.equal((await bob.browser.post(to, form)).status, 409, 'once');
  t.match(await body(carol, `${R}/runs/${number}`), /bob approved production[^]*&lt;b&gt;fine/);
  await driven.finish((await driven.fetch())!.taskId);
  t.match(await body(carol, `${R}/environments/production`), /Deployed now[^]*shop\.example\.org/);
  const { json: list } = await carol.call('GET', `${R}/deployments?environment=production&limit=1`);
  const [{ id }] = list as unknown as [{ id: number }];
  const again = await carol.browser.post(`${R}/environments/redeploy`, { deployment: String(id) });
  t.match(again, { status: 303, headers: { location: new RegExp(`/runs/${number}\\b`) } });
  t.equal((await bob.browser.post(`${R}/environments/redeploy`, { deployment: String(id) })).status, 404);
  t.match(await body(alice, `${R}/runs/new`), /<option value="production"/, 'an input of type environment');
});

t.test('settings on the pages', async (t) => {
  const { alice, carol } = await world();
  const S = `${R}/settings/environments`;
  const rules = {
    reviewers: 'bob, carol',
    wait_timer: '3',
    self: '',
    ref_policy: 'custom',
    branches: 'main\nrelease/*',
    tags: 'v*',
  };
  t.equal((await carol.browser.get(S)).status, 404);
  t.equal((await carol.browser.post(`${S}/rules`, { environment: 'staging', ...rules })).status, 404);
  t.match((await alice.browser.post(S, { name: '..' })).status, 422);
  t.match(await alice.browser.post(S, { name: 'qa/one' }), {
    status: 303,
    headers: { location: /environments\/qa\/one/ },
  });
  t.equal((await alice.browser.post(`${S}/rules`, { environment: 'qa/one', ...rules })).status, 303);
  const shown = (await alice.browser.get(`${S}/qa/one`)).body;
  t.match(shown, /value="bob, carol"[^]*value="3"[^]*release\/\*/);
  const wrong = await alice.browser.post(`${S}/rules`, { environment: 'qa/one', ...rules, wait_timer: 'soon' });
  t.match(wrong, { status: 422, body: /from 0 to 43200 minutes[^]*value="soon"/ });
  t.equal(
    (await alice.browser.post(`${S}/rules`, { environment: 'qa/one', ...rules, ref_policy: 'some' })).status,
    422,
  );
  t.equal((await alice.browser.post(`${S}/rules`, { environment: 'never made', ...rules })).status, 404);
  t.equal((await alice.browser.get(`${R}/environments/never%20made`)).status, 404, 'and none was made');
  const secret = { environment: 'qa/one', name: 'KEY', value: 'hidden text' };
  t.equal((await alice.browser.post(`${S}/secrets`, secret)).status, 303);
  t.equal((await alice.browser.post(`${S}/variables`, { ...secret, name: 'PLACE', value: 'shown' })).status, 303);
  const values = (await alice.browser.get(`${S}/qa/one`)).body;
  t.match(values, /KEY[^]*PLACE[^]*shown/);
  t.notMatch(values, 'hidden text');
  t.match(await alice.browser.post(`${S}/secrets`, { ...secret, name: 'GITHUB_X' }), { status: 422 });
  t.equal((await alice.browser.post(`${S}/secrets/delete`, secret)).status, 303);
  t.equal((await alice.browser.post(`${S}/variables/delete`, { ...secret, name: 'PLACE' })).status, 303);
  t.notMatch((await alice.browser.get(`${S}/qa/one`)).body, /KEY<|PLACE</);
  t.equal((await carol.browser.post(`${S}/delete`, { environment: 'qa/one' })).status, 404);
  t.equal((await alice.browser.post(`${S}/delete`, { environment: 'qa/one' })).status, 303);
  t.equal((await alice.browser.get(`${S}/qa/one`)).status, 404);
});
