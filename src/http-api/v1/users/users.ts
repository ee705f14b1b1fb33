import { z } from 'zod';
import type { Viewer } from '../../../access/index.ts';
import type { Person } from '../../../accounts/index.ts';
import { giteaTime, ownerPayload } from '../../../gitea-shapes/index.ts';
import { organisationUrl } from '../../../http/index.ts';
import { notFound, nullIfNotFound } from '../../../kernel/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { me, membership, person } from '../shapes/schemas.ts';
import { showOrganisation, showPerson } from '../shapes/payloads.ts';
import { addressesShownTo, seesAllOf } from './user-lists.ts';

const ownFields = ({ isAdministrator, secondFactorAt }: Person) => ({
  isAdministrator,
  hasSecondFactor: secondFactorAt !== null,
});

/** Followers of a user, users that they follow, and repositories that they have starred and the viewer can see. */
async function countsOf({ accounts, repositories }: WebDeps, viewer: Viewer, { id }: Person) {
  const [counts, starred] = await Promise.all([
    accounts.following.countsOf(id),
    repositories.stars.countStarred(viewer, id),
  ]);
  return { ...counts, starred };
}

export const getMe = operation({
  id: 'getMe',
  method: 'GET',
  path: '/user',
  tag: 'Users',
  summary: 'Get the authenticated user',
  access: 'token:read',
  cost: 'rows',
  status: 200,
  response: me,
  async run({ viewer, deps, origin }) {
    const found = await deps.accounts.personById(viewer.id);
    const email = (await deps.accounts.addresses.primaryOf(viewer.id)) ?? '';
    return json({
      ...showPerson(found, { origin }, { email, isOwn: true, ...(await countsOf(deps, viewer, found)) }),
      ...ownFields(found),
    });
  },
});

export const editMe = operation({
  id: 'editMe',
  method: 'PATCH',
  path: '/user',
  tag: 'Users',
  summary: 'Edit the caller’s profile',
  description: 'Omitted fields remain unchanged.',
  access: 'account:write',
  cost: 'rows',
  status: 200,
  body: z.object({
    full_name: z.string().optional(),
    description: z.string().optional(),
    displayName: z.string().optional(),
    bio: z.string().optional(),
    website: z.string().optional(),
  }),
  response: me,
  async run({ viewer, body, deps, origin }) {
    const { full_name, description, ...own } = body;
    const asked = { displayName: full_name, bio: description, ...own };
    const changes = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
    const changed = await deps.accounts.updateProfile(viewer.id, changes);
    const email = (await deps.accounts.addresses.primaryOf(viewer.id)) ?? '';
    return json({
      ...showPerson(changed, { origin }, { email, isOwn: true, ...(await countsOf(deps, viewer, changed)) }),
      ...ownFields(changed),
    });
  },
});

/** Throws `unknown_person`. */
async function showAsUser(name: string, { organisations }: WebDeps, origin: string): Promise<z.output<typeof person>> {
  const organisation = await organisations.find(name).catch(nullIfNotFound);
  if (organisation === null) throw notFound('unknown_person', 'There is no such person.');
  const { id, displayName, description, createdAt } = organisation;
  return {
    ...ownerPayload({ id, kind: 'organisation', handle: organisation.name }, organisation, { baseUrl: origin }),
    displayName,
    bio: description,
    createdAt: giteaTime(createdAt),
    url: origin + organisationUrl(organisation.name),
  };
}

export const getUser = operation({
  id: 'getUser',
  method: 'GET',
  path: '/users/{username}',
  tag: 'Users',
  summary: 'Get a user',
  description: 'As in Gitea, an organisation is returned as a user without an email address.',
  access: 'anyone',
  cost: 'rows',
  status: 200,
  refuses: [404],
  response: person,
  async run({ viewer, params, deps, origin }) {
    const found = await deps.accounts.personByUsername(params.username).catch(nullIfNotFound);
    if (found === null) return json(await showAsUser(params.username, deps, origin));
    const isOwn = seesAllOf(viewer, found.id);
    const email = (await addressesShownTo(viewer, deps, [found.id])).get(found.id) ?? '';
    return json(showPerson(found, { origin }, { email, isOwn, ...(await countsOf(deps, viewer, found)) }));
  },
});

export const listMyOrganisations = operation({
  id: 'listMyOrganisations',
  method: 'GET',
  path: '/user/orgs',
  tag: 'Users',
  summary: 'List the organisations that the caller belongs to',
  access: 'token:read',
  cost: 'rows',
  status: 200,
  response: z.array(membership),
  async run({ viewer, deps, origin }) {
    const memberships = await deps.organisations.organisationsOf(viewer.id);
    return json(
      await Promise.all(
        memberships.map(async ({ organisation, role }) => ({
          ...showOrganisation(organisation, await deps.organisations.memberCount(organisation.id), { origin }),
          organisation: organisation.name,
          role,
        })),
      ),
    );
  },
});
