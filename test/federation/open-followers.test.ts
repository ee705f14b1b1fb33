// Followers from servers that are on no list: what they may send, what is fetched and sent for it, budgets, approval.
import path from 'node:path';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { keysNumber, pemOf, sendRaw, sign, startFakePeer } from './fake-peer.ts';
import type { FakeActor, FakePeer } from './fake-peer.ts';
import { sendRequest } from '../fixtures/web-fixture.ts';
import { runGit } from '../fixtures/git-repositories.ts';
import { startPeer } from './two-instances.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

const hearth = await startPeer(t, {
  host: '127.0.0.1',
  allow: ['127.0.0.9'],
  env: { SERVICE_FEDERATION_OPEN_FOLLOWERS: 'true', SERVICE_FEDERATION_OPEN_FOLLOWERS_PER_HOST: '4' },
});
const { federation, organisations, repositories, db } = hearth.modules;
const alice = await hearth.addPerson('alice');
await organisations.create(localAdministrator, { name: 'acme', owner: 'alice' });
const create = (owner: string, name: string, visibility: 'PUBLIC' | 'PRIVATE' = 'PUBLIC') =>
  repositories.create(localAdministrator, { owner, name, visibility });
const tool = await create('alice', 'tool');
await create('alice', 'secret', 'PRIVATE');
const lib = await create('acme', 'lib');
const idOf = {
  tool: `${hearth.origin}/ap/repos/alice/tool`,
  secret: `${hearth.origin}/ap/repos/alice/secret`,
  lib: `${hearth.origin}/ap/repos/acme/lib`,
  alice: `${hearth.origin}/ap/users/alice`,
  acme: `${hearth.origin}/ap/orgs/acme`,
  instance: `${hearth.origin}/ap/instance`,
};

const follow = (peer: FakePeer, actor: FakeActor, object: string, more: object = {}) => ({
  '@context': 'https://www.w3.org/ns/activitystreams',
  id: peer.newId(),
  type: 'Follow',
  actor: actor.id,
  object,
  ...more,
});
const undo = (peer: FakePeer, actor: FakeActor, object: unknown) => ({
  id: peer.newId(),
  type: 'Undo',
  actor: actor.id,
  object,
});
const json = async (url: string) => {
  const headers: [string, string][] = [
    ['Host', hearth.host],
    ['Accept', 'application/activity+json'],
  ];
  const { status, body } = await sendRaw({ url, method: 'GET', headers });
  return { status, document: status === 200 ? (JSON.parse(body) as Record<string, unknown>) : {} };
};
const followersOf = async (subject: string): Promise<unknown> => {
  const { document } = await json(`${subject}/followers`);
  return (document['first'] as { orderedItems: unknown } | undefined)?.orderedItems;
};
const gets = (peer: FakePeer) => peer.received.filter(({ method }) => method === 'GET').map(({ path }) => path);
const posts = (peer: FakePeer) => peer.activities().map(({ type, object }) => [type, (object as { id?: string }).id]);
const logged = () => hearth.log.filter(({ event }) => event === 'federation.refused').map((line) => line['reason']);

/** To the default branch of alice/tool. */
async function push(): Promise<void> {
  const work = path.join(hearth.folder, 'work');
  await runGit(['init', '-q', '-b', 'main', work], { cwd: hearth.folder });
  await runGit(['commit', '-q', '--allow-empty', '-m', 'One'], { cwd: work });
  const url = `http://alice:${alice.token}@${hearth.host}/git/alice/tool.git`;
  await runGit(['push', '-q', url, 'main'], { cwd: work });
  const written = async () => (await db.read.query("SELECT 1 FROM federation_outbox WHERE type = 'Create'")).length;
  await waitUntil(async () => (await written()) >= 2, 'the notes are written');
}

