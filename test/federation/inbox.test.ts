import { randomUUID } from 'node:crypto';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { keysNumber, pemOf, rowsOf, sendRaw, sign, startFakePeer } from './fake-peer.ts';
import type { FakeActor, FakePeer } from './fake-peer.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import type { FixedClock } from '../fixtures/fixed-clock.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { startPeer } from './two-instances.ts';
import type { Peer } from './two-instances.ts';

interface Stage {
  hearth: Peer;
  peer: FakePeer;
  username: string;
  alice: { id: string };
  /** Actor id of alice's public repository. */
  tool: string;
  toolId: string;
  mallory: FakeActor;
}

let shared: Promise<Peer> | undefined;
let stages = 0;

/** One server for all tests that live in the present, with a person, a repository and a peer for each. */
async function setStage(owner: Owner, clock?: FixedClock): Promise<Stage> {
  const hearth = await (clock === undefined
    ? (shared ??= startPeer(t, { host: '127.0.0.1', allow: ['127.0.0.3'] }))
    : startPeer(owner, { host: '127.0.0.1', allow: ['127.0.0.3'], clock }));
  const peer = await startFakePeer(owner);
  const username = `alice${(stages += 1)}`;
  const alice = await hearth.modules.accounts.addPerson({ username });
  const { id } = await hearth.modules.repositories.create(localAdministrator, {
    owner: username,
    name: 'tool',
    visibility: 'PUBLIC',
  });
  const tool = `${hearth.origin}/ap/repos/${username}/tool`;
  return { hearth, peer, username, alice, tool, toolId: id, mallory: peer.addActor('/users/mallory') };
}

const followOf = ({ peer, tool }: Stage, actor: FakeActor, more: object = {}) => ({
  '@context': 'https://www.w3.org/ns/activitystreams',
  id: peer.newId(),
  type: 'Follow',
  actor: actor.id,
  object: tool,
  ...more,
});

const followers = async ({ hearth, username }: Stage) =>
  (await hearth.modules.federation.listFollowers(username, 'tool')).map(({ actorId }) => actorId);

const count = async ({ hearth }: Stage, table: string): Promise<number> =>
  Number((await hearth.modules.db.read.query(`SELECT count(*) AS n FROM ${table}`))[0].n);

t.test('SPEC §3 a Follow of a public repository stores a follower and queues a signed Accept', async (t) => {
  const stage = await setStage(t);
  const { hearth, peer, mallory, tool } = stage;
  const follow = followOf(stage, mallory);
  const response = await peer.deliver(mallory, `${tool}/inbox`, follow);
  t.match([response.status, response.body], [202, '']);
  t.strictSame(await followers(stage), [mallory.id]);
  t.equal(peer.received.filter(({ method }) => method === 'POST').length, 0, 'SPEC §6: queued, never sent inline');

  await hearth.modules.federation.drain();
  t.match(peer.activities(), [
    {
      type: 'Accept',
      actor: tool,
      to: [mallory.id],
      object: { id: follow.id, type: 'Follow', actor: mallory.id, object: tool },
    },
  ]);
  const sent = peer.received.find(({ method }) => method === 'POST')!;
  t.match(
    sent.headers['signature'],
    new RegExp(`^keyId="${tool}#main-key",algorithm="rsa-sha256",headers="\\(request-target\\) host date digest"`),
  );

  const again = followOf(stage, mallory);
  await peer.deliver(mallory, mallory.inbox.replace(mallory.inbox, `${hearth.origin}/ap/instance/inbox`), again);
  t.equal((await followers(stage)).length, 1, 'a new Follow of a follower adds nothing');
  await hearth.modules.federation.drain();
  t.match(
    peer.activities()[1],
    { type: 'Accept', object: { id: again.id } },
    'and is accepted again, whichever inbox it came to',
  );
});

