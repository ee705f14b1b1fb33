import { verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { unauthenticated } from '../../kernel/index.ts';
import { digestMatches } from './digest.ts';
import { parseHttpDate } from './http-date.ts';
import { parseSignatureHeader } from './parse-signature-header.ts';
import type { SignatureParameters } from './parse-signature-header.ts';
import { signingString } from './signing-string.ts';

/** How far the clock of a sender may be from ours, in milliseconds. */
export const dateWindowMs = 3_600_000;

/** What of a request arrives before its body. */
export interface ArrivedHead {
  method: string;
  /** The request line's target, undecoded. */
  target: string;
  /** Names and values in turn, as Node's `rawHeaders` has them. */
  rawHeaders: readonly string[];
}

/** A request as it arrived, byte for byte. */
export interface IncomingRequest extends ArrivedHead {
  body: Buffer;
}

/** A request whose own words hold together; whether the key agrees is still open. */
export interface SignedRequest {
  request: ArrivedHead;
  parameters: SignatureParameters;
  headers: ReadonlyMap<string, string>;
}

/**
 * What the headers of a signed POST state, before the body is read.
 *
 * Refuses, always with `unauthenticated`: `signature_missing`, `signature_repeated`,
 * `signature_rfc9421` (SPEC §9), those of `parseSignatureHeader`, `signature_host`,
 * `signature_date`, `signature_expired`.
 *
 * @param expectedHost host and non-default port of our base URL; never what a proxy says
 * @param now milliseconds since the epoch
 */
export function readSignedHead(request: ArrivedHead, expectedHost: string, now: number): SignedRequest {
  const headers = readHeaders(request.rawHeaders);
  const parameters = parseSignatureHeader(headers.get('signature')!);
  if (headers.get('host')!.toLowerCase() !== expectedHost.toLowerCase()) {
    throw unauthenticated('signature_host', 'The request was signed for another host.');
  }
  checkTimes(headers.get('date')!, parameters, now);
  return { request, parameters, headers };
}

/** Refuses `signature_digest` with `unauthenticated`. */
export function requireDigest({ headers }: SignedRequest, body: Buffer): void {
  if (digestMatches(headers.get('digest')!, body)) return;
  throw unauthenticated('signature_digest', 'The Digest header does not match the body.');
}

/**
 * Everything about a signed POST that can be checked without the signer's key,
 * so that a request that fails here costs no fetch from another host.
 * Refuses as `readSignedHead` and `requireDigest` do.
 */
export function readSignedRequest(request: IncomingRequest, expectedHost: string, now: number): SignedRequest {
  const signed = readSignedHead(request, expectedHost, now);
  requireDigest(signed, request.body);
  return signed;
}

/**
 * Whether the signature is one of this key over this request; its path may have been signed with or without the
 * query.
 */
export function isSignedBy(signed: SignedRequest, key: KeyObject): boolean {
  const { target } = signed.request;
  const query = target.indexOf('?');
  return fits(signed, target, key) || (query !== -1 && fits(signed, target.slice(0, query), key));
}

function fits(
  { request: { method }, parameters: { covered, created, expires, signature }, headers }: SignedRequest,
  target: string,
  key: KeyObject,
): boolean {
  const text = signingString(covered, { method, target, headers, created, expires });
  // PKCS #1 v1.5, as the key says; by its short name the digest is found sooner.
  return text !== null && verify('sha256', Buffer.from(text, 'latin1'), key, signature);
}

const single = ['signature', 'digest', 'date', 'host'];

/** Joins the values of each header; of those that decide there must be exactly one. */
function readHeaders(rawHeaders: readonly string[]): Map<string, string> {
  const headers = new Map<string, string>();
  const repeated: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase();
    const known = headers.get(name);
    if (known !== undefined) repeated.push(name);
    headers.set(name, known === undefined ? rawHeaders[index + 1]! : `${known}, ${rawHeaders[index + 1]!}`);
  }
  if (headers.has('signature-input')) {
    throw unauthenticated(
      'signature_rfc9421',
      'The request carries an RFC 9421 signature; only draft-cavage is understood.',
    );
  }
  for (const name of single) {
    if (!headers.has(name)) throw unauthenticated('signature_missing', `The request has no ${name} header.`);
    if (repeated.includes(name))
      throw unauthenticated('signature_repeated', `The request has more than one ${name} header.`);
  }
  return headers;
}

function checkTimes(date: string, { created, expires }: SignatureParameters, now: number): void {
  const dateMs = parseHttpDate(date);
  if (dateMs === null || Math.abs(now - dateMs) > dateWindowMs) {
    throw unauthenticated('signature_date', 'The Date header is malformed or more than an hour away from now.');
  }
  const isEarly = created !== null && created * 1000 > now + dateWindowMs;
  const isLate = created !== null && created * 1000 < now - dateWindowMs;
  if (isEarly || isLate || (expires !== null && expires * 1000 < now)) {
    throw unauthenticated(
      'signature_expired',
      'The signature was made too long ago, is not valid yet, or has run out.',
    );
  }
}
