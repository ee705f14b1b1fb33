import { cloneTransports, keyChoices, oneOf, preferenceCookies, themes } from '../requests/preferences.ts';
import { page, seeOther } from '../responses/reply.ts';
import { returnTarget } from '../requests/return-target.ts';
import { viewNotice } from '../views/notices.ts';
import type { Page } from '../request-context.ts';

/** How the pages look in this browser; open to visitors without an account too. */
export const showAppearance: Page = ({ preferences, query }) =>
  page('settings/appearance', { preferences, notice: viewNotice(query) });

/** Fields `theme`, `clone` and `keys`, each optional, and `next`. */
export const saveAppearance: Page = ({ form }) => {
  const cookies = preferenceCookies({
    ...(form.text('theme') && { theme: oneOf(themes, form.text('theme')) }),
    ...(form.text('keys') && { keys: oneOf(keyChoices, form.text('keys')) }),
    ...(form.text('clone') && { clone: oneOf(cloneTransports, form.text('clone')) }),
  });
  return seeOther(returnTarget(form.text('next')), { cookies });
};
