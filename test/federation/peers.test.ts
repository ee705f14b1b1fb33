import t from 'tap';
import { sendRequest } from '../fixtures/web-fixture.ts';
import { insertRow } from '../fixtures/test-database.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { entriesFor } from '../../src/federation/peers/allowlist.ts';
import { startFakePeer } from './fake-peer.ts';
import { openFederation } from './federation-fixture.ts';
import { freePort } from '../fixtures/free-port.ts';
import { startPair, startPeer } from './two-instances.ts';

t.test('SPEC §5 the allowlist compares exact host names; a port has to be named, except in development', async (t) => {
  const table: [url: string, dev: boolean, entries: string[]][] = [
    ['https://forge.example/x', false, ['forge.example', 'forge.example:443']],
    ['https://FORGE.example/x', false, ['forge.example', 'forge.example:443']],
    ['https://forge.example:443/x', false, ['forge.example', 'forge.example:443']],
    ['https://forge.example:8443/x', false, ['forge.example:8443']],
    ['https://forge.example./x', false, ['forge.example.', 'forge.example.:443']],
    ['https://a.forge.example/', false, ['a.forge.example', 'a.forge.example:443']],
    ['http://127.0.0.2:3000/', true, ['127.0.0.2', '127.0.0.2:3000']],
    ['http://127.0.0.2/', true, ['127.0.0.2', '127.0.0.2:80']],
    ['https://[::1]:8443/', false, ['[::1]:8443']],
  ];
  for (const [url, dev, entries] of table) t.same(entriesFor(new URL(url), dev), entries, url);
});

