import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

function newPersonPage({ form }: PersonContext, { config }: AdminDeps, refusal: FormRefusal | null): PageReply {
  return page('admin/new-person', {
    form: {
      username: form.text('username'),
      displayName: form.text('display_name'),
      address: form.text('address'),
      isAdministrator: form.text('administrator') === 'yes',
    },
    getsPassword: config.accounts.passwordSignIn,
    refusal,
  });
}

export const showNewPerson: Page<PersonContext, AdminDeps> = (context, deps) => newPersonPage(context, deps, null);

/**
 * Fields `username`, `display_name`, `address`, which counts as verified, and `administrator`. The password is random
 * and shown once, and the user replaces it at the first sign-in; where passwords are off there is none.
 */
export const addPerson: Page<PersonContext, AdminDeps> = (context, deps) => {
  const { form, person: self } = context;
  const { accounts, config, oneTimeSecrets } = deps;
  return submitForm(
    async () => {
      const password = config.accounts.passwordSignIn ? accounts.suggestPassword() : null;
      const address = form.text('address').trim();
      const { id } = await accounts.addPerson({
        username: form.text('username').trim(),
        displayName: form.text('display_name'),
        password,
        mustChangePassword: password !== null,
        isAdministrator: form.text('administrator') === 'yes',
        ...(address === '' ? {} : { address }),
      });
      if (password === null) return seeOther(withFlashMessage(`/admin/people/${id}`, 'person-added'));
      const oneTimeToken = await oneTimeSecrets.store(self.id, { name: 'password', value: password });
      return seeOther(`/admin/people/${id}/secret/${oneTimeToken}`);
    },
    (refusal) => newPersonPage(context, deps, refusal),
    { handle: 'username', displayName: 'display_name' },
  );
};
