// Mastodon's requests in their shapes: what it signs and in which order, its Accept headers, its activities. Those of
// 4.5: signatures by draft-cavage, actors that are checked by WebFinger in both directions.
import { createHash, createSign } from 'node:crypto';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { keysNumber, pemOf, sendRaw, startFakePeer } from './fake-peer.ts';
import type { FakeActor, FakePeer } from './fake-peer.ts';
import { startPeer } from './two-instances.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const hearth = await startPeer(t, {
  host: '127.0.0.1',
  allow: ['127.0.0.3'],
  env: { SERVICE_FEDERATION_OPEN_FOLLOWERS: 'true' },
});
const { federation, accounts, repositories, issues, db } = hearth.modules;
const alice = await accounts.addPerson({ username: 'alice', displayName: 'Alice' });
const { id: toolId } = await repositories.create(localAdministrator, {
  owner: 'alice',
  name: 'tool',
  visibility: 'PUBLIC',
});
await repositories.create(localAdministrator, { owner: 'alice', name: 'secret', visibility: 'PRIVATE' });
await federation.chooseNotes(toolId, { pushes: true, releases: true, issues: true, pulls: true });
const tool = `${hearth.origin}/ap/repos/alice/tool`;

const activityStreams = 'https://www.w3.org/ns/activitystreams';
const publicAudience = `${activityStreams}#Public`;
const userAgent = 'Mastodon/4.5.0 (http.rb/5.3.1; +https://social.example.org/)';

/** A server of each kind: on the list, and followers from everywhere. */
const listed = await serverAt('127.0.0.3');
const unlisted = await serverAt('127.0.0.10');

interface Server {
  peer: FakePeer;
  account(name: string): FakeActor;
}

async function serverAt(host: string): Promise<Server> {
  const peer = await startFakePeer(t, { host });
  peer.respond('/.well-known/nodeinfo', {
    links: [{ rel: 'http://nodeinfo.diaspora.software/ns/schema/2.0', href: `${peer.origin}/nodeinfo/2.0` }],
  });
  peer.respond('/nodeinfo/2.0', { version: '2.0', software: { name: 'mastodon', version: '4.5.0' } });
  const account = (name: string): FakeActor => {
    const id = `${peer.origin}/users/${name}`;
    const keys = keysNumber(1);
    return peer.addActor(
      `/users/${name}`,
      {
        '@context': [activityStreams, 'https://w3id.org/security/v1', { toot: 'http://joinmastodon.org/ns#' }],
        webfinger: `${name}@${peer.host}`,
        following: `${id}/following`,
        followers: `${id}/followers`,
        outbox: `${id}/outbox`,
        featured: `${id}/collections/featured`,
        url: `${peer.origin}/@${name}`,
        manuallyApprovesFollowers: false,
        discoverable: true,
        indexable: true,
        published: '2026-01-01T00:00:00Z',
        publicKey: { id: `${id}#main-key`, owner: id, publicKeyPem: pemOf(keys) },
        tag: [],
        attachment: [],
        endpoints: { sharedInbox: `${peer.origin}/inbox` },
      },
      keys,
    );
  };
  return { peer, account };
}

/** Signed are all headers but User-Agent and Accept-Encoding, in the order in which they were set, the target last. */
function signedHeaders(actor: FakeActor, method: 'get' | 'post', url: string, more: [string, string][]) {
  const { host, pathname, search } = new URL(url);
  const headers: [string, string][] = [['Host', host], ['Date', new Date().toUTCString()], ...more];
  const signed: [string, string][] = [...headers, ['(request-target)', `${method} ${pathname}${search}`]];
  const text = signed.map(([name, value]) => `${name.toLowerCase()}: ${value}`).join('\n');
  const names = signed.map(([name]) => name.toLowerCase()).join(' ');
  const signature = createSign('RSA-SHA256').update(text).sign(actor.keys.privateKey, 'base64');
  const value = `keyId="${actor.keyId}",algorithm="rsa-sha256",headers="${names}",signature="${signature}"`;
  return [['User-Agent', userAgent], ['Accept-Encoding', 'gzip'], ...headers, ['Signature', value]] as [
    string,
    string,
  ][];
}

async function get(actor: FakeActor, url: string, accept: string) {
  const headers = signedHeaders(actor, 'get', url, [['Accept', accept]]);
  const got = await sendRaw({ url, method: 'GET', headers: headers.filter(([name]) => name !== 'Accept-Encoding') });
  return { ...got, json: JSON.parse(got.body || 'null') as Record<string, unknown> };
}

