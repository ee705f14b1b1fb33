import { createHash } from 'node:crypto';

/** `SHA256:` and the hash of a public key in wire form, as OpenSSH prints it. */
export function fingerprint(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}
