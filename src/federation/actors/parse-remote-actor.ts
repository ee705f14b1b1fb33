import { cleanText, embedded, asObject, idOf, typesOf, webUrl } from '../documents/json-fields.ts';
import type { Json } from '../documents/json-fields.ts';
import { readAlias } from './actor-paths.ts';
import { readPublicKey } from '../signatures/index.ts';
import type { RemoteActor } from '../schema/remote-actor-schema.ts';

/** A required field that is missing or invalid. */
export type UnusableField = 'id' | 'type' | 'inbox' | 'publicKey';

export interface ActorSource {
  /** The fetched URL. */
  url: URL;
  /** Id of the key that must be among the published ones; `null` takes the first. */
  keyId: string | null;
  /** The document at the key's own URL, if the actor names its key only by that URL. */
  keyDocument?: Json | null;
  fetchedAt: number;
}

/**
 * Parses the document of a remote actor. Returns the name of a field if the document is inconsistent: its id must be
 * the URL that it was fetched from, its inbox on the same host, and it must publish a usable key as its own (weaker
 * checks caused CVE-2024-23832).
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
 * A Hearth server names a repository `owner--name` for other software and `owner/name` for users. Its id ends with the
 * latter or, after a rename, its page URL does.
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

/** The supported actor types of ForgeFed and ActivityStreams: these can be followed. */
export const followableTypes: ReadonlySet<string> = new Set([
  'Repository',
  'Person',
  'Service',
  'Application',
  'Group',
  'Organization',
]);

/** Forge types come first: a document may have several types. */
function mainType(document: Json): string | undefined {
  const types = typesOf(document['type']);
  return (
    types.find((type) => type === 'Repository' || type === 'Person') ?? types.find((type) => followableTypes.has(type))
  );
}

/** URLs in a document are accepted only on its own host: a foreign inbox would redirect deliveries to a third party. */
function sameHost(value: unknown, url: URL): string | null {
  const found = webUrl(value);
  return found !== null && found.host === url.host && found.protocol === url.protocol ? found.href : null;
}

/** The first URL of `cloneUri` on the actor's own host: others would make third parties the origin of copies. */
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

/**
 * `controller` is the newer name of `owner` (W3C Controlled Identifiers); if both are present and differ, both are
 * ignored.
 */
function ownerOf({ owner, controller }: Json): string | null {
  const named = [owner, controller].filter((each) => each !== undefined).map(idOf);
  return new Set(named).size === 1 ? named[0]! : null;
}

const keyStub = (document: Json): Json =>
  document['publicKeyPem'] === undefined ? embedded(document['publicKey']) : document;

/** The owner named by a document that is only a key, not an actor (GoToSocial serves these); otherwise `null`. */
export function ownerOfKeyDocument(document: Json, keyId: string): string | null {
  const stub = keyStub(document);
  return stub['id'] === keyId ? ownerOf(stub) : null;
}

/** The URL of a key that an actor references without embedding it; only the wanted key, on the actor's own host. */
export function namedKey(document: Json, { url, keyId }: Pick<ActorSource, 'url' | 'keyId'>): string | null {
  const names = [document['publicKey']].flat().filter((each) => typeof each === 'string');
  const wanted = names.find((name) => keyId === null || name === keyId);
  return wanted === undefined ? null : sameHost(wanted, url);
}
