import { page, seeOther } from '../app/reply.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';

/** The first password of a user, or a link to choose one: shown once, to the administrator who created it. */
export const showPersonSecret: Page<PersonContext, AdminDeps> = async ({ person, params }, deps) => {
  const { accounts, oneTimeSecrets } = deps;
  const { id, username } = await accounts.personById(params.id ?? '');
  const secret = await oneTimeSecrets.take(person.id, params.oneTimeToken ?? '');
  if (secret === null) return seeOther(withFlashMessage(`/admin/people/${id}`, 'person-secret-gone'));
  return page(
    'admin/person-secret',
    { isLink: secret.name === 'link', value: secret.value, username, self: `/admin/people/${id}` },
    { showsSecret: true },
  );
};
