import { Option } from 'commander';
import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import type { Rooms } from '../../app.ts';
import { conflict, isDomainError, notFound } from '../../kernel/index.ts';
import type { Found, ListedRepository, Repository } from '../../repositories/index.ts';
import { cloneAddresses } from '../addresses.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../output.ts';
import type { Column } from '../output.ts';
import type { Run } from '../action.ts';
import { findRepository, splitName } from './find-repository.ts';
import { addCollaboratorCommands } from './repo-collaborator.ts';
import { addRepoCareCommands } from './repo-care.ts';
import { addRepoMirrorCommands } from './repo-mirror.ts';
import { addRepoUndoCommand } from './repo-undo.ts';
import { addRepoLifeCommands } from './repo-life.ts';

interface ListOptions {
  owner?: string;
  visibility?: string;
  sort: 'name' | 'size' | 'updated';
  deleted?: true;
}

interface AddOptions {
  public?: true;
  description?: string;
  defaultBranch?: string;
  ifMissing?: true;
}

/** `hearth repo …`: repositories. */
export function addRepoCommands(program: Command, run: Run): void {
  const repo = addNoun(program, 'repo', 'repositories');
  withExamples(
    repo.command('list').description('list repositories')
      .option('--owner <name>', 'only those of one person or organisation')
      .addOption(new Option('--visibility <kind>', 'only these').choices(['public', 'private']))
      .addOption(new Option('--sort <by>', 'order').choices(['name', 'size', 'updated']).default('name'))
      .option('--deleted', 'those that can be restored')
      .action(run(listRepositories)),
    'hearth repo list --owner alice',
    'hearth repo list --sort size --json',
  );
  withExamples(
    repo.command('show').description('show one repository')
      .argument('<owner/name>', 'repository')
      .action(run(showRepository)),
    'hearth repo show alice/garden',
  );
  withExamples(
    repo.command('add').alias('create').description('make an empty repository')
      .argument('<owner/name>', 'repository')
      .option('--public', 'everybody may read it (else it is private)')
      .option('--description <text>', 'one line about it')
      .option('--default-branch <name>', 'branch that is shown first (else main)')
      .option('--if-missing', 'do nothing when the repository is there already')
      .action(run(addRepository)),
    'hearth repo add alice/garden --public --description "Plants and plans"',
  );
  withExamples(
    repo.command('delete').alias('remove').description('delete a repository; it can be restored for a while')
      .argument('<owner/name>', 'repository')
      .option('--dry-run', 'only say what would be deleted')
      .action(run(deleteRepository)),
    'hearth repo delete alice/garden',
  );
  withExamples(
    repo.command('restore').description('bring a deleted repository back')
      .argument('<owner/name>', 'repository, or its id')
      .option('--as <name>', 'under another name, when the old one is in use again')
      .option('--dry-run', 'only say what would be restored')
      .action(run(restoreRepository)),
    'hearth repo list --deleted',
    'hearth repo restore alice/garden',
  );
  addRepoLifeCommands(repo, run);
  addRepoCareCommands(repo, run);
  addRepoUndoCommand(repo, run);
  addRepoMirrorCommands(repo, run);
  addCollaboratorCommands(repo, run);
}

const fullName = (row: ListedRepository): string => `${row.owner.handle}/${row.name}`;

const columnsWith = (states: States): Column<ListedRepository>[] => [
  { title: 'OWNER/NAME', cell: fullName, whole: true },
  { title: 'VISIBILITY', cell: (row) => row.visibility.toLowerCase() },
  { title: 'SIZE', cell: (row) => ({ bytes: row.sizeBytes }), align: 'right' },
  { title: 'UPDATED', cell: (row) => never(row.updatedAt) },
  { title: 'STATE', cell: (row) => stateOf(row, states) },
];

/** By repository; filled once for a command. */
type States = ReadonlyMap<string, 'mirror' | 'failing'>;

async function mirrorStates({ mirrors }: Rooms): Promise<States> {
  const rows = (await mirrors.list()).filter(({ direction, failures }) => direction === 'pull' || failures > 0);
  return new Map(rows.map(({ repositoryId, failures }) => [repositoryId, failures > 0 ? 'failing' : 'mirror']));
}

function stateOf(row: Repository, states: States = new Map()): string {
  if (row.deletedAt !== null) return 'deleted';
  return row.archivedAt === null ? states.get(row.id) ?? 'ok' : 'archived';
}

function toJson(row: Repository, owner: string, states?: States): object {
  return {
    id: row.id,
    owner,
    name: row.name,
    description: row.description,
    visibility: row.visibility,
    defaultBranch: row.defaultBranch,
    sizeBytes: row.sizeBytes,
    state: stateOf(row, states),
    createdAt: isoOrNull(row.createdAt),
    updatedAt: isoOrNull(row.updatedAt),
    pushedAt: isoOrNull(row.pushedAt),
    deletedAt: isoOrNull(row.deletedAt),
  };
}

const orders: Record<ListOptions['sort'], (a: ListedRepository, b: ListedRepository) => number> = {
  // As the room lists them.
  name: () => 0,
  size: (a, b) => b.sizeBytes - a.sizeBytes,
  updated: (a, b) => b.updatedAt - a.updatedAt,
};

