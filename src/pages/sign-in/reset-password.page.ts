import { isDomainError } from '../../kernel/index.ts';
import { page, seeOther, type PageReply, type Reply } from '../app/reply.ts';
import { endedSessionCookie } from '../../http/index.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { SignInDeps } from './deps.ts';

const askPage = ({ accounts }: SignInDeps, address: string, refusal: FormRefusal | null): PageReply =>
  page('sign-in/forgot-password', { canSendLinks: accounts.addresses.canSendLinks, form: { address }, refusal });

/** `/login/forgot` asks for an address; without mail it shows whom to contact. */
export const showForgotPassword: Page<RequestContext, SignInDeps> = (_context, deps) => askPage(deps, '', null);

/** Field `address`. The response is the same for every address. */
export const requestReset: Page<RequestContext, SignInDeps> = ({ form, address: network }, deps) => {
  const address = form.text('address');
  return submitForm(
    async () => {
      await deps.accounts.requestPasswordReset({ address, network });
      return page('sign-in/reset-requested', {});
    },
    (refusal) => askPage(deps, address, refusal),
  );
};

async function resetPage({ accounts }: SignInDeps, token: string, refusal: FormRefusal | null): Promise<PageReply> {
  const { username, displayName } = await accounts.checkPasswordReset(token);
  return page('sign-in/reset-password', { username: username ?? displayName, token, refusal }, { showsSecret: true });
}

/** `/login/reset?token=…` asks for the new password; opening it does not consume the token. */
export const showReset: Page<RequestContext, SignInDeps> = ({ query }, deps) =>
  orLinkClosed(deps, () => resetPage(deps, query.get('token') ?? '', null));

/** Fields `token` and `password`. Also ends the session of this browser. */
export const resetPassword: Page<RequestContext, SignInDeps> = ({ form, origin }, deps) => {
  const token = form.text('token');
  return orLinkClosed(deps, () =>
    submitForm(
      async () => {
        await deps.accounts.resetPassword(token, form.text('password'));
        return seeOther(withFlashMessage('/login', 'password-reset'), { cookies: [endedSessionCookie(origin)] });
      },
      (refusal) => resetPage(deps, token, refusal),
    ),
  );
};

/** One page for every invalid link, whatever the reason, with the next step. */
async function orLinkClosed({ accounts }: SignInDeps, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    if (!isDomainError(error) || error.reason !== 'link_closed') throw error;
    return page('sign-in/reset-link-closed', { canSendLinks: accounts.addresses.canSendLinks }, { status: 404 });
  }
}
