// Packages by the API in Gitea's form and by `hearth package`: lists, links to repositories, deleting and restoring;
// the webhook `package` and the audit of it.
import { createServer } from 'node:http';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { silentLogger, systemRandom } from '../../src/kernel/index.ts';
import { collectPackages } from '../../src/packages/collection/collect-garbage.ts';
import { packageSettingsOf } from '../../src/packages/settings.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { freePort } from '../fixtures/free-port.ts';
import { basic, npmBody, pushImage, registry, startPackageServer } from './package-server.ts';

const hookPort = await freePort();
// biome-ignore lint/suspicious/noExplicitAny: JSON of a webhook
const got: { event: string; body: any }[] = [];
const receiver = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    got.push({ event: String(request.headers['x-gitea-event']), body: JSON.parse(Buffer.concat(parts).toString()) });
    response.end();
  });
}).listen(hookPort, '127.0.0.1');
t.teardown(() => receiver.close());

const server = await startPackageServer(t, { SERVICE_WEBHOOKS_ALLOWED_HOSTS: `127.0.0.1:${hookPort}` });
const { tokens, send } = server;
const { modules } = server.app;
const auth = basic(tokens.alice);
const admin = basic(tokens.aliceAdmin);
const api = '/api/v1/packages';
const json = { 'Content-Type': 'application/json' };
const get = (path: string, as: string | undefined = auth) => send('GET', `${api}/${path}`, { auth: as });
const generic = (name: string, version: string, as = auth, owner = 'alice') =>
  send('PUT', `/packages/${owner}/generic/${name}/${version}/file.txt`, { auth: as, body: `${name} ${version}` });

t.test('versions are listed over all packages of an owner, page by page, as many as the total says', async (t) => {
  for (const version of ['1.0', '1.1', '2.0']) await generic('closed', version);
  for (const version of ['1.0', '1.1']) await generic('tool', version);
  await send('PUT', '/packages/alice/npm/@alice%2flib', { auth, headers: json, body: npmBody('@alice/lib', '1.0.0') });
  await pushImage(registry(server, tokens.alice), 'alice/app', 'v1');
  const all = await get('alice?limit=50');
  t.equal(all.headers.get('x-total-count'), '7');
  const seen = [];
  for (const page of [1, 2, 3, 4]) seen.push(...(await get(`alice?limit=2&page=${page}`)).json);
  t.strictSame(
    seen.map(({ id }) => id),
    all.json.map(({ id }: { id: number }) => id),
  );
  t.strictSame(
    all.json.map((one: Record<string, string>) => `${one['type']} ${one['name']} ${one['version']}`),
    [
      'container app v1',
      'npm @alice/lib 1.0.0',
      'generic tool 1.1',
      'generic tool 1.0',
      'generic closed 2.0',
      'generic closed 1.1',
      'generic closed 1.0',
    ],
  );
  t.match(all.json[1], {
    owner: { login: 'alice' },
    creator: { login: 'alice' },
    repository: null,
    html_url: `${server.origin}/packages/alice/-/npm/%40alice%2Flib/1.0.0`,
  });
  t.match(all.json[4], { repository: { full_name: 'alice/closed' } });
  t.equal((await get('alice?type=npm')).json.length, 1);
  t.equal((await get('alice?q=TOO')).json.length, 2);
  for (const pattern of ['t__l', 't%25l', '%25', '_', '%5c'])
    t.equal((await get(`alice?q=${pattern}`)).json.length, 0, `${pattern} stands for itself`);
  const foreign = await get('alice', basic(tokens.bob));
  t.notMatch(JSON.stringify(foreign.json), /closed/, 'what follows a private repository is hidden');
  t.equal(foreign.headers.get('x-total-count'), '4');
  t.equal((await get('nobody')).status, 404);
});

