import { cleanText, embedded, asObject, idOf, typesOf, webUrl } from '../documents/json-fields.ts';
import type { Json } from '../documents/json-fields.ts';
import { readAlias } from './actor-paths.ts';
import { readPublicKey } from '../signatures/index.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';

/** A field without which a document is not an actor that can be used. */
export type UnusableField = 'id' | 'type' | 'inbox' | 'publicKey';

export interface ActorSource {
  /** The fetched URL. */
  url: URL;
  /** The key that must be among the published ones; `null` takes the first. */
  keyId: string | null;
  /** The document at the key's own address, where the actor names its key by that alone. */
  keyDocument?: Json | null;
  fetchedAt: number;
}

/**
 * Parses the document of a remote actor. The name of a field unless it is consistent: its id is the URL it came from,
 * its inbox is on the same host, and it publishes a usable key as its own (CVE-2024-23832 came from less).
 */
export function parseRemoteActor(document: Json, source: ActorSource): RemoteActor | UnusableField {
  const { url, fetchedAt } = source;
  const id = document['id'];
  if (typeof id !== 'string' || id !== url.href) return 'id';
  const [type] = typesOf(document['type']);
  if (type === undefined) return 'type';
  const inbox = sameHost(document['inbox'], url);
  if (inbox === null) return 'inbox';
  const key = ownKey(document, id, source);
  if (key === null) return 'publicKey';
  const username = nameOf(document, url);
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
    cloneUrl: cloneUrlOf(document, url),
    keyId: key.id,
    publicKeyPem: key.pem,
    fetchedAt,
  };
}

/**
 * A Hearth gives a repository the name `owner--name` for other software; people know it as `owner/name`. Its id ends
 * with that, or, once the repository was renamed, the address of its page.
 */
function nameOf(document: Json, url: URL): string {
  const username = cleanText(document['preferredUsername'], 200).replace(/\s/g, '');
  const alias = typesOf(document['type']).includes('Repository') ? readAlias(username) : null;
  if (alias === null) return username;
  const slashed = `${alias.owner}/${alias.name}`;
  const page = sameHost(idOf(document['url']), url);
  const paths = [url.pathname, ...(page === null ? [] : [new URL(page).pathname])];
  return paths.some((path) => path.toLowerCase().endsWith(`/${slashed.toLowerCase()}`)) ? slashed : username;
}

/** The actor types of ForgeFed and ActivityStreams that are read here: who has one can be followed. */
export const followableTypes: ReadonlySet<string> = new Set([
  'Repository',
  'Person',
  'Service',
  'Application',
  'Group',
  'Organization',
]);

/** Those of forges come first: a document may have several types. */
function mainType(document: Json): string | undefined {
  const types = typesOf(document['type']);
  return (
    types.find((type) => type === 'Repository' || type === 'Person') ?? types.find((type) => followableTypes.has(type))
  );
}

/** URLs of a document are accepted only on its own host: a foreign inbox would redirect deliveries to a third party. */
function sameHost(value: unknown, url: URL): string | null {
  const found = webUrl(value);
  return found !== null && found.host === url.host && found.protocol === url.protocol ? found.href : null;
}

/** The first address of `cloneUri` on the actor's own host: others would make third parties the origin of copies. */
function cloneUrlOf(document: Json, url: URL): string | null {
  const all = [document['cloneUri']].flat().slice(0, maxCloneUrls);
  return all.map((each) => sameHost(idOf(each), url)).find((each) => each !== null) ?? null;
}

const maxCloneUrls = 20;

interface PublishedKey {
  id: string;
  pem: string;
}

function ownKey(document: Json, owner: string, { keyId, keyDocument }: ActorSource): PublishedKey | null {
  for (const each of [document['publicKey']].flat()) {
    const isNamedOnly = typeof each === 'string';
    const stub = keyDocument == null ? null : keyStub(keyDocument);
    if (isNamedOnly && stub?.['id'] !== each) continue;
    const { id, publicKeyPem: pem, ...key } = isNamedOnly ? stub! : asObject(each);
    const isWanted = typeof id === 'string' && (keyId === null || id === keyId);
    if (isWanted && ownerOf(key) === owner && typeof pem === 'string' && readPublicKey(pem) !== null)
      return { id, pem };
  }
  return null;
}

/** `controller` is the newer name of `owner` (W3C Controlled Identifiers); of two that differ, neither counts. */
function ownerOf({ owner, controller }: Json): string | null {
  const named = [owner, controller].filter((each) => each !== undefined).map(idOf);
  return new Set(named).size === 1 ? named[0]! : null;
}

const keyStub = (document: Json): Json =>
  document['publicKeyPem'] === undefined ? embedded(document['publicKey']) : document;

/** The owner that a document names which is only a key, not an actor (GoToSocial serves such); `null` otherwise. */
export function ownerOfKeyDocument(document: Json, keyId: string): string | null {
  const stub = keyStub(document);
  return stub['id'] === keyId ? ownerOf(stub) : null;
}

/** The address of a key that an actor names without showing it; on its own host, and the wanted one. */
export function namedKey(document: Json, { url, keyId }: Pick<ActorSource, 'url' | 'keyId'>): string | null {
  const names = [document['publicKey']].flat().filter((each) => typeof each === 'string');
  const wanted = names.find((name) => keyId === null || name === keyId);
  return wanted === undefined ? null : sameHost(wanted, url);
}
