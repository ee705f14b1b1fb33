import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import { conflict, invalid, nullIfNotFound } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import { findRepository } from './find-repository.ts';

/** `hearth repo edit|rename|transfer|archive`: changes of a repository. */
export function addRepoLifecycleCommands(repo: Command, run: Run): void {
  withExamples(
    repo
      .command('edit')
      .description('change description, visibility or default branch')
      .argument('<owner/name>', 'repository')
      .option('--description <text>', 'one-line description')
      .option('--default-branch <name>', 'default branch')
      .option('--public', 'make it public')
      .option('--private', 'make it private')
      .option('--protect', 'refuse force pushes to the default branch')
      .option('--no-protect', 'allow force pushes to the default branch')
      .option('--gerrit-refs', 'accept pushes to refs/changes/ and refs/meta/')
      .option('--no-gerrit-refs', 'refuse pushes to refs/changes/ and refs/meta/')
      .option('--template', 'make it a template repository')
      .option('--no-template', 'stop using it as a template repository')
      .action(run(editRepository)),
    'hearth repo edit alice/garden --public',
  );
  withExamples(
    repo
      .command('rename')
      .description('rename a repository; the old path redirects')
      .argument('<owner/name>', 'repository')
      .argument('<name>', 'new name')
      .option('--dry-run', 'only show what would change')
      .action(run(renameRepository)),
    'hearth repo rename alice/garden orchard',
  );
  withExamples(
    repo
      .command('transfer')
      .description('transfer a repository to another owner; the old path redirects')
      .argument('<owner/name>', 'repository')
      .argument('<owner>', 'user or organisation')
      .option('--dry-run', 'only show what would change')
      .action(run(transferRepository)),
    'hearth repo transfer alice/garden acme',
  );
  withExamples(
    repo
      .command('archive')
      .description('make a repository read-only')
      .argument('<owner/name>', 'repository')
      .option('--undo', 'make an archived repository writable again')
      .action(run(archiveRepository)),
    'hearth repo archive alice/garden',
    'hearth repo archive alice/garden --undo',
  );
}

interface EditOptions {
  description?: string;
  defaultBranch?: string;
  public?: true;
  private?: true;
  protect?: boolean;
  gerritRefs?: boolean;
  template?: boolean;
}

const editRepository: Action<EditOptions, [string]> = async (cli, options, text) => {
  if (options.public && options.private) throw invalid('usage', 'Use only one of --public and --private.');
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, text)).canonical;
  await modules.repositories.edit(localAdministrator, owner, name, {
    ...(options.description === undefined ? {} : { description: options.description }),
    ...(options.defaultBranch === undefined ? {} : { defaultBranch: options.defaultBranch }),
    ...(options.protect === undefined ? {} : { defaultBranchProtected: options.protect }),
    ...(options.template === undefined ? {} : { isTemplate: options.template }),
    ...(options.gerritRefs === undefined ? {} : { acceptsGerritRefs: options.gerritRefs }),
  });
  const visibility = options.public ? 'PUBLIC' : options.private ? 'PRIVATE' : null;
  if (visibility !== null) await modules.repositories.changeVisibility(localAdministrator, owner, name, visibility);
  const { repository } = await findRepository(modules, text);
  const { description, defaultBranch, acceptsGerritRefs, isTemplate } = repository;
  const isProtected = await modules.repositories.rules.protectedDefaults([repository]);
  cli.output.result(`Changed ${owner}/${name}.`, {
    owner,
    name,
    description,
    visibility: repository.visibility,
    defaultBranch,
    defaultBranchProtected: isProtected.has(repository.id),
    acceptsGerritRefs,
    isTemplate,
  });
};

interface DryRunOption {
  dryRun?: true;
}

const renameRepository: Action<DryRunOption, [string, string]> = async (cli, { dryRun }, text, newName) => {
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, text)).canonical;
  if (dryRun) {
    const other = await modules.repositories.find(localAdministrator, owner, newName).catch(nullIfNotFound);
    if (other !== null && other.repository.id !== (await findRepository(modules, text)).repository.id)
      throw conflict('repository_name_taken', `${owner} already has a repository named ${newName}.`);
    return cli.output.result(`Would rename ${owner}/${name} to ${owner}/${newName}. The old path would redirect.`, {
      owner,
      name: newName,
      before: `${owner}/${name}`,
    });
  }
  const to = await modules.repositories.rename(localAdministrator, owner, name, newName);
  cli.output.result(
    `Renamed ${owner}/${name} to ${to.owner}/${to.name}. The old path redirects until another repository uses it.`,
    {
      ...to,
      before: `${owner}/${name}`,
    },
  );
};

const transferRepository: Action<DryRunOption, [string, string]> = async (cli, { dryRun }, text, newOwner) => {
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, text)).canonical;
  if (dryRun) {
    const to = await modules.owners.resolve(newOwner);
    if (to === null) throw invalid('no_such_owner', 'This owner does not exist.');
    if ((await modules.repositories.find(localAdministrator, to.handle, name).catch(nullIfNotFound)) !== null)
      throw conflict('repository_name_taken', `${to.handle} already has a repository named ${name}.`);
    return cli.output.result(`Would transfer ${owner}/${name} to ${to.handle}/${name}. The old path would redirect.`, {
      owner: to.handle,
      name,
      before: `${owner}/${name}`,
    });
  }
  await modules.repositories.transfers.start(localAdministrator, owner, name, newOwner);
  const { canonical: to } = await findRepository(modules, `${newOwner}/${name}`);
  cli.output.result(
    `Transferred ${owner}/${name} to ${to.owner}/${to.name}. The old path redirects until another repository uses it.`,
    {
      ...to,
      before: `${owner}/${name}`,
    },
  );
};

const archiveRepository: Action<{ undo?: true }, [string]> = async (cli, { undo }, text) => {
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, text)).canonical;
  await modules.repositories.setArchived(localAdministrator, owner, name, !undo);
  const line = undo ? `${owner}/${name} accepts pushes again.` : `Archived ${owner}/${name}. It is now read-only.`;
  cli.output.result(line, { owner, name, state: undo ? 'ok' : 'archived' });
};
