import { createPublicKey } from 'node:crypto';
import { invalid } from '../../kernel/index.ts';
import { fingerprint as fingerprintOf } from '../../openssh/index.ts';
import { BlobReader, UnreadableBlob } from './blob-reader.ts';

export { fingerprintOf };

/** A public key from a `.pub` file. */
export interface SshPublicKey {
  /** The algorithm name inside the key, for example `ssh-ed25519`. */
  type: string;
  /** The key in wire form (RFC 4253 §6.6). */
  blob: Buffer;
  /** `SHA256:…`, as OpenSSH prints it. */
  fingerprint: string;
  /** The rest of the line; often `name@machine`. */
  comment: string;
}

const minRsaBits = 2048;
const maxRsaBits = 16_384;
const maxLineLength = 16_384;
/** A security token's key names its application; OpenSSH writes `ssh:`. */
const maxApplicationBytes = 255;

/** Parsers for the rest of a blob, by its leading algorithm name. */
const readers: Record<string, (reader: BlobReader) => void> = Object.assign(Object.create(null) as object, {
  'ssh-ed25519': readEd25519,
  'ecdsa-sha2-nistp256': (reader: BlobReader) => readEcdsa(reader, 'nistp256'),
  'ecdsa-sha2-nistp384': (reader: BlobReader) => readEcdsa(reader, 'nistp384'),
  'ecdsa-sha2-nistp521': (reader: BlobReader) => readEcdsa(reader, 'nistp521'),
  'ssh-rsa': readRsa,
  'sk-ssh-ed25519@openssh.com': (reader: BlobReader) => {
    readEd25519(reader);
    reader.readString(maxApplicationBytes);
  },
  'sk-ecdsa-sha2-nistp256@openssh.com': (reader: BlobReader) => {
    readEcdsa(reader, 'nistp256');
    reader.readString(maxApplicationBytes);
  },
});

/**
 * Whether the built-in SSH server can verify signatures by such a key. Security token keys (`sk-…`) sign in a format
 * that ssh2 does not support; they are stored for servers that use the system's sshd.
 */
export function worksWithBuiltInServer(type: string): boolean {
  return !type.startsWith('sk-');
}

/**
 * Parses one line of a `.pub` file: type, key in base64, optional comment. The key is fully decoded and must be in
 * canonical form, because keys are identified by their fingerprint.
 *
 * Throws `invalid`, field `key`: `key_missing`, `key_private`, `key_several`, `key_certificate`, `key_options`,
 * `key_type_unsupported`, `key_too_short` (RSA under 2 048 bits), `key_unreadable`.
 */
export function parsePublicKeyLine(line: unknown): SshPublicKey {
  if (typeof line !== 'string' || line.trim() === '') throw refuse('key_missing', 'Paste a public key.');
  const text = line.trim();
  refuseOtherFiles(text);
  const [type = '', encoded = '', ...comment] = text.split(/[ \t]+/);
  refuseType(type, text);
  const blob = decodeCanonicalBase64(encoded);
  if (blob === null) throw unreadable();
  readBlob(type, blob);
  return { type, blob, fingerprint: fingerprintOf(blob), comment: comment.join(' ') };
}

/** Rejects common pasting mistakes, each with a hint. */
function refuseOtherFiles(text: string): void {
  if (/PRIVATE KEY|PuTTY-User-Key-File/.test(text)) {
    throw refuse(
      'key_private',
      'This is a private key: do not share it. Paste the line from the file that ends in ".pub".',
    );
  }
  if (/^-{4,5} ?BEGIN/.test(text)) {
    throw refuse(
      'key_unreadable',
      'This key is in another format. Paste the one line that "ssh-keygen -i" or "ssh-add -L" prints.',
    );
  }
  if (/[\r\n]/.test(text)) throw refuse('key_several', 'Paste one key at a time: a single line.');
  if (text.length > maxLineLength) throw unreadable();
}

function refuseType(type: string, text: string): void {
  if (type in readers) return;
  if (/^\S+-cert-v\d+@openssh\.com$/.test(type)) {
    throw refuse('key_certificate', 'This is a certificate. Paste the plain public key that it was made for.');
  }
  if (type === 'ssh-dss') {
    throw refuse('key_type_unsupported', 'DSA keys are no longer safe. Make one with "ssh-keygen -t ed25519".');
  }
  const hasKeyFurtherOn = text.split(/[ \t]+/).some((word) => word in readers || /-cert-v\d+@openssh\.com$/.test(word));
  if (hasKeyFurtherOn) {
    throw refuse(
      'key_options',
      'Options before the key are not supported. Paste the line from where the key type starts.',
    );
  }
  if (/^(?:sk-)?(?:ssh|ecdsa|webauthn)-[\w.@-]+$/.test(type)) {
    throw refuse('key_type_unsupported', `Keys of the type ${type.slice(0, 64)} are not supported.`);
  }
  throw unreadable();
}

/** `null` unless re-encoding the bytes yields the same text. */
function decodeCanonicalBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length > 0 && bytes.toString('base64') === text ? bytes : null;
}

function readBlob(type: string, blob: Buffer): void {
  try {
    const reader = new BlobReader(blob);
    if (reader.readString().toString('latin1') !== type) throw new UnreadableBlob();
    readers[type]!(reader);
    reader.end();
  } catch (error) {
    if (error instanceof UnreadableBlob) throw unreadable(error);
    throw error;
  }
}

/** RFC 8709 §4: 32 bytes. */
function readEd25519(reader: BlobReader): void {
  if (reader.readString().length !== 32) throw new UnreadableBlob();
}

const curves = {
  nistp256: { crv: 'P-256', coordinateBytes: 32 },
  nistp384: { crv: 'P-384', coordinateBytes: 48 },
  nistp521: { crv: 'P-521', coordinateBytes: 66 },
};

/** RFC 5656 §3.1: the curve's name and an uncompressed point on it. */
function readEcdsa(reader: BlobReader, curve: keyof typeof curves): void {
  const { crv, coordinateBytes } = curves[curve];
  if (reader.readString().toString('latin1') !== curve) throw new UnreadableBlob();
  const point = reader.readString();
  if (point.length !== 1 + 2 * coordinateBytes || point[0] !== 4) throw new UnreadableBlob();
  const x = point.subarray(1, 1 + coordinateBytes).toString('base64url');
  const y = point.subarray(1 + coordinateBytes).toString('base64url');
  try {
    createPublicKey({ format: 'jwk', key: { kty: 'EC', crv, x, y } });
  } catch (cause) {
    throw new UnreadableBlob({ cause });
  }
}

/** RFC 4253 §6.6: exponent, then modulus. */
function readRsa(reader: BlobReader): void {
  const exponent = reader.readPositiveInteger();
  const modulus = reader.readPositiveInteger();
  if (modulus.bits < minRsaBits) {
    throw refuse(
      'key_too_short',
      `This RSA key has ${modulus.bits} bits; it needs at least ${minRsaBits}. Better: "ssh-keygen -t ed25519".`,
    );
  }
  const isPlausible =
    exponent.isOdd && exponent.bits > 1 && exponent.bits <= 64 && modulus.isOdd && modulus.bits <= maxRsaBits;
  if (!isPlausible) throw new UnreadableBlob();
}

function refuse(reason: string, message: string, cause?: unknown) {
  return invalid(reason, message, { field: 'key', cause });
}

function unreadable(cause?: unknown) {
  return refuse(
    'key_unreadable',
    'This is not a readable public key. Paste the whole line from the ".pub" file.',
    cause,
  );
}
