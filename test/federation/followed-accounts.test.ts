// People of software that knows no repositories, and groups, bots and organisations, are followed themselves. Documents
// and answers in the shapes of GoToSocial 0.20.0, Mastodon 4.5.0 and Fedify 2.3.8.
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { runCli } from '../cli/run-cli.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';
import { keysNumber, pemOf, startFakePeer } from './fake-peer.ts';
import type { FakeActor, FakePeer } from './fake-peer.ts';
import { startPair, startPeer } from './two-instances.ts';

const clock = fixedClock(Date.now());
const home = await startPeer(t, { host: '127.0.0.1', allow: ['127.0.0.3'], clock });
const { federation, copies, db } = home.modules;
const [alice, bob] = [await home.addPerson('alice'), await home.addPerson('bob')];
const peer = await startFakePeer(t);
const actorOf = ({ username }: { username: string }) => `${home.origin}/ap/users/${username}`;
const signedIn = { Cookie: `hearth_session=${alice.session}`, Origin: home.origin };
const page = async () =>
  (await sendRequest({ port: Number(new URL(home.origin).port) }, '/following', { headers: signedIn })).body;

const activityStreams = 'https://www.w3.org/ns/activitystreams';
const publicAudience = `${activityStreams}#Public`;

/** WebFinger of all accounts, by name; the rest of the answer is what Mastodon adds. */
const fingered = new Map<string, string>();
peer.respond('/.well-known/webfinger', (request, response) => {
  const subject = new URL(request.path, peer.origin).searchParams.get('resource') ?? '';
  const href = fingered.get(/^acct:([^@]+)@/.exec(subject)?.[1] ?? '');
  if (href === undefined) return void response.writeHead(404).end();
  const links = [
    { rel: 'http://webfinger.net/rel/profile-page', type: 'text/html', href: `${href}/page` },
    { rel: 'self', type: 'application/activity+json', href },
    { rel: 'http://ostatus.org/schema/1.0/subscribe', template: `${peer.origin}/authorize_interaction?uri={uri}` },
  ];
  response
    .writeHead(200, { 'Content-Type': 'application/jrd+json; charset=utf-8' })
    .end(JSON.stringify({ subject, aliases: [href], links }));
});

function account(name: string, path: string, more: (id: string) => Record<string, unknown>, keys = keysNumber(1)) {
  const id = peer.origin + path;
  fingered.set(name, id);
  return peer.addActor(path, { preferredUsername: name, ...more(id) }, keys);
}

interface Followed {
  id: string;
  actor: string;
}

interface Software {
  name: string;
  type: string;
  add(name: string): FakeActor;
  accept(from: FakeActor, follow: Followed): Record<string, unknown>;
}

const gotosocial = (type: string): Software => ({
  name: 'GoToSocial 0.20.0',
  type,
  add: (name) => {
    const added = account(name, `/users/${name}`, (id) => ({
      type,
      discoverable: true,
      endpoints: { sharedInbox: `${peer.origin}/sharedInbox` },
      featured: `${id}/collections/featured`,
      followers: `${id}/followers`,
      following: `${id}/following`,
      manuallyApprovesFollowers: true,
      outbox: `${id}/outbox`,
      url: `${peer.origin}/@${name}`,
      publicKey: { id: `${id}/main-key`, owner: id, publicKeyPem: pemOf(keysNumber(1)) },
    }));
    const { id, document } = added;
    peer.respond(`/users/${name}/main-key`, {
      '@context': activityStreams,
      id,
      type,
      publicKey: document['publicKey'],
    });
    return { ...added, keyId: `${id}/main-key` };
  },
  accept: ({ id: by }, { id, actor }) => ({
    '@context': activityStreams,
    actor: by,
    id: `${by}/accepts/01K6NB5RXBFC0W4FRAKTBRNZ5${id.at(-1)!.toUpperCase()}`,
    object: { actor, id, object: by, to: by, type: 'Follow' },
    to: actor,
    type: 'Accept',
  }),
});

const mastodon = (type: string): Software => ({
  name: 'Mastodon 4.5.0',
  type,
  add: (name) =>
    account(name, `/users/${name}`, (id) => ({
      '@context': [activityStreams, 'https://w3id.org/security/v1', { toot: 'http://joinmastodon.org/ns#' }],
      type,
      webfinger: `${name}@${peer.host}`,
      following: `${id}/following`,
      followers: `${id}/followers`,
      outbox: `${id}/outbox`,
      featured: `${id}/collections/featured`,
      url: `${peer.origin}/@${name}`,
      manuallyApprovesFollowers: false,
      tag: [],
      attachment: [],
      endpoints: { sharedInbox: `${peer.origin}/inbox` },
    })),
  accept: ({ id: by }, { id, actor }) => ({
    '@context': activityStreams,
    id: `${by}#accepts/follows/17`,
    type: 'Accept',
    actor: by,
    object: { id, type: 'Follow', actor, object: by },
  }),
});

