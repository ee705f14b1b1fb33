import { createCipheriv, createDecipheriv } from 'node:crypto';
import type { Random } from '../kernel/index.ts';

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts a secret with AES-256-GCM.
 * @param place where it belongs (scope and name), as associated data: ciphertext moved elsewhere does not decrypt
 */
export function encrypt(key: Buffer, random: Random, place: string, secret: string): string {
  const nonce = random.bytes(nonceBytes);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
}

/** Decrypts what `encrypt` made with one of these keys for this place; null for anything else. */
export function decrypt(keys: readonly Buffer[], place: string, text: string): string | null {
  const bytes = Buffer.from(text, 'base64');
  for (const key of keys) {
    const secret = decryptWith(key, place, bytes);
    if (secret !== null) return secret;
  }
  return null;
}

function decryptWith(key: Buffer, place: string, bytes: Buffer): string | null {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes))
      .setAAD(Buffer.from(place))
      .setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}
