// Git LFS over HTTP: the batch API, transfers, locks, and what is refused, in the form that its clients read.
import t from 'tap';
import { connect } from 'node:net';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { localAdministrator, personViewer } from '../../src/access/index.ts';
import { startGitServer } from './git-server.ts';
import { lfsClient, lfsType, objectOf } from './lfs-client.ts';
import type { LfsResponse } from './lfs-client.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const server = await startGitServer(t, {
  SERVICE_LFS_MAX_OBJECT_SIZE: '1MiB',
  SERVICE_LFS_REPOSITORY_QUOTA: '2MiB',
  SERVICE_LFS_OWNER_QUOTA: '3MiB',
});
const { alice, aliceReads, bob } = server.tokens;
for (const name of ['open', 'second', 'third', 'renamed', 'bad', 'quota']) await server.newRepository(name);
for (const name of ['closed', 'locked']) await server.newRepository(name, 'PRIVATE');
const { repositories, accounts } = server.app.modules;
await repositories.collaborators.add(localAdministrator, 'alice', 'locked', { username: 'bob', role: 'write' });

/** Files of objects, half-written ones included, as paths below the folder of the store. */
async function filesOf(): Promise<string[]> {
  const folder = path.join(server.folder, 'data', 'objects');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => path.join(parentPath, name));
}
const filesWith = async (part: string): Promise<string[]> => (await filesOf()).filter((file) => file.includes(part));
const noneHalfWritten = async (): Promise<boolean> => (await filesWith('.incoming')).length === 0;

t.test('an object goes up, is verified, and comes down whole or from where a client was cut off', async (t) => {
  const client = lfsClient(server, 'closed', alice);
  const object = objectOf(Buffer.alloc(300_000, 'large file '));
  t.equal((await client.batch('download', object)).error?.code, 404);
  const first = await client.batch('upload', object);
  t.equal(first.authenticated, true);
  t.match(first.actions?.upload?.href, new RegExp(`^${server.origin}/git/alice/closed.git/info/lfs/objects/`));
  t.equal(await client.upload(object), 200);
  t.strictSame(await client.batch('upload', object), { oid: object.oid, size: object.size }, 'nothing more to do');
  t.ok((await client.download(object))?.equals(object.content));

  const download = (await client.batch('download', object)).actions!.download!;
  const rest = await client.act('GET', download, undefined, { Range: 'bytes=200000-' });
  t.equal(rest.status, 206);
  t.equal(rest.headers.get('content-range'), 'bytes 200000-299999/300000');
  t.ok(rest.bytes.equals(object.content.subarray(200_000)));
  t.equal((await client.act('GET', download, undefined, { Range: 'bytes=300000-' })).status, 416);
  t.equal((await client.call('HEAD', `objects/${object.oid}`)).headers.get('content-length'), '300000');
  t.equal((await client.call('GET', `objects/${object.oid}`)).bytes.length, 300_000, 'with credentials alone, too');
  t.equal((await filesWith(object.oid)).length, 1);
  const empty = objectOf('');
  t.equal(await client.upload(empty), 200);
  t.equal((await client.download(empty))?.length, 0);
});

t.test('a batch is answered object by object', async (t) => {
  const client = lfsClient(server, 'open', alice);
  const [here, absent] = [objectOf('here'), objectOf('absent')];
  await client.upload(here);
  const bad = [
    { oid: 'x', size: 1 },
    { oid: here.oid.toUpperCase(), size: 4 },
    { oid: absent.oid, size: -1 },
    { oid: absent.oid, size: 1.5 },
    { oid: here.oid, size: 5 },
    { oid: absent.oid, size: 1024 * 1024 + 1 },
  ];
  const { status, type, json } = await client.plan('upload', [here, absent, absent, ...bad]);
  t.strictSame([status, type, json.transfer, json.hash_algo], [200, lfsType, 'basic', 'sha256']);
  t.strictSame(
    json.objects.map(({ actions, error }) => error?.code ?? (actions === undefined ? 'there' : 'upload')),
    ['there', 'upload', 'upload', 422, 422, 422, 422, 422, 422],
  );
  const largest = { oid: absent.oid, size: 1024 * 1024 };
  t.ok((await client.plan('upload', [largest])).json.objects[0]?.actions?.upload, 'as large as the limit');
  const anonymous = lfsClient(server, 'open');
  t.equal((await anonymous.download(here))?.toString(), 'here', 'public objects need no credentials');
  t.equal((await anonymous.batch('download', here)).authenticated, undefined);
});

