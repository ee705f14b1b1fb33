import { z } from 'zod';
import type { Viewer } from '../../../access/index.ts';
import type { Person } from '../../../accounts/index.ts';
import { userPayload } from '../../../gitea-shapes/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { notFound } from '../../../kernel/index.ts';
import { findLanguage } from '../../../translation/index.ts';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { rowsOf } from '../shapes/issues-parts.ts';
import { giteaUser, numberedPaging } from '../shapes/issues-schemas.ts';
import { findAll } from '../repositories/repository-lists.ts';
import { organisation } from '../shapes/schemas.ts';
import { showOrganisation } from '../shapes/payloads.ts';

const common = { method: 'GET', tag: 'Users', cost: 'rows', status: 200 } as const;

/** Whether the caller is this user or an administrator, who see fields that others do not. */
export const seesAllOf = (viewer: Viewer, id: string): boolean =>
  viewer.kind === 'person' && (viewer.isAdministrator || viewer.id === id);

/** The primary e-mail addresses that the caller can see: public ones, one's own, and all for administrators. */
export async function addressesShownTo(viewer: Viewer, { accounts }: WebDeps, ids: readonly string[]) {
  const [others, all] = await Promise.all([
    accounts.addresses.publicOf(ids),
    accounts.addresses.primariesOf(ids.filter((id) => seesAllOf(viewer, id))),
  ]);
  return new Map([...others, ...all]);
}

/** Users with the e-mail addresses and the fields that the caller can see. */
export async function showUsers(deps: WebDeps, people: readonly Person[], viewer: Viewer, origin: string) {
  const addresses = await addressesShownTo(
    viewer,
    deps,
    people.map(({ id }) => id),
  );
  return people.map((person) =>
    userPayload(
      person,
      { baseUrl: origin },
      { email: addresses.get(person.id) ?? '', isOwn: seesAllOf(viewer, person.id) },
    ),
  );
}

/** The user whose UUID begins with this integer. */
const userByNumber = async ({ accounts }: WebDeps, number: number) => {
  const id = await accounts.idByNumber(number);
  return id === null
    ? []
    : [...(await accounts.peopleById([id])).values()].filter(({ disabledAt }) => disabledAt === null);
};

/** Only for callers who can see all e-mail addresses, so that a search reveals none to others. */
async function peopleWithAddress(deps: WebDeps, viewer: Viewer, text: string, limit: number): Promise<Person[]> {
  if (viewer.kind !== 'person' || !viewer.isAdministrator || viewer.scope !== 'admin') return [];
  const { rows } = await deps.accounts.addresses.listVerified({ contains: text, limit: Math.min(limit, 1_000) });
  const people = await deps.accounts.peopleById(rows.map(({ userId }) => userId));
  return [...people.values()].filter(({ disabledAt }) => disabledAt === null);
}

const searchUsers = operation({
  ...common,
  id: 'searchUsers',
  path: '/users/search',
  summary: 'Search users by username and display name; administrators can also search by email address',
  access: 'anyone',
  cost: 'search',
  query: z.object({
    q: z.string().max(500).optional(),
    uid: z.int().default(0).describe('Only the user with this ID'),
    ...numberedPaging,
  }),
  response: z.strictObject({ ok: z.literal(true), data: z.array(giteaUser) }).meta({ id: 'UserSearchResult' }),
  async run({ viewer, query, deps, origin }) {
    const { q = '', uid, page } = query;
    const limit = rowsOf(query);
    const from = (Math.max(page, 1) - 1) * limit;
    const show = async (people: readonly Person[]) =>
      json({ ok: true as const, data: await showUsers(deps, people, viewer, origin) });
    if (uid !== 0) return show((await userByNumber(deps, uid)).slice(from, from + limit));
    if (q.trim() === '') {
      const { people } = await deps.accounts.listProfiles({ limit: Math.min(from + limit, 1_000) });
      return show(people.slice(from, from + limit));
    }
    const byAddress = await peopleWithAddress(deps, viewer, q, from + limit);
    const { persons } = await findAll(deps, viewer, q);
    const shown = byAddress.length === 0 ? persons.slice(from, from + limit) : persons.slice(0, from + limit);
    const names = shown.map(({ username }) => username);
    const owners = await deps.owners.resolveAll(names);
    const people = await deps.accounts.peopleById([...owners.values()].map(({ id }) => id));
    const named = [...owners.values()].flatMap(({ id }) => people.get(id) ?? []);
    if (byAddress.length === 0) return show(named);
    const every = [...new Map([...named, ...byAddress].map((person) => [person.id, person])).values()];
    return show(every.slice(from, from + limit));
  },
});

/** Throws `unknown_person`. */
const listOrganisationsOfUser = operation({
  ...common,
  id: 'listOrganisationsOfUser',
  path: '/users/{username}/orgs',
  summary: 'List a user’s organisations: all for the user and administrators, shared ones for others',
  access: 'token:read',
  refuses: [404],
  response: z.array(organisation),
  async run({ viewer, params, deps, origin }) {
    const person = await deps.accounts.activePerson(params.username);
    const all = await deps.organisations.organisationsOf(person.id);
    const own = new Set((await deps.organisations.organisationsOf(viewer.id)).map((each) => each.organisation.id));
    const seesAll = seesAllOf(viewer, person.id);
    const shown = all.filter((each) => seesAll || own.has(each.organisation.id));
    return json(
      await Promise.all(
        shown.map(async (each) =>
          showOrganisation(each.organisation, await deps.organisations.memberCount(each.organisation.id), { origin }),
        ),
      ),
    );
  },
});

