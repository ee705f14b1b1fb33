import { page, seeOther, type PageReply } from '../app/reply.ts';
import type { WebDeps } from '../../http/index.ts';
import { submit, type FormRefusal } from '../app/submit.ts';
import { listPage, pageLinks, readFilter } from '../app/list-page.view.ts';
import { viewMember } from '../app/member.view.ts';
import { viewNotice, withNotice } from '../app/notices.view.ts';
import { viewOrganisationHead } from '../app/organisation-head.view.ts';
import { organisationUrl } from '../../http/index.ts';
import type { OrganisationOwnerContext, Page } from '../app/request-context.ts';

async function membersPage(
  visit: OrganisationOwnerContext,
  deps: WebDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const { viewer, organisation, form, query } = visit;
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
    organisation: viewOrganisationHead(organisation, pictures.get(organisation.id)?.avatarAt ?? null, 'OWNER'),
    members: members.map((member) => viewMember(member, pictures, clock.now())),
    isAlone: ownerCount === 1,
    filter,
    ...pageLinks(membersUrl(visit), beside, { q: filter }),
    form: { username: form.text('username'), role: form.text('role').toUpperCase() || 'MEMBER' },
    refusal,
    notice: viewNotice(query),
  });
}

const membersUrl = ({ organisation }: OrganisationOwnerContext): string =>
  `${organisationUrl(organisation.name)}/members`;

/** For OWNERs; for everybody else there is no such page (SPEC §4.4). */
export const showMembers: Page<OrganisationOwnerContext> = (visit, deps) => membersPage(visit, deps, null);

/** Fields `username`, `role`: GUEST, MEMBER or OWNER. */
export const addMember: Page<OrganisationOwnerContext> = (visit, deps) => {
  const { viewer, organisation, form } = visit;
  return submit(
    async () => {
      await deps.organisations.addMember(viewer, organisation.name, {
        username: form.text('username'),
        role: form.text('role'),
      });
      return seeOther(withNotice(membersUrl(visit), 'member-added'));
    },
    (refusal) => membersPage(visit, deps, refusal),
  );
};

/** Field `role`. An OWNER who takes the role from themselves sees the organisation as what they are now. */
export const changeMemberRole: Page<OrganisationOwnerContext> = (visit, deps) => {
  const { viewer, organisation, form, params } = visit;
  return stateForm(
    visit,
    deps,
    async () => {
      await deps.organisations.changeMemberRole(viewer, organisation.name, {
        username: params.username ?? '',
        role: form.text('role'),
      });
      return (await deps.organisations.roleOf(viewer.id, organisation.id)) === 'OWNER'
        ? membersUrl(visit)
        : organisationUrl(organisation.name);
    },
    'role-changed',
  );
};

export const removeMember: Page<OrganisationOwnerContext> = (visit, deps) => {
  const { viewer, organisation, params } = visit;
  return stateForm(
    visit,
    deps,
    async () => {
      await deps.organisations.removeMember(viewer, organisation.name, params.username ?? '');
      return (await deps.organisations.roleOf(viewer.id, organisation.id)) === 'OWNER' ? membersUrl(visit) : '/';
    },
    'member-removed',
  );
};

/** A form in a row of the list: what refuses it is the present state, so the words stand above the list. */
function stateForm(visit: OrganisationOwnerContext, deps: WebDeps, act: () => Promise<string>, notice: string) {
  return submit(
    async () => seeOther(withNotice(await act(), notice)),
    (refusal) => membersPage(visit, deps, { ...refusal, field: null }),
  );
}
