import { page, seeOther } from '../app/reply.ts';
import { endedSessionCookie } from '../../http/index.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewSession } from './session.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

export const showSessions: Page<PersonContext, AccountDeps> = async (
  { person, session, query },
  { accounts, clock },
) => {
  const sessions = await accounts.listSessions(person.id);
  return page('account/sessions', {
    sessions: sessions.map((each) => viewSession(each, session.id, clock.now())),
    notice: viewFlashMessage(query),
  });
};

export const revokeSession: Page<PersonContext, AccountDeps> = async (
  { person, session, params, origin },
  { accounts },
) => {
  const id = params.id ?? '';
  await accounts.revokeSession(person.id, id);
  if (id === session.id)
    return seeOther(withFlashMessage('/login', 'signed-out'), { cookies: [endedSessionCookie(origin)] });
  return seeOther(withFlashMessage('/settings/sessions', 'session-ended'));
};

export const revokeOtherSessions: Page<PersonContext, AccountDeps> = async ({ person, session }, { accounts }) => {
  await accounts.revokeOtherSessions(person.id, session.id);
  return seeOther(withFlashMessage('/settings/sessions', 'sessions-ended'));
};
