import { notFound } from '../../kernel/index.ts';
import type { SigningDeps } from '../deps.ts';
import { gpgKeySchema } from '../schema/gpg-key-schema.ts';

/** Removes an OpenPGP key of a user; its signatures are no longer verified. Throws `not_found`. */
export async function removeGpgKey({ db, logger }: SigningDeps, personId: string, keyId: string): Promise<void> {
  await db.write(async ({ manager }) => {
    const { affected } = await manager.delete(gpgKeySchema, { id: keyId, userId: personId });
    if (affected === 0) throw notFound('unknown_key', 'There is no such key.');
  });
  logger.info('key.removed', { personId, keyId });
}