async function post(actor: FakeActor, inbox: string, activity: object): Promise<number> {
  const body = JSON.stringify(activity);
  const headers = signedHeaders(actor, 'post', inbox, [
    ['Digest', `SHA-256=${createHash('sha256').update(body).digest('base64')}`],
    ['Content-Type', 'application/activity+json'],
  ]);
  return (await sendRaw({ url: inbox, headers, body })).status;
}

const followers = async () => (await federation.listFollowers('alice', 'tool')).map(({ actorId }) => actorId).sort();
const sentTo = ({ peer }: Server, path: string) =>
  peer.received
    .filter((each) => each.method === 'POST' && each.path === path)
    .map(({ body }) => JSON.parse(body) as Record<string, unknown>);

t.test('a search finds a repository and its owner: WebFinger, the actor, WebFinger again', async (t) => {
  const reader = listed.account('searcher');
  for (const [account, id] of [
    ['alice--tool', tool],
    ['alice', `${hearth.origin}/ap/users/alice`],
  ] as const) {
    const finger = (name: string) =>
      get(
        reader,
        `${hearth.origin}/.well-known/webfinger?resource=acct:${name}@${hearth.host}`,
        'application/jrd+json, application/json',
      );
    const found = await finger(account);
    t.equal(found.status, 200);
    t.match(found.json, { subject: `acct:${account}@${hearth.host}` });
    const links = found.json['links'] as { rel: string; type?: string; href: string }[];
    const self = links.find(({ rel, type }) => rel === 'self' && type === 'application/activity+json');
    t.equal(self?.href, id);

    const { status, headers, json } = await get(reader, id, 'application/activity+json, application/ld+json');
    t.equal(status, 200);
    t.match(headers['content-type'], /^application\/activity\+json/);
    t.equal(json['id'], id);
    t.ok([json['@context']].flat().includes(activityStreams));
    t.ok(
      [json['type']].flat().some((type) => /^(Application|Group|Organization|Person|Service)$/.test(String(type))),
      'one of the types that it knows',
    );
    t.match(String(json['preferredUsername']), /^[a-z0-9_]+([.-]+[a-z0-9_]+)*$/i, 'a name in its grammar');
    t.match((await finger(String(json['preferredUsername']))).json, { subject: `acct:${account}@${hearth.host}` });
    t.match([json['publicKey']].flat()[0], { owner: id, publicKeyPem: /^-----BEGIN PUBLIC KEY-----/ });
    for (const name of ['inbox', 'outbox', 'followers', 'url'])
      t.equal(URL.parse(String(json[name]))?.host, hearth.host, name);
  }
  const hidden = await get(reader, `${hearth.origin}/ap/repos/alice/secret`, 'application/activity+json');
  const absent = await get(reader, `${hearth.origin}/ap/repos/alice/absent`, 'application/activity+json');
  t.equal(hidden.status, 404);
  t.equal(hidden.body, absent.body);
});

for (const [name, server] of [
  ['a server on the list', listed],
  ['any other server', unlisted],
] as const)
  t.test(`Follow, a note, Undo, by ${name}`, async (t) => {
    const carol = server.account('carol');
    const follow = {
      '@context': activityStreams,
      id: `${server.peer.origin}/0d3a7f6e-6f2b-4b58-a1f5-5a9f6f0c6c11`,
      type: 'Follow',
      actor: carol.id,
      object: tool,
    };
    t.equal(await post(carol, `${tool}/inbox`, follow), 202);
    t.strictSame(await followers(), [carol.id]);
    await federation.drain();
    t.match(sentTo(server, '/users/carol/inbox'), [
      { type: 'Accept', actor: tool, object: { id: follow.id, type: 'Follow', actor: carol.id, object: tool } },
    ]);

    const viewer = { ...localAdministrator, id: alice.id, username: 'alice' };
    await issues.open(viewer, { owner: 'alice', name: 'tool' }, { title: `A gate for ${server.peer.host}` });
    await waitUntil(async () => {
      await federation.drain();
      return sentTo(server, '/users/carol/inbox').length > 1;
    }, 'the note arrives');
    const [, create] = sentTo(server, '/users/carol/inbox');
    const note = create!['object'] as Record<string, unknown>;
    t.match(create, { type: 'Create', actor: tool, to: [publicAudience] });
    t.match(note, { type: 'Note', attributedTo: tool, to: [publicAudience], content: /A gate/ });
    t.equal(URL.parse(String(note['id']))?.host, hearth.host, 'embedded in an activity of its own host');
    const fetched = await get(carol, String(note['id']), 'application/activity+json, application/ld+json');
    t.match(fetched.json, { id: note['id'], type: 'Note', content: note['content'] });

    const undo = {
      '@context': activityStreams,
      id: `${carol.id}#follows/17/undo`,
      type: 'Undo',
      actor: carol.id,
      object: { id: follow.id, type: 'Follow', actor: carol.id, object: tool },
    };
    t.equal(await post(carol, `${tool}/inbox`, undo), 202);
    t.strictSame(await followers(), []);
  });

