// The registry of container images, by the requests that skopeo, docker, oras and the conformance suite send.
import t from 'tap';
import { connect } from 'node:net';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { localAdministrator } from '../../src/access/index.ts';
import { readChunkRange } from '../../src/packages/uploads/chunked-upload.ts';
import {
  basic,
  descriptor,
  digestOf,
  imageType,
  indexType,
  pushImage,
  registry,
  startPackageServer,
} from './package-server.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const server = await startPackageServer(t, {
  SERVICE_PACKAGES_MAX_FILE_SIZE: '1MiB',
  SERVICE_PACKAGES_OWNER_QUOTA: '4MiB',
});
const { tokens, send } = server;
const alice = registry(server, tokens.alice);
const bob = registry(server, tokens.bob);
const anonymous = registry(server);
const { packages, repositories } = server.app.modules;

const objectsOf = async (part: string): Promise<string[]> => {
  const folder = path.join(server.folder, 'data', 'objects');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((one) => one.isFile())
    .map((one) => path.join(one.parentPath, one.name))
    .filter((file) => file.includes(part));
};
const codeOf = ({ json }: { json: { errors: { code: string }[] } | null }): string | undefined => json?.errors[0]?.code;

t.test('clients are led to the token service, and sign in with an access token', async (t) => {
  const first = await send('GET', '/v2/');
  t.equal(first.status, 401);
  t.equal(
    first.headers.get('www-authenticate'),
    `Bearer realm="${server.origin}/v2/token",service="${new URL(server.origin).host}"`,
  );
  t.equal(codeOf(first), 'UNAUTHORIZED');
  t.equal(
    (await send('GET', '/v2/', { auth: `Bearer ${await anonymous.token()}` })).status,
    200,
    'an anonymous one is one',
  );
  t.equal((await send('GET', '/v2/', { auth: `Bearer ${await alice.token()}` })).status, 200);
  t.equal((await send('GET', '/v2/', { auth: basic(tokens.alice) })).status, 200, 'Basic, without the service');
  const refused = await send('GET', '/v2/token', { auth: basic('correct horse battery') });
  t.equal(refused.status, 401);
  t.match(refused.json.errors[0].message, /Make an access token/);
  const form = new URLSearchParams({ grant_type: 'password', username: 'alice', password: tokens.alice, service: 'x' });
  const posted = await send('POST', '/v2/token', {
    body: form.toString(),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  });
  t.equal(posted.json.access_token, posted.json.token);
  t.equal((await send('GET', '/v2/', { auth: 'Bearer hreg_AAAA' })).status, 401, 'not made here');
});

t.test('an image goes up and comes down, for its owner and for everyone', async (t) => {
  const { manifest, digest, answer } = await pushImage(alice, 'alice/app/web', 'v1');
  t.equal(answer.status, 201, answer.text);
  t.equal(answer.headers.get('docker-content-digest'), digest);
  t.equal(answer.headers.get('location'), `/v2/alice/app/web/manifests/${digest}`);
  for (const reference of ['v1', digest]) {
    const got = await send('GET', `/v2/alice/app/web/manifests/${reference}`);
    t.strictSame([got.status, got.text, got.headers.get('content-type')], [200, manifest, imageType]);
    const head = await send('HEAD', `/v2/alice/app/web/manifests/${reference}`);
    t.strictSame(
      [head.status, head.headers.get('content-length'), head.headers.get('docker-content-digest'), head.text],
      [200, String(manifest.length), digest, ''],
    );
  }
  const layer = digestOf('a layer');
  t.equal((await send('GET', `/v2/alice/app/web/blobs/${layer}`)).text, 'a layer');
  const range = await send('GET', `/v2/alice/app/web/blobs/${layer}`, { headers: { Range: 'bytes=2-4' } });
  t.strictSame([range.status, range.text, range.headers.get('content-range')], [206, 'lay', 'bytes 2-4/7']);
  for (const none of ['bytes=4-2', 'bytes=7-9'])
    t.equal((await send('GET', `/v2/alice/app/web/blobs/${layer}`, { headers: { Range: none } })).status, 416, none);
  t.strictSame((await send('GET', '/v2/alice/app/web/tags/list')).json, { name: 'alice/app/web', tags: ['v1'] });
  t.equal((await send('GET', '/v2/alice/app/web/manifests/v2')).status, 404, 'a tag that is none');
  t.equal((await objectsOf('package-uploads')).length, 0, 'nothing of the uploads is left');
});

