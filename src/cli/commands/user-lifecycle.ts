import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { withHint } from '../report-error.ts';
import { findPerson, nameOf } from './find-person.ts';
import { personToJson, rowsOf } from './person-output.ts';

/** `hearth user edit|disable|enable|admin|rename|delete`: changes of an account. */
export function addUserLifecycleCommands(user: Command, run: Run): void {
  withExamples(
    user
      .command('edit')
      .description("edit a user's profile")
      .argument('<name>', 'username')
      .option('--display-name <text>', 'name shown beside the username')
      .option('--bio <text>', 'short biography')
      .option('--website <url>', 'https URL; empty for none')
      .action(run(editUser)),
    'hearth user edit alice --display-name "Alice Arden"',
  );
  withExamples(
    user
      .command('disable')
      .description('disable an account immediately; its keys and tokens stop working')
      .argument('<name>', 'username')
      .action(run((cli, _options: object, name: string) => setDisabled(cli, name, true))),
    'hearth user disable bob',
  );
  withExamples(
    user
      .command('enable')
      .description('enable a disabled account')
      .argument('<name>', 'username')
      .action(run((cli, _options: object, name: string) => setDisabled(cli, name, false))),
    'hearth user enable bob',
  );
  withExamples(
    user
      .command('admin')
      .description('make a user an administrator, or revoke administrator rights')
      .argument('<name>', 'username')
      .argument('<on|off>', 'on or off')
      .action(run(setAdministrator)),
    'hearth user admin alice on',
  );
  withExamples(
    user
      .command('rename')
      .description('change a username; the old name stays reserved and redirects')
      .argument('<name>', 'username')
      .argument('<new-name>', 'new username')
      .option('--dry-run', 'only show what would change')
      .action(run(renameUser)),
    'hearth user rename bob robert',
    'hearth user rename bob robert --dry-run',
  );
  withExamples(
    user
      .command('delete')
      .alias('remove')
      .description('delete the account of a user who owns no repositories')
      .argument('<name>', 'username or user id')
      .option('--purge', "also permanently delete all of the user's repositories")
      .option('--confirm <name>', 'with --purge: confirm by entering the username instead of answering a prompt')
      .option('--dry-run', 'only show what would be deleted')
      .action(run(deleteUser)),
    'hearth user delete bob',
    'hearth user delete bob --purge --dry-run',
    'hearth user delete bob --purge --confirm bob',
  );
}

interface DryRunOption {
  dryRun?: true;
}

async function renameUser(cli: Cli, { dryRun }: DryRunOption, name: string, newName: string): Promise<void> {
  const modules = await cli.openModules();
  const { accounts, federation } = modules;
  const before = await findPerson(modules, name);
  const remoteFollowers = await federation.countFollowers({ owner: { kind: 'user', id: before.id } });
  const stay =
    remoteFollowers === 0 ? '' : ` ${remoteFollowers} followers on other servers will continue to see the old name.`;
  if (dryRun)
    return cli.output.result(`Would rename ${before.username} to ${newName}.${stay}`, {
      id: before.id,
      username: before.username,
      remoteFollowers,
    });
  if (remoteFollowers > 0) await cli.confirm(`Rename ${before.username}?${stay}`);
  const person = await accounts.renamePerson(before.id, newName);
  const line = `Renamed ${before.username} to ${person.username}. The old name stays reserved and redirects.${stay}`;
  cli.output.result(line, {
    id: person.id,
    username: person.username,
    previousUsername: before.username,
    remoteFollowers,
  });
}

interface EditOptions {
  displayName?: string;
  bio?: string;
  website?: string;
}

async function editUser(cli: Cli, { displayName, bio, website }: EditOptions, name: string): Promise<void> {
  const profile = Object.fromEntries(
    Object.entries({ displayName, bio, website }).filter(([, text]) => text !== undefined),
  );
  if (Object.keys(profile).length === 0)
    throw withHint(invalid('usage', 'Specify at least one change.'), 'use --display-name, --bio or --website');
  const modules = await cli.openModules();
  const { id } = await findPerson(modules, name);
  const person = await modules.accounts.updateProfile(id, profile);
  const [row] = await rowsOf(modules, [person]);
  cli.output.result(`Changed ${nameOf(person)}.`, { ...personToJson(row!), bio: person.bio, website: person.website });
}

interface DeleteOptions extends DryRunOption {
  purge?: true;
  confirm?: string;
}

async function deleteUser(cli: Cli, { dryRun, purge, confirm }: DeleteOptions, name: string): Promise<void> {
  if (confirm !== undefined && !purge)
    throw withHint(invalid('usage', '--confirm requires --purge.'), 'to delete without confirmation: --yes');
  const modules = await cli.openModules();
  const person = await findPerson(modules, name);
  const [row] = await rowsOf(modules, [person]);
  const shown = nameOf(person);
  const owned = purge
    ? (await modules.repositories.listAll()).filter(({ ownerUserId }) => ownerUserId === person.id)
    : [];
  const json = { ...personToJson(row!), ...(purge ? { purged: owned.map((each) => `${shown}/${each.name}`) } : {}) };
  const repositories =
    owned.length === 0 ? '' : ` and ${owned.length === 1 ? owned[0]!.name : `${owned.length} repositories`}`;
  if (dryRun) {
    for (const each of owned) cli.output.message(`  ${shown}/${each.name}`);
    return cli.output.result(`Would delete ${shown}${repositories}.`, json);
  }
  if (purge) await cli.confirmName(`Permanently delete ${shown}${repositories}?`, shown, confirm);
  else
    await cli.confirm(
      `Delete the account of ${shown} with its keys, tokens, sessions and memberships? This cannot be undone.`,
    );
  if (purge) {
    // Checks that would refuse the deletion run before any repository is deleted.
    await modules.db.write((tx) => modules.organisations.refuseOnlyOwner(tx, person.id));
    if (person.isAdministrator) await modules.accounts.setAdministrator(person.id, false);
    for (const each of owned) await modules.repositories.trash.move(localAdministrator, each.owner.handle, each.name);
  }
  // Also deletes the user's repositories in the trash.
  await modules.accounts.deletePerson(person.id);
  cli.output.result(`Deleted ${shown}${repositories}. The name stays reserved.`, json);
}

async function setDisabled(cli: Cli, name: string, disabled: boolean): Promise<void> {
  const modules = await cli.openModules();
  const { id } = await findPerson(modules, name);
  const person = await modules.accounts.setDisabled(id, disabled);
  const [row] = await rowsOf(modules, [person]);
  const line = disabled
    ? `Disabled ${name}. All sessions have ended. Keys and tokens no longer work.`
    : `Enabled ${name}.`;
  cli.output.result(line, personToJson(row!));
}

async function setAdministrator(cli: Cli, _options: object, name: string, wanted: string): Promise<void> {
  if (wanted !== 'on' && wanted !== 'off') throw invalid('usage', 'Enter on or off: hearth user admin NAME on.');
  const modules = await cli.openModules();
  const { id } = await findPerson(modules, name);
  const person = await modules.accounts.setAdministrator(id, wanted === 'on');
  const [row] = await rowsOf(modules, [person]);
  cli.output.result(
    wanted === 'on' ? `${name} is now an administrator.` : `${name} is no longer an administrator.`,
    personToJson(row!),
  );
}
