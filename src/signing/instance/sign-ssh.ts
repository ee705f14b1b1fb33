import { createHash, createPrivateKey, sign } from 'node:crypto';
import { sshString, uint32 } from '../../openssh/index.ts';

/** PKCS #8 prefix of the 32 secret bytes of an Ed25519 key (RFC 8410 §7). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex');
const type = 'ssh-ed25519';

/**
 * Creates an armored signature by an Ed25519 key in the format of `ssh-keygen -Y sign` (OpenSSH, PROTOCOL.sshsig).
 * @param seed the 32 secret bytes
 * @param blob the public half in wire form
 * @param namespace purpose of the signature, `git` for commits and tags
 */
export function signSsh(seed: Buffer, blob: Buffer, namespace: string, message: Buffer): string {
  const magic = Buffer.from('SSHSIG');
  const head = [sshString(namespace), sshString(''), sshString('sha512')];
  const digest = createHash('sha512').update(message).digest();
  const key = createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: 'der', type: 'pkcs8' });
  const raw = sign(null, Buffer.concat([magic, ...head, sshString(digest)]), key);
  const signature = Buffer.concat([sshString(type), sshString(raw)]);
  const bytes = Buffer.concat([magic, uint32(1), sshString(blob), ...head, sshString(signature)]);
  const lines = bytes.toString('base64').match(/.{1,70}/g) ?? [];
  return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----', ''].join('\n');
}
