import { z } from 'zod';
import { localAdministrator } from '../../../access/index.ts';
import type { PersonViewer } from '../../../access/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { invalid } from '../../../kernel/index.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { member, organisation, organisationRole, paging } from '../shapes/schemas.ts';
import { showMember, showOrganisation } from '../shapes/payloads.ts';

const at = '/orgs/{org}';

const publicAlone = z.enum(['public', '']).optional().describe('Must be public: organisations are always public');

/** The profile fields in a body; omitted ones stay unchanged. */
function profileIn({
  full_name,
  displayName = full_name,
  description,
  website,
}: {
  full_name?: string | undefined;
  displayName?: string | undefined;
  description?: string | undefined;
  website?: string | undefined;
}) {
  return {
    ...(displayName !== undefined && { displayName }),
    ...(description !== undefined && { description }),
    ...(website !== undefined && { website }),
  };
}

interface ListCall {
  query: z.output<z.ZodObject<typeof paging>>;
  deps: Pick<WebDeps, 'organisations'>;
  origin: string;
}

/** A page of all organisations; administrators see no more than others. */
export async function listByName({ query: { limit, after }, deps, origin }: ListCall) {
  const { organisations, next } = await deps.organisations.list({ limit, after: after ?? null });
  return listed(
    organisations.map((row) => showOrganisation(row, row.members, { origin })),
    next,
    await deps.organisations.countAll(),
  );
}

export const listOrganisations = operation({
  id: 'listOrganisations',
  method: 'GET',
  path: '/orgs',
  tag: 'Organisations',
  summary: 'List organisations by name',
  access: 'anyone',
  cost: 'rows',
  status: 200,
  isPaged: true,
  query: z.object(paging),
  response: z.array(organisation),
  run: listByName,
});

export const createOrganisation = operation({
  id: 'createOrganisation',
  method: 'POST',
  path: '/orgs',
  tag: 'Organisations',
  summary: 'Create an organisation; the caller becomes its first OWNER',
  access: 'account:write',
  cost: 'rows',
  status: 201,
  refuses: [409],
  body: z.object({
    name: z.string().optional().describe('Username of the organisation; alternatively in username'),
    username: z.string().optional(),
    full_name: z.string().optional(),
    displayName: z.string().optional().describe('Alias of full_name'),
    description: z.string().optional(),
    website: z.string().optional().describe('HTTP or HTTPS URL'),
    visibility: publicAlone,
  }),
  response: organisation,
  async run({ viewer, body, deps, origin }) {
    const name = body.name || body.username;
    if (name === undefined || name === '')
      throw invalid('invalid_input', 'An organisation needs a name.', { field: 'username' });
    const organisation = await deps.organisations.create(viewer, { name, ...profileIn(body) });
    return created(showOrganisation(organisation, 1, { origin }), `/orgs/${organisation.name}`);
  },
});

export const getOrganisation = operation({
  id: 'getOrganisation',
  method: 'GET',
  path: at,
  tag: 'Organisations',
  summary: 'Get an organisation',
  access: 'anyone',
  cost: 'rows',
  status: 200,
  refuses: [404],
  response: organisation,
  async run({ params, deps, origin }) {
    const found = await deps.organisations.find(params.org);
    return json(showOrganisation(found, await deps.organisations.memberCount(found.id), { origin }));
  },
});

export const editOrganisation = operation({
  id: 'editOrganisation',
  method: 'PATCH',
  path: at,
  tag: 'Organisations',
  summary: 'Edit the profile of an organisation',
  access: 'account:admin',
  cost: 'rows',
  status: 200,
  refuses: [404],
  body: z.object({
    full_name: z.string().optional(),
    displayName: z.string().optional().describe('Alias of full_name'),
    description: z.string().optional(),
    website: z.string().optional().describe('HTTP or HTTPS URL'),
    visibility: publicAlone,
  }),
  response: organisation,
  async run({ viewer, params, body, deps, origin }) {
    await deps.organisations.edit(viewer, params.org, profileIn(body));
    const edited = await deps.organisations.find(params.org);
    return json(showOrganisation(edited, await deps.organisations.memberCount(edited.id), { origin }));
  },
});