const permissionsInOrganisation = operation({
  ...common,
  id: 'getPermissionsInOrganisation',
  path: '/users/{username}/orgs/{org}/permissions',
  summary: 'Get a user’s permissions in an organisation; administrators can get those of all users',
  access: 'token:read',
  refuses: [404],
  response: z
    .strictObject({
      is_owner: z.boolean(),
      is_admin: z.boolean(),
      can_write: z.boolean(),
      can_read: z.boolean(),
      can_create_repository: z.boolean(),
    })
    .meta({ id: 'OrganizationPermissions' }),
  async run({ viewer, params, deps }) {
    const person = await deps.accounts.activePerson(params.username);
    if (person.id !== viewer.id && !viewer.isAdministrator)
      throw notFound('unknown_person', 'There is no such person.');
    const { id } = await deps.organisations.find(params.org);
    const role = await deps.organisations.roleOf(person.id, id);
    return json({
      is_owner: role === 'OWNER',
      is_admin: role === 'OWNER',
      can_write: role === 'OWNER' || role === 'MEMBER',
      can_read: role !== null,
      can_create_repository: role === 'OWNER' || role === 'MEMBER',
    });
  },
});

const settings = z
  .strictObject({
    full_name: z.string(),
    website: z.string(),
    description: z.string(),
    location: z.literal(''),
    language: z
      .string()
      .describe('Language for pages and emails, such as de-DE; if empty, the browser’s language is used'),
    theme: z.string().describe('Not available: every browser has its own theme'),
    diff_view_style: z.literal(''),
    hide_email: z
      .boolean()
      .describe('Whether the email address is hidden; addresses are visible only if their owner makes them public'),
    hide_activity: z.literal(false),
  })
  .meta({ id: 'UserSettings' });

/** Gitea's name of the theme that follows the browser. */
export const giteaTheme = 'gitea-auto';

/** Gitea adds the region with the most speakers to a language: `de-DE`, where this server uses `de`. */
const showLanguage = (code: string | null): string => {
  const { language, region } = new Intl.Locale(code ?? 'und').maximize();
  return code === null ? '' : `${language}-${region}`;
};

/** `de-DE` and `de_de` mean `de` here. `updateProfile` refuses languages that this server does not have. */
const readLanguage = (code: string): string =>
  findLanguage(code) === null ? code.toLowerCase().split(/[-_]/)[0]! : code;

const showSettings = async (deps: WebDeps, id: string): Promise<z.output<typeof settings>> => {
  const { displayName, website, bio, language } = await deps.accounts.personById(id);
  return {
    full_name: displayName,
    website,
    description: bio,
    location: '',
    language: showLanguage(language),
    theme: giteaTheme,
    diff_view_style: '',
    hide_email: (await deps.accounts.addresses.publicOf([id])).size === 0,
    hide_activity: false,
  };
};

const getSettings = operation({
  ...common,
  id: 'getUserSettings',
  path: '/user/settings',
  summary: 'Get the caller’s settings in Gitea’s format',
  access: 'account:read',
  response: settings,
  run: async ({ viewer, deps }) => json(await showSettings(deps, viewer.id)),
});

/** Shows the primary address, or hides all. Does nothing without an address. */
async function showAddresses({ accounts }: Pick<WebDeps, 'accounts'>, id: string, isPublic: boolean): Promise<void> {
  const addresses = await accounts.addresses.list(id);
  const changed = addresses.filter((one) => (isPublic ? one.isPrimary && !one.isPublic : one.isPublic));
  for (const address of changed) await accounts.addresses.setPublic(id, address.id, isPublic);
}

const editSettings = operation({
  ...common,
  id: 'editUserSettings',
  method: 'PATCH',
  path: '/user/settings',
  summary: 'Edit the caller’s settings in Gitea’s format',
  description: 'Omitted fields remain unchanged; unsupported settings are ignored.',
  access: 'account:write',
  body: z.object({
    full_name: z.string().optional(),
    website: z.string().optional(),
    description: z.string().optional(),
    language: z.string().optional(),
    hide_email: z
      .boolean()
      .optional()
      .describe('false shows the primary address to everyone, true hides all addresses'),
  }),
  response: settings,
  async run({ viewer, body, deps }) {
    const asked = {
      displayName: body.full_name,
      website: body.website,
      bio: body.description,
      language: body.language === undefined ? undefined : readLanguage(body.language),
    };
    const changes = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
    await deps.accounts.updateProfile(viewer.id, changes);
    if (body.hide_email !== undefined) await showAddresses(deps, viewer.id, !body.hide_email);
    return json(await showSettings(deps, viewer.id));
  },
});

export const userListOperations = [
  searchUsers,
  listOrganisationsOfUser,
  permissionsInOrganisation,
  getSettings,
  editSettings,
];
