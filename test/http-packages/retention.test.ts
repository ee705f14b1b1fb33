// Retention rules by the API, `hearth package` and the nightly task: of a package, of a format, of an owner; tried
// before they count; and what they delete comes back from the trash.
import t from 'tap';
import { runCli } from '../cli/run-cli.ts';
import { basic, indexType, descriptor, pushImage, registry, startPackageServer } from './package-server.ts';

const server = await startPackageServer(t);
const { tokens, send } = server;
const { modules } = server.app;
const auth = basic(tokens.alice);
const admin = basic(tokens.aliceAdmin);
const json = { 'Content-Type': 'application/json' };
const call = (method: string, path: string, body?: object, as: string | undefined = admin) =>
  send(method, `/api/v1/${path}`, {
    auth: as,
    headers: json,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const publish = async (name: string, ...versions: string[]) => {
  for (const version of versions) {
    const target = `/packages/alice/generic/${name}/${version}/file.txt`;
    t.equal((await send('PUT', target, { auth, body: `${name} ${version}` })).status, 201);
  }
};
const versionsOf = async (path: string): Promise<string[]> => {
  const answer = await call('GET', `packages/alice/${path}`);
  return answer.status === 404 ? [] : answer.json.map((one: { version: string }) => one.version).sort();
};
const nightly = () => modules.packages.retention.applyAll();

t.test('rules of a package are tried, set, applied and ended', async (t) => {
  await publish('tool', '1.0', '1.1', '1.2');
  await publish('other', '1.0', '1.1', '1.2');
  const at = 'packages/alice/generic/tool/-/retention';
  t.strictSame((await call('GET', at)).json, { rules: null, from: null, would_delete: [] });
  const rules = { keep: 1, keep_tags: ['1.0'], older_than_days: null };
  const tried = await call('PUT', at, { ...rules, dry_run: true });
  t.match([tried.status, tried.json], [200, { rules, would_delete: ['1.1'] }]);
  t.strictSame((await call('GET', at)).json.rules, null, 'nothing is set');
  t.strictSame(await nightly(), { packages: 0, versions: 0 });
  t.strictSame((await call('PUT', at, rules)).json, { rules, from: 'package', would_delete: ['1.1'] });
  t.strictSame(await nightly(), { packages: 1, versions: 1 });
  t.strictSame(await versionsOf('generic/tool'), ['1.0', '1.2']);
  t.strictSame(await versionsOf('generic/other'), ['1.0', '1.1', '1.2'], 'another package has no rules');
  t.strictSame(await nightly(), { packages: 0, versions: 0 });
  t.equal((await call('POST', 'packages/alice/generic/tool/1.1/restore')).status, 200);
  t.equal((await call('DELETE', at)).status, 204);
  t.strictSame(await nightly(), { packages: 0, versions: 0 });
  t.strictSame(await versionsOf('generic/tool'), ['1.0', '1.1', '1.2']);
});

t.test('rules of an owner: a package before a format before any', async (t) => {
  const of = 'users/alice/package-retention';
  t.equal((await call('PUT', `${of}/any`, { keep: 1 })).status, 204);
  t.equal((await call('PUT', `${of}/generic`, { keep: 2 })).status, 204);
  t.equal((await call('PUT', 'packages/alice/generic/other/-/retention', { keep: 3 })).status, 200);
  t.strictSame((await call('GET', of)).json, {
    any: { keep: 1, keep_tags: [], older_than_days: null },
    generic: { keep: 2, keep_tags: [], older_than_days: null },
  });
  const tool = await call('GET', 'packages/alice/generic/tool/-/retention');
  t.match(tool.json, { from: 'format', would_delete: ['1.0'] });
  t.strictSame(await nightly(), { packages: 1, versions: 1 });
  t.strictSame(await versionsOf('generic/other'), ['1.0', '1.1', '1.2']);
  t.equal((await call('DELETE', `${of}/generic`)).status, 204);
  t.match((await call('GET', 'packages/alice/generic/tool/-/retention')).json, { from: 'owner', rules: { keep: 1 } });
  t.equal((await call('DELETE', `${of}/any`)).status, 204);
});

t.test('an index keeps its manifests, whatever its own tags are', async (t) => {
  const client = registry(server, tokens.alice);
  const part = await pushImage(client, 'alice/app', 'part', { layer: 'of an index' });
  const index = JSON.stringify({
    schemaVersion: 2,
    mediaType: indexType,
    manifests: [{ ...descriptor(part.manifest), mediaType: 'application/vnd.oci.image.manifest.v1+json' }],
  });
  await client.pushManifest('alice/app', 'multi', index, indexType);
  const old = await pushImage(client, 'alice/app', 'old', { layer: 'old' });
  const newer = await pushImage(client, 'alice/app', 'newer', { layer: 'newer' });
  const at = 'packages/alice/container/app/-/retention';
  t.equal((await call('PUT', at, { keep: 1, keep_tags: ['mul*'] })).status, 200);
  t.strictSame((await call('GET', at)).json.would_delete, [old.digest]);
  await nightly();
  const status = async (reference: string) => (await client.call('GET', `/v2/alice/app/manifests/${reference}`)).status;
  t.strictSame(
    await Promise.all(['multi', 'newer', newer.digest, part.digest, 'old', old.digest].map(status)),
    [200, 200, 200, 200, 404, 404],
  );
});

t.test('rules that are none, and who may set them', async (t) => {
  const at = 'packages/alice/generic/tool/-/retention';
  const wrong: [object, RegExp][] = [
    [{}, /number of versions to keep, an age/],
    [{ keep_tags: ['v*'] }, /number of versions to keep, an age/],
    [{ keep: 0 }, /between 1 and 10000/],
    [{ keep: 1e9 }, /between 1 and 10000/],
    [{ older_than_days: -1 }, /between 1 and 36500 days/],
    [{ keep: 1, keep_tags: ['a b'] }, /A pattern has/],
    [{ keep: 1, keep_tags: ['x'.repeat(129)] }, /A pattern has/],
    [{ keep: 1, keep_tags: Array.from({ length: 51 }, (_, at) => `v${at}`) }, /at most 50 patterns/],
    [{ keep: '1' }, /keep/],
  ];
  for (const [body, message] of wrong) {
    const answer = await call('PUT', at, body);
    t.match([answer.status, answer.text], [422, message], JSON.stringify(body));
    t.match((await call('PUT', 'users/alice/package-retention/npm', body)).status, 422);
  }
  t.strictSame((await call('GET', 'users/alice/package-retention')).json, {});
  t.equal((await call('PUT', 'users/alice/package-retention/floppy', { keep: 1 })).status, 404);
  const bob = basic(tokens.bob);
  for (const [method, path, status] of [
    ['GET', at, 403],
    ['PUT', at, 403],
    ['DELETE', at, 403],
    ['GET', 'packages/alice/generic/absent/-/retention', 404],
    ['GET', 'users/alice/package-retention', 403],
    ['PUT', 'users/alice/package-retention/npm', 403],
    ['DELETE', 'users/alice/package-retention/npm', 403],
    ['PUT', 'users/acme/package-retention/npm', 403],
  ] as const)
    t.equal(
      (await call(method, path, method === 'PUT' ? { keep: 1 } : undefined, bob)).status,
      status,
      `${method} ${path}`,
    );
  t.equal((await call('PUT', 'users/acme/package-retention/npm', { keep: 1 })).status, 204, 'an OWNER of it may');
  t.equal((await call('PUT', at, { keep: 1 }, basic(tokens.aliceReads))).status, 403);
});

t.test('hearth package retention', async (t) => {
  const hearth = async (...words: string[]) =>
    runCli(['package', 'retention', ...words], {
      cwd: server.folder,
      openModules: async () => ({ ...modules, close: async () => {} }),
      env: { SERVICE_DATA_DIR: `${server.folder}/data` },
    });
  t.match((await hearth('alice/generic/tool')).stdout, /has no retention rules/);
  const tried = await hearth('alice/generic/tool', '--keep', '1', '--dry-run');
  t.match(tried.stdout, /keeps the newest 1\.\nWould delete 1\.1/);
  t.match((await hearth('alice/generic/tool')).stdout, /has no retention rules/, 'nothing is set');
  t.match((await hearth('alice/generic', '--keep', '5', '--keep-tags', 'v*,*-lts')).stdout, /newest 5; v\*, \*-lts/);
  t.match((await hearth('alice/generic/tool')).stdout, /keeps the newest 5/);
  t.match((await hearth('alice/generic/tool', '--keep', '1')).stdout, /Would delete 1\.1/);
  t.match((await hearth('alice/generic/tool', '--apply', '--yes')).stdout, /Deleted 1 version of alice/);
  t.match((await hearth('--apply', '--yes')).stdout, /Deleted 0 versions in 0 packages/);
  t.match((await hearth('alice/generic/tool', '--end')).stdout, /keeps the newest 5/);
  t.match((await hearth('alice/generic', '--end')).stdout, /has no retention rules/);
  t.match(await hearth('alice/generic/tool', '--keep', '0'), { code: 2 });
  t.match(await hearth('alice/generic/tool', '--keep', 'all'), { code: 2 });
  t.match(await hearth('alice', '--dry-run'), { code: 2 });
  t.match(await hearth(), { code: 2 });
});
