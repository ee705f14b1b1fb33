import { invalid } from '../../kernel/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import type { WebDeps } from '../../http/index.ts';
import { endedSessionCookie } from '../../http/index.ts';
import { submit, type FormRefusal } from '../app/submit.ts';
import { viewNotice, withNotice } from '../app/notices.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';

/** Which form of the page came back; two have a field `confirm`. */
type AccountForm = 'password' | 'handle' | 'delete';

async function accountPage(
  { person, query, form }: PersonContext,
  { federation }: WebDeps,
  which: AccountForm | null,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { username, mustChangePassword } = person;
  return page('account/account', {
    username,
    mustChangePassword,
    form: { handle: which === 'handle' ? form.text('handle') : username, confirm: form.text('confirm') },
    followers: await federation.countFollowers({ owner: { kind: 'user', id: person.id } }),
    which,
    refusal,
    notice: viewNotice(query),
  });
}

/** Refuses unless the person typed their handle. */
function requireTyped({ person: { username }, form }: PersonContext): void {
  if (form.text('confirm').trim() === username) return;
  throw invalid('wrong_confirmation', `Type ${username} to confirm.`, { field: 'confirm' });
}

export const showAccountSettings: Page<PersonContext> = (visit, deps) => accountPage(visit, deps, null, null);

/** Fields `current_password`, `new_password`. Everybody else who used the old one is signed out. */
export const changePassword: Page<PersonContext> = (visit, deps) => {
  const { form, person, session, address } = visit;
  return submit(
    async () => {
      await deps.accounts.changePassword(person.id, {
        currentPassword: form.text('current_password'),
        newPassword: form.text('new_password'),
        keepSessionId: session.id,
        address,
      });
      return seeOther(withNotice('/settings/account', 'password-changed'));
    },
    (refusal) => accountPage(visit, deps, 'password', refusal),
  );
};

/** Fields `handle` and `confirm`, the handle of now. The old one stays reserved and leads on (web-ui §12.1). */
export const changeHandle: Page<PersonContext> = (visit, deps) =>
  submit(
    async () => {
      requireTyped(visit);
      await deps.accounts.renamePerson(visit.person.id, visit.form.text('handle').trim());
      return seeOther(withNotice('/settings/account', 'handle-changed'));
    },
    (refusal) => accountPage(visit, deps, 'handle', refusal),
  );

/** Fields `confirm`, the handle, and `password`. Who owns repositories, or is the last OWNER somewhere, is told what to do first. */
export const deleteAccount: Page<PersonContext> = (visit, deps) =>
  submit(
    async () => {
      requireTyped(visit);
      await deps.accounts.deleteOwnAccount(visit.person.id, {
        password: visit.form.text('password'),
        address: visit.address,
      });
      return seeOther(withNotice('/login', 'account-deleted'), { cookies: [endedSessionCookie(visit.origin)] });
    },
    (refusal) => accountPage(visit, deps, 'delete', refusal),
  );
