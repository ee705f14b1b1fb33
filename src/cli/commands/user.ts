import type { Command } from 'commander';
import type { Person } from '../../accounts/index.ts';
import type { Rooms } from '../../app.ts';
import { conflict, invalid, isDomainError } from '../../kernel/index.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../output.ts';
import type { Column } from '../output.ts';
import type { Run } from '../action.ts';
import { passwordOptions, readPassword } from '../read-password.ts';
import type { PasswordOptions } from '../read-password.ts';
import { findPerson } from './find-person.ts';
import { keyToJson } from './key.ts';
import { tokenToJson } from './token.ts';

interface ListOptions {
  state?: string;
  admin?: true;
}

interface AddOptions extends PasswordOptions {
  admin?: true;
  displayName?: string;
  ifMissing?: true;
}

/** `hearth user …`: people with an account. */
export function addUserCommands(program: Command, run: Run): void {
  const user = addNoun(program, 'user', 'people with an account');

  withExamples(
    user.command('list').description('list people')
      .option('--state <state>', 'only those who are active, or disabled')
      .option('--admin', 'only administrators')
      .action(run(listUsers)),
    'hearth user list',
    'hearth user list --admin --json',
  );
  withExamples(
    user.command('show').description('show one person, with keys, tokens and sessions')
      .argument('<name>', 'user name, or id')
      .action(run(showUser)),
    'hearth user show alice',
  );
  const add = user.command('add').alias('create').description('make an account')
    .argument('<name>', 'user name')
    .option('--admin', 'as an administrator')
    .option('--display-name <text>', 'name to show beside the user name')
    .option('--if-missing', 'do nothing when the account is there already')
    .action(run(addUser));
  const password = user.command('password').alias('change-password').description('set a new password; all sessions end')
    .argument('<name>', 'user name')
    .action(run(setPassword));
  for (const [flags, description] of passwordOptions) {
    add.option(flags, description);
    password.option(flags, description);
  }
  withExamples(add, 'hearth user add alice --admin', 'hearth user add bob --random-password', 'pass show bob | hearth user add bob --password-stdin');
  withExamples(password, 'hearth user password alice', 'hearth user password bob --random-password');
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

type Row = Person & { repositories: number };

const columns: Column<Row>[] = [
  { title: 'USERNAME', cell: (row) => row.username ?? row.id, whole: true },
  { title: 'NAME', cell: (row) => row.displayName },
  { title: 'ROLE', cell: roleOf },
  { title: 'LAST SEEN', cell: (row) => never(row.lastSeenAt) },
  { title: 'REPOS', cell: (row) => row.repositories, align: 'right' },
  { title: 'STATE', cell: stateOf },
];

function roleOf(person: Person): string {
  return person.isAdministrator ? 'admin' : 'member';
}

function stateOf(person: Person): string {
  return person.disabledAt === null ? 'active' : 'disabled';
}

async function rowsOf({ repositories }: Rooms, people: readonly Person[]): Promise<Row[]> {
  const all = await repositories.listAll();
  return people.map((person) => ({ ...person, repositories: all.filter((row) => row.ownerUserId === person.id).length }));
}

function toJson(row: Row): object {
  return {
    id: row.id,
    username: row.username,
    displayName: row.displayName,
    role: roleOf(row),
    lastSeenAt: isoOrNull(row.lastSeenAt),
    repositories: row.repositories,
    state: stateOf(row),
    createdAt: isoOrNull(row.createdAt),
    mustChangePassword: row.mustChangePassword,
  };
}

async function listUsers(cli: Cli, { state, admin }: ListOptions): Promise<void> {
  if (state !== undefined && state !== 'active' && state !== 'disabled') throw invalid('usage', '--state is active or disabled.');
  const rooms = await cli.openRooms();
  const people = (await rooms.accounts.listPeople())
    .filter((person) => state === undefined || stateOf(person) === state)
    .filter((person) => !admin || person.isAdministrator);
  cli.output.list(await rowsOf(rooms, people), columns, ['user', 'users'], toJson);
}

async function showUser(cli: Cli, _options: object, name: string): Promise<void> {
  const rooms = await cli.openRooms();
  const person = await findPerson(rooms, name);
  const [row] = await rowsOf(rooms, [person]);
  const { accounts } = rooms;
  const [keys, tokens, sessions] = await Promise.all([
    accounts.listKeys(person.id), accounts.listTokens(person.id), accounts.listSessions(person.id),
  ]);
  cli.output.show(
    [
      ['Username', person.username ?? '(none yet)'],
      ['Id', person.id],
      ['Name', person.displayName],
      ['Role', roleOf(person)],
      ['State', stateOf(person)],
      ['Created', never(person.createdAt)],
      ['Last seen', never(person.lastSeenAt)],
      ['Repositories', row!.repositories],
      ['Keys', keys.length],
      ['Tokens', tokens.length],
      ['Sessions', sessions.length],
      ...keys.map((key) => ['Key', `${key.title}  ${key.fingerprint}`] as const),
      ...tokens.map((token) => ['Token', `${token.name}  ${token.access}  …${token.ending}`] as const),
      ...sessions.map((session) => ['Session', `${session.address}  ${session.userAgent}`] as const),
    ],
    {
      ...toJson(row!),
      bio: person.bio,
      website: person.website,
      keys: keys.map((key) => keyToJson(key, person.username)),
      tokens: tokens.map((token) => tokenToJson(token, person.username)),
      sessions: sessions.map((session) => ({
        id: session.id,
        startedAt: isoOrNull(session.createdAt),
        lastSeenAt: isoOrNull(session.lastSeenAt),
        endsAt: isoOrNull(session.endsAt),
        address: session.address,
        client: session.userAgent,
      })),
    },
  );
}

async function addUser(cli: Cli, options: AddOptions, name: string): Promise<void> {
  const rooms = await cli.openRooms();
  const { accounts, owners } = rooms;
  if (options.ifMissing && (await isThere(cli, rooms, options, name))) return;
  // Known to be in vain before anybody types a password.
  owners.parseHandle(name);
  if (await owners.isTaken(name)) throw conflict('handle_taken', `The name ${name} is taken.`);

  const { password, isRandom } = await readPassword(cli, options, accounts.suggestPassword);
  const person = await accounts.addPerson({
    username: name,
    password,
    isAdministrator: options.admin === true,
    mustChangePassword: isRandom,
    ...(options.displayName === undefined ? {} : { displayName: options.displayName }),
  });
  const kind = person.isAdministrator ? 'administrator' : 'user';
  const line = `Created ${kind} ${name} (id ${person.id}).`;
  const json = toJson({ ...person, repositories: 0 });
  if (isRandom) cli.output.secret(password, `${line} A new password must be chosen at first sign-in.`, { ...json, password });
  else cli.output.result(line, json);
}

/** Whether there is such an account already. One that differs is a conflict: the caller counts on what it asked for. */
async function isThere(cli: Cli, rooms: Rooms, { admin, displayName }: AddOptions, name: string): Promise<boolean> {
  const person = await rooms.accounts.personByUsername(name).catch((error: unknown) => {
    if (isDomainError(error) && error.code === 'not_found') return null;
    throw error;
  });
  if (person === null) return false;
  if (admin && !person.isAdministrator) throw conflict('exists_differently', `User ${name} exists, but is no administrator.`);
  if (displayName !== undefined && displayName !== person.displayName) {
    throw conflict('exists_differently', `User ${name} exists, but with another name to show.`);
  }
  const [row] = await rowsOf(rooms, [person]);
  cli.output.result(`User ${name} exists already (id ${person.id}).`, toJson(row!));
  return true;
}

async function setPassword(cli: Cli, options: PasswordOptions, name: string): Promise<void> {
  const { accounts } = await cli.openRooms();
  const person = await accounts.personByUsername(name);
  const { password, isRandom } = await readPassword(cli, options, accounts.suggestPassword);
  await accounts.setPassword(person.id, password, { mustChangePassword: isRandom });
  const line = `Changed the password of ${name}. All sessions have ended.`;
  const json = { id: person.id, username: person.username, mustChangePassword: isRandom };
  if (isRandom) cli.output.secret(password, `${line} A new one must be chosen at the next sign-in.`, { ...json, password });
  else cli.output.result(line, json);
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
  if (dryRun) return cli.output.result(`Would delete ${shown}.`, toJson(row!));
  await cli.confirm(`Delete the account of ${shown}, with keys, tokens, sessions and memberships? This cannot be undone.`);
  await rooms.accounts.deletePerson(person.id);
  cli.output.result(`Deleted ${shown}. The name stays reserved.`, toJson(row!));
}

async function setDisabled(cli: Cli, name: string, disabled: boolean): Promise<void> {
  const rooms = await cli.openRooms();
  const { id } = await findPerson(rooms, name);
  const person = await rooms.accounts.setDisabled(id, disabled);
  const [row] = await rowsOf(rooms, [person]);
  const line = disabled ? `Disabled ${name}. All sessions have ended; keys and tokens do not work.` : `Enabled ${name}.`;
  cli.output.result(line, toJson(row!));
}

async function setAdministrator(cli: Cli, _options: object, name: string, wanted: string): Promise<void> {
  if (wanted !== 'on' && wanted !== 'off') throw invalid('usage', 'Say on or off: hearth user admin NAME on.');
  const rooms = await cli.openRooms();
  const { id } = await findPerson(rooms, name);
  const person = await rooms.accounts.setAdministrator(id, wanted === 'on');
  const [row] = await rowsOf(rooms, [person]);
  cli.output.result(wanted === 'on' ? `${name} is an administrator now.` : `${name} is no longer an administrator.`, toJson(row!));
}
