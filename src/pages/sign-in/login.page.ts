import { page, seeOther, type PageReply } from '../app/reply.ts';
import { returnTarget, endedSessionCookie } from '../../http/index.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { sessionOrigin, type Page, type RequestContext } from '../app/request-context.ts';
import { replyToSignIn } from './sign-in.reply.ts';
import type { SignInDeps } from './deps.ts';

async function loginPage(
  { query }: RequestContext,
  { accounts, config, singleSignOn }: SignInDeps,
  form: { username: string; next: string },
  refusal: FormRefusal | null,
): Promise<PageReply> {
  return page('sign-in/login', {
    form,
    refusal,
    usesPasskeys: await accounts.passkeys.isInUse(),
    canSendLinks: accounts.addresses.canSendLinks,
    takesPasswords: config.accounts.passwordSignIn,
    asksForAccounts: config.accounts.signUp === 'approval',
    providers: singleSignOn.providers.map(({ name, title }) => ({
      title,
      url: `/login/oidc/${name}${form.next === '/' ? '' : `?next=${encodeURIComponent(form.next)}`}`,
    })),
    signedOutOf: viewSignedOut(query, singleSignOn.providers),
    notice: viewFlashMessage(query),
  });
}

export const showLogin: Page<RequestContext, SignInDeps> = (context, deps) => {
  const next = returnTarget(context.query.get('next'));
  return context.person ? seeOther(next) : loginPage(context, deps, { username: '', next }, null);
};

/** Fields `username`, `password` and, from the page's own form, `next`. */
export const signIn: Page<RequestContext, SignInDeps> = (context, deps) => {
  const { accounts, config } = deps;
  const { form, query } = context;
  const username = form.text('username');
  const next = returnTarget(form.text('next') || query.get('next'));
  return submitForm(
    async () => {
      const password = form.text('password');
      return replyToSignIn(
        context,
        config,
        await accounts.signIn({ username, password, ...sessionOrigin(context) }),
        next,
      );
    },
    (refusal) => loginPage(context, deps, { username, next }, refusal),
  );
};

/** The provider of a session that just ended here, for the link that ends the session there. */
function viewSignedOut(
  query: URLSearchParams,
  providers: SignInDeps['singleSignOn']['providers'],
): { title: string; url: string } | null {
  const provider = providers.find(({ name }) => name === query.get('from'));
  return provider === undefined ? null : { title: provider.title, url: `/logout/oidc/${provider.name}` };
}

export const signOut: Page<RequestContext, SignInDeps> = async (context, { accounts, singleSignOn }) => {
  const { origin, sessionSecret, session, person } = context;
  if (sessionSecret !== null) await accounts.signOut(sessionSecret);
  const provider =
    person !== null && session?.method === 'provider' ? await singleSignOn.lastProviderOf(person.id) : null;
  const from = provider === null ? '' : `&from=${provider}`;
  return seeOther(withFlashMessage('/login', 'signed-out') + from, { cookies: [endedSessionCookie(origin)] });
};
