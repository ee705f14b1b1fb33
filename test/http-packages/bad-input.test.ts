// time limit: 300 s
// What a publisher may send wrong, as a table over the formats: names, a publish that breaks off anywhere, a second
// publish of one version, archives that unpack to much more, a disk without space. Each is refused with words that the
// client shows, and nothing of it is there afterwards.
import t from 'tap';
import { statfs } from 'node:fs/promises';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { basic, descriptor, digestOf, imageType, npmBody, registry, startPackageServer } from './package-server.ts';
import type { PackageServer } from './package-server.ts';
import { contentOf, formats } from './publishing.ts';
import type { Publishing } from './publishing.ts';

const server = await startPackageServer(t, { SERVICE_PACKAGES_MAX_FILE_SIZE: '4MiB' });
const auth = basic(server.tokens.alice);
const { packages } = server.app.modules;

const send = (to: PackageServer, { method, target, headers, body }: Publishing, secret = to.tokens.alice) =>
  to.send(method, target, { auth: basic(secret), headers, body });
const isThere = async (to: PackageServer, target: string): Promise<boolean> =>
  (await to.send('GET', target, { auth: basic(to.tokens.alice) })).status === 200;

for (const [what, format] of Object.entries(formats)) {
  t.test(`${what}: what is no name`, async (t) => {
    for (const name of format.badNames) {
      const answer = await send(server, format.publish(name, '1.0.0'));
      // An address that is none is that of nothing.
      t.ok([400, 404].includes(answer.status), `${name}: ${answer.status}`);
      t.match(format.words(answer), /^[A-Z].*\.$/, `${name}: a sentence`);
      t.notOk(await isThere(server, format.file(name, '1.0.0')), name);
    }
  });

  t.test(`${what}: a publish that breaks off at each part of its bytes leaves nothing`, async (t) => {
    const request = format.publish('broken', '1.0.0');
    const { method, target, headers, body } = request;
    const head = [
      `${method} ${target} HTTP/1.1`,
      `Host: 127.0.0.1:${server.port}`,
      `Authorization: ${auth}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      `Content-Length: ${body.length}`,
      '\r\n',
    ].join('\r\n');
    const ends = [...Array(16).keys()].map((at) => Math.floor((body.length * at) / 16));
    for (const bytes of [...ends, 1, body.length - 1 - (format.spare ?? 0)]) {
      // Half-closed: what the server made of it is known when it closes its side.
      await new Promise<void>((resolve) => {
        const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
        socket.on('error', () => resolve()).on('close', () => resolve());
        socket.resume().on('end', () => socket.destroy());
        socket.write(head);
        socket.end(body.subarray(0, bytes));
      });
      t.notOk(await isThere(server, format.file('broken', '1.0.0')), `${bytes} of ${body.length} bytes`);
    }
    const whole = await send(server, request);
    t.ok([200, 201].includes(whole.status), `whole: ${whole.status} ${whole.text}`);
    const read = await server.send('GET', format.file('broken', '1.0.0'), { auth });
    t.ok(read.bytes.equals(contentOf('broken', '1.0.0')));
  });

  t.test(`${what}: a version that exists, and a publisher without the right`, async (t) => {
    await send(server, format.publish('twice', '1.0.0'));
    const again = await send(server, format.publish('twice', '1.0.0'));
    if (format.again === null) t.equal(again.status, 201);
    else {
      t.equal(again.status, format.again, again.text);
      t.match(format.words(again), /never replaced/);
    }
    for (const secret of [server.tokens.aliceReads, server.tokens.packagesRead, server.tokens.bob]) {
      const refused = await send(server, format.publish('denied', '1.0.0'), secret);
      t.equal(refused.status, 403, refused.text);
      t.match(format.words(refused), /^[A-Z].*\.$/);
    }
    t.notOk(await isThere(server, format.file('denied', '1.0.0')));
  });
}

t.test('Cargo: a yanked crate is still there, and is not published again', async (t) => {
  const { publish, file, words } = formats['cargo']!;
  await send(server, publish('yanked', '1.0.0'));
  const at = '/packages/alice/cargo/api/v1/crates/yanked/1.0.0/yank';
  t.equal((await server.send('DELETE', at, { auth })).status, 200);
  t.ok(await isThere(server, file('yanked', '1.0.0')));
  const again = await send(server, publish('yanked', '1.0.0'));
  t.equal(again.status, 409);
  t.match(words(again), /never replaced/);
});

t.test('npm: a tarball that unpacks to gigabytes is read no further than its limit', async (t) => {
  // A head that says 2 GiB, and as much of zeros as fits in what may be sent.
  const head = Buffer.alloc(512);
  head.write('package/zeros');
  head.write('20000000000\0', 124);
  head.write('0', 156);
  const bomb = gzipSync(Buffer.concat([head, Buffer.alloc(280 * 1024 * 1024)]));
  const body = npmBody('bomb', '1.0.0', {}, 'latest', bomb);
  const put = await server.send('PUT', '/packages/alice/npm/bomb', {
    auth,
    body,
    headers: { 'Content-Type': 'application/json' },
  });
  t.equal(put.status, 201, put.text);
  const { json } = await server.send('GET', '/packages/alice/npm/bomb', {
    auth,
    headers: { Accept: 'application/vnd.npm.install-v1+json' },
  });
  t.notOk(json.versions['1.0.0']._hasShrinkwrap);
});

t.test('a layer of another digest, size or place', async (t) => {
  const alice = registry(server, server.tokens.alice);
  const begun = await alice.call('POST', '/v2/alice/wrong/blobs/uploads/');
  const location = begun.headers.get('location')!;
  const rows: [what: string, method: string, target: string, headers: Record<string, string>, status: number][] = [
    ['behind a gap', 'PATCH', location, { 'Content-Range': '5-8' }, 416],
    ['another length', 'PATCH', location, { 'Content-Range': '0-9' }, 416],
    ['no range', 'PATCH', location, { 'Content-Range': 'bytes 0-3/4' }, 416],
    ['backwards', 'PATCH', location, { 'Content-Range': '3-0' }, 416],
    ['no digest', 'PUT', `${location}?digest=md5:00`, {}, 400],
    ['another digest', 'PUT', `${location}?digest=${digestOf('other')}`, {}, 400],
    ['another digest at once', 'POST', `/v2/alice/wrong/blobs/uploads/?digest=${digestOf('other')}`, {}, 400],
  ];
  for (const [what, method, target, headers, status] of rows) {
    const answer = await alice.call(method, target, { headers, body: 'four' });
    t.equal(answer.status, status, `${what}: ${answer.text}`);
    t.notOk(await isThere(server, `/v2/alice/wrong/blobs/${digestOf('other')}`), what);
    t.notOk(await isThere(server, `/v2/alice/wrong/blobs/${digestOf('four')}`), what);
  }
  t.equal((await alice.call('DELETE', location)).status, 204);
  const config = descriptor('{}', 'application/vnd.oci.image.config.v1+json');
  const manifest = { schemaVersion: 2, mediaType: imageType, config, layers: [descriptor('other')] };
  t.equal((await alice.pushManifest('alice/wrong', 'v1', manifest)).status, 400);
});

// The largest floor that may be set, which a larger disk does not reach.
const { bavail, bsize } = await statfs(server.folder);
const skip = bavail * bsize < 1024 ** 4 ? false : 'more than 1 TiB is free';

t.test('a disk without space: every format says so, and nothing is there', { skip }, async (t) => {
  const full = await startPackageServer(t, { SERVICE_STORAGE_LOW_DISK_FLOOR: '1TiB' });
  for (const [what, format] of Object.entries(formats)) {
    const answer = await send(full, format.publish('none', '1.0.0'));
    t.equal(answer.status, 507, `${what}: ${answer.text}`);
    t.match(format.words(answer), /disk space/, what);
    t.notOk(await isThere(full, format.file('none', '1.0.0')), what);
  }
});

t.test('of what was refused no object stays', async (t) => {
  await packages.collect();
  const left: string[] = [];
  for await (const { key } of server.app.modules.objects.list('package-uploads/')) left.push(key);
  t.strictSame(left, []);
});
