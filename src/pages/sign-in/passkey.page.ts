import { looksLikeSecret, newSecret } from '../../accounts/index.ts';
import { systemRandom } from '../../kernel/index.ts';
import { challengeCookie, returnTarget } from '../../http/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { sessionOrigin, type Page, type RequestContext } from '../app/request-context.ts';
import { replyToSignIn } from './sign-in.reply.ts';
import type { SignInDeps } from './deps.ts';

/** A cookie binds the challenge to the browser; a page open in another tab shares it. */
async function passkeyPage(
  { challengeSecret, origin }: RequestContext,
  { accounts }: SignInDeps,
  next: string,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const cookie = looksLikeSecret(challengeSecret) ? challengeSecret : newSecret(systemRandom);
  const options = JSON.stringify(await accounts.passkeys.askForSignIn(cookie));
  return page('sign-in/passkey', { options, next, refusal }, { cookies: [challengeCookie(origin, cookie)] });
}

/** The page whose script asks the browser for a passkey instead of a password. */
export const showPasskeyLogin: Page<RequestContext, SignInDeps> = (context, deps) => {
  const next = returnTarget(context.query.get('next'));
  if (context.person) return seeOther(next);
  return deps.accounts.passkeys.isAvailable ? passkeyPage(context, deps, next, null) : seeOther('/login');
};

/** Fields `response`, which the script fills in, and `next`. */
export const signInWithPasskey: Page<RequestContext, SignInDeps> = (context, deps) => {
  const { form, challengeSecret } = context;
  const next = returnTarget(form.text('next'));
  return submitForm(
    async () =>
      replyToSignIn(
        context,
        deps.config,
        await deps.accounts.passkeys.signIn({
          challenge: challengeSecret,
          response: form.text('response'),
          ...sessionOrigin(context),
        }),
        next,
      ),
    (refusal) => passkeyPage(context, deps, next, refusal),
  );
};