t.test('one version, its files, the latest; hidden as absent, and other types are none', async (t) => {
  t.match((await get('alice/generic/tool/1.1')).json, { name: 'tool', version: '1.1' });
  t.match((await get('alice/generic/tool/1.1/files')).json, [{ name: 'file.txt', size: 8, sha256: /^[0-9a-f]{64}$/ }]);
  t.match((await get('alice/generic/tool/-/latest')).json, { version: '1.1' });
  t.match((await get('alice/container/app/v1')).json, { type: 'container', version: 'v1' });
  t.match((await get('alice/container/app/-/latest')).json, { version: 'v1' });
  t.equal((await get('alice/npm/@alice%2flib')).json.length, 1);
  const bob = basic(tokens.bob);
  for (const path of ['', '/1.0', '/1.0/files', '/-/latest']) {
    const [hidden, absent] = [
      await get(`alice/generic/closed${path}`, bob),
      await get(`alice/generic/absent${path}`, bob),
    ];
    t.strictSame([hidden.status, hidden.text], [404, absent.text], path);
  }
  t.equal((await get('alice/unheard/tool')).status, 404);
  t.equal((await get('alice/generic/tool/9')).status, 404);
  t.equal((await get('alice', `Bearer ${tokens.packagesRead}`)).status, 200, 'a token for packages alone');
  t.equal((await send('DELETE', `${api}/alice/generic/tool/1.0`, { auth: basic(tokens.packagesRead) })).status, 403);
});

t.test('a version is deleted and restored, a tag of an image alone while another names it', async (t) => {
  const remove = (path: string, as = auth) => send('DELETE', `${api}/${path}`, { auth: as });
  t.equal((await remove('alice/generic/tool/1.0', basic(tokens.bob))).status, 403);
  t.equal((await remove('alice/generic/tool/1.0')).status, 204);
  t.equal((await get('alice/generic/tool/1.0')).status, 404);
  const restore = (version: string) => send('POST', `${api}/alice/generic/tool/${version}/restore`, { auth });
  t.equal((await restore('1.1')).status, 404, 'not deleted');
  t.match((await restore('1.0')).json, { version: '1.0' });
  t.equal((await send('GET', '/packages/alice/generic/tool/1.0/file.txt')).text, 'tool 1.0');

  const image = registry(server, tokens.alice);
  const { digest, manifest } = await pushImage(image, 'alice/app', 'v1');
  await image.pushManifest('alice/app', 'v2', manifest);
  t.equal((await remove('alice/container/app/v1')).status, 204);
  t.strictSame((await image.call('GET', '/v2/alice/app/tags/list')).json.tags, ['v2'], 'the other tag stays');
  t.equal((await remove('alice/container/app/v2')).status, 204);
  t.equal((await image.call('GET', `/v2/alice/app/manifests/${digest}`)).status, 404);
  t.equal((await send('POST', `${api}/alice/container/app/${digest}/restore`, { auth })).status, 200);
  t.equal((await image.call('GET', '/v2/alice/app/manifests/v2')).status, 200, 'with the tag that named it');

  t.equal((await remove('alice/npm/@alice%2flib')).status, 204);
  t.equal((await get('alice/npm/@alice%2flib/1.0.0')).status, 404);
});

