import { isUniqueViolation } from '../../db/index.ts';
import type { Tx } from '../../db/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { oneTimeLinkSchema } from '../schema/one-time-link-schema.ts';
import { emailAddressSchema } from '../schema/email-address-schema.ts';
import type { EmailAddressRow } from '../schema/email-address-schema.ts';
import { findUnusedLink, linkClosed } from './one-time-links.ts';
import { addressInUse, ownAddress, announcePrimary } from './add-address.ts';
import { toEmailAddress } from './email-address.ts';
import type { EmailAddress } from './email-address.ts';

/**
 * The address that a link would verify, for the confirmation page: mail scanners open every link of a mail. Requires
 * the signed-in user to be the one who requested the link: a link requested by another account must not bind the
 * reader's mailbox to that account.
 *
 * Throws `link_closed` (not_found) unless the link is open and belongs to this user.
 */
export async function checkVerification(
  { db, clock }: AccountsDeps,
  personId: string,
  secret: string,
): Promise<EmailAddress> {
  return toEmailAddress(await addressOfLink(db.read, personId, secret, clock.now()));
}

/**
 * Consumes a link. Throws `link_closed` (not_found); `address_in_use` if another account verified the address first.
 */
export async function verifyAddress(deps: AccountsDeps, personId: string, secret: string): Promise<EmailAddress> {
  const address = await deps.db.write(async (tx) => {
    const row = await addressOfLink(tx.manager, personId, secret, tx.now);
    return setVerified(deps, tx, row);
  });
  deps.mail.wake();
  return address;
}

/**
 * Marks an address as verified without a link: an administrator vouches for it, which lets an instance without mail
 * attribute commits. Throws `unknown_address`, `address_in_use`.
 */
export async function markAddressVerified(
  deps: AccountsDeps,
  personId: string,
  addressId: string,
): Promise<EmailAddress> {
  const address = await deps.db.write(async (tx) => {
    const row = await ownAddress(tx.manager, personId, addressId);
    return row.verifiedAt === null ? setVerified(deps, tx, row) : toEmailAddress(row);
  });
  deps.mail.wake();
  return address;
}

async function addressOfLink(
  manager: Tx['manager'],
  personId: string,
  secret: string,
  now: number,
): Promise<EmailAddressRow> {
  const link = await findUnusedLink(manager, 'verify', secret, now);
  if (link === null || link.userId !== personId || link.addressKey === null) throw linkClosed();
  const row = await manager.findOneBy(emailAddressSchema, { userId: personId, addressKey: link.addressKey });
  if (row === null || row.verifiedAt !== null) throw linkClosed();
  return row;
}

/** Also ends the other links of the address. The first verified address of a user becomes the primary one. */
async function setVerified(deps: AccountsDeps, tx: Tx, row: EmailAddressRow): Promise<EmailAddress> {
  const { manager, now } = tx;
  const hasPrimary = await manager.existsBy(emailAddressSchema, { userId: row.userId, isPrimary: true });
  const verified = { verifiedAt: now, isPrimary: !hasPrimary };
  try {
    await manager.update(emailAddressSchema, { id: row.id }, verified);
  } catch (error) {
    if (isUniqueViolation(error, 'email_addresses_verified')) throw addressInUse(error);
    throw error;
  }
  await endLinks(manager, row, now);
  await announcePrimary(deps, tx, { ...row, ...verified });
  return toEmailAddress({ ...row, ...verified });
}

/** Ends all links to a user's address; the rows stay for the limits. */
export async function endLinks(
  manager: Tx['manager'],
  { userId, addressKey }: Pick<EmailAddressRow, 'userId' | 'addressKey'>,
  now: number,
): Promise<void> {
  await manager.update(oneTimeLinkSchema, { userId, addressKey }, { usedAt: now });
}
