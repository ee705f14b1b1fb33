import { page, seeOther, type PageReply } from '../responses/reply.ts';
import { returnTarget } from '../requests/return-target.ts';
import { endedSessionCookie, sessionCookie } from '../requests/session-cookie.ts';
import { submit, type FormRefusal } from '../submit.ts';
import { viewNotice, withNotice } from '../views/notices.ts';
import { sessionOrigin, type Page, type RequestContext } from '../request-context.ts';

function loginPage(
  { query }: RequestContext,
  form: { username: string; next: string },
  refusal: FormRefusal | null,
): PageReply {
  return page('pages/login', { form, refusal, notice: viewNotice(query) });
}

export const showLogin: Page = (visit) => {
  const next = returnTarget(visit.query.get('next'));
  return visit.person ? seeOther(next) : loginPage(visit, { username: '', next }, null);
};

/** Fields `username`, `password` and, from the page's own form, `next`. */
export const signIn: Page = (visit, { accounts, config }) => {
  const { form, query, origin } = visit;
  const username = form.text('username');
  const next = returnTarget(form.text('next') || query.get('next'));
  return submit(
    async () => {
      const { secret } = await accounts.signIn({ username, password: form.text('password'), ...sessionOrigin(visit) });
      return seeOther(next, { cookies: [sessionCookie(origin, secret, config)] });
    },
    (refusal) => loginPage(visit, { username, next }, refusal),
  );
};

export const signOut: Page = async ({ origin, sessionSecret }, { accounts }) => {
  if (sessionSecret !== null) await accounts.signOut(sessionSecret);
  return seeOther(withNotice('/login', 'signed-out'), { cookies: [endedSessionCookie(origin)] });
};