t.test('a package is linked to a repository, follows it, and is private afterwards', async (t) => {
  const post = (path: string, as = admin) => send('POST', `${api}/alice/generic/tool/-/${path}`, { auth: as });
  t.equal((await post('link/closed', basic(tokens.bob))).status, 403);
  t.equal((await post('link/closed')).status, 201);
  t.equal((await post('link/closed')).status, 409);
  t.equal((await get('alice/generic/tool', basic(tokens.bob))).status, 404, 'as its repository');
  const edit = (visibility: string) =>
    send('PATCH', `${api}/alice/generic/tool`, { auth: admin, headers: json, body: JSON.stringify({ visibility }) });
  t.equal((await edit('public')).status, 409, 'its repository decides');
  const writes = { auth: basic(tokens.alice), headers: json, body: '{"visibility":"public"}' };
  t.match((await send('PATCH', `${api}/alice/generic/tool`, writes)).json, { message: /admin access/ });
  t.equal((await post('unlink')).status, 201);
  t.equal((await post('unlink')).status, 409);
  t.equal((await get('alice/generic/tool', basic(tokens.bob))).status, 404, 'nothing is opened');
  t.equal((await edit('public')).status, 204);
  t.equal((await get('alice/generic/tool', basic(tokens.bob))).status, 200);
  t.equal((await post('link/absent')).status, 404);

  // One that follows a public repository is public; once that has another owner, its own visibility counts.
  t.equal((await post('link/open')).status, 201);
  t.equal((await get('alice/generic/tool', basic(tokens.bob))).status, 200);
  const { repository } = await modules.repositories.find(localAdministrator, 'alice', 'open');
  const { id: acme } = (await modules.owners.resolve('acme'))!;
  const move = (user: string | null, organisation: string | null) =>
    modules.db.write(({ manager }) =>
      manager.query('UPDATE repositories SET owner_user_id = ?, owner_org_id = ? WHERE id = ?', [
        user,
        organisation,
        repository.id,
      ]),
    );
  const listed = async (path: string) => ((await send('GET', path)).text.match(/>tool</g) ?? []).length;
  t.equal(await listed('/repos/alice/open/packages'), 1);
  await move(null, acme);
  t.equal(await listed('/repos/acme/open/packages'), 0, 'nor does it appear with the other owner');
  t.equal((await get('alice/generic/tool', basic(tokens.bob))).status, 404);
  t.equal((await get('alice/generic/tool')).status, 200, 'its owner has it still');
  await move(server.ids.alice, null);
  t.equal((await get('alice/generic/tool', basic(tokens.bob))).status, 200);
  t.equal((await post('unlink')).status, 201);
  t.equal((await edit('public')).status, 204);
});

t.test('webhooks of the repository and of the organisation are told, others not', async (t) => {
  const hook = (path: string) =>
    send('POST', `/api/v1/${path}/hooks`, {
      auth: admin,
      headers: json,
      body: JSON.stringify({
        type: 'gitea',
        config: { url: `http://127.0.0.1:${hookPort}/` },
        events: ['package'],
        active: true,
      }),
    });
  t.equal((await hook('repos/alice/closed')).status, 201);
  t.equal((await hook('orgs/acme')).status, 201);
  await generic('closed', '3.0');
  await generic('tool', '3.0');
  await generic('unit', '1.0', auth, 'acme');
  await send('DELETE', `${api}/alice/generic/closed/3.0`, { auth });
  await modules.webhooks.drain();
  const told = got.map(({ event, body }) => [
    event,
    body.action,
    body.package.name,
    body.package.version,
    body.repository?.full_name,
    body.organization?.login,
    body.sender.login,
  ]);
  t.strictSame(
    told.sort((a, b) => String(a).localeCompare(String(b))),
    [
      ['package', 'created', 'closed', '3.0', 'alice/closed', undefined, 'alice'],
      ['package', 'created', 'unit', '1.0', undefined, 'acme', 'alice'],
      ['package', 'deleted', 'closed', '3.0', 'alice/closed', undefined, 'alice'],
    ],
  );
  await modules.audit.flush();
  const entries = await modules.audit.list({ event: 'package.', limit: 100 });
  const events = new Set(entries.map(({ event }) => event));
  for (const event of ['published', 'deleted', 'restored', 'linked', 'unlinked', 'visibility_changed'])
    t.ok(events.has(`package.${event}`), event);
  t.match(
    entries.find(({ event }) => event === 'package.published'),
    { details: { name: 'unit', version: '1.0' } },
  );
});

