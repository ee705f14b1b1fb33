import type { AccountSettings } from '../account-settings.ts';
import { bindDeps, conflict } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { endAllSessions } from '../end-all-sessions.ts';
import { noSuchPerson } from '../people/find-people.ts';
import type { Person } from '../person.ts';
import { passkeySchema } from '../schema/passkey-schema.ts';
import { totpSecretSchema } from '../schema/second-factor-schema.ts';
import { reencryptTotpSecrets } from './totp-secret.ts';
import { userSchema } from '../schema/user-schema.ts';
import { announceSecurityEvent } from '../security-events.ts';
import { findChallenge } from '../sessions/sign-in-challenges.ts';
import { withLog } from '../with-log.ts';
import { answerChallenge } from './answer-challenge.ts';
import { beginTotp, disableTotp, enableTotp } from './authenticator-app.ts';
import { recordFactorRemoved } from './record-factor-change.ts';
import { countRecoveryCodes, replaceRecoveryCodes } from './recovery-codes.ts';

/** Second factors that a user has set up. */
export interface SecondFactorState {
  /** Time since which there is an authenticator app; null without one. */
  totpAt: number | null;
  passkeys: number;
  /** Number of unused recovery codes. */
  recoveryCodesLeft: number;
}

/** Codes of an authenticator app and recovery codes; the functions behind the names document their errors. */
export function createSecondFactor(deps: AccountsDeps) {
  const bind = bindDeps(deps);
  const { settings } = deps;
  const byPerson = (_result: unknown, personId: string) => ({ personId, by: personId });

  return {
    required: settings.secondFactor,
    /** Whether the administrator's setting requires a second factor that this user has not set up. */
    isMissing: (person: Pick<Person, 'isAdministrator' | 'secondFactorAt'>): boolean =>
      person.secondFactorAt === null && isRequired(settings.secondFactor, person),
    stateOf: bind(stateOf),
    beginTotp: bind(beginTotp),
    enableTotp: withLog<[string, string], string[] | null>(deps, 'second_factor.app_added', bind(enableTotp), byPerson),
    disableTotp: withLog(deps, 'second_factor.app_removed', bind(disableTotp), byPerson),
    newRecoveryCodes: withLog(deps, 'second_factor.recovery_codes_made', bind(newRecoveryCodes), byPerson),
    reset: withLog(deps, 'second_factor.reset', bind(resetSecondFactor), (_done, personId) => ({ personId })),
    /** Whether a browser's cookie has a pending second step, and of which user. */
    challengeOf: bind(challengeOf),
    answer: bind(answerChallenge),
    /** After a rotation of the instance key. */
    reencrypt: bind(reencryptTotpSecrets),
  };
}

const isRequired = (setting: AccountSettings['secondFactor'], { isAdministrator }: { isAdministrator: boolean }) =>
  setting === 'everyone' || (setting === 'administrators' && isAdministrator);

async function stateOf({ db }: AccountsDeps, personId: string): Promise<SecondFactorState> {
  const [totp, passkeys, recoveryCodesLeft] = await Promise.all([
    db.read.findOneBy(totpSecretSchema, { userId: personId }),
    db.read.countBy(passkeySchema, { userId: personId }),
    countRecoveryCodes(db.read, personId),
  ]);
  return { totpAt: totp?.enabledAt ?? null, passkeys, recoveryCodesLeft };
}

async function challengeOf(deps: AccountsDeps, challenge: string | null): Promise<SecondFactorState | null> {
  const open = await findChallenge(deps.db.read, deps, challenge);
  return open === null ? null : stateOf(deps, open.userId);
}

/** Replaces all recovery codes of a user; earlier ones stop working. Throws `no_second_factor` (conflict). */
async function newRecoveryCodes(deps: AccountsDeps, personId: string): Promise<string[]> {
  return deps.db.write(async (tx) => {
    const person = await tx.manager.findOneBy(userSchema, { id: personId });
    if (person === null) throw noSuchPerson();
    if (person.secondFactorAt === null)
      throw conflict('no_second_factor', 'Recovery codes require an authenticator app or a passkey.');
    await announceSecurityEvent(deps, tx, personId, { kind: 'recovery_codes_made' });
    return replaceRecoveryCodes(tx, deps.random, personId);
  });
}

/**
 * Removes all second factors of a user who has lost them, and ends their sessions: for administrators. Keys and tokens
 * stay. Throws `unknown_person`, `no_second_factor` (conflict).
 */
async function resetSecondFactor(deps: AccountsDeps, personId: string): Promise<void> {
  await deps.db.write(async (tx) => {
    const person = await tx.manager.findOneBy(userSchema, { id: personId });
    if (person === null) throw noSuchPerson();
    if (person.secondFactorAt === null)
      throw conflict('no_second_factor', 'This account does not have a second factor.');
    await tx.manager.delete(totpSecretSchema, { userId: personId });
    await tx.manager.delete(passkeySchema, { userId: personId });
    await recordFactorRemoved(tx, personId);
    await endAllSessions(tx.manager, personId);
    await announceSecurityEvent(deps, tx, personId, {
      kind: 'second_factor_removed',
      factor: 'all',
      by: 'administrator',
    });
  });
}
