import { IsNull } from 'typeorm';
import type { EntityManager } from 'typeorm';
import type { Tx } from '../../db/index.ts';
import type { Random } from '../../kernel/index.ts';
import { randomString } from '../random-string.ts';
import { recoveryCodeSchema } from '../schema/second-factor-schema.ts';
import { hashSecret } from '../secret.ts';

const recoveryCodeCount = 10;

/** Letters and digits that are not confused when a code is copied from paper. */
const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';
const groups = 4;
const groupLength = 4;

/** `k7mx-…`, four groups of four: 79 bits, so that its hash cannot be brute-forced. */
const newCode = (random: Random): string =>
  Array.from({ length: groups }, () => randomString(random, alphabet, groupLength)).join('-');

/** Normalises a typed code for hashing; null if it is not formatted like a recovery code. */
export function parseRecoveryCode(text: string): string | null {
  const code = text.toLowerCase().replace(/[\s-]/g, '');
  return code.length === groups * groupLength && /^[a-z0-9]+$/.test(code) ? code : null;
}

const hashCode = (code: string): string => hashSecret(code.replaceAll('-', ''));

/** Replaces a user's codes. @returns the new ones, which are stored only as hashes */
export async function replaceRecoveryCodes({ manager, now }: Tx, random: Random, userId: string): Promise<string[]> {
  await manager.delete(recoveryCodeSchema, { userId });
  const codes = Array.from({ length: recoveryCodeCount }, () => newCode(random));
  for (const code of codes)
    await manager.insert(recoveryCodeSchema, { userId, codeHash: hashCode(code), createdAt: now, usedAt: null });
  return codes;
}

export const countRecoveryCodes = (manager: EntityManager, userId: string): Promise<number> =>
  manager.countBy(recoveryCodeSchema, { userId, usedAt: IsNull() });

/**
 * Consumes a code. The condition on the row decides between two clients with the same code: one wins.
 * @returns whether it was an unused code of this user
 */
export async function useRecoveryCode({ manager, now }: Tx, userId: string, code: string): Promise<boolean> {
  const { affected } = await manager.update(
    recoveryCodeSchema,
    { userId, codeHash: hashCode(code), usedAt: IsNull() },
    { usedAt: now },
  );
  return affected === 1;
}
