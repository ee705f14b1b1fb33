import { page, seeOther, type PageReply } from '../app/reply.ts';
import { returnTarget, endedSessionCookie } from '../../http/index.ts';
import { submit, type FormRefusal } from '../app/submit.ts';
import { viewNotice, withNotice } from '../app/notices.view.ts';
import { sessionOrigin, type Page, type RequestContext } from '../app/request-context.ts';
import { replyToSignIn } from './signed-in.view.ts';
import type { SignInDeps } from './deps.ts';

function loginPage(
  { query }: RequestContext,
  { accounts }: SignInDeps,
  form: { username: string; next: string },
  refusal: FormRefusal | null,
): PageReply {
  return page('sign-in/login', {
    form,
    refusal,
    canSendLinks: accounts.addresses.canSendLinks,
    notice: viewNotice(query),
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
  return submit(
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

export const signOut: Page<RequestContext, SignInDeps> = async ({ origin, sessionSecret }, { accounts }) => {
  if (sessionSecret !== null) await accounts.signOut(sessionSecret);
  return seeOther(withNotice('/login', 'signed-out'), { cookies: [endedSessionCookie(origin)] });
};
