// The catalogue of hostile requests for each activity that followers of other software send: Follow and Undo of
// repositories, users and organisations, Accept and Reject of our follows, notes, replies, their removal. From a server
// on the list and from one that only may follow.
// time limit: 600 s
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { keysNumber, sendRaw, sha256, sign, startFakePeer } from './fake-peer.ts';
import type { FakeActor, FakePeer, Signing } from './fake-peer.ts';
import { startPeer } from './two-instances.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const hearth = await startPeer(t, {
  host: '127.0.0.1',
  allow: ['127.0.0.3'],
  env: { SERVICE_FEDERATION_OPEN_FOLLOWERS: 'true' },
});
const { federation, organisations, repositories, db } = hearth.modules;
const alice = await hearth.addPerson('alice');
await organisations.create(localAdministrator, { name: 'guild', owner: 'alice' });
for (const [name, visibility] of [
  ['tool', 'PUBLIC'],
  ['secret', 'PRIVATE'],
] as const)
  await repositories.create(localAdministrator, { owner: 'alice', name, visibility });
const at = (path: string) => `${hearth.origin}/ap/${path}`;
const tool = at('repos/alice/tool');

const sentinel = await startFakePeer(t, { host: '127.0.0.9' });
const publicAudience = 'https://www.w3.org/ns/activitystreams#Public';

interface Stage {
  peer: FakePeer;
  zork: FakeActor;
  /** Another actor of the same server, with another key. */
  other: FakeActor;
  isListed: boolean;
}

async function stageAt(host: string, isListed: boolean): Promise<Stage> {
  const peer = await startFakePeer(t, { host });
  return {
    peer,
    zork: peer.addActor('/users/zork', {}, keysNumber(1)),
    other: peer.addActor('/users/other', {}, keysNumber(2)),
    isListed,
  };
}
const stages = [await stageAt('127.0.0.3', true), await stageAt('127.0.0.10', false)];
const [listed] = stages as [Stage, Stage];

/** Every table that an activity could reach. */
async function state(withInbox = true): Promise<string> {
  const tables = [
    ...(withInbox ? ['federation_inbox'] : []),
    'federation_outbox',
    'repository_followers',
    'owner_followers',
    'follow_requests',
    'remote_follows',
    'remote_user_follows',
    'received_pushes',
    'received_events',
  ];
  return JSON.stringify(
    await Promise.all(tables.map((table) => db.read.query(`SELECT * FROM ${table} ORDER BY 1, 2`))),
  );
}

type Activity = Record<string, unknown>;

/** What is sent in the name of zork; `follow` is that of alice, which waits for his answer. */
const kinds: [name: string, target: string, make: (stage: Stage, follow: string) => Activity][] = [
  ...(['repos/alice/tool', 'users/alice', 'orgs/guild'] as const).flatMap(
    (path): [string, string, (stage: Stage) => Activity][] => [
      [`a Follow of ${path}`, at(path), () => ({ type: 'Follow', object: at(path) })],
      [
        `an Undo of ${path}`,
        at(path),
        ({ zork }) => ({ type: 'Undo', object: { type: 'Follow', actor: zork.id, object: at(path) } }),
      ],
    ],
  ),
  ...(['Accept', 'Reject'] as const).map((type): [string, string, (stage: Stage, follow: string) => Activity] => [
    type,
    at('users/alice'),
    ({ zork }, id) => ({ type, object: { id, type: 'Follow', actor: at('users/alice'), object: zork.id } }),
  ]),
  [
    'a note',
    at('users/alice'),
    ({ zork, peer }) => ({ type: 'Create', to: [publicAudience], object: { ...noteOf(peer), attributedTo: zork.id } }),
  ],
  [
    'a reply',
    tool,
    ({ zork, peer }) => ({
      type: 'Create',
      object: { ...noteOf(peer), attributedTo: zork.id, inReplyTo: `${tool}/notes/1` },
    }),
  ],
  [
    'an event',
    at('users/alice'),
    ({ zork, peer }) => ({ type: 'Create', to: [publicAudience], object: eventOf(peer, zork.id) }),
  ],
  ['the removal of an event', tool, ({ peer, zork }) => ({ type: 'Delete', object: eventOf(peer, zork.id).id })],
  ['the removal of a note', tool, ({ peer }) => ({ type: 'Delete', object: { ...noteOf(peer), type: 'Tombstone' } })],
  ['an Announce', tool, ({ peer }) => ({ type: 'Announce', to: [publicAudience], object: noteOf(peer).id })],
];
const noteOf = (peer: FakePeer) => ({ id: `${peer.origin}/notes/1`, type: 'Note', content: '<script>1</script>' });