t.test('what can be followed is a public repository of this server and nothing else', async (t) => {
  const stage = await setStage(t);
  const { hearth, peer, mallory, tool, username } = stage;
  await hearth.modules.repositories.create(localAdministrator, {
    owner: username,
    name: 'secret',
    visibility: 'PRIVATE',
  });
  const before = [
    await count(stage, 'repository_followers'),
    await count(stage, 'federation_delivery'),
    await count(stage, 'federation_inbox'),
  ] as const;
  for (const object of [
    `${hearth.origin}/ap/users/${username}`,
    `${hearth.origin}/ap/instance`,
    `${hearth.origin}/ap/repos/${username}/secret`,
    `${hearth.origin}/ap/repos/${username}/absent`,
    `${hearth.origin}/repos/${username}/tool`,
    `${tool}/`,
    `${tool}?x`,
    `${tool}#x`,
    tool.toUpperCase(),
    `${peer.origin}/repos/x`,
    'nonsense',
    '',
    null,
    5,
    {},
    [tool, tool],
  ]) {
    const { status } = await peer.deliver(
      mallory,
      `${hearth.origin}/ap/instance/inbox`,
      followOf(stage, mallory, { object }),
    );
    t.equal(status, 202, JSON.stringify(object));
  }
  t.equal(await count(stage, 'repository_followers'), before[0]);
  t.equal(await count(stage, 'federation_inbox'), before[2] + 16, 'SPEC §6: recorded');
  t.equal(
    await count(stage, 'federation_delivery'),
    before[1] + 6,
    'and what is public and cannot be followed says so',
  );
  await hearth.modules.federation.drain();
  const byTarget = (a: { of: string }, b: { of: string }): number => (a.of < b.of ? -1 : 1);
  const answers = peer
    .activities()
    .map(({ type, actor, to, object }) => ({ type, actor, to, of: (object as { object: string }).object }));
  t.strictSame(
    answers.sort(byTarget),
    [
      [`${hearth.origin}/ap/users/${username}`, `${hearth.origin}/ap/users/${username}`],
      [`${hearth.origin}/ap/instance`, `${hearth.origin}/ap/instance`],
      [tool, `${hearth.origin}/repos/${username}/tool`],
      [tool, `${tool}/`],
      [tool, `${tool}?x`],
      [tool, `${tool}#x`],
    ]
      .map(([actor, of]) => ({ type: 'Reject', actor, to: [mallory.id], of: of! }))
      .sort(byTarget),
    'each in the name of the actor that was meant, with what was asked',
  );
});

t.test("SPEC §3 Undo removes the follower: its own row, by the Follow's id or by what was followed", async (t) => {
  const stage = await setStage(t);
  const { hearth, peer, mallory, tool } = stage;
  const other = peer.addActor('/users/other', {}, keysNumber(1));
  const inbox = `${tool}/inbox`;
  const undo = (actor: FakeActor, object: unknown) =>
    peer.deliver(actor, inbox, { id: peer.newId(), type: 'Undo', actor: actor.id, object });
  const join = async (actor: FakeActor) => {
    const follow = followOf(stage, actor);
    await peer.deliver(actor, inbox, follow);
    return follow;
  };
  const follow = await join(mallory);
  await join(other);

  for (const object of [follow.id, follow, { type: 'Follow', actor: mallory.id, object: tool }])
    await undo(other, object);
  t.same((await followers(stage)).includes(mallory.id), true, 'nobody undoes for another');
  await join(other);
  await undo(other, { type: 'Follow', actor: other.id, object: tool });
  t.strictSame(await followers(stage), [mallory.id], 'older software sends no id');
  await undo(mallory, { ...follow, type: 'Like' });
  t.equal((await followers(stage)).length, 1, 'an Undo of something else');
  await undo(mallory, follow.id);
  t.equal((await followers(stage)).length, 0);
  t.equal((await undo(mallory, follow.id)).status, 202, 'and again: nothing to do');

  await join(mallory);
  await undo(mallory, { id: follow.id, type: 'Follow', actor: mallory.id, object: tool });
  t.equal((await followers(stage)).length, 0, 'with the id of an older Follow, the target decides');
  t.equal((await peer.deliver(mallory, inbox, follow)).status, 202);
  t.equal((await followers(stage)).length, 0, 'a replayed Follow restores nothing');
  void hearth;
});

