import { cloneTransports, shortcutSettings, oneOf, preferenceCookies, themes, returnTarget } from '../../http/index.ts';
import { listLanguages } from '../../translation/index.ts';
import { page, seeOther } from '../app/reply.ts';
import { viewFlashMessage } from '../app/flash-messages.view.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

/** The appearance of pages in this browser, and the language of the account; also open to anonymous viewers. */
export const showAppearance: Page<RequestContext, AccountDeps> = ({ preferences, person, query }) =>
  page('account/appearance', {
    preferences,
    notice: viewFlashMessage(query),
    languages: person && [
      { code: '', name: null, isChosen: person.language === null },
      ...listLanguages().map(({ code, name }) => ({ code, name, isChosen: code === person.language })),
    ],
  });

/** Fields `theme`, `clone` and `keys`, each optional, `language` for users with an account, and `next`. */
export const saveAppearance: Page<RequestContext, AccountDeps> = async ({ form, person }, { accounts }) => {
  if (person !== null && form.all('language').length > 0)
    await accounts.updateProfile(person.id, { language: form.text('language') });
  const cookies = preferenceCookies({
    ...(form.text('theme') && { theme: oneOf(themes, form.text('theme')) }),
    ...(form.text('keys') && { keys: oneOf(shortcutSettings, form.text('keys')) }),
    ...(form.text('clone') && { clone: oneOf(cloneTransports, form.text('clone')) }),
  });
  return seeOther(returnTarget(form.text('next')), { cookies });
};
