import { page, seeOther } from '../app/reply.ts';
import { listPage, pageLinks } from '../app/list-page.view.ts';
import { viewNotice, withNotice } from '../app/notices.view.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { SignInDeps } from './deps.ts';

/** Open invites; registration is closed, so this is how people come in. */
export const showInvites: Page<PersonContext, SignInDeps> = async ({ query }, { accounts, clock }) => {
  const { rows: invites, ...beside } = await listPage((paging) => accounts.listInvites(paging), query);
  const authors = await accounts.peopleById(invites.flatMap(({ createdBy }) => createdBy ?? []));
  return page('sign-in/invites', {
    invites: invites.map(({ id, createdBy, createdAt, expiresAt }) => ({
      id,
      by: (createdBy && authors.get(createdBy)?.username) ?? null,
      made: viewTime(createdAt, clock.now()),
      expires: viewTime(expiresAt, clock.now()),
    })),
    ...pageLinks('/admin/invites', beside),
    notice: viewNotice(query),
  });
};

/** Makes a link for one person and leads to the page that shows it once. */
export const addInvite: Page<PersonContext, SignInDeps> = async ({ person, origin }, { accounts, oneTimeSecrets }) => {
  const { secret } = await accounts.addInvite(person.id);
  const link = `${origin}/signup?invite=${encodeURIComponent(secret)}`;
  return seeOther(`/admin/invites/new/${oneTimeSecrets.store(person.id, { name: 'invite', value: link })}`);
};

export const showNewInvite: Page<PersonContext, SignInDeps> = ({ person, params }, { oneTimeSecrets }) => {
  const secret = oneTimeSecrets.take(person.id, params.oneTimeToken ?? '');
  if (secret === null) return seeOther(withNotice('/admin/invites', 'invite-gone'));
  return page('sign-in/new-invite', { link: secret.value }, { showsSecret: true });
};

export const removeInvite: Page<PersonContext, SignInDeps> = async ({ params }, { accounts }) => {
  await accounts.removeInvite(params.id ?? '');
  return seeOther(withNotice('/admin/invites', 'invite-removed'));
};
