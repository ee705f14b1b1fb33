import { Option } from 'commander';
import type { Command } from 'commander';
import type { Person, SshKey, SshKeyUse } from '../../accounts/index.ts';
import { conflict, invalid, isDomainError, isRefusal } from '../../kernel/index.ts';
import type { GpgKey } from '../../signing/index.ts';
import type { Modules } from '../../app/index.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import type { Run } from '../action.ts';
import { findById } from './find-by-id.ts';
import { findPerson, nameOf } from './find-person.ts';
import { readKeyLine } from './read-key-line.ts';
import { addInstanceKeyCommand } from './key-instance.ts';
import { addSigningKeyCommand } from './key-signing.ts';

interface AddOptions {
  user: string;
  title?: string;
  use: SshKeyUse;
  ifMissing?: true;
}

/** `hearth key …`: SSH and OpenPGP public keys of users, and the signing key of the server. */
export function addKeyCommands(program: Command, run: Run): void {
  const key = addNoun(program, 'key', 'SSH and OpenPGP public keys');
  withExamples(
    key
      .command('list')
      .description('list SSH and OpenPGP keys')
      .option('--user <name>', 'filter by user')
      .action(run(listKeys)),
    'hearth key list --user alice',
  );
  withExamples(
    key
      .command('add')
      .alias('create')
      .description('add a public key')
      .argument('[file]', '.pub file, ASCII-armored OpenPGP key, or - for standard input', '-')
      .requiredOption('--user <name>', 'user who owns the key')
      .option('--title <text>', 'title (default: the comment in the file)')
      .addOption(
        new Option('--use <use>', 'purpose of an SSH key')
          .choices(['authentication', 'signing', 'both'])
          .default('both'),
      )
      .option('--if-missing', 'succeed if the user already has this key')
      .action(run(addKey)),
    'hearth key add --user alice ~/.ssh/id_ed25519.pub',
    'ssh-add -L | head -1 | hearth key add --user alice -',
    'gpg --armor --export alice@example.org | hearth key add --user alice -',
  );
  withExamples(
    key
      .command('import-github')
      .description("add a user's public keys from GitHub, or from an https URL")
      .argument('<login>', 'GitHub username, or the URL of a key list')
      .requiredOption('--user <name>', 'user who will own the keys')
      .option('--dry-run', 'only list the keys')
      .action(run(importKeys)),
    'hearth key import-github alice --user alice',
    'hearth key import-github https://git.example.org/alice.keys --user alice',
  );
  withExamples(
    key
      .command('remove')
      .alias('delete')
      .description('remove a key; it stops working immediately')
      .argument('<id>', 'key id, its first characters, or the fingerprint')
      .option('--dry-run', 'only show what would be removed')
      .action(run(removeKey)),
    'hearth key list --user alice',
    'hearth key remove 3f2a91c0',
  );
  addSigningKeyCommand(key, run);
  addInstanceKeyCommand(key, run);
}

/** Fields of both kinds of keys. */
interface Row {
  id: string;
  personId: string;
  title: string;
  type: string;
  fingerprint: string;
  uses: SshKeyUse;
  createdAt: number;
  lastUsedAt: number | null;
  lastUsedAddress: string | null;
}

/** An OpenPGP key in the columns of an SSH key. Showing a page uses the key, but that is not recorded. */
const toRow = ({ id, personId, userIds, algorithm, fingerprint, createdAt }: GpgKey): Row => ({
  id,
  personId,
  title: userIds[0] ?? '',
  type: `openpgp ${algorithm}`,
  fingerprint,
  uses: 'signing',
  createdAt,
  lastUsedAt: null,
  lastUsedAddress: null,
});

const columns: Column<Row & { user: string }>[] = [
  { title: 'USER', cell: (row) => row.user, whole: true },
  { title: 'TITLE', cell: (row) => row.title },
  { title: 'TYPE', cell: (row) => row.type },
  { title: 'FINGERPRINT', cell: (row) => row.fingerprint, whole: true },
  { title: 'ADDED', cell: (row) => never(row.createdAt) },
  { title: 'LAST USED', cell: (row) => never(row.lastUsedAt) },
  { title: 'ID', cell: (row) => ({ id: row.id }) },
  { title: 'USE', cell: (row) => row.uses, whole: true },
];

export function keyToJson(key: Row, user: string | null): object {
  return {
    id: key.id,
    user,
    title: key.title,
    type: key.type,
    fingerprint: key.fingerprint,
    uses: key.uses,
    createdAt: isoOrNull(key.createdAt),
    lastUsedAt: isoOrNull(key.lastUsedAt),
    lastUsedAddress: key.lastUsedAddress,
  };
}

async function listKeys(cli: Cli, { user }: { user?: string }): Promise<void> {
  const modules = await cli.openModules();
  const people = user === undefined ? await modules.accounts.listPeople() : [await findPerson(modules, user)];
  const keys = await listRows(modules, user === undefined ? null : people[0]!.id);
  const names = new Map(people.map((person) => [person.id, person]));
  const rows = keys.map((key) => ({ ...key, user: nameOf(names.get(key.personId)) }));
  cli.output.list(rows, columns, ['key', 'keys'], (row) => keyToJson(row, row.user));
}

/** SSH keys, then OpenPGP keys, each newest first. */
async function listRows({ accounts, signing }: Modules, personId: string | null): Promise<Row[]> {
  const [ssh, gpg] = [await accounts.listKeys(personId), await signing.listGpgKeys(personId)];
  return [...ssh, ...gpg.map(toRow)];
}