t.test('security J08, SPEC §3 an Accept counts only from the followed actor', async (t) => {
  const stage = await setStage(t);
  const { hearth, peer, mallory, alice, username } = stage;
  const { federation } = hearth.modules;
  const repository = peer.addActor(
    '/repos/bob/lib',
    { type: 'Repository', preferredUsername: 'bob/lib' },
    keysNumber(1),
  );
  const state = async () => (await federation.followingOf(alice.id)).repositories[0]?.status;
  const { id } = await federation.follow(alice.id, repository.id);
  await federation.drain();
  const [follow] = peer.activities();
  t.match(follow, {
    type: 'Follow',
    actor: `${hearth.origin}/ap/users/${username}`,
    object: repository.id,
    to: [repository.id],
  });

  const inbox = `${hearth.origin}/ap/users/${username}/inbox`;
  const accept = (actor: FakeActor, object: unknown, type = 'Accept') =>
    peer.deliver(actor, inbox, { id: peer.newId(), type, actor: actor.id, object });
  await accept(mallory, follow);
  await accept(mallory, follow!['id']);
  t.match(await state(), { state: 'PENDING', why: 'unanswered' }, 'another actor of the same host');
  await accept(repository, follow, 'Reject');
  t.match(await state(), { state: 'PENDING' }, 'a Reject is ignored');
  await accept(repository, { ...follow, id: peer.newId(), actor: mallory.id });
  await accept(repository, { type: 'Follow', actor: `${hearth.origin}/ap/users/${username}`, object: mallory.id });
  t.match(await state(), { state: 'PENDING' }, 'another Follow');
  await accept(repository, { type: 'Follow', actor: `${hearth.origin}/ap/users/${username}`, object: repository.id });
  t.match(await state(), { state: 'ACCEPTED' }, 'by who follows whom');
  await federation.unfollow(alice.id, id);
  await accept(repository, follow);
  t.equal(await state(), undefined, 'an Accept brings nothing back');
});

