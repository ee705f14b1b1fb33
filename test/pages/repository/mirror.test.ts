import t from 'tap';
import { gitClient } from '../../e2e/git-client.ts';
import { startHearth } from '../../fixtures/start-hearth.ts';
import { addCommit, hasSshd, createBareRepository, startSshRemote } from '../../mirrors/remote-servers.ts';
import { sendRequest } from '../../fixtures/web-fixture.ts';
import type { PageResponse } from '../../fixtures/web-fixture.ts';

t.setTimeout(120_000);

const canTrySsh = hasSshd() ? {} : { skip: 'needs an sshd that can be started here' };

t.test('a repository is imported, stays a mirror, is paused, and becomes an ordinary one', async (t) => {
  const there = await startHearth(t);
  const here = await startHearth(t, {
    env: { SERVICE_MIRRORS_ALLOWED_HOSTS: new URL(there.url).host },
  });
  const [carol, alice, bob] = [
    await there.addPerson('carol'),
    await here.addPerson('alice'),
    await here.addPerson('bob'),
  ];
  const viewer = {
    kind: 'person',
    id: carol.id,
    username: 'carol',
    isAdministrator: false,
    via: 'session',
    scope: 'admin',
    repositoryIds: null,
  } as const;
  await there.modules.repositories.create(viewer, { name: 'tool', visibility: 'PUBLIC' });
  const git = gitClient(here.folder);
  const work = `${here.folder}/work`;
  await git.expect(here.folder, 'init', '--quiet', '-b', 'main', work);
  await git.expect(work, 'commit', '--quiet', '--allow-empty', '-m', 'one');
  await git.expect(
    work,
    'push',
    '--quiet',
    there.url.replace('://', `://x:${carol.token}@`) + '/git/carol/tool.git',
    'main',
  );
  const address = `${there.url}/git/carol/tool.git`;
  const at = { owner: 'carol', name: 'tool' };
  await there.modules.releases.create(viewer, at, { tag: 'v1', title: 'The first', body: 'Notes of carol' });

  const port = Number(new URL(here.url).port);
  const get = (session: string, path: string): Promise<PageResponse> =>
    sendRequest({ port }, path, { headers: { Cookie: `hearth_session=${session}` } });
  const post = (session: string, path: string, form: Record<string, string> = {}): Promise<PageResponse> =>
    sendRequest({ port }, path, { form, headers: { Origin: here.url, Cookie: `hearth_session=${session}` } });

  t.match((await get(alice.session, '/repos/new')).body, /Import from another server/);
  const wanted = {
    name: 'tool',
    visibility: 'PRIVATE',
    import_username: 'carol',
    import_secret: 'not to be seen',
    import_mirror: 'yes',
    import_releases: 'yes',
  };
  const refused = await post(alice.session, '/repos', { ...wanted, import_address: `${there.url}/git/carol/none.git` });
  t.equal(refused.status, 422);
  t.match(refused.body, /username and a password[^]*none\.git/);
  t.notMatch(refused.body, /not to be seen/);
  t.match(refused.body, /name="import_releases" value="yes" checked/);
  t.match(await post(alice.session, '/repos', { ...wanted, import_address: 'https://10.0.0.1/x.git' }), {
    status: 422,
    body: /mirrors\.allowed_hosts/,
  });

  const page = '/repos/alice/tool/settings/mirror';
  const begun = await post(alice.session, '/repos', {
    name: 'tool',
    visibility: 'PUBLIC',
    import_address: address,
    import_mirror: 'yes',
    import_releases: 'yes',
  });
  t.same([begun.status, begun.headers.location], [303, `${page}?done=import-begun`]);
  await here.modules.mirrors.runDue();
  t.match((await get(alice.session, page)).body, /Pull mirror[^]*Up to date/);
  t.match((await get(alice.session, page)).body, /name="releases" value="yes" checked/);
  t.match((await get(alice.session, '/repos/alice/tool/releases')).body, /The first[^]*Notes of carol/);
  t.match((await get(alice.session, '/repos/alice/tool/branches')).body, /main/);
  t.match((await get(alice.session, '/repos/alice/tool/activity')).body, /by the mirror/);
  t.equal((await get(bob.session, page)).status, 404);
  t.equal((await post(bob.session, `${page}/sync`)).status, 404);

  t.match((await post(alice.session, `${page}/pause`)).headers.location, /mirror-paused/);
  t.match((await get(alice.session, page)).body, /Paused[^]*Resume/);
  t.match((await post(alice.session, `${page}/resume`)).headers.location, /mirror-resumed/);
  t.match(
    (await post(alice.session, page, { direction: 'pull', address, interval: '24', prune: 'yes' })).headers.location,
    /mirror-saved/,
  );
  t.match(await post(alice.session, page, { direction: 'push', address, interval: '24', releases: 'yes' }), {
    status: 422,
    body: /Only pull mirrors[^]*name="releases" value="yes" checked/,
  });
  t.match((await get(alice.session, page)).body, /value="24" selected/);
  t.match((await post(alice.session, `${page}/sync`)).headers.location, /mirror-sync/);
  await here.modules.mirrors.runDue();
  const call = (token: string | null, method: string, path = '', body?: object): Promise<PageResponse> =>
    sendRequest({ port }, `/api/v1/repos/alice/tool/mirror${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', ...(token === null ? {} : { Authorization: `Bearer ${token}` }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  t.match(JSON.parse((await call(alice.token, 'GET')).body), {
    direction: 'pull',
    address,
    state: 'ok',
    hasSecret: false,
    releases: false,
    intervalMs: 86_400_000,
  });
  t.same([(await call(bob.token, 'GET')).status, (await call(null, 'GET')).status], [404, 401]);
  t.equal((await call(alice.token, 'PUT', '', { direction: 'pull', address: 'https://10.0.0.1/x.git' })).status, 422);
  t.match(
    JSON.parse(
      (await call(alice.token, 'PUT', '', { direction: 'pull', address, intervalMs: 3_600_000, releases: true })).body,
    ),
    { intervalMs: 3_600_000, releases: true },
  );
  t.equal((await call(alice.token, 'POST', '/pause')).status, 204);
  t.match(JSON.parse((await call(alice.token, 'GET')).body), { state: 'paused', nextAt: null });
  t.equal((await call(alice.token, 'POST', '/resume')).status, 204);
  t.equal((await call(alice.token, 'POST', '/sync')).status, 204);
  await here.modules.mirrors.runDue();
  t.match(await post(alice.session, `${page}/end`, { confirm: 'tool' }), {
    status: 422,
    body: /Type alice\/tool to confirm/,
  });
  t.match((await post(alice.session, `${page}/end`, { confirm: 'alice/tool' })).headers.location, /mirror-ended/);
  t.match(await post(alice.session, `${page}/sync`), { status: 409, body: /is not a mirror/ });
  t.match((await get(alice.session, page)).body, /is not mirrored/);
  t.same([(await call(alice.token, 'GET')).status, (await call(alice.token, 'DELETE')).status], [404, 409]);
});

t.test('by ssh a page shows the key to add, the host key to compare, and the risk of http', canTrySsh, async (t) => {
  const there = await startSshRemote(t);
  const here = await startHearth(t, { env: { SERVICE_MIRRORS_ALLOWED_HOSTS: there.host } });
  const [alice, bob] = [await here.addPerson('alice'), await here.addPerson('bob')];
  createBareRepository(there.folder, 'tool.git');
  const port = Number(new URL(here.url).port);
  const get = (session: string, path: string): Promise<PageResponse> =>
    sendRequest({ port }, path, { headers: { Cookie: `hearth_session=${session}` } });
  const post = (session: string, path: string, form: Record<string, string> = {}): Promise<PageResponse> =>
    sendRequest({ port }, path, { form, headers: { Origin: here.url, Cookie: `hearth_session=${session}` } });
  const risk = /Without TLS, anyone on the network path can read the password and the code/;

  t.match((await get(alice.session, '/repos/new')).body, risk);
  const wanted = { name: 'tool', visibility: 'PRIVATE', import_address: `${there.url}/tool.git`, import_mirror: 'yes' };
  t.match(await post(alice.session, '/repos', { ...wanted, import_secret: 'a password' }), {
    status: 422,
    body: /cannot contain a password/,
  });
  t.match(await post(alice.session, '/repos', { ...wanted, import_address: 'git@git.example.org:x.git' }), {
    status: 422,
    body: /mirrors\.allowed_hosts = \[&quot;git\.example\.org&quot;\]/,
  });
  const page = '/repos/alice/tool/settings/mirror';
  t.equal((await post(alice.session, '/repos', wanted)).headers.location, `${page}?done=import-key`);
  const waiting = (await get(alice.session, page)).body;
  t.match(waiting, risk);
  t.match(waiting, /Waiting for its key on the remote[^]*Add this public key on <strong>127\.0\.0\.1:\d+<\/strong>/);
  t.match(waiting, `ED25519 ${there.fingerprint()}`);
  t.match(waiting, `action="${page}/sync"`);
  t.notMatch(waiting, /PRIVATE KEY|settings\/mirror\/pause|Accept the new host key/);
  const [, key = ''] = /id="public-key"[^>]*value="(ssh-ed25519 [^"]+)"/.exec(waiting) ?? [];
  there.allow(key);
  t.match((await post(alice.session, `${page}/sync`)).headers.location, /mirror-sync/);
  await here.modules.mirrors.runDue();
  t.match((await get(alice.session, page)).body, /Up to date/);

  await there.changeHostKey();
  addCommit(`${there.folder}/tool.git`, 'main', 'two');
  await post(alice.session, `${page}/sync`);
  await here.modules.mirrors.runDue();
  const stopped = (await get(alice.session, page)).body;
  t.match(stopped, /Stopped: host key changed[^]*presents now:/);
  const fingerprint = `ED25519 ${there.fingerprint()}`;
  t.match(stopped, `name="fingerprint" value="${fingerprint}"`);
  t.equal((await post(bob.session, `${page}/host-key`, { fingerprint })).status, 404);
  t.match(await post(alice.session, `${page}/host-key`, { fingerprint: 'SHA256:other' }), {
    status: 409,
    body: /is not the fingerprint that you confirmed/,
  });
  const call = (token: string, method: string, path: string, body?: object): Promise<PageResponse> =>
    sendRequest({ port }, `/api/v1/repos/alice/tool/mirror${path}`, {
      method,
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  t.match(JSON.parse((await call(alice.token, 'GET', '')).body), {
    state: 'host key changed',
    publicKey: key,
    offeredHostKeyFingerprint: fingerprint,
    hasSecret: false,
  });
  t.equal((await call(bob.token, 'POST', '/host-key', { fingerprint })).status, 404);
  t.equal((await call(alice.token, 'POST', '/host-key', { fingerprint: 'SHA256:other' })).status, 409);
  t.match((await post(alice.session, `${page}/host-key`, { fingerprint })).headers.location, /mirror-host-key/);
  await here.modules.mirrors.runDue();
  t.match((await get(alice.session, page)).body, /Up to date/);
  t.equal((await call(alice.token, 'POST', '/host-key', { fingerprint })).status, 409, 'nothing to accept any more');

  const input = { direction: 'pull', address: `${there.url}/tool.git` };
  t.match(JSON.parse((await call(alice.token, 'PUT', '', { ...input, newKey: true })).body), {
    state: 'waiting for key',
    hostKeyFingerprint: fingerprint,
  });
  t.match(
    (await post(alice.session, page, { ...input, interval: '8', new_key: 'yes' })).headers.location,
    /mirror-key/,
  );
});