t.test('a server on no list follows a repository, a user, an organisation, and leaves', async (t) => {
  const peer = await startFakePeer(t, { host: '127.0.0.10' });
  const zork = peer.addActor('/users/zork');
  for (const target of [idOf.tool, idOf.alice, idOf.acme, idOf.lib]) {
    peer.received.length = 0;
    const wanted = follow(peer, zork, target);
    t.equal((await peer.deliver(zork, `${target}/inbox`, wanted)).status, 202);
    t.strictSame(await followersOf(target), [zork.id], target);
    await federation.drain();
    t.match(peer.activities(), [{ type: 'Accept', actor: target, object: { id: wanted.id, object: target } }]);
    t.strictSame(
      gets(peer).filter((path) => path !== '/users/zork'),
      [],
      'nothing but the signer is fetched',
    );
    t.equal((await peer.deliver(zork, `${target}/inbox`, undo(peer, zork, wanted))).status, 202);
    t.strictSame(await followersOf(target), []);
  }
  const wanted = follow(peer, zork, idOf.alice);
  await peer.deliver(zork, `${idOf.alice}/inbox`, wanted);
  await peer.deliver(zork, `${idOf.alice}/inbox`, undo(peer, zork, wanted.id));
  t.strictSame(await followersOf(idOf.alice), [], 'by the id of the Follow alone');
});

t.test('everything else of it gets 401 before any fetch', async (t) => {
  const peer = await startFakePeer(t, { host: '127.0.0.11' });
  const zork = peer.addActor('/users/zork');
  const other = await startFakePeer(t, { host: '127.0.0.12' });
  const foreign = other.addActor('/users/zork');
  const repository = peer.addActor('/repos/zork/tool', { type: 'Repository' });
  const sent: [string, FakeActor, object][] = [
    ...['Accept', 'Reject', 'Push', 'Create', 'Delete', 'Like', 'Announce', 'Update', 'Move', 'Block', 'x'].map(
      (type): [string, FakeActor, object] => [
        type,
        zork,
        { id: peer.newId(), type, actor: zork.id, object: idOf.tool },
      ],
    ),
    ['Push of a repository', repository, { id: peer.newId(), type: 'Push', actor: repository.id, object: [] }],
    ['Delete of itself', zork, { id: peer.newId(), type: 'Delete', actor: zork.id, object: zork.id }],
    ['Undo of a Like', zork, undo(peer, zork, { type: 'Like', actor: zork.id, object: idOf.tool })],
    ['Undo of an unknown id', zork, undo(peer, zork, `${peer.origin}/follows/1`)],
    ['Undo of nothing', zork, { id: peer.newId(), type: 'Undo', actor: zork.id }],
    ['Follow of something absent', zork, follow(peer, zork, `${hearth.origin}/ap/repos/alice/absent`)],
    ['Follow of something private', zork, follow(peer, zork, idOf.secret)],
    ['Follow of something elsewhere', zork, follow(peer, zork, repository.id)],
    ['Follow in the name of another host', zork, follow(peer, foreign, idOf.tool)],
    ['Push before Follow', zork, follow(peer, zork, idOf.tool, { type: ['Push', 'Follow'] })],
    ['Follow of two', zork, follow(peer, zork, idOf.tool, { object: [idOf.tool, idOf.lib] })],
    ['no type', zork, { id: peer.newId(), actor: zork.id, object: idOf.tool }],
  ];
  for (const [name, actor, activity] of sent) {
    t.equal((await peer.deliver(actor, `${idOf.tool}/inbox`, activity as never)).status, 401, name);
  }
  for (const body of ['[]', 'x', '', `{"type":"Follow","padding":"${'x'.repeat(70_000)}"}`]) {
    const headers = sign({ url: `${idOf.tool}/inbox`, body, keyId: zork.keyId, privateKey: zork.keys.privateKey });
    const { status } = await sendRaw({ url: `${idOf.tool}/inbox`, headers: Object.entries(headers), body });
    t.match([401, 413].includes(status), true, body.slice(0, 20));
  }
  t.equal(peer.connections() + other.connections(), 0, 'nobody was asked for anything');
  t.strictSame(await followersOf(idOf.tool), []);
});