t.test(
  'SPEC §3 an Accept by the id of the Follow: of the followed actor, for its own Follow, and nothing else embedded',
  async (t) => {
    const stage = await setStage(t);
    const { hearth, peer, alice, username } = stage;
    const { federation } = hearth.modules;
    const otherPeer = await startFakePeer(t);
    const repository = peer.addActor(
      '/repos/bob/lib',
      { type: 'Repository', preferredUsername: 'bob/lib' },
      keysNumber(1),
    );
    const second = peer.addActor('/repos/bob/app', { type: 'Repository', preferredUsername: 'bob/app' }, keysNumber(1));
    const foreign = otherPeer.addActor(
      '/repos/bob/lib',
      { type: 'Repository', preferredUsername: 'bob/lib' },
      keysNumber(1),
    );
    for (const { id } of [repository, second, foreign]) await federation.follow(alice.id, id);
    await federation.drain();
    const follow = peer.activities().find(({ object }) => object === repository.id) as {
      id: string;
      object: string;
      actor: string;
    };
    const states = async () =>
      Object.fromEntries(
        (await federation.followingOf(alice.id)).repositories.map(({ remoteActorId, state }) => [remoteActorId, state]),
      );
    const pending = { [repository.id]: 'PENDING', [second.id]: 'PENDING', [foreign.id]: 'PENDING' };
    t.strictSame(await states(), pending);

    const { headers, status, body } = await sendRaw({
      url: follow.id,
      method: 'GET',
      headers: [
        ['Host', new URL(follow.id).host],
        ['Accept', 'application/activity+json'],
      ],
    });
    t.match(
      { status, type: headers['content-type'] },
      { status: 200, type: /^application\/activity\+json/ },
      'the id of a Follow can be looked up',
    );
    t.strictSame(JSON.parse(body), follow, 'and is what was sent');
    t.match(follow, { type: 'Follow', actor: `${hearth.origin}/ap/users/${username}`, object: repository.id });

    const inbox = `${hearth.origin}/ap/users/${username}/inbox`;
    const accept = (by: FakeActor, object: unknown, more: object = {}, from = peer) =>
      from.deliver(by, inbox, { id: from.newId(), type: 'Accept', actor: by.id, object, ...more });
    const noActor = { ...follow, actor: undefined };
    const wrong: [name: string, by: FakeActor, object: unknown][] = [
      ['another repository of the same person', second, follow.id],
      ['another repository, with what was sent', second, follow],
      ['another person in what is embedded', repository, { ...follow, actor: stage.mallory.id }],
      ['another of our people', repository, { ...follow, actor: `${hearth.origin}/ap/users/another` }],
      ['our instance as the follower', repository, { ...follow, actor: `${hearth.origin}/ap/instance` }],
      ['two followers', repository, { ...follow, actor: [follow.actor, stage.mallory.id] }],
      ['another followed repository', repository, { ...follow, object: second.id }],
      ['two followed repositories', repository, { ...follow, object: [repository.id, second.id] }],
      ['no repository', repository, { ...follow, object: null }],
      ['not a Follow', repository, { ...follow, type: 'Like' }],
      ['no type of a kind', repository, { ...follow, type: 5 }],
      ['two ids', repository, [follow.id, follow.id]],
      ['an Undo around it', repository, { type: 'Undo', id: follow.id, object: follow }],
      ['another id, nobody named', repository, { ...noActor, id: peer.newId() }],
      ['the id in capitals', repository, follow.id.toUpperCase()],
      ['the id with a query', repository, `${follow.id}?x`],
      ['the id with a fragment', repository, `${follow.id}#x`],
      ['a part of the id', repository, follow.id.slice(0, -1)],
      ['only the last part of it', repository, follow.id.split('/').at(-1)],
      ['a pattern', repository, `${follow.id.slice(0, -1)}%`],
      ['the person who follows', repository, follow.actor],
      ['itself', repository, repository.id],
    ];
    for (const [name, by, object] of wrong) {
      t.equal((await accept(by, object)).status, 202, name);
      t.strictSame(await states(), pending, name);
    }
    t.equal((await accept(foreign, follow.id, {}, otherPeer)).status, 202);
    t.equal((await accept(foreign, follow, { id: peer.newId() }, otherPeer)).status, 401, 'an id on another server');
    t.equal(
      (await accept(foreign, follow, { actor: repository.id }, otherPeer)).status,
      401,
      'in the name of another server',
    );
    t.equal((await accept(second, follow, { actor: repository.id })).status, 401, 'in the name of its neighbour');
    t.strictSame(await states(), pending);

    await accept(repository, follow.id);
    t.strictSame(await states(), { ...pending, [repository.id]: 'ACCEPTED' });
    const { id: secondId } = peer.activities().find(({ object }) => object === second.id)!;
    await accept(second, { id: secondId, type: ['Follow'], object: { id: second.id } });
    t.strictSame(
      await states(),
      { ...pending, [repository.id]: 'ACCEPTED', [second.id]: 'ACCEPTED' },
      'the fields that are there fit',
    );
  },
);

