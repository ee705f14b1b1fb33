// Releases and tags in the API, in Gitea's shapes: with a person's token and with that of a workflow's task; webhooks
// and notifications that follow from them.
import { createHash } from 'node:crypto';
import t from 'tap';
import { encodeMultipart } from '../fixtures/upload.ts';
import { fillRepository, sendRequest, startWeb } from '../fixtures/web-fixture.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';

t.setTimeout(240_000);

type Json = { [name: string]: unknown };
const R = '/repos/alice/tool';
const workflow = (permissions: string): string => `on: workflow_dispatch
${permissions}
jobs:
  build:
    runs-on: linux
    steps: [{run: make}]
`;

async function openWorld(t: Owner) {
  const web = await startWeb(t);
  const { accounts, repositories } = web.modules;
  const caller =
    (authorization: string | null) =>
    async (
      method: string,
      path: string,
      body?: unknown,
      more: { headers?: Record<string, string>; raw?: Buffer } = {},
    ) => {
      const text = more.raw ?? (body === undefined ? undefined : Buffer.from(JSON.stringify(body)));
      const response = await sendRequest(web, `/api/v1${path}`, {
        method,
        headers: {
          ...(authorization !== null && { Authorization: authorization }),
          ...(text !== undefined && { 'Content-Type': 'application/json', 'Content-Length': String(text.length) }),
          ...more.headers,
        },
        ...(text !== undefined && { body: text }),
      });
      const isJson = response.headers['content-type']?.startsWith('application/json') ?? false;
      return { ...response, json: (isJson && response.body !== '' ? JSON.parse(response.body) : null) as Json };
    };
  const join = async (username: string) => {
    const { id } = await accounts.addPerson({ username, displayName: username });
    const tokenOf = async (access: 'read' | 'write' | 'admin') =>
      (await accounts.addToken(id, { name: access, access, repositoryIds: null, expiresAt: null })).secret;
    const viewer = {
      kind: 'person',
      id,
      username,
      isAdministrator: false,
      via: 'session',
      scope: 'admin',
      repositoryIds: null,
    } as const;
    return {
      viewer,
      call: caller(`token ${await tokenOf('admin')}`),
      reading: caller(`token ${await tokenOf('read')}`),
    };
  };
  const [alice, bob] = [await join('alice'), await join('bob')];
  await repositories.create(alice.viewer, { name: 'tool', visibility: 'PUBLIC' });
  const found = await repositories.find(alice.viewer, 'alice', 'tool');
  await fillRepository(t, found.path, {
    '.hearth/workflows/release.yml': workflow('permissions: {contents: write}'),
    '.hearth/workflows/check.yml': workflow('permissions: {contents: read}'),
  });
  return { web, alice, bob, found, caller, anonymous: caller(null) };
}

