import { z } from 'zod';
import type { PersonViewer } from '../../../access/index.ts';
import type { Person } from '../../../accounts/index.ts';
import { noTime, userPayload } from '../../../gitea-shapes/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { conflict, invalid, notFound } from '../../../kernel/index.ts';
import { created, json, listed, noContent } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { rowNamed } from '../shapes/ids.ts';
import { giteaUser } from '../shapes/issues-schemas.ts';
import { makeRepository, newRepository } from '../repositories/new-repositories.ts';
import { olderRepository } from '../shapes/older-forms.ts';
import { listByName } from '../organisations/organisations.ts';
import { organisation, paging, repository, sshKey } from '../shapes/schemas.ts';
import { isoTime, showKey, showOrganisation } from '../shapes/payloads.ts';

/** Gitea's operations of administrators on accounts. */
const common = { tag: 'Administration', access: 'administrator', cost: 'rows' } as const;
const one = '/admin/users/{username}';

async function show(deps: WebDeps, person: Person, origin: string) {
  const email = (await deps.accounts.addresses.primaryOf(person.id)) ?? '';
  return userPayload(person, { baseUrl: origin }, { email, isOwn: true });
}

/** The rights of the user in a session, for resources that are created on their behalf. */
const asUser = ({ id, username, isAdministrator }: Person): PersonViewer => ({
  kind: 'person',
  id,
  username,
  isAdministrator,
  via: 'session',
  scope: 'admin',
  repositoryIds: null,
});

const text = z.string().optional();
const profile = {
  email: text.describe('Trusted without verification'),
  full_name: text,
  password: text,
  must_change_password: z.boolean().optional(),
};

const listUsers = operation({
  ...common,
  id: 'listAccounts',
  method: 'GET',
  path: '/admin/users',
  summary: 'List all accounts by username',
  status: 200,
  isPaged: true,
  query: z.object({ ...paging, q: text.describe('Only usernames that start with this text') }),
  response: z.array(giteaUser),
  async run({ query: { limit, after, q }, deps, origin }) {
    const page = await deps.accounts.listAccounts({ limit, after: after ?? null, prefix: q ?? '' });
    const total = q ? null : (await deps.accounts.countPeople()).accounts;
    return listed(await Promise.all(page.people.map((person) => show(deps, person, origin))), page.next, total);
  },
});

const createUser = operation({
  ...common,
  id: 'createAccount',
  method: 'POST',
  path: '/admin/users',
  summary: 'Create an account',
  description: 'If the password is omitted, the account has none until one is set.',
  cost: 'change',
  status: 201,
  refuses: [409],
  refusesUnknownKeys: /admin|vis|restrict/i,
  body: z.object({
    username: z.string(),
    ...profile,
    send_notify: z.boolean().optional().describe('Has no effect: Hearth does not send an email'),
    source_id: z.literal(0).optional(),
    login_name: text,
    restricted: z.literal(false).optional(),
    visibility: z.enum(['public']).optional(),
  }),
  response: giteaUser,
  async run({ body, deps, origin }) {
    const { username, email, full_name, password, must_change_password: mustChangePassword = true } = body;
    const person = await deps.accounts.addPerson({
      username,
      takesDeleted: true,
      ...(full_name !== undefined && { displayName: full_name }),
      ...(email && { address: email }),
      ...(password && { password, mustChangePassword }),
    });
    return created(await show(deps, person, origin), `/users/${username}`);
  },
});

const editUser = operation({
  ...common,
  id: 'editAccount',
  method: 'PATCH',
  path: one,
  summary: 'Edit an account: profile, password, administrator status, sign-in',
  cost: 'change',
  status: 200,
  refuses: [404, 409],
  refusesUnknownKeys: /^admin.|vis|restrict/i,
  body: z.object({
    ...profile,
    website: text,
    description: text,
    admin: z.boolean().optional(),
    active: z.boolean().optional(),
    prohibit_login: z.boolean().optional().describe('Ends all sessions and revokes all tokens'),
    source_id: z.literal(0).optional(),
    login_name: text,
    restricted: z.literal(false).optional(),
    visibility: z.enum(['public']).optional(),
  }),
  response: giteaUser,
  async run({ params, body, deps, origin }) {
    const { accounts } = deps;
    const { id } = await accounts.personByUsername(params.username);
    const asked = { displayName: body.full_name, website: body.website, bio: body.description };
    const changes = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
    if (Object.keys(changes).length > 0) await accounts.updateProfile(id, changes);
    if (body.password) await accounts.setPassword(id, body.password);
    if (body.admin !== undefined) await accounts.setAdministrator(id, body.admin);
    const isDisabled = body.prohibit_login ?? (body.active === undefined ? undefined : !body.active);
    if (isDisabled !== undefined) await accounts.setDisabled(id, isDisabled);
    return json(await show(deps, await accounts.personById(id), origin));
  },
});

const deleteUser = operation({
  ...common,
  id: 'deleteAccount',
  method: 'DELETE',
  path: one,
  summary: 'Delete an account that does not own repositories and is not the only OWNER of an organisation',
  cost: 'change',
  status: 204,
  refuses: [404, 409, 422],
  query: z.object({ purge: z.boolean().optional().describe('Rejected: delete what the account owns separately') }),
  async run({ params, query, deps }) {
    if (query.purge === true)
      throw conflict('purge_refused', 'Delete or transfer what the account owns first.', { field: 'purge' });
    await deps.accounts.deletePerson((await deps.accounts.personByUsername(params.username)).id);
    return noContent();
  },
});

