import { endedProviderCookie } from '../../http/index.ts';
import { page, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { sessionOrigin, type Page, type RequestContext } from '../app/request-context.ts';
import { replyToSignIn } from './sign-in.reply.ts';
import type { SignInDeps } from './deps.ts';

async function signUpPage(
  { providerState }: RequestContext,
  { singleSignOn }: SignInDeps,
  handle: string | null,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { account, title, suggestion } = await singleSignOn.readSignUp(providerState);
  return page('sign-in/provider-sign-up', {
    label: account.label,
    provider: title,
    taken: suggestion === '' ? null : suggestion,
    form: { handle: handle ?? '' },
    refusal,
  });
}

/** `/login/sign-up`: a user of a provider chooses a username, because the claimed one is taken or missing. */
export const showProviderSignUp: Page<RequestContext, SignInDeps> = (context, deps) =>
  signUpPage(context, deps, null, null);

/** Field `handle`. */
export const signUpFromProvider: Page<RequestContext, SignInDeps> = (context, deps) => {
  const { form, origin, providerState } = context;
  const { accounts, config, singleSignOn } = deps;
  const handle = form.text('handle').trim();
  return submitForm(
    async () => {
      const { person, next, skipsSecondFactor } = await singleSignOn.signUp(providerState, handle);
      const signedIn = await accounts.completeSignIn(person.id, {
        method: 'provider',
        skipsSecondFactor,
        ...sessionOrigin(context),
      });
      return replyToSignIn(context, config, signedIn, next, [endedProviderCookie(origin)]);
    },
    (refusal) => signUpPage(context, deps, handle, refusal),
  );
};
