// npm, PyPI, Cargo and Maven by the requests that their clients send: publish, read, publish again (refused), change.
import t from 'tap';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { temporaryFolder } from '../fixtures/temporary-folder.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { basic, crateBody, npmBody, pypiBody, sha256, startPackageServer } from './package-server.ts';

const server = await startPackageServer(t);
const { send, tokens } = server;
const auth = basic(tokens.alice);

t.test('npm: versions, tags, words of deprecation, unpublishing', async (t) => {
  const at = '/packages/alice/npm/@alice%2flib';
  const put = (target: string, body: string) =>
    send('PUT', target, { auth, body, headers: { 'Content-Type': 'application/json' } });
  t.equal(
    (await put(at, npmBody('@alice/lib', '1.0.0', { dependencies: { x: '^1' }, scripts: { test: 'x' } }))).status,
    201,
  );
  t.equal((await put(at, npmBody('@alice/lib', '1.1.0', {}, 'next'))).status, 201);
  const again = await put(at, npmBody('@alice/lib', '1.0.0'));
  t.strictSame(
    [again.status, again.json.error],
    [403, 'Version 1.0.0 already exists; a published version is never replaced.'],
  );
  const full = await send('GET', at);
  t.strictSame(full.json['dist-tags'], { latest: '1.0.0', next: '1.1.0' });
  t.strictSame(Object.keys(full.json.versions), ['1.0.0', '1.1.0']);
  const { dist } = full.json.versions['1.0.0'];
  t.equal(dist.tarball, `${server.origin}/packages/alice/npm/@alice/lib/-/lib-1.0.0.tgz`);
  const tarball = await send('GET', dist.tarball);
  t.equal(tarball.text, 'tarball of @alice/lib 1.0.0');
  t.equal(dist.integrity, `sha512-${createHash('sha512').update(tarball.bytes).digest('base64')}`);
  const short = await send('GET', at, { headers: { Accept: 'application/vnd.npm.install-v1+json' } });
  t.strictSame(
    [short.json.versions['1.0.0'].dependencies, short.json.versions['1.0.0'].scripts],
    [{ x: '^1' }, undefined],
  );
  t.equal((await send('GET', at, { headers: { 'If-None-Match': full.headers.get('etag')! } })).status, 304);
  t.equal((await put('/packages/alice/npm/-/package/@alice%2flib/dist-tags/latest', '"1.1.0"')).status, 201);
  t.equal((await send('GET', `${at}/latest`)).json.version, '1.1.0');
  t.equal((await put(at, JSON.stringify({ versions: { '1.0.0': { deprecated: 'use 2' } } }))).status, 201);
  const changed = (await send('GET', at)).json;
  t.equal(changed.versions['1.0.0'].deprecated, 'use 2');
  const { '1.0.0': _gone, ...kept } = changed.versions;
  t.equal((await put(`${at}/-rev/1-1`, JSON.stringify({ versions: kept }))).status, 409, 'another revision');
  t.equal((await put(`${at}/-rev/${changed._rev}`, JSON.stringify({ ...changed, versions: kept }))).status, 201);
  t.strictSame(Object.keys((await send('GET', at)).json.versions), ['1.1.0']);
  for (const version of ['1.0.0', '9.9.9']) {
    const tag = await put('/packages/alice/npm/-/package/@alice%2flib/dist-tags/next', `"${version}"`);
    t.equal(tag.status, 404, `${version}: what is in the trash gets a tag as little as what never was`);
  }
  t.strictSame(
    (await send('POST', '/packages/alice/npm/-/npm/v1/security/advisories/bulk', { body: '{"x":["1"]}' })).json,
    {},
  );
  for (const [what, body] of [
    ['another name', npmBody('other', '1.0.0')],
    ['no version', npmBody('@alice/lib', 'x')],
    ['no JSON', 'x'],
    ['another checksum', npmBody('@alice/lib', '3.0.0').replace(/"shasum":"[^"]+"/, '"shasum":"0000"')],
  ] as const)
    t.equal((await put(at, body)).status, 400, what);
});

/** What `npm pack` writes: a gzipped tar with a folder at the top. */
function npmTarball(t: Owner, files: Record<string, string>, top = 'package'): Buffer {
  const folder = temporaryFolder(t);
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, top, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
  return execFileSync('tar', ['-czf', '-', top], { cwd: folder });
}

t.test('npm: an installation learns of install scripts and of a shrinkwrap, which clients do not send', async (t) => {
  const long = 'x'.repeat(1_500_000);
  const rows: [name: string, scripts: object | undefined, tarball: Buffer | undefined, flags: [boolean, boolean]][] = [
    ['plain', undefined, npmTarball(t, { 'package.json': '{}', 'large.txt': long }), [false, false]],
    ['tested', { test: 'x', prepare: 'x', prepublishOnly: 'x' }, undefined, [false, false]],
    ['before', { preinstall: 'x' }, undefined, [true, false]],
    ['during', { install: 'node-gyp rebuild' }, undefined, [true, false]],
    ['after', { postinstall: 'x' }, npmTarball(t, { 'npm-shrinkwrap.json': '{}' }), [true, true]],
    ['locked', {}, npmTarball(t, { 'large.txt': long, 'npm-shrinkwrap.json': '{}' }, 'other-top'), [false, true]],
    ['deeper', {}, npmTarball(t, { 'a/npm-shrinkwrap.json': '{}' }), [false, false]],
    ['cut', {}, npmTarball(t, { 'npm-shrinkwrap.json': '{}' }).subarray(0, 40), [false, false]],
  ];
  for (const [name, scripts, tarball, flags] of rows) {
    const at = `/packages/alice/npm/${name}`;
    const body = npmBody(name, '1.0.0', scripts === undefined ? {} : { scripts }, 'latest', tarball);
    const put = await send('PUT', at, { auth, body, headers: { 'Content-Type': 'application/json' } });
    t.equal(put.status, 201, put.text);
    const short = await send('GET', at, { headers: { Accept: 'application/vnd.npm.install-v1+json' } });
    const { hasInstallScript = false, _hasShrinkwrap = false } = short.json.versions['1.0.0'];
    t.strictSame([hasInstallScript, _hasShrinkwrap], flags, name);
  }
});

/** A zip with one file. */
function zipOf(name: string, content: Buffer): Buffer {
  const packed = deflateRawSync(content);
  const head = Buffer.alloc(30);
  head.writeUInt32LE(0x04034b50, 0);
  head.writeUInt16LE(8, 8);
  head.writeUInt32LE(packed.length, 18);
  head.writeUInt32LE(content.length, 22);
  head.writeUInt16LE(name.length, 26);
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(8, 10);
  entry.writeUInt32LE(packed.length, 20);
  // What it says may be a lie: only what is unpacked counts.
  entry.writeUInt32LE(Math.min(content.length, 1000), 24);
  entry.writeUInt16LE(name.length, 28);
  const at = 30 + name.length + packed.length;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt32LE(46 + name.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([head, Buffer.from(name), packed, entry, Buffer.from(name), end]);
}

t.test('PyPI: files of a version in HTML and JSON, metadata of wheels, and zips that are none', async (t) => {
  const at = '/packages/alice/pypi';
  const upload = (version: string, file?: { fileName: string; content: Buffer }) =>
    send('POST', `${at}/`, {
      auth,
      ...pypiBody('demo_lib', version, { ...file, fields: { requires_python: '>=3.8' } }),
    });
  t.equal((await upload('1.0')).status, 200);
  t.equal((await upload('1.0')).status, 409);
  const core = Buffer.from('Metadata-Version: 2.1\nName: demo.lib\nVersion: 1.0\n');
  const wheel = zipOf('demo_lib-1.0.dist-info/METADATA', core);
  const fileName = 'demo_lib-1.0-py3-none-any.whl';
  const uploaded = await upload('1.0', { fileName, content: wheel });
  t.equal(uploaded.status, 200, uploaded.text);
  const html = await send('GET', `${at}/simple/Demo.Lib/`);
  t.match(
    html.text,
    new RegExp(`#sha256=${sha256(wheel)}" data-requires-python="&gt;=3.8" data-core-metadata="sha256=${sha256(core)}"`),
  );
  const json = await send('GET', `${at}/simple/demo-lib/`, {
    headers: { Accept: 'application/vnd.pypi.simple.v1+json' },
  });
  t.strictSame(
    json.json.files.map((file: { filename: string }) => file.filename),
    [fileName, 'demo_lib-1.0.tar.gz'],
  );
  t.ok((await send('GET', json.json.files[0].url)).bytes.equals(wheel));
  t.equal((await send('GET', `${json.json.files[0].url}.metadata`)).text, core.toString());
  const bomb = zipOf('demo_lib-2.0.dist-info/METADATA', Buffer.alloc(50 * 1024 * 1024));
  for (const [what, content] of [
    ['a bomb', bomb],
    ['no zip', Buffer.from('x')],
    ['another version', wheel],
  ] as const)
    t.equal((await upload('2.0', { fileName: 'demo_lib-2.0-py3-none-any.whl', content })).status, 400, what);
  t.equal((await upload('2.0', { fileName: 'other-2.0.tar.gz', content: Buffer.from('x') })).status, 400);
  t.equal((await upload('not a version')).status, 400);
  t.equal((await send('GET', `${at}/simple/`)).text.match(/demo-lib/g)?.length, 2);
});

t.test('Cargo: the sparse index, publishing, yanking, and an index that asks for a token', async (t) => {
  const at = '/packages/alice/cargo';
  const publish = (vers: string, more = {}) =>
    send('PUT', `${at}/api/v1/crates/new`, { auth: tokens.alice, body: crateBody('demo-crate', vers, more) });
  const dependency = {
    name: 'real',
    version_req: '^1',
    explicit_name_in_toml: 'renamed',
    features: [],
    optional: false,
  };
  t.equal((await publish('0.1.0', { deps: [dependency] })).status, 200);
  const again = await publish('0.1.0');
  t.strictSame([again.status, again.json.errors.length], [409, 1]);
  t.equal((await send('GET', `${at}/config.json`)).json.dl, `${server.origin}${at}/api/v1/crates`);
  const lines = async () =>
    (await send('GET', `${at}/de/mo/demo-crate`)).text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  t.match(await lines(), [
    {
      name: 'demo-crate',
      vers: '0.1.0',
      yanked: false,
      cksum: sha256('crate of demo-crate 0.1.0'),
      deps: [{ name: 'renamed', package: 'real' }],
    },
  ]);
  t.equal((await send('GET', `${at}/api/v1/crates/demo-crate/0.1.0/download`)).text, 'crate of demo-crate 0.1.0');
  t.equal((await send('DELETE', `${at}/api/v1/crates/demo-crate/0.1.0/yank`, { auth: tokens.alice })).status, 200);
  t.equal((await lines())[0].yanked, true);
  t.equal((await send('PUT', `${at}/api/v1/crates/demo-crate/0.1.0/unyank`, { auth: tokens.alice })).status, 200);
  t.equal((await lines())[0].yanked, false);
  t.match((await lines())[0].pubtime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

  const owners = (name: string, method = 'GET') =>
    send(method, `${at}/api/v1/crates/${name}/owners`, {
      auth: tokens.alice,
      ...(method === 'PUT' ? { body: '{"users":["bob"]}' } : {}),
    });
  t.match((await owners('demo-crate')).json.users, [{ id: Number, login: 'alice', name: null }]);
  t.equal((await owners('absent-crate')).status, 404);
  for (const method of ['PUT', 'DELETE'])
    t.match(await owners('demo-crate', method), {
      status: 405,
      json: { errors: [{ detail: /no list of owners/ }] },
    });

  // The newest is not the highest, and the highest may be yanked.
  const found = async () => (await send('GET', `${at}/api/v1/crates?q=demo`)).json.crates[0].max_version;
  for (const version of ['0.10.0', '0.9.1', '1.0.0-rc.1']) t.equal((await publish(version)).status, 200);
  t.equal(await found(), '1.0.0-rc.1');
  t.equal((await send('DELETE', `${at}/api/v1/crates/demo-crate/1.0.0-rc.1/yank`, { auth })).status, 200);
  t.equal(await found(), '0.10.0');
  t.equal((await send('GET', `${at}/auth/config.json`)).status, 401);
  t.equal((await send('GET', `${at}/auth/config.json`, { auth: tokens.alice })).json['auth-required'], true);
  t.equal((await send('GET', `${at}/auth/de/mo/demo-crate`, { auth: tokens.alice })).status, 200);
  const whole = crateBody('demo-crate', '0.2.0');
  for (const bytes of [0, 3, 10, whole.length - 1])
    t.equal(
      (await send('PUT', `${at}/api/v1/crates/new`, { auth, body: whole.subarray(0, bytes) })).status,
      400,
      `${bytes} bytes`,
    );
  t.equal((await lines()).length, 4);
});

t.test('Maven: files with checksums, snapshots, and metadata that is made here', async (t) => {
  const at = '/packages/alice/maven/com/example/lib';
  const put = (target: string, body: string) => send('PUT', target, { auth, body });
  t.equal((await put(`${at}/1.0/lib-1.0.jar`, 'a jar')).status, 201);
  const sha1 = createHash('sha1').update('a jar').digest('hex');
  t.equal((await put(`${at}/1.0/lib-1.0.jar.sha1`, sha1)).status, 201);
  t.equal((await put(`${at}/1.0/lib-1.0.jar.sha1`, sha1.replace(/^./, 'x'))).status, 400, 'damaged on its way');
  t.equal((await put(`${at}/1.0/lib-1.0.jar`, 'another')).status, 409);
  t.equal((await put(`${at}/maven-metadata.xml`, '<metadata/>')).status, 201);
  for (const build of [1, 2])
    t.equal((await put(`${at}/1.1-SNAPSHOT/lib-1.1-20260131.120000-${build}.jar`, `build ${build}`)).status, 201);
  const metadata = (await send('GET', `${at}/maven-metadata.xml`)).text;
  t.match(metadata, /<release>1.0<\/release>[^]*<version>1.0<\/version>\s*<version>1.1-SNAPSHOT<\/version>/);
  t.match(
    (await send('GET', `${at}/1.1-SNAPSHOT/maven-metadata.xml`)).text,
    /<buildNumber>2<\/buildNumber>[^]*<value>1.1-20260131.120000-2<\/value>/,
  );
  t.equal((await send('GET', `${at}/maven-metadata.xml.sha1`)).text, createHash('sha1').update(metadata).digest('hex'));
  t.equal((await send('GET', `${at}/1.0/lib-1.0.jar`)).text, 'a jar');
  t.equal((await send('GET', `${at}/1.0/lib-1.0.jar.md5`)).text, createHash('md5').update('a jar').digest('hex'));
  t.equal((await put('/packages/alice/maven/com/%2e%2e/1.0/x.jar', 'x')).status, 400);
  const refused = await put(`${at}/1.0/lib-1.0.jar`, 'another');
  t.match(refused.json, { status: 409, detail: /never replaced/ }, 'a problem');
  t.equal(refused.headers.get('content-type'), 'application/problem+json');
});