t.test('a signature, an actor and an inbox of its own are asked of it as of every other', async (t) => {
  const peer = await startFakePeer(t, { host: '127.0.0.13' });
  const zork = peer.addActor('/users/zork');
  const elsewhere = peer.addActor('/users/ines', { inbox: 'http://127.0.0.99:9/inbox' });
  const wrongKey: FakeActor = { ...zork, keys: keysNumber(2) };
  const keyOfOther = peer.addActor('/users/kim', {
    publicKey: { id: zork.keyId, owner: zork.id, publicKeyPem: pemOf(zork.keys) },
  });
  for (const actor of [elsewhere, wrongKey, { ...keyOfOther, keyId: zork.keyId }]) {
    const { status } = await peer.deliver(actor, `${idOf.tool}/inbox`, follow(peer, actor, idOf.tool));
    t.equal(status, 401);
  }
  t.strictSame(await followersOf(idOf.tool), []);
});

t.test('a server has as many followers as it may, and each beyond is told at once', async (t) => {
  const peer = await startFakePeer(t, { host: '127.0.0.14' });
  const targets = [idOf.tool, idOf.alice, idOf.acme, idOf.lib, idOf.tool, idOf.acme];
  for (const [index, target] of targets.entries()) {
    const actor = peer.addActor(`/users/u${index}`);
    t.equal((await peer.deliver(actor, `${target}/inbox`, follow(peer, actor, target))).status, 202);
  }
  await federation.drain();
  const answers = posts(peer).map(([type]) => type);
  t.strictSame(answers.sort(), ['Accept', 'Accept', 'Accept', 'Accept', 'Reject', 'Reject']);
  const first = { ...peer.addActor('/users/u0') };
  await peer.deliver(first, `${idOf.tool}/inbox`, follow(peer, first, idOf.tool));
  await federation.drain();
  t.strictSame(posts(peer).at(-1)?.[0], 'Accept', 'who follows already may say so again');
});

