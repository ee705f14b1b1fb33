import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { Collaborator } from '../../repositories/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { nameOf } from './find-person.ts';
import { findRepository } from './find-repository.ts';

/** `hearth repo collaborator …`: users with access besides the owner. */
export function addCollaboratorCommands(repo: Command, run: Run): void {
  const collaborator = addNoun(repo, 'collaborator', 'users with access besides the owner');
  withExamples(
    collaborator
      .command('list')
      .description('list collaborators')
      .argument('<owner/name>', 'repository')
      .action(run(listCollaborators)),
    'hearth repo collaborator list alice/garden',
  );
  withExamples(
    collaborator
      .command('add')
      .description('add a collaborator')
      .argument('<owner/name>', 'repository')
      .argument('<user>', 'username')
      .requiredOption('--role <role>', 'read, write or admin')
      .action(run(addCollaborator)),
    'hearth repo collaborator add alice/garden bob --role write',
  );
  withExamples(
    collaborator
      .command('role')
      .description('change a collaborator’s role')
      .argument('<owner/name>', 'repository')
      .argument('<user>', 'username')
      .argument('<role>', 'read, write or admin')
      .action(run(changeRole)),
    'hearth repo collaborator role alice/garden bob admin',
  );
  withExamples(
    collaborator
      .command('remove')
      .alias('delete')
      .description('remove a collaborator')
      .argument('<owner/name>', 'repository')
      .argument('<user>', 'username')
      .option('--dry-run', 'only show who would be removed')
      .action(run(removeCollaborator)),
    'hearth repo collaborator remove alice/garden bob',
  );
}

const columns: Column<Collaborator>[] = [
  { title: 'USERNAME', cell: ({ person }) => nameOf(person), whole: true },
  { title: 'ROLE', cell: ({ role }) => role },
  { title: 'MAY', cell: ({ access }) => access.level },
  { title: 'BECAUSE', cell: ({ access }) => access.reason ?? '' },
  { title: 'SINCE', cell: ({ since }) => never(since) },
];

const listCollaborators: Action<object, [string]> = async (cli, _options, text) => {
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, text)).canonical;
  const rows = await modules.repositories.collaborators.list(localAdministrator, owner, name);
  cli.output.list(rows, columns, ['collaborator', 'collaborators'], ({ person, role, access, since }) => ({
    username: person.username,
    role,
    level: access.level,
    reason: access.reason,
    since: isoOrNull(since),
  }));
};

const addCollaborator: Action<{ role: string }, [string, string]> = async (cli, { role }, text, username) => {
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, text)).canonical;
  await modules.repositories.collaborators.add(localAdministrator, owner, name, { username, role });
  cli.output.result(`${username} now has the role ${role.toLowerCase()} on ${owner}/${name}.`, {
    owner,
    name,
    username,
    role: role.toLowerCase(),
  });
};

const changeRole: Action<object, [string, string, string]> = async (cli, _options, text, username, role) => {
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, text)).canonical;
  await modules.repositories.collaborators.changeRole(localAdministrator, owner, name, { username, role });
  cli.output.result(`${username} now has the role ${role.toLowerCase()} on ${owner}/${name}.`, {
    owner,
    name,
    username,
    role: role.toLowerCase(),
  });
};

const removeCollaborator: Action<{ dryRun?: true }, [string, string]> = async (cli, { dryRun }, text, username) => {
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, text)).canonical;
  if (dryRun) {
    const isIn = (await modules.repositories.collaborators.list(localAdministrator, owner, name)).some(
      ({ person }) => person.username?.toLowerCase() === username.toLowerCase(),
    );
    if (!isIn) throw notFound('collaborator_not_found', `${username} is not a collaborator of ${owner}/${name}.`);
    return cli.output.result(`Would remove ${username} from ${owner}/${name}.`, { owner, name, username });
  }
  await modules.repositories.collaborators.remove(localAdministrator, owner, name, username);
  cli.output.result(`Removed ${username} from ${owner}/${name}.`, { owner, name, username });
};
