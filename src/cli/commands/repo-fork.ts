import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import type { Action, Run } from '../action.ts';
import { cloneAddresses } from '../serving/addresses.ts';
import { withExamples } from '../help.ts';
import { findRepository } from './find-repository.ts';
import { repositoryToJson } from './repository-output.ts';

/** `hearth repo fork|sync`: creates forks and updates them. */
export function addRepoForkCommands(repo: Command, run: Run): void {
  withExamples(
    repo
      .command('fork')
      .description('fork a repository; the fork shares its storage')
      .argument('<owner/name>', 'repository')
      .argument('<owner>', 'user or organisation that will own the fork')
      .option('--name <name>', 'name of the fork (default: the same name)')
      .option('--description <text>', 'one-line description (default: the same description)')
      .option('--default-branch-only', 'do not copy other branches and tags')
      .action(run(forkRepository)),
    'hearth repo fork alice/garden bob',
    'hearth repo fork alice/garden acme --name park --default-branch-only',
  );
  withExamples(
    repo
      .command('sync')
      .description("fast-forward a fork's branch to its source")
      .argument('<owner/name>', 'fork')
      .option('--branch <name>', 'branch (default: the default branch)')
      .option('--merge', 'merge new commits if the branch has commits of its own')
      .action(run(syncFork)),
    'hearth repo sync bob/garden',
    'hearth repo sync bob/garden --merge',
  );
}

interface ForkOptions {
  name?: string;
  description?: string;
  defaultBranchOnly?: true;
}

const forkRepository: Action<ForkOptions, [string, string]> = async (
  cli,
  { name, description, defaultBranchOnly },
  text,
  owner,
) => {
  const modules = await cli.openModules();
  const { canonical: from } = await findRepository(modules, text);
  const fork = await modules.repositories.forks.create(localAdministrator, from.owner, from.name, {
    owner,
    name,
    description,
    defaultBranchOnly,
  });
  const { canonical } = await findRepository(modules, `${owner}/${fork.name}`);
  const clone = cloneAddresses(modules.config, canonical);
  cli.output.result(
    `Forked ${from.owner}/${from.name} to ${canonical.owner}/${canonical.name}. Clone it with: git clone ${clone.http}`,
    {
      ...repositoryToJson(fork, canonical.owner),
      forkedFrom: `${from.owner}/${from.name}`,
      sharedBytes: fork.sharedBytes,
      cloneHttp: clone.http,
      cloneSsh: clone.ssh,
    },
  );
};

const syncFork: Action<{ branch?: string; merge?: true }, [string]> = async (cli, { branch, merge }, text) => {
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, text)).canonical;
  const synced = await modules.repositories.forks.sync(localAdministrator, owner, name, { branch, merge });
  const source = `${synced.source.owner}/${synced.source.name}`;
  const line =
    synced.oldId === synced.newId
      ? `${synced.branch} of ${owner}/${name} is already up to date with ${source}.`
      : synced.isMerge
        ? `Merged ${source} into ${synced.branch} of ${owner}/${name}: ${synced.newId.slice(0, 10)}.`
        : `Updated ${synced.branch} of ${owner}/${name} to ${synced.newId.slice(0, 10)}, as in ${source}.`;
  cli.output.result(line, { owner, name, source, branch: synced.branch, oldId: synced.oldId, newId: synced.newId });
};