async function listRepositories(cli: Cli, { owner, visibility, sort, deleted }: ListOptions): Promise<void> {
  const rooms = await cli.openRooms();
  const ownerId = owner === undefined ? null : await ownerIdOf(rooms, owner);
  const rows = (deleted ? await rooms.repositories.listTrash() : await rooms.repositories.listAll())
    .filter((row) => ownerId === null || row.owner.id === ownerId)
    .filter((row) => visibility === undefined || row.visibility === visibility.toUpperCase())
    .sort(orders[sort]);
  const keepMs = rooms.config.repositories.trashKeepMs;
  const states = await mirrorStates(rooms);
  const columns = columnsWith(states);
  const trashColumns: Column<ListedRepository>[] = [
    columns[0]!,
    { title: 'DELETED', cell: (row) => never(row.deletedAt) },
    columns[2]!,
    { title: 'GOES ON', cell: (row) => goesOn(row, keepMs) },
    { title: 'ID', cell: (row) => ({ id: row.id }) },
  ];
  cli.output.list(rows, deleted ? trashColumns : columns, ['repository', 'repositories'], (row) => toJson(row, row.owner.handle, states));
}

async function ownerIdOf({ owners }: Rooms, handle: string): Promise<string> {
  const owner = await owners.resolve(handle);
  if (owner === null) throw notFound('owner_not_found', `There is no person or organisation ${handle}.`);
  return owner.id;
}

/** The day on which a deleted repository is gone for good. */
function goesOn(row: Repository, keepMs: number): string {
  return isoOrNull((row.deletedAt ?? 0) + keepMs)!.slice(0, 10);
}

async function showRepository(cli: Cli, _options: object, text: string): Promise<void> {
  const rooms = await cli.openRooms();
  const { repository, canonical, path } = await findRepository(rooms, text);
  const refs = [...(await rooms.git.refs(path)).keys()];
  const count = (prefix: string): number => refs.filter((ref) => ref.startsWith(prefix)).length;
  const states = await mirrorStates(rooms);
  const clone = cloneAddresses(rooms.config, canonical);
  const facts = { branches: count('refs/heads/'), tags: count('refs/tags/'), path, cloneHttp: clone.http, cloneSsh: clone.ssh };
  cli.output.show(
    [
      ['Repository', `${canonical.owner}/${canonical.name}`],
      ['Id', repository.id],
      ['Description', repository.description],
      ['Visibility', repository.visibility.toLowerCase()],
      ['State', stateOf(repository, states)],
      ['Default branch', repository.defaultBranch],
      ['Branches', facts.branches],
      ['Tags', facts.tags],
      ['Size', { bytes: repository.sizeBytes }],
      ['Created', never(repository.createdAt)],
      ['Last push', never(repository.pushedAt)],
      ['Folder', path],
      ['Clone (HTTP)', clone.http],
      ...(clone.ssh === null ? [] : [['Clone (SSH)', clone.ssh] as const]),
    ],
    { ...toJson(repository, canonical.owner, states), ...facts },
  );
}

async function addRepository(cli: Cli, options: AddOptions, text: string): Promise<void> {
  const { owner, name } = splitName(text);
  const rooms = await cli.openRooms();
  const visibility = options.public ? 'PUBLIC' : 'PRIVATE';
  if (options.ifMissing) {
    const found = await findRepository(rooms, text).catch((error: unknown) => {
      if (isDomainError(error) && error.code === 'not_found') return null;
      throw error;
    });
    if (found !== null) return acceptExisting(cli, found, visibility);
  }
  const { description, defaultBranch } = options;
  const repository = await rooms.repositories.create(localAdministrator, { owner, name, visibility, description, defaultBranch });
  const { canonical } = await findRepository(rooms, text);
  const clone = cloneAddresses(rooms.config, canonical);
  cli.output.result(
    `Created ${visibility.toLowerCase()} repository ${canonical.owner}/${canonical.name}. Clone it with: git clone ${clone.http}`,
    { ...toJson(repository, canonical.owner), cloneHttp: clone.http, cloneSsh: clone.ssh },
  );
}

function acceptExisting(cli: Cli, { repository, canonical }: Found, visibility: string): void {
  const name = `${canonical.owner}/${canonical.name}`;
  if (repository.visibility !== visibility) {
    throw conflict('exists_differently', `Repository ${name} exists, but is ${repository.visibility.toLowerCase()}.`);
  }
  cli.output.result(`Repository ${name} exists already.`, toJson(repository, canonical.owner));
}

async function deleteRepository(cli: Cli, { dryRun }: { dryRun?: true }, text: string): Promise<void> {
  const rooms = await cli.openRooms();
  const { repository, canonical } = await findRepository(rooms, text);
  const name = `${canonical.owner}/${canonical.name}`;
  if (dryRun) return cli.output.result(`Would delete ${name}.`, toJson(repository, canonical.owner));
  await cli.confirm(`Delete ${name}?`);
  const deleted = await rooms.repositories.moveToTrash(localAdministrator, canonical.owner, canonical.name);
  const until = goesOn(deleted, rooms.config.repositories.trashKeepMs);
  cli.output.result(`Deleted ${name}. Until ${until} it can be brought back: hearth repo restore ${name}`, toJson(deleted, canonical.owner));
}

async function restoreRepository(cli: Cli, { as, dryRun }: { as?: string; dryRun?: true }, text: string): Promise<void> {
  const rooms = await cli.openRooms();
  const row = inTrash(await rooms.repositories.listTrash(), text);
  const name = `${row.owner.handle}/${as ?? row.name}`;
  if (dryRun) return cli.output.result(`Would restore ${name}.`, toJson(row, row.owner.handle));
  const restored = await rooms.repositories.restore(localAdministrator, row.id, as);
  cli.output.result(`Restored ${name}.`, toJson(restored, row.owner.handle));
}

/** By id, or by name; of several with one name the one that was deleted last. */
function inTrash(rows: readonly ListedRepository[], text: string): ListedRepository {
  const wanted = text.replace(/\.git$/, '').toLowerCase();
  const found = rows.find((row) => row.id === text || fullName(row).toLowerCase() === wanted);
  if (found === undefined) throw notFound('not_in_trash', `No deleted repository ${text} can be restored.`);
  return found;
}
