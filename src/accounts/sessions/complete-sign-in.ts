import type { Tx } from '../../db/index.ts';
import { noSuchPerson } from '../people/find-people.ts';
import { toPerson } from '../person.ts';
import type { Person } from '../person.ts';
import type { AccountsDeps } from '../deps.ts';
import type { SecondFactor, SignInMethod } from '../schema/session-schema.ts';
import { userSchema } from '../schema/user-schema.ts';
import type { UserRow } from '../schema/user-schema.ts';
import { insertChallenge } from './sign-in-challenges.ts';
import { accountDisabled, insertSession } from './start-session.ts';
import type { SessionOrigin, StartedSession } from './start-session.ts';

/** A user has proved their identity by one means. */
interface IdentifiedSignIn extends SessionOrigin {
  method: SignInMethod;
  /**
   * Whether this proof suffices by itself: a passkey with user verification, or a provider whose second factor the
   * administrator trusts.
   */
  skipsSecondFactor?: boolean;
}

export interface SignedIn extends StartedSession {
  kind: 'session';
  person: Person;
}

/** The second factor is still required. */
interface SecondFactorNeeded {
  kind: 'second_factor';
  /** Only for a cookie: it binds the second step to this browser. Valid for ten minutes and a few attempts. */
  challenge: string;
}

export type SignInResult = SignedIn | SecondFactorNeeded;

/**
 * Turns a proof of identity into a session, or into a challenge if the user has a second factor. The only place that
 * decides this; every sign-in ends here. Throws `account_disabled`, `unknown_person`.
 */
export function completeSignIn(deps: AccountsDeps, personId: string, proof: IdentifiedSignIn): Promise<SignInResult> {
  return deps.db.write(async (tx) => {
    const row = await tx.manager.findOneBy(userSchema, { id: personId });
    if (row === null) throw noSuchPerson();
    return completeWithin(deps, tx, row, proof);
  });
}

/** The same inside a transaction that has read the user. */
export async function completeWithin(
  deps: AccountsDeps,
  tx: Tx,
  row: UserRow,
  { method, skipsSecondFactor, ...origin }: IdentifiedSignIn,
): Promise<SignInResult> {
  if (row.disabledAt !== null) throw accountDisabled();
  if (row.secondFactorAt !== null && skipsSecondFactor !== true)
    return { kind: 'second_factor', challenge: await insertChallenge(deps, tx, row.id, method) };
  return openSession(deps, tx, row, origin, { method, factor: method === 'passkey' ? 'passkey' : null });
}

/** Opens the session of a completed sign-in. */
export async function openSession(
  deps: AccountsDeps,
  tx: Tx,
  row: UserRow,
  origin: SessionOrigin,
  proof: { method: SignInMethod; factor: SecondFactor | null },
): Promise<SignedIn> {
  if (row.disabledAt !== null) throw accountDisabled();
  const started = await insertSession(deps, tx, row.id, origin, proof);
  return { kind: 'session', ...started, person: toPerson({ ...row, lastSeenAt: tx.now }) };
}
