// Shapes that other software sends: GoToSocial's and Forgejo's.
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { keysNumber, pemOf, sendRaw, sign, startFakePeer } from './fake-peer.ts';
import type { FakeActor, FakePeer } from './fake-peer.ts';
import { startPeer } from './two-instances.ts';

const hearth = await startPeer(t, { host: '127.0.0.1', allow: ['127.0.0.3'] });
const { federation, accounts, repositories, db } = hearth.modules;
await accounts.addPerson({ username: 'alice' });
await repositories.create(localAdministrator, { owner: 'alice', name: 'tool', visibility: 'PUBLIC' });
await repositories.create(localAdministrator, { owner: 'alice', name: 'other', visibility: 'PUBLIC' });
await repositories.create(localAdministrator, { owner: 'alice', name: 'secret', visibility: 'PRIVATE' });
const tool = `${hearth.origin}/ap/repos/alice/tool`;
const alice = `${hearth.origin}/ap/users/alice`;
const peer = await startFakePeer(t);

const get = (url: string, headers: [string, string][] = []) =>
  sendRaw({
    url,
    method: 'GET',
    headers: [['Host', new URL(url).host], ['User-Agent', 'gotosocial/0.20.0'], ...headers],
  });
const json = async (url: string, headers: [string, string][] = []) =>
  JSON.parse((await get(url, headers)).body) as Record<string, unknown>;
const followers = async (name = 'tool') =>
  (await federation.listFollowers('alice', name)).map(({ actorId }) => actorId).sort();
const sentTo = (path: string): Record<string, unknown>[] =>
  peer.received
    .filter((each) => each.method === 'POST' && each.path === path)
    .map(({ body }) => JSON.parse(body) as Record<string, unknown>);

/** An account as GoToSocial serves it: its key has an address of its own, where a stub of the actor is. */
function gotosocialAccount(from: FakePeer, name: string, keys = keysNumber(1)): FakeActor {
  const id = `${from.origin}/users/${name}`;
  const keyId = `${id}/main-key`;
  const publicKey = { id: keyId, owner: id, publicKeyPem: pemOf(keys) };
  const actor = from.addActor(
    `/users/${name}`,
    {
      discoverable: true,
      endpoints: { sharedInbox: `${from.origin}/sharedInbox` },
      featured: `${id}/collections/featured`,
      followers: `${id}/followers`,
      following: `${id}/following`,
      manuallyApprovesFollowers: false,
      outbox: `${id}/outbox`,
      url: `${from.origin}/@${name}`,
      publicKey,
    },
    keys,
  );
  // Without a User-Agent it answers 418, as GoToSocial does.
  const served = { ...actor.document };
  from.respond(`/users/${name}`, (request, response) =>
    request.headers['user-agent'] === undefined
      ? void response.writeHead(418).end()
      : void response.writeHead(200, { 'Content-Type': 'application/activity+json' }).end(JSON.stringify(served)),
  );
  from.respond(`/users/${name}/main-key`, { '@context': actor.document['@context'], id, type: 'Person', publicKey });
  return { ...actor, keyId };
}

/** hs2019 with an RSA key and SHA-256, and no `(created)`, as GoToSocial signs. */
async function deliverAs(actor: FakeActor, inbox: string, activity: object) {
  const body = JSON.stringify(activity);
  const headers = sign({
    url: inbox,
    body,
    keyId: actor.keyId,
    privateKey: actor.keys.privateKey,
    algorithm: 'hs2019',
  });
  return sendRaw({ url: inbox, headers: [...Object.entries(headers), ['User-Agent', 'gotosocial/0.20.0']], body });
}

