import { unavailable } from '../../kernel/index.ts';
import type { OutboundResponse } from '../../outbound/index.ts';
import { asObject } from '../documents/json-fields.ts';
import type { Json } from '../documents/json-fields.ts';
import type { FederationDeps } from '../deps.ts';
import type { SignatureScheme } from '../peer-schemes.ts';
import { signMessage, signRequest } from '../signatures/index.ts';
import { instanceActor } from './find-actor.ts';

/** Size limit of a document in bytes. */
const maxBytes = 1024 * 1024;

const accept = 'application/activity+json, application/ld+json; profile="https://www.w3.org/ns/activitystreams"';

type Deps = Pick<FederationDeps, 'outbound' | 'localActors' | 'clock' | 'schemes'>;

/**
 * Fetches an ActivityPub document, signed by the instance in the signature scheme that the server supports. Checks the
 * content type: users may upload files to other servers, and a file must not pass for an actor. Refuses as
 * `outbound.send` does, `document_missing` for 404 and 410, and `document_unusable` for any other unusable response.
 */
export async function fetchDocument(deps: Deps, url: string): Promise<Json> {
  const response = await getAsItReads(deps, url);
  if (response.status === 404 || response.status === 410)
    throw unavailable('document_missing', `${url} answered ${response.status}.`);
  if (response.status !== 200) throw unavailable('document_unusable', `${url} answered ${response.status}.`);
  if (!isActivityStreams(response.headers['content-type'] ?? '')) {
    throw unavailable('document_unusable', `${url} did not return an ActivityPub document.`);
  }
  return parseJson(response.body, url);
}

/** Parses a JSON object. Throws `document_unusable`. */
export function parseJson(body: Buffer, url: string): Json {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return asObject(value);
  } catch {
    // Reported below.
  }
  throw unavailable('document_unusable', `${url} did not return a JSON object.`);
}

/** In the signature scheme that the server supports. */
async function getAsItReads(deps: Deps, url: string): Promise<OutboundResponse> {
  const judged = await deps.outbound.checkUrl(url);
  return deps.schemes.knock(judged.host, 'GET', async (scheme) => {
    const response = await getSigned(deps, judged, { scheme });
    // With the older scheme, some servers verify the path without its query.
    const mayBeWithout = response.status === 401 && scheme === 'draft-cavage' && judged.search !== '';
    return mayBeWithout ? getSigned(deps, judged, { scheme, withoutQuery: true }) : response;
  });
}

interface Signing {
  scheme: SignatureScheme;
  withoutQuery?: boolean;
}

async function getSigned(deps: Deps, url: URL, { scheme, withoutQuery = false }: Signing): Promise<OutboundResponse> {
  const key = await deps.localActors.signingKey((await instanceActor(deps)).path);
  const request = { method: 'GET', url, at: deps.clock.now() } as const;
  const signed =
    scheme === 'rfc9421' ? await signMessage(request, key) : await signRequest({ ...request, withoutQuery }, key);
  return deps.outbound.send({ method: 'GET', url: url.href, headers: { ...signed, Accept: accept }, maxBytes });
}

function isActivityStreams(contentType: string): boolean {
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (type === 'application/activity+json') return true;
  const profile = parameters.find((parameter) => parameter.startsWith('profile='));
  return type === 'application/ld+json' && (profile ?? '').includes('https://www.w3.org/ns/activitystreams');
}
