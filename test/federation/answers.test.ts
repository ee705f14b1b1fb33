// What a note's way is when the other server refuses, signs in another way, or is no Hearth.
import { createHash, verify } from 'node:crypto';
import t from 'tap';
import { verifyRequest } from '@fedify/fedify/sig';
import { getDocumentLoader } from '@fedify/fedify/runtime';
import { localAdministrator } from '../../src/access/index.ts';
import { startFakePeer } from './fake-peer.ts';
import type { FakePeer, Received } from './fake-peer.ts';
import { startPeer } from './two-instances.ts';

const hearth = await startPeer(t, { host: '127.0.0.1', allow: ['127.0.0.3', '127.0.0.4', '127.0.0.5', '127.0.0.6'] });
const { federation, repositories, accounts, db } = hearth.modules;
await accounts.addPerson({ username: 'alice' });
const tool = `${hearth.origin}/ap/repos/alice/tool`;
const { id: toolId } = await repositories.create(localAdministrator, {
  owner: 'alice',
  name: 'tool',
  visibility: 'PUBLIC',
});

async function peerOf(host: string, software: string): Promise<FakePeer> {
  const peer = await startFakePeer(t, { host });
  const rel = 'http://nodeinfo.diaspora.software/ns/schema/2.0';
  peer.respond('/.well-known/nodeinfo', { links: [{ rel, href: `${peer.origin}/nodeinfo/2.0` }] });
  peer.respond('/nodeinfo/2.0', { version: '2.0', software: { name: software, version: '1' } });
  return peer;
}

async function follow(peer: FakePeer, name: string) {
  const actor = peer.addActor(`/users/${name}`);
  await peer.deliver(actor, `${tool}/inbox`, { id: peer.newId(), type: 'Follow', actor: actor.id, object: tool });
  await federation.drain();
  return actor;
}

/** A note to each follower that reads notes. */
async function note(): Promise<void> {
  await db.write(async (tx) => {
    const listener = federation.onRelease!;
    await listener(tx, {
      action: 'published',
      repository: { id: toolId, name: 'tool' },
      release: { tag: 'v1', title: '', authorId: null },
    } as never);
  });
  await federation.drain();
}

const rowsTo = (inbox: string): Promise<{ state: string; attempts: number; last_error: string | null }[]> =>
  db.read.query(
    `SELECT d.state, d.attempts, d.last_error FROM federation_delivery d JOIN federation_outbox o ON o.id = d.outbox_id
      WHERE d.target_inbox = ? AND o.type = 'Create' ORDER BY d.id`,
    [inbox],
  );

t.test('a server that refuses one scheme is asked by the other, and that is remembered', async (t) => {
  const peer = await peerOf('127.0.0.3', 'mastodon');
  const reader = await follow(peer, 'reader');
  const posts: Received[] = [];
  peer.respond('/users/reader/inbox', (request, response) => {
    posts.push(request);
    response.writeHead(request.headers['signature-input'] === undefined ? 401 : 202).end();
  });
  await note();
  t.strictSame(
    posts.map(({ headers }) => headers['signature-input'] === undefined),
    [true, false],
  );
  t.match(await rowsTo(reader.inbox), [{ state: 'DELIVERED', attempts: 1 }]);
  await note();
  t.equal(posts.length, 3, 'the next one is signed so from the start');

  const { headers, body } = posts[2]!;
  t.equal(headers['content-digest'], `sha-256=:${createHash('sha256').update(body).digest('base64')}:`);
  const input = String(headers['signature-input']).slice('sig1='.length);
  const base = [
    '"@method": POST',
    `"@target-uri": ${peer.origin}/users/reader/inbox`,
    `"content-digest": ${headers['content-digest'] as string}`,
    `"@signature-params": ${input}`,
  ].join('\n');
  const [key]: { public_key_pem: string }[] = await db.read.query(
    "SELECT public_key_pem FROM federation_keys WHERE ap_path = '/ap/repos/alice/tool'",
  );
  const signature = Buffer.from(/^sig1=:(.+):$/.exec(String(headers['signature']))![1]!, 'base64');
  t.ok(verify('sha256', Buffer.from(base), key!.public_key_pem, signature), 'RFC 9421 §2.5, without a line of ours');
  const documentLoader = getDocumentLoader({ allowPrivateAddress: true });
  const request = (text: string) =>
    new Request(`${peer.origin}/users/reader/inbox`, {
      method: 'POST',
      headers: headers as Record<string, string>,
      body: text,
    });
  const options = { documentLoader, spec: 'rfc9421' as const };
  t.equal((await verifyRequest(request(body), options))?.id?.href, `${tool}#main-key`, 'Fedify verifies it');
  t.equal(await verifyRequest(request(`${body} `), options), null, 'and notices a change');
});

t.test('a server that refuses both is not asked twice each time; a forge never', async (t) => {
  for (const [host, software, first] of [
    ['127.0.0.4', 'gotosocial', 2],
    ['127.0.0.5', 'hearth', 1],
  ] as const) {
    const peer = await peerOf(host, software);
    const reader = await follow(peer, 'reader');
    let posts = 0;
    peer.respond('/users/reader/inbox', (_request, response) => {
      posts += 1;
      response.writeHead(401).end('{"error":"who are you?"}');
    });
    const send = async () => {
      if (software === 'gotosocial') return note();
      const activity = { id: peer.newId(), type: 'Follow', actor: reader.id, object: tool };
      await peer.deliver(reader, `${tool}/inbox`, activity);
      await federation.drain();
    };
    await send();
    t.equal(posts, first, software);
    await send();
    t.match(posts <= first + 2, true, `${software}: once for each`);
    if (software === 'gotosocial')
      t.match(await rowsTo(reader.inbox), [
        { state: 'PENDING', attempts: 1, last_error: /: \{"error":"who are you\?"\}$/ },
      ]);
  }
});

