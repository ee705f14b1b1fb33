import { hash } from 'node:crypto';

const sha256 = (body: Buffer): string => hash('sha256', body, 'base64');

/** The `Digest` header of a body (RFC 3230): over the exact bytes that are sent. */
export function bodyDigest(body: Buffer): string {
  return `SHA-256=${sha256(body)}`;
}

/**
 * Whether a `Content-Digest` header (RFC 9530) matches this body: as with `Digest`, the header must contain exactly one
 * SHA-256, which decides.
 */
export function contentDigestMatches(header: string, body: Buffer): boolean {
  const entries = header.split(',').map((entry) => /^\s*([a-z0-9-]+)=:([A-Za-z0-9+/]+={0,2}):\s*$/.exec(entry));
  if (entries.includes(null)) return false;
  const values = entries.filter((entry) => entry?.[1] === 'sha-256').map((entry) => entry?.[2]);
  return values.length === 1 && values[0] === sha256(body);
}

/**
 * Whether a `Digest` header matches this body. It may list other algorithms but must contain exactly one SHA-256, which
 * decides.
 */
export function digestMatches(header: string, body: Buffer): boolean {
  const actual = sha256(body);
  // Fast path: nearly all headers have this form.
  if (header === `SHA-256=${actual}`) return true;
  const entries = header.split(',').map((entry) => /^\s*([\w-]+)=([A-Za-z0-9+/=]+)\s*$/.exec(entry));
  if (entries.includes(null)) return false;
  const values = entries.filter((entry) => entry?.[1]?.toLowerCase() === 'sha-256').map((entry) => entry?.[2]);
  return values.length === 1 && values[0] === actual;
}
