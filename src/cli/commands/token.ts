import type { Command } from 'commander';
import { Option } from 'commander';
import type { AccessToken } from '../../accounts/index.ts';
import type { Modules } from '../../app/index.ts';
import { accountViewer } from '../../access/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import type { Run } from '../action.ts';
import { findById } from './find-by-id.ts';
import { findRepository } from './find-repository.ts';
import { findPerson, nameOf } from './find-person.ts';

interface AddOptions {
  user: string;
  name: string;
  access: 'read' | 'write' | 'admin';
  repo?: string[];
  expires: string;
}

/** `hearth token …`: personal access tokens. */
export function addTokenCommands(program: Command, run: Run): void {
  const token = addNoun(program, 'token', 'personal access tokens');
  withExamples(
    token
      .command('list')
      .description('list access tokens')
      .option('--user <name>', 'filter by user')
      .action(run(listTokens)),
    'hearth token list --user alice',
  );
  withExamples(
    token
      .command('add')
      .alias('create')
      .description('create a token and print it once')
      .requiredOption('--user <name>', 'user who owns the token')
      .requiredOption('--name <text>', 'token name, unique per user')
      .addOption(new Option('--access <level>', 'access level').choices(['read', 'write', 'admin']).default('read'))
      .option('--repo <owner/name...>', 'limit the token to these repositories')
      .option('--expires <time>', 'validity period, such as 90d, or never', 'never')
      .action(run(addToken)),
    'TOKEN=$(hearth token add --user alice --name laptop --access write)',
    'hearth token add --user alice --name ci --repo alice/garden --expires 90d',
  );
  withExamples(
    token
      .command('remove')
      .alias('delete')
      .description('revoke a token; it stops working immediately')
      .argument('<id>', 'token id or its first characters')
      .option('--dry-run', 'only show what would be revoked')
      .action(run(removeToken)),
    'hearth token list --user alice',
    'hearth token remove 3f2a91c0',
  );
}

type Row = AccessToken & { user: string };

const columns: Column<Row>[] = [
  { title: 'USER', cell: (row) => row.user, whole: true },
  { title: 'NAME', cell: (row) => row.name },
  { title: 'ACCESS', cell: (row) => row.access },
  { title: 'REPOS', cell: (row) => row.repositoryIds?.length ?? 'all', align: 'right' },
  { title: 'EXPIRES', cell: (row) => never(row.expiresAt) },
  { title: 'LAST USED', cell: (row) => never(row.lastUsedAt) },
  { title: 'END', cell: (row) => row.ending },
  { title: 'ID', cell: (row) => ({ id: row.id }) },
];

export function tokenToJson(token: AccessToken, user: string | null): object {
  return {
    id: token.id,
    user,
    name: token.name,
    access: token.access,
    repositoryIds: token.repositoryIds,
    expiresAt: isoOrNull(token.expiresAt),
    createdAt: isoOrNull(token.createdAt),
    lastUsedAt: isoOrNull(token.lastUsedAt),
    lastUsedAddress: token.lastUsedAddress,
    ending: token.ending,
  };
}

async function listTokens(cli: Cli, { user }: { user?: string }): Promise<void> {
  const modules = await cli.openModules();
  const people = user === undefined ? await modules.accounts.listPeople() : [await findPerson(modules, user)];
  const tokens = await modules.accounts.listTokens(user === undefined ? null : people[0]!.id);
  const names = new Map(people.map((person) => [person.id, person]));
  const rows = tokens.map((token) => ({ ...token, user: nameOf(names.get(token.personId)) }));
  cli.output.list(rows, columns, ['token', 'tokens'], (row) => tokenToJson(row, row.user));
}

async function addToken(cli: Cli, { user, name, access, repo, expires }: AddOptions): Promise<void> {
  const expiresAt = await expiryOf(cli, expires);
  const modules = await cli.openModules();
  const person = await findPerson(modules, user);
  const repositoryIds = repo === undefined ? null : await repositoryIdsOf(modules, repo, person.id);
  const { token, secret } = await modules.accounts.addToken(person.id, { name, access, repositoryIds, expiresAt });
  const end = expiresAt === null ? 'It does not expire.' : `It expires on ${isoOrNull(expiresAt)?.slice(0, 10)}.`;
  const line = `Created token ${token.name} for ${nameOf(person)} with ${access} access. ${end} It is shown only once.`;
  cli.output.secret(secret, line, { ...tokenToJson(token, person.username), token: secret });
}

async function expiryOf(cli: Cli, text: string): Promise<number | null> {
  if (text === 'never') return null;
  const { readDuration } = await import('../../config/index.ts');
  const ms = readDuration(text);
  if (ms === undefined || ms < 1) throw invalid('usage', '--expires must be a duration such as 90d or 12h, or never.');
  return cli.clock.now() + ms;
}

/** As on the page: a token can be limited only to repositories that its owner can see. */
async function repositoryIdsOf(modules: Modules, names: readonly string[], personId: string): Promise<string[]> {
  const viewer = accountViewer(await modules.accounts.personById(personId));
  return Promise.all(names.map(async (name) => (await findRepository(modules, name, viewer)).repository.id));
}

async function removeToken(cli: Cli, { dryRun }: { dryRun?: true }, id: string): Promise<void> {
  const modules = await cli.openModules();
  const token = findById(await modules.accounts.listTokens(null), id, { what: 'token', reason: 'unknown_token' });
  const person = await modules.accounts.personById(token.personId);
  const what = `token ${token.name} (…${token.ending}) of ${nameOf(person)}`;
  if (dryRun) return cli.output.result(`Would revoke ${what}.`, tokenToJson(token, person.username));
  await cli.confirm(`Revoke ${what}?`);
  await modules.accounts.removeToken(token.personId, token.id);
  cli.output.result(`Revoked ${what}.`, tokenToJson(token, person.username));
}