const eventOf = (peer: FakePeer, by: string) => ({
  id: `${peer.origin}/notes/2`,
  type: 'Note',
  attributedTo: by,
  url: `${peer.origin}/repos/zork/r/issues/1`,
  content: 'opened',
  event: 'opened',
  about: { type: 'Issue', name: 'Gate', number: 1 },
});

interface Request {
  activity: Activity;
  url: string;
  signing: Partial<Signing>;
  headers: Record<string, string | string[] | null>;
  /** Sent instead of what was signed. */
  body?: string;
}

function send({ zork }: Stage, { activity, url, signing, headers, body }: Request) {
  const signed = JSON.stringify(activity);
  const all = {
    ...sign({ url, body: signed, keyId: zork.keyId, privateKey: zork.keys.privateKey, ...signing }),
    ...headers,
  };
  const pairs = Object.entries(all).flatMap(([name, value]) =>
    value === null ? [] : [value].flat().map((each): [string, string] => [name, each]),
  );
  return sendRaw({ url, headers: pairs, body: body ?? signed });
}

type Change = (request: Request, stage: Stage) => Partial<Request>;
const headers =
  (more: Request['headers']): Change =>
  () => ({ headers: more });
const signing =
  (more: Partial<Signing> | ((stage: Stage) => Partial<Signing>)): Change =>
  (_request, stage) => ({ signing: typeof more === 'function' ? more(stage) : more });
const activity =
  (more: (request: Request, stage: Stage) => Activity): Change =>
  (request, stage) => ({ activity: { ...request.activity, ...more(request, stage) } });
const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toUTCString();

const changes: [name: string, change: Change][] = [
  ['without a signature', headers({ Signature: null })],
  ['without a digest', headers({ Digest: null })],
  ['with two signatures', headers({ Signature: ['keyId="x"', 'keyId="y"'] })],
  ['with two dates', headers({ Date: [hoursAgo(0), hoursAgo(1)] })],
  ['with an RFC 9421 input beside it', headers({ 'Signature-Input': 'sig1=("@method");keyid="x";created=1' })],
  ['signed by another of its server', signing(({ other }) => ({ privateKey: other.keys.privateKey }))],
  [
    'signed as another of its server',
    signing(({ other }) => ({ keyId: other.keyId, privateKey: other.keys.privateKey })),
  ],
  ['signed as nobody', signing(({ peer }) => ({ keyId: `${peer.origin}/users/nobody#main-key` }))],
  ['signed as a script', signing({ keyId: 'javascript:alert(1)' })],
  ['signed as us', signing({ keyId: at('users/alice#main-key') })],
  ['signed two hours ago', signing({ date: hoursAgo(2) })],
  ['signed two hours ahead', signing({ date: hoursAgo(-2) })],
  ['signed by no algorithm', signing({ algorithm: 'none' })],
  ['signed for another host', signing({ signed: { host: 'other.example' } })],
  ['signed for another inbox', signing({ signed: { '(request-target)': 'post /ap/users/bob/inbox' } })],
  ['signed without its target', signing({ covered: ['host', 'date', 'digest'] })],
  ['signed without its digest', signing({ covered: ['(request-target)', 'host', 'date'] })],
  ['with another body', (request) => ({ body: JSON.stringify({ ...request.activity, more: 1 }) })],
  [
    'with another body and its digest',
    (request) => {
      const body = JSON.stringify({ ...request.activity, more: 1 });
      return { body, headers: { Digest: `SHA-256=${sha256(body)}` } };
    },
  ],
  ['in the name of another', activity((_request, { other }) => ({ actor: other.id }))],
  ['in the name of us', activity(() => ({ actor: at('users/alice') }))],
  ['in the name of two', activity((_request, { zork, other }) => ({ actor: [zork.id, other.id] }))],
  ['with an id elsewhere', activity(() => ({ id: `${sentinel.origin}/1` }))],
  ['with an id here', activity(() => ({ id: `${hearth.origin}/1` }))],
  ['with an id that is a script', activity(() => ({ id: 'javascript:alert(1)' }))],
  ['with an id that is a list', activity(({ activity: { id } }) => ({ id: [id, id] }))],
  ['with an id of 3,000 characters', activity((_request, { peer }) => ({ id: `${peer.origin}/${'x'.repeat(3000)}` }))],
];

