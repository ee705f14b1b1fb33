import { inList } from '../../db/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { emailAddressSchema } from '../schema/email-address-schema.ts';
import { toEmailAddress } from './email-address.ts';
import type { EmailAddress } from './email-address.ts';

/** A user's addresses: the primary one, other verified ones, then the rest, each in order of addition. */
export async function listAddresses({ db }: AccountsDeps, personId: string): Promise<EmailAddress[]> {
  const rows = await db.read.findBy(emailAddressSchema, { userId: personId });
  const rank = ({ isPrimary, verifiedAt }: EmailAddress): number => (isPrimary ? 0 : verifiedAt === null ? 2 : 1);
  return rows
    .map(toEmailAddress)
    .sort((one, other) => rank(one) - rank(other) || one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
}

/** The primary address, which receives mail about the account; `null` without a verified one. */
export async function primaryAddressOf({ db }: AccountsDeps, personId: string): Promise<string | null> {
  return (await db.read.findOneBy(emailAddressSchema, { userId: personId, isPrimary: true }))?.address ?? null;
}

/** Primary addresses by user id; omits users without one. */
export async function primaryAddressesOf(
  { db }: AccountsDeps,
  personIds: readonly string[],
): Promise<Map<string, string>> {
  if (personIds.length === 0) return new Map();
  const rows: { user_id: string; address: string }[] = await db.read.query(
    `SELECT user_id, address FROM email_addresses WHERE is_primary = 1 AND ${inList('user_id')}`,
    [JSON.stringify(personIds)],
  );
  return new Map(rows.map(({ user_id, address }) => [user_id, address]));
}

/** The public verified address of each user, the primary one if it is public. */
export async function publicAddressesOf(
  { db }: AccountsDeps,
  personIds: readonly string[],
): Promise<Map<string, string>> {
  if (personIds.length === 0) return new Map();
  const rows: { user_id: string; address: string; is_primary: number; created_at: number }[] = await db.read.query(
    `SELECT user_id, address, is_primary, created_at FROM email_addresses
     WHERE is_public = 1 AND verified_at IS NOT NULL AND ${inList('user_id')}`,
    [JSON.stringify(personIds)],
  );
  rows.sort((one, other) => other.is_primary - one.is_primary || one.created_at - other.created_at);
  const found = new Map<string, string>();
  for (const { user_id, address } of rows) if (!found.has(user_id)) found.set(user_id, address);
  return found;
}
