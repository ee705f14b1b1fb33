import type { Invite } from '../../accounts/index.ts';
import { page, seeOther, type PageReply, type RedirectReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { listPage, pageLinks } from '../app/list-page.view.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { SignInDeps } from './deps.ts';

export async function invitesPage(
  { query, form, person }: PersonContext,
  { accounts, organisations, owners, clock }: SignInDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { rows: invites, ...beside } = await listPage((paging) => accounts.listInvites(paging), query);
  const memberships = await organisations.organisationsOf(person.id);
  const [authors, joined] = await Promise.all([
    accounts.peopleById(invites.flatMap(({ createdBy }) => createdBy ?? [])),
    owners.ownersById(invites.flatMap(({ organisationId }) => organisationId ?? [])),
  ]);
  return page('sign-in/invites', {
    requests: (await accounts.listSignUpRequests()).map(({ id, address, reason, createdAt }) => ({
      id,
      address,
      reason,
      asked: viewTime(createdAt, clock.now()),
    })),
    invites: invites.map(({ id, createdBy, createdAt, expiresAt, address, mailedAt, organisationId }) => ({
      id,
      by: (createdBy && authors.get(createdBy)?.username) ?? null,
      made: viewTime(createdAt, clock.now()),
      expires: viewTime(expiresAt, clock.now()),
      address,
      mailed: mailedAt === null ? null : viewTime(mailedAt, clock.now()),
      joins: (organisationId && joined.get(organisationId)?.handle) ?? null,
    })),
    organisations: memberships.filter(({ role }) => role === 'OWNER').map(({ organisation }) => organisation.name),
    canSendLinks: accounts.addresses.canSendLinks,
    form: { address: form.text('address'), organisation: form.text('organisation'), role: form.text('role') },
    ...pageLinks('/admin/invites', beside),
    refusal,
    notice: viewFlashMessage(query),
  });
}

/** Open invites, the way to register while registration is closed. */
export const showInvites: Page<PersonContext, SignInDeps> = (context, deps) => invitesPage(context, deps, null);

/** Redirects to the page that shows the link of an invitation once. */
export async function leadToInvite(
  { person, origin }: PersonContext,
  { oneTimeSecrets }: SignInDeps,
  { invite, secret }: { invite: Invite; secret: string },
): Promise<RedirectReply> {
  const oneTimeToken = await oneTimeSecrets.store(person.id, {
    name: invite.mailedAt === null ? '' : invite.address!,
    value: `${origin}/signup?invite=${encodeURIComponent(secret)}`,
  });
  return seeOther(`/admin/invites/new/${oneTimeToken}`);
}

/**
 * Creates a link for one person and redirects to the page that shows it once. Fields `address`, to which it is sent if
 * mail is on; `organisation` and `role`, which the new user gets.
 */
export const addInvite: Page<PersonContext, SignInDeps> = (context, deps) => {
  const { person, viewer, form } = context;
  const { accounts, organisations } = deps;
  const [address, organisation] = [form.text('address').trim() || null, form.text('organisation').trim()];
  return submitForm(
    async () => {
      const made =
        organisation === ''
          ? await accounts.addInvite(person.id, { address })
          : await organisations.invite(viewer, organisation, { address, role: form.text('role') });
      return leadToInvite(context, deps, made);
    },
    (refusal) => invitesPage(context, deps, refusal),
  );
};

export const resendInvite: Page<PersonContext, SignInDeps> = (context, deps) =>
  submitForm(
    async () => {
      await deps.accounts.resendInvite(context.params.id ?? '');
      return seeOther(withFlashMessage('/admin/invites', 'invite-sent'));
    },
    (refusal) => invitesPage(context, deps, refusal),
  );

export const showNewInvite: Page<PersonContext, SignInDeps> = async ({ person, params }, { oneTimeSecrets }) => {
  const secret = await oneTimeSecrets.take(person.id, params.oneTimeToken ?? '');
  if (secret === null) return seeOther(withFlashMessage('/admin/invites', 'invite-gone'));
  return page('sign-in/new-invite', { link: secret.value, sentTo: secret.name || null }, { showsSecret: true });
};

export const removeInvite: Page<PersonContext, SignInDeps> = async ({ params }, { accounts }) => {
  await accounts.removeInvite(params.id ?? '');
  return seeOther(withFlashMessage('/admin/invites', 'invite-removed'));
};
