// `hearth federation …` and `hearth delivery …`, against a peer that is not ours; and the pages that say the same.
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';
import { keysNumber, startFakePeer } from './fake-peer.ts';
import { startPeer } from './two-instances.ts';

const home = await startPeer(t, {
  host: '127.0.0.1',
  allow: ['127.0.0.3'],
  env: { SERVICE_FEDERATION_MAX_ATTEMPTS: '1' },
});
const peer = await startFakePeer(t);
const alice = await home.addPerson('alice');
await home.modules.repositories.create(localAdministrator, { owner: 'alice', name: 'garden', visibility: 'PUBLIC' });
peer.addActor(
  '/r/bob/tool',
  { type: 'Repository', preferredUsername: 'bob/tool', url: `${peer.origin}/bob/tool` },
  keysNumber(1),
);
peer.addActor('/u/carol', { preferredUsername: 'carol', repositories: `${peer.origin}/u/carol/r` }, keysNumber(1));
peer.respond('/u/carol/r', { type: 'OrderedCollection', totalItems: 0, orderedItems: [] });

async function outputOf(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(words, {
    cwd: home.folder,
    openModules: async (config) => ({ ...home.modules, config, close: async () => {} }),
    env: { SERVICE_DATA_DIR: path.join(home.folder, 'data') },
  });
  return `${stdout}${stderr === '' ? '' : `[stderr] ${stderr}`}[${code}]`
    .replaceAll(peer.host, 'PEER')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
}
const json = async (...words: string[]): Promise<unknown> =>
  JSON.parse((await outputOf(...words, '--json')).replace(/\[\d+\]$/, ''));

t.test('federation status shows counts and obstacles', async (t) => {
  t.match(
    await outputOf('federation', 'status'),
    /^Federation\toperational\nAddress\thttp:\/\/127\.0\.0\.1:\d+\nPeers\t1 allowed\nDeliveries\t0 queued, 0 failed\n\[0\]$/,
  );
  t.strictSame(await json('federation', 'status'), {
    operational: true,
    reason: null,
    reasons: [],
    obstacles: [],
    baseUrl: home.origin,
    peers: ['127.0.0.3'],
    openFollowers: false,
    queue: { pending: 0, failed: 0, oldestPendingMs: null },
  });
  const status = async (env: Record<string, string>) =>
    JSON.parse(
      (
        await runCli(['federation', 'status', '--json'], {
          cwd: home.folder,
          env: { SERVICE_DATA_DIR: path.join(home.folder, 'data'), ...env },
        })
      ).stdout,
    );
  t.match(await status({}), {
    operational: false,
    reason: 'switch_off',
    reasons: ['switch_off', 'base_url_missing'],
    baseUrl: null,
    peers: [],
    queue: { pending: 0, failed: 0 },
  });
  t.match(await status({ SERVICE_FEDERATION_ENABLED: 'true', SERVICE_FEDERATION_BASE_URL: 'http://localhost:3000' }), {
    operational: false,
    reason: 'base_url_loopback',
    reasons: ['base_url_loopback', 'base_url_not_https'],
    baseUrl: 'http://localhost:3000',
  });
  const off = await runCli(['federation', 'status'], {
    cwd: home.folder,
    env: { SERVICE_DATA_DIR: path.join(home.folder, 'data') },
  });
  t.match(off.stdout, /^Federation\toff\nMissing\tThe switch is off.*\nMissing\tThe base URL is missing/);
});

