import { page } from '../app/reply.ts';
import { sessionOrigin, type Page, type RequestContext } from '../app/request-context.ts';
import { orLinkClosed } from './link-closed.reply.ts';
import { replyToSignIn } from './sign-in.reply.ts';
import type { SignInDeps } from './deps.ts';

/**
 * `/login/link?token=…`, created by `hearth user sign-in-link`. Opening it does not consume the token, because programs
 * also open links.
 */
export const showSignInLink: Page<RequestContext, SignInDeps> = ({ query }, { accounts }) => {
  const token = query.get('token') ?? '';
  return orLinkClosed(token, async () => {
    const { username, displayName } = await accounts.checkSignInLink(token);
    return page('sign-in/sign-in-link', { username: username ?? displayName, token }, { showsSecret: true });
  });
};

/** Field `token`. A second factor is still required. */
export const signInByLink: Page<RequestContext, SignInDeps> = (context, { accounts, config }) => {
  const token = context.form.text('token');
  return orLinkClosed(token, async () => {
    const person = await accounts.redeemSignInLink(token);
    const signedIn = await accounts.completeSignIn(person.id, { method: 'link', ...sessionOrigin(context) });
    return replyToSignIn(context, config, signedIn, '/');
  });
};