t.test(
  "GoToSocial's sequence: the instance actor by WebFinger, signed reading, Follow of a person, Undo",
  async (t) => {
    const zork = gotosocialAccount(peer, 'zork');
    // 1. It looks up the signer of a request: the name of its actor document, by WebFinger.
    const instance = await json(`${hearth.origin}/ap/instance`, [['Accept', 'application/activity+json']]);
    const name = `acct:${instance['preferredUsername'] as string}@${hearth.host}`;
    const found = await json(`${hearth.origin}/.well-known/webfinger?resource=${encodeURIComponent(name)}`);
    t.match(found, { subject: name, links: [{ rel: 'self', href: instance['id'] }] });
    t.match(/^[\w.-]+$/.test(String(instance['preferredUsername'])), true, 'a name that its grammar takes');

    // 2. It reads the person, with a signature that this server does not need.
    t.match(await json(alice, [['Accept', 'application/activity+json,application/ld+json']]), {
      id: alice,
      type: 'Person',
    });

    // 3. It follows her, and is told that she cannot be followed.
    const follow = {
      '@context': 'https://www.w3.org/ns/activitystreams',
      actor: zork.id,
      id: `${zork.id}/follow/01K6NB5RXBFC0W4FRAKTBRNZ5V`,
      object: alice,
      to: alice,
      type: 'Follow',
    };
    t.equal((await deliverAs(zork, `${alice}/inbox`, follow)).status, 202);
    await federation.drain();
    t.match(sentTo('/users/zork/inbox'), [{ type: 'Reject', actor: alice, object: { id: follow.id, object: alice } }]);

    // 4. It takes the request back.
    const undo = {
      '@context': 'https://www.w3.org/ns/activitystreams',
      actor: zork.id,
      id: `${zork.id}/undo/01K6NB5RXBFC0W4FRAKTBRNZ5W`,
      object: follow,
      to: alice,
      type: 'Undo',
    };
    t.equal((await deliverAs(zork, `${alice}/inbox`, undo)).status, 202);

    // The same for a repository, which accepts.
    const wanted = { ...follow, id: `${zork.id}/follow/2`, object: tool, to: tool };
    t.equal((await deliverAs(zork, `${tool}/inbox`, wanted)).status, 202);
    t.strictSame(await followers(), [zork.id]);
    await federation.drain();
    t.match(sentTo('/users/zork/inbox').at(-1), { type: 'Accept', actor: tool, object: { id: wanted.id } });
    await deliverAs(zork, `${tool}/inbox`, { ...undo, id: `${zork.id}/undo/2`, object: wanted });
    t.strictSame(await followers(), []);
    t.notOk(
      peer.received.some(({ headers }) => headers['user-agent'] === undefined),
      'every request said who asks',
    );
  },
);

t.test('an activity without an id: ignored where nothing follows from it, done where twice is once', async (t) => {
  const lea = peer.addActor('/users/lea');
  const more = { '@context': 'https://www.w3.org/ns/activitystreams', actor: lea.id };
  const deliver = async (activity: object) =>
    (await peer.deliver(lea, `${tool}/inbox`, { ...more, ...activity })).status;
  const logged = async () => Number((await db.read.query('SELECT count(*) AS n FROM federation_inbox'))[0].n);
  const before = await logged();
  // Forgejo writes its stars so.
  t.equal(await deliver({ type: 'Like', object: tool, startTime: '2026-03-01T12:00:00Z' }), 202);
  t.equal(await deliver({ type: 'Undo', object: { type: 'Like', actor: lea.id, object: tool } }), 202);
  for (const type of ['Create', 'Announce', 'Reject', 'x']) t.equal(await deliver({ type, object: tool }), 202);
  t.equal(await deliver({ type: 'Follow', object: tool }), 401, 'an Accept would have nothing to name');
  t.equal(await deliver({ type: 'Push', object: [] }), 401);
  t.equal(await deliver({ object: tool }), 401, 'and what has no type is not an activity');
  t.equal(await deliver({ type: 'Like', id: 'urn:x', object: tool }), 401, 'an id that is there has to be its own');
  t.equal(await logged(), before, 'nothing to recognise a copy by, nothing recorded');
  t.strictSame(await followers(), []);

  const follow = { id: peer.newId(), type: 'Follow', object: tool };
  for (const object of [follow.id, { ...follow, actor: lea.id }, { type: 'Follow', actor: lea.id, object: tool }]) {
    await deliver({ ...follow });
    if ((await followers()).length === 0) await deliver({ ...follow, id: (follow.id = peer.newId()) });
    t.strictSame(await followers(), [lea.id]);
    t.equal(
      await deliver({
        type: 'Undo',
        object: typeof object === 'string' ? follow.id : { ...object, ...('id' in object ? { id: follow.id } : {}) },
      }),
      202,
    );
    t.strictSame(await followers(), [], JSON.stringify(object));
  }
});

