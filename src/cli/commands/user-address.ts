import type { Command } from 'commander';
import type { EmailAddress } from '../../accounts/index.ts';
import type { Modules } from '../../app/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { findPerson, nameOf } from './find-person.ts';

/** `hearth user address …`: e-mail addresses. Administrators add and verify them without a confirmation link. */
export function addUserAddressCommands(user: Command, run: Run): void {
  const address = addNoun(user, 'address', "a user's email addresses");
  withExamples(
    address
      .command('list')
      .description("list a user's addresses")
      .argument('<name>', 'username')
      .action(run(listAddresses)),
    'hearth user address list alice',
  );
  withExamples(
    address
      .command('add')
      .description('add a verified address')
      .argument('<name>', 'username')
      .argument('<email>', 'address')
      .option('--unverified', 'leave it unverified; if email is configured, send a verification link')
      .action(run(addAddress)),
    'hearth user address add alice alice@example.org',
  );
  for (const [name, description, action] of changes) {
    withExamples(
      address
        .command(name)
        .description(description)
        .argument('<name>', 'username')
        .argument('<email>', 'address')
        .action(run(action)),
      `hearth user address ${name} alice alice@example.org`,
    );
  }
}

const columns: Column<EmailAddress>[] = [
  { title: 'ADDRESS', cell: ({ address }) => address, whole: true },
  { title: 'PRIMARY', cell: ({ isPrimary }) => (isPrimary ? 'yes' : 'no') },
  { title: 'PUBLIC', cell: ({ isPublic }) => (isPublic ? 'yes' : 'no') },
  { title: 'VERIFIED', cell: ({ verifiedAt }) => never(verifiedAt) },
];

export const addressToJson = ({ id, address, isPrimary, isPublic, verifiedAt }: EmailAddress): object => ({
  id,
  address,
  isPrimary,
  isPublic,
  verifiedAt: isoOrNull(verifiedAt),
});

const listAddresses: Action<object, [string]> = async (cli, _options, name) => {
  const modules = await cli.openModules();
  const person = await findPerson(modules, name);
  const rows = await modules.accounts.addresses.list(person.id);
  cli.output.list(rows, columns, ['address', 'addresses'], addressToJson);
};

const addAddress: Action<{ unverified?: true }, [string, string]> = async (cli, { unverified }, name, email) => {
  const modules = await cli.openModules();
  const person = await findPerson(modules, name);
  const added = await modules.accounts.addresses.add(person.id, { address: email, isVerified: unverified !== true });
  const how = added.verifiedAt === null ? 'unverified' : 'verified';
  cli.output.result(`Added ${added.address} to ${nameOf(person)}, ${how}.`, addressToJson(added));
};

type Change = Action<object, [string, string]>;
type Addresses = Modules['accounts']['addresses'];

/**
 * @param said formats the message about the address and the user
 */
const changing =
  (
    change: (addresses: Addresses, personId: string, addressId: string) => Promise<EmailAddress>,
    said: (address: string, name: string) => string,
  ): Change =>
  async (cli, _options, name, email) => {
    const modules = await cli.openModules();
    const person = await findPerson(modules, name);
    const { addresses } = modules.accounts;
    const known = await addresses.list(person.id);
    const found = known.find(({ address }) => address.toLowerCase() === email.toLowerCase());
    if (found === undefined) throw notFound('unknown_address', `${nameOf(person)} does not have the address ${email}.`);
    const changed = await change(addresses, person.id, found.id);
    cli.output.result(said(changed.address, nameOf(person)), addressToJson(changed));
  };

const changes: [name: string, description: string, action: Change][] = [
  [
    'verify',
    'mark an address as verified if you know that it belongs to the user',
    changing(
      (addresses, person, id) => addresses.markVerified(person, id),
      (address, name) => `${address} of ${name} is verified.`,
    ),
  ],
  [
    'primary',
    "choose a user's primary address",
    changing(
      (addresses, person, id) => addresses.setPrimary(person, id),
      (address, name) => `${address} is the primary address of ${name}.`,
    ),
  ],
  [
    'remove',
    'remove an address',
    changing(
      (addresses, person, id) => addresses.remove(person, id),
      (address, name) => `Removed ${address} from ${name}.`,
    ),
  ],
];
