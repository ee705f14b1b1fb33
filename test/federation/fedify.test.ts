// Fedify, an ActivityPub implementation that we did not write, as a peer: it looks our actors up, verifies what we
// sign, and signs what we accept.
import t from 'tap';
import { generateCryptoKeyPair, signRequest, verifyRequest } from '@fedify/fedify/sig';
import { getDocumentLoader } from '@fedify/fedify/runtime';
import { CryptographicKey, Follow, lookupObject, OrderedCollection, Person, Undo } from '@fedify/fedify/vocab';
import { localAdministrator } from '../../src/access/index.ts';
import { startFakePeer } from './fake-peer.ts';
import type { Received } from './fake-peer.ts';
import { startPeer } from './two-instances.ts';

const hearth = await startPeer(t, { host: '127.0.0.1', allow: ['127.0.0.3'] });
const alice = await hearth.modules.accounts.addPerson({ username: 'alice', displayName: 'Alice' });
await hearth.modules.repositories.create(localAdministrator, { owner: 'alice', name: 'tool', visibility: 'PUBLIC' });
const peer = await startFakePeer(t);

const documentLoader = getDocumentLoader({ allowPrivateAddress: true });
/** The usual contexts come with Fedify; the forge's own is not fetched from the internet. */
const contextLoader: typeof documentLoader = async (url, options) =>
  url === 'https://forgefed.org/ns'
    ? { contextUrl: null, documentUrl: url, document: { '@context': {} } }
    : documentLoader(url, options);
const loaders = { documentLoader, contextLoader };

/** What arrived at the peer, as a web request for Fedify to judge. */
function asRequest({ method, path, headers, body }: Received): Request {
  return new Request(peer.origin + path, { method, headers: headers as Record<string, string>, body });
}

t.test('Fedify looks our people up', async (t) => {
  const id = `${hearth.origin}/ap/users/alice`;
  const found = await lookupObject(id, loaders);
  t.ok(found instanceof Person);
  const person = found as Person;
  t.match(
    [
      person.id?.href,
      person.preferredUsername,
      person.name?.toString(),
      person.inboxId?.href,
      person.manuallyApprovesFollowers,
    ],
    [id, 'alice', 'Alice', `${id}/inbox`, true],
  );
  const key = await person.getPublicKey(loaders);
  t.match([key?.id?.href, key?.ownerId?.href], [`${id}#main-key`, id]);
  const outbox = await person.getOutbox(loaders);
  t.ok(outbox instanceof OrderedCollection);
});

t.test('Fedify verifies what we sign', async (t) => {
  peer.addActor('/repos/bob/lib', { type: 'Repository', preferredUsername: 'bob/lib' });
  await hearth.modules.federation.follow(alice.id, `${peer.origin}/repos/bob/lib`);
  await hearth.modules.federation.drain();
  const sent = peer.received.find(({ method }) => method === 'POST')!;
  const key = await verifyRequest(asRequest(sent), loaders);
  t.equal(key?.id?.href, `${hearth.origin}/ap/users/alice#main-key`);
  const follow = await Follow.fromJsonLd(JSON.parse(sent.body), loaders);
  t.match(
    [follow.actorId?.href, follow.objectId?.href],
    [`${hearth.origin}/ap/users/alice`, `${peer.origin}/repos/bob/lib`],
  );
  t.equal(
    await verifyRequest(asRequest({ ...sent, body: sent.body.replace('Follow', 'Undo__') }), loaders),
    null,
    'and notices a change',
  );
  t.equal(await verifyRequest(asRequest({ ...sent, path: '/elsewhere' }), loaders), null);
});

t.test('we accept what Fedify signs, by RFC 9421 and by draft-cavage', async (t) => {
  const { privateKey, publicKey } = await generateCryptoKeyPair('RSASSA-PKCS1-v1_5');
  const id = new URL(`${peer.origin}/users/fey`);
  const keyId = new URL('#main-key', id);
  const inbox = new URL(`${id.href}/inbox`);
  const key = new CryptographicKey({ id: keyId, owner: id, publicKey });
  const fey = new Person({ id, preferredUsername: 'fey', inbox, publicKey: key });
  peer.respond('/users/fey', (await fey.toJsonLd({ contextLoader })) as Record<string, unknown>);

  const tool = new URL(`${hearth.origin}/ap/repos/alice/tool`);
  async function post(activity: Follow | Undo, spec: 'draft-cavage-http-signatures-12' | 'rfc9421'): Promise<number> {
    const body = JSON.stringify(await activity.toJsonLd({ contextLoader }));
    const request = new Request(`${tool.href}/inbox`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/activity+json' },
      body,
    });
    return (await fetch(await signRequest(request, privateKey, keyId, { spec }))).status;
  }
  const followers = async () =>
    (await hearth.modules.federation.listFollowers('alice', 'tool')).map(({ actorId }) => actorId);
  const follow = new Follow({ id: new URL(`${peer.origin}/follows/1`), actor: id, object: tool });
  t.equal(await post(follow, 'rfc9421'), 202);
  t.same(await followers(), [id.href]);

  await hearth.modules.federation.drain();
  const accept = peer.received.findLast(({ path }) => path === '/users/fey/inbox')!;
  t.match(JSON.parse(accept.body), { type: 'Accept', object: { id: `${peer.origin}/follows/1` } });

  const undo = new Undo({ id: new URL(`${peer.origin}/undos/1`), actor: id, object: follow });
  t.equal(await post(undo, 'draft-cavage-http-signatures-12'), 202);
  t.same(await followers(), []);
  const again = new Follow({ id: new URL(`${peer.origin}/follows/2`), actor: id, object: tool });
  t.equal(await post(again, 'draft-cavage-http-signatures-12'), 202);
  t.same(await followers(), [id.href]);
});
