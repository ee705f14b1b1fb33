import type { Tx } from '../../db/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { passkeySchema } from '../schema/passkey-schema.ts';
import { recoveryCodeSchema, totpSecretSchema } from '../schema/second-factor-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import { isNotNull } from '../../db/index.ts';
import { replaceRecoveryCodes } from './recovery-codes.ts';

/**
 * In the transaction that adds a factor, marks the account as having one.
 * @returns recovery codes to show once, with the first factor; null with further ones, because the codes stay
 */
export async function recordFactorAdded({ random }: AccountsDeps, tx: Tx, personId: string): Promise<string[] | null> {
  const person = await tx.manager.findOneBy(userSchema, { id: personId });
  if (person === null || person.secondFactorAt !== null) return null;
  await tx.manager.update(userSchema, { id: personId }, { secondFactorAt: tx.now });
  return replaceRecoveryCodes(tx, random, personId);
}

/**
 * In the transaction that removes a factor, records whether one is left; recovery codes are deleted with the last one.
 */
export async function recordFactorRemoved({ manager }: Tx, personId: string): Promise<void> {
  const isLeft =
    (await manager.existsBy(totpSecretSchema, { userId: personId, enabledAt: isNotNull<number>() })) ||
    (await manager.existsBy(passkeySchema, { userId: personId }));
  if (isLeft) return;
  await manager.update(userSchema, { id: personId }, { secondFactorAt: null });
  await manager.delete(recoveryCodeSchema, { userId: personId });
}