/** An administrator may act as a user if the settings allow it: here, as the first OWNER. */
async function asOwner({ config, organisations }: WebDeps, viewer: PersonViewer, name: string): Promise<PersonViewer> {
  if (!config.api.sudo || !viewer.isAdministrator || viewer.repositoryIds !== null) return viewer;
  const owners = (await organisations.listMembers(localAdministrator, name)).filter(({ role }) => role === 'OWNER');
  const first = owners[0]?.person;
  if (first === undefined || owners.some(({ person }) => person.id === viewer.id)) return viewer;
  return { ...viewer, id: first.id, username: first.username, isAdministrator: first.isAdministrator };
}

export const deleteOrganisation = operation({
  id: 'deleteOrganisation',
  method: 'DELETE',
  path: at,
  tag: 'Organisations',
  summary: 'Delete an organisation that owns no repositories',
  description:
    'Requires the role OWNER; administrators can also do this if the server allows them to act as other users.',
  access: 'account:admin',
  cost: 'objects',
  status: 204,
  refuses: [404, 409],
  async run({ viewer, params, deps }) {
    await deps.organisations.delete(await asOwner(deps, viewer, params.org), params.org);
    return noContent();
  },
});

export const listMembers = operation({
  id: 'listMembers',
  method: 'GET',
  path: `${at}/members`,
  tag: 'Organisations',
  summary: 'List members with their roles, ordered by username',
  description: 'Requires the role OWNER.',
  access: 'account:admin',
  cost: 'rows',
  status: 200,
  refuses: [404],
  isPaged: true,
  query: z.object(paging),
  response: z.array(member),
  async run({ viewer, params, query: { limit, after }, deps, origin }) {
    const page = await deps.organisations.listMembersPage(viewer, params.org, { limit, after: after ?? null });
    return listed(
      page.members.map((each) => showMember(each, origin)),
      page.next,
      page.total,
    );
  },
});

export const addMember = operation({
  id: 'addMember',
  method: 'POST',
  path: `${at}/members`,
  tag: 'Organisations',
  summary: 'Add a member',
  access: 'account:admin',
  cost: 'rows',
  status: 201,
  refuses: [404, 409],
  refusesUnknownKeys: true,
  body: z.object({ username: z.string(), role: organisationRole }),
  response: member,
  async run({ viewer, params, body, deps, origin }) {
    await deps.organisations.addMember(viewer, params.org, body);
    const { handle = '' } = (await deps.owners.resolve(body.username.trim())) ?? {};
    // The exact handle sorts before others with this prefix.
    const { members } = await deps.organisations.listMembersPage(viewer, params.org, { prefix: handle, limit: 1 });
    return created(showMember(members[0]!, origin));
  },
});

export const changeMember = operation({
  id: 'changeMember',
  method: 'PATCH',
  path: `${at}/members/{username}`,
  tag: 'Organisations',
  summary: 'Change the role of a member',
  access: 'account:admin',
  cost: 'rows',
  status: 204,
  refuses: [404, 409],
  refusesUnknownKeys: true,
  body: z.object({ role: organisationRole }),
  async run({ viewer, params: { org, username }, body: { role }, deps }) {
    await deps.organisations.changeMemberRole(viewer, org, { username, role });
    return noContent();
  },
});

export const removeMember = operation({
  id: 'removeMember',
  method: 'DELETE',
  path: `${at}/members/{username}`,
  tag: 'Organisations',
  summary: 'Remove a member (requires the role OWNER) or leave the organisation',
  access: 'account:admin',
  cost: 'rows',
  status: 204,
  refuses: [404, 409],
  async run({ viewer, params: { org, username }, deps }) {
    const isSelf = (await deps.owners.resolve(username))?.id === viewer.id;
    if (isSelf) await deps.organisations.leave(viewer, org);
    else await deps.organisations.removeMember(viewer, org, username);
    return noContent();
  },
});
