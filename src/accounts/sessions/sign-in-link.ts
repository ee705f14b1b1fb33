import { forbidden, notFound } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { noSuchPerson } from '../people/find-people.ts';
import { toPerson } from '../person.ts';
import type { Person } from '../person.ts';
import { signInLinkSchema } from '../schema/sign-in-link-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import { hashSecret, looksLikeSecret, newSecret } from '../secret.ts';
import { accountDisabled } from './start-session.ts';

/** Unused, used, expired and invalid links look the same from outside. */
const signInLinkClosed = () => notFound('sign_in_link_closed', 'This link does not work any more.');

/**
 * Creates a one-time sign-in link: for an administrator on the server, when the sign-in provider is down. Earlier links
 * of the user stop working. @returns the secret, shown once. Throws `unknown_person`, `account_disabled`.
 */
export async function makeSignInLink(
  { db, random, settings }: AccountsDeps,
  personId: string,
  { lifetimeMs = settings.signInLinkLifetimeMs }: { lifetimeMs?: number } = {},
): Promise<{ secret: string; expiresAt: number }> {
  return db.write(async ({ manager, now }) => {
    const person = await manager.findOneBy(userSchema, { id: personId });
    if (person === null) throw noSuchPerson();
    if (person.disabledAt !== null) throw accountDisabled();
    await manager.delete(signInLinkSchema, { userId: personId });
    const secret = newSecret(random);
    const expiresAt = now + lifetimeMs;
    await manager.insert(signInLinkSchema, {
      tokenHash: hashSecret(secret),
      userId: personId,
      createdAt: now,
      expiresAt,
      usedAt: null,
    });
    return { secret, expiresAt };
  });
}

/** The user whom a link would sign in, for the confirmation page. Throws `sign_in_link_closed` (not_found). */
export async function checkSignInLink({ db, clock }: AccountsDeps, secret: string): Promise<Person> {
  const link = looksLikeSecret(secret)
    ? await db.read.findOneBy(signInLinkSchema, { tokenHash: hashSecret(secret) })
    : null;
  const isOpen = link !== null && link.usedAt === null && clock.now() < link.expiresAt;
  const person = isOpen ? await db.read.findOneBy(userSchema, { id: link.userId }) : null;
  if (person === null || person.disabledAt !== null) throw signInLinkClosed();
  return toPerson(person);
}

/**
 * Consumes a link; of two concurrent calls, one succeeds. @returns its user. Throws `sign_in_link_closed` (not_found).
 */
export async function redeemSignInLink(deps: AccountsDeps, secret: string): Promise<Person> {
  const person = await checkSignInLink(deps, secret);
  await deps.db.write(async ({ manager, now }) => {
    const link = await manager.findOneBy(signInLinkSchema, { tokenHash: hashSecret(secret) });
    if (link === null || link.usedAt !== null || now >= link.expiresAt) throw signInLinkClosed();
    await manager.update(signInLinkSchema, { tokenHash: link.tokenHash }, { usedAt: now });
  });
  return person;
}

/** Throws while an administrator has turned off sign-in with passwords. */
export function refusePasswordSignIn({ settings }: Pick<AccountsDeps, 'settings'>): void {
  if (settings.passwordSignIn) return;
  throw forbidden('password_sign_in_off', 'Signing in with a password is turned off on this server.');
}
