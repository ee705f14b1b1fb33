import { cleanText, embedded, asObject, idOf, typesOf, webUrl } from '../documents/json-fields.ts';
import type { Json } from '../documents/json-fields.ts';
import { readPublicKey } from '../signatures/index.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';

/**
 * Parses the document of a remote actor. `null` unless it is consistent: its id is the URL it came from, its inbox is
 * on the same host, and it publishes a usable key as its own (CVE-2024-23832 came from less).
 * @param url the fetched URL
 * @param keyId the key that must be among the published ones; `null` takes the first
 */
export function parseRemoteActor(
  document: Json,
  url: URL,
  keyId: string | null,
  fetchedAt: number,
): RemoteActor | null {
  const id = document['id'];
  if (typeof id !== 'string' || id !== url.href) return null;
  const key = ownKey(document, id, keyId);
  const inbox = sameHost(document['inbox'], url);
  const [type] = typesOf(document['type']);
  if (key === null || inbox === null || type === undefined) return null;
  const username = cleanText(document['preferredUsername'], 200).replace(/\s/g, '');
  return {
    id,
    host: url.host,
    type: cleanText(mainType(document) ?? type, 100),
    name: cleanText(document['name'], 200).replaceAll('\n', ' '),
    handle: `${username === '' ? url.pathname : username}@${url.host}`,
    webfingerHandle: null,
    url: sameHost(idOf(document['url']) ?? embedded(document['url'])['href'], url),
    inbox,
    repositoriesUrl: sameHost(idOf(document['repositories']), url),
    keyId: key.id,
    publicKeyPem: key.pem,
    fetchedAt,
  };
}

/** The two followable types come first: a document may have several types. */
function mainType(document: Json): string | undefined {
  const types = typesOf(document['type']);
  return types.find((type) => type === 'Repository' || type === 'Person');
}

/** URLs of a document are accepted only on its own host: a foreign inbox would redirect deliveries to a third party. */
function sameHost(value: unknown, url: URL): string | null {
  const found = webUrl(value);
  return found !== null && found.host === url.host && found.protocol === url.protocol ? found.href : null;
}

interface PublishedKey {
  id: string;
  pem: string;
}

function ownKey(document: Json, owner: string, keyId: string | null): PublishedKey | null {
  for (const each of [document['publicKey']].flat()) {
    const { id, publicKeyPem: pem, owner: claimed } = asObject(each);
    const isWanted = typeof id === 'string' && (keyId === null || id === keyId);
    if (isWanted && idOf(claimed) === owner && typeof pem === 'string' && readPublicKey(pem) !== null)
      return { id, pem };
  }
  return null;
}

/** The owner that a document names which is only a key, not an actor (GoToSocial serves such); `null` otherwise. */
export function ownerOfKeyDocument(document: Json, keyId: string): string | null {
  const stub = document['publicKeyPem'] === undefined ? embedded(document['publicKey']) : document;
  return stub['id'] === keyId ? idOf(stub['owner']) : null;
}
