import type { Tx } from '../../db/index.ts';
import { conflict } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { emailAddressSchema } from '../schema/email-address-schema.ts';
import type { EmailAddressRow } from '../schema/email-address-schema.ts';
import { announceSecurityEvent } from '../security-events.ts';
import { ownAddress } from './add-address.ts';
import { toEmailAddress } from './email-address.ts';
import type { EmailAddress } from './email-address.ts';
import { endLinks } from './verify-address.ts';

/**
 * Makes an address the primary one, which receives mail about the account. Throws `unknown_address`,
 * `address_unverified`.
 */
export async function setPrimaryAddress(
  deps: AccountsDeps,
  personId: string,
  addressId: string,
): Promise<EmailAddress> {
  return deps.db.write(async (tx) => {
    const { manager } = tx;
    const row = await ownAddress(manager, personId, addressId);
    if (row.verifiedAt === null) {
      throw conflict('address_unverified', 'Only a verified address can be the primary address.');
    }
    const before = await manager.findOneBy(emailAddressSchema, { userId: personId, isPrimary: true });
    await manager.update(emailAddressSchema, { userId: personId, isPrimary: true }, { isPrimary: false });
    await manager.update(emailAddressSchema, { id: row.id }, { isPrimary: true });
    if (before !== null && before.id !== row.id) await announceChange(deps, tx, before, row);
    return toEmailAddress({ ...row, isPrimary: true });
  });
}

/** Shows a verified address to others, or hides it. Throws `unknown_address`. */
export async function setAddressPublic(
  { db }: AccountsDeps,
  personId: string,
  addressId: string,
  isPublic: boolean,
): Promise<EmailAddress> {
  return db.write(async ({ manager }) => {
    const row = await ownAddress(manager, personId, addressId);
    await manager.update(emailAddressSchema, { id: row.id }, { isPublic });
    return toEmailAddress({ ...row, isPublic });
  });
}

/**
 * Removes an address with its links. If it was the primary one, the oldest verified address of the user becomes
 * primary.
 * @returns the removed address. Throws `unknown_address`.
 */
export async function removeAddress(deps: AccountsDeps, personId: string, addressId: string): Promise<EmailAddress> {
  return deps.db.write(async (tx) => {
    const { manager, now } = tx;
    const row = await ownAddress(manager, personId, addressId);
    await manager.delete(emailAddressSchema, { id: row.id });
    await endLinks(manager, row, now);
    if (row.isPrimary) {
      const rest = await manager.findBy(emailAddressSchema, { userId: personId });
      const [next] = rest
        .filter(({ verifiedAt }) => verifiedAt !== null)
        .sort((one, other) => one.verifiedAt! - other.verifiedAt! || (one.id < other.id ? -1 : 1));
      if (next !== undefined) await manager.update(emailAddressSchema, { id: next.id }, { isPrimary: true });
      await announceChange(deps, tx, row, next ?? null);
    }
    return toEmailAddress(row);
  });
}

/** Notifies the former primary address: an attacker who uses the account cannot read that mailbox. */
function announceChange(
  deps: AccountsDeps,
  tx: Tx,
  before: EmailAddressRow,
  after: EmailAddressRow | null,
): Promise<void> {
  const event = { kind: 'primary_address_changed' as const, from: before.address, to: after?.address ?? null };
  return announceSecurityEvent(deps, tx, before.userId, event);
}
