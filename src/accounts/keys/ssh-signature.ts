import { createHash, createPublicKey, verify } from 'node:crypto';
import type { JsonWebKey, KeyObject } from 'node:crypto';
import { BlobReader } from './blob-reader.ts';
import { fingerprintOf } from './ssh-public-key.ts';

/** An SSH signature: its key, and whether it is valid for the signed bytes. */
export interface CheckedSshSignature {
  /** `SHA256:…` of the signing key. The signature does not identify its owner. */
  fingerprint: string;
  isGood: boolean;
}

const armour = /^-----BEGIN SSH SIGNATURE-----\n([A-Za-z0-9+/=\n]+)\n-----END SSH SIGNATURE-----\s*$/;
const magic = Buffer.from('SSHSIG');
const maxArmourLength = 32 * 1024;

/**
 * Verifies a signature in the format of `ssh-keygen -Y sign` (OpenSSH, PROTOCOL.sshsig), which git stores in commits
 * and tags.
 * @param namespace the required namespace: `git`
 * @returns null for malformed signatures, and for unknown or unsafe algorithms
 */
export function checkSshSignature(text: string, signed: Buffer, namespace: string): CheckedSshSignature | null {
  const encoded = text.length > maxArmourLength ? undefined : armour.exec(text.replaceAll('\r\n', '\n'))?.[1];
  if (encoded === undefined) return null;
  try {
    const bytes = Buffer.from(encoded, 'base64');
    if (!bytes.subarray(0, magic.length).equals(magic) || bytes.readUInt32BE(magic.length) !== 1) return null;
    const reader = new BlobReader(bytes.subarray(magic.length + 4));
    const [key, space, reserved, hash, signature] = [
      reader.readString(),
      reader.readString(),
      reader.readString(),
      reader.readString(),
      reader.readString(),
    ];
    reader.end();
    const algorithm = hash.toString('latin1');
    if (!['sha256', 'sha512'].includes(algorithm) || space.toString('latin1') !== namespace) return null;
    const message = Buffer.concat([
      magic,
      ...[space, reserved, hash, createHash(algorithm).update(signed).digest()].map(packed),
    ]);
    return { fingerprint: fingerprintOf(key), isGood: isSignatureOf(key, signature, message) };
  } catch {
    // Truncated, or not a key.
    return null;
  }
}

/** A four-byte length, then the bytes (RFC 4251 §5). */
function packed(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function isSignatureOf(blob: Buffer, signature: Buffer, message: Buffer): boolean {
  const [keyReader, reader] = [new BlobReader(blob), new BlobReader(signature)];
  const type = keyReader.readString().toString('latin1');
  const [algorithm, value] = [reader.readString().toString('latin1'), reader.readString()];
  const { key, application } = readKey(type, keyReader);
  if (application === null) {
    reader.end();
    return isPlainSignature(type, algorithm, key, value, message);
  }
  // A security token also signs the application, the flags (user presence) and its counter.
  const rest = signature.subarray(8 + Buffer.byteLength(algorithm) + value.length);
  if (algorithm !== type || rest.length !== 5) return false;
  const attested = Buffer.concat([
    createHash('sha256').update(application).digest(),
    rest,
    createHash('sha256').update(message).digest(),
  ]);
  return isPlainSignature(
    type.slice('sk-'.length).replace('@openssh.com', ''),
    algorithm.slice('sk-'.length).replace('@openssh.com', ''),
    key,
    value,
    attested,
  );
}

/** RSA signatures use only SHA-2; the key type `ssh-rsa` does not determine the hash. */
function isPlainSignature(type: string, algorithm: string, key: KeyObject, value: Buffer, message: Buffer): boolean {
  if (type === 'ssh-ed25519') return algorithm === type && verify(null, message, key, value);
  if (type === 'ssh-rsa')
    return /^rsa-sha2-(?:256|512)$/.test(algorithm) && verify(`sha${algorithm.slice(-3)}`, message, key, value);
  const curve = curves[type.slice('ecdsa-sha2-'.length)];
  if (curve === undefined || algorithm !== type) return false;
  const numbers = new BlobReader(value);
  const halves = [numbers.readString(), numbers.readString()].map((number) => fixed(number, curve.bytes));
  numbers.end();
  return verify(curve.hash, message, { key, dsaEncoding: 'ieee-p1363' }, Buffer.concat(halves));
}

const curves: Readonly<Record<string, { crv: string; bytes: number; hash: string }>> = {
  nistp256: { crv: 'P-256', bytes: 32, hash: 'sha256' },
  nistp384: { crv: 'P-384', bytes: 48, hash: 'sha384' },
  nistp521: { crv: 'P-521', bytes: 66, hash: 'sha512' },
};

function readKey(type: string, reader: BlobReader): { key: KeyObject; application: Buffer | null } {
  const isToken = type.startsWith('sk-');
  const kind = type.replace(/^sk-(.*)@openssh\.com$/, '$1');
  const jwk = readJwk(kind, reader);
  const application = isToken ? reader.readString() : null;
  reader.end();
  return { key: createPublicKey({ format: 'jwk', key: jwk }), application };
}

function readJwk(kind: string, reader: BlobReader): JsonWebKey {
  if (kind === 'ssh-ed25519') return { kty: 'OKP', crv: 'Ed25519', x: reader.readString().toString('base64url') };
  if (kind === 'ssh-rsa') {
    const [e, n] = [reader.readString(), reader.readString()];
    return { kty: 'RSA', e: e.toString('base64url'), n: n.subarray(n[0] === 0 ? 1 : 0).toString('base64url') };
  }
  const curve = curves[reader.readString().toString('latin1')];
  const point = reader.readString();
  if (curve === undefined || kind !== `ecdsa-sha2-nistp${curve.crv.slice(2)}` || point.length !== 1 + 2 * curve.bytes)
    throw new Error('unknown key');
  return {
    kty: 'EC',
    crv: curve.crv,
    x: point.subarray(1, 1 + curve.bytes).toString('base64url'),
    y: point.subarray(1 + curve.bytes).toString('base64url'),
  };
}

/** A number with a fixed byte count: SSH drops leading zeros, and adds one before a sign bit. */
function fixed(number: Buffer, bytes: number): Buffer {
  const digits = number.subarray(Math.max(0, number.length - bytes));
  return Buffer.concat([Buffer.alloc(bytes - digits.length), digits]);
}