t.test('releases, files and tags as Gitea has them', async (t) => {
  const { web, alice, bob, anonymous } = await openWorld(t);
  const call = alice.call;
  t.equal((await anonymous('GET', `${R}/releases/latest`)).status, 404);
  const made = await call('POST', `${R}/releases`, {
    tag_name: 'v1.0',
    name: 'One',
    body: 'First.',
    tag_message: 'One',
  });
  t.match(made, {
    status: 201,
    json: {
      tag_name: 'v1.0',
      target_commitish: 'main',
      name: 'One',
      body: 'First.',
      draft: false,
      prerelease: false,
      html_url: `${web.origin}/repos/alice/tool/releases/tag/v1.0`,
      zipball_url: `${web.origin}/repos/alice/tool/archive/refs/tags/v1.0.zip`,
      author: { login: 'alice' },
      assets: [],
    },
  });
  const id = made.json['id'] as number;
  t.ok(Number.isSafeInteger(id));
  for (const path of [`${R}/releases/${id}`, `${R}/releases/latest`, `${R}/releases/tags/v1.0`])
    t.strictSame((await anonymous('GET', path)).json, made.json, path);
  t.equal((await anonymous('GET', `${R}/releases/${id + 1}`)).status, 404);
  for (const wrong of ['x', '-1', '1e9', '999999999999999'])
    t.equal((await anonymous('GET', `${R}/releases/${wrong}`)).status, 404, wrong);
  t.match(await call('POST', `${R}/releases`, { tag_name: 'v1.0' }), {
    status: 409,
    json: { error: { code: 'release_exists' } },
  });
  t.match(await call('POST', `${R}/releases`, { tag_name: 'a b' }), { status: 422 });
  t.equal((await anonymous('POST', `${R}/releases`, { tag_name: 'v2' })).status, 401);
  t.match(await bob.call('POST', `${R}/releases`, { tag_name: 'v2' }), { status: 403 });
  t.match(await alice.reading('POST', `${R}/releases`, { tag_name: 'v2' }), { status: 403 });

  const form = encodeMultipart([{ name: 'attachment', bytes: 'hello', fileName: 'tool.zip' }]);
  const headers = { 'Content-Type': form.type, 'Content-Length': String(form.body.length) };
  const asset = await call('POST', `${R}/releases/${id}/assets`, undefined, { headers, raw: form.body });
  t.match(asset, {
    status: 201,
    json: {
      name: 'tool.zip',
      size: 5,
      digest: `sha256:${createHash('sha256').update('hello').digest('hex')}`,
      browser_download_url: `${web.origin}/repos/alice/tool/releases/download/v1.0/tool.zip`,
    },
  });
  const octets = { 'Content-Type': 'application/octet-stream' };
  const raw = (name: string, bytes: string) =>
    call('POST', `${R}/releases/${id}/assets${name}`, undefined, { headers: octets, raw: Buffer.from(bytes) });
  t.match(await raw('?name=raw.bin', 'raw'), { status: 201, json: { name: 'raw.bin', size: 3 } });
  t.match(await raw('', 'raw'), { status: 422, json: { error: { code: 'file_name_missing' } } });
  t.match(await raw('?name=raw.bin', 'raw'), { status: 409, json: { error: { code: 'release_file_exists' } } });
  t.match(await raw('?name=..%2Fetc%2Fpasswd', 'raw'), { status: 422, json: { error: { code: 'invalid_file_name' } } });
  const assetId = asset.json['id'] as number;
  t.equal((await anonymous('GET', `${R}/releases/${id}/assets/${assetId}`)).json['name'], 'tool.zip');
  t.match(await call('PATCH', `${R}/releases/${id}/assets/${assetId}`, { name: 'tool-1.zip' }), {
    status: 201,
    json: { id: assetId, name: 'tool-1.zip' },
  });
  t.equal((await sendRequest(web, '/repos/alice/tool/releases/download/v1.0/tool-1.zip')).body, 'hello');
  t.equal((await bob.call('DELETE', `${R}/releases/${id}/assets/${assetId}`)).status, 403);
  t.equal((await call('DELETE', `${R}/releases/${id}/assets/${assetId}`)).status, 204);
  t.equal(((await anonymous('GET', `${R}/releases/${id}/assets`)).json as unknown as Json[]).length, 1);

  const draft = await call('POST', `${R}/releases`, { tag_name: 'v2', draft: true });
  const draftAt = `${R}/releases/${draft.json['id'] as number}`;
  for (const hidden of [anonymous, bob.call, alice.reading]) t.equal((await hidden('GET', draftAt)).status, 404);
  const names = async (who: typeof call, query = ''): Promise<unknown[]> =>
    ((await who('GET', `${R}/releases${query}`)).json as unknown as Json[]).map((each) => each['tag_name']);
  t.strictSame((await names(call)).sort(), ['v1.0', 'v2']);
  t.strictSame(await names(call, '?draft=true'), ['v2']);
  t.strictSame(await names(bob.call), ['v1.0']);
  const page = await call('GET', `${R}/releases?limit=1`);
  t.match(String(page.headers['link']), /page=2>; rel="next"/);
  t.match(await call('PATCH', draftAt, { draft: false, prerelease: true, name: 'Two' }), {
    status: 200,
    json: { draft: false, prerelease: true, name: 'Two', body: '' },
  });
  t.equal((await anonymous('GET', `${R}/releases/latest`)).json['tag_name'], 'v1.0');
  web.clock.advance(1_000);
  const fixed = await call('POST', `${R}/releases`, { tag_name: 'v0.9.1', make_latest: 'false' });
  const fixedAt = `${R}/releases/${fixed.json['id'] as number}`;
  const latest = async () => (await anonymous('GET', `${R}/releases/latest`)).json['tag_name'];
  t.match([fixed.status, await latest()], [201, 'v1.0'], 'a fix of an older version is not the latest');
  await call('PATCH', fixedAt, { name: 'Fixed' });
  t.equal(await latest(), 'v1.0', 'nor when it is edited');
  for (const value of ['true', 'legacy']) {
    await call('PATCH', fixedAt, { make_latest: value });
    t.equal(await latest(), 'v0.9.1', value);
    await call('PATCH', fixedAt, { make_latest: 'false' });
    t.equal(await latest(), 'v1.0');
  }
  t.equal((await call('PATCH', fixedAt, { make_latest: 'maybe' })).status, 422);
  t.equal((await call('DELETE', fixedAt)).status, 204);
  t.equal((await call('DELETE', `${R}/tags/v0.9.1`)).status, 204);
  t.match(await call('POST', `${R}/releases/generate-notes`, { tag_name: 'v3' }), {
    status: 200,
    json: { previous: /^v/ },
  });

  t.match(await call('POST', `${R}/tags`, { tag_name: 'release/x', message: 'X' }), {
    status: 201,
    json: { name: 'release/x', message: 'X', commit: { sha: /^[0-9a-f]{40}$/ } },
  });
  t.match((await anonymous('GET', `${R}/tags/release%2Fx`)).json, { name: 'release/x', message: 'X' });
  // As in Gitea, a lightweight tag has the message of its commit.
  const [tip] = (await anonymous('GET', `${R}/commits?limit=1`)).json as unknown as {
    sha: string;
    commit: { message: string };
  }[];
  t.match(await call('POST', `${R}/tags`, { tag_name: 'light', target: tip!.sha }), { status: 201 });
  t.equal((await anonymous('GET', `${R}/tags/light`)).json.message, tip!.commit.message.trim());
  t.equal((await call('DELETE', `${R}/tags/light`)).status, 204);
  t.match((await anonymous('GET', `${R}/tags`)).json, [
    { name: 'release/x' },
    { name: 'v1.0', message: 'One' },
    { name: 'v2' },
  ]);
  t.match(await call('DELETE', `${R}/tags/v2`), { status: 409, json: { error: { code: 'tag_has_release' } } });
  t.equal((await bob.call('DELETE', `${R}/tags/release%2Fx`)).status, 404);
  t.equal((await call('DELETE', `${R}/tags/release%2Fx`)).status, 204);
  t.equal((await call('DELETE', `${R}/tags/release%2Fx`)).status, 404);
  t.equal((await call('DELETE', `${R}/releases/tags/v2`)).status, 204);
  t.equal((await call('DELETE', `${R}/releases/${id}`)).status, 204);
  t.match((await anonymous('GET', `${R}/tags`)).json, [{ name: 'v1.0' }, { name: 'v2' }], 'tags stay');
});