t.test('a blob comes in chunks, in their order, and goes on where it was', async (t) => {
  const name = 'alice/chunks';
  const content = Buffer.from('0123456789'.repeat(3));
  const at = async () => (await alice.call('POST', `/v2/${name}/blobs/uploads/`)).headers.get('location')!;
  const upload = await at();
  const patch = (range: string, body: Buffer) =>
    alice.call('PATCH', upload, { headers: { 'Content-Range': range }, body });
  t.equal((await patch('0-9', content.subarray(0, 10))).headers.get('range'), '0-9');
  const early = await patch('20-29', content.subarray(20));
  t.strictSame([early.status, codeOf(early), early.headers.get('range')], [416, 'BLOB_UPLOAD_INVALID', '0-9']);
  t.equal((await patch('10-20', content.subarray(10, 20))).status, 416, 'a length that its range does not have');
  t.equal((await patch('20-10', content.subarray(10, 20))).status, 416);
  t.strictSame(readChunkRange('5-5'), { first: 5, bytes: 1 }, 'one byte');
  for (const other of ['alice/other', `${name}/deeper`]) {
    const foreign = upload.replace(`/v2/${name}/`, `/v2/${other}/`);
    for (const method of ['GET', 'PATCH', 'DELETE'])
      t.equal((await alice.call(method, foreign, method === 'PATCH' ? { body: 'x' } : {})).status, 404, other);
  }
  const state = await alice.call('GET', upload);
  t.strictSame([state.status, state.headers.get('range')], [204, '0-9']);
  t.equal((await patch('10-19', content.subarray(10, 20))).status, 202);
  const digest = digestOf(content);
  const ended = await alice.call('PUT', `${upload}?digest=${digest}`, {
    headers: { 'Content-Range': '20-29' },
    body: content.subarray(20),
  });
  t.equal(ended.status, 201, ended.text);
  t.ok((await alice.call('GET', `/v2/${name}/blobs/${digest}`)).bytes.equals(content));
  t.equal((await alice.call('GET', upload)).status, 404, 'it has ended');

  const wrong = await at();
  await alice.call('PATCH', wrong, { body: content });
  const refused = await alice.call('PUT', `${wrong}?digest=${digestOf('else')}`);
  t.strictSame([refused.status, codeOf(refused)], [400, 'DIGEST_INVALID']);
  t.equal((await alice.call('DELETE', wrong)).status, 204);
  t.equal((await alice.call('PATCH', wrong, { body: content })).status, 404);
  const single = await alice.call('POST', `/v2/${name}/blobs/uploads/?digest=${digestOf('x')}`, { body: 'y' });
  t.strictSame([single.status, codeOf(single)], [400, 'DIGEST_INVALID']);
  t.equal((await alice.call('HEAD', `/v2/${name}/blobs/${digestOf('x')}`)).status, 404);
  const large = await alice.call('POST', `/v2/${name}/blobs/uploads/?digest=${digestOf('x')}`, {
    body: Buffer.alloc(1024 * 1024 + 1),
  });
  t.strictSame([large.status, codeOf(large)], [413, 'SIZE_INVALID']);
  t.equal((await objectsOf('.incoming')).length, 0);
  t.equal((await objectsOf('package-uploads')).length, 0);
});

t.test('an upload that breaks off leaves nothing, and the next one goes on', async (t) => {
  const begun = await alice.call('POST', '/v2/alice/broken/blobs/uploads/');
  const location = begun.headers.get('location')!;
  const socket = connect(server.port, '127.0.0.1');
  socket.write(
    `PATCH ${location} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: ${basic(tokens.alice)}\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(50_000)}`,
  );
  await waitUntil(async () => (await objectsOf('.incoming')).length > 0);
  socket.destroy();
  await waitUntil(async () => (await objectsOf('.incoming')).length === 0);
  t.equal((await alice.call('GET', location)).headers.get('range'), '0-0');
  t.equal((await alice.call('PATCH', location, { body: 'whole' })).headers.get('range'), '0-4');
  t.equal((await alice.call('PUT', `${location}?digest=${digestOf('whole')}`)).status, 201);
});

