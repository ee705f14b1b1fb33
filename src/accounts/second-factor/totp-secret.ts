import { LessThan } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { decrypt, encrypt, reencrypt } from '../../sealing/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { totpSecretSchema } from '../schema/second-factor-schema.ts';
import type { TotpSecretRow } from '../schema/second-factor-schema.ts';

const use = 'totp';

type SealingDeps = Pick<AccountsDeps, 'instanceKey' | 'random' | 'logger'>;

/** The ciphertext is bound to the user: that of another row does not decrypt. */
export const encryptTotpSecret = ({ instanceKey, random }: SealingDeps, personId: string, secret: Buffer): string =>
  encrypt(instanceKey.for(use), random, personId, secret.toString('base64'));

/** The secret of a row; null if it was encrypted with another instance key. */
export function decryptTotpSecret({ instanceKey, logger }: SealingDeps, row: TotpSecretRow): Buffer | null {
  const text = decrypt(instanceKey.decrypting(use), row.userId, row.ciphertext);
  if (text !== null) return Buffer.from(text, 'base64');
  logger.error('second_factor.unreadable', { personId: row.userId, hint: 'the instance key is not the one it was' });
  return null;
}

/**
 * Consumes a code: its step becomes the last accepted one, unless another request came first.
 * @returns whether it was this request
 */
export async function useStep(manager: EntityManager, userId: string, step: number): Promise<boolean> {
  const { affected } = await manager.update(totpSecretSchema, { userId, lastStep: LessThan(step) }, { lastStep: step });
  return affected === 1;
}

/** After a rotation of the instance key: see `reencrypt`. @returns how many were encrypted again */
export function reencryptTotpSecrets({ db, instanceKey, random }: AccountsDeps): Promise<number> {
  return db.write(async ({ manager }) => {
    let changed = 0;
    for (const { userId, ciphertext: text } of await manager.find(totpSecretSchema)) {
      const ciphertext = reencrypt(instanceKey, random, { use, place: userId, text });
      if (ciphertext === null) continue;
      await manager.update(totpSecretSchema, { userId }, { ciphertext });
      changed += 1;
    }
    return changed;
  });
}
