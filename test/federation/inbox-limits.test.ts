// Limits of inboxes: cheap requests of unauthenticated senders must not exhaust this server or its peers, nor displace
// legitimate senders.
import { connect } from 'node:net';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { silentLogger } from '../../src/kernel/index.ts';
import { createRefusalLog } from '../../src/http-activitypub/refusal-log.ts';
import { fixedClock } from '../fixtures/fixed-clock.ts';
import type { FixedClock } from '../fixtures/fixed-clock.ts';
import type { Owner } from '../fixtures/temporary-folder.ts';
import { keysNumber, sendRaw, sha256, sign, startFakePeer } from './fake-peer.ts';
import type { FakeActor, FakePeer, RawResponse } from './fake-peer.ts';
import { startPeer } from './two-instances.ts';
import type { Peer } from './two-instances.ts';
import { waitUntil } from '../fixtures/wait-until.ts';

interface Stage {
  hearth: Peer;
  peer: FakePeer;
  inbox: string;
  clock: FixedClock;
}

async function setStage(t: Owner): Promise<Stage> {
  const clock = fixedClock(Date.now());
  const hearth = await startPeer(t, { host: '127.0.0.1', allow: ['127.0.0.3'], clock });
  await hearth.modules.accounts.addPerson({ username: 'alice' });
  await hearth.modules.repositories.create(localAdministrator, { owner: 'alice', name: 'tool', visibility: 'PUBLIC' });
  return { hearth, peer: await startFakePeer(t), inbox: `${hearth.origin}/ap/repos/alice/tool/inbox`, clock };
}

interface Sender {
  keyId: string;
  actor: string;
  /** Client address, as the trusted proxy on loopback tells it. */
  from: string;
}

/** A well-formed, signed Like. */
function like({ peer, inbox, clock }: Stage, { keyId, actor, from }: Sender): Promise<RawResponse> {
  const body = JSON.stringify({ id: peer.newId(), type: 'Like', actor, object: inbox });
  const date = new Date(clock.now()).toUTCString();
  const headers = sign({ url: inbox, body, keyId, privateKey: keysNumber(0).privateKey, date });
  return sendRaw({ url: inbox, headers: [...Object.entries(headers), ['X-Forwarded-For', from]], body });
}

const likeOf = (stage: Stage, actor: FakeActor, from: string) =>
  like(stage, { keyId: actor.keyId, actor: actor.id, from });

/** A signer that does not exist, on the peer's host. */
const likeOfUnknownActor = (stage: Stage, number: number, from: string) =>
  like(stage, { keyId: `${stage.peer.origin}/nobody${number}#main-key`, actor: stage.peer.origin, from });

const busy = ({ status, headers }: RawResponse): boolean => status === 503 && Number(headers['retry-after']) >= 60;

/** The test decides what the peer responds with for documents of unknown actors. */
function respondNothing({ peer }: Stage, count: number, receive: (respond: () => void) => void): void {
  for (let number = 0; number < count; number += 1)
    peer.respond(`/nobody${number}`, (_request, response) => receive(() => response.writeHead(404).end()));
}

t.test('a flood of unknown signers from one network does not block a new signer of another network', async (t) => {
  const stage = await setStage(t);
  respondNothing(stage, 64, (respond) => setTimeout(respond, 100));
  const newcomer = stage.peer.addActor('/users/newcomer');
  const flood = Array.from({ length: 64 }, (_, number) => likeOfUnknownActor(stage, number, '203.0.113.9'));
  await waitUntil(() => stage.peer.received.length >= 2, 'the flood occupies the peer');
  t.equal((await likeOf(stage, newcomer, '198.51.100.7')).status, 202);
  const responses = await Promise.all(flood);
  t.same(
    responses.filter((response) => response.status !== 401 && !busy(response)),
    [],
    'unknown signers get 401, and 503 with Retry-After where the queue is full',
  );
  t.ok(responses.some(busy));
  const text = stage.hearth.log.filter(({ event }) => event === 'federation.refused').map(({ status }) => status);
  t.ok(text.includes(503) && text.includes(401));
});