t.test('content is visible in a package only where an upload, a mount or a manifest brought it', async (t) => {
  await alice.pushBlob('alice/one', 'seen in one');
  const digest = digestOf('seen in one');
  t.equal((await alice.call('HEAD', `/v2/alice/two/blobs/${digest}`)).status, 404);
  await pushImage(alice, 'alice/two', 'v1', { layer: 'of two' });
  t.equal((await alice.call('HEAD', `/v2/alice/two/blobs/${digest}`)).status, 404, 'the same owner has it');
  const mounted = await alice.call('POST', `/v2/alice/two/blobs/uploads/?mount=${digest}&from=alice/one`, {
    auth: `Bearer ${await alice.token('repository:alice/two:pull,push', 'repository:alice/one:pull')}`,
  });
  t.equal(mounted.status, 201);
  t.equal((await alice.call('GET', `/v2/alice/two/blobs/${digest}`)).text, 'seen in one');
  const narrow = { auth: `Bearer ${await alice.token('repository:alice/three:pull,push')}` };
  const from = (source: string, of: string, options: { auth?: string } = {}) =>
    alice.call('POST', `/v2/alice/three/blobs/uploads/?mount=${of}${source === '' ? '' : `&from=${source}`}`, options);
  t.equal((await from('alice/two', digest, narrow)).status, 201, 'everyone reads the source');
  t.equal((await alice.call('DELETE', `/v2/alice/three/blobs/${digest}`)).status, 202);
  t.equal((await from('', digest, narrow)).status, 201, 'without a source: one that everyone reads');
  const direct = { auth: basic(tokens.bob) };
  t.equal((await bob.call('POST', `/v2/bob/copy/blobs/uploads/?mount=${digest}&from=alice/one`, direct)).status, 201);
  t.equal((await send('GET', `/v2/bob/copy/blobs/${digest}`)).text, 'seen in one', 'linked for another owner');
  const { digest: hidden } = { digest: await alice.pushBlob('alice/closed/secret', 'hidden content') };
  const probe = await bob.call('POST', `/v2/bob/copy/blobs/uploads/?mount=${hidden}&from=alice/closed/secret`, direct);
  t.equal(probe.status, 202, 'no word about what is hidden');
  for (const source of ['alice/closed/secret', 'alice/absent']) {
    const refused = await from(source, hidden, narrow);
    t.equal(refused.status, 401, `its token was not asked for ${source}`);
    t.match(
      refused.headers.get('www-authenticate'),
      `scope="repository:alice/three:pull,push repository:${source}:pull",error="insufficient_scope"`,
    );
  }
  t.notMatch((await from('a"b/c', hidden, { auth: basic('no') })).headers.get('www-authenticate'), 'a"b');
  t.equal((await from('', hidden, narrow)).status, 202, 'a source that the token does not name');
  const both = `repository:alice/three:pull,push repository:alice/closed/secret:pull`;
  t.equal((await from('', hidden, { auth: `Bearer ${await alice.token(...both.split(' '))}` })).status, 201);
  t.equal((await bob.call('POST', `/v2/bob/copy/blobs/uploads/?mount=${hidden}`, direct)).status, 202);
  t.equal((await objectsOf(digest.slice(7))).length, 2, 'once per owner');
});