for (const stage of stages) {
  const { zork, peer, isListed } = stage;
  let followId = `${at('users/alice')}/activities/none`;
  const requestOf = (target: string, made: Activity): Request => ({
    activity: { '@context': 'https://www.w3.org/ns/activitystreams', id: peer.newId(), actor: zork.id, ...made },
    url: `${target}/inbox`,
    signing: {},
    headers: {},
  });
  t.test(
    `each activity from ${isListed ? 'a server on the list' : 'any other server'}, in each hostile form`,
    async (t) => {
      if (isListed) {
        await federation.follow(alice.id, zork.id);
        followId = (await federation.followingOf(alice.id)).repositories[0]!.followId;
        await federation.drain();
      }
      for (const [name, target, make] of kinds) {
        const before = await state();
        for (const [form, change] of changes) {
          const request = requestOf(target, make(stage, followId));
          const { status } = await send(stage, { ...request, ...change(request, stage) });
          t.equal(status, 401, `${name}, ${form}`);
        }
        t.equal(await state(), before, `${name}: nothing has changed`);

        // The same request as it should be, which is what could have happened; and once more, which changes nothing.
        const good = requestOf(target, make(stage, followId));
        const mayFollow = isListed || /Follow|Undo/.test(String(good.activity['type']));
        t.equal((await send(stage, good)).status, mayFollow ? 202 : 401, name);
        const after = await state();
        t.equal(after !== before, mayFollow, name);
        t.equal((await send(stage, good)).status, mayFollow ? 202 : 401, `${name}, once more`);
        t.equal(await state(), after, `${name}: a copy does nothing`);
      }
      t.equal(sentinel.connections(), 0);
    },
  );
}

t.test('rightly signed, but not of what is the signer’s own', async (t) => {
  const { zork, other, peer } = listed;
  const mine: Activity = { id: peer.newId(), type: 'Follow', actor: zork.id, object: tool };
  t.equal((await peer.deliver(zork, `${tool}/inbox`, mine)).status, 202);
  await federation.unfollow(alice.id, (await federation.followingOf(alice.id)).repositories[0]!.id);
  await federation.follow(alice.id, zork.id);
  const follow = { type: 'Follow', actor: at('users/alice'), object: zork.id };
  const { followId } = (await federation.followingOf(alice.id)).repositories[0]!;
  await federation.drain();
  const cases: [name: string, sent: Activity][] = [
    ['an Undo of the follow of another, by its id', { type: 'Undo', object: mine['id'] }],
    ['an Undo of the follow of another, whole', { type: 'Undo', object: mine }],
    ['an Undo that says to be its own', { type: 'Undo', object: { ...mine, actor: other.id } }],
    ['an Undo of an Undo', { type: 'Undo', object: { type: 'Undo', object: mine } }],
    ['an Accept for another', { type: 'Accept', object: { ...follow, id: followId } }],
    ['an Accept by the id', { type: 'Accept', object: followId }],
    ['an Accept that names itself', { type: 'Accept', object: { ...follow, id: followId, object: other.id } }],
    ['an Accept of its own Follow', { type: 'Accept', object: { ...follow, actor: other.id } }],
    ['a Reject for another', { type: 'Reject', object: { ...follow, id: followId } }],
    ['a Reject of a follower of ours', { type: 'Reject', object: mine }],
    ['a Delete of another', { type: 'Delete', object: zork.id }],
    ['a Delete of a repository of ours', { type: 'Delete', object: tool }],
    ['a Delete of a person of ours', { type: 'Delete', object: { id: at('users/alice'), type: 'Tombstone' } }],
    ['a Delete of a note of ours', { type: 'Delete', object: `${tool}/notes/1` }],
    ['a Create of a follow', { type: 'Create', object: { ...mine, id: peer.newId(), actor: other.id } }],
    ['a Create in the name of us', { type: 'Create', object: { ...noteOf(peer), attributedTo: tool } }],
    ['an Update of another', { type: 'Update', object: { id: zork.id, type: 'Person', inbox: other.inbox } }],
    ['a Move of another', { type: 'Move', object: zork.id, target: other.id }],
    ['an Announce of a Follow', { type: 'Announce', object: { ...mine, actor: other.id } }],
    ['a Follow of what is private', { type: 'Follow', object: at('repos/alice/secret') }],
    ['a Follow of what is not there', { type: 'Follow', object: at('repos/alice/absent') }],
    ['a Follow of another server', { type: 'Follow', object: `${sentinel.origin}/users/x` }],
    ['a Follow of a list', { type: 'Follow', object: [tool, at('users/alice')] }],
    ['an event where nobody follows', { type: 'Create', object: eventOf(peer, other.id) }],
    ['an event in the name of another', { type: 'Create', object: eventOf(peer, zork.id) }],
    ['the removal of an event of another', { type: 'Delete', object: `${peer.origin}/notes/2` }],
    ['a Push', { type: 'Push', target: { ref: 'refs/heads/main' }, object: [] }],
  ];
  const before = await state(false);
  const url = at('instance/inbox');
  for (const [name, sent] of cases) {
    const whole = { '@context': 'https://www.w3.org/ns/activitystreams', id: peer.newId(), actor: other.id, ...sent };
    t.equal((await peer.deliver(other, url, whole)).status, 202, name);
    t.equal(await state(false), before, name);
  }
  t.match((await federation.followingOf(alice.id)).repositories, [{ state: 'PENDING' }]);
  t.equal(sentinel.connections(), 0, 'and nobody else was asked for anything');
});