t.test('a server that reads RFC 9421 alone serves its actors to us, asked by the other scheme once', async (t) => {
  const peer = await startFakePeer(t, { host: '127.0.0.6' });
  const actors = ['first', 'second'].map((name) => peer.addActor(`/users/${name}`));
  const asked: Received[] = [];
  for (const { id, document } of actors)
    peer.respond(new URL(id).pathname, (request, response) => {
      asked.push(request);
      const isSigned = request.headers['signature-input'] !== undefined;
      response.writeHead(isSigned ? 200 : 401, { 'Content-Type': 'application/activity+json' });
      response.end(isSigned ? JSON.stringify(document) : '');
    });
  const isMessage = () => asked.map(({ headers }) => headers['signature-input'] !== undefined);
  for (const actor of actors)
    t.match(
      await peer.deliver(actor, `${tool}/inbox`, {
        id: peer.newId(),
        type: 'Follow',
        actor: actor.id,
        object: tool,
      }),
      { status: 202 },
    );
  t.strictSame(isMessage(), [false, true, true], 'and that is remembered');
  const { headers, path } = asked[2]!;
  t.equal(headers['content-digest'], undefined, 'there is no content');
  const documentLoader = getDocumentLoader({ allowPrivateAddress: true });
  const request = new Request(peer.origin + path, { headers: headers as Record<string, string> });
  const key = await verifyRequest(request, { documentLoader, spec: 'rfc9421' });
  t.equal(key?.id?.href, `${hearth.origin}/ap/instance#main-key`, 'Fedify verifies it');

  const strict = await startFakePeer(t, { host: '127.0.0.5' });
  const nobody = strict.addActor('/users/nobody');
  strict.respond('/users/nobody', (_request, response) => void response.writeHead(401).end());
  for (const number of [1, 2])
    t.match(
      await strict.deliver({ ...nobody, keyId: `${nobody.id}#key-${number}` }, `${tool}/inbox`, {
        id: strict.newId(),
        type: 'Follow',
        actor: nobody.id,
        object: tool,
      }),
      { status: 401 },
    );
  const gets = strict.received.filter(({ path: asked }) => asked === '/users/nobody').length;
  t.equal(gets, 3, 'one that refuses both is asked twice once');
});

t.test('a note that is refused for good is not sent eight times; what may pass is', async (t) => {
  const peer = await peerOf('127.0.0.6', 'mastodon');
  const cases: [status: number, state: string][] = [
    [400, 'FAILED'],
    [404, 'FAILED'],
    [405, 'FAILED'],
    [406, 'FAILED'],
    [422, 'FAILED'],
    [501, 'FAILED'],
    [403, 'PENDING'],
    [429, 'PENDING'],
    [500, 'PENDING'],
    [503, 'PENDING'],
  ];
  const readers = [];
  for (const [status] of cases) {
    const actor = await follow(peer, `r${status}`);
    peer.respond(`/users/r${status}/inbox`, (_request, response) => void response.writeHead(status).end('<p>page</p>'));
    readers.push(actor);
  }
  await note();
  for (const [index, [status, state]] of cases.entries())
    t.match(await rowsTo(readers[index]!.inbox), [{ state, attempts: 1 }], String(status));
  t.notMatch((await rowsTo(readers[0]!.inbox))[0]!.last_error, '<', 'a page is not quoted');
});

t.test('replies to notes are kept out and counted', async (t) => {
  const peer = await peerOf('127.0.0.3', 'mastodon');
  const reader = peer.addActor('/users/replier');
  const before = { ...federation.measures.inbox };
  const reply = (inReplyTo: unknown) => ({
    id: peer.newId(),
    type: 'Create',
    actor: reader.id,
    object: { id: peer.newId(), type: 'Note', inReplyTo },
  });
  for (const to of [`${tool}/notes/1`, { id: `${tool}/notes/2` }, `${peer.origin}/notes/1`, null, ['x', 'y']])
    t.equal((await peer.deliver(reader, `${tool}/inbox`, reply(to))).status, 202);
  t.match(federation.measures.inbox, { reply: before.reply + 2, ignored: before.ignored + 3 });
});

t.test('other software is tested as far as that goes, and a NodeInfo without end ends soon', async (t) => {
  const peer = await peerOf('127.0.0.3', 'gotosocial');
  const states = async () => (await federation.checkPeer(peer.host)).map(({ name, ok }) => [name, ok]);
  t.match(await states(), [
    ['allowed', true],
    ['resolve', true],
    ['webfinger', true],
    ['actor', null],
    ['clock', true],
    ['signature', null],
  ]);
  t.match((await federation.checkPeer(peer.host))[3]!.words, /gotosocial names no actor of its own/);
  peer.respond('/.well-known/nodeinfo', (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(`{"links":"${'x'.repeat(10 * 1024 * 1024)}"}`);
  });
  t.match((await states())[3], ['actor', false]);
  const started = performance.now();
  const actor = await follow(peer, 'large');
  t.match(performance.now() - started < 5_000, true);
  t.ok(
    (await federation.listFollowers('alice', 'tool')).some(({ actorId }) => actorId === actor.id),
    'it follows',
  );
});
