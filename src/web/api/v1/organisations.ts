import { z } from 'zod';
import { created, json, listed, nothing } from '../responses.ts';
import { operation } from '../operation.ts';
import { member, organisation, organisationRole, paging } from './schemas.ts';
import { showMember, showOrganisation } from './show.ts';

const at = '/orgs/{org}';

export const listOrganisations = operation({
  id: 'listOrganisations',
  method: 'GET',
  path: '/orgs',
  tag: 'Organisations',
  summary: 'List organisations by name',
  access: 'anybody',
  cost: 'rows',
  status: 200,
  isPaged: true,
  query: z.object(paging),
  answer: z.array(organisation),
  async run({ query: { limit, after }, rooms, origin }) {
    const { organisations, next } = await rooms.organisations.list({ limit, after: after ?? null });
    return listed(
      organisations.map((row) => showOrganisation(row, row.members, { origin })),
      next,
    );
  },
});

export const createOrganisation = operation({
  id: 'createOrganisation',
  method: 'POST',
  path: '/orgs',
  tag: 'Organisations',
  summary: 'Found an organisation; the caller becomes its first OWNER',
  access: 'account:write',
  cost: 'rows',
  status: 201,
  refuses: [409],
  body: z.strictObject({ name: z.string(), displayName: z.string().optional(), description: z.string().optional() }),
  answer: organisation,
  async run({ viewer, body: { name, ...said }, rooms, origin }) {
    const profile = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined));
    const founded = await rooms.organisations.create(viewer, { name, ...profile });
    return created(showOrganisation(founded, 1, { origin }), `/orgs/${founded.name}`);
  },
});

export const getOrganisation = operation({
  id: 'getOrganisation',
  method: 'GET',
  path: at,
  tag: 'Organisations',
  summary: 'Get one organisation',
  access: 'anybody',
  cost: 'rows',
  status: 200,
  refuses: [404],
  answer: organisation,
  async run({ params, rooms, origin }) {
    const found = await rooms.organisations.find(params.org);
    return json(showOrganisation(found, await rooms.organisations.memberCount(found.id), { origin }));
  },
});

export const editOrganisation = operation({
  id: 'editOrganisation',
  method: 'PATCH',
  path: at,
  tag: 'Organisations',
  summary: 'Edit what an organisation says of itself',
  access: 'account:admin',
  cost: 'rows',
  status: 200,
  refuses: [404],
  body: z.strictObject({ displayName: z.string().optional(), description: z.string().optional() }),
  answer: organisation,
  async run({ viewer, params, body, rooms, origin }) {
    const profile = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
    await rooms.organisations.edit(viewer, params.org, profile);
    const edited = await rooms.organisations.find(params.org);
    return json(showOrganisation(edited, await rooms.organisations.memberCount(edited.id), { origin }));
  },
});

export const deleteOrganisation = operation({
  id: 'deleteOrganisation',
  method: 'DELETE',
  path: at,
  tag: 'Organisations',
  summary: 'Delete an organisation that owns no repositories',
  access: 'account:admin',
  cost: 'objects',
  status: 204,
  refuses: [404, 409],
  async run({ viewer, params, rooms }) {
    await rooms.organisations.delete(viewer, params.org);
    return nothing();
  },
});

export const listMembers = operation({
  id: 'listMembers',
  method: 'GET',
  path: `${at}/members`,
  tag: 'Organisations',
  summary: 'List members with their roles, by handle',
  description: 'For OWNERs.',
  access: 'account:admin',
  cost: 'rows',
  status: 200,
  refuses: [404],
  isPaged: true,
  query: z.object(paging),
  answer: z.array(member),
  async run({ viewer, params, query: { limit, after }, rooms }) {
    const page = await rooms.organisations.listMembersPage(viewer, params.org, { limit, after: after ?? null });
    return listed(page.members.map(showMember), page.next);
  },
});

export const addMember = operation({
  id: 'addMember',
  method: 'POST',
  path: `${at}/members`,
  tag: 'Organisations',
  summary: 'Make a person a member',
  access: 'account:admin',
  cost: 'rows',
  status: 201,
  refuses: [404, 409],
  body: z.strictObject({ username: z.string(), role: organisationRole }),
  answer: member,
  async run({ viewer, params, body, rooms }) {
    await rooms.organisations.addMember(viewer, params.org, body);
    const { handle = '' } = (await rooms.owners.resolve(body.username.trim())) ?? {};
    // Exactly this handle comes first of those that begin with it.
    const { members } = await rooms.organisations.listMembersPage(viewer, params.org, { prefix: handle, limit: 1 });
    return created(showMember(members[0]!));
  },
});

export const changeMember = operation({
  id: 'changeMember',
  method: 'PATCH',
  path: `${at}/members/{username}`,
  tag: 'Organisations',
  summary: 'Give a member another role',
  access: 'account:admin',
  cost: 'rows',
  status: 204,
  refuses: [404, 409],
  body: z.strictObject({ role: organisationRole }),
  async run({ viewer, params: { org, username }, body: { role }, rooms }) {
    await rooms.organisations.changeMemberRole(viewer, org, { username, role });
    return nothing();
  },
});

export const removeMember = operation({
  id: 'removeMember',
  method: 'DELETE',
  path: `${at}/members/{username}`,
  tag: 'Organisations',
  summary: 'End a membership: somebody’s as an OWNER, or one’s own',
  access: 'account:admin',
  cost: 'rows',
  status: 204,
  refuses: [404, 409],
  async run({ viewer, params: { org, username }, rooms }) {
    const isSelf = (await rooms.owners.resolve(username))?.id === viewer.id;
    if (isSelf) await rooms.organisations.leave(viewer, org);
    else await rooms.organisations.removeMember(viewer, org, username);
    return nothing();
  },
});
