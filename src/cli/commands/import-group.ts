import type { Command } from 'commander';
import { accountViewer, localAdministrator } from '../../access/index.ts';
import type { PersonViewer } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import type { ImportGroup } from '../../imports/index.ts';
import { invalid, unavailable } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { withHint } from '../report-error.ts';
import type { Column } from '../terminal/output.ts';
import { readSecret } from '../terminal/read-secret.ts';
import { findPerson } from './find-person.ts';
import { openForImports, runImports } from './run-imports.ts';
import { readKind, readWishes, sourceKindNames } from './import-input.ts';
import type { SourceOptions } from './import-input.ts';

/** `hearth import group`: imports of accounts, organisations and whole servers. */
export function addImportGroupCommands(imports: Command, run: Run): void {
  const group = addNoun(imports, 'group', 'import all repositories of an account or of a whole server');
  withExamples(
    group
      .command('start')
      .description('import the repositories of an account, an organisation or a whole server')
      .argument('<address>', "URL of the account's page or of the server")
      .option('--owner <name>', 'user or organisation on this server that will own the repositories')
      .option('--server', 'import all owners on the server; requires an access token of an administrator there')
      .option('--as <name>', 'with --server: the local administrator who will own the organisations')
      .option(
        '--kind <kind>',
        `software of the source server: ${sourceKindNames} (default: detected from its URL or its responses)`,
      )
      .option('--secret-file <file>', 'file with an access token for the source server')
      .option('--secret-stdin', 'read the access token from standard input')
      .option('--watch <time>', 'check for changes at this interval, such as 15m or 8h')
      .option('--private', 'make all of them private (default: same as the source)')
      .option('--no-issues', 'do not import issues')
      .option('--no-pulls', 'do not import pull requests')
      .option('--no-releases', 'do not import releases')
      .option('--no-lfs', 'do not import Git LFS objects')
      .option('--no-wiki', 'do not import wikis')
      .option('--no-reactions', 'do not import reactions')
      .option('--deploy-keys', 'also import their deploy keys')
      .action(run(start)),
    'hearth import group start https://git.example.org/team --owner team --secret-file token --watch 15m',
    'hearth import group start https://git.example.org --server --as alice --secret-file token',
  );
  withExamples(
    group
      .command('status')
      .description('show account and server imports, or one of them with its repositories')
      .argument('[id]', 'import id')
      .action(run(status)),
    'hearth import group status',
  );
  withExamples(
    group
      .command('run')
      .description('list the source repositories again, import new ones and rerun the other imports')
      .argument('<id>', 'import id')
      .option('--full', 'compare everything instead of recent changes only')
      .option('--secret-file <file>', 'file with another access token')
      .option('--secret-stdin', 'read another access token from standard input')
      .action(run(again)),
    'hearth import group run 3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  );
  withExamples(
    group
      .command('switch-over')
      .description('run each import in the group for the last time and stop following the source')
      .argument('<id>', 'import id')
      .option('--archive', 'make the source repositories read-only, if the token allows it')
      .action(run(switchOver)),
    'hearth import group switch-over 3f2504e0-4f89-41d3-9a0c-0305e82c3301 --archive',
  );
}

interface StartOptions extends SourceOptions {
  owner?: string;
  server?: true;
  as?: string;
  private?: true;
}

const start: Action<StartOptions, [string]> = async (cli, options, address) => {
  const { owner, server: isServer = false, as } = options;
  if (isServer && (as === undefined || owner !== undefined))
    throw invalid('usage', 'With --server, use --as ADMINISTRATOR instead of --owner.');
  if (!isServer && (owner === undefined || as !== undefined))
    throw invalid('usage', 'Use --owner NAME, or --server with --as ADMINISTRATOR.');
  const token = options.secretFile !== undefined || options.secretStdin ? await readSecret(cli, options) : '';
  const { modules, isServed } = await openForImports(cli);
  const { id } = await modules.imports.groups.start(isServer ? await administrator(modules, as!) : localAdministrator, {
    address,
    token,
    owner,
    isServer,
    kind: readKind(options.kind),
    ...(options.private && { visibility: 'PRIVATE' as const }),
    ...readWishes(options),
  });
  await follow(cli, { modules, isServed, id });
};

async function administrator(modules: Modules, name: string): Promise<PersonViewer> {
  const person = await findPerson(modules, name);
  if (!person.isAdministrator) throw invalid('usage', `${name} is not an administrator.`);
  return accountViewer(person);
}

const again: Action<{ full?: true; secretFile?: string; secretStdin?: true }, [string]> = async (cli, options, id) => {
  const token = options.secretFile !== undefined || options.secretStdin ? await readSecret(cli, options) : '';
  const { modules, isServed } = await openForImports(cli);
  await modules.imports.groups.again(localAdministrator, id, { token, isFull: options.full === true });
  await follow(cli, { modules, isServed, id });
};

const switchOver: Action<{ archive?: true }, [string]> = async (cli, { archive }, id) => {
  const { modules, isServed } = await openForImports(cli);
  await modules.imports.groups.again(localAdministrator, id, { isLast: true, archivesSource: archive === true });
  await follow(cli, { modules, isServed, id });
};

const columns: Column<ImportGroup>[] = [
  { title: 'ID', cell: ({ id }) => id, whole: true },
  { title: 'FROM', cell: ({ url }) => url },
  { title: 'OWNER', cell: ({ owner }) => owner || '(as there)' },
  { title: 'STATE', cell: (one) => stateOf(one), whole: true },
];

const status: Action<object, [string | undefined]> = async (cli, _options, id) => {
  const modules = await cli.openModules();
  if (id !== undefined) return show(cli, modules, id);
  cli.output.list(await modules.imports.groups.list(localAdministrator), columns, ['import', 'imports'], toJson);
};

/** Shows the progress of all until each ends, waits or fails, whether they run here or in the server. */
async function follow(
  cli: Cli,
  { modules, isServed, id }: { modules: Modules; isServed: boolean; id: string },
): Promise<void> {
  const isSilent = cli.flags.quiet || cli.flags.json;
  const running = runImports(modules, isServed);
  let isOver = false;
  if (!isServed) void running.then(() => (isOver = true));
  let shown = '';
  for (;;) {
    const { group } = await modules.imports.groups.find(localAdministrator, id);
    const line = stateOf(group);
    if (!isSilent && line !== shown) cli.process.stderr.write(`${line}\n`);
    shown = line;
    const isBusy = group.state === 'running' || group.counts.running > 0;
    if (!isBusy || group.waitsUntil !== null || group.lastError !== null || isOver) break;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  await running;
  await show(cli, modules, id);
  const { lastError, waitsUntil } = (await modules.imports.groups.find(localAdministrator, id)).group;
  if (lastError !== null)
    throw withHint(unavailable('import_failed', lastError), `hearth import group run ${id} goes on where it stopped`);
  if (waitsUntil !== null) cli.output.message('The server continues automatically when the rate limit resets.');
}

async function show(cli: Cli, modules: Modules, id: string): Promise<void> {
  const { group, items, owners, lines } = await modules.imports.groups.find(localAdministrator, id);
  const places = await modules.repositories.locate(items.flatMap(({ repositoryId }) => repositoryId ?? []));
  const rows = items.map(({ project, repositoryId, problem, state, lastError }) => {
    const place = repositoryId === null ? undefined : places.get(repositoryId);
    const name = place === undefined ? null : `${place.owner.handle}/${place.repository.name}`;
    return { project, name, state: state ?? (problem === null ? 'waiting' : 'refused'), problem: problem ?? lastError };
  });
  cli.output.result(
    [
      `${id} from ${group.url}: ${stateOf(group)}`,
      ...[...owners, ...lines].map(({ login, problem }) => `  ${login}: ${problem}`),
      ...rows.map(
        ({ project, name, state, problem }) =>
          `  ${project}${name === null ? '' : ` is ${name}`}: ${state}${problem === null ? '' : `, ${problem}`}`,
      ),
    ].join('\n'),
    { ...toJson(group), owners, lines, repositories: rows },
  );
}

function stateOf({ state, counts, waitsUntil, lastError }: ImportGroup): string {
  const { all, done, running, paused, refused } = counts;
  const parts = [`${done} of ${all} here`];
  if (running > 0) parts.push(`${running} under way`);
  if (paused > 0) parts.push(`${paused} paused`);
  if (refused > 0) parts.push(`${refused} refused`);
  if (waitsUntil !== null)
    parts.push(`waits for the limit of the other server until ${new Date(waitsUntil).toISOString()}`);
  else if (state === 'paused') parts.push(`paused: ${lastError ?? 'by hand'}`);
  else if (state === 'running') parts.push('listing');
  return parts.join(', ');
}

const toJson = ({ id, url, owner, state, counts, requests, waitsUntil, lastError, watchMs }: ImportGroup) => ({
  ...{ id, from: url, owner: owner || null, state, ...counts, requests, waitsUntil, lastError, watchMs },
});