t.test('a workflow publishes with its task token, as far as its permissions go', async (t) => {
  const { web, alice, caller } = await openWorld(t);
  const { ci } = web.modules;
  const made = await alice.call('POST', `${R}/runners`, { name: 'builder' });
  const { uuid, token } = made.json as { uuid: string; token: string };
  const runner = () => ci.runners.authenticate({ uuid, token }, { isActive: true });
  await ci.runners.declare(await runner(), { version: 'v1', labels: ['linux'], capabilities: [] });
  async function taskOf(name: string) {
    await alice.call('POST', `${R}/runs`, { workflow: name, inputs: {} });
    const request = { deadlineMs: 0, requestKey: null, origin: null, signal: new AbortController().signal };
    const task = (await ci.tasks.fetch(await runner(), request))!;
    const secret = (task.context as Json)['token'] as string;
    const end = () =>
      runner().then((row) =>
        ci.tasks.report(row, {
          taskId: task.taskId,
          result: 'success',
          startedAt: 1,
          stoppedAt: 2,
          steps: [],
          outputs: [],
        } as never),
      );
    return { call: caller(`token ${secret}`), end };
  }
  const check = await taskOf('check.yml');
  t.match(
    await check.call('POST', `${R}/releases`, { tag_name: 'v1' }),
    { status: 403 },
    'the workflow lets it read only',
  );
  await check.end();
  const publish = await taskOf('release.yml');
  const release = await publish.call('POST', `${R}/releases`, { tag_name: 'v1', body: 'Built.' });
  t.match(release, { status: 201, json: { tag_name: 'v1', author: { login: 'ghost' } } });
  const at = `${R}/releases/${release.json['id'] as number}/assets?name=built.zip`;
  const headers = { 'Content-Type': 'application/octet-stream' };
  t.equal((await publish.call('POST', at, undefined, { headers, raw: Buffer.from('zip') })).status, 201);
  t.equal((await publish.call('POST', `${R}/tags`, { tag_name: 'nightly' })).status, 201);
  t.equal((await publish.call('PATCH', R, { description: 'mine' })).status, 401, 'nothing else takes the token');
  t.equal((await publish.call('GET', '/user')).status, 401);
  await alice.call('POST', '/repos', { name: 'other', visibility: 'PUBLIC' });
  t.equal((await publish.call('POST', '/repos/alice/other/releases', { tag_name: 'v1' })).status, 403);
  await publish.end();
  t.equal(
    (await publish.call('POST', `${R}/releases`, { tag_name: 'v2' })).status,
    401,
    'the token ends with its task',
  );
});

