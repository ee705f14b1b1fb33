import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

function onboardingPage(handle: string, refusal: FormRefusal | null): PageReply {
  return page('account/onboarding', { form: { handle }, refusal });
}

/** The only page that a user gets until they choose a username (SPEC §2.4). */
export const showOnboarding: Page<PersonContext, AccountDeps> = ({ person }) =>
  person.username === null ? onboardingPage('', null) : seeOther('/');

export const chooseHandle: Page<PersonContext, AccountDeps> = ({ person, form }, { accounts }) => {
  const handle = form.text('handle').trim();
  return submitForm(
    async () => {
      await accounts.chooseHandle(person.id, handle);
      return seeOther(withFlashMessage('/settings/keys', 'welcome'));
    },
    (refusal) => onboardingPage(handle, refusal),
  );
};