t.test('a known signer whose key has to be fetched again has a slot that unknown signers cannot take', async (t) => {
  const stage = await setStage(t);
  const known = stage.peer.addActor('/users/known');
  t.equal((await likeOf(stage, known, '198.51.100.7')).status, 202);
  stage.clock.advance(7 * 3_600_000);
  const waiting: (() => void)[] = [];
  respondNothing(stage, 40, (respond) => waiting.push(respond));
  // Each from a network of its own, and no response for any of them.
  const flood = Array.from({ length: 40 }, (_, number) => likeOfUnknownActor(stage, number, `203.0.113.${number}`));
  await waitUntil(() => waiting.length >= 2, 'the flood occupies the peer');
  const fetched = () => stage.peer.received.filter(({ path }) => path === '/users/known').length;
  t.equal((await likeOf(stage, known, '203.0.113.1')).status, 202);
  t.equal(fetched(), 2, 'its key was fetched again');

  for (const respond of waiting) respond();
  respondNothing(stage, 40, (respond) => respond());
  await Promise.all(flood);
});

t.test('forged signatures in the name of a known signer take no slot from it', async (t) => {
  const stage = await setStage(t);
  const known = stage.peer.addActor('/users/known');
  t.equal((await likeOf(stage, known, '198.51.100.7')).status, 202);
  const waiting: (() => void)[] = [];
  stage.peer.respond('/users/known', (_request, response) => waiting.push(() => response.writeHead(404).end()));
  stage.clock.advance(7 * 3_600_000);
  const body = JSON.stringify({ id: stage.peer.newId(), type: 'Like', actor: known.id, object: stage.inbox });
  const date = new Date(stage.clock.now()).toUTCString();
  const { privateKey } = keysNumber(1);
  const forge = (from: string) => {
    const headers = sign({ url: stage.inbox, body, keyId: known.keyId, privateKey, date });
    return sendRaw({ url: stage.inbox, headers: [...Object.entries(headers), ['X-Forwarded-For', from]], body });
  };
  const forged = Array.from({ length: 5 }, (_, number) => forge(`203.0.113.${number}`));
  await waitUntil(() => waiting.length >= 2, 'forged requests ask for the key');
  const follower = await stage.hearth.modules.accounts.addPerson({ username: 'bob' });
  stage.peer.addActor('/users/other');
  const asked = await stage.hearth.modules.federation.follow(follower.id, `${stage.peer.origin}/users/other`);
  t.match(asked, { kind: 'person' }, 'what people here ask for is fetched');
  stage.peer.respond('/users/known', (_request, response) => void response.writeHead(404).end());
  for (const respond of waiting) respond();
  for (const { status } of await Promise.all(forged)) t.ok(status === 401 || status === 503, String(status));
});

t.test('key fetches for unknown signers are limited per network', async (t) => {
  const stage = await setStage(t);
  const responses: RawResponse[] = [];
  // A /64 is one network, whatever address in it is used.
  for (let number = 0; number < 150; number += 1)
    responses.push(await likeOfUnknownActor(stage, number, `2001:db8:1:2::${number.toString(16)}`));
  const fetches = () => stage.peer.received.filter(({ method }) => method === 'GET').length;
  t.equal(fetches(), 120);
  t.same(
    responses.map((response) => (busy(response) ? 503 : response.status)),
    [...Array<number>(120).fill(401), ...Array<number>(30).fill(503)],
  );
  const newcomer = stage.peer.addActor('/users/newcomer');
  t.ok(
    busy(await likeOf(stage, newcomer, '2001:db8:1:2:ffff::1')),
    'also for a legitimate signer of that network, who retries',
  );
  t.equal((await likeOf(stage, newcomer, '2001:db8:1:3::1')).status, 202);
  t.equal((await likeOf(stage, newcomer, '2001:db8:1:2:ffff::1')).status, 202, 'a known key costs no fetch');
  const other = stage.peer.addActor('/users/other');
  stage.clock.advance(1_000);
  t.equal((await likeOf(stage, other, '2001:db8:1:2::1')).status, 202, 'one more every second');
  t.ok(busy(await likeOfUnknownActor(stage, 200, '2001:db8:1:2::1')));
});