t.test('what is no manifest of what is here is refused, and nothing is half there', async (t) => {
  const name = 'alice/refused';
  await pushImage(alice, name, 'good');
  const config = descriptor(JSON.stringify({ os: 'linux', architecture: 'amd64', config: { Labels: {} } }));
  const absent = descriptor('never sent');
  const base = { schemaVersion: 2, mediaType: imageType, config, layers: [descriptor('a layer')] };
  const cases: readonly (readonly [
    what: string,
    manifest: object | string,
    type: string,
    status: number,
    code: string,
  ])[] = [
    ['a blob that is missing', { ...base, layers: [absent] }, imageType, 400, 'MANIFEST_BLOB_UNKNOWN'],
    ['a config that is missing', { ...base, config: absent }, imageType, 400, 'MANIFEST_BLOB_UNKNOWN'],
    [
      'a size that is another',
      { ...base, layers: [{ ...descriptor('a layer'), size: 8 }] },
      imageType,
      400,
      'MANIFEST_INVALID',
    ],
    ['a manifest that is missing', { schemaVersion: 2, manifests: [absent] }, indexType, 400, 'MANIFEST_BLOB_UNKNOWN'],
    ['another type than it says', base, indexType, 400, 'MANIFEST_INVALID'],
    ['no JSON', 'x', imageType, 400, 'MANIFEST_INVALID'],
    ['a list', '[]', imageType, 400, 'MANIFEST_INVALID'],
    ['schema 1', { ...base, schemaVersion: 1 }, imageType, 400, 'MANIFEST_INVALID'],
    ['no digest', { ...base, layers: [{ ...absent, digest: '../../x' }] }, imageType, 400, 'MANIFEST_INVALID'],
    ['5 MiB', { ...base, annotations: { x: 'x'.repeat(5 * 1024 * 1024) } }, imageType, 413, 'MANIFEST_INVALID'],
  ];
  for (const [what, manifest, type, status, code] of cases) {
    const answer = await alice.pushManifest(name, 'bad', manifest, type);
    t.strictSame([answer.status, codeOf(answer)], [status, code], what);
  }
  t.equal((await alice.pushManifest(name, digestOf('else'), base)).status, 400, 'another digest');
  t.equal((await alice.pushManifest(name, `-${'x'.repeat(3)}`, base)).status, 400, 'no tag');
  t.strictSame((await alice.call('GET', `/v2/${name}/tags/list`)).json.tags, ['good']);
  for (const bad of ['alice/UPPER', 'alice/a//b', 'alice/..%2Fx', `alice/${'x'.repeat(300)}`]) {
    const answer = await alice.call('POST', `/v2/${bad}/blobs/uploads/`, { auth: basic(tokens.alice) });
    t.strictSame([answer.status, codeOf(answer)], [400, 'NAME_INVALID'], bad);
    t.equal((await alice.call('GET', `/v2/${bad}/manifests/x`, { auth: basic(tokens.alice) })).status, 404, bad);
  }
});

t.test('an index, what is about a manifest, and lists', async (t) => {
  const name = 'alice/multi';
  const { digest, manifest } = await pushImage(alice, name, 'amd');
  const index = {
    schemaVersion: 2,
    mediaType: indexType,
    manifests: [{ ...descriptor(manifest, imageType), platform: { os: 'linux', architecture: 'amd64' } }],
  };
  t.equal((await alice.pushManifest(name, 'all', index, indexType)).status, 201);
  const signature = await pushImage(alice, name, 'sig', {
    layer: 'a signature',
    artifactType: 'application/vnd.example.signature',
    annotations: { by: 'alice' },
    subject: descriptor(manifest, imageType),
  });
  t.equal(signature.answer.headers.get('oci-subject'), digest);
  const referrers = await send('GET', `/v2/${name}/referrers/${digest}`);
  t.equal(referrers.headers.get('content-type'), indexType);
  t.match(referrers.json.manifests, [
    { digest: signature.digest, artifactType: 'application/vnd.example.signature', annotations: { by: 'alice' } },
  ]);
  t.equal(referrers.json.manifests.length, 1);
  const filtered = await send('GET', `/v2/${name}/referrers/${digest}?artifactType=other`);
  t.strictSame([filtered.json.manifests.length, filtered.headers.get('oci-filters-applied')], [0, 'artifactType']);
  t.equal((await send('GET', `/v2/${name}/referrers/${digestOf('nothing')}`)).json.manifests.length, 0);

  const page = await send('GET', `/v2/${name}/tags/list?n=2`);
  t.strictSame(page.json.tags, ['all', 'amd']);
  const [, next = ''] = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '') ?? [];
  const second = await send('GET', next);
  t.strictSame([second.json.tags, second.headers.get('link')], [['sig'], null]);
  t.strictSame((await send('GET', `/v2/${name}/tags/list?n=0`)).json.tags, []);
  t.equal((await send('GET', `/v2/${name}/tags/list?n=x`)).status, 400);
});