t.test('SPEC §5 an empty allowlist denies every server', async (t) => {
  const { federation } = await openFederation(t, { allow: [] });
  const peer = await startFakePeer(t);
  peer.addActor('/users/x');
  const { modules } = await openFederation(t, { allow: [] });
  const alice = await modules.accounts.addPerson({ username: 'alice' });
  await t.rejects(federation.follow(alice.id, `${peer.origin}/users/x`), /not on this server's peer list/);
  t.equal(peer.connections(), 0);
});

t.test('two administrators pair their servers: a code, an acceptance, a confirmation', async (t) => {
  const { home, away, alice, bob } = await startPair(t, { home: { allow: [] }, away: { allow: [] } });
  const [inviting, accepting] = [home.modules.federation, away.modules.federation];
  await home.modules.repositories.create(
    {
      kind: 'person',
      id: alice.id,
      username: 'alice',
      isAdministrator: false,
      via: 'session',
      scope: 'admin',
      repositoryIds: null,
    },
    { name: 'tool', visibility: 'PUBLIC' },
  );
  const unreachable = () =>
    accepting.follow(bob.id, `alice/tool@${home.host}`).then(
      () => 'followed',
      (error: Error) => error.message,
    );
  t.match(await unreachable(), /peer list/);

  const { code } = await inviting.invitePeer();
  t.match(code, new RegExp(`^${home.origin}/ap/pairing#[\\w-]{22}$`));
  t.equal(accepting.hostOfCode(code), home.host, 'who accepts sees with whom');
  t.equal(await accepting.acceptInvite(code), home.host);
  t.match(await accepting.listPeers(), [{ host: home.host, allowed: 'pairing' }], 'the one has confirmed by accepting');
  t.match(await inviting.listPeers(), [{ host: away.host, allowed: 'no', askedAt: Number }], 'the other is asked');
  t.match(
    (await accepting.checkPeer(home.host)).at(-1),
    { name: 'signature', ok: false },
    'and nothing is accepted before',
  );
  await inviting.confirmPeer(away.host);
  t.match(await inviting.listPeers(), [{ host: away.host, allowed: 'pairing', askedAt: null }]);

  t.equal(await accepting.follow(bob.id, `alice/tool@${home.host}`).then(({ kind }) => kind), 'repository');
  await accepting.drain();
  await inviting.drain();
  t.match((await accepting.followingOf(bob.id)).repositories, [{ status: { state: 'ACCEPTED' } }]);

  await inviting.removePeer(away.host);
  t.match(
    (await accepting.checkPeer(home.host)).map(({ name, ok }) => [name, ok]),
    [
      ['allowed', true],
      ['resolve', true],
      ['webfinger', true],
      ['actor', true],
      ['clock', true],
      ['signature', false],
    ],
  );
  t.match(
    (await accepting.checkPeer(home.host)).at(-1)!.words,
    new RegExp(`it answered 401: it must allow ${away.host}`),
  );
  t.match(
    (await inviting.checkPeer(away.host)).map(({ ok }) => ok),
    [false, null, null, null, null, null],
  );
  await t.rejects(inviting.removePeer(away.host), /No pairing with/);
  await t.rejects(inviting.confirmPeer(away.host), /has not requested one/);
});

t.test('a pairing code works once, for 15 minutes, and only where it was not made', async (t) => {
  const clock = fixedClock(Date.now());
  const home = await startPeer(t, { host: '127.0.0.1', allow: [], clock });
  const away = await startPeer(t, { host: '127.0.0.2', allow: [] });
  const accept = (code: string) =>
    away.modules.federation.acceptInvite(code).then(
      () => '',
      (error: Error) => error.message,
    );
  const { code } = await home.modules.federation.invitePeer();
  t.equal(await accept(code), '');
  t.match(await accept(code), /does not accept this code/, 'a second time');
  t.match(await away.modules.federation.listPeers(), [{ allowed: 'pairing' }], 'what was paired stays paired');

  await away.modules.federation.removePeer(home.host);
  const old = await home.modules.federation.invitePeer();
  clock.advance(15 * 60_000);
  t.match(await accept(old.code), /does not accept this code/, 'too late');
  t.match(await accept(code.replace(/#.*/, `#${'A'.repeat(22)}`)), /does not accept this code/, 'a guess');
  t.match(await away.modules.federation.listPeers(), [{ host: home.host, allowed: 'no' }], 'and nothing stays allowed');
  for (const nonsense of [
    '',
    'x',
    home.origin,
    `${home.origin}/ap/pairing`,
    `${home.origin}/elsewhere#${'A'.repeat(22)}`,
    `ftp://x/ap/pairing#${'A'.repeat(22)}`,
    `${away.origin}/ap/pairing#${'A'.repeat(22)}`,
  ]) {
    t.match(await accept(nonsense), /not a pairing code|created on this server/, nonsense);
  }
  const port = await freePort('127.0.0.4');
  t.match(await accept(`http://127.0.0.4:${port}/ap/pairing#${'A'.repeat(22)}`), /did not respond/);
  t.equal((await away.modules.federation.listPeers()).filter(({ allowed }) => allowed === 'pairing').length, 0);
});

t.test(
  'a server that asks to be paired without a code gets a 404, changes nothing and makes us contact nobody',
  async (t) => {
    const home = await startPeer(t, { host: '127.0.0.1', allow: [] });
    const sentinel = await startFakePeer(t, { host: '127.0.0.9' });
    const { code } = await home.modules.federation.invitePeer();
    const secret = code.split('#')[1];
    const post = async (body: string) =>
      (await sendRequest({ port: Number(new URL(home.origin).port) }, '/ap/pairing', { method: 'POST', body })).status;
    for (const body of [
      '',
      '{}',
      '[]',
      'x',
      JSON.stringify({ code: 'A'.repeat(22), origin: sentinel.origin }),
      JSON.stringify({ code: secret }),
      JSON.stringify({ code: secret, origin: `${sentinel.origin}/path` }),
      JSON.stringify({ code: secret, origin: 'file:///etc/passwd' }),
      JSON.stringify({ code: [secret], origin: sentinel.origin }),
      JSON.stringify({ code: { $gt: '' }, origin: sentinel.origin }),
    ])
      t.equal(await post(body), 404, body);
    t.equal(await post('x'.repeat(5000)), 413);
    t.same(await home.modules.federation.listPeers(), []);
    t.equal(await post(JSON.stringify({ code: secret, origin: sentinel.origin })), 202, 'with the code it may ask');
    t.match(await home.modules.federation.listPeers(), [{ host: sentinel.host, allowed: 'no', askedAt: Number }]);
    t.equal(sentinel.connections(), 0);
  },
);

t.test('peers are listed with how they do', async (t) => {
  const stage = await openFederation(t, { allow: ['127.0.0.3', 'forge.example'] });
  t.match(await stage.federation.listPeers(), [
    { host: '127.0.0.3', allowed: 'settings', lastSuccessAt: null, lastError: null, queued: 0, failed: 0 },
    { host: 'forge.example', allowed: 'settings' },
  ]);
  await t.rejects(stage.federation.removePeer('forge.example'), /SERVICE_FEDERATION_PEER_ALLOWLIST/);
  const checks = await stage.federation.checkPeer('forge.example');
  t.match(
    checks.map(({ name, ok }) => [name, ok]),
    [
      ['allowed', true],
      ['resolve', false],
      ['webfinger', null],
      ['actor', null],
      ['clock', null],
      ['signature', null],
    ],
  );
});

t.test('actors that nobody has asked for in thirty days are forgotten, those that are followed are kept', async (t) => {
  const { federation, modules, clock } = await openFederation(t);
  const { db, accounts } = modules;
  const alice = await accounts.addPerson({ username: 'alice' });
  const day = 86_400_000;
  const names = ['stranger', 'recent', 'repository', 'person'];
  const actorOf = (name: string) => `https://away.example/${name}`;
  const fetchedAt = clock.now();
  await db.write(async (tx) => {
    for (const name of names)
      await insertRow(tx, 'remote_actors', {
        id: actorOf(name),
        host: 'away.example',
        type: 'Person',
        name,
        handle: name,
        inbox: `${actorOf(name)}/inbox`,
        key_id: `${actorOf(name)}#key`,
        public_key_pem: '',
        fetched_at: name === 'recent' ? fetchedAt + 1 : fetchedAt,
      });
    const follow = { user_id: alice.id, host: 'away.example', handle: 'x', created_at: 1 };
    await insertRow(tx, 'remote_follows', {
      ...follow,
      id: 'a',
      remote_actor_id: actorOf('repository'),
      remote_inbox: 'x',
      follow_id: 'x',
      state: 'ACCEPTED',
    });
    await insertRow(tx, 'remote_user_follows', {
      ...follow,
      id: 'b',
      remote_actor_id: actorOf('person'),
      next_scan_at: 1,
    });
  });
  const left = async () => {
    await federation.removeOld();
    return ((await db.read.query('SELECT name FROM remote_actors ORDER BY name')) as { name: string }[]).map(
      ({ name }) => name,
    );
  };
  clock.advance(30 * day);
  t.strictSame(await left(), [...names].sort(), 'thirty days are not over');
  clock.advance(1);
  t.strictSame(await left(), ['person', 'recent', 'repository']);
});
