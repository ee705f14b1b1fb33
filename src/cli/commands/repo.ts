import { Option } from 'commander';
import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import type { ListedRepository } from '../../repositories/index.ts';
import { cloneAddresses } from '../serving/addresses.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import type { Run } from '../action.ts';
import { findOwner } from './find-owner.ts';
import { findRepository } from './find-repository.ts';
import { addRepoAdoptCommand } from './export-import.ts';
import { addRepoAddCommand } from './repo-add.ts';
import { addRepoForkCommands } from './repo-fork.ts';
import { addDeployKeyCommands } from './repo-deploy-key.ts';
import { addCollaboratorCommands } from './repo-collaborator.ts';
import { addRuleCommands } from './repo-rule.ts';
import { addRepoMaintenanceCommands } from './repo-maintenance.ts';
import { addRepoStorageCommand } from './repo-storage.ts';
import { addRepoWarmCommand } from './repo-warm.ts';
import { addRepoMirrorCommands } from './repo-mirror.ts';
import { addRepoUndoCommand } from './repo-undo.ts';
import { addRepoLifecycleCommands } from './repo-lifecycle.ts';
import { addRepoTrashCommands } from './repo-trash.ts';
import { columnsWith, goesOn, mirrorStates, repositoryToJson, stateOf } from './repository-output.ts';

interface ListOptions {
  owner?: string;
  visibility?: string;
  sort: 'name' | 'size' | 'updated';
  deleted?: true;
}

/** `hearth repo …`: repositories. */
export function addRepoCommands(program: Command, run: Run): void {
  const repo = addNoun(program, 'repo', 'repositories');
  withExamples(
    repo
      .command('list')
      .description('list repositories')
      .option('--owner <name>', 'filter by owner')
      .addOption(
        new Option('--visibility <kind>', 'only repositories with this visibility').choices(['public', 'private']),
      )
      .addOption(new Option('--sort <by>', 'order').choices(['name', 'size', 'updated']).default('name'))
      .option('--deleted', 'list deleted repositories')
      .action(run(listRepositories)),
    'hearth repo list --owner alice',
    'hearth repo list --sort size --json',
  );
  withExamples(
    repo
      .command('show')
      .description('show a repository')
      .argument('<owner/name>', 'repository')
      .action(run(showRepository)),
    'hearth repo show alice/garden',
  );
  addRepoAddCommand(repo, run);
  addRepoForkCommands(repo, run);
  addRepoTrashCommands(repo, run);
  addRepoStorageCommand(repo, run);
  addRepoWarmCommand(repo, run);
  addRepoLifecycleCommands(repo, run);
  addRepoMaintenanceCommands(repo, run);
  addRepoUndoCommand(repo, run);
  addRepoAdoptCommand(repo, run);
  addRepoMirrorCommands(repo, run);
  addCollaboratorCommands(repo, run);
  addDeployKeyCommands(repo, run);
  addRuleCommands(repo, run);
}

const orders: Record<ListOptions['sort'], (a: ListedRepository, b: ListedRepository) => number> = {
  // In the order of the module's list.
  name: () => 0,
  size: (a, b) => b.sizeBytes - a.sizeBytes,
  updated: (a, b) => b.updatedAt - a.updatedAt,
};

async function listRepositories(cli: Cli, { owner, visibility, sort, deleted }: ListOptions): Promise<void> {
  const modules = await cli.openModules();
  const ownerId = owner === undefined ? null : (await findOwner(modules, owner)).id;
  const rows = (deleted ? await modules.repositories.trash.list() : await modules.repositories.listAll())
    .filter((row) => ownerId === null || row.owner.id === ownerId)
    .filter((row) => visibility === undefined || row.visibility === visibility.toUpperCase())
    .sort(orders[sort]);
  const keepMs = modules.config.repositories.trashKeepMs;
  const states = await mirrorStates(modules);
  const columns = columnsWith(states);
  const trashColumns: Column<ListedRepository>[] = [
    columns[0]!,
    { title: 'DELETED', cell: (row) => never(row.deletedAt) },
    columns[2]!,
    { title: 'GOES ON', cell: (row) => goesOn(row, keepMs) },
    { title: 'ID', cell: (row) => ({ id: row.id }) },
  ];
  cli.output.list(rows, deleted ? trashColumns : columns, ['repository', 'repositories'], (row) =>
    repositoryToJson(row, row.owner.handle, states),
  );
}

async function showRepository(cli: Cli, _options: object, text: string): Promise<void> {
  const modules = await cli.openModules();
  const { repository, canonical, path } = await findRepository(modules, text);
  const refs = [...(await modules.git.refs.list(path)).keys()];
  const count = (prefix: string): number => refs.filter((ref) => ref.startsWith(prefix)).length;
  const [states, mirror, followers, redirects, sources] = await Promise.all([
    mirrorStates(modules),
    modules.mirrors.find(repository.id),
    modules.federation.countFollowers({ repositoryId: repository.id }),
    modules.repositories.listFormerPaths(repository),
    modules.repositories.forks.sourcesOf(localAdministrator, [repository]),
  ]);
  const source = sources.get(repository.id);
  const clone = cloneAddresses(modules.config, canonical);
  const facts = {
    branches: count('refs/heads/'),
    tags: count('refs/tags/'),
    path,
    followers,
    redirects,
    forkedFrom: source === undefined ? null : `${source.owner.handle}/${source.repository.name}`,
    forks: Number(repository.forkCount),
    sharedBytes: repository.sharedBytes,
    mirror: mirror === null ? null : { direction: mirror.direction, address: mirror.url, state: mirror.state },
    cloneHttp: clone.http,
    cloneSsh: clone.ssh,
  };
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
      ...(repository.sharedBytes === 0 ? [] : [['Shared with forks', { bytes: repository.sharedBytes }] as const]),
      ...(facts.forkedFrom === null ? [] : [['Forked from', facts.forkedFrom] as const]),
      ['Public forks', facts.forks],
      ['Created', never(repository.createdAt)],
      ['Last push', never(repository.pushedAt)],
      ['Followers elsewhere', followers],
      ...(mirror === null ? [] : [['Mirror', `${mirror.direction} ${mirror.url}, ${mirror.state}`] as const]),
      ...(redirects.length === 0 ? [] : [['Also found at', redirects.join(', ')] as const]),
      ['Folder', path],
      ['Clone (HTTP)', clone.http],
      ...(clone.ssh === null ? [] : [['Clone (SSH)', clone.ssh] as const]),
    ],
    { ...repositoryToJson(repository, canonical.owner, states), ...facts },
  );
}
