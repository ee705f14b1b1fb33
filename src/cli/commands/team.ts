import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import type { ListedTeam, Team, TeamAddress, TeamMember } from '../../organisations/index.ts';
import type { TeamRepository } from '../../repositories/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { nameOf } from './find-person.ts';
import { findRepository } from './find-repository.ts';

interface TeamOptions {
  description?: string;
  role?: string;
  rename?: string;
}

/** `hearth team …`: teams of organisations. */
export function addTeamCommands(program: Command, run: Run): void {
  const team = addNoun(program, 'team', 'teams of organisations');
  withExamples(
    team.command('list').description('list teams').argument('<org>', 'organisation').action(run(listTeams)),
    'hearth team list acme',
  );
  withExamples(
    team
      .command('show')
      .description('show a team with its members and repositories')
      .argument('<org/team>', 'team')
      .action(run(showTeam)),
    'hearth team show acme/reviewers',
  );
  withExamples(
    team
      .command('add')
      .alias('create')
      .description('create a team')
      .argument('<org/team>', 'team')
      .option('--description <text>', 'one-line description')
      .option('--role <role>', 'read, write or admin: default role for repositories added without a role', 'read')
      .action(run(addTeam)),
    'hearth team add acme/reviewers --role write',
  );
  withExamples(
    team
      .command('edit')
      .description('edit a team, or rename it')
      .argument('<org/team>', 'team')
      .option('--description <text>', 'one-line description')
      .option('--role <role>', 'read, write or admin')
      .option('--rename <name>', 'new team name without the organisation')
      .action(run(editTeam)),
    'hearth team edit acme/reviewers --rename readers',
  );
  withExamples(
    team
      .command('delete')
      .alias('remove')
      .description('delete a team and the access that it grants')
      .argument('<org/team>', 'team')
      .option('--dry-run', 'only show what would be deleted')
      .action(run(deleteTeam)),
    'hearth team delete acme/reviewers',
  );
  addPeopleCommands(team, run);
  addRepositoryCommands(team, run);
}

function addPeopleCommands(team: Command, run: Run): void {
  const member = addNoun(team, 'member', 'members of a team');
  withExamples(
    member.command('list').description('list users').argument('<org/team>', 'team').action(run(listMembers)),
    'hearth team member list acme/reviewers',
  );
  withExamples(
    member
      .command('add')
      .description('add a user, who does not have to be a member of the organisation')
      .argument('<org/team>', 'team')
      .argument('<user>', 'username')
      .action(run(addMember)),
    'hearth team member add acme/reviewers bob',
  );
  withExamples(
    member
      .command('remove')
      .alias('delete')
      .description('remove a user')
      .argument('<org/team>', 'team')
      .argument('<user>', 'username')
      .action(run(removeMember)),
    'hearth team member remove acme/reviewers bob',
  );
}

function addRepositoryCommands(team: Command, run: Run): void {
  const repository = addNoun(team, 'repo', 'repositories of a team');
  withExamples(
    repository
      .command('list')
      .description('list repositories')
      .argument('<org/team>', 'team')
      .action(run(listRepositories)),
    'hearth team repo list acme/reviewers',
  );
  withExamples(
    repository
      .command('set')
      .alias('add')
      .description("grant a team a role in one of its organisation's repositories")
      .argument('<org/team>', 'team')
      .argument('<owner/name>', 'repository')
      .option('--role <role>', "read, write or admin (default: the team's usual role)")
      .action(run(setRepository)),
    'hearth team repo set acme/reviewers acme/tools --role write',
  );
  withExamples(
    repository
      .command('remove')
      .alias('delete')
      .description("remove a team's role in a repository")
      .argument('<org/team>', 'team')
      .argument('<owner/name>', 'repository')
      .action(run(removeRepository)),
    'hearth team repo remove acme/reviewers acme/tools',
  );
}

/** Throws `usage` for text that is not `org/team`. */
function addressIn(text: string): TeamAddress {
  const [organisation = '', name = '', ...rest] = text.replace(/^@/, '').split('/');
  if (organisation === '' || name === '' || rest.length > 0)
    throw invalid('usage', 'Specify the team as organisation/team.');
  return { organisation, name };
}

const toJson = (organisation: string, { id, serial, name, description, role, createdAt }: Team) => ({
  id,
  serial,
  organisation,
  name,
  description,
  role,
  createdAt: isoOrNull(createdAt),
});

const columns: Column<ListedTeam>[] = [
  { title: 'NAME', cell: ({ name }) => name, whole: true },
  { title: 'USUAL ROLE', cell: ({ role }) => role },
  { title: 'PEOPLE', cell: ({ people }) => people, align: 'right' },
  { title: 'DESCRIPTION', cell: ({ description }) => description },
];

const listTeams: Action<object, [string]> = async (cli, _options, org) => {
  const { organisations } = await cli.openModules();
  const { name } = await organisations.find(org);
  const teams = await organisations.teams.list(localAdministrator, name);
  cli.output.list(teams, columns, ['team', 'teams'], (team) => ({ ...toJson(name, team), people: team.people }));
};

