import type { EntityManager } from 'typeorm';
import { findUnusedLink, insertOneTimeLink, linkClosed, mayMail, endResetLinks } from '../addresses/one-time-links.ts';
import { mailNotConfigured } from '../addresses/add-address.ts';
import { parseAddress } from '../addresses/address-rules.ts';
import type { AccountsDeps } from '../deps.ts';
import { parsePassword } from '../password-rules.ts';
import { noSuchPerson } from '../people/find-people.ts';
import { toPerson } from '../person.ts';
import type { Person } from '../person.ts';
import { emailAddressSchema } from '../schema/email-address-schema.ts';
import { endAllSessions } from '../end-all-sessions.ts';
import { userSchema } from '../schema/user-schema.ts';
import type { UserRow } from '../schema/user-schema.ts';
import { isNotNull } from '../../db/index.ts';
import { announceSecurityEvent } from '../security-events.ts';
import { accountDisabled } from '../sessions/start-session.ts';
import { resetMail } from './reset-mail.ts';

interface ResetRequest {
  /** A verified address of the account. */
  address: string;
  /** The client's network address. */
  network: string;
}

/**
 * Sends a password reset link to a verified address. The response and its time are the same whether or not an account
 * has the address (security D05), because the look-up runs after the response.
 *
 * Throws `mail_not_configured`; `invalid_address`; `too_many_resets` (unavailable), which counts every address alike.
 */
export async function requestPasswordReset(deps: AccountsDeps, { address, network }: ResetRequest): Promise<void> {
  if (!deps.mail.isConfigured) throw mailNotConfigured();
  const { key } = parseAddress(address);
  await deps.resetRateLimit.count({ key, network });
  const work: Promise<void> = sendResetLink(deps, key)
    .catch((error: unknown) => deps.logger.error('accounts.reset_not_sent', { error }))
    .finally(() => deps.background.delete(work));
  deps.background.add(work);
}

/** Does nothing for an unknown address, a disabled account, and above the mail limit. */
async function sendResetLink(deps: AccountsDeps, addressKey: string): Promise<void> {
  const isSent = await deps.db.write(async (tx) => {
    const row = await tx.manager.findOneBy(emailAddressSchema, { addressKey, verifiedAt: isNotNull() });
    const person = row && (await tx.manager.findOneBy(userSchema, { id: row.userId }));
    if (!row || !person || person.disabledAt !== null) return false;
    if (!(await mayMail(deps, tx, { personId: person.id, addressKey }))) return false;
    const lifetimeMs = deps.settings.resetLifetimeMs;
    const secret = await insertOneTimeLink(deps, tx, { purpose: 'reset', personId: person.id, addressKey, lifetimeMs });
    await deps.mail.enqueue(tx, { kind: resetMail, data: { addressId: row.id, secret } });
    return true;
  });
  if (isSent) deps.mail.wake();
}

/**
 * Creates a password reset link that an administrator hands out, on an instance without mail.
 * @returns the secret, shown once. Throws `unknown_person`, `account_disabled`.
 */
export async function makeResetLink(
  deps: AccountsDeps,
  personId: string,
  { lifetimeMs = deps.settings.handedResetLifetimeMs }: { lifetimeMs?: number } = {},
): Promise<{ secret: string; expiresAt: number }> {
  return deps.db.write(async (tx) => {
    const person = await tx.manager.findOneBy(userSchema, { id: personId });
    if (person === null) throw noSuchPerson();
    if (person.disabledAt !== null) throw accountDisabled();
    const secret = await insertOneTimeLink(deps, tx, { purpose: 'reset', personId, addressKey: null, lifetimeMs });
    return { secret, expiresAt: tx.now + lifetimeMs };
  });
}

/** The user whose password a link would set, for its form. Throws `link_closed` (not_found). */
export async function checkPasswordReset({ db, clock }: AccountsDeps, secret: string): Promise<Person> {
  return toPerson(await personOfLink(db.read, secret, clock.now()));
}

/**
 * Sets the password of a link's user, and ends this link, all their other reset links and all sessions. Tokens and keys
 * stay. Does not sign in, so a second factor is still required.
 *
 * Throws `link_closed` (not_found) without an open link, whatever the password; the errors of the rules of passwords,
 * after which the link still works; `sign_in_busy`.
 */
export async function resetPassword(deps: AccountsDeps, secret: string, password: string): Promise<Person> {
  // Comes first, so that anonymous clients cannot cause password hashing.
  await checkPasswordReset(deps, secret);
  const checked = parsePassword(password);
  const passwordHash = await deps.hasher.inSlot((hashing) => hashing.hash(checked));
  return deps.db.write(async (tx) => {
    const { manager, now } = tx;
    const person = await personOfLink(manager, secret, now);
    await manager.update(userSchema, { id: person.id }, { passwordHash, mustChangePassword: false });
    await endAllSessions(manager, person.id);
    await endResetLinks(manager, person.id, now);
    await announceSecurityEvent(deps, tx, person.id, { kind: 'password_changed', by: 'link' });
    return toPerson({ ...person, mustChangePassword: false });
  });
}

/** A mailed link works while its address belongs to the account; no link works for a disabled account. */
async function personOfLink(manager: EntityManager, secret: string, now: number): Promise<UserRow> {
  const link = await findUnusedLink(manager, 'reset', secret, now);
  const person = link && (await manager.findOneBy(userSchema, { id: link.userId }));
  if (!link || !person || person.disabledAt !== null) throw linkClosed();
  if (link.addressKey !== null) {
    const at = { userId: person.id, addressKey: link.addressKey, verifiedAt: isNotNull<number>() };
    if (!(await manager.existsBy(emailAddressSchema, at))) throw linkClosed();
  }
  return person;
}