const fedify: Software = {
  name: 'Fedify 2.3.8',
  type: 'Person',
  add: (name) =>
    account(name, `/users/${name}`, (id) => ({
      '@context': [activityStreams, 'https://w3id.org/security/v1', 'https://w3id.org/security/data-integrity/v1'],
      url: `${peer.origin}/@${name}`,
      // Several keys: the first is read.
      publicKey: [{ id: `${id}#main-key`, type: 'CryptographicKey', owner: id, publicKeyPem: pemOf(keysNumber(1)) }],
      assertionMethod: { id: `${id}#multikey-2`, type: 'Multikey', controller: id, publicKeyMultibase: 'z6Mk' },
    })),
  // By the id of the Follow alone.
  accept: ({ id: by }, { id }) => ({
    '@context': [activityStreams, 'https://w3id.org/identity/v1'],
    id: `${by}#accepts/1`,
    type: 'Accept',
    actor: by,
    object: id,
  }),
};

const all: Software[] = [
  gotosocial('Person'),
  gotosocial('Service'),
  mastodon('Person'),
  mastodon('Application'),
  mastodon('Group'),
  mastodon('Organization'),
  fedify,
];

const stored = async () => JSON.stringify(await db.read.query('SELECT * FROM received_pushes'));

for (const [index, software] of all.entries()) {
  const { name, type } = software;
  t.test(`a ${type} of ${name} is followed, accepts, writes, is followed no longer`, async (t) => {
    const zork = software.add(`zork${index}`);
    const other = software.add(`other${index}`);
    const inbox = `${home.origin}/ap/instance/inbox`;
    const sent = (of: FakeActor) =>
      peer.received
        .filter((each) => each.method === 'POST' && each.path === new URL(of.inbox).pathname)
        .map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    const followed = await federation.follow(alice.id, `@zork${index}@${peer.host}`);
    t.match(followed, { kind: 'person', handle: `zork${index}@${peer.host}`, state: 'PENDING', isNew: true });
    // A foreign follow of the same, which nothing below concerns.
    await federation.follow(bob.id, zork.id);
    t.match(await federation.follow(alice.id, zork.id), { isNew: false, id: followed.id });
    await federation.drain();
    const requests = sent(zork).filter(({ actor }) => actor === actorOf(alice));
    t.match(requests, [{ type: 'Follow', actor: actorOf(alice), object: zork.id, to: [zork.id] }]);
    t.equal(sent(zork).length, 2, 'one from each follower, the second time none');
    const follow = { id: String(requests[0]!['id']), actor: actorOf(alice) };

    const stateOf = async (person: { id: string }) =>
      (await federation.followingOf(person.id)).repositories.find(({ remoteActorId }) => remoteActorId === zork.id)
        ?.state;
    await peer.deliver(other, inbox, software.accept(other, follow));
    await peer.deliver(other, inbox, { ...software.accept(zork, follow), actor: other.id, id: peer.newId() });
    t.equal(await stateOf(alice), 'PENDING', 'nobody accepts in the name of another');
    t.match(await page(), new RegExp(`Users without repositories[^]*zork${index}@`));
    t.equal((await peer.deliver(zork, `${actorOf(alice)}/inbox`, software.accept(zork, follow))).status, 202);
    t.strictSame([await stateOf(alice), await stateOf(bob)], ['ACCEPTED', 'PENDING']);

    const before = { ...federation.measures.inbox };
    const rows = await stored();
    const note = { id: `${zork.id}/statuses/1`, type: 'Note', attributedTo: zork.id, content: '<p>Good morning</p>' };
    const more = { '@context': activityStreams, actor: zork.id, to: [publicAudience], cc: [`${zork.id}/followers`] };
    const kept: Record<string, unknown>[] = [
      { id: `${note.id}/activity`, type: 'Create', object: { ...note, to: [publicAudience] } },
      { id: `${zork.id}/statuses/2/activity`, type: 'Announce', object: `${other.id}/statuses/9` },
      { id: `${note.id}#updates/1`, type: 'Update', object: { ...note, content: '<p>Good evening</p>' } },
      { id: `${note.id}#delete`, type: 'Delete', object: { id: note.id, type: 'Tombstone' } },
      { id: `${zork.id}/likes/1`, type: 'Like', object: note.id },
    ];
    for (const each of kept)
      t.equal((await peer.deliver(zork, `${actorOf(alice)}/inbox`, { ...more, ...each })).status, 202);
    const push = { ref: 'refs/heads/main' };
    const pushed = { ...more, id: peer.newId(), type: 'Push', target: push, hashAfter: 'a'.repeat(40), object: [] };
    t.equal((await peer.deliver(zork, inbox, pushed)).status, 202, 'who is no repository pushes nothing');
    t.equal(federation.measures.inbox.ignored, before.ignored + 4, 'kept out, and counted');
    t.equal(federation.measures.inbox.processed, before.processed + 2, 'a Delete and a Push have a handler');
    t.equal(await stored(), rows);

    const viewer = { ...localAdministrator, id: alice.id, username: 'alice' };
    const refused = await copies.keep(viewer, { id: alice.id } as never, followed.id).catch((error: unknown) => error);
    t.match(refused, { reason: 'not_clonable' });
    const shown = await page();
    t.match(shown, new RegExp(`Users without repositories[^]*zork${index}@`));
    t.notMatch(shown, /Keep a copy/);

    t.match(await federation.unfollow(alice.id, followed.id), { kind: 'person', handle: `zork${index}@${peer.host}` });
    await federation.drain();
    t.match(sent(zork).at(-1), {
      type: 'Undo',
      actor: actorOf(alice),
      object: { id: follow.id, type: 'Follow', actor: actorOf(alice), object: zork.id },
    });
    t.strictSame([await stateOf(alice), await stateOf(bob)], [undefined, 'PENDING']);
  });
}

