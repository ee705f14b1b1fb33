import type { Tx } from '../../db/index.ts';
import { isUniqueViolation } from '../../db/index.ts';
import { conflict, invalid, notFound } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { noSuchPerson } from '../people/find-people.ts';
import { emailAddressSchema } from '../schema/email-address-schema.ts';
import type { EmailAddressRow } from '../schema/email-address-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import { insertOneTimeLink, refuseTooManyMails } from './one-time-links.ts';
import { parseAddress } from './address-rules.ts';
import type { ParsedAddress } from './address-rules.ts';
import { toEmailAddress } from './email-address.ts';
import type { EmailAddress } from './email-address.ts';
import { newAddressMail, verificationMail } from './verification-mail.ts';

interface NewAddress {
  address: string;
  /** Whether an administrator vouches for it, so that no link is needed. */
  isVerified?: boolean;
  isPublic?: boolean;
}

/**
 * Adds an address to an account. It is private and has no effect until it is verified: by a link sent to it if mail is
 * configured. Does not reveal whether another account has the address.
 *
 * Throws `invalid_address`, `reserved_address`; `address_known` if the user already has it; `too_many_addresses`;
 * `too_many_mails`; `unknown_person`; with `isVerified` also `address_in_use`.
 */
export async function addAddress(deps: AccountsDeps, personId: string, input: NewAddress): Promise<EmailAddress> {
  const parsed = parseNewAddress(deps, input.address);
  const { isVerified = false, isPublic = false } = input;
  const added = await deps.db.write(async (tx) => {
    if (!(await tx.manager.existsBy(userSchema, { id: personId }))) throw noSuchPerson();
    if ((await tx.manager.countBy(emailAddressSchema, { userId: personId })) >= deps.settings.maxAddressesPerPerson) {
      throw conflict(
        'too_many_addresses',
        `You already have ${deps.settings.maxAddressesPerPerson} addresses. Remove one first.`,
      );
    }
    const row = await insertAddress(deps, tx, personId, { ...parsed, isVerified, isPublic });
    if (isVerified) await announcePrimary(deps, tx, row);
    else await sendLink(deps, tx, row);
    return toEmailAddress(row);
  });
  deps.mail.wake();
  return added;
}

/** Notifies the primary address, in the transaction that verifies another one. */
export async function announcePrimary(
  { mail }: AccountsDeps,
  tx: Tx,
  { id, isPrimary }: EmailAddressRow,
): Promise<void> {
  if (!isPrimary) await mail.enqueue(tx, { kind: newAddressMail, data: { addressId: id } });
}

/** Parses an address allowed for an account. Throws `invalid_address`, `reserved_address`. */
export function parseNewAddress({ noReply }: Pick<AccountsDeps, 'noReply'>, address: unknown): ParsedAddress {
  const parsed = parseAddress(address);
  if (noReply.isReserved(parsed.key)) {
    throw invalid('reserved_address', 'The server assigns addresses in this domain.', { field: 'address' });
  }
  return parsed;
}

/** Inserts a new address; the first verified one becomes the primary one. Throws `address_known`, `address_in_use`. */
export async function insertAddress(
  { random }: Pick<AccountsDeps, 'random'>,
  { manager, now }: Tx,
  personId: string,
  { address, key, isVerified, isPublic = false }: ParsedAddress & { isVerified: boolean; isPublic?: boolean },
): Promise<EmailAddressRow> {
  const row: EmailAddressRow = {
    id: random.uuid(),
    userId: personId,
    address,
    addressKey: key,
    isPrimary: isVerified && !(await manager.existsBy(emailAddressSchema, { userId: personId, isPrimary: true })),
    isPublic,
    verifiedAt: isVerified ? now : null,
    createdAt: now,
  };
  try {
    await manager.insert(emailAddressSchema, row);
  } catch (error) {
    if (isUniqueViolation(error, 'email_addresses_user_key')) {
      throw conflict('address_known', 'This address is already in the list.', { field: 'address', cause: error });
    }
    if (isUniqueViolation(error, 'email_addresses_verified')) throw addressInUse(error);
    throw error;
  }
  return row;
}

/**
 * Sends the link of an address again; earlier links stay valid, because mails may be read in any order. Throws
 * `unknown_address`, `address_verified`, `mail_not_configured`, `too_many_mails`.
 */
export async function sendVerification(deps: AccountsDeps, personId: string, addressId: string): Promise<EmailAddress> {
  if (!deps.mail.isConfigured) throw mailNotConfigured();
  const address = await deps.db.write(async (tx) => {
    const row = await ownAddress(tx.manager, personId, addressId);
    if (row.verifiedAt !== null) throw conflict('address_verified', 'This address is already verified.');
    await sendLink(deps, tx, row);
    return toEmailAddress(row);
  });
  deps.mail.wake();
  return address;
}

async function sendLink(deps: AccountsDeps, tx: Tx, { userId, addressKey, id }: EmailAddressRow): Promise<void> {
  if (!deps.mail.isConfigured) return;
  await refuseTooManyMails(deps, tx, { personId: userId, addressKey });
  const lifetimeMs = deps.settings.verificationLifetimeMs;
  const secret = await insertOneTimeLink(deps, tx, { purpose: 'verify', personId: userId, addressKey, lifetimeMs });
  await deps.mail.enqueue(tx, { kind: verificationMail, data: { addressId: id, secret } });
}

/** Finds an address of this user. Throws `unknown_address` (not_found). */
export async function ownAddress(
  manager: Tx['manager'],
  personId: string,
  addressId: string,
): Promise<EmailAddressRow> {
  const row = await manager.findOneBy(emailAddressSchema, { id: addressId, userId: personId });
  if (row === null) throw notFound('unknown_address', 'There is no such address.');
  return row;
}

export function addressInUse(cause?: unknown) {
  return conflict('address_in_use', 'Another account has verified this address.', { field: 'address', cause });
}

export function mailNotConfigured() {
  return conflict('mail_not_configured', 'This server does not send mail. An administrator can verify the address.');
}
