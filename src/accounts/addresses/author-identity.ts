import type { AccountsDeps } from '../deps.ts';
import { addressKey } from './address-rules.ts';

/** The key of a no-reply address: the user's id, independent of the handle in the address. */
const personKey = (personId: string): string => `person:${personId}`;

/** The key that groups commits of one author; null for an invalid address. */
export function authorKeyOf({ noReply }: Pick<AccountsDeps, 'noReply'>, address: string): string | null {
  const id = noReply.personIdOf(address);
  return id === null ? addressKey(address) : personKey(id);
}

/** The keys of a user's commits: verified addresses and no-reply addresses. */
export async function authorKeysOf({ db }: Pick<AccountsDeps, 'db'>, personId: string): Promise<string[]> {
  const rows: { address_key: string }[] = await db.read.query(
    'SELECT address_key FROM email_addresses WHERE user_id = ? AND verified_at IS NOT NULL',
    [personId],
  );
  return [personKey(personId), ...rows.map((row) => row.address_key)];
}