t.test('hostile requests get JSON that says what is wrong', async (t) => {
  const client = lfsClient(server, 'open', alice);
  const object = objectOf('x');
  const objects = [{ oid: object.oid, size: 1 }];
  const cases: [status: number, body: unknown][] = [
    [422, '{'],
    [422, '[]'],
    [422, 'null'],
    [422, '"\ud800"'],
    [422, '{"__proto__":{"operation":"upload"},"objects":[]}'],
    [422, { operation: 'move', objects }],
    [422, { operation: 'upload' }],
    [422, { operation: 'upload', objects: {} }],
    [422, { operation: 'upload', objects: [null] }],
    [422, { operation: 'upload', objects, transfers: ['lfs-standalone-file'] }],
    [409, { operation: 'upload', objects, hash_algo: 'sha512' }],
    [413, { operation: 'upload', objects: Array.from({ length: 1_001 }, () => objects[0]) }],
    [413, ' '.repeat(600_000)],
    [422, '['.repeat(400_000)],
  ];
  for (const [status, body] of cases) {
    const response = await client.call('POST', 'objects/batch', body);
    t.strictSame([response.status, response.type], [status, lfsType], JSON.stringify(body).slice(0, 80));
    t.strictSame(Object.keys(response.json), ['message', 'request_id']);
  }
  t.equal((await client.call('POST', 'objects/batch', { operation: 'upload', objects: [] })).status, 200);
  t.equal((await client.call('DELETE', `objects/${object.oid}`)).status, 405);
  t.equal((await client.call('GET', 'objects/batch')).headers.get('allow'), 'POST');
  for (const rest of ['', 'objects', 'objects/x', 'nothing', `objects/${'A'.repeat(64)}`])
    t.equal((await client.call('GET', rest)).status, 404, rest);
});

t.test('what does not arrive as its name says is refused, and nothing of it stays', async (t) => {
  const client = lfsClient(server, 'bad', alice);
  const object = objectOf(Buffer.alloc(100_000, 'b'));
  const upload = (await client.batch('upload', object)).actions!.upload!;
  const send = (content: Buffer, headers = {}) => client.act('PUT', upload, content, headers);
  for (const content of [Buffer.alloc(100_000, 'c'), object.content.subarray(1), Buffer.alloc(100_001, 'b')]) {
    const { status, json } = await send(content);
    t.equal(status, 422, `${content.length} bytes`);
    t.type(json.message, 'string');
  }
  const other = objectOf(Buffer.alloc(100_000, 'd'));
  const otherUrl = upload.href.replace(object.oid, other.oid);
  t.equal(
    (await client.act('PUT', { ...upload, href: otherUrl }, other.content)).status,
    401,
    'a token of another one',
  );
  const foreign = upload.href.replace('/bad.git/', '/open.git/');
  t.equal((await client.act('PUT', { ...upload, href: foreign }, object.content)).status, 403, 'another repository');
  t.equal((await client.call('POST', `objects/${object.oid}/verify`, { oid: object.oid, size: 1 })).status, 422);

  // Cut off in the middle, with and without an announced length.
  for (const framing of ['Content-Length: 100000', 'Transfer-Encoding: chunked']) {
    const socket = connect(server.port, '127.0.0.1');
    const authorization = upload.header!.Authorization!;
    socket.write(
      `PUT ${new URL(upload.href).pathname} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n` +
        `Authorization: ${authorization}\r\n${framing}\r\n\r\n`,
    );
    socket.write(framing.startsWith('C') ? object.content.subarray(0, 50_000) : `c350\r\n${'b'.repeat(50_000)}\r\n`);
    await waitUntil(async () => !(await noneHalfWritten()), 'the upload has begun');
    socket.destroy();
    await waitUntil(noneHalfWritten, 'nothing half-written stays');
  }
  t.strictSame(await filesWith(object.oid), []);
  t.equal((await client.batch('download', object)).error?.code, 404);

  // The same object from several clients at once.
  const results = await Promise.all(Array.from({ length: 6 }, () => send(object.content)));
  t.strictSame(new Set(results.map(({ status }) => status)), new Set([200]));
  t.equal((await filesWith(object.oid)).length, 1);
  t.equal((await send(Buffer.alloc(100_000, 'c'))).status, 422, 'an id alone proves nothing, once it is there, too');
  t.ok((await client.download(object))?.equals(object.content));
  t.equal(await noneHalfWritten(), true);
});