t.test('tags and manifests are deleted, restored by a push or from the trash, and blobs with them', async (t) => {
  const name = 'alice/deleted';
  const { digest, manifest } = await pushImage(alice, name, 'v1', { layer: 'to be deleted' });
  await alice.pushManifest(name, 'v2', manifest);
  t.equal((await bob.call('DELETE', `/v2/${name}/manifests/${digest}`)).status, 403, 'who only reads');
  const used = await alice.call('DELETE', `/v2/${name}/blobs/${digestOf('to be deleted')}`);
  t.strictSame([used.status, codeOf(used)], [405, 'UNSUPPORTED'], 'a manifest names it');
  t.equal((await alice.call('DELETE', `/v2/${name}/manifests/v1`)).status, 202);
  t.strictSame((await alice.call('GET', `/v2/${name}/tags/list`)).json.tags, ['v2']);
  t.equal((await alice.call('DELETE', `/v2/${name}/manifests/${digest}`)).status, 202);
  t.equal((await alice.call('GET', `/v2/${name}/manifests/${digest}`)).status, 404);
  t.equal((await alice.call('GET', `/v2/${name}/manifests/v2`)).status, 404);
  const layer = `/v2/${name}/blobs/${digestOf('to be deleted')}`;
  t.equal((await alice.call('DELETE', layer)).status, 202, 'only what is in the trash names it');
  t.equal((await alice.call('HEAD', layer)).status, 404);
  t.equal((await alice.call('DELETE', layer)).status, 404);
  const without = await alice.pushManifest(name, 'v3', JSON.parse(manifest));
  t.strictSame([without.status, codeOf(without)], [400, 'MANIFEST_BLOB_UNKNOWN'], 'a new one needs it');
  const found = await packages.find(localAdministrator, { owner: 'alice', format: 'oci', name: 'deleted' });
  const [trashed] = await packages.versions.page(found, { limit: 5, trashed: true });
  await packages.versions.restore(localAdministrator, found, trashed!);
  t.equal((await alice.call('GET', `/v2/${name}/manifests/v2`)).text, manifest, 'with the tag that named it');
  t.equal((await alice.call('GET', layer)).text, 'to be deleted', 'and with its layers');
  await alice.call('DELETE', `/v2/${name}/manifests/${digest}`);
  await alice.pushBlob(name, 'to be deleted');
  t.equal((await alice.pushManifest(name, 'v3', manifest)).status, 201);
  t.strictSame((await alice.call('GET', `/v2/${name}/tags/list`)).json.tags, ['v3']);
});

