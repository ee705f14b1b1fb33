import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { JsonWebKey } from 'node:crypto';
import { sshString, uint32 } from './ssh-string.ts';

const type = 'ssh-ed25519';
const blockBytes = 8;

/**
 * Makes an Ed25519 key pair: the private half in OpenSSH's format, without a passphrase, and the public half in wire
 * form. The generator of ssh2 drops leading zeros of the public half, which makes every 256th key unreadable.
 *
 * @param pair given in tests only
 */
export function generateKey(
  comment: string,
  pair: JsonWebKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }),
) {
  const secret = Buffer.from(pair.d ?? '', 'base64url');
  const point = Buffer.from(pair.x ?? '', 'base64url');
  const blob = Buffer.concat([sshString(type), sshString(point)]);

  // Written twice: a reader notices a wrong passphrase by the difference.
  const check = randomBytes(4);
  const half = Buffer.concat([check, check, blob, sshString(Buffer.concat([secret, point])), sshString(comment)]);
  const paddingBytes = (blockBytes - (half.length % blockBytes)) % blockBytes;
  const padding = Buffer.from(Array.from({ length: paddingBytes }, (_, index) => index + 1));
  const content = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    sshString('none'), // cipher
    sshString('none'), // derivation of its key
    sshString(''),
    uint32(1), // number of keys
    sshString(blob),
    sshString(Buffer.concat([half, padding])),
  ]);
  return { privateKey: armour(content), blob };
}

function armour(content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,70}/g) ?? [];
  return ['-----BEGIN OPENSSH PRIVATE KEY-----', ...lines, '-----END OPENSSH PRIVATE KEY-----', ''].join('\n');
}
