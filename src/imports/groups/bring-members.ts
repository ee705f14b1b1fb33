import { localAdministrator } from '../../access/index.ts';
import { cleanText } from '../../accounts/index.ts';
import type { Person } from '../../accounts/index.ts';
import { isRefusal } from '../../kernel/index.ts';
import type { SourceClient } from '../client/source-client.ts';
import type { ImportDeps } from '../deps.ts';
import { accountsOf } from '../people/accounts-of.ts';
import { teamNameFrom } from '../people/team-name.ts';
import { groupItemSchema, groupOwnerSchema } from '../schema/group-schema.ts';
import type { GroupOwnerRow, ImportGroupRow } from '../schema/group-schema.ts';
import { listMembers } from './list-teams.ts';
import type { SourceTeam } from './list-teams.ts';
import type { SourcePerson } from '../sources/source.ts';
import type { OwnerNotes } from './group-notes.ts';

/**
 * Members and teams of an organisation. Access comes by proof alone; the others are lines of the report. A team whose
 * members see only parts of its repositories there gets no role in them: here it would show everything.
 */
export async function bringMembers(
  deps: ImportDeps,
  group: ImportGroupRow,
  { row, organisation, client }: { row: GroupOwnerRow; organisation: string; client: SourceClient },
  notes: OwnerNotes,
): Promise<void> {
  const { kind, api, host } = group;
  const { members, teams } = await listMembers(client, { kind, api, login: row.login }, (what, problem) =>
    notes.tell(`${what}: ${problem}`),
  );
  const people = [...members.map(({ person }) => person), ...teams.flatMap((team) => team.members)];
  const accounts = await knownHere(deps, group, people);
  const unknown = new Map<string, string[]>();
  const addressed = (login: string, place: string, work: (username: string) => Promise<unknown>): Promise<void> => {
    const account = accounts.get(login);
    if (account === undefined) unknown.set(login, [...(unknown.get(login) ?? []), place]);
    else if (account.disabledAt !== null)
      notes.tell(
        `${login} is not in ${place} yet: the account ${account.username} is disabled. Enable it and run again.`,
      );
    else return notes.once(`in:${row.login}:${place}:${login}`, `${login} in ${place}`, () => work(account.username!));
    return Promise.resolve();
  };
  await notes.load(people.map(({ login }) => `in:${row.login}:${organisation}:${login}`));
  for (const { person, role } of members)
    await addressed(person.login, organisation, (username) =>
      deps.organisations.addMember(localAdministrator, organisation, { username, role }),
    );
  const places = await placesOf(deps, group, row);
  for (const team of teams) {
    const name = await teamHere(deps, organisation, { row, team }, notes);
    if (name === null) continue;
    const at = { organisation, name };
    for (const { login } of team.members)
      await addressed(login, `${organisation}/${name}`, (username) =>
        deps.organisations.teams.addMember(localAdministrator, at, username),
      );
    for (const { project, role } of team.repositories) {
      const place = places.get(project.toLowerCase());
      if (role === null) notes.tell(`Give the team ${name} a role in ${project}: there it sees only parts of it.`);
      else if (place !== undefined)
        await notes.once(`role:${row.login}:${team.id}:${project}`, `The team ${name} in ${project}`, () =>
          deps.repositories.teams.setRole(localAdministrator, at, place, role),
        );
    }
  }
  for (const [login, of] of unknown)
    notes.tell(
      `Add ${login} to ${of.slice(0, 20).join(', ')}, if it is the same person here: hearth import claim, with ` +
        `${login}@${host} = NAME`,
    );
}

/** Accounts by proof, and those that this import has made for users of the server. */
async function knownHere(
  deps: ImportDeps,
  { id: groupId, host }: ImportGroupRow,
  people: readonly SourcePerson[],
): Promise<Map<string, Person>> {
  const found = await accountsOf(deps, host, people);
  const made = await deps.db.read.findBy(groupOwnerSchema, { groupId, kind: 'user' as const, isMade: true });
  const byLogin = new Map(made.map(({ login, ownerId }) => [login, ownerId]));
  const ids = people.flatMap(({ login }) => (found.has(login) ? [] : (byLogin.get(login) ?? [])));
  const accounts = await deps.accounts.peopleById(new Set(ids));
  for (const { login } of people) {
    const account = found.has(login) ? undefined : accounts.get(byLogin.get(login) ?? '');
    if (account !== undefined) found.set(login, account);
  }
  return found;
}

/** Where the repositories of an organisation are here, by their projects there in lower case. */
async function placesOf(
  deps: ImportDeps,
  { id: groupId }: ImportGroupRow,
  { login }: GroupOwnerRow,
): Promise<Map<string, { owner: string; name: string }>> {
  const items = await deps.db.read.findBy(groupItemSchema, { groupId, login });
  const located = await deps.repositories.locate(items.flatMap(({ repositoryId }) => repositoryId ?? []));
  return new Map(
    items.flatMap(({ project, repositoryId }) => {
      const place = located.get(repositoryId ?? '');
      const at = place && { owner: place.owner.handle, name: place.repository.name };
      return at === undefined ? [] : [[project.toLowerCase(), at] as const];
    }),
  );
}

/** The name of the team here; null for one that was refused, or was deleted or renamed here since. */
async function teamHere(
  deps: ImportDeps,
  organisation: string,
  { row, team }: { row: GroupOwnerRow; team: SourceTeam },
  notes: OwnerNotes,
): Promise<string | null> {
  const item = `team:${row.login}:${team.id}`;
  const before = await notes.markOf(item);
  const { teams } = deps.organisations;
  if (before !== undefined) {
    const known = await teams.list(localAdministrator, organisation);
    return known.find(({ id }) => id === before)?.name ?? null;
  }
  const name = teamNameFrom(team.name);
  if (name !== team.name) notes.tell(`The team ${team.name.slice(0, 100)} is ${name} here.`);
  try {
    const description = cleanText(team.description, 500);
    const made = await teams.create(localAdministrator, organisation, { name, description, role: team.role ?? 'read' });
    await notes.mark(item, made.id);
    return made.name;
  } catch (error) {
    if (!isRefusal(error) || error.code === 'unavailable') throw error;
    notes.tell(`The team ${team.name.slice(0, 100)} did not come: ${error.message}`);
    return null;
  }
}
