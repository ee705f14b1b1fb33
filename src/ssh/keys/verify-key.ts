import ssh2 from 'ssh2';
import type { PublicKeyAuthContext } from 'ssh2';

/** Size limit of keys that are parsed; RSA with 16 384 bits takes about 2 KiB. */
const maxBlobBytes = 8_192;

/** Accepted signature algorithms. */
export const signatureAlgorithms = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
];
/** The key types of these algorithms. An RSA key has its old name whatever algorithm it signs by. */
const keyTypes = new Set([...signatureAlgorithms.filter((name) => !name.startsWith('rsa-')), 'ssh-rsa']);

/**
 * Why this server cannot verify signatures of an offered key, or `null`. The algorithm name in the request must equal
 * the one inside the key, and RSA must sign with SHA-2: without `hashAlgo` ssh2 would accept SHA-1.
 */
export function keyRefusal({ key, hashAlgo }: Pick<PublicKeyAuthContext, 'key' | 'hashAlgo'>): string | null {
  if (key.data.length > maxBlobBytes) return 'key_too_long';
  if (key.algo.startsWith('sk-')) return 'security_key_unsupported';
  if (!keyTypes.has(key.algo)) return 'key_type_unsupported';
  if (nameInside(key.data) !== key.algo) return 'key_type_mismatch';
  if (key.algo === 'ssh-rsa' && hashAlgo !== 'sha256' && hashAlgo !== 'sha512') return 'rsa_with_sha1';
  return null;
}

/**
 * Whether the client holds the private key: its signature covers this session and this key. A query about a key has no
 * signature and proves nothing (security F01, CVE-2024-45337).
 */
export function verifySignature({ key, signature, blob, hashAlgo }: PublicKeyAuthContext): boolean {
  if (signature === undefined || blob === undefined) return false;
  // ssh2 parses text only as a public key.
  const parsed = ssh2.utils.parseKey(`${key.algo} ${key.data.toString('base64')}`);
  if (parsed instanceof Error || Array.isArray(parsed)) return false;
  if (!parsed.getPublicSSH().equals(key.data)) return false;
  // ssh2 returns an Error, which is truthy, if OpenSSL cannot parse a signature.
  return parsed.verify(blob, signature, hashAlgo) === true;
}

function nameInside(blob: Buffer): string | null {
  if (blob.length < 4) return null;
  const length = blob.readUInt32BE(0);
  return length > 64 || blob.length < 4 + length ? null : blob.toString('latin1', 4, 4 + length);
}