const renameUser = operation({
  ...common,
  id: 'renameAccount',
  method: 'POST',
  path: `${one}/rename`,
  summary: 'Rename a user; the old name redirects to the new one and remains reserved',
  status: 204,
  refuses: [404, 409],
  body: z.object({ new_username: z.string() }),
  async run({ params, body, deps }) {
    await deps.accounts.renamePerson((await deps.accounts.personByUsername(params.username)).id, body.new_username);
    return noContent();
  },
});

const addKeyOfUser = operation({
  ...common,
  id: 'addKeyOfAccount',
  method: 'POST',
  path: `${one}/keys`,
  summary: 'Add an SSH key to an account',
  status: 201,
  refuses: [404, 409],
  body: z.object({ key: z.string(), title: text, read_only: z.literal(false).optional() }),
  response: sshKey,
  async run({ params, body: { key, title }, deps, origin }) {
    const person = await deps.accounts.personByUsername(params.username);
    const added = await deps.accounts.addKey(person.id, { line: key, ...(title && { title }) });
    return created(showKey(added, person, origin));
  },
});

const removeKeyOfUser = operation({
  ...common,
  id: 'removeKeyOfAccount',
  method: 'DELETE',
  path: `${one}/keys/{id}`,
  summary: 'Remove an account’s SSH key',
  status: 204,
  refuses: [404],
  async run({ params, deps }) {
    const { id } = await deps.accounts.personByUsername(params.username);
    const key = rowNamed(await deps.accounts.listKeys(id), params.id);
    if (key === undefined) throw notFound('unknown_key', 'There is no such key.');
    await deps.accounts.removeKey(id, key.id);
    return noContent();
  },
});

const listAllOrganisations = operation({
  ...common,
  id: 'listAllOrganisations',
  method: 'GET',
  path: '/admin/orgs',
  summary: 'List all organisations by name',
  status: 200,
  isPaged: true,
  query: z.object(paging),
  response: z.array(organisation),
  run: listByName,
});

const createOrganisationFor = operation({
  ...common,
  id: 'createOrganisationOfAccount',
  method: 'POST',
  path: `${one}/orgs`,
  summary: 'Create an organisation with a user as its first OWNER',
  status: 201,
  refuses: [404, 409],
  body: z.object({
    username: text,
    name: text,
    full_name: text,
    description: text,
    visibility: z.enum(['public']).optional(),
  }),
  response: organisation,
  async run({ params, body, deps, origin }) {
    const owner = asUser(await deps.accounts.personByUsername(params.username));
    const name = body.username || body.name;
    if (!name) throw invalid('invalid_input', 'An organisation needs a name.', { field: 'username' });
    const made = await deps.organisations.create(owner, {
      name,
      takesDeleted: true,
      ...(body.full_name !== undefined && { displayName: body.full_name }),
      ...(body.description !== undefined && { description: body.description }),
    });
    return created(showOrganisation(made, 1, { origin }), `/orgs/${made.name}`);
  },
});

const createRepositoryFor = operation({
  ...common,
  id: 'createRepositoryOfAccount',
  method: 'POST',
  path: `${one}/repos`,
  summary: 'Create a repository for a user',
  cost: 'objects',
  status: 201,
  refuses: [404, 409],
  body: newRepository,
  response: repository,
  older: olderRepository,
  async run({ params, body, deps, origin }) {
    const viewer = asUser(await deps.accounts.personByUsername(params.username));
    return makeRepository({ viewer, deps, origin }, body);
  },
});

const task = z
  .strictObject({
    name: z.string(),
    schedule: z.string().describe('Cron expression with six fields, starting with seconds'),
    next: z.string().describe('Not available: always the year 1'),
    prev: z.string().describe('Year 1 before the first run'),
    exec_times: z.int(),
  })
  .meta({ id: 'Cron' });

const listTasks = operation({
  ...common,
  id: 'listScheduledTasks',
  method: 'GET',
  path: '/admin/cron',
  summary: 'List scheduled tasks',
  status: 200,
  response: z.array(task),
  async run({ deps }) {
    return json(
      (await deps.scheduledTasks()).map(({ name, time, last }) => ({
        name,
        schedule: time,
        next: noTime,
        prev: last === null ? noTime : isoTime(last.lastStartedAt),
        exec_times: last === null ? 0 : 1,
      })),
    );
  },
});

const startTask = operation({
  ...common,
  id: 'startScheduledTask',
  method: 'POST',
  path: '/admin/cron/{task}',
  summary: 'Start a scheduled task now',
  description: 'The response does not wait for the task to finish. A running task is not started again.',
  cost: 'change',
  status: 204,
  refuses: [404],
  async run({ params, deps }) {
    if (!deps.startTask(params.task)) throw notFound('unknown_task', 'There is no such task.');
    return noContent();
  },
});

export const adminOperations = [
  listUsers,
  createUser,
  editUser,
  deleteUser,
  renameUser,
  addKeyOfUser,
  removeKeyOfUser,
  listAllOrganisations,
  createOrganisationFor,
  createRepositoryFor,
  listTasks,
  startTask,
];