const showTeam: Action<object, [string]> = async (cli, _options, text) => {
  const { organisations, repositories } = await cli.openModules();
  const at = addressIn(text);
  const { team, organisation } = await organisations.teams.find(localAdministrator, at);
  const people = (await organisations.teams.members(localAdministrator, at)).map(({ person }) => nameOf(person));
  const owned = await repositories.teams.listOfTeam(localAdministrator, at);
  const roles = owned.map(({ repository, role }) => ({ repository: `${organisation.name}/${repository.name}`, role }));
  cli.output.show(
    [
      ['Team', `${organisation.name}/${team.name}`],
      ['Id', team.id],
      ['Description', team.description],
      ['Usual role', team.role],
      ['Created', never(team.createdAt)],
      ...people.map((person) => ['Person', person] as const),
      ...roles.map(({ repository, role }) => ['Repository', `${repository} (${role})`] as const),
    ],
    { ...toJson(organisation.name, team), people, repositories: roles },
  );
};

const addTeam: Action<TeamOptions, [string]> = async (cli, { description, role }, text) => {
  const { organisations } = await cli.openModules();
  const { organisation, name } = addressIn(text);
  const team = await organisations.teams.create(localAdministrator, organisation, { name, description, role });
  cli.output.result(`Created the team ${organisation}/${team.name}.`, toJson(organisation, team));
};

const editTeam: Action<TeamOptions, [string]> = async (cli, { description, role, rename }, text) => {
  const { organisations } = await cli.openModules();
  const at = addressIn(text);
  const team = await organisations.teams.edit(localAdministrator, at, { description, role, name: rename });
  cli.output.result(`Changed ${at.organisation}/${team.name}.`, toJson(at.organisation, team));
};

const deleteTeam: Action<{ dryRun?: true }, [string]> = async (cli, { dryRun }, text) => {
  const { organisations } = await cli.openModules();
  const at = addressIn(text);
  const { team, organisation } = await organisations.teams.find(localAdministrator, at);
  const name = `${organisation.name}/${team.name}`;
  if (dryRun) return cli.output.result(`Would delete the team ${name}.`, toJson(organisation.name, team));
  await cli.confirm(`Delete the team ${name} and the access that it grants? This cannot be undone.`);
  await organisations.teams.delete(localAdministrator, at);
  cli.output.result(`Deleted the team ${name}.`, toJson(organisation.name, team));
};

const memberColumns: Column<TeamMember>[] = [
  { title: 'USERNAME', cell: ({ person }) => nameOf(person), whole: true },
  { title: 'SINCE', cell: ({ since }) => never(since) },
];

const listMembers: Action<object, [string]> = async (cli, _options, text) => {
  const { organisations } = await cli.openModules();
  const people = await organisations.teams.members(localAdministrator, addressIn(text));
  cli.output.list(people, memberColumns, ['person', 'people'], ({ person, since }) => ({
    username: person.username,
    since: isoOrNull(since),
  }));
};

const addMember: Action<object, [string, string]> = async (cli, _options, text, username) => {
  const { organisations } = await cli.openModules();
  await organisations.teams.addMember(localAdministrator, addressIn(text), username);
  cli.output.result(`${username} is now in the team ${text}.`, { team: text, username });
};

const removeMember: Action<object, [string, string]> = async (cli, _options, text, username) => {
  const { organisations } = await cli.openModules();
  await organisations.teams.removeMember(localAdministrator, addressIn(text), username);
  cli.output.result(`Removed ${username} from the team ${text}.`, { team: text, username });
};

const repositoryColumns: Column<TeamRepository>[] = [
  { title: 'REPOSITORY', cell: ({ repository }) => `${repository.owner.handle}/${repository.name}`, whole: true },
  { title: 'ROLE', cell: ({ role }) => role },
];

const listRepositories: Action<object, [string]> = async (cli, _options, text) => {
  const { repositories } = await cli.openModules();
  const rows = await repositories.teams.listOfTeam(localAdministrator, addressIn(text));
  cli.output.list(rows, repositoryColumns, ['repository', 'repositories'], ({ repository, role }) => ({
    repository: `${repository.owner.handle}/${repository.name}`,
    role,
  }));
};

const setRepository: Action<{ role?: string }, [string, string]> = async (cli, { role }, text, at) => {
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, at)).canonical;
  const team = addressIn(text);
  await modules.repositories.teams.setRole(localAdministrator, team, { owner, name }, role ?? null);
  const set = (await modules.repositories.teams.listOfTeam(localAdministrator, team)).find(
    ({ repository }) => repository.name === name,
  );
  cli.output.result(`The team ${text} now has the role ${set?.role} in ${owner}/${name}.`, {
    team: text,
    repository: `${owner}/${name}`,
    role: set?.role,
  });
};

const removeRepository: Action<object, [string, string]> = async (cli, _options, text, at) => {
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, at)).canonical;
  await modules.repositories.teams.removeRole(localAdministrator, addressIn(text), { owner, name });
  cli.output.result(`${text} no longer has a role in ${owner}/${name}.`, {
    team: text,
    repository: `${owner}/${name}`,
  });
};