t.test('an account that is gone says so, in the words of a person', async (t) => {
  const lea = mastodon('Person').add('lea');
  const { id } = await federation.follow(alice.id, lea.id);
  const { followId } = (await federation.followingOf(alice.id)).repositories.find((each) => each.id === id)!;
  await peer.deliver(lea, `${home.origin}/ap/instance/inbox`, {
    id: peer.newId(),
    type: 'Accept',
    actor: lea.id,
    object: followId,
  });
  peer.respond('/users/lea', (_request, response) => void response.writeHead(410).end());
  clock.advance(6 * 3_600_000 + 1);
  await federation.checkFollowed();
  t.match(await page(), /lea@[^]*reports no user under this name/);
  const listed = await runCli(['federation', 'follows', '--user', 'alice', '--json'], {
    cwd: home.folder,
    openModules: async (config) => ({ ...home.modules, config, close: async () => {} }),
    env: { SERVICE_DATA_DIR: `${home.folder}/data` },
  });
  t.match(JSON.parse(listed.stdout), [{ kind: 'person', state: 'ACCEPTED', why: /^not there since / }]);
});

t.test('who is followed alone, and who with repositories', async (t) => {
  const list = { type: 'OrderedCollection', totalItems: 0, orderedItems: [] };
  const status = (code: number) => (server: FakePeer, path: string) =>
    server.respond(path, (_request, response) => void response.writeHead(code).end());
  const cases: [
    name: string,
    document: (id: string) => object,
    answer: (s: FakePeer, p: string) => void,
    then: object,
  ][] = [
    ['names none, and has none', () => ({}), status(404), { kind: 'person', state: 'PENDING' }],
    ['names none, and answers with a page', () => ({}), status(406), { kind: 'person', state: 'PENDING' }],
    ['names none, and has some', () => ({}), (s, p) => s.respond(p, list), { kind: 'person', state: undefined }],
    [
      'names some',
      (id) => ({ repositories: `${id}/repositories` }),
      (s, p) => s.respond(p, list),
      { kind: 'person', state: undefined },
    ],
    [
      'names some that are not there',
      (id) => ({ repositories: `${id}/repositories` }),
      status(404),
      { reason: 'unresolvable_handle' },
    ],
    ['is of two types', () => ({ type: ['urn:x:Bot', 'Service'] }), status(404), { kind: 'person', state: 'PENDING' }],
    [
      'is a Repository as well',
      () => ({ type: ['Service', 'Repository'] }),
      status(404),
      { kind: 'repository', state: 'PENDING' },
    ],
    ['is no actor', () => ({ type: 'Note' }), status(404), { reason: 'unresolvable_handle' }],
    ['has no inbox', () => ({ inbox: undefined }), status(404), { reason: 'unresolvable_handle' }],
    [
      'has its inbox elsewhere',
      () => ({ inbox: 'http://127.0.0.9/inbox' }),
      status(404),
      { reason: 'unresolvable_handle' },
    ],
    ['has no key', () => ({ publicKey: undefined }), status(404), { reason: 'unresolvable_handle' }],
  ];
  for (const [index, [name, document, answer, then]] of cases.entries()) {
    const path = `/people/p${index}`;
    peer.addActor(path, document(peer.origin + path) as Record<string, unknown>, keysNumber(1));
    answer(peer, `${path}/repositories`);
    const got: unknown = await federation.follow(alice.id, peer.origin + path).catch((error: unknown) => error);
    t.match(got, then, name);
    if ('state' in then) t.equal((got as { state?: string }).state, then.state, name);
  }
});

t.test('an organisation of a Hearth that takes followers is followed as well', async (t) => {
  const {
    home: here,
    away,
    alice: carol,
    bob: owner,
  } = await startPair(t, {
    away: { env: { SERVICE_FEDERATION_OPEN_FOLLOWERS: 'true' } },
  });
  await away.modules.organisations.create(localAdministrator, { name: 'guild', owner: owner.username });
  const { id } = await here.modules.federation.follow(carol.id, `guild@${away.host}`);
  await here.modules.federation.drain();
  await away.modules.federation.drain();
  const { repositories } = await here.modules.federation.followingOf(carol.id);
  t.match(repositories, [{ id, kind: 'person', state: 'ACCEPTED', handle: `guild@${away.host}` }]);
  await here.modules.federation.unfollow(carol.id, id);
  await here.modules.federation.drain();
  t.strictSame(await away.modules.db.read.query('SELECT actor_id FROM owner_followers'), []);
});