t.test('hearth package', async (t) => {
  const hearth = async (words: string) =>
    runCli(['package', ...words.split(' ')], {
      cwd: server.folder,
      openModules: async () => ({ ...modules, close: async () => {} }),
      env: { SERVICE_DATA_DIR: `${server.folder}/data` },
    });
  t.match((await hearth('list alice')).stdout, /alice\/generic\/tool\t3\tpublic/);
  t.match((await hearth('list alice --as bob')).stdout, /tool(?![^]*closed)/);
  t.match((await hearth('list alice --deleted')).stdout, /npm\t@alice\/lib\t1\.0\.0/);
  t.match(JSON.parse((await hearth('show alice/generic/tool --json')).stdout), {
    visibility: 'public',
    items: [{ version: '3.0' }, { version: '1.1' }, { version: '1.0' }],
  });
  t.match((await hearth('show alice/oci/app v2')).stdout, /sha256:[0-9a-f]{64}/);
  t.match(await hearth('delete alice/generic/tool'), { code: 2, stderr: /specify a version or --all/ });
  t.match((await hearth('delete alice/generic/tool 1.0 --dry-run')).stdout, /Would delete/);
  t.match(await hearth('delete alice/generic/tool 1.0 --yes --as bob'), { code: 4 });
  t.match((await hearth('delete alice/generic/tool 1.0 --yes')).stdout, /Deleted alice\/generic\/tool 1\.0\./);
  t.match((await hearth('restore alice/generic/tool 1.0')).stdout, /Restored/);
  t.match((await hearth('link alice/generic/tool open')).stdout, /is now linked to open/);
  t.match((await hearth('unlink alice/generic/tool')).stdout, /now private/);
  t.match((await hearth('visibility alice/generic/tool public')).stdout, /now public/);
  t.match(await hearth('show alice/tool'), { code: 2, stderr: /owner\/format\/name/ });
  t.match((await hearth('gc')).stdout, /^Removed 0 versions/);
});

t.test('the collection keeps what another owner has, what goes on, and the trash for its time', async (t) => {
  const { config, db, objects } = modules;
  const settings = packageSettingsOf(config);
  const collectAt = (now: number) =>
    collectPackages({
      ...modules,
      clock: fixedClock(now),
      random: systemRandom,
      logger: silentLogger,
      settings,
      listeners: [],
    });
  const keys = async (prefix: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const { key } of objects.list(prefix)) found.push(key);
    return found;
  };
  const publish = (owner: string) =>
    send('PUT', `/packages/${owner}/generic/shared/1.0/file.txt`, { auth, body: 'of two owners' });
  for (const owner of ['alice', 'acme']) t.equal((await publish(owner)).status, 201, owner);
  const [blob] = (await db.read.query('SELECT sha256 FROM package_files WHERE bytes = ?', [13])) as {
    sha256: string;
  }[];
  const owners = async () =>
    (
      (await db.read.query('SELECT owner_id FROM package_blobs WHERE sha256 = ?', [blob!.sha256])) as {
        owner_id: string;
      }[]
    ).map(({ owner_id }) => owner_id);
  t.equal((await owners()).length, 2);
  t.equal((await send('DELETE', `${api}/alice/generic/shared/1.0`, { auth })).status, 204);
  const inTrash = async () =>
    (
      (await db.read.query(
        `SELECT v.deleted_at AS "deletedAt" FROM package_versions v JOIN packages p ON p.id = v.package_id
         WHERE p.name = 'shared' AND v.deleted_at IS NOT NULL`,
      )) as { deletedAt: number }[]
    ).map(({ deletedAt }) => Number(deletedAt));
  const [deletedAt] = await inTrash();

  // An upload of which the first chunk came long ago, and that goes on.
  const image = registry(server, tokens.alice);
  const begun = await image.call('POST', '/v2/alice/slow/blobs/uploads/');
  await image.call('PATCH', begun.headers.get('location')!, { body: 'first chunk' });
  const end = deletedAt! + settings.trashKeptMs;
  await db.write(({ manager }) => manager.query('UPDATE package_uploads SET updated_at = ?', [end]));

  t.match(await collectAt(end), { uploads: 0, orphans: 0 });
  t.strictSame(await inTrash(), [deletedAt], 'until its last millisecond');
  t.equal((await owners()).length, 2);
  await collectAt(end + 1);
  t.strictSame(await inTrash(), []);
  t.strictSame(await owners(), [(await modules.owners.resolve('acme'))!.id], 'the other owner has it still');
  t.equal((await send('GET', '/packages/acme/generic/shared/1.0/file.txt', { auth })).text, 'of two owners');
  t.equal((await keys('package-uploads/')).length, 1, 'the chunk is there');
  await collectAt(end + settings.uploadGraceMs + 1);
  t.equal((await keys('package-uploads/')).length, 0, 'nobody goes on with it');
});
