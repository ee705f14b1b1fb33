import { sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { bodyDigest } from './digest.ts';
import { formatHttpDate } from './http-date.ts';
import { signingString } from './signing-string.ts';

const signInThreadPool = promisify(sign) as (algorithm: string, data: Buffer, key: KeyObject) => Promise<Buffer>;

/** The key of a local actor, for signing. */
export interface SigningKey {
  /** `<actor-id>#main-key` (SPEC §5). */
  keyId: string;
  privateKey: KeyObject;
}

export interface RequestToSign {
  method: 'GET' | 'POST';
  url: URL;
  /** The exact bytes to send; omitted for GET. */
  body?: Buffer;
  /** `Digest` header of the body, if already known. */
  digest?: string;
  /** `Date` of the request, milliseconds since the epoch. */
  at: number;
  /** Whether to sign the path without its query: some servers verify it that way. */
  withoutQuery?: boolean;
}

/**
 * Signs a request (draft-cavage, RSA-SHA256): `(request-target) host date`, and `digest` if there is a body. A
 * signature expires after an hour, so each attempt gets its own. Runs in the thread pool; one takes about 0.3 ms.
 * @returns the headers to send: Host, Date, Signature, and Digest with a body
 */
export async function signRequest(request: RequestToSign, key: SigningKey): Promise<Record<string, string>> {
  const { method, url, body, at, digest } = request;
  const headers: Record<string, string> = {
    Host: url.host,
    Date: formatHttpDate(at),
    ...(body === undefined ? {} : { Digest: digest ?? bodyDigest(body) }),
  };
  const names = Object.keys(headers).map((name) => name.toLowerCase());
  const covered = ['(request-target)', ...names];
  const target = url.pathname + (request.withoutQuery ? '' : url.search);
  const values = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const text = signingString(covered, { method, target, headers: values })!;
  const signature = await signInThreadPool('RSA-SHA256', Buffer.from(text, 'latin1'), key.privateKey);
  return { ...headers, Signature: signatureHeader(key.keyId, covered, signature) };
}

function signatureHeader(keyId: string, covered: readonly string[], signature: Buffer): string {
  return [
    `keyId="${keyId}"`,
    'algorithm="rsa-sha256"',
    `headers="${covered.join(' ')}"`,
    `signature="${signature.toString('base64')}"`,
  ].join(',');
}