t.test('a package follows the repository of its name or its label, and is absent to others then', async (t) => {
  const { digest } = await pushImage(alice, 'alice/closed/worker', 'v1');
  const labelled = await pushImage(alice, 'alice/labelled', 'v1', {
    labels: { 'org.opencontainers.image.source': `${server.origin}/alice/closed` },
  });
  t.equal(labelled.answer.status, 201);
  for (const name of ['alice/closed/worker', 'alice/labelled', 'alice/absent', 'nobody/absent'])
    for (const path of [`manifests/v1`, `manifests/${digest}`, `blobs/${digestOf('a layer')}`, 'tags/list']) {
      const outside = await send('GET', `/v2/${name}/${path}`);
      t.strictSame([outside.status, codeOf(outside)], [401, 'UNAUTHORIZED'], `${name} ${path}`);
      const other = await bob.call('GET', `/v2/${name}/${path}`);
      t.strictSame([other.status, codeOf(other)], [404, 'NAME_UNKNOWN'], `${name} ${path}`);
    }
  t.equal(
    (await bob.call('POST', '/v2/alice/closed/worker/blobs/uploads/')).text,
    (await bob.call('POST', '/v2/alice/absent/blobs/uploads/')).text,
  );
  await repositories.collaborators.add(localAdministrator, 'alice', 'closed', { username: 'bob', role: 'read' });
  t.equal((await bob.call('GET', '/v2/alice/closed/worker/manifests/v1')).status, 200, 'a collaborator reads');
  t.equal((await bob.call('POST', '/v2/alice/closed/worker/blobs/uploads/')).status, 403);
  await repositories.collaborators.remove(localAdministrator, 'alice', 'closed', 'bob');
  const catalogue = async (client: typeof alice): Promise<string[]> => {
    const auth = `Bearer ${await client.token('registry:catalog:*')}`;
    return (await client.call('GET', '/v2/_catalog?n=1000', { auth })).json.repositories;
  };
  t.ok((await catalogue(alice)).includes('alice/closed/worker'));
  t.notOk((await catalogue(bob)).includes('alice/closed/worker'));
  t.ok((await catalogue(anonymous)).includes('alice/app/web'));
  t.notOk((await catalogue(anonymous)).some((one) => one.includes('closed') || one.includes('labelled')));
});

t.test('a token of the registry does what it was asked for, and ends with the access token', async (t) => {
  const pull = `Bearer ${await alice.token('repository:alice/app/web:pull')}`;
  t.equal((await send('GET', '/v2/alice/app/web/manifests/v1', { auth: pull })).status, 200);
  const push = await send('POST', '/v2/alice/app/web/blobs/uploads/', { auth: pull });
  t.equal(push.status, 401);
  t.match(
    push.headers.get('www-authenticate'),
    /scope="repository:alice\/app\/web:pull,push",error="insufficient_scope"/,
  );
  const { accounts } = server.app.modules;
  const made = await accounts.addToken(server.ids.alice, {
    name: 'short',
    access: 'write',
    repositoryIds: null,
    expiresAt: null,
  });
  const bearer = `Bearer ${await registry(server, made.secret).token('repository:alice/closed/worker:pull')}`;
  t.equal((await send('GET', '/v2/alice/closed/worker/manifests/v1', { auth: bearer })).status, 200);
  await accounts.removeToken(server.ids.alice, made.token.id);
  t.equal((await send('GET', '/v2/alice/closed/worker/manifests/v1', { auth: bearer })).status, 401);
});

t.test('two pushes of one tag at once: one of them has it, and both are there', async (t) => {
  const pushed = await Promise.all(
    ['one', 'two', 'three', 'four'].map((layer) =>
      pushImage(registry(server, tokens.alice), 'alice/race', 'latest', { layer }),
    ),
  );
  t.strictSame(
    pushed.map(({ answer }) => answer.status),
    [201, 201, 201, 201],
  );
  const now = await send('GET', '/v2/alice/race/manifests/latest');
  t.ok(pushed.some(({ manifest }) => manifest === now.text));
  for (const { digest } of pushed) t.equal((await send('GET', `/v2/alice/race/manifests/${digest}`)).status, 200);
});

t.test('a quota is that of the owner, and content counts once', async (t) => {
  const client = registry(server, tokens.bob);
  const body = Buffer.alloc(1024 * 1024, 'q');
  for (const name of ['bob/q1', 'bob/q2']) t.equal(await client.pushBlob(name, body), digestOf(body));
  const more = [2, 3].map((letter) => Buffer.alloc(1024 * 1024, String(letter)));
  for (const one of more) await client.pushBlob('bob/q1', one);
  const full = await client.call('POST', `/v2/bob/q1/blobs/uploads/?digest=${digestOf('x')}`, {
    body: Buffer.alloc(1024 * 1024, '4'),
  });
  t.strictSame([full.status, codeOf(full)], [413, 'DENIED']);
  t.match(full.json.errors[0].message, /4 MiB/);
});

t.test('pages of an owner who is called v2 are not the registry', async (t) => {
  for (const path of ['/v2', '/v2/repo', '/v2/repo/issues'])
    t.notMatch((await send('GET', path)).headers.get('content-type'), /json/, path);
});
