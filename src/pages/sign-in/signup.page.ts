import { page, seeOther, type PageReply } from '../app/reply.ts';
import { sessionCookie } from '../../http/index.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { sessionOrigin, type Page, type RequestContext } from '../app/request-context.ts';
import type { SignInDeps } from './deps.ts';
import { orLinkClosed } from './link-closed.reply.ts';

const inviteOf = ({ form, query }: RequestContext): string => form.text('invite') || query.get('invite') || '';

function signupPage(handle: string, refusal: FormRefusal | null): PageReply {
  return page('sign-in/signup', { form: { handle }, refusal });
}

/** `/signup?invite=…` registers an invited person. Registration is closed, so without an invite it is a 404. */
export const showSignup: Page<RequestContext, SignInDeps> = (context, { accounts }) =>
  orLinkClosed(inviteOf(context), async () => {
    await accounts.checkInvite(inviteOf(context));
    return signupPage('', null);
  });

export const signUp: Page<RequestContext, SignInDeps> = (context, { accounts, config }) => {
  const { form, origin } = context;
  const handle = form.text('handle').trim();
  return orLinkClosed(inviteOf(context), () =>
    submitForm(
      async () => {
        const person = await accounts.signUp({
          token: inviteOf(context),
          username: handle,
          password: form.text('password'),
        });
        const { secret } = await accounts.startSession(person.id, sessionOrigin(context));
        return seeOther(withFlashMessage('/settings/keys', 'welcome'), {
          cookies: [sessionCookie(origin, secret, config)],
        });
      },
      (refusal) => signupPage(handle, refusal),
    ),
  );
};
