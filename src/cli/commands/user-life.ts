import type { Command } from 'commander';
import { invalid } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { findPerson } from './find-person.ts';
import { personToJson, rowsOf } from './person-row.ts';

/** `hearth user disable|enable|admin|rename|delete`: what happens to an account in its life. */
export function addUserLifeCommands(user: Command, run: Run): void {
  withExamples(
    user.command('disable').description('shut a person out at once; keys and tokens stop working')
      .argument('<name>', 'user name')
      .action(run((cli, _options: object, name: string) => setDisabled(cli, name, true))),
    'hearth user disable bob',
  );
  withExamples(
    user.command('enable').description('let a disabled person in again')
      .argument('<name>', 'user name')
      .action(run((cli, _options: object, name: string) => setDisabled(cli, name, false))),
    'hearth user enable bob',
  );
  withExamples(
    user.command('admin').description('make a person an administrator, or end it')
      .argument('<name>', 'user name')
      .argument('<on|off>', 'on or off')
      .action(run(setAdministrator)),
    'hearth user admin alice on',
  );
  withExamples(
    user.command('rename').description('give a person another user name; the old one stays reserved and leads on')
      .argument('<name>', 'user name')
      .argument('<new-name>', 'the new one')
      .option('--dry-run', 'only say what would change')
      .action(run(renameUser)),
    'hearth user rename bob robert',
    'hearth user rename bob robert --dry-run',
  );
  withExamples(
    user.command('delete').alias('remove').description('delete the account of a person who owns no repositories')
      .argument('<name>', 'user name, or id')
      .option('--dry-run', 'only say what would be deleted')
      .action(run(deleteUser)),
    'hearth user delete bob',
    'hearth user delete bob --yes',
  );
}

interface Tentative {
  dryRun?: true;
}

async function renameUser(cli: Cli, { dryRun }: Tentative, name: string, newName: string): Promise<void> {
  const rooms = await cli.openRooms();
  const { accounts, federation } = rooms;
  const before = await accounts.personByUsername(name);
  const remoteFollowers = await federation.countFollowers({ ownerId: before.id });
  const stay = remoteFollowers === 0 ? '' : ` ${remoteFollowers} on other servers follow under the old name and go on seeing it.`;
  if (dryRun) return cli.output.result(`Would rename ${before.username} to ${newName}.${stay}`, { id: before.id, username: before.username, remoteFollowers });
  const person = await accounts.renamePerson(before.id, newName);
  const line = `Renamed ${before.username} to ${person.username}. The old name stays reserved and leads on.${stay}`;
  cli.output.result(line, { id: person.id, username: person.username, previousUsername: before.username, remoteFollowers });
}

async function deleteUser(cli: Cli, { dryRun }: Tentative, name: string): Promise<void> {
  const rooms = await cli.openRooms();
  const person = await findPerson(rooms, name);
  const [row] = await rowsOf(rooms, [person]);
  const shown = person.username ?? person.id;
  if (dryRun) return cli.output.result(`Would delete ${shown}.`, personToJson(row!));
  await cli.confirm(`Delete the account of ${shown}, with keys, tokens, sessions and memberships? This cannot be undone.`);
  await rooms.accounts.deletePerson(person.id);
  cli.output.result(`Deleted ${shown}. The name stays reserved.`, personToJson(row!));
}

async function setDisabled(cli: Cli, name: string, disabled: boolean): Promise<void> {
  const rooms = await cli.openRooms();
  const { id } = await findPerson(rooms, name);
  const person = await rooms.accounts.setDisabled(id, disabled);
  const [row] = await rowsOf(rooms, [person]);
  const line = disabled ? `Disabled ${name}. All sessions have ended; keys and tokens do not work.` : `Enabled ${name}.`;
  cli.output.result(line, personToJson(row!));
}

async function setAdministrator(cli: Cli, _options: object, name: string, wanted: string): Promise<void> {
  if (wanted !== 'on' && wanted !== 'off') throw invalid('usage', 'Say on or off: hearth user admin NAME on.');
  const rooms = await cli.openRooms();
  const { id } = await findPerson(rooms, name);
  const person = await rooms.accounts.setAdministrator(id, wanted === 'on');
  const [row] = await rowsOf(rooms, [person]);
  cli.output.result(wanted === 'on' ? `${name} is an administrator now.` : `${name} is no longer an administrator.`, personToJson(row!));
}
