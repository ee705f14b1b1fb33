import { Not } from 'typeorm';
import type { AccountsDeps } from '../deps.ts';
import { sshKeySchema } from '../schema/ssh-key-schema.ts';

/**
 * A user's sign-in keys, oldest first, each as a line of `authorized_keys` without a comment: titles and comments are
 * visible only to their owner.
 */
export async function publicKeyLines({ db }: AccountsDeps, personId: string): Promise<string[]> {
  const rows = await db.read.find(sshKeySchema, {
    where: { userId: personId, uses: Not('signing') },
    order: { createdAt: 'ASC', id: 'ASC' },
  });
  return rows.map(({ type, blobBase64 }) => `${type} ${blobBase64}`);
}