t.test('SPEC §6 a Push is stored when a person here follows its actor, and dropped otherwise', async (t) => {
  const stage = await setStage(t);
  const { hearth, peer, alice } = stage;
  const { federation } = hearth.modules;
  const repository = peer.addActor(
    '/repos/bob/lib',
    { type: 'Repository', preferredUsername: 'bob/lib' },
    keysNumber(1),
  );
  const hash = (digit: string) => digit.repeat(40);
  const push = (more: object = {}) => ({
    id: peer.newId(),
    type: 'Push',
    actor: repository.id,
    published: '2026-01-02T03:04:05Z',
    target: { ref: 'refs/heads/main' },
    hashBefore: hash('0'),
    hashAfter: hash('a'),
    object: {
      type: 'OrderedCollection',
      totalItems: 1,
      orderedItems: [{ type: 'Commit', hash: hash('a'), summary: 'Light &lt;the&gt; fire' }],
    },
    ...more,
  });
  const deliver = (activity: Record<string, unknown>) =>
    peer.deliver(repository, `${hearth.origin}/ap/instance/inbox`, activity);
  await deliver(push());
  t.equal(
    (await hearth.modules.db.read.query('SELECT * FROM received_pushes WHERE actor_id = ?', [repository.id])).length,
    0,
    'nobody follows',
  );
  await federation.follow(alice.id, repository.id);
  await deliver(push());
  t.match(
    (await federation.followingOf(alice.id)).pushes,
    [
      {
        handle: `bob/lib@${peer.host}`,
        branch: 'main',
        hashBefore: hash('0'),
        hashAfter: hash('a'),
        commitCount: 1,
        commits: [{ hash: hash('a'), summary: 'Light <the> fire' }],
        pushedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
      },
    ],
    'a PENDING follow counts too',
  );

  t.comment('whatever is in it, what comes out is bounded and well-formed');
  const long = 'x'.repeat(5000);
  const odd: object[] = [
    { target: { name: 'feature/x' } },
    { target: `${repository.id}/branches/feature%2Fy` },
    { target: [{ ref: `refs/heads/${long}` }] },
    { target: 5 },
    { hashBefore: 'HEAD', hashAfter: '../../etc' },
    { hashAfter: 'A'.repeat(40) },
    { hashAfter: 'b'.repeat(64) },
    { object: [] },
    { object: null },
    { object: [`${repository.id}/commits/${hash('c')}`] },
    { object: { items: [{ id: `x/${hash('d')}` }, 'nonsense', 5, null] } },
    {
      object: {
        totalItems: 1e300,
        orderedItems: Array.from({ length: 120 }, () => ({ hash: hash('e'), summary: long })),
      },
    },
    { object: { totalItems: -5, orderedItems: [{ hash: hash('f'), summary: 'a\u0000b\u202e\ud800' }] } },
    { published: '9999-12-31T23:59:59Z' },
    { published: 'yesterday' },
    { published: -1 },
    { type: ['Push', 'Note'] },
  ];
  for (const more of odd) t.equal((await deliver(push(more))).status, 202, JSON.stringify(more).slice(0, 80));
  const { pushes } = await federation.followingOf(alice.id);
  t.equal(pushes.length, odd.length + 1);
  for (const each of pushes) {
    t.ok(
      each.branch.length <= 255 &&
        each.commits.length <= 50 &&
        each.commits.every(({ summary }) => summary.length <= 250),
    );
    t.ok(
      each.pushedAt <= Date.now() + 1000 &&
        each.commitCount >= each.commits.length &&
        each.commitCount <= 1_000_000_000,
    );
    t.ok(each.hashAfter === null || /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(each.hashAfter));
    t.ok(JSON.stringify(each).isWellFormed() && !JSON.stringify(each).includes('\\u0000'));
  }
  const branches = new Set(pushes.map(({ branch }) => branch));
  t.strictSame(
    [...branches].sort(),
    ['', 'feature/x', 'feature/y', 'main', long.slice(0, 255 - 'refs/heads/'.length)].sort(),
  );
});

t.test('a hundred concurrent copies of one activity have one effect, and a hundred successful responses', async (t) => {
  const stage = await setStage(t);
  const { peer, mallory, tool } = stage;
  const before = [
    await count(stage, 'repository_followers'),
    await count(stage, 'federation_delivery'),
    await count(stage, 'federation_inbox'),
  ] as const;
  const body = JSON.stringify(followOf(stage, mallory));
  const headers = Object.entries(
    sign({ url: `${tool}/inbox`, body, keyId: mallory.keyId, privateKey: mallory.keys.privateKey }),
  );
  const responses = await Promise.all(
    Array.from({ length: 100 }, () => sendRaw({ url: `${tool}/inbox`, headers, body })),
  );
  t.strictSame([...new Set(responses.map(({ status }) => status))], [202]);
  t.strictSame(
    [
      await count(stage, 'repository_followers'),
      await count(stage, 'federation_delivery'),
      await count(stage, 'federation_inbox'),
    ],
    before.map((rows) => rows + 1),
  );
  t.equal(peer.received.filter(({ path }) => path === '/users/mallory').length, 1, 'and the key was asked for once');
});

