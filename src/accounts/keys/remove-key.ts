import { notFound } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { sshKeySchema } from '../schema/ssh-key-schema.ts';

/** Removes a user's key; connections are rejected from the next one on. Throws `not_found`. */
export async function removeKey({ db }: AccountsDeps, personId: string, keyId: string): Promise<void> {
  await db.write(async ({ manager }) => {
    const { affected } = await manager.delete(sshKeySchema, { id: keyId, userId: personId });
    if (affected === 0) throw notFound('unknown_key', 'There is no such key.');
  });
}
