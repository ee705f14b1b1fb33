import { fingerprint, generateKey, readPrivateKey } from '../openssh/index.ts';
import { invalid, unavailable } from '../kernel/index.ts';
import { encrypt, decrypt } from '../sealing/index.ts';
import type { MirrorRow } from './mirror-schema.ts';
import type { MirrorDeps } from './deps.ts';

/** A key pair by which a mirror authenticates to the remote. */
export interface MirrorKey {
  /** In OpenSSH's format. */
  privateKey: string;
  /** One line, as the remote expects it. */
  publicKey: string;
}

const keyType = 'ssh-ed25519';

/** @param comment the name of the key at the remote */
export function makeMirrorKey(comment: string): MirrorKey {
  const { privateKey, blob } = generateKey(comment);
  return { privateKey, publicKey: `${keyType} ${blob.toString('base64')} ${comment}` };
}

/** Parses an existing key. Throws `invalid_ssh_key` unless it is an Ed25519 key without a passphrase. */
export function readMirrorKey(text: string, comment: string): MirrorKey {
  const key = readPrivateKey(text);
  if (!('blob' in key))
    throw invalid('invalid_ssh_key', 'Enter an Ed25519 private key in OpenSSH format, without a passphrase.', {
      field: 'key',
    });
  return { privateKey: `${text.trim()}\n`, publicKey: `${keyType} ${key.blob.toString('base64')} ${comment}` };
}

/**
 * Additional data of the encryption: a ciphertext decrypts only for its own mirror. Unlike a password, a key reveals
 * nothing to its host.
 */
export const placeOfKey = (repositoryId: string): string => `mirror-key:${repositoryId}`;

export function encryptKey(
  { key, random }: MirrorDeps,
  repositoryId: string,
  { privateKey, publicKey }: MirrorKey,
): Pick<MirrorRow, 'sshKeyCiphertext' | 'sshPublicKey'> {
  return {
    sshKeyCiphertext: encrypt(key.for('secrets'), random, placeOfKey(repositoryId), privateKey),
    sshPublicKey: publicKey,
  };
}

/** Throws `mirror_secret_closed` if the instance key has changed. */
export function decryptKey(
  { key }: MirrorDeps,
  { repositoryId, sshKeyCiphertext }: Pick<MirrorRow, 'repositoryId' | 'sshKeyCiphertext'>,
): string {
  const opened =
    sshKeyCiphertext === null ? null : decrypt(key.decrypting('secrets'), placeOfKey(repositoryId), sshKeyCiphertext);
  if (opened === null)
    throw unavailable(
      'mirror_secret_closed',
      'The mirror SSH key cannot be decrypted with this server’s key. Create a new one and add it to the remote.',
    );
  return opened;
}

/** `ED25519 SHA256:…`, as shown by ssh, for a stored host key. */
export function hostKeyFingerprint(hostKey: string): string {
  const [type = '', blob = ''] = hostKey.split(' ');
  return `${type.replace(/^(?:ssh|ecdsa-sha2)-/, '').toUpperCase()} ${fingerprint(Buffer.from(blob, 'base64'))}`;
}