t.test('one server names many unknown signers: the fetches for it end, those for others go on', async (t) => {
  const peer = await startFakePeer(t, { host: '127.0.0.15' });
  const statuses = new Map<number, number>();
  const startedAt = performance.now();
  for (let index = 0; index < 45; index += 1) {
    const actor = peer.addActor(`/users/m${index}`);
    const { status } = await peer.deliver(actor, `${idOf.tool}/inbox`, follow(peer, actor, idOf.tool));
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  // Thirty at once, and one every two seconds, however slow the machine is.
  const most = 31 + (performance.now() - startedAt) / 2_000;
  const found = JSON.stringify([...statuses]);
  t.ok((statuses.get(202) ?? 0) <= most, found);
  t.equal((statuses.get(202) ?? 0) + (statuses.get(503) ?? 0), 45, found);
  const other = await startFakePeer(t, { host: '127.0.0.16' });
  const zoe = other.addActor('/users/zoe');
  t.equal((await other.deliver(zoe, `${idOf.lib}/inbox`, follow(other, zoe, idOf.lib))).status, 202);
});

t.test('a blocked server or actor gets nothing and follows nothing, on the list or not', async (t) => {
  const listed = await startFakePeer(t, { host: '127.0.0.9' });
  const unlisted = await startFakePeer(t, { host: '127.0.0.17' });
  await db.write(({ manager }) => manager.query('DELETE FROM owner_followers'));
  for (const peer of [listed, unlisted]) {
    const [good, bad] = [peer.addActor('/users/good'), peer.addActor('/users/bad')];
    for (const actor of [good, bad])
      t.equal((await peer.deliver(actor, `${idOf.alice}/inbox`, follow(peer, actor, idOf.alice))).status, 202);
    t.strictSame(await followersOf(idOf.alice), [bad.id, good.id].sort());
    await federation.addBlock(bad.id, 'spam');
    t.strictSame(await followersOf(idOf.alice), [good.id]);
    t.equal((await peer.deliver(bad, `${idOf.alice}/inbox`, follow(peer, bad, idOf.alice))).status, 401);
    await federation.addBlock(new URL(peer.origin).hostname.toUpperCase(), 'spam');
    t.strictSame(await followersOf(idOf.alice), []);
    const before = peer.connections();
    t.equal((await peer.deliver(good, `${idOf.alice}/inbox`, follow(peer, good, idOf.alice))).status, 401);
    t.match(logged().at(-1), 'signer_not_allowed');
    await federation.drain();
    t.strictSame(posts(peer), [], 'the Accepts that waited are not sent either');
    await federation.removeBlock(new URL(peer.origin).hostname);
    await federation.removeBlock(bad.id);
    t.match(peer.connections() - before <= 1, true, 'its own request alone');
    t.equal((await peer.deliver(good, `${idOf.alice}/inbox`, follow(peer, good, idOf.alice))).status, 202);
    await peer.deliver(good, `${idOf.alice}/inbox`, undo(peer, good, follow(peer, good, idOf.alice)));
  }
});

t.test('where each follower is approved, nothing is sent before', async (t) => {
  const peer = await startFakePeer(t, { host: '127.0.0.18' });
  const subjects = [
    { subject: { kind: 'repository', id: lib.id }, id: idOf.lib },
    { subject: { kind: 'user', id: alice.id }, id: idOf.alice },
    { subject: { kind: 'organisation', id: (await organisations.find('acme')).id }, id: idOf.acme },
  ] as const;
  for (const { subject, id } of subjects) {
    const before = await followersOf(id);
    const [yes, no] = [peer.addActor(`/users/yes-${subject.kind}`), peer.addActor(`/users/no-${subject.kind}`)];
    t.match((await json(id)).document, { manuallyApprovesFollowers: false });
    await federation.setApproval(subject, true);
    t.match((await json(id)).document, { manuallyApprovesFollowers: true });
    const wanted = [follow(peer, yes, id), follow(peer, no, id)];
    for (const [index, actor] of [yes, no].entries())
      t.equal((await peer.deliver(actor, `${id}/inbox`, wanted[index]!)).status, 202);
    peer.received.length = 0;
    await federation.drain();
    t.strictSame([posts(peer), await followersOf(id)], [[], before]);
    const { requests, approves } = await federation.listSubjectFollowers(subject, { limit: 10, skip: 0 });
    t.strictSame([approves, requests.map(({ actorId }) => actorId).sort()], [true, [no.id, yes.id].sort()]);

    await t.rejects(federation.acceptFollower({ ...subject, id: tool.id }, yes.id), /There is no such follower/);
    await federation.acceptFollower(subject, yes.id);
    await federation.removeFollower(subject, no.id);
    await t.rejects(federation.acceptFollower(subject, no.id), /There is no such follower/);
    await federation.drain();
    t.strictSame(
      posts(peer).sort(),
      [
        ['Accept', wanted[0]!.id],
        ['Reject', wanted[1]!.id],
      ].sort(),
    );
    t.strictSame(await followersOf(id), [yes.id, ...(before as string[])]);
    await federation.removeFollower(subject, yes.id);
    await federation.drain();
    t.match(posts(peer).at(-1), ['Reject', wanted[0]!.id]);
    t.strictSame(await followersOf(id), before);
    await federation.setApproval(subject, false);
  }
});

t.test('followers of an owner get the notes of its public repositories, and each note once', async (t) => {
  const peer = await startFakePeer(t, { host: '127.0.0.19' });
  await db.write(({ manager }) => manager.query('DELETE FROM owner_followers'));
  await db.write(({ manager }) => manager.query('DELETE FROM repository_followers'));
  const [owner, both, forge] = [peer.addActor('/users/owner'), peer.addActor('/users/both'), peer.addActor('/users/x')];
  for (const [actor, target] of [
    [owner, idOf.alice],
    [both, idOf.alice],
    [both, idOf.tool],
    [forge, idOf.acme],
  ] as const)
    t.equal((await peer.deliver(actor, `${target}/inbox`, follow(peer, actor, target))).status, 202);
  await federation.drain();
  peer.received.length = 0;
  await push();
  await federation.drain();
  const got = peer.received
    .filter(({ method }) => method === 'POST')
    .map(({ path, body }) => [path, (JSON.parse(body) as { actor: string }).actor])
    .sort();
  t.strictSame(got, [
    ['/users/both/inbox', idOf.tool],
    ['/users/owner/inbox', idOf.alice],
  ]);
  const note = peer.activities().find(({ actor }) => actor === idOf.alice) as { id: string; object: { id: string } };
  for (const url of [note.id, note.object.id]) t.equal((await json(url)).status, 200, url);
  await repositories.changeVisibility(localAdministrator, 'alice', 'tool', 'PRIVATE');
  for (const url of [note.id, note.object.id]) t.equal((await json(url)).status, 404, 'hidden with its repository');
});

/** The page as a signed-in person gets it, or the answer to a form. */
function askPage(session: string, url: string, form?: Record<string, string>) {
  const headers = { Host: hearth.host, Cookie: `hearth_session=${session}`, Origin: hearth.origin };
  return sendRequest({ port: Number(new URL(hearth.origin).port) }, url, {
    headers,
    ...(form === undefined ? {} : { form }),
  });
}

t.test('pages: those who decide see requests and followers, others see nothing of them', async (t) => {
  const peer = await startFakePeer(t, { host: '127.0.0.20' });
  const bob = await hearth.addPerson('bob');
  const [asks, follows] = [peer.addActor('/users/asks'), peer.addActor('/users/follows')];
  const places = [
    ['/settings', idOf.alice],
    ['/orgs/acme/settings', idOf.acme],
    ['/repos/acme/lib/settings', idOf.lib],
  ] as const;
  const ask = (session: string, url: string, form?: Record<string, string>) => askPage(session, url, form);
  for (const [base, id] of places) {
    const url = `${base}/followers`;
    await peer.deliver(follows, `${id}/inbox`, follow(peer, follows, id));
    t.equal((await ask(alice.session, url, { approves: 'yes' })).status, 303, url);
    await peer.deliver(asks, `${id}/inbox`, follow(peer, asks, id));
    const shown = (await ask(alice.session, url)).body;
    for (const text of [asks.id, follows.id, 'Waiting for approval', /name="approves"[^>]*checked/])
      t.match(shown, text, `${url} ${text}`);
    if (base === '/settings') t.notMatch((await ask(bob.session, url)).body, 'users/asks');
    else t.equal((await ask(bob.session, url)).status, 404, 'hidden like what is absent');
    t.not((await ask(bob.session, `${url}/accept`, { actor: asks.id })).status, 303);
    t.equal((await ask(alice.session, `${url}/accept`, { actor: asks.id })).status, 303);
    t.equal((await ask(alice.session, `${url}/accept`, { actor: asks.id })).status, 404);
    t.equal((await ask(alice.session, `${url}/remove`, { actor: follows.id })).status, 303);
    t.match(await followersOf(id), [asks.id]);
    t.equal((await ask(alice.session, url, {})).status, 303);
    t.notMatch((await ask(alice.session, url)).body, /name="approves"[^>]*checked/);
  }
});

t.test('pages: an administrator blocks, imports and exports', async (t) => {
  const admin = await hearth.addPerson('carol');
  // In the row: the change by its name ends all sessions.
  await db.write(({ manager }) => manager.query('UPDATE users SET is_administrator = 1 WHERE id = ?', [admin.id]));
  const ask = (url: string, form?: Record<string, string>) =>
    askPage(admin.session, `/admin/federation/blocks${url}`, form);
  t.match((await ask('')).body, 'Nothing is blocked');
  t.equal((await ask('', { value: 'spam.example.org', reason: '<floods>' })).status, 303);
  t.match(await ask('', { value: 'not a host', reason: '' }), { status: 422, body: /Enter the name of a server/ });
  t.match(
    (await ask('/import', { list: 'b.example.org\nspam.example.org,floods\n?' })).body,
    /One block was added[^]*line 3/,
  );
  t.match(await ask('/export'), { status: 200, body: /b\.example\.org,suspend,\nspam\.example\.org,suspend,floods/ });
  const page = (await ask('')).body;
  t.match(page, 'spam.example.org');
  t.equal((await ask('/remove', { value: 'spam.example.org' })).status, 303);
  t.notMatch((await ask('')).body, 'spam.example.org<');
  t.match((await askPage(admin.session, '/admin/federation')).body, 'followers only');
});