t.test('federation follow, follows and unfollow', async (t) => {
  t.match(
    await outputOf('federation', 'follow', `${peer.origin}/r/bob/tool`, '--user', 'alice'),
    'alice requested to follow bob/tool@PEER: PENDING until the other server accepts.\n[0]',
  );
  t.match(
    await outputOf('federation', 'follow', `${peer.origin}/u/carol`, '--user', 'alice'),
    /^alice follows carol@PEER. Hearth sends follow requests for each/,
  );
  t.match(
    await outputOf('federation', 'follow', 'x@other.example', '--user', 'alice'),
    /could not resolve handle.*hint: .*hearth federation peer test.*\[2\]$/s,
  );
  t.match(await outputOf('federation', 'follow', 'x@other.example', '--user', 'nobody'), /\[3\]$/);
  const listed = await outputOf('federation', 'follows');
  // The job of every ten seconds may have sent it on a slow day.
  t.match(
    listed,
    /^alice\tbob\/tool@PEER\tPENDING\t<time>\t(?:not sent yet|the other server took it and has not answered yet)$/m,
  );
  t.match(listed, /^alice\tcarol@PEER\tPERSON\t<time>\t0 repositories through them$/m);
  t.match(
    ((await json('federation', 'follows', '--user', 'alice')) as { kind: string }[]).find(
      ({ kind }) => kind === 'repository',
    ),
    { user: 'alice', state: 'PENDING', why: /not sent yet|has not answered yet/, viaUserActorId: null },
  );
  t.match(
    await outputOf('federation', 'follow', `${peer.origin}/r/bob/tool`, '--user', 'alice'),
    'alice has already requested to follow bob/tool@PEER: PENDING until the other server accepts.\n[0]',
  );
  await home.modules.db.write(({ manager }) =>
    manager.query(`UPDATE remote_follows SET state = 'ACCEPTED', accepted_at = 1 WHERE remote_actor_id = ?`, [
      `${peer.origin}/r/bob/tool`,
    ]),
  );
  t.match(
    await outputOf('federation', 'follow', `${peer.origin}/r/bob/tool`, '--user', 'alice'),
    'alice already follows bob/tool@PEER.\n[0]',
  );
  t.match(await json('federation', 'follow', `${peer.origin}/r/bob/tool`, '--user', 'alice'), {
    state: 'ACCEPTED',
    handle: 'bob/tool@PEER',
  });
  t.match(
    await outputOf('federation', 'follow', `${peer.origin}/u/carol`, '--user', 'alice'),
    /^alice already follows carol@PEER\. /,
  );
  await home.modules.db.write(({ manager }) => manager.query(`UPDATE remote_follows SET state = 'PENDING'`));
  t.match(await outputOf('federation', 'resync'), 'Checked 1 users. Newly followed repositories: 0.\n[0]');
  t.match(
    await outputOf('federation', 'unfollow', `carol@${peer.host}`, '--user', 'alice'),
    'alice no longer follows carol@PEER.\n[0]',
  );
  t.match(await outputOf('federation', 'unfollow', 'nothing', '--user', 'alice'), /\[3\]$/);
});

t.test('federation peers lists servers and tests one', async (t) => {
  await home.modules.federation.drain();
  t.match(await outputOf('federation', 'peers'), /^PEER\tsettings\t\t<time>\t\t0\t0\n\[0\]$/);
  t.equal(await outputOf('federation', 'peer', 'list'), await outputOf('federation', 'peers'));
  t.match(
    await outputOf('federation', 'peer', 'test', peer.host),
    /^allowed\tok\t[^]*actor\tfailed\t[^]*signature\t-\tnot tried\n\[7\]$/,
  );
  t.match(await json('federation', 'peer', 'test', 'other.example'), [
    { step: 'allowed', ok: false },
    { step: 'resolve', ok: null },
    {},
    {},
    {},
    {},
  ]);
});

t.test('federation actor show prints the document of a local or remote actor', async (t) => {
  t.match(
    await outputOf('federation', 'actor', 'show', `${peer.origin}/r/bob/tool`),
    /^Id\thttp:\/\/PEER\/r\/bob\/tool\nType\tRepository\nHandle\tbob\/tool\n/,
  );
  const host = new URL(home.origin).host;
  t.match(await json('federation', 'actor', 'show', `alice/garden@${host}`), {
    id: `${home.origin}/ap/repos/alice/garden`,
    type: ['Repository', 'Service'],
  });
  t.match(await json('federation', 'actor', 'show', `${home.origin}/ap/users/alice`), {
    type: 'Person',
    publicKey: { publicKeyPem: /PUBLIC/ },
  });
  t.match(await outputOf('federation', 'actor', 'show', `alice/none@${host}`), /\[3\]$/);
  t.match(await outputOf('federation', 'actor', 'show', 'x@other.example'), /\[2\]$/);
});

t.test('metrics of deliveries and the inbox contain no server names', async (t) => {
  await peer.deliver(peer.addActor('/u/metric'), `${home.origin}/ap/instance/inbox`, {
    id: peer.newId(),
    type: 'Like',
    actor: `${peer.origin}/u/metric`,
  });
  const text = (
    await sendRequest({ port: Number(new URL(home.origin).port) }, '/metrics', {
      headers: { host: new URL(home.origin).host },
    })
  ).body;
  t.match(text, /^hearth_delivery_attempts_total\{result="delivered"\} [1-9]\d*$/m);
  t.match(text, /^hearth_delivery_seconds_total [\d.]+$/m);
  t.match(text, /^hearth_delivery_in_flight 0$/m);
  t.match(text, /^hearth_federation_dead_hosts 0$/m);
  t.match(text, /^hearth_federation_inbox_total\{result="ignored"\} 1$/m);
  t.match(text, /^hearth_federation_key_fetch_total\{result="ok"\} 1$/m);
  t.notMatch(text, peer.host);
});

