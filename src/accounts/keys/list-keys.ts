import type { AccountsDeps } from '../deps.ts';
import { sshKeySchema } from '../schema/ssh-key-schema.ts';
import { toSshKey } from './ssh-key.ts';
import type { SshKey } from './ssh-key.ts';

/**
 * A person's SSH keys, newest first.
 * @param personId `null` lists the keys of all people, for the command line
 */
export async function listKeys({ db }: AccountsDeps, personId: string | null): Promise<SshKey[]> {
  const rows = await db.read.find(sshKeySchema, {
    where: personId === null ? {} : { userId: personId },
    order: { createdAt: 'DESC', id: 'ASC' },
  });
  return rows.map(toSshKey);
}
