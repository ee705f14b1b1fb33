import { isDomainError } from '../../kernel/index.ts';
import { returnTarget, endedChallengeCookie } from '../../http/index.ts';
import { page, seeOther, type Reply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { sessionOrigin, type Page, type RequestContext } from '../app/request-context.ts';
import { replyToSignIn } from './sign-in.reply.ts';
import type { SignInDeps } from './deps.ts';

/** The second step; without a pending first one it redirects to the start. */
async function secondFactorPage(
  { challengeSecret, origin }: RequestContext,
  { accounts }: SignInDeps,
  next: string,
  refusal: FormRefusal | null,
): Promise<Reply> {
  const [state, options] = await Promise.all([
    accounts.secondFactor.challengeOf(challengeSecret),
    accounts.passkeys.isAvailable ? accounts.passkeys.askForSecondFactor(challengeSecret) : null,
  ]);
  if (state === null) return startAgain(origin, next);
  return page('sign-in/second-factor', {
    hasApp: state.totpAt !== null,
    options: options && JSON.stringify(options),
    next,
    refusal,
  });
}

const startAgain = (origin: string, next: string): Reply =>
  seeOther(`${withFlashMessage('/login', 'sign-in-expired')}&next=${encodeURIComponent(next)}`, {
    cookies: [endedChallengeCookie(origin)],
  });

export const showSecondFactor: Page<RequestContext, SignInDeps> = (context, deps) => {
  const next = returnTarget(context.query.get('next'));
  return context.person ? seeOther(next) : secondFactorPage(context, deps, next, null);
};

/** Field `code`, from the app or a recovery code, and `next`. */
export const verifySecondFactorCode: Page<RequestContext, SignInDeps> = (context, deps) =>
  answering(context, deps, (challenge) =>
    deps.accounts.secondFactor.answer({ challenge, code: context.form.text('code'), ...sessionOrigin(context) }),
  );

/** Fields `response`, which the script fills in, and `next`. */
export const verifySecondFactorPasskey: Page<RequestContext, SignInDeps> = (context, deps) =>
  answering(context, deps, (challenge) =>
    deps.accounts.passkeys.answer({ challenge, response: context.form.text('response'), ...sessionOrigin(context) }),
  );

async function answering(
  context: RequestContext,
  deps: SignInDeps,
  answer: (challenge: string | null) => ReturnType<SignInDeps['accounts']['secondFactor']['answer']>,
): Promise<Reply> {
  const { form, origin, challengeSecret } = context;
  const next = returnTarget(form.text('next'));
  try {
    return replyToSignIn(context, deps.config, await answer(challengeSecret), next);
  } catch (error) {
    if (isDomainError(error) && error.reason === 'sign_in_expired') return startAgain(origin, next);
    const again = await secondFactorPage(context, deps, next, null);
    // This sign-in has no attempts left.
    if (again.kind !== 'page') return again;
    return submitForm(
      () => Promise.reject(error),
      (refusal) => ({ ...again, locals: { ...again.locals, refusal } }),
    );
  }
}
