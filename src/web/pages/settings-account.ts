import { invalid } from '../../kernel/index.ts';
import { page, seeOther, type PageReply } from '../reply.ts';
import { endedSessionCookie } from '../session-cookie.ts';
import { submit, type FormRefusal } from '../submit.ts';
import { viewNotice, withNotice } from '../views/notices.ts';
import type { Page, PersonVisit } from '../visit.ts';

/** Which form of the page came back; two have a field `confirm`. */
type AccountForm = 'password' | 'handle' | 'delete';

function accountPage({ person, query, form }: PersonVisit, which: AccountForm | null, refusal: FormRefusal | null): PageReply {
  const { username, mustChangePassword } = person;
  return page('settings/account', {
    username,
    mustChangePassword,
    form: { handle: which === 'handle' ? form.text('handle') : username, confirm: form.text('confirm') },
    which,
    refusal,
    notice: viewNotice(query),
  });
}

/** Refuses unless the person typed their handle. */
function requireTyped({ person: { username }, form }: PersonVisit): void {
  if (form.text('confirm').trim() === username) return;
  throw invalid('wrong_confirmation', `Type ${username} to confirm.`, { field: 'confirm' });
}

export const showAccountSettings: Page<PersonVisit> = (visit) => accountPage(visit, null, null);

/** Fields `current_password`, `new_password`. Everybody else who used the old one is signed out. */
export const changePassword: Page<PersonVisit> = (visit, { accounts }) => {
  const { form, person, session, address } = visit;
  return submit(
    async () => {
      await accounts.changePassword(person.id, {
        currentPassword: form.text('current_password'),
        newPassword: form.text('new_password'),
        keepSessionId: session.id,
        address,
      });
      return seeOther(withNotice('/settings/account', 'password-changed'));
    },
    (refusal) => accountPage(visit, 'password', refusal),
  );
};

/** Fields `handle` and `confirm`, the handle of now. The old one stays reserved and leads on (web-ui §12.1). */
export const changeHandle: Page<PersonVisit> = (visit, { accounts }) =>
  submit(
    async () => {
      requireTyped(visit);
      await accounts.renamePerson(visit.person.id, visit.form.text('handle').trim());
      return seeOther(withNotice('/settings/account', 'handle-changed'));
    },
    (refusal) => accountPage(visit, 'handle', refusal),
  );

/** Field `confirm`, the handle. Who owns repositories, or is the last OWNER somewhere, is told what to do first. */
export const deleteAccount: Page<PersonVisit> = (visit, { accounts }) =>
  submit(
    async () => {
      requireTyped(visit);
      await accounts.deletePerson(visit.person.id);
      return seeOther(withNotice('/login', 'account-deleted'), { cookies: [endedSessionCookie(visit.origin)] });
    },
    (refusal) => accountPage(visit, 'delete', refusal),
  );
