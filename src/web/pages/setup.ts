import { page, seeOther, type PageReply } from '../responses/reply.ts';
import { sessionCookie } from '../requests/session-cookie.ts';
import { submit, type FormRefusal } from '../submit.ts';
import { withNotice } from '../views/notices.ts';
import { sessionOrigin, type Page, type RequestContext } from '../request-context.ts';

const tokenOf = ({ form, query }: RequestContext): string => form.text('token') || query.get('token') || '';

function setupPage(handle: string, refusal: FormRefusal | null): PageReply {
  return page('pages/setup', { form: { handle }, refusal });
}

/** `/setup?token=…` makes the first administrator. Without a valid token it is a 404 (web-ui §12.1). */
export const showSetup: Page = async (visit, { accounts }) => {
  await accounts.checkSetupToken(tokenOf(visit));
  return setupPage('', null);
};

export const setUp: Page = (visit, { accounts, config }) => {
  const { form, origin } = visit;
  const handle = form.text('handle').trim();
  return submit(
    async () => {
      const person = await accounts.setUp({ token: tokenOf(visit), username: handle, password: form.text('password') });
      const { secret } = await accounts.startSession(person.id, sessionOrigin(visit));
      return seeOther(withNotice('/settings/keys', 'welcome'), { cookies: [sessionCookie(origin, secret, config)] });
    },
    (refusal) => setupPage(handle, refusal),
  );
};
