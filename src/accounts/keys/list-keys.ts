import { selectRows } from '../../db/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { sshKeySchema } from '../schema/ssh-key-schema.ts';
import { toSshKey } from './ssh-key.ts';
import type { SshKey } from './ssh-key.ts';

/**
 * A user's SSH keys, newest first.
 * @param personId `null` lists the keys of all users, for the command line
 */
export async function listKeys({ db }: AccountsDeps, personId: string | null): Promise<SshKey[]> {
  const ofPerson = personId === null ? '' : 'WHERE k.user_id = :personId';
  const sql = `SELECT k.* FROM ssh_keys k ${ofPerson} ORDER BY k.created_at DESC, k.id`;
  const rows = await selectRows(db.read, sshKeySchema, sql, { personId });
  return rows.map(toSshKey);
}
