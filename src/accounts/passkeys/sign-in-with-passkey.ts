import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server';
import type { AccountsDeps } from '../deps.ts';
import { hashSecret, looksLikeSecret } from '../secret.ts';
import { userSchema } from '../schema/user-schema.ts';
import { finishChallenge } from '../second-factor/answer-challenge.ts';
import { completeWithin } from '../sessions/complete-sign-in.ts';
import type { SignedIn, SignInResult } from '../sessions/complete-sign-in.ts';
import { challengeClosed, findChallenge } from '../sessions/sign-in-challenges.ts';
import type { SessionOrigin } from '../sessions/start-session.ts';
import { askForPasskey, checkPasskey, usePasskey } from './check-passkey.ts';
import type { PasskeyBinding } from './passkey-challenge.ts';
import { passkeyRefused } from './read-response.ts';

interface PasskeyAnswer extends SessionOrigin {
  /** The secret of the browser's cookie. */
  challenge: string | null;
  /** The browser's response, as JSON. */
  response: string;
}

/** Only the digest, so that the cookie's secret is stored nowhere else. */
const bindingOf = (purpose: 'sign_in' | 'second_factor', cookie: string): PasskeyBinding => ({
  purpose,
  holder: hashSecret(cookie),
});

/** Options for the sign-in page; the browser offers its own passkeys. @param cookie its secret */
export const askForSignIn = (deps: AccountsDeps, cookie: string): Promise<PublicKeyCredentialRequestOptionsJSON> =>
  askForPasskey(deps, bindingOf('sign_in', cookie), null);

/**
 * Signs in with a passkey instead of a password. It verifies its user, so it counts as both factors. Throws
 * `passkey_refused` (invalid), `account_disabled`, `passkeys_unavailable`.
 */
export async function signInWithPasskey(
  deps: AccountsDeps,
  { challenge, response, ...origin }: PasskeyAnswer,
): Promise<SignInResult> {
  if (!looksLikeSecret(challenge)) throw passkeyRefused();
  const checked = await checkPasskey(deps, bindingOf('sign_in', challenge), null, response);
  return deps.db.write(async (tx) => {
    const person = await tx.manager.findOneBy(userSchema, { id: checked.personId });
    if (person === null || !(await usePasskey(tx, checked))) throw passkeyRefused();
    return completeWithin(deps, tx, person, { ...origin, method: 'passkey', skipsSecondFactor: true });
  });
}

/** Options for the page of the second step; null without a pending first step, and for users without passkeys. */
export async function askForSecondFactor(
  deps: AccountsDeps,
  cookie: string | null,
): Promise<PublicKeyCredentialRequestOptionsJSON | null> {
  const open = await findChallenge(deps.db.read, deps, cookie);
  if (open === null) return null;
  const options = await askForPasskey(deps, bindingOf('second_factor', cookie!), open.userId);
  return options.allowCredentials?.length ? options : null;
}

/** The second step of a sign-in. Throws `passkey_refused`, `sign_in_expired` (invalid), `account_disabled`. */
export async function answerWithPasskey(
  deps: AccountsDeps,
  { challenge, response, ...origin }: PasskeyAnswer,
): Promise<SignedIn> {
  const open = await findChallenge(deps.db.read, deps, challenge);
  if (open === null) throw challengeClosed();
  const checked = await checkPasskey(deps, bindingOf('second_factor', challenge!), open.userId, response);
  const signedIn = await deps.db.write((tx) =>
    finishChallenge(deps, tx, open, origin, async () => ((await usePasskey(tx, checked)) ? 'passkey' : null)),
  );
  if (signedIn === null) throw passkeyRefused();
  return signedIn;
}