async function addKey(cli: Cli, { user, title, use, ifMissing }: AddOptions, file: string): Promise<void> {
  const modules = await cli.openModules();
  const person = await findPerson(modules, user);
  const line = await readKeyLine(cli, file);
  if (line.trimStart().startsWith('-----BEGIN PGP')) {
    const { key, isNew } = await modules.signing.addGpgKey(person.id, line);
    const said = isNew ? `Added key ${key.fingerprint} for` : `Replaced the copy of key ${key.fingerprint} of`;
    cli.output.result(`${said} ${nameOf(person)}.`, keyToJson(toRow(key), nameOf(person)));
    return;
  }
  try {
    const key = await modules.accounts.addKey(person.id, {
      line,
      uses: use,
      ...(title === undefined ? {} : { title }),
    });
    const note =
      key.worksWithBuiltInServer || modules.config.ssh.systemSshd || use === 'signing'
        ? ''
        : ' The built-in SSH server cannot use keys of this type.';
    cli.output.result(
      `Added key ${key.title} (${key.fingerprint}) for ${nameOf(person)}.${note}`,
      keyToJson(key, nameOf(person)),
    );
  } catch (error) {
    const existing = ifMissing ? await sameKey(cli, person, line, error) : null;
    if (existing === null) throw error;
    cli.output.result(
      `${nameOf(person)} already has this key (${existing.fingerprint}).`,
      keyToJson(existing, nameOf(person)),
    );
  }
}

/** With --if-missing, a key in use is accepted if it belongs to this user. */
async function sameKey(cli: Cli, person: Person, line: string, error: unknown): Promise<SshKey | null> {
  if (!isDomainError(error) || error.reason !== 'key_in_use') return null;
  const { accounts } = await cli.openModules();
  const fingerprint = await fingerprintOfLine(line);
  const own = (await accounts.listKeys(person.id)).find((key) => key.fingerprint === fingerprint);
  if (own === undefined) throw conflict('key_in_use', 'Another user already has this key.');
  return own;
}

/** The fingerprint of a key line; adding the key validates the line. */
async function fingerprintOfLine(line: string): Promise<string> {
  const { fingerprintOf } = await import('../../accounts/index.ts');
  return fingerprintOf(Buffer.from(line.trim().split(/\s+/)[1] ?? '', 'base64'));
}

interface Imported {
  type: string;
  fingerprint: string;
  /** `added`, or the reason of the error. */
  result: string;
}

async function importKeys(cli: Cli, { user, dryRun }: { user: string; dryRun?: true }, login: string): Promise<void> {
  const isAddress = /^https?:\/\//.test(login);
  if (!isAddress && !/^[a-z\d](?:-?[a-z\d]){0,38}$/i.test(login))
    throw invalid(
      'usage',
      `${JSON.stringify(login)} is not a valid GitHub username. For other servers, enter the full URL.`,
    );
  const address = isAddress ? login : `https://github.com/${login}.keys`;
  const modules = await cli.openModules();
  const person = await findPerson(modules, user);
  const { host } = new URL(address);
  const own = new Set((await modules.accounts.listKeys(person.id)).map(({ fingerprint }) => fingerprint));
  const rows: Imported[] = [];
  for (const line of await modules.mirrors.keysAt(address)) {
    const [type = '', fingerprint] = [line.split(/\s+/)[0], await fingerprintOfLine(line)];
    if (own.has(fingerprint)) rows.push({ type, fingerprint, result: 'there already' });
    else if (dryRun) rows.push({ type, fingerprint, result: 'would be added' });
    else
      rows.push({
        type,
        fingerprint,
        result: await modules.accounts
          .addKey(person.id, { line, title: `${isAddress ? '' : `${login} on `}${host}` })
          .then(() => 'added', whyNot),
      });
  }
  const columns: Column<Imported>[] = [
    { title: 'TYPE', cell: (row) => row.type },
    { title: 'FINGERPRINT', cell: (row) => row.fingerprint, whole: true },
    { title: 'RESULT', cell: (row) => row.result, whole: true },
  ];
  cli.output.list(rows, columns, ['key', 'keys'], (row) => row);
  if (rows.length === 0) cli.output.message(`No keys found at ${address}.`);
}

/** A refused key does not stop the others. */
function whyNot(error: unknown): string {
  if (!isRefusal(error)) throw error;
  return `skipped: ${error.message}`;
}

async function removeKey(cli: Cli, { dryRun }: { dryRun?: true }, id: string): Promise<void> {
  const modules = await cli.openModules();
  const key = findById(await listRows(modules, null), id, {
    what: 'key',
    reason: 'unknown_key',
    alsoBy: (row) => row.fingerprint,
  });
  const person = await modules.accounts.personById(key.personId);
  const what = `key ${key.title} (${key.fingerprint}) of ${nameOf(person)}`;
  if (dryRun) return cli.output.result(`Would remove ${what}.`, keyToJson(key, person.username));
  await cli.confirm(`Remove ${what}?`);
  if (key.type.startsWith('openpgp')) await modules.signing.removeGpgKey(key.personId, key.id);
  else await modules.accounts.removeKey(key.personId, key.id);
  cli.output.result(`Removed ${what}.`, keyToJson(key, person.username));
}