/** Sends the headers of a POST and nothing of its body; returns all that comes back until the end of the connection. */
function sendHeadOnly(url: string, headers: Record<string, string>): Promise<string> {
  const { hostname, port, pathname, host } = new URL(url);
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(parts).toString()));
    const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`POST ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`);
  });
}

t.test('a request with refused headers is answered before its body is read', async (t) => {
  const stage = await setStage(t);
  const { peer, inbox, clock } = stage;
  const body = 'x'.repeat(1_000_000);
  const signed = (more: Partial<Parameters<typeof sign>[0]> = {}): Record<string, string> => ({
    ...sign({
      url: inbox,
      body,
      keyId: `${peer.origin}/users/x#main-key`,
      privateKey: keysNumber(0).privateKey,
      date: new Date(clock.now()).toUTCString(),
      ...more,
    }),
    'Content-Length': String(body.length),
  });
  const without = (name: string): Record<string, string> =>
    Object.fromEntries(Object.entries(signed()).filter(([each]) => each !== name));
  const cases: [name: string, headers: Record<string, string>][] = [
    ['no signature', without('Signature')],
    ['a broken signature', { ...signed(), Signature: 'keyId=' }],
    ['no digest', without('Digest')],
    ['a foreign host', signed({ keyId: 'https://other.example/users/x#main-key' })],
    ['an old date', signed({ date: new Date(clock.now() - 2 * 3_600_000).toUTCString() })],
    ['another host', { ...signed(), Host: 'other.example' }],
  ];
  for (const [name, headers] of cases) {
    const response = await sendHeadOnly(inbox, headers);
    t.match(response, /^HTTP\/1\.1 401 /, name);
    t.match(response, /^connection: close\r$/im, `${name}: the connection is closed`);
  }
  t.equal(peer.connections(), 0);

  const tooLong = await sendHeadOnly(inbox, { ...signed(), 'Content-Length': String(2 * 1024 * 1024) });
  t.match(tooLong, /^HTTP\/1\.1 413 /);
  const unsigned = { 'Content-Length': '5' };
  t.match(await sendHeadOnly(`${stage.hearth.origin}/ap/repos/alice/none/inbox`, unsigned), /^HTTP\/1\.1 404 /);
});

t.test('a sender whose clock is wrong gets 401 and no broken connection', async (t) => {
  const stage = await setStage(t);
  const body = 'x'.repeat(30_000);
  const headers = sign({
    url: stage.inbox,
    body,
    keyId: `${stage.peer.origin}/users/x#main-key`,
    privateKey: keysNumber(0).privateKey,
    date: new Date(stage.clock.now() - 2 * 3_600_000).toUTCString(),
  });
  t.equal(headers['Digest'], `SHA-256=${sha256(body)}`);
  for (let time = 0; time < 20; time += 1) {
    const response = await sendRaw({ url: stage.inbox, headers: Object.entries(headers), body });
    t.equal(response.status, 401);
  }
});

t.test('a refused request is one line of the log, and a flood of them a few lines and a count', async (t) => {
  const stage = await setStage(t);
  for (let time = 0; time < 30; time += 1) await sendRaw({ url: stage.inbox, headers: [['Host', stage.hearth.host]] });
  const { log } = stage.hearth;
  const refused = log.filter(({ event }) => event === 'federation.refused');
  t.equal(refused.length, 20);
  t.match(refused[0], { reason: 'signature_missing', status: 401, address: '127.0.0.1', id: String, path: String });
  t.same(
    log.filter(({ event, path }) => event === 'http.request' && path === new URL(stage.inbox).pathname),
    [],
  );

  const lines: [string, unknown][] = [];
  const clock = fixedClock();
  const refusals = createRefusalLog({
    clock,
    logger: { ...silentLogger, info: (event, fields) => void lines.push([event, fields]) },
  });
  for (let time = 0; time < 1_000; time += 1) refusals.record('signature_date', { status: 401 });
  refusals.record('signature_host', { status: 401 });
  clock.advance(60_000);
  refusals.record('signature_date', { status: 401 });
  t.equal(lines.length, 20 + 1 + 1 + 1);
  t.strictSame(lines.at(-2), ['federation.refused_more', { reason: 'signature_date', count: 980 }]);
});
