import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import { conflict, nullIfNotFound } from '../../kernel/index.ts';
import type { ListedOrganisation, Organisation } from '../../organisations/index.ts';
import type { Action, Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { addMemberCommands } from './org-member.ts';

interface AddOptions {
  owner: string;
  displayName?: string;
  description?: string;
  website?: string;
  ifMissing?: true;
}

interface EditOptions {
  displayName?: string;
  description?: string;
  website?: string;
  rename?: string;
}

/** `hearth org …`: organisations. */
export function addOrgCommands(program: Command, run: Run): void {
  const org = addNoun(program, 'org', 'organisations');
  withExamples(org.command('list').description('list organisations').action(run(listOrganisations)), 'hearth org list');
  withExamples(
    org
      .command('show')
      .description('show an organisation with its owners and repositories')
      .argument('<name>', 'organisation')
      .action(run(showOrganisation)),
    'hearth org show acme',
  );
  withExamples(
    org
      .command('add')
      .alias('create')
      .description('create an organisation')
      .argument('<name>', 'organisation')
      .requiredOption('--owner <user>', 'user who becomes its first owner')
      .option('--display-name <text>', 'name shown beside the handle')
      .option('--description <text>', 'one-line description')
      .option('--website <url>', 'https URL; empty for none')
      .option('--if-missing', 'succeed if the organisation already exists')
      .action(run(addOrganisation)),
    'hearth org create acme --owner alice --display-name "Acme tools"',
  );
  withExamples(
    org
      .command('edit')
      .description("edit an organisation's profile, or rename it")
      .argument('<name>', 'organisation')
      .option('--display-name <text>', 'name shown beside the handle')
      .option('--description <text>', 'one-line description')
      .option('--website <url>', 'https URL; empty for none')
      .option('--rename <name>', 'new name; the old one stays reserved and redirects')
      .action(run(editOrganisation)),
    'hearth org edit acme --description "We make things"',
  );
  withExamples(
    org
      .command('delete')
      .alias('remove')
      .description('delete an organisation that owns no repositories')
      .argument('<name>', 'organisation')
      .option('--dry-run', 'only show what would be deleted')
      .action(run(deleteOrganisation)),
    'hearth org delete acme',
  );
  addMemberCommands(org, run);
}

type Row = ListedOrganisation & { repositories: number };

const columns: Column<Row>[] = [
  { title: 'NAME', cell: (row) => row.name, whole: true },
  { title: 'DISPLAY NAME', cell: (row) => row.displayName },
  { title: 'MEMBERS', cell: (row) => row.members, align: 'right' },
  { title: 'REPOS', cell: (row) => row.repositories, align: 'right' },
  { title: 'CREATED', cell: (row) => never(row.createdAt) },
];

function toJson({ id, name, displayName, description, website, createdAt }: Organisation): Record<string, unknown> {
  return { id, name, displayName, description, website, createdAt: isoOrNull(createdAt) };
}

/** All organisations, from the pages of the module's list. */
async function allOrganisations({ organisations }: Modules): Promise<ListedOrganisation[]> {
  const all: ListedOrganisation[] = [];
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof organisations.list>> = await organisations.list({ limit: 100, after });
    all.push(...page.organisations);
    after = page.next;
  } while (after !== null);
  return all;
}

const listOrganisations: Action<object, []> = async (cli) => {
  const modules = await cli.openModules();
  const repositories = await modules.repositories.listAll();
  const rows = (await allOrganisations(modules)).map(
    (each): Row => ({
      ...each,
      repositories: repositories.filter((row) => row.ownerOrganisationId === each.id).length,
    }),
  );
  cli.output.list(rows, columns, ['organisation', 'organisations'], (row) => ({
    ...toJson(row),
    members: row.members,
    repositories: row.repositories,
  }));
};

const showOrganisation: Action<object, [string]> = async (cli, _options, name) => {
  const modules = await cli.openModules();
  const organisation = await modules.organisations.find(name);
  const members = await modules.organisations.listMembers(localAdministrator, organisation.name);
  const owners = members.filter(({ role }) => role === 'OWNER').map(({ person }) => person.username ?? person.id);
  const repositories = (await modules.repositories.listAll())
    .filter((row) => row.ownerOrganisationId === organisation.id)
    .map((row) => row.name);
  cli.output.show(
    [
      ['Organisation', organisation.name],
      ['Id', organisation.id],
      ['Display name', organisation.displayName],
      ['Description', organisation.description],
      ['Website', organisation.website],
      ['Created', never(organisation.createdAt)],
      ['Members', members.length],
      ...owners.map((owner) => ['Owner', owner] as const),
      ...repositories.map((repository) => ['Repository', `${organisation.name}/${repository}`] as const),
    ],
    { ...toJson(organisation), members: members.length, owners, repositories },
  );
};

const addOrganisation: Action<AddOptions, [string]> = async (cli, options, name) => {
  const modules = await cli.openModules();
  if (options.ifMissing) {
    const existing = await modules.organisations.find(name).catch(nullIfNotFound);
    if (existing !== null) return acceptExisting(cli, modules, existing, options.owner);
  }
  const { owner, displayName = '', description = '', website = '' } = options;
  const organisation = await modules.organisations.create(localAdministrator, {
    name,
    owner,
    displayName,
    description,
    website,
  });
  cli.output.result(
    `Created organisation ${organisation.name} with the owner ${owner} (id ${organisation.id}).`,
    toJson(organisation),
  );
};

async function acceptExisting(
  cli: Cli,
  { organisations }: Modules,
  organisation: Organisation,
  owner: string,
): Promise<void> {
  const members = await organisations.listMembers(localAdministrator, organisation.name);
  const isOwner = members.some(
    ({ person, role }) => role === 'OWNER' && person.username?.toLowerCase() === owner.toLowerCase(),
  );
  if (!isOwner)
    throw conflict(
      'exists_differently',
      `Organisation ${organisation.name} already exists, but ${owner} does not own it.`,
    );
  cli.output.result(`Organisation ${organisation.name} already exists.`, toJson(organisation));
}

const editOrganisation: Action<EditOptions, [string]> = async (
  cli,
  { displayName, description, website, rename },
  name,
) => {
  const modules = await cli.openModules();
  const { organisations } = modules;
  await organisations.edit(localAdministrator, name, {
    ...(displayName === undefined ? {} : { displayName }),
    ...(description === undefined ? {} : { description }),
    ...(website === undefined ? {} : { website }),
  });
  const { name: current } =
    rename === undefined
      ? await organisations.find(name)
      : await organisations.rename(localAdministrator, name, rename);
  const line =
    rename === undefined
      ? `Changed ${current}.`
      : `Renamed ${name} to ${current}. The old name stays reserved and redirects.`;
  cli.output.result(line, toJson(await organisations.find(current)));
};

const deleteOrganisation: Action<{ dryRun?: true }, [string]> = async (cli, { dryRun }, name) => {
  const modules = await cli.openModules();
  const organisation = await modules.organisations.find(name);
  if (dryRun) return cli.output.result(`Would delete ${organisation.name}.`, toJson(organisation));
  await cli.confirm(`Delete the organisation ${organisation.name}? This cannot be undone.`);
  await modules.organisations.delete(localAdministrator, organisation.name);
  cli.output.result(`Deleted ${organisation.name}. Its name stays reserved.`, toJson(organisation));
};