t.test('readers who watch are notified, and webhooks get the event; a draft tells none', async (t) => {
  const { web, alice, bob, found } = await openWorld(t);
  const { notifications, webhooks, db } = web.modules;
  await notifications.setWatching(bob.viewer, found.canonical, 'releases');
  const scope = { kind: 'repository', id: found.repository.id } as const;
  await webhooks.add(
    alice.viewer as never,
    scope as never,
    { url: 'https://example.org/hook', events: ['release'], secret: null, isActive: true } as never,
  );
  const inbox = async () => {
    await notifications.tell();
    const { rows } = await notifications.list(bob.viewer, { view: 'inbox' }, { limit: 10 });
    return rows.map(({ reason, release }) => [reason, release?.tag]);
  };
  const draft = await alice.call('POST', `${R}/releases`, { tag_name: 'v1', name: 'One', draft: true });
  t.strictSame(await inbox(), []);
  const at = `${R}/releases/${draft.json['id'] as number}`;
  await alice.call('PATCH', at, { draft: false });
  t.strictSame(await inbox(), [['release', 'v1']]);
  t.match((await bob.call('GET', '/notifications')).json, [{ subject: { type: 'Release', title: 'One' } }]);
  await alice.call('PATCH', at, { body: 'More.' });
  await alice.call('PATCH', at, { draft: true });
  t.strictSame(await inbox(), [], 'what readers may not see any more is gone');
  await alice.call('PATCH', at, { draft: false });
  t.strictSame(await inbox(), [['release', 'v1']]);
  await alice.call('DELETE', at);
  t.strictSame(await inbox(), []);
  const sent: { about: string; event: string }[] = await db.read.query(
    'SELECT about, event FROM webhook_messages ORDER BY id',
  );
  t.strictSame(
    sent.map(({ event, about }) => [event, (JSON.parse(about) as Json)['action']]),
    [
      ['release', 'published'],
      ['release', 'updated'],
      ['release', 'deleted'],
      ['release', 'published'],
      ['release', 'deleted'],
    ],
  );

  const { repositories } = web.modules;
  const { owner, name } = found.canonical;
  await repositories.changeVisibility(alice.viewer, owner, name, 'PRIVATE');
  await alice.call('POST', `${R}/releases`, { tag_name: 'v2', name: 'Two' });
  await notifications.tell();
  await repositories.changeVisibility(alice.viewer, owner, name, 'PUBLIC');
  t.strictSame(await inbox(), [], 'who could not read it then is not told of it later');
});
