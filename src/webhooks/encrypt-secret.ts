import { internal } from '../kernel/index.ts';
import { encrypt, decrypt, reencrypt } from '../sealing/index.ts';
import type { WebhookDeps } from './deps.ts';
import { webhookSchema } from './webhook-schema.ts';
import type { WebhookRow } from './webhook-schema.ts';

/** Additional data of the encryption: a ciphertext decrypts only for its own webhook. */
const placeOf = (webhookId: string): string => `webhook:${webhookId}`;
const placeOfAuthorization = (webhookId: string): string => `webhook-authorization:${webhookId}`;

export function encryptSecret(
  { key, random }: Pick<WebhookDeps, 'key' | 'random'>,
  webhookId: string,
  secret: string,
): string {
  return encrypt(key.for('secrets'), random, placeOf(webhookId), secret);
}

/** Encrypts the `Authorization` header that a receiver requires. */
export const encryptAuthorization = (
  { key, random }: Pick<WebhookDeps, 'key' | 'random'>,
  webhookId: string,
  header: string,
): string => encrypt(key.for('secrets'), random, placeOfAuthorization(webhookId), header);

/** Null for a webhook without this header. Throws if the instance key has changed. */
export function decryptAuthorization(
  { key }: Pick<WebhookDeps, 'key'>,
  { id, authorizationCiphertext: text }: Pick<WebhookRow, 'id' | 'authorizationCiphertext'>,
): string | null {
  if (text === null) return null;
  const header = decrypt(key.decrypting('secrets'), placeOfAuthorization(id), text);
  if (header === null) throw internal('the header of a webhook does not open with this data folder’s key');
  return header;
}

/** Null for a webhook without a secret. Throws if the instance key has changed. */
export function decryptSecret(
  { key }: Pick<WebhookDeps, 'key'>,
  { id, secretCiphertext }: Pick<WebhookRow, 'id' | 'secretCiphertext'>,
): string | null {
  if (secretCiphertext === null) return null;
  const secret = decrypt(key.decrypting('secrets'), placeOf(id), secretCiphertext);
  if (secret === null) throw internal('the secret of a webhook does not open with this data folder’s key');
  return secret;
}

/** Re-encrypts the secrets after a rotation of the instance key. @returns the number of secrets */
export function reencryptSecrets({ db, key, random }: Pick<WebhookDeps, 'db' | 'key' | 'random'>): Promise<number> {
  return db.write(async ({ manager }) => {
    let changed = 0;
    const anew = (place: string, text: string | null) =>
      text === null ? null : reencrypt(key, random, { use: 'secrets', place, text });
    for (const { id, ...row } of await manager.find(webhookSchema)) {
      const secretCiphertext = anew(placeOf(id), row.secretCiphertext);
      const authorizationCiphertext = anew(placeOfAuthorization(id), row.authorizationCiphertext);
      if (secretCiphertext === null && authorizationCiphertext === null) continue;
      await manager.update(
        webhookSchema,
        { id },
        { ...(secretCiphertext && { secretCiphertext }), ...(authorizationCiphertext && { authorizationCiphertext }) },
      );
      changed += 1;
    }
    return changed;
  });
}
