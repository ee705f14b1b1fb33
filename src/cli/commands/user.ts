import { Option } from 'commander';
import type { Command } from 'commander';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { never } from '../terminal/output.ts';
import type { Run } from '../action.ts';
import { findPerson } from './find-person.ts';
import { keyToJson } from './key.ts';
import { columns, personToJson, roleOf, rowsOf, stateOf } from './person-output.ts';
import { tokenToJson } from './token.ts';
import { addUserAddCommands } from './user-add.ts';
import { addressToJson, addUserAddressCommands } from './user-address.ts';
import { addUserLifecycleCommands } from './user-lifecycle.ts';
import { addUserIdentityCommands, identityToJson } from './user-identity.ts';
import { addUserInviteCommand } from './user-invite.ts';
import { addUserRequestCommands } from './user-request.ts';
import { addUserSecondFactorCommands, factorsOf, stateToJson } from './user-second-factor.ts';
import { addUserSessionsCommand, sessionToJson } from './user-sessions.ts';

interface ListOptions {
  state?: string;
  admin?: true;
}

/** `hearth user …`: user accounts. */
export function addUserCommands(program: Command, run: Run): void {
  const user = addNoun(program, 'user', 'user accounts');

  withExamples(
    user
      .command('list')
      .description('list users')
      .addOption(new Option('--state <state>', 'only users in this state').choices(['active', 'disabled']))
      .option('--admin', 'only administrators')
      .action(run(listUsers)),
    'hearth user list',
    'hearth user list --admin --json',
  );
  withExamples(
    user
      .command('show')
      .description('show a user with keys, tokens and sessions')
      .argument('<name>', 'username or user id')
      .action(run(showUser)),
    'hearth user show alice',
  );
  addUserAddCommands(user, run);
  addUserLifecycleCommands(user, run);
  addUserSessionsCommand(user, run);
  addUserSecondFactorCommands(user, run);
  addUserIdentityCommands(user, run);
  addUserInviteCommand(user, run);
  addUserRequestCommands(user, run);
  addUserAddressCommands(user, run);
}

async function listUsers(cli: Cli, { state, admin }: ListOptions): Promise<void> {
  const modules = await cli.openModules();
  const people = (await modules.accounts.listPeople())
    .filter((person) => state === undefined || stateOf(person) === state)
    .filter((person) => !admin || person.isAdministrator);
  cli.output.list(await rowsOf(modules, people), columns, ['user', 'users'], personToJson);
}

async function showUser(cli: Cli, _options: object, name: string): Promise<void> {
  const modules = await cli.openModules();
  const person = await findPerson(modules, name);
  const [row] = await rowsOf(modules, [person]);
  const { accounts } = modules;
  const [keys, tokens, sessions, memberships, addresses, factors, identities] = await Promise.all([
    accounts.listKeys(person.id),
    accounts.listTokens(person.id),
    accounts.listSessions(person.id),
    modules.organisations.organisationsOf(person.id),
    accounts.addresses.list(person.id),
    accounts.secondFactor.stateOf(person.id),
    accounts.listIdentities(person.id),
  ]);
  cli.output.show(
    [
      ['Username', person.username ?? '(none yet)'],
      ['Id', person.id],
      ['Name', person.displayName],
      ...addresses.map(
        ({ address, isPrimary, verifiedAt }) =>
          ['E-mail', `${address}${isPrimary ? '  primary' : verifiedAt === null ? '  not verified' : ''}`] as const,
      ),
      ['Role', roleOf(person)],
      ['State', stateOf(person)],
      ...(person.secondFactorAt === null ? [] : [['Second factor', factorsOf(factors)] as const]),
      ['Created', never(person.createdAt)],
      ['Last seen', never(person.lastSeenAt)],
      ['Repositories', row!.repositories],
      ['Keys', keys.length],
      ['Tokens', tokens.length],
      ['Sessions', sessions.length],
      ...memberships.map(({ organisation, role }) => ['Organisation', `${organisation.name}  ${role}`] as const),
      ...identities.map(({ issuer, subject }) => ['Signs in with', `${subject} of ${issuer}`] as const),
      ...keys.map((key) => ['Key', `${key.title}  ${key.fingerprint}`] as const),
      ...tokens.map((token) => ['Token', `${token.name}  ${token.access}  …${token.ending}`] as const),
      ...sessions.map((session) => ['Session', `${session.address}  ${session.userAgent}`] as const),
    ],
    {
      ...personToJson(row!),
      bio: person.bio,
      website: person.website,
      secondFactor: stateToJson(factors),
      identities: identities.map(identityToJson),
      addresses: addresses.map(addressToJson),
      organisations: memberships.map(({ organisation, role }) => ({ name: organisation.name, role })),
      keys: keys.map((key) => keyToJson(key, person.username)),
      tokens: tokens.map((token) => tokenToJson(token, person.username)),
      sessions: sessions.map(sessionToJson),
    },
  );
}
