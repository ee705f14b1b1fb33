import type { Command } from 'commander';
import type { Identity } from '../../accounts/index.ts';
import type { Modules } from '../../app/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { findById } from './find-by-id.ts';
import { findPerson, nameOf } from './find-person.ts';

/** `hearth user identity …`: the accounts of OpenID Connect providers with which a user signs in. */
export function addUserIdentityCommands(user: Command, run: Run): void {
  const identity = addNoun(user, 'identity', 'accounts at identity providers that a user signs in with');
  withExamples(
    identity
      .command('list')
      .description("list a user's linked accounts")
      .argument('<name>', 'user name')
      .action(run(listIdentities)),
    'hearth user identity list alice',
  );
  withExamples(
    identity
      .command('add')
      .description('link a provider account before the user has signed in with it')
      .argument('<name>', 'user name')
      .argument('<provider>', 'provider name in the settings')
      .argument('<subject>', 'the account\'s "sub" claim, not its name or address')
      .action(run(addIdentity)),
    'hearth user identity add alice company 5f1c4f0e-0f0e-4b1c-9d57-6f0a2f6ed2aa',
  );
  withExamples(
    identity
      .command('remove')
      .description("unlink an account, even if it is the user's only way to sign in")
      .argument('<name>', 'user name')
      .argument('<id>', 'link id or its first characters')
      .action(run(removeIdentity)),
    'hearth user identity remove alice 3f2a',
  );
}

const columns: Column<Identity>[] = [
  { title: 'ID', cell: ({ id }) => ({ id }) },
  { title: 'ISSUER', cell: ({ issuer }) => issuer, whole: true },
  { title: 'SUBJECT', cell: ({ subject }) => subject, whole: true },
  { title: 'NAME THERE', cell: ({ label }) => label },
  { title: 'LAST USED', cell: ({ lastUsedAt }) => never(lastUsedAt) },
];

export const identityToJson = ({ id, issuer, subject, label, createdAt, lastUsedAt }: Identity): object => ({
  id,
  issuer,
  subject,
  label,
  createdAt: isoOrNull(createdAt),
  lastUsedAt: isoOrNull(lastUsedAt),
});

const listIdentities: Action<object, [string]> = async (cli, _options, name) => {
  const modules = await cli.openModules();
  const person = await findPerson(modules, name);
  const rows = await modules.accounts.listIdentities(person.id);
  cli.output.list(rows, columns, ['linked account', 'linked accounts'], identityToJson);
};

function issuerOf({ singleSignOn }: Modules, name: string): string {
  const provider = singleSignOn.providers.find((each) => each.name === name);
  if (provider === undefined)
    throw notFound('unknown_provider', `The settings do not contain a provider named ${name}.`);
  return provider.issuer;
}

const addIdentity: Action<object, [string, string, string]> = async (cli, _options, name, provider, subject) => {
  const modules = await cli.openModules();
  const person = await findPerson(modules, name);
  const issuer = issuerOf(modules, provider);
  const added = await modules.accounts.addIdentity(person.id, { issuer, subject, label: '' });
  cli.output.result(`${nameOf(person)} can now sign in as ${subject} at ${provider}.`, identityToJson(added));
};

const removeIdentity: Action<object, [string, string]> = async (cli, _options, name, id) => {
  const modules = await cli.openModules();
  const person = await findPerson(modules, name);
  const known = await modules.accounts.listIdentities(person.id);
  const found = findById(known, id, { what: 'linked account', reason: 'unknown_identity' });
  const removed = await modules.singleSignOn.unlink(person.id, found.id, { evenIfLast: true });
  cli.output.result(`${nameOf(person)} can no longer sign in as ${removed.subject} at ${removed.issuer}.`, {
    removed: identityToJson(removed),
  });
};
