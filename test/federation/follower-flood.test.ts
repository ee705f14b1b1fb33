// What costs least to those who would do harm: followers from very many servers at once, and a server that answers 200
// to whatever it is asked. HEARTH_FLOOD_SERVERS=10000 floods with as many as that.
import { request as httpRequest } from 'node:http';
import t from 'tap';
import { localAdministrator } from '../../src/access/index.ts';
import { sign, startFakePeer } from './fake-peer.ts';
import { startPeer } from './two-instances.ts';

const servers = Number(process.env['HEARTH_FLOOD_SERVERS'] ?? 330);
t.setTimeout(600_000);

/** It stands still, so that no budget fills again meanwhile. */
const now = Date.now();
const hearth = await startPeer(t, {
  host: '127.0.0.1',
  allow: ['127.0.0.3'],
  env: { SERVICE_FEDERATION_OPEN_FOLLOWERS: 'true' },
  clock: { now: () => now },
});
const { federation, repositories, db } = hearth.modules;
const alice = await hearth.addPerson('alice');
await repositories.create(localAdministrator, { owner: 'alice', name: 'tool', visibility: 'PUBLIC' });
const tool = `${hearth.origin}/ap/repos/alice/tool`;

/** A delivery from an address of its own, as each server of a flood has one. */
function postFrom(localAddress: string, url: string, headers: Record<string, string>, body: string) {
  const { hostname, port, pathname } = new URL(url);
  return new Promise<{ status: number; retryAfter: string | undefined }>((resolve, reject) => {
    const sent = httpRequest({ hostname, port, path: pathname, method: 'POST', headers, localAddress }, (response) => {
      response.resume().on('end', () => {
        resolve({ status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

t.test(`a flood of followers from ${servers} servers is fetched for as far as its budget goes`, async (t) => {
  const flood = await startFakePeer(t, { host: '0.0.0.0' });
  const { port } = new URL(flood.origin);
  const listed = await startFakePeer(t, { host: '127.0.0.3' });
  const friend = listed.addActor('/users/friend');
  const address = (index: number) => `127.20.${index >> 8}.${index & 255}`;
  const follow = (id: string, index: number) => ({
    id: `${id}/follows/${index}`,
    type: 'Follow',
    actor: id,
    object: tool,
  });
  const answers = new Map<number, number>();
  let unsaid = 0;
  let next = 0;
  async function send(): Promise<void> {
    for (let index = next++; index < servers; index = next++) {
      const origin = `http://${address(index)}:${port}`;
      const id = `${origin}/users/u${index}`;
      const actor = flood.addActor(`/users/u${index}`, {
        id,
        inbox: `${id}/inbox`,
        publicKey: undefined,
      });
      flood.respond(`/users/u${index}`, {
        ...actor.document,
        publicKey: { id: `${id}#main-key`, owner: id, publicKeyPem: pem },
      });
      const body = JSON.stringify(follow(id, index));
      const url = `${tool}/inbox`;
      const headers = sign({ url, body, keyId: `${id}#main-key`, privateKey: actor.keys.privateKey });
      const { status, retryAfter } = await postFrom(address(index), url, headers, body);
      answers.set(status, (answers.get(status) ?? 0) + 1);
      if (status === 503 && !(Number(retryAfter) > 0)) unsaid += 1;
    }
  }
  const pem = (friend.document['publicKey'] as { publicKeyPem: string }).publicKeyPem;
  await Promise.all(Array.from({ length: 8 }, send));
  t.strictSame(
    [...answers].sort(([one], [other]) => one - other),
    [
      [202, 300],
      [503, servers - 300],
    ],
    'three hundred at once, and none more while no time goes by',
  );
  t.equal(unsaid, 0, 'each that has to wait is told how long');
  const [row] = await db.read.query('SELECT count(*) AS n FROM repository_followers');
  t.equal(Number(row.n), 300);
  const fetched = flood.received.filter(({ method, path }) => method === 'GET' && path.startsWith('/users/')).length;
  t.equal(fetched, 300, 'those that wait cost no request');
  const { status } = await listed.deliver(friend, `${tool}/inbox`, follow(friend.id, 0));
  t.equal(status, 202, 'a server on the list is heard all the same');
});

t.test('a server that answers 200 to everything is no actor, no follower and no copy of anything', async (t) => {
  const answersOf: [name: string, type: string, body: string][] = [
    ['a page', 'text/html', '<!doctype html><title>Welcome</title>'],
    ['an empty object', 'application/activity+json', '{}'],
    ['what was asked for', 'application/activity+json', '{"id":"http://127.0.0.3/","type":"Person","links":[]}'],
    ['nothing', 'application/json', ''],
    ['a list without end of links', 'application/json', `{"links":[${'{"rel":"self"},'.repeat(500)}{}]}`],
  ];
  for (const [name, type, body] of answersOf) {
    const yes = await startFakePeer(t, { host: '127.0.0.3' });
    const paths = ['/users/yes', '/.well-known/nodeinfo', '/.well-known/webfinger', '/bob/lib', '/ap/instance', '/'];
    for (const path of paths)
      yes.respond(path, (_request, response) => void response.writeHead(200, { 'Content-Type': type }).end(body));
    const actor = {
      ...yes.addActor('/users/unused'),
      id: `${yes.origin}/users/yes`,
      keyId: `${yes.origin}/users/yes#k`,
    };
    const sent = { id: yes.newId(), type: 'Follow', actor: actor.id, object: tool };
    t.equal((await yes.deliver(actor, `${tool}/inbox`, sent)).status, 401, `${name}: no signer`);
    for (const target of [`bob/lib@${yes.host}`, `bob@${yes.host}`, `${yes.origin}/users/yes`, `${yes.origin}/bob/lib`])
      await t.rejects(
        federation.follow(alice.id, target),
        { reason: 'unresolvable_handle', message: /neither a repository nor a person/ },
        `${name}: ${target}`,
      );
    for (const table of [
      'remote_actors',
      'remote_follows',
      'remote_user_follows',
      'repository_followers',
      'federation_delivery',
    ])
      t.strictSame(await db.read.query(`SELECT * FROM ${table} WHERE host = ?`, [yes.host]), [], `${name}: ${table}`);
    await yes.stop();
  }
});
