import { cloneTransports, shortcutSettings, oneOf, preferenceCookies, themes, returnTarget } from '../../http/index.ts';
import { page, seeOther } from '../app/reply.ts';
import { viewNotice } from '../app/notices.view.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

/** How the pages look in this browser; open to anonymous viewers too. */
export const showAppearance: Page<RequestContext, AccountDeps> = ({ preferences, query }) =>
  page('account/appearance', { preferences, notice: viewNotice(query) });

/** Fields `theme`, `clone` and `keys`, each optional, and `next`. */
export const saveAppearance: Page<RequestContext, AccountDeps> = ({ form }) => {
  const cookies = preferenceCookies({
    ...(form.text('theme') && { theme: oneOf(themes, form.text('theme')) }),
    ...(form.text('keys') && { keys: oneOf(shortcutSettings, form.text('keys')) }),
    ...(form.text('clone') && { clone: oneOf(cloneTransports, form.text('clone')) }),
  });
  return seeOther(returnTarget(form.text('next')), { cookies });
};
