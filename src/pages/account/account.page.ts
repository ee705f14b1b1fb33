import { invalid } from '../../kernel/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { endedSessionCookie } from '../../http/index.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

/** The submitted form of the page; two have a field `confirm`. */
type AccountForm = 'password' | 'handle' | 'delete';

async function accountPage(
  { person, query, form }: PersonContext,
  { accounts, federation }: AccountDeps,
  which: AccountForm | null,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { username, mustChangePassword } = person;
  return page('account/account', {
    username,
    mustChangePassword,
    hasPassword: await accounts.hasPassword(person.id),
    form: { handle: which === 'handle' ? form.text('handle') : username, confirm: form.text('confirm') },
    followers: await federation.countFollowers({ owner: { kind: 'user', id: person.id } }),
    which,
    refusal,
    notice: viewFlashMessage(query),
  });
}

/** Throws unless the user typed their username. */
function requireTyped({ person: { username }, form }: PersonContext): void {
  if (form.text('confirm').trim() === username) return;
  throw invalid('wrong_confirmation', `Type ${username} to confirm.`, { field: 'confirm' });
}

export const showAccountSettings: Page<PersonContext, AccountDeps> = (context, deps) =>
  accountPage(context, deps, null, null);

/**
 * Fields `current_password`, unless there is none yet, and `new_password`. Signs out all other clients that used the
 * old one.
 */
export const changePassword: Page<PersonContext, AccountDeps> = (context, deps) => {
  const { form, person, session, address } = context;
  return submitForm(
    async () => {
      await deps.accounts.changePassword(person.id, {
        currentPassword: form.text('current_password'),
        newPassword: form.text('new_password'),
        keepSessionId: session.id,
        address,
      });
      return seeOther(withFlashMessage('/settings/account', 'password-changed'));
    },
    (refusal) => accountPage(context, deps, 'password', refusal),
  );
};

/** Fields `handle` and `confirm`, the current username. The old one stays reserved and redirects (security E07). */
export const changeHandle: Page<PersonContext, AccountDeps> = (context, deps) =>
  submitForm(
    async () => {
      requireTyped(context);
      await deps.accounts.renamePerson(context.person.id, context.form.text('handle').trim());
      return seeOther(withFlashMessage('/settings/account', 'handle-changed'));
    },
    (refusal) => accountPage(context, deps, 'handle', refusal),
  );

/**
 * Fields `confirm`, the username, and `password`, if there is one. Users who own repositories, or are the last OWNER of
 * an organisation, are shown the steps to complete first.
 */
export const deleteAccount: Page<PersonContext, AccountDeps> = (context, deps) =>
  submitForm(
    async () => {
      requireTyped(context);
      await deps.accounts.deleteOwnAccount(context.person.id, {
        password: context.form.text('password'),
        address: context.address,
      });
      return seeOther(withFlashMessage('/login', 'account-deleted'), { cookies: [endedSessionCookie(context.origin)] });
    },
    (refusal) => accountPage(context, deps, 'delete', refusal),
  );
