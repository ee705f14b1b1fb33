import { createPrivateKey, createPublicKey } from 'node:crypto';

const type = 'ssh-ed25519';
const magic = Buffer.from('openssh-key-v1\0');
/** The PKCS #8 prefix of the 32 secret bytes of an Ed25519 key (RFC 8410 §7). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Why a key cannot be used; `type` when it is a key of another kind. */
interface UnreadableKey {
  unreadable: 'damaged' | 'other_type' | 'halves_differ';
  type?: string;
}

/**
 * The public half, in wire form, of an unencrypted Ed25519 key in OpenSSH's format (its PROTOCOL.key). Parsed here,
 * because loading ssh2 would slow the start. Both halves are stored and are compared: a mismatch would otherwise look
 * like an attack to clients.
 */
export function readPrivateKey(text: string): { blob: Buffer } | UnreadableKey {
  const content = Buffer.from(
    text
      .split('\n')
      .filter((line) => !line.startsWith('-----'))
      .join(''),
    'base64',
  );
  try {
    if (!content.subarray(0, magic.length).equals(magic)) return { unreadable: 'damaged' };
    const outside = fieldsOf(content.subarray(magic.length));
    if (outside.next().toString() !== 'none') return { unreadable: 'damaged' };
    outside.next(); // derivation of the cipher's key
    outside.next(); // and its options
    if (outside.number() !== 1) return { unreadable: 'damaged' };
    const blob = outside.next();
    const name = fieldsOf(blob).next().toString('latin1');
    if (name !== type) return { unreadable: 'other_type', type: name };
    const inside = fieldsOf(outside.next());
    // biome-ignore lint/suspicious/noSelfCompare: each call reads the next number.
    if (inside.number() !== inside.number()) return { unreadable: 'damaged' };
    inside.next(); // the name again
    const point = inside.next();
    const secret = inside.next().subarray(0, 32);
    const publicKey = createPublicKey(
      createPrivateKey({ key: Buffer.concat([pkcs8Head, secret]), format: 'der', type: 'pkcs8' }),
    );
    const derived = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url');
    return derived.equals(point) && blob.subarray(-32).equals(point) ? { blob } : { unreadable: 'halves_differ' };
  } catch {
    return { unreadable: 'damaged' };
  }
}

/** Reads `string` and `uint32` fields in order (RFC 4251 §5); throws when a field extends past the end. */
function fieldsOf(bytes: Buffer): { next(): Buffer; number(): number } {
  let at = 0;
  const number = (): number => bytes.readUInt32BE((at += 4) - 4);
  return {
    number,
    next() {
      const length = number();
      if (at + length > bytes.length) throw new RangeError('cut short');
      at += length;
      return bytes.subarray(at - length, at);
    },
  };
}
