import { createHash, generateKeyPair } from 'node:crypto';
import type { JsonWebKey } from 'node:crypto';
import { promisify } from 'node:util';

const modulusLength = 2048;

/** The thumbprint of an RSA key (RFC 7638): its members in the order of the alphabet. */
const thumbprint = ({ e, kty, n }: JsonWebKey): string =>
  createHash('sha256').update(JSON.stringify({ e, kty, n })).digest('base64url');

/**
 * A new RSA key that signs tokens: its thumbprint, the public key as JSON (RFC 7517), the private one as PKCS 8 in PEM.
 * In the pool of threads of Node: it takes some hundred milliseconds.
 */
export async function makeRsaKey(): Promise<{ id: string; publicKey: JsonWebKey; pem: string }> {
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength });
  const publicKey = pair.publicKey.export({ format: 'jwk' });
  const pem = pair.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
  return { id: thumbprint(publicKey), publicKey, pem };
}