t.test('quotas per object, repository and owner, also when they are reached in the middle', async (t) => {
  const client = lfsClient(server, 'quota', alice);
  const mebibyte = (letter: string) => objectOf(Buffer.alloc(1024 * 1024, letter));
  const all = ['a', 'b', 'c'].map(mebibyte);
  t.equal((await client.plan('upload', all)).status, 507, 'the sum does not fit');
  const plans = await Promise.all(all.map((object) => client.batch('upload', object)));
  const sent = await Promise.all(plans.map(({ actions }, at) => client.act('PUT', actions!.upload!, all[at]!.content)));
  t.strictSame(sent.map(({ status }) => status).sort(), [200, 200, 507], 'each fitted, but not all');
  const refused = sent.findIndex(({ status }) => status === 507);
  t.match(sent[refused]?.json.message, /2 MiB/);
  t.strictSame(await filesWith(all[refused]!.oid), [], 'nothing stays of the refused one');
  const second = lfsClient(server, 'second', alice);
  t.equal((await second.plan('upload', [mebibyte('z')])).status, 507, 'of all repositories of the owner');
});

t.test('security E03 access is that of git: hidden and absent respond alike', async (t) => {
  const object = objectOf('secret');
  await lfsClient(server, 'closed', alice).upload(object);
  const strip = ({ status, headers, json }: LfsResponse) => ({
    status,
    challenge: headers.get('lfs-authenticate'),
    message: json.message,
  });
  const calls = (name: string, token?: string) => {
    const client = lfsClient(server, name, token);
    return Promise.all([
      client.plan('download', [object]),
      client.plan('upload', [object]),
      client.call('GET', `objects/${object.oid}`),
      client.call('PUT', `objects/${object.oid}`, 'secret'),
      client.call('GET', 'locks'),
      client.call('POST', 'locks', { path: 'x' }),
    ]).then((responses) => responses.map(strip));
  };
  t.strictSame(await calls('closed'), await calls('absent'));
  t.strictSame(await calls('closed', bob), await calls('absent', bob));
  t.strictSame(new Set((await calls('closed')).map(({ status }) => status)), new Set([401]));
  t.strictSame(new Set((await calls('closed', bob)).map(({ status }) => status)), new Set([404]));
  t.match((await calls('closed'))[0]?.challenge, /^Basic /);

  t.test('knowing an id gives nothing', async (t) => {
    const bobs = lfsClient(server, 'open', bob);
    t.equal((await bobs.batch('download', object)).error?.code, 404);
    t.equal((await bobs.call('GET', `objects/${object.oid}`)).status, 404);
    const absent = objectOf('nowhere');
    const words = async (oid: string) => (await bobs.call('GET', `objects/${oid}`)).json.message;
    t.equal(await words(object.oid), await words(absent.oid));
  });

  t.test('a reader, a token for reading and an archived repository take no upload', async (t) => {
    const reader = lfsClient(server, 'closed', aliceReads);
    t.equal((await reader.download(object))?.toString(), 'secret');
    t.equal((await reader.plan('upload', [objectOf('new')])).status, 403);
    await repositories.setArchived(localAdministrator, 'alice', 'third', true);
    t.equal((await lfsClient(server, 'third', alice).plan('upload', [objectOf('new')])).status, 403);
  });

  t.test('rights are asked again when a token is used', async (t) => {
    const { oid, size, content } = objectOf('late');
    const collaborator = lfsClient(server, 'locked', bob);
    const upload = (await collaborator.batch('upload', { oid, size })).actions!.upload!;
    const download = (await collaborator.batch('upload', { oid, size })).actions!.verify!;
    t.equal((await collaborator.act('PUT', { ...upload, header: { Authorization: 'Bearer hlfs_x.y' } })).status, 401);
    const reads = lfsClient(server, 'closed', alice);
    const link = (await reads.batch('download', object)).actions!.download!;
    t.equal((await reads.act('PUT', link, object.content)).status, 401, 'a token for downloads uploads nothing');
    const person = await accounts.personByUsername('bob');
    await accounts.setDisabled(person.id, true);
    t.equal((await collaborator.act('PUT', upload, content)).status, 401, 'a disabled account');
    t.equal((await collaborator.act('POST', download, '{}')).status, 401);
    await accounts.setDisabled(person.id, false);
    await repositories.collaborators.remove(localAdministrator, 'alice', 'locked', 'bob');
    t.equal((await collaborator.act('PUT', upload, content)).status, 404, 'no collaborator any more');
    t.strictSame(await filesWith(oid), []);
    const join = () =>
      repositories.collaborators.add(localAdministrator, 'alice', 'locked', { username: 'bob', role: 'write' });
    await join();
    const { lfs } = server.app.modules;
    const viewer = personViewer(person.id, 'write');
    const context = await lfs.open(viewer, { owner: 'alice', name: 'locked' }, 'upload');
    async function* leaving(): AsyncGenerator<Buffer> {
      yield content;
      await repositories.collaborators.remove(localAdministrator, 'alice', 'locked', 'bob');
    }
    const late = lfs.receive(viewer, context, { oid, bytes: size, content: leaving() });
    await t.rejects(late, { code: 'not_found' }, 'who leaves while the content comes in stores nothing');
    t.strictSame(await filesWith(oid), []);
    await join();
    t.equal((await collaborator.act('PUT', upload, content)).status, 200);
  });
});

