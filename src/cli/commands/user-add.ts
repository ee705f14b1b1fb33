import type { Command } from 'commander';
import type { Modules } from '../../app/index.ts';
import { conflict, nullIfNotFound } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { withHint } from '../report-error.ts';
import { passwordOptions, readPassword } from '../terminal/read-password.ts';
import type { PasswordOptions } from '../terminal/read-password.ts';
import { findPerson } from './find-person.ts';
import { personToJson, rowsOf } from './person-output.ts';

interface AddOptions extends PasswordOptions {
  admin?: true;
  displayName?: string;
  email?: string;
  ifMissing?: true;
}

/** `hearth user add|password`: accounts and their passwords. */
export function addUserAddCommands(user: Command, run: Run): void {
  const add = user
    .command('add')
    .alias('create')
    .description('create an account')
    .argument('<name>', 'username')
    .option('--admin', 'make the user an administrator')
    .option('--display-name <text>', 'name shown beside the username')
    .option('--email <address>', 'email address, which is marked as verified')
    .option('--if-missing', 'succeed if the account already exists')
    .action(run(addUser));
  const password = user
    .command('password')
    .alias('change-password')
    .description('set a new password; all sessions end')
    .argument('<name>', 'username')
    .action(run(setPassword));
  for (const [flags, description] of passwordOptions) {
    add.option(flags, description);
    password.option(flags, description);
  }
  withExamples(
    add,
    'hearth user add alice --admin',
    'hearth user add nas-bot --email nas@example.org --random-password',
    'hearth user add bob --random-password',
    'pass show bob | hearth user add bob --password-stdin',
  );
  withExamples(password, 'hearth user password alice', 'hearth user password bob --random-password');
}

async function addUser(cli: Cli, options: AddOptions, name: string): Promise<void> {
  const modules = await cli.openModules();
  const { accounts, owners } = modules;
  if (options.ifMissing && (await isThere(cli, modules, options, name))) return;
  // Checked before the password prompt.
  owners.parseHandle(name);
  if (await owners.isTaken(name))
    throw withHint(
      conflict('handle_taken', `The name ${name} is taken.`),
      'choose another name, or use --if-missing to accept an existing user',
    );

  const { password, isRandom } = await readPassword(cli, options, accounts.suggestPassword);
  const person = await accounts.addPerson({
    username: name,
    password,
    isAdministrator: options.admin === true,
    mustChangePassword: isRandom,
    ...(options.email === undefined ? {} : { address: options.email }),
    ...(options.displayName === undefined ? {} : { displayName: options.displayName }),
  });
  const kind = person.isAdministrator ? 'administrator' : 'user';
  const line = `Created ${kind} ${name} (id ${person.id}).`;
  const json = personToJson({ ...person, repositories: 0 });
  if (isRandom)
    cli.output.secret(password, `${line} A new password must be chosen at first sign-in.`, { ...json, password });
  else cli.output.result(line, json);
}

/** Whether the account exists. Different properties are a conflict: the caller expects the ones that it requested. */
async function isThere(cli: Cli, modules: Modules, { admin, displayName }: AddOptions, name: string): Promise<boolean> {
  const person = await modules.accounts.personByUsername(name).catch(nullIfNotFound);
  if (person === null) return false;
  if (admin && !person.isAdministrator)
    throw conflict('exists_differently', `User ${name} already exists, but is not an administrator.`);
  if (displayName !== undefined && displayName !== person.displayName) {
    throw conflict('exists_differently', `User ${name} already exists, but with another display name.`);
  }
  const [row] = await rowsOf(modules, [person]);
  cli.output.result(`User ${name} already exists (id ${person.id}).`, personToJson(row!));
  return true;
}

async function setPassword(cli: Cli, options: PasswordOptions, name: string): Promise<void> {
  const modules = await cli.openModules();
  const { accounts } = modules;
  const person = await findPerson(modules, name);
  const { password, isRandom } = await readPassword(cli, options, accounts.suggestPassword);
  await accounts.setPassword(person.id, password, { mustChangePassword: isRandom });
  const line = `Changed the password of ${name}. All sessions have ended.`;
  const json = { id: person.id, username: person.username, mustChangePassword: isRandom };
  if (isRandom)
    cli.output.secret(password, `${line} A new one must be chosen at the next sign-in.`, { ...json, password });
  else cli.output.result(line, json);
}