t.test('an actor can use up its own activity ids only', async (t) => {
  const stage = await setStage(t);
  const { peer, mallory, tool } = stage;
  const other = peer.addActor('/users/other', {}, keysNumber(1));
  const follow = followOf(stage, other);
  t.equal(
    (await peer.deliver(mallory, `${tool}/inbox`, { ...follow, actor: mallory.id, object: 'nothing' })).status,
    202,
    'burnt in its own name',
  );
  const unsigned = sign({
    url: `${tool}/inbox`,
    body: JSON.stringify(follow),
    keyId: other.keyId,
    privateKey: mallory.keys.privateKey,
  });
  t.equal(
    (await sendRaw({ url: `${tool}/inbox`, headers: Object.entries(unsigned), body: JSON.stringify(follow) })).status,
    401,
  );
  t.equal((await peer.deliver(other, `${tool}/inbox`, follow)).status, 202);
  t.strictSame(await followers(stage), [other.id]);
});

t.test('SPEC §8 a remote actor is asked for once in six hours', async (t) => {
  const clock = fixedClock(Date.now());
  const stage = await setStage(t, clock);
  const { peer, mallory, tool } = stage;
  const requestCount = () => peer.received.filter(({ path }) => path === '/users/mallory').length;
  const deliver = () => {
    const body = JSON.stringify(followOf(stage, mallory));
    const date = new Date(clock.now()).toUTCString();
    return sendRaw({
      url: `${tool}/inbox`,
      body,
      headers: Object.entries(
        sign({ url: `${tool}/inbox`, body, date, keyId: mallory.keyId, privateKey: mallory.keys.privateKey }),
      ),
    });
  };
  t.equal((await deliver()).status, 202);
  clock.advance(6 * 3_600_000 - 1);
  t.equal((await deliver()).status, 202);
  t.equal(requestCount(), 1);
  clock.advance(1);
  t.equal((await deliver()).status, 202);
  t.equal(requestCount(), 2);
  clock.advance(-3_600_000);
  t.equal((await deliver()).status, 202);
  t.equal(requestCount(), 3, 'what was fetched in the future, by a clock that was wrong, is no longer current');
  const request = peer.received[0]!;
  t.match(
    request.headers['signature'],
    new RegExp(`keyId="${stage.hearth.origin}/ap/instance#main-key".*headers="\\(request-target\\) host date"`),
    'signed by the instance',
  );
  t.match(request.headers['accept'], /application\/activity\+json/);
});

t.test(
  'a key that no longer fits is asked for again, at most once a minute; what fails is not asked again for a minute',
  async (t) => {
    const clock = fixedClock(Date.now());
    const stage = await setStage(t, clock);
    const { hearth, peer, mallory, tool } = stage;
    const requestCount = (path = '/users/mallory') => peer.received.filter((request) => request.path === path).length;
    const deliver = async (actor: FakeActor, keys = actor.keys) => {
      const body = JSON.stringify(followOf(stage, actor));
      const date = new Date(clock.now()).toUTCString();
      const headers = sign({ url: `${tool}/inbox`, body, date, keyId: actor.keyId, privateKey: keys.privateKey });
      return (await sendRaw({ url: `${tool}/inbox`, body, headers: Object.entries(headers) })).status;
    };
    t.equal(await deliver(mallory), 202);
    t.equal(await deliver(mallory, keysNumber(1)), 401, 'too soon to ask again');
    t.equal(requestCount(), 1);
    peer.addActor('/users/mallory', {}, keysNumber(1));
    clock.advance(60_000);
    t.equal(await deliver(mallory, keysNumber(1)), 202, 'the new key');
    t.equal(requestCount(), 2);
    for (let turn = 0; turn < 5; turn++) t.equal(await deliver(mallory, keysNumber(0)), 401);
    t.equal(requestCount(), 2);
    clock.advance(60_000);
    for (let turn = 0; turn < 5; turn++) await deliver(mallory, keysNumber(0));
    t.equal(requestCount(), 3);

    const unknownActor = {
      ...mallory,
      id: `${peer.origin}/users/nobody`,
      keyId: `${peer.origin}/users/nobody#main-key`,
    };
    for (let turn = 0; turn < 5; turn++) t.equal(await deliver(unknownActor), 401);
    t.equal(requestCount('/users/nobody'), 1);
    clock.advance(60_001);
    t.equal(await deliver(unknownActor), 401);
    t.equal(requestCount('/users/nobody'), 2);
    t.equal((await rowsOf(hearth)).includes('nobody'), false);
  },
);

