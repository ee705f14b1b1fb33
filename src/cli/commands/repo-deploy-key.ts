import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import type { ListedDeployKey } from '../../repositories/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { findById } from './find-by-id.ts';
import { nameOf } from './find-person.ts';
import { findRepository } from './find-repository.ts';
import { readKeyLine } from './read-key-line.ts';

/** `hearth repo deploy-key …`: SSH keys of one repository. */
export function addDeployKeyCommands(repo: Command, run: Run): void {
  const deployKey = addNoun(repo, 'deploy-key', 'SSH keys with access to a single repository');
  withExamples(
    deployKey
      .command('list')
      .description('list the deploy keys')
      .argument('<owner/name>', 'repository')
      .action(run(listKeys)),
    'hearth repo deploy-key list alice/garden',
  );
  withExamples(
    deployKey
      .command('add')
      .description('add a deploy key; it is read-only unless you use --write')
      .argument('<owner/name>', 'repository')
      .argument('[file]', '.pub file, or - for standard input', '-')
      .option('--title <text>', 'title (default: the comment in the file)')
      .option('--write', 'also allow pushes')
      .action(run(addKey)),
    'hearth repo deploy-key add alice/garden deploy.pub --title web-server',
    'hearth repo deploy-key add alice/garden --write - < robot.pub',
  );
  withExamples(
    deployKey
      .command('remove')
      .alias('delete')
      .description('remove a deploy key; it stops working immediately')
      .argument('<owner/name>', 'repository')
      .argument('<id>', 'key id, its first characters, or the fingerprint')
      .option('--dry-run', 'only show what would be removed')
      .action(run(removeKey)),
    'hearth repo deploy-key remove alice/garden 3f2a91c0',
  );
}

const columns: Column<ListedDeployKey>[] = [
  { title: 'TITLE', cell: ({ title }) => title },
  { title: 'ACCESS', cell: ({ access }) => access },
  { title: 'TYPE', cell: ({ type }) => type },
  { title: 'FINGERPRINT', cell: ({ fingerprint }) => fingerprint, whole: true },
  { title: 'ADDED BY', cell: ({ person }) => (person === null ? '' : nameOf(person)) },
  { title: 'ADDED', cell: ({ createdAt }) => never(createdAt) },
  { title: 'LAST USED', cell: ({ lastUsedAt }) => never(lastUsedAt) },
  { title: 'ID', cell: ({ id }) => ({ id }) },
];

const toJson = (key: Omit<ListedDeployKey, 'person'>, addedBy: string | null): object => ({
  id: key.id,
  title: key.title,
  access: key.access,
  type: key.type,
  fingerprint: key.fingerprint,
  addedBy,
  createdAt: isoOrNull(key.createdAt),
  lastUsedAt: isoOrNull(key.lastUsedAt),
});

const listKeys: Action<object, [string]> = async (cli, _options, text) => {
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, text)).canonical;
  const keys = await modules.repositories.deployKeys.list(localAdministrator, owner, name);
  cli.output.list(keys, columns, ['key', 'keys'], (key) => toJson(key, key.person?.username ?? null));
};

const addKey: Action<{ title?: string; write?: true }, [string, string]> = async (cli, options, text, file) => {
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, text)).canonical;
  const key = await modules.repositories.deployKeys.add(localAdministrator, owner, name, {
    title: options.title,
    line: await readKeyLine(cli, file),
    access: options.write ? 'write' : 'read',
  });
  const note =
    key.worksWithBuiltInServer || modules.config.ssh.systemSshd
      ? ''
      : ' The built-in SSH server cannot use keys of this type.';
  const what = key.access === 'write' ? 'It can push.' : 'It has read access only.';
  cli.output.result(
    `Added the deploy key ${key.title} (${key.fingerprint}) to ${owner}/${name}. ${what}${note}`,
    toJson(key, null),
  );
};

const removeKey: Action<{ dryRun?: true }, [string, string]> = async (cli, { dryRun }, text, id) => {
  const modules = await cli.openModules();
  const { owner, name } = (await findRepository(modules, text)).canonical;
  const keys = await modules.repositories.deployKeys.list(localAdministrator, owner, name);
  const key = findById(keys, id, {
    what: 'deploy key',
    reason: 'unknown_deploy_key',
    alsoBy: (row) => row.fingerprint,
  });
  const what = `the deploy key ${key.title} (${key.fingerprint}) of ${owner}/${name}`;
  const result = toJson(key, key.person?.username ?? null);
  if (dryRun) return cli.output.result(`Would remove ${what}.`, result);
  await cli.confirm(`Remove ${what}?`);
  await modules.repositories.deployKeys.remove(localAdministrator, owner, name, key.id);
  cli.output.result(`Removed ${what}.`, result);
};
