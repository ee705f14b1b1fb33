import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { fingerprint, sshString } from '../../openssh/index.ts';

/** ECDSA on P-256, for clients without Ed25519, such as Java's without an additional library (RFC 5656). */
const secondKeyType = 'ecdsa-sha2-nistp256';
const curve = 'nistp256';

/** A fresh key in the PEM format that ssh2 and OpenSSH read. */
export const makeSecondKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({ type: 'sec1', format: 'pem' }) as string;

/** The fingerprint of a P-256 key in PEM; null for all other keys. */
export function secondKeyFingerprint(privateKey: string): string | null {
  try {
    const key = createPrivateKey(privateKey);
    if (key.asymmetricKeyType !== 'ec' || key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return null;
    const { x, y } = key.export({ format: 'jwk' });
    const point = Buffer.concat([Buffer.from([4]), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')]);
    return fingerprint(Buffer.concat([sshString(secondKeyType), sshString(curve), sshString(point)]));
  } catch {
    return null;
  }
}
