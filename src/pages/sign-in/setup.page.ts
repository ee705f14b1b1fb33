import { page, seeOther, type PageReply } from '../app/reply.ts';
import { sessionCookie } from '../../http/index.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { sessionOrigin, type Page, type RequestContext } from '../app/request-context.ts';
import type { SignInDeps } from './deps.ts';
import { orLinkClosed } from './link-closed.reply.ts';

const tokenOf = ({ form, query }: RequestContext): string => form.text('token') || query.get('token') || '';

function setupPage(
  { origin }: RequestContext,
  { config }: SignInDeps,
  { handle, refusal }: { handle: string; refusal: FormRefusal | null },
): PageReply {
  return page('sign-in/setup', { form: { handle }, refusal, unnamedAddress: config.baseUrl === null ? origin : null });
}

/** `/setup?token=…` creates the first administrator. Without a token it is a 404. */
export const showSetup: Page<RequestContext, SignInDeps> = (context, deps) =>
  orLinkClosed(tokenOf(context), async () => {
    await deps.accounts.checkSetupToken(tokenOf(context));
    return setupPage(context, deps, { handle: '', refusal: null });
  });

export const setUp: Page<RequestContext, SignInDeps> = (context, deps) => {
  const { accounts, config } = deps;
  const { form, origin } = context;
  const handle = form.text('handle').trim();
  return orLinkClosed(tokenOf(context), () =>
    submitForm(
      async () => {
        const person = await accounts.setUp({
          token: tokenOf(context),
          username: handle,
          password: form.text('password'),
        });
        const { secret } = await accounts.startSession(person.id, sessionOrigin(context));
        return seeOther(withFlashMessage('/settings/keys', 'welcome'), {
          cookies: [sessionCookie(origin, secret, config)],
        });
      },
      (refusal) => setupPage(context, deps, { handle, refusal }),
    ),
  );
};
