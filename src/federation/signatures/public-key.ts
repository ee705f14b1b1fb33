import { createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

const minBits = 2_048;
const maxBits = 8_192;

/**
 * Parses a public RSA key of 2,048 to 8,192 bits; `null` for anything else. The PEM label is checked: Node would also
 * derive a public key from a private one, and an actor that publishes its private key must not be trusted.
 */
export function readPublicKey(pem: string): KeyObject | null {
  if (pem.length > 8_192 || !/^\s*-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----\s*$/.test(pem))
    return null;
  try {
    const key = createPublicKey({ key: pem, format: 'pem' });
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    return key.asymmetricKeyType === 'rsa' && bits >= minBits && bits <= maxBits ? key : null;
  } catch {
    return null;
  }
}