t.test('a repository that has moved serves its old address, which clients would not follow', async (t) => {
  const object = objectOf('moved');
  await lfsClient(server, 'renamed', alice).upload(object);
  await repositories.rename(localAdministrator, 'alice', 'renamed', 'fresh');
  const { actions } = await lfsClient(server, 'renamed', alice).batch('download', object);
  t.match(actions?.download?.href, /\/alice\/fresh\.git\//);
  for (const place of ['/alice/fresh.git', '/repos/alice/fresh', '/git/alice/fresh'])
    t.equal((await fetch(`${server.origin}${place}/info/lfs/objects/${object.oid}`)).status, 200, place);

  // What a client writes, by the name of its clone.
  const more = objectOf('written by the old name');
  const writer = lfsClient(server, 'renamed', alice);
  t.equal(await writer.upload(more), 200);
  t.ok((await lfsClient(server, 'fresh', alice).batch('download', more)).actions?.download);
  const { status, json } = await writer.call('POST', 'locks', { path: 'a.psd' });
  t.equal(status, 201);
  t.match((await writer.call('GET', 'locks')).json.locks, [{ path: 'a.psd' }]);
  t.equal((await writer.call('POST', `locks/${json.lock.id}/unlock`, {})).status, 200);
});

t.test('locks: of a person, listed in pages, removed by force by an administrator alone', async (t) => {
  const [mine, theirs] = [lfsClient(server, 'locked', alice), lfsClient(server, 'locked', bob)];
  const created = await mine.call('POST', 'locks', { path: 'art/logo.psd', ref: { name: 'refs/heads/main' } });
  t.equal(created.status, 201);
  const { lock } = created.json;
  t.strictSame([lock.path, lock.owner], ['art/logo.psd', { name: 'alice' }]);
  t.match(lock.locked_at, /^\d{4}-\d\d-\d\dT.*Z$/);
  const again = await theirs.call('POST', 'locks', { path: 'art/logo.psd' });
  t.strictSame([again.status, again.json.lock], [409, lock]);
  t.match(again.json.message, /alice/);
  for (const bad of ['', '/x', 'a//b', '../x', 'a/./b', 'x\n', 'x'.repeat(1_025), 1, null])
    t.equal((await mine.call('POST', 'locks', { path: bad })).status, 422, String(bad).slice(0, 10));
  for (const name of ['b', 'c', 'd']) await theirs.call('POST', 'locks', { path: name });

  const seen: string[] = [];
  for (let cursor = ''; ; ) {
    const page = (await mine.call('GET', `locks?limit=2&cursor=${cursor}`)).json;
    seen.push(...page.locks.map(({ path: at }) => at));
    if (page.next_cursor === undefined) break;
    cursor = page.next_cursor;
  }
  t.strictSame(seen, ['art/logo.psd', 'b', 'c', 'd']);
  t.equal((await mine.call('GET', 'locks?path=b')).json.locks.length, 1);
  t.equal((await mine.call('GET', `locks?id=${lock.id}`)).json.locks[0]?.path, 'art/logo.psd');
  t.equal((await mine.call('GET', 'locks?cursor=!')).status, 422);
  t.equal((await mine.call('GET', 'locks?limit=x')).status, 422);
  const verified = (await theirs.call('POST', 'locks/verify', { limit: 0 })).json;
  t.strictSame([verified.ours.length, verified.theirs.length], [3, 1]);

  t.equal((await theirs.call('POST', `locks/${lock.id}/unlock`, {})).status, 403);
  t.equal((await theirs.call('POST', `locks/${lock.id}/unlock`, { force: true })).status, 403, 'not with write access');
  const bobs = (await mine.call('GET', 'locks?path=b')).json.locks[0]!;
  t.equal((await mine.call('POST', `locks/${bobs.id}/unlock`, { force: false })).status, 403);
  t.equal((await mine.call('POST', `locks/${bobs.id}/unlock`, { force: true })).status, 200);
  t.ok(server.log.some(({ event }) => event === 'lfs.lock_forced'));
  t.equal((await mine.call('POST', `locks/${lock.id}/unlock`, {})).json.lock.id, lock.id);
  t.equal((await mine.call('POST', `locks/${lock.id}/unlock`, {})).status, 404);
  const reader = lfsClient(server, 'open', bob);
  t.equal((await lfsClient(server, 'open', alice).call('POST', 'locks', { path: 'open.psd' })).status, 201);
  const pathsOf = async (client: typeof mine) =>
    (await client.call('GET', 'locks')).json.locks.map(({ path: at }) => at);
  t.strictSame([await pathsOf(reader), await pathsOf(mine)], [['open.psd'], ['c', 'd']], 'each repository has its own');
  t.equal((await reader.call('POST', 'locks', { path: 'x' })).status, 403);
  t.equal((await lfsClient(server, 'open').call('POST', 'locks/verify', {})).status, 401);
});

t.test('a repository or the whole server may switch it off, and says so to those who may read', async (t) => {
  const object = objectOf('here before');
  await server.newRepository('switched', 'PRIVATE');
  const client = lfsClient(server, 'switched', alice);
  await client.upload(object);
  const owner = {
    kind: 'person',
    id: (await accounts.personByUsername('alice')).id,
    username: 'alice',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  } as const;
  const at = { owner: 'alice', name: 'switched' };
  await server.app.modules.lfs.switchRepository(owner, at, false);
  for (const operation of ['upload', 'download']) {
    const { status, json } = await client.plan(operation, [object]);
    t.equal(status, 501);
    t.match(json.message, /disabled for this repository/);
  }
  t.equal((await client.call('GET', 'locks')).status, 501);
  t.equal((await lfsClient(server, 'switched', bob).plan('download', [object])).status, 404);
  t.ok(server.log.some(({ event }) => event === 'lfs.switched_off'));
  await server.app.modules.lfs.switchRepository(owner, at, true);
  t.equal((await client.download(object))?.toString(), 'here before');
  await t.rejects(server.app.modules.lfs.switchRepository({ ...owner, scope: 'write' }, at, false), {
    code: 'forbidden',
  });

  const full = await startGitServer(t, { SERVICE_STORAGE_LOW_DISK_FLOOR: '1TiB' });
  await full.newRepository('open');
  const toFull = lfsClient(full, 'open', full.tokens.alice);
  const refused = await toFull.call('PUT', `objects/${object.oid}`, object.content.toString());
  t.strictSame([refused.status, refused.type], [507, lfsType], 'a full disk is said in the same form');
  t.match(refused.json.message, /low on disk space/);

  const off = await startGitServer(t, { SERVICE_LFS_ENABLED: 'false' });
  await off.newRepository('open');
  const { status, json } = await lfsClient(off, 'open').plan('download', [object]);
  t.equal(status, 501);
  t.match(json.message, /disabled on this server/);
});