t.test('a NodeInfo that never ends delays a Follow by seconds, and no more', async (t) => {
  const { peer, other } = listed;
  let isOpen = 0;
  peer.respond('/.well-known/nodeinfo', (_request, response) => {
    isOpen += 1;
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.write('{"links":[');
    const drip = setInterval(() => response.write(' '), 50);
    response.on('close', () => (clearInterval(drip), (isOpen -= 1)));
  });
  await db.write(({ manager }) => manager.query('UPDATE federation_peers SET software_at = NULL'));
  const follow = { id: peer.newId(), type: 'Follow', actor: other.id, object: tool };
  t.equal((await peer.deliver(other, `${tool}/inbox`, follow)).status, 202);
  t.ok(
    (await federation.listFollowers('alice', 'tool')).some(({ actorId }) => actorId === other.id),
    'it follows',
  );
  await waitUntil(() => isOpen === 0);
  t.equal(isOpen, 0, 'the connection is given up');
});

t.test('a WebFinger that names an actor of another host gives it no name of its own', async (t) => {
  const { peer } = listed;
  const finger = (subject: string, href: string) =>
    peer.respond(
      '/.well-known/webfinger',
      (_request, response) =>
        void response
          .writeHead(200, { 'Content-Type': 'application/jrd+json' })
          .end(JSON.stringify({ subject, links: [{ rel: 'self', type: 'application/activity+json', href }] })),
    );
  const cases: [name: string, subject: string, href: string][] = [
    ['on a host that is not allowed', `acct:x@${peer.host}`, `${sentinel.origin}/users/x`],
    ['of ours', `acct:x@${peer.host}`, at('users/alice')],
    ['that is a repository of ours', `acct:alice/tool@${hearth.host}`, tool],
    ['behind a name and password', `acct:x@${peer.host}`, `http://a:b@${peer.host}/users/zork`],
    ['that is a file', `acct:x@${peer.host}`, 'file:///etc/passwd'],
    ['that is none', `acct:x@${peer.host}`, `${peer.origin}/.well-known/nodeinfo2`],
  ];
  for (const [name, subject, href] of cases) {
    finger(subject, href);
    const before = await state();
    const refused = await federation.follow(alice.id, `x@${peer.host}`).catch((error: unknown) => error);
    t.match(refused, { reason: 'unresolvable_handle' }, name);
    t.equal(await state(), before, name);
  }
  // It may name its own under any name, but the name of another host is not taken over.
  finger('acct:root@forge.example', listed.other.id);
  t.match(await federation.follow(alice.id, `x@${peer.host}`), { handle: `x@${peer.host}` });
  t.equal(sentinel.connections(), 0);
});
