import { selectRows } from '../../db/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { idsOfNumber } from '../people/find-people.ts';
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

/** The SSH key of any user by the number in which Gitea's clients know it, the start of its id; null without one. */
export async function keyByNumber({ db }: AccountsDeps, number: number): Promise<(SshKey & { userId: string }) | null> {
  const range = idsOfNumber(number);
  if (range === null) return null;
  const [from, before] = range;
  const sql = 'SELECT k.* FROM ssh_keys k WHERE k.id >= :from AND k.id < :before ORDER BY k.id LIMIT 1';
  const [row] = await selectRows(db.read, sshKeySchema, sql, { from, before });
  return row === undefined ? null : { ...toSshKey(row), userId: row.userId };
}
