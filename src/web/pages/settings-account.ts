import { page, seeOther, type PageReply } from '../reply.ts';
import { submit, type FormRefusal } from '../submit.ts';
import { viewNotice, withNotice } from '../views/notices.ts';
import type { Page, PersonVisit } from '../visit.ts';

function accountPage({ person, query }: PersonVisit, refusal: FormRefusal | null): PageReply {
  const { username, mustChangePassword } = person;
  return page('settings/account', { username, mustChangePassword, refusal, notice: viewNotice(query) });
}

export const showAccountSettings: Page<PersonVisit> = (visit) => accountPage(visit, null);

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
    (refusal) => accountPage(visit, refusal),
  );
};