t.test('a key in a document of its own is believed when the actor publishes it, too', async (t) => {
  const stage = await setStage(t);
  const { peer, tool } = stage;
  const keys = keysNumber(1);
  const id = `${peer.origin}/users/sloth`;
  const keyId = `${id}/main-key`;
  const sloth = peer.addActor('/users/sloth', { publicKey: { id: keyId, owner: id, publicKeyPem: pemOf(keys) } }, keys);
  peer.respond('/users/sloth/main-key', {
    id,
    type: 'Person',
    publicKey: { id: keyId, owner: id, publicKeyPem: pemOf(keys) },
  });
  t.equal(
    (await peer.deliver({ ...sloth, keyId }, `${tool}/inbox`, followOf(stage, sloth))).status,
    202,
    'as GoToSocial serves it',
  );
  t.strictSame(await followers(stage), [id]);

  const foreign = { id: `${peer.origin}/keys/1`, owner: sloth.id, publicKeyPem: pemOf(keysNumber(2)) };
  peer.respond('/keys/1', foreign);
  const pretender = { ...sloth, keys: keysNumber(2), keyId: foreign.id };
  t.equal(
    (await peer.deliver(pretender, `${tool}/inbox`, followOf(stage, sloth))).status,
    401,
    'a key that its owner does not name',
  );

  const other = await startFakePeer(t);
  const abroad = `${peer.origin}/keys/2`;
  const publicKey = { id: abroad, owner: `${other.origin}/users/crow`, publicKeyPem: pemOf(keysNumber(3)) };
  const crow = other.addActor('/users/crow', { publicKey }, keysNumber(3));
  peer.respond('/keys/2', publicKey);
  t.equal(
    (await peer.deliver({ ...crow, keyId: abroad }, `${tool}/inbox`, followOf(stage, crow))).status,
    401,
    'an owner on another host',
  );
  t.strictSame(other.received, [], 'who is not even asked');
});

t.test('reading is liberal: types in arrays, objects where ids are usual, any content type', async (t) => {
  const stage = await setStage(t);
  const { peer, mallory, tool } = stage;
  const shapes: object[] = [
    { type: ['Follow'] },
    { type: ['x:Follow', 'Follow'] },
    { actor: { id: mallory.id, type: 'Person' } },
    { actor: [mallory.id] },
    { object: { id: tool, type: 'Repository' } },
    { object: [tool] },
    { '@context': undefined },
    { to: 'nobody', cc: 5, extra: { deep: [[[[]]]] } },
  ];
  for (const shape of shapes) {
    await peer.deliver(mallory, `${tool}/inbox`, {
      id: peer.newId(),
      type: 'Undo',
      actor: mallory.id,
      object: { type: 'Follow', object: tool },
    });
    t.equal((await followers(stage)).length, 0);
    await peer.deliver(mallory, `${tool}/inbox`, followOf(stage, mallory, shape));
    t.equal((await followers(stage)).length, 1, JSON.stringify(shape));
  }
  const body = JSON.stringify(followOf(stage, mallory));
  const headers = {
    ...sign({ url: `${tool}/inbox`, body, keyId: mallory.keyId, privateKey: mallory.keys.privateKey }),
    'Content-Type': 'text/plain',
    Cookie: 'hearth_session=x',
    Authorization: 'Bearer x',
  };
  t.equal((await sendRaw({ url: `${tool}/inbox`, headers: Object.entries(headers), body })).status, 202);
  for (const algorithm of ['hs2019', null]) {
    const other = JSON.stringify(followOf(stage, mallory, { id: `${peer.origin}/${randomUUID()}` }));
    const signed = sign({
      url: `${tool}/inbox`,
      body: other,
      algorithm,
      keyId: mallory.keyId,
      privateKey: mallory.keys.privateKey,
    });
    t.equal(
      (await sendRaw({ url: `${tool}/inbox`, headers: Object.entries(signed), body: other })).status,
      202,
      String(algorithm),
    );
  }
});
