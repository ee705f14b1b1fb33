import { constants, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { unauthenticated } from '../../kernel/index.ts';
import { contentDigestMatches, digestMatches } from './digest.ts';
import { parseHttpDate } from './http-date.ts';
import { readMessageSignature } from './message-signature.ts';
import type { MessageSignature } from './message-signature.ts';
import { parseSignatureHeader } from './parse-signature-header.ts';
import type { SignatureParameters } from './parse-signature-header.ts';
import { signingString } from './signing-string.ts';

/** Limit of clock skew between sender and this server, in milliseconds. */
export const dateWindowMs = 3_600_000;

/** The parts of a request that arrive before its body. */
export interface ArrivedHead {
  method: string;
  /** The request target of the request line, undecoded. */
  target: string;
  /** Names and values alternating, as in Node's `rawHeaders`. */
  rawHeaders: readonly string[];
}

/** A request as it arrived, byte for byte. */
export interface IncomingRequest extends ArrivedHead {
  body: Buffer;
}

/** A consistent signed request whose signature is not yet verified against the key. */
export interface SignedRequest {
  request: ArrivedHead;
  parameters: Pick<SignatureParameters, 'keyId'> & (SignatureParameters | { message: MessageSignature });
  headers: ReadonlyMap<string, string>;
}

/**
 * Parses the headers of a signed POST before the body is read.
 *
 * A request with `Signature-Input` is signed by RFC 9421, any other by draft-cavage.
 *
 * Refuses, always with `unauthenticated`: `signature_missing`, `signature_repeated`, `signature_rfc9421`, those of
 * `parseSignatureHeader`, `signature_host`, `signature_date`, `signature_expired`.
 *
 * @param origin our base URL: its host and non-default port are compared, never a proxy's header
 * @param now milliseconds since the epoch
 */
export function readSignedHead(request: ArrivedHead, origin: string, now: number): SignedRequest {
  const headers = readHeaders(request.rawHeaders);
  const isMessage = headers.has('signature-input');
  const { method, target } = request;
  const message = isMessage ? readMessageSignature({ method, target, origin, headers }) : null;
  const draft = isMessage ? null : parseSignatureHeader(headers.get('signature')!);
  if (headers.get('host')!.toLowerCase() !== new URL(origin).host) {
    throw unauthenticated('signature_host', 'The request was signed for another host.');
  }
  if (!isMessage) checkDate(headers.get('date')!, now);
  checkTimes((message ?? draft)!, now);
  return { request, parameters: message === null ? draft! : { keyId: message.keyId, message }, headers };
}

/** Throws `signature_digest` with `unauthenticated`. */
export function requireDigest({ headers, parameters }: SignedRequest, body: Buffer): void {
  if ('message' in parameters) {
    if (contentDigestMatches(headers.get('content-digest')!, body)) return;
    throw unauthenticated('signature_digest', 'The Content-Digest header has no SHA-256 that matches the body.');
  }
  const header = headers.get('digest')!;
  if (digestMatches(header, body)) return;
  const why = /sha-256=/i.test(header)
    ? 'The Digest header does not match the body.'
    : 'The Digest header has no SHA-256, the only algorithm that is read.';
  throw unauthenticated('signature_digest', why);
}

/**
 * Checks of a signed POST that need no key of the signer, so that a request that fails here causes no fetch from
 * another host. Refuses as `readSignedHead` and `requireDigest` do.
 */
export function readSignedRequest(request: IncomingRequest, origin: string, now: number): SignedRequest {
  const signed = readSignedHead(request, origin, now);
  requireDigest(signed, request.body);
  return signed;
}

/** Whether the signature is by this key over this request; its path may have been signed with or without the query. */
export function isSignedBy(signed: SignedRequest, key: KeyObject): boolean {
  const { parameters } = signed;
  if ('message' in parameters) return isMessageSignedBy(parameters.message, key);
  const { target } = signed.request;
  const query = target.indexOf('?');
  const draft = { ...signed, parameters };
  return fits(draft, target, key) || (query !== -1 && fits(draft, target.slice(0, query), key));
}

function isMessageSignedBy({ base, algorithm, signature }: MessageSignature, key: KeyObject): boolean {
  // Lengths according to RFC 9421 §3.3.1; the other algorithm is PKCS #1 v1.5.
  const pss = { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 };
  const data = Buffer.from(base, 'latin1');
  return algorithm === 'rsa-pss-sha512'
    ? verify('sha512', data, pss, signature)
    : verify('sha256', data, key, signature);
}

function fits(
  {
    request: { method },
    parameters: { covered, created, expires, signature },
    headers,
  }: Pick<SignedRequest, 'request' | 'headers'> & { parameters: SignatureParameters },
  target: string,
  key: KeyObject,
): boolean {
  const text = signingString(covered, { method, target, headers, created, expires });
  // PKCS #1 v1.5, determined by the key; Node finds the digest faster by its short name.
  return text !== null && verify('sha256', Buffer.from(text, 'latin1'), key, signature);
}

/** Headers that must occur exactly once. */
const draftHeaders = ['signature', 'digest', 'date', 'host'];
const messageHeaders = ['signature', 'signature-input', 'host'];

/** Joins the values of each header; the ones that decide must occur exactly once. */
function readHeaders(rawHeaders: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  const repeated: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    const known = headers.get(name);
    if (known !== undefined) repeated.push(name);
    headers.set(name, known === undefined ? rawHeaders[index + 1]! : `${known}, ${rawHeaders[index + 1]!}`);
  }
  for (const name of headers.has('signature-input') ? messageHeaders : draftHeaders) {
    if (!headers.has(name)) throw unauthenticated('signature_missing', `The request has no ${name} header.`);
    if (repeated.includes(name))
      throw unauthenticated('signature_repeated', `The request has more than one ${name} header.`);
  }
  return headers;
}

function checkDate(date: string, now: number): void {
  const dateMs = parseHttpDate(date);
  if (dateMs === null || Math.abs(now - dateMs) > dateWindowMs) {
    throw unauthenticated(
      'signature_date',
      'The Date header is malformed or differs from the current time by more than an hour.',
    );
  }
}

function checkTimes({ created, expires }: Pick<SignatureParameters, 'created' | 'expires'>, now: number): void {
  const isEarly = created !== null && created * 1000 > now + dateWindowMs;
  const isLate = created !== null && created * 1000 < now - dateWindowMs;
  if (isEarly || isLate || (expires !== null && expires * 1000 < now)) {
    throw unauthenticated(
      'signature_expired',
      'The signature was made too long ago, is not valid yet, or has expired.',
    );
  }
}
