import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import { conflict, isDomainError, nullIfNotFound } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import { cloneAddresses } from '../serving/addresses.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { withHint } from '../report-error.ts';
import type { Run } from '../action.ts';
import { findRepository, splitName } from './find-repository.ts';
import { repositoryToJson } from './repository-output.ts';

interface AddOptions {
  public?: true;
  description?: string;
  defaultBranch?: string;
  readme?: true;
  licence?: string;
  gitignore?: string[];
  template?: string;
  ifMissing?: true;
}

/** `hearth repo add`: an empty repository, or one with initial files. */
export function addRepoAddCommand(repo: Command, run: Run): void {
  withExamples(
    repo
      .command('add')
      .alias('create')
      .description('create a repository')
      .argument('<owner/name>', 'repository')
      .option('--public', 'make it public (default: private)')
      .option('--description <text>', 'one-line description')
      .option('--default-branch <name>', 'default branch (default: main)')
      .option('--readme', 'initialise the repository with a README')
      .option('--licence <name>', 'initialise the repository with a licence: MIT, Apache-2.0, GPL-3.0 …')
      .option(
        '--gitignore <name...>',
        'initialise the repository with a .gitignore: Node, Python, Go, Rust, Java, C/C++',
      )
      .option('--template <owner/name>', 'initialise the repository with the files of a template repository')
      .option('--if-missing', 'succeed if the repository already exists')
      .action(run(addRepository)),
    'hearth repo add alice/garden --public --description "Plants and plans"',
    'hearth repo create alice/garden --readme --licence MIT --gitignore Node',
  );
}

async function addRepository(cli: Cli, options: AddOptions, text: string): Promise<void> {
  const { owner, name } = splitName(text);
  const modules = await cli.openModules();
  const visibility = options.public ? 'PUBLIC' : 'PRIVATE';
  if (options.ifMissing) {
    const found = await findRepository(modules, text).catch(nullIfNotFound);
    if (found !== null) return acceptExisting(cli, found, visibility);
  }
  const { description, defaultBranch, readme, licence, gitignore, template } = options;
  const repository = await modules.repositories
    .create(localAdministrator, {
      owner,
      name,
      visibility,
      description,
      defaultBranch,
      readme,
      licence,
      gitignore,
      template: template === undefined ? undefined : splitName(template),
    })
    .catch((error: unknown) => {
      if (!isDomainError(error) || error.reason !== 'repository_name_taken') throw error;
      throw withHint(error, 'choose another name, or use --if-missing to accept an existing repository');
    });
  const { canonical } = await findRepository(modules, text);
  const clone = cloneAddresses(modules.config, canonical);
  cli.output.result(
    `Created ${visibility.toLowerCase()} repository ${canonical.owner}/${canonical.name}. Clone it with: git clone ${clone.http}`,
    { ...repositoryToJson(repository, canonical.owner), cloneHttp: clone.http, cloneSsh: clone.ssh },
  );
}

function acceptExisting(cli: Cli, { repository, canonical }: Found, visibility: string): void {
  const name = `${canonical.owner}/${canonical.name}`;
  if (repository.visibility !== visibility) {
    throw conflict(
      'exists_differently',
      `Repository ${name} already exists, but is ${repository.visibility.toLowerCase()}.`,
    );
  }
  cli.output.result(`Repository ${name} already exists.`, repositoryToJson(repository, canonical.owner));
}