t.test('an actor that deletes itself follows nothing any more, and nobody else is concerned', async (t) => {
  const [gone, stays] = [peer.addActor('/users/gone'), peer.addActor('/users/stays')];
  const follow = (actor: FakeActor, name: string) =>
    peer.deliver(actor, `${hearth.origin}/ap/repos/alice/${name}/inbox`, {
      id: peer.newId(),
      type: 'Follow',
      actor: actor.id,
      object: `${hearth.origin}/ap/repos/alice/${name}`,
    });
  for (const name of ['tool', 'other']) for (const actor of [gone, stays]) await follow(actor, name);
  const remove = (actor: FakeActor, object: unknown, more: object = { id: peer.newId() }) =>
    peer.deliver(actor, `${hearth.origin}/ap/instance/inbox`, { type: 'Delete', actor: actor.id, object, ...more });
  for (const object of [stays.id, `${gone.id}/notes/1`, { type: 'Tombstone', id: stays.id }, [gone.id, stays.id], null])
    t.equal((await remove(gone, object)).status, 202);
  t.strictSame([await followers(), await followers('other')], Array(2).fill([gone.id, stays.id].sort()));
  t.equal((await remove(gone, gone.id)).status, 202);
  t.strictSame([await followers(), await followers('other')], [[stays.id], [stays.id]]);
  t.equal((await remove(stays, { type: 'Person', id: stays.id }, {})).status, 202, 'without an id');
  t.strictSame([await followers(), await followers('other')], [[], []]);
  const waiting = await db.read.query(
    "SELECT last_error FROM federation_delivery WHERE state = 'PENDING' AND target_inbox IN (?, ?)",
    [gone.inbox, stays.inbox],
  );
  t.strictSame(waiting, [], 'and the Accepts that waited for them are not sent');
});

t.test('keys: named only, with a controller, and what is wrong with an actor is said by its field', async (t) => {
  const keys = keysNumber(2);
  const pem = pemOf(keys);
  const at = (path: string) => peer.origin + path;
  let number = 0;
  const tryActor = async (more: (id: string) => object, keyPath: string | null = null) => {
    const path = `/k/${(number += 1)}`;
    const id = at(path);
    const actor = peer.addActor(path, more(id) as Record<string, unknown>, keys);
    const keyId = keyPath === null ? actor.keyId : `${id}${keyPath}`;
    const { status } = await peer.deliver({ ...actor, keyId }, `${tool}/inbox`, {
      id: peer.newId(),
      type: 'Follow',
      actor: id,
      object: tool,
    });
    const line = hearth.log.findLast(
      ({ event, reason }) => event === 'federation.refused' && reason === 'signer_unknown',
    );
    return { status, isFollower: (await followers()).includes(id), why: status === 202 ? '' : String(line?.['why']) };
  };
  const ok = { status: 202, isFollower: true, why: '' };
  const serveKey = (id: string, more: object): string => {
    const keyId = `${id}/key`;
    peer.respond(new URL(keyId).pathname, { id: keyId, type: 'Key', publicKeyPem: pem, ...more });
    return keyId;
  };
  t.strictSame(await tryActor((id) => ({ publicKey: serveKey(id, { owner: id }) }), '/key'), ok, 'an IRI alone');
  t.strictSame(await tryActor((id) => ({ publicKey: [serveKey(id, { owner: id })] }), '/key'), ok, 'in a list');
  t.strictSame(await tryActor((id) => ({ publicKey: serveKey(id, { controller: id }) }), '/key'), ok, 'a controller');
  const inline = (id: string, more: object) => ({ publicKey: { id: `${id}#main-key`, publicKeyPem: pem, ...more } });
  t.strictSame(await tryActor((id) => inline(id, { controller: id })), ok, 'a controller in its own document');
  t.strictSame(await tryActor((id) => inline(id, { controller: id, owner: id })), ok, 'both names, one owner');
  const victim = peer.addActor('/k/victim', {}, keysNumber(3));
  const refused: [name: string, field: RegExp, more: (id: string) => object, keyPath?: string][] = [
    ['two owners', /publicKey/, (id) => inline(id, { controller: id, owner: victim.id })],
    ['no owner', /publicKey/, (id) => inline(id, {})],
    ['a key of another, named', /publicKey/, (id) => ({ publicKey: serveKey(id, { owner: victim.id }) }), '/key'],
    [
      'a key that the actor does not name',
      /publicKey/,
      (id) => (serveKey(id, { owner: id }), inline(id, { owner: id })),
      '/key',
    ],
    ['a named key of another host', /publicKey/, () => ({ publicKey: 'http://127.0.0.4:1/key' })],
    ['no inbox', /inbox/, () => ({ inbox: undefined })],
    ['an inbox elsewhere', /inbox/, () => ({ inbox: 'http://127.0.0.4:1/inbox' })],
    ['no type', /type/, () => ({ type: undefined })],
    ['another id', /: its id/, () => ({ id: victim.id })],
  ];
  for (const [name, field, more, keyPath = null] of refused) {
    const { status, isFollower, why } = await tryActor(more, keyPath);
    t.match({ status, isFollower, why }, { status: 401, isFollower: false, why: field }, name);
  }
});
