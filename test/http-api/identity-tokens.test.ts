// Identity tokens of jobs over HTTP, checked by jose: discovery, keys, claims, audience, rotation, refusals.
import { createRemoteJWKSet, customFetch, decodeProtectedHeader, jwtVerify } from 'jose';
import t from 'tap';
import type { TaskContent } from '../../src/ci/index.ts';
import { fillRepository, sendRequest, startWeb } from '../fixtures/web-fixture.ts';

const issuer = 'https://git.example.org/api/oidc';
const file = `name: Deploy
on: workflow_dispatch
permissions: {id-token: write}
jobs:
  proves: {runs-on: linux, steps: [{run: x}]}
  plain: {runs-on: linux, permissions: {contents: write}, steps: [{run: x}]}
  all: {runs-on: linux, permissions: write-all, steps: [{run: x}]}
  ships: {runs-on: linux, environment: "Prod:eu", steps: [{run: x}]}
`;

async function start(t: Parameters<typeof startWeb>[0], env: Record<string, string>) {
  const web = await startWeb(t, { env });
  const { accounts, repositories, ci } = web.modules;
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
  await repositories.create(alice, { name: 'tool', visibility: 'PRIVATE' });
  const found = await repositories.find(alice, 'alice', 'tool');
  await fillRepository(t, found.path, { '.hearth/workflows/deploy.yml': file });
  const scope = { kind: 'repository', id: found.repository.id } as const;
  const { runner, token } = await ci.runners.create(scope, { name: 'one', ephemeral: false });
  const who = () => ci.runners.authenticate({ uuid: runner.uuid, token }, { isActive: true });
  await ci.runners.declare(await who(), { version: 'v1', labels: ['linux'], capabilities: [] });
  const run = await ci.workflows.dispatch(alice, found, { path: 'deploy.yml', ref: 'main', inputs: new Map() });
  const tasks: Record<string, TaskContent> = {};
  for (let at = 0; at < 4; at += 1) {
    const task = await ci.tasks.fetch(await who(), {
      deadlineMs: 0,
      requestKey: null,
      origin: 'http://localhost',
      signal: new AbortController().signal,
    });
    tasks[String(task!.context['job'])] = task!;
  }
  const get = async (url: string, token?: string) => {
    const { pathname, search } = new URL(url);
    const headers: Record<string, string> = token === undefined ? {} : { Authorization: `bearer ${token}` };
    const response = await sendRequest(web, pathname + search, { method: 'GET', headers });
    return { ...response, json: JSON.parse(response.body) as Record<string, unknown> };
  };
  const finish = async (taskId: number) =>
    ci.tasks.report(await who(), {
      taskId,
      result: 'success',
      startedAt: 1,
      stoppedAt: 2,
      outputs: new Map(),
      steps: [],
    });
  return { web, ci, found, run, tasks, get, finish, id };
}

/** What the toolkit of actions reads from the environment that runners fill from the context. */
const requestOf = ({ context }: TaskContent, prefix = '') => ({
  url: String(context[`${prefix}actions_id_token_request_url`]),
  token: String(context[`${prefix}actions_id_token_request_token`]),
});

