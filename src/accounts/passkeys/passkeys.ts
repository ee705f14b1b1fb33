import { MoreThan } from 'typeorm';
import { bindDeps, notFound } from '../../kernel/index.ts';
import type { AccountsDeps } from '../deps.ts';
import { passkeySchema } from '../schema/passkey-schema.ts';
import { recordFactorRemoved } from '../second-factor/record-factor-change.ts';
import { announceSecurityEvent } from '../security-events.ts';
import { refuseLastSignInMethod } from '../require-remaining-sign-in-method.ts';
import { withLog } from '../with-log.ts';
import { addPasskey, beginPasskey } from './add-passkey.ts';
import { askForPasskey, checkPasskey, usePasskey } from './check-passkey.ts';
import type { PasskeyBinding } from './passkey-challenge.ts';
import { toPasskey } from './passkey.ts';
import type { Passkey } from './passkey.ts';
import { passkeyRefused } from './read-response.ts';
import { relyingPartyOf } from '../relying-party.ts';
import { answerWithPasskey, askForSecondFactor, askForSignIn, signInWithPasskey } from './sign-in-with-passkey.ts';

/** Passkeys (WebAuthn); the functions behind the names document their behaviour and errors. */
export function createPasskeys(deps: AccountsDeps) {
  const bind = bindDeps(deps);
  return {
    /** Whether browsers support passkeys here: an https URL, or localhost. */
    isAvailable: relyingPartyOf(deps.baseUrl) !== null,
    isInUse: createIsInUse(deps),
    list: bind(listPasskeys),
    begin: bind(beginPasskey),
    add: withLog(deps, 'passkey.added', bind(addPasskey), ({ passkey }, personId) => ({
      personId,
      passkeyId: passkey.id,
      name: passkey.name,
      by: personId,
    })),
    remove: withLog(deps, 'passkey.removed', bind(removePasskey), ({ id, name }, personId) => ({
      personId,
      passkeyId: id,
      name,
      by: personId,
    })),
    askForSignIn: bind(askForSignIn),
    signIn: bind(signInWithPasskey),
    askForSecondFactor: bind(askForSecondFactor),
    answer: bind(answerWithPasskey),
    /** For other proofs by a signed-in user: `askFor` creates the options of a page, `verify` consumes the response. */
    askFor: bind(askForPasskey),
    verify: bind(verifyPasskey),
  };
}

/** A user's passkeys, oldest first. */
async function listPasskeys({ db }: AccountsDeps, personId: string): Promise<Passkey[]> {
  const rows = await db.read.find(passkeySchema, { where: { userId: personId }, order: { createdAt: 'ASC' } });
  return rows.map(toPasskey);
}

/** Whether any user has one, so that sign-in pages of instances without passkeys omit them. True stays true. */
function createIsInUse({ db, baseUrl }: AccountsDeps): () => Promise<boolean> {
  let isInUse = false;
  return async () => {
    if (!isInUse && relyingPartyOf(baseUrl) !== null)
      isInUse = await db.read.existsBy(passkeySchema, { credentialId: MoreThan('') });
    return isInUse;
  };
}

/** Removes a user's passkey. Throws `unknown_passkey` (not_found), `only_way_in`. */
async function removePasskey(deps: AccountsDeps, personId: string, passkeyId: string): Promise<Passkey> {
  return deps.db.write(async (tx) => {
    const row = await tx.manager.findOneBy(passkeySchema, { id: passkeyId, userId: personId });
    if (row === null) throw notFound('unknown_passkey', 'There is no such passkey.');
    await tx.manager.delete(passkeySchema, { id: passkeyId, userId: personId });
    await refuseLastSignInMethod(deps, tx, personId);
    await recordFactorRemoved(tx, personId);
    await announceSecurityEvent(deps, tx, personId, { kind: 'second_factor_removed', factor: 'passkey', by: 'person' });
    return toPasskey(row);
  });
}

/** Checks and consumes a passkey response of a signed-in user. Throws `passkey_refused` (invalid). */
async function verifyPasskey(
  deps: AccountsDeps,
  binding: PasskeyBinding,
  personId: string,
  response: string,
): Promise<void> {
  const checked = await checkPasskey(deps, binding, personId, response);
  if (!(await deps.db.write((tx) => usePasskey(tx, checked)))) throw passkeyRefused();
}
