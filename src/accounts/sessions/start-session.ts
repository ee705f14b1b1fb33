import type { Tx } from '../../db/index.ts';
import { forbidden } from '../../kernel/index.ts';
import { noSuchPerson } from '../people/find-people.ts';
import { cleanText } from '../validate-text.ts';
import type { AccountsDeps } from '../deps.ts';
import { hashSecret, newSecret } from '../secret.ts';
import { sessionSchema } from '../schema/session-schema.ts';
import type { SecondFactor, SessionRow, SignInMethod } from '../schema/session-schema.ts';
import { announceSecurityEvent } from '../security-events.ts';
import { userSchema } from '../schema/user-schema.ts';
import { sessionExpiresAt, toSession } from './session-expiry.ts';
import type { Session } from './session-expiry.ts';

/** The client of a sign-in, as shown in the list of sessions. */
export interface SessionOrigin {
  address: string;
  userAgent: string;
  /** The session secret that the browser sent, if any: ends that session, to prevent session fixation. */
  previousSecret?: string | null;
}

export interface StartedSession {
  /** Only for the cookie. */
  secret: string;
  session: Session;
}

/** How a session was signed in. */
interface SignInProof {
  method: SignInMethod;
  factor: SecondFactor | null;
}

const maxAddressCharacters = 64;
const maxUserAgentCharacters = 255;

/**
 * Signs in a user whose account was just created, with the chosen password: after setup or an invitation. Every other
 * sign-in goes through `completeSignIn`. Throws `account_disabled`, `unknown_person`.
 */
export async function startSession(
  deps: AccountsDeps,
  personId: string,
  origin: SessionOrigin,
): Promise<StartedSession> {
  return deps.db.write(async (tx) => {
    const row = await tx.manager.findOneBy(userSchema, { id: personId });
    if (row === null) throw noSuchPerson();
    if (row.disabledAt !== null) throw accountDisabled();
    return insertSession(deps, tx, personId, origin, { method: 'password', factor: null });
  });
}

/** Inserts a session; ends the oldest ones beyond the limit per user. */
export async function insertSession(
  deps: AccountsDeps,
  tx: Tx,
  personId: string,
  { address, userAgent, previousSecret }: SessionOrigin,
  { method, factor }: SignInProof,
): Promise<StartedSession> {
  const { random, settings, securityListeners } = deps;
  const { manager, now } = tx;
  const secret = newSecret(random);
  const row: SessionRow = {
    id: random.uuid(),
    userId: personId,
    tokenHash: hashSecret(secret),
    createdAt: now,
    lastSeenAt: now,
    expiresAt: now + settings.sessionLifetimeMs,
    address: cleanText(address, maxAddressCharacters),
    userAgent: cleanText(userAgent, maxUserAgentCharacters),
    method,
    factor,
    confirmedAt: now,
  };
  if (securityListeners.length > 0) {
    const sessions = await manager.findBy(sessionSchema, { userId: personId });
    const person = await manager.findOneBy(userSchema, { id: personId });
    await announceSecurityEvent(deps, tx, personId, {
      kind: 'signed_in',
      address: row.address,
      userAgent: row.userAgent,
      others: sessions.filter((each) => now < sessionExpiresAt(each, settings)),
      accountCreatedAt: person?.createdAt ?? now,
    });
  }
  if (previousSecret != null) await manager.delete(sessionSchema, { tokenHash: hashSecret(previousSecret) });
  await manager.insert(sessionSchema, row);
  await manager.update(userSchema, { id: personId }, { lastSeenAt: now });

  const surplus = await manager.find(sessionSchema, {
    where: { userId: personId },
    order: { lastSeenAt: 'DESC', createdAt: 'DESC' },
    skip: settings.maxSessionsPerPerson,
    take: settings.maxSessionsPerPerson,
  });
  for (const { id } of surplus) await manager.delete(sessionSchema, { id });
  return { secret, session: toSession(row, settings) };
}

export function accountDisabled() {
  return forbidden('account_disabled', 'This account is disabled.');
}