t.test('a job signs in with a token that a library verifies', async (t) => {
  const { web, ci, found, run, tasks, get, finish, id } = await start(t, {
    SERVICE_BASE_URL: 'https://git.example.org',
  });
  t.strictSame((await get(`${issuer}/.well-known/jwks`)).json, { keys: [] });
  const { json: configuration } = await get(`${issuer}/.well-known/openid-configuration`);
  t.match(configuration, { issuer, jwks_uri: `${issuer}/.well-known/jwks` });
  const keys = () =>
    createRemoteJWKSet(new URL(String(configuration['jwks_uri'])), {
      [customFetch]: async (url: string) => new Response((await get(url)).body, { status: 200 }),
    });
  const { url, token } = requestOf(tasks['proves']!);
  t.same(requestOf(tasks['proves']!, 'forgejo_'), { url, token });
  t.equal(token, tasks['proves']!.context['forgejo_runtime_token'], 'runners mask it');
  const ask = async (audience: string) => String((await get(`${url}&audience=${audience}`, token)).json['value']);
  const value = await ask('sts.example.com');
  const currentDate = new Date(web.clock.now());
  const { payload, protectedHeader } = await jwtVerify(value, keys(), {
    issuer,
    audience: 'sts.example.com',
    currentDate,
  });
  t.equal(protectedHeader.alg, 'RS256');
  t.match(payload, {
    sub: 'repo:alice/tool:ref:refs/heads/main',
    repository: 'alice/tool',
    repository_id: found.repository.id,
    repository_owner: 'alice',
    repository_visibility: 'private',
    actor: 'alice',
    actor_id: id,
    event_name: 'workflow_dispatch',
    ref: 'refs/heads/main',
    ref_type: 'branch',
    ref_protected: 'true',
    sha: run.sha,
    run_id: String(run.id),
    run_number: '1',
    run_attempt: '1',
    workflow: 'Deploy',
    workflow_ref: 'alice/tool/.hearth/workflows/deploy.yml@refs/heads/main',
    runner_environment: 'self-hosted',
    exp: payload.iat! + 300,
  });
  t.equal((await jwtVerify(await ask(''), keys(), { currentDate })).payload.aud, 'https://git.example.org/alice');
  const ships = requestOf(tasks['ships']!);
  const ofEnvironment = String((await get(ships.url, ships.token)).json['value']);
  t.match((await jwtVerify(ofEnvironment, keys(), { currentDate })).payload, {
    sub: 'repo:alice/tool:environment:Prod%3Aeu',
    environment: 'Prod:eu',
    ref: 'refs/heads/main',
  });
  t.notOk('environment' in payload, 'a job without an environment claims none');
  await t.rejects(jwtVerify(value, keys(), { audience: 'elsewhere', currentDate }));
  await t.rejects(jwtVerify(value, keys(), { currentDate: new Date(web.clock.now() + 301_000) }));
  t.not((await jwtVerify(await ask(''), keys(), { currentDate })).payload.jti, payload.jti);

  t.equal((await get(url)).status, 401);
  t.equal((await get(url, String(tasks['proves']!.context['token']))).status, 401, 'the other token is for the API');
  t.equal((await get(url, requestOf(tasks['all']!).token)).status, 200);
  t.equal(tasks['plain']!.context['actions_id_token_request_url'], undefined);
  t.match(await get(url, String(tasks['plain']!.context['forgejo_runtime_token'])), {
    status: 403,
    body: /identity_not_permitted|id-token: write/,
  });
  t.equal((await get(`${url}&audience=${'x'.repeat(1001)}`, token)).status, 422);
  t.equal((await get(`${issuer}/nothing`)).status, 404);

  const { id: second } = await ci.identity.rotateKey();
  t.not(second, protectedHeader.kid);
  t.equal(decodeProtectedHeader(await ask('')).kid, second);
  await jwtVerify(value, keys(), { currentDate });
  web.clock.advance(1_000);
  const { id: third } = await ci.identity.rotateKey();
  t.equal(decodeProtectedHeader(await ask('')).kid, third);
  await jwtVerify(value, keys(), { currentDate });
  const published = async () => (await get(`${issuer}/.well-known/jwks`)).json as { keys: Record<string, string>[] };
  const first = protectedHeader.kid!;
  t.strictSame((await published()).keys.map(({ kid }) => kid).sort(), [first, second, third].sort());
  web.clock.advance(25 * 3_600_000);
  const { keys: left } = await published();
  t.strictSame(
    left.map(({ kid }) => kid),
    [third],
    'retired keys go after a day',
  );
  t.strictSame(Object.keys(left[0]!).sort(), ['alg', 'e', 'kid', 'kty', 'n', 'use'], 'without what is private');
  t.match(left[0], { alg: 'RS256', use: 'sig', kty: 'RSA' });
  const stored = JSON.stringify(await web.modules.db.read.query('SELECT * FROM ci_identity_keys'));
  t.notMatch(stored, /PRIVATE KEY/);
  await finish(tasks['proves']!.taskId);
  t.equal((await get(url, token)).status, 401, 'it ends with its job');
});

t.test('without a public address there is no issuer, and jobs get none of it', async (t) => {
  const { tasks, get } = await start(t, {});
  t.equal(tasks['proves']!.context['actions_id_token_request_url'], undefined);
  t.equal((await get(`${issuer}/.well-known/openid-configuration`)).status, 404);
  t.equal((await get(`${issuer}/id-token?v=1`, String(tasks['proves']!.context['forgejo_runtime_token']))).status, 403);
});