t.test('federation keys and followers never show a private key', async (t) => {
  const mallory = peer.addActor('/u/mallory');
  await peer.deliver(mallory, `${home.origin}/ap/repos/alice/garden/inbox`, {
    id: peer.newId(),
    type: 'Follow',
    actor: mallory.id,
    object: `${home.origin}/ap/repos/alice/garden`,
  });
  t.match(await outputOf('federation', 'followers', 'alice/garden'), /^http:\/\/PEER\/u\/mallory\t<time>\n\[0\]$/);
  t.match(await outputOf('federation', 'followers', 'alice/none'), /\[3\]$/);
  const keys = `${await outputOf('federation', 'keys')}${await outputOf('federation', 'keys', '--json')}`;
  t.match(keys, /ap\/users\/alice\t/);
  t.notMatch(keys, /PRIVATE/);
});

t.test('delivery list, show, retry and purge', async (t) => {
  peer.respond('/u/mallory/inbox', (_request, response) => void response.writeHead(500).end());
  await home.modules.federation.drain();
  const failed = (await json('delivery', 'list', '--state', 'failed')) as { id: number }[];
  t.match(failed, [
    {
      type: 'Accept',
      state: 'FAILED',
      attempts: 1,
      lastError: `${peer.host} answered 500`.replace(peer.host, 'PEER'),
      nextAttemptAt: null,
    },
  ]);
  const { id } = failed[0]!;
  t.match(await outputOf('delivery', 'show', String(id)), /^Id\t\d+\nActivity\thttp[^]*Document\t\{.*"type":"Accept"/);
  t.match(
    await outputOf('delivery', 'retry', String(id)),
    /^Created delivery \d+ \(PENDING\) to retry \d+, which stays FAILED\.\n\[0\]$/,
  );
  t.match(await outputOf('delivery', 'retry', String(id + 1)), /Only a FAILED delivery.*\[4\]$/s);
  t.match(await outputOf('delivery', 'retry'), /\[2\]$/);
  t.match(await outputOf('delivery', 'retry', 'x'), /\[2\]$/);
  t.match(
    await outputOf('delivery', 'retry', '--state', 'failed'),
    'Created 0 PENDING deliveries. The FAILED ones stay.\n[0]',
  );
  t.match(await outputOf('delivery', 'show', '99999'), /\[3\]$/);
  t.match(await outputOf('delivery', 'purge', '--older', '1h'), 'Removed 0 deliveries.\n[0]');
  t.match(await outputOf('delivery', 'purge', '--older', '0s', '--dry-run'), /^Would remove [1-9]/);
});

t.test('pairing on the command line: a code alone on stdout, a question before anything is allowed', async (t) => {
  const invited = await runCli(['federation', 'peer', 'invite'], {
    cwd: home.folder,
    openModules: async (config) => ({ ...home.modules, config, close: async () => {} }),
    env: { SERVICE_DATA_DIR: path.join(home.folder, 'data') },
  });
  t.match(invited.stdout, /^http:\/\/127\.0\.0\.1:\d+\/ap\/pairing#[\w-]{22}\n$/);
  t.match(invited.stderr, /works once within 15 minutes/);
  const code = `http://${peer.host}/ap/pairing#${'A'.repeat(22)}`;
  t.match(await outputOf('federation', 'peer', 'accept', code), /requires confirmation.*\[2\]$/s);
  t.match(await outputOf('federation', 'peer', 'accept', 'nonsense', '--yes'), /not a pairing code.*\[2\]$/s);
  t.match(await outputOf('federation', 'peer', 'confirm', 'nobody.example', '--yes'), /has not requested one.*\[3\]$/s);
  t.match(
    await outputOf('federation', 'peer', 'accept', code, '--yes'),
    'Paired with PEER. The administrator there also has to confirm.\n[0]',
  );
  t.match(
    await outputOf('federation', 'peer', 'remove', peer.host, '--yes'),
    'PEER is no longer allowed through a pairing.\n[0]',
  );
});

interface Browser {
  get(path: string): Promise<string>;
  post(
    path: string,
    form: Record<string, string>,
  ): Promise<{ status: number; body: string; location: string | undefined }>;
}

async function browserOf(id: string): Promise<Browser> {
  const { secret } = await home.modules.accounts.startSession(id, { address: '127.0.0.1', userAgent: 'test' });
  const web = { port: Number(new URL(home.origin).port) };
  const headers = { Cookie: `hearth_session=${secret}`, Origin: home.origin };
  return {
    get: async (target) => (await sendRequest(web, target, { headers })).body,
    async post(target, form) {
      const { status, body, headers: got } = await sendRequest(web, target, { form, headers });
      return { status, body, location: got.location };
    },
  };
}

t.test('SPEC §4.7 /following: login required, plain forms, states in words', async (t) => {
  const web = { port: Number(new URL(home.origin).port) };
  t.match(await sendRequest(web, '/following'), { status: 303, headers: { location: /^\/login/ } });
  const dave = await home.modules.accounts.addPerson({ username: 'dave' });
  const { get, post } = await browserOf(dave.id);
  t.match(await get('/following'), /You are not following anything yet/);
  t.match(await post('/following', { target: `${peer.origin}/r/bob/tool` }), {
    status: 303,
    location: '/following?done=repository-followed',
  });
  t.match(await get('/following'), /The request will be sent within seconds/);
  await home.modules.federation.drain();
  t.match(await get('/following'), /The other server accepted the request and has not answered yet/);
  const refused = await post('/following', { target: 'bob/x@other.example' });
  t.match(refused, { status: 422, body: /Could not resolve handle/ });
  t.match(refused.body, /value="bob\/x@other\.example"/, 'what was typed is kept');
  t.match(await post('/following', { target: '<script>alert(1)</script>' }), { status: 422, body: /&lt;script&gt;/ });

  const [, id] = /\/following\/([0-9a-f-]{36})\/unfollow/.exec(await get('/following')) ?? [];
  t.match(await post(`/following/${id}/retry`, {}), { status: 303 });
  t.match((await (await browserOf(alice.id)).post(`/following/${id}/unfollow`, {})).status, 404, "another person's");
  t.match(await post(`/following/${id}/unfollow`, {}), { status: 303, location: '/following?done=unfollowed' });
  t.match(await get('/following'), /You are not following anything yet/);
});

t.test('security C01 text of a peer is shown as text', async (t) => {
  const erin = await home.modules.accounts.addPerson({ username: 'erin' });
  const evil = peer.addActor(
    '/r/x',
    {
      type: 'Repository',
      preferredUsername: '<img/src=x>',
      name: '"><script>',
      url: `${peer.origin}/"onmouseover="alert(1)`,
    },
    keysNumber(1),
  );
  await home.modules.federation.follow(erin.id, evil.id);
  const markup = '<img src=x onerror=alert(1)>';
  await peer.deliver(evil, `${home.origin}/ap/instance/inbox`, {
    id: peer.newId(),
    type: 'Push',
    actor: evil.id,
    target: { ref: `refs/heads/${markup}` },
    object: [{ hash: 'a'.repeat(40), summary: `&lt;img src=x&gt;${markup}<b>bold</b>` }],
  });
  const body = await (await browserOf(erin.id)).get('/following');
  t.notMatch(body, /<img|<script>|onmouseover="alert/);
  t.match(body, /&lt;img\/src=x&gt;@/);
});

t.test('/admin/federation is for administrators, and does what the command line does', async (t) => {
  t.match(await (await browserOf(alice.id)).get('/admin/federation'), /Page not found/);
  const root = await home.modules.accounts.addPerson({ username: 'root-of-all', isAdministrator: true });
  const { get, post } = await browserOf(root.id);
  t.match(await get('/admin/federation'), /Other servers/);
  t.comment('follows: for a person, listed, asked again, ended');
  t.match(await get('/admin/federation/follows?user=root-of-all'), /of-all does not follow anything/);
  t.match(await get('/admin/federation/follows?user=nobody-here&page=x'), /nobody-here does not follow anything/);
  t.match(await post('/admin/federation/follows', { user: 'root-of-all', target: `${peer.origin}/r/bob/tool` }), {
    status: 303,
    location: '/admin/federation/follows?done=follow-added-for',
  });
  t.match(await post('/admin/federation/follows', { user: 'nobody-here', target: `${peer.origin}/r/bob/tool` }), {
    status: 422,
    body: /No user has this username/,
  });
  t.match(await post('/admin/federation/follows', { user: 'root-of-all', target: 'bob/x@other.example' }), {
    status: 422,
    body: /Could not resolve handle/,
  });
  const listed = await get('/admin/federation/follows?user=root-of-all');
  t.match(listed, /bob\/tool@[^]*by root-of-all[^]*The request will be sent within seconds/);
  const [, follow] = /follows\/([0-9a-f-]{36})\/unfollow/.exec(listed) ?? [];
  t.match(await post(`/admin/federation/follows/${follow}/retry`, {}), { status: 303 });
  t.match(await post(`/admin/federation/follows/${follow}/unfollow`, {}), { status: 303 });
  t.match(await post(`/admin/federation/follows/${follow}/unfollow`, {}), { status: 404 });
  t.match(await get('/admin/federation/follows?user=root-of-all'), /of-all does not follow anything/);
  t.match(await post('/admin/federation/follows', { user: 'root-of-all', target: `${peer.origin}/u/carol` }), {
    status: 303,
  });
  t.match(await get('/admin/federation/follows?user=root-of-all'), /0 repositories followed through this user/);
  t.match(await post('/admin/federation/follows/resync', {}), {
    status: 200,
    body: /Checked 1 user\.[^]*No new repositories/,
  });
  t.match(await get('/admin/federation/followers'), /Enter a repository/);
  t.match(await get('/admin/federation/followers?repository=alice/garden'), new RegExp(`${peer.host}/u/mallory`));
  for (const unknown of ['alice', 'alice/none', 'a/b/c'])
    t.match(await get(`/admin/federation/followers?repository=${unknown}`), /was not found/);
  t.match(await get('/admin/federation/actors'), /ap\/users\/alice#main-key/);
  t.notMatch(await get('/admin/federation/actors'), /PRIVATE/);
  t.match(await get('/admin/federation/actors?page=99'), /Earlier</);
  t.comment('deliveries');
  t.match(await get('/admin/federation/deliveries?state=failed'), /answered 500/);
  t.match(await get('/admin/federation/deliveries?state=failed&host=other.example'), /No delivery matches/);
  t.match(await get('/admin/federation/deliveries?state=failed&before=1'), /No delivery matches/);
  t.match(await post('/admin/federation/deliveries/retry', { host: 'other.example' }), { status: 303 });
  t.match(await post('/admin/federation/test', { host: peer.host }), { status: 200, body: /it answers/ });
  t.match(await post('/admin/federation/test', { host: 'no host' }), { status: 422 });
  for (const id of ['x', '0', '99999', '1e9', '-1']) {
    t.match(await get(`/admin/federation/deliveries/${id}`), /Page not found/);
    t.match(await post(`/admin/federation/deliveries/${id}/retry`, {}), { status: 404 });
  }
  t.match(await post('/admin/federation/deliveries/purge', { days: '0' }), { status: 422 });
  await home.modules.db.write(({ manager }) =>
    manager.query("UPDATE federation_delivery SET settled_at = 1 WHERE state = 'DELIVERED'"),
  );
  const count = async () => (await home.modules.federation.listDeliveries()).length;
  const before = await count();
  t.match(await post('/admin/federation/deliveries/purge', { days: '30' }), {
    status: 200,
    body: /Remove [1-9]\d* deliver/,
  });
  t.equal(await count(), before, 'nothing goes before the second word');
  t.match(await post('/admin/federation/deliveries/purge', { days: '30', confirm: 'yes' }), { status: 303 });
  t.ok((await count()) < before);
  const { location = '' } = await post('/admin/federation/invite', {});
  t.match(await get(location), /ap\/pairing#[\w-]{22}/);
  t.notMatch(await get(location), /ap\/pairing#/, 'shown once');
  const code = `http://${peer.host}/ap/pairing#${'A'.repeat(22)}`;
  t.match(await post('/admin/federation/pair', { code }), {
    status: 200,
    body: new RegExp(`Pair with ${peer.host}\\?`),
  });
  t.match(await post('/admin/federation/pair', { code, confirm: 'yes' }), { status: 303 });
  t.match(await post('/admin/federation/remove', { host: peer.host }), { status: 303 });
  t.match(await post('/admin/federation/pair', { code: 'nonsense' }), { status: 422, body: /not a pairing code/ });
  // The job of every ten seconds may have sent it when it is looked at.
  await home.modules.federation.follow(root.id, `${peer.origin}/r/bob/tool`);
  const unfailed = (await home.modules.federation.listDeliveries()).find(({ state }) => state !== 'FAILED');
  t.match(await post(`/admin/federation/deliveries/${unfailed!.id}/retry`, {}), { status: 409 });
  t.match(await post('/admin/federation/deliveries/retry', {}), { status: 303 });
  await home.modules.audit.flush();
  const audited = (await home.modules.audit.list({ limit: 200 }))
    .filter(({ actor }) => actor === root.id)
    .map(({ event }) => event);
  t.strictSame(
    [...new Set(audited)].sort(),
    [
      'delivery.failed_retried',
      'delivery.purged',
      'follow.added_for',
      'follow.ended_for',
      'follow.resynced',
      'follow.retried_for',
      'peer.invited',
      'peer.paired',
      'peer.removed',
    ],
    'all of it is in the audit log',
  );
});
