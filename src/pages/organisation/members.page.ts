import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { listPage, pageLinks, readFilter } from '../app/list-page.view.ts';
import { viewMember } from '../app/member.view.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewOrganisationHeader } from '../app/organisation-header.view.ts';
import { organisationUrl } from '../../http/index.ts';
import type { OrganisationOwnerContext, Page } from '../app/request-context.ts';
import type { OrganisationDeps } from './deps.ts';

async function membersPage(
  context: OrganisationOwnerContext,
  deps: OrganisationDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { viewer, organisation, form, query } = context;
  const { organisations, owners, clock } = deps;
  const filter = readFilter(query);
  const {
    members,
    owners: ownerCount,
    ...beside
  } = await listPage(
    (paging) => organisations.listMembersPage(viewer, organisation.name, { prefix: filter, ...paging }),
    query,
  );
  const pictures = await owners.ownersById([organisation.id, ...members.map(({ person }) => person.id)]);
  return page('organisation/members', {
    organisation: viewOrganisationHeader(organisation, pictures.get(organisation.id)?.avatarAt ?? null, 'OWNER'),
    members: members.map((member) => viewMember(member, pictures, clock.now())),
    isAlone: ownerCount === 1,
    filter,
    ...pageLinks(membersUrl(context), beside, { q: filter }),
    form: { username: form.text('username'), role: form.text('role').toUpperCase() || 'MEMBER' },
    refusal,
    notice: viewFlashMessage(query),
  });
}

const membersUrl = ({ organisation }: OrganisationOwnerContext): string =>
  `${organisationUrl(organisation.name)}/members`;

/** For OWNERs; all others get 404 (SPEC §4.4). */
export const showMembers: Page<OrganisationOwnerContext, OrganisationDeps> = (context, deps) =>
  membersPage(context, deps, null);

/** Fields `username`, `role`: GUEST, MEMBER or OWNER. */
export const addMember: Page<OrganisationOwnerContext, OrganisationDeps> = (context, deps) => {
  const { viewer, organisation, form } = context;
  return submitForm(
    async () => {
      await deps.organisations.addMember(viewer, organisation.name, {
        username: form.text('username'),
        role: form.text('role'),
      });
      return seeOther(withFlashMessage(membersUrl(context), 'member-added'));
    },
    (refusal) => membersPage(context, deps, refusal),
  );
};

/** Field `role`. An OWNER who gives up the role then sees the organisation with the new role. */
export const changeMemberRole: Page<OrganisationOwnerContext, OrganisationDeps> = (context, deps) => {
  const { viewer, organisation, form, params } = context;
  return stateForm(
    context,
    deps,
    async () => {
      await deps.organisations.changeMemberRole(viewer, organisation.name, {
        username: params.username ?? '',
        role: form.text('role'),
      });
      return (await deps.organisations.roleOf(viewer.id, organisation.id)) === 'OWNER'
        ? membersUrl(context)
        : organisationUrl(organisation.name);
    },
    'role-changed',
  );
};

export const removeMember: Page<OrganisationOwnerContext, OrganisationDeps> = (context, deps) => {
  const { viewer, organisation, params } = context;
  return stateForm(
    context,
    deps,
    async () => {
      await deps.organisations.removeMember(viewer, organisation.name, params.username ?? '');
      return (await deps.organisations.roleOf(viewer.id, organisation.id)) === 'OWNER' ? membersUrl(context) : '/';
    },
    'member-removed',
  );
};

/** A form in a row of the list: a refusal depends on the current state, so it is shown above the list. */
function stateForm(
  context: OrganisationOwnerContext,
  deps: OrganisationDeps,
  act: () => Promise<string>,
  notice: string,
) {
  return submitForm(
    async () => seeOther(withFlashMessage(await act(), notice)),
    (refusal) => membersPage(context, deps, { ...refusal, field: null }),
  );
}