t.test('what else it sends: a follower that deletes itself ends; the rest changes nothing', async (t) => {
  const signature = {
    type: 'RsaSignature2017',
    creator: 'x#main-key',
    created: '2026-01-01T00:00:00Z',
    signatureValue: 'bm8=',
  };
  const known = { '@context': [activityStreams, 'https://w3id.org/security/v1'], signature };
  type Shape = (actor: FakeActor, server: Server) => object;
  const shapes: [name: string, shape: Shape, ends: boolean][] = [
    [
      'a Move to another account',
      ({ id }, { peer }) => ({
        '@context': activityStreams,
        id: `${id}#moves/3`,
        type: 'Move',
        actor: id,
        object: id,
        target: `${peer.origin}/users/elsewhere`,
      }),
      false,
    ],
    [
      'an Update of the profile',
      ({ id, document }) => ({
        ...known,
        id: `${id}#updates/1770000000`,
        type: 'Update',
        actor: id,
        to: [publicAudience],
        object: { ...document, name: 'A new name' },
      }),
      false,
    ],
    [
      'a reply to a note',
      ({ id }) => ({
        ...known,
        id: `${id}/statuses/1/activity`,
        type: 'Create',
        actor: id,
        to: [publicAudience],
        cc: [`${id}/followers`, tool],
        object: {
          id: `${id}/statuses/1`,
          type: 'Note',
          inReplyTo: `${tool}/notes/1`,
          attributedTo: id,
          content: '<p>Well done</p>',
          tag: [{ type: 'Mention', href: tool, name: '@alice--tool' }],
        },
      }),
      false,
    ],
    [
      'a boost',
      ({ id }) => ({
        '@context': activityStreams,
        id: `${id}/statuses/2/activity`,
        type: 'Announce',
        actor: id,
        object: `${tool}/notes/1`,
      }),
      false,
    ],
    [
      'a Delete of a status',
      ({ id }) => ({
        ...known,
        id: `${id}/statuses/1#delete`,
        type: 'Delete',
        actor: id,
        to: [publicAudience],
        object: { id: `${id}/statuses/1`, type: 'Tombstone', atomUri: `${id}/statuses/1` },
      }),
      false,
    ],
    [
      'a Delete of another account',
      ({ id }, { peer }) => ({
        ...known,
        id: `${id}#delete-other`,
        type: 'Delete',
        actor: id,
        to: [publicAudience],
        object: `${peer.origin}/users/stays`,
      }),
      false,
    ],
    [
      'a Delete of the account itself',
      ({ id }) => ({ ...known, id: `${id}#delete`, type: 'Delete', actor: id, to: [publicAudience], object: id }),
      true,
    ],
  ];
  const before = { ...federation.measures.inbox };
  for (const server of [listed, unlisted]) {
    const stays = server.account('stays');
    for (const [index, [name, shape, ends]] of shapes.entries()) {
      const actor = server.account(`sender${index}`);
      for (const each of [actor, stays])
        await post(each, `${tool}/inbox`, {
          '@context': activityStreams,
          id: server.peer.newId(),
          type: 'Follow',
          actor: each.id,
          object: tool,
        });
      const status = await post(actor, `${hearth.origin}/ap/instance/inbox`, shape(actor, server));
      t.equal(status, server === listed ? 202 : 401, `${name}, from ${server.peer.host}`);
      t.equal((await followers()).includes(actor.id), !(ends && server === listed), name);
      t.ok((await followers()).includes(stays.id));
    }
  }
  t.equal(federation.measures.inbox.reply, before.reply + 1);
  t.strictSame(await db.read.query("SELECT 1 FROM remote_actors WHERE name = 'A new name'"), []);
});

t.test('a server whose user follows only a user here is listed with its software, too', async (t) => {
  const server = await serverAt('127.0.0.3');
  const carol = server.account('carol');
  const follow = { '@context': activityStreams, id: server.peer.newId(), type: 'Follow', actor: carol.id };
  const status = await post(carol, `${hearth.origin}/ap/users/alice/inbox`, {
    ...follow,
    object: `${hearth.origin}/ap/users/alice`,
  });
  t.equal(status, 202);
  const found = (await federation.listPeers()).find(({ host }) => host === server.peer.host);
  t.match(found, { software: 'mastodon', reads: 'note' });
});
