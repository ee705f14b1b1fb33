import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { deviceName } from '../../accounts/index.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';
import { redirectToRecoveryCodes } from './security.page.ts';

async function passkeyPage(
  { person, session }: PersonContext,
  { accounts }: AccountDeps,
  name: string,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const options = await accounts.passkeys.begin(person.id, session.id);
  return page('account/new-passkey', { options: JSON.stringify(options), form: { name }, refusal });
}

/** The page whose script asks the browser for a passkey. */
export const showNewPasskey: Page<PersonContext, AccountDeps> = (context, deps) =>
  passkeyPage(context, deps, deviceName(context.userAgent), null);

/** Fields `name` and `response`, which the script fills in. For the first factor, redirects to the recovery codes. */
export const addPasskey: Page<PersonContext, AccountDeps> = (context, deps) => {
  const { person, session, form } = context;
  return submitForm(
    async () => {
      const { recoveryCodes } = await deps.accounts.passkeys.add(person.id, {
        name: form.text('name'),
        response: form.text('response'),
        sessionId: session.id,
      });
      return recoveryCodes === null
        ? seeOther(withFlashMessage('/settings/security', 'passkey-added'))
        : redirectToRecoveryCodes(deps, person.id, recoveryCodes);
    },
    (refusal) => passkeyPage(context, deps, form.text('name'), refusal),
  );
};
