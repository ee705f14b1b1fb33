import path from 'node:path';
import type { Command } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import type { Import } from '../../imports/index.ts';
import { invalid, notFound, unavailable } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { withExamples } from '../help.ts';
import { withHint } from '../report-error.ts';
import type { Column } from '../terminal/output.ts';
import { readGivenFile } from '../terminal/read-given-file.ts';
import { readSecret } from '../terminal/read-secret.ts';
import { findPerson, nameOf } from './find-person.ts';
import { findRepository, splitName } from './find-repository.ts';
import { openForImports, runImports } from './run-imports.ts';
import { readKind, readWishes, sourceKindNames } from './import-input.ts';
import type { SourceOptions } from './import-input.ts';

/** A mapping of 100,000 people. */
const maxMappingBytes = 8 * 1024 * 1024;

/** `hearth import start` and the commands for its imports: repositories of other forges, with all their data. */
export function addImportForgeCommands(imports: Command, run: Run): void {
  withExamples(
    imports
      .command('start')
      .description('import a repository from another forge with its issues, pull requests and releases')
      .argument('<address>', 'page URL or clone URL of the repository')
      .argument('[owner/name]', 'new repository; not needed with --dry-run')
      .option(
        '--kind <kind>',
        `software of the source server: ${sourceKindNames} (default: detected from its URL or its responses)`,
      )
      .option('--secret-file <file>', 'file with an access token for the source server')
      .option('--secret-stdin', 'read the access token from standard input')
      .option(
        '--from <path>',
        "read a dump-repo folder or an archive from GitHub or GitLab instead; the URL is the repository's original one",
      )
      .option('--watch <time>', 'check for changes at this interval, such as 15m or 8h')
      .option('--public', 'make it public once the import is complete (default: same as the source)')
      .option('--private', 'keep it private')
      .option('--no-issues', 'do not import issues')
      .option('--no-pulls', 'do not import pull requests')
      .option('--no-releases', 'do not import releases')
      .option('--no-lfs', 'do not import Git LFS objects')
      .option('--no-wiki', 'do not import the wiki')
      .option('--no-reactions', 'do not import reactions: Gitea needs a separate request for every text')
      .option('--deploy-keys', 'also import its deploy keys')
      .option('--dry-run', 'only show what would and would not be imported')
      .action(run(start)),
    'hearth import start https://git.example.org/alice/garden --dry-run --secret-file token',
    'hearth import start https://git.example.org/alice/garden alice/garden --secret-file token --watch 15m',
    'hearth import start https://git.example.org/alice/garden alice/garden --from /srv/garden',
    'hearth import start https://github.com/alice/garden alice/garden --from migration.tar.gz',
  );
  withExamples(
    imports
      .command('status')
      .description('show imports from other forges, or one import with its report')
      .argument('[owner/name]', 'repository')
      .action(run(status)),
    'hearth import status',
    'hearth import status alice/garden',
  );
  withExamples(
    imports
      .command('run')
      .description('run an import again: add new content, or continue where it stopped')
      .argument('<owner/name>', 'repository')
      .option('--full', 'compare everything instead of recent changes only')
      .option('--secret-file <file>', 'file with another access token')
      .option('--secret-stdin', 'read another access token from standard input')
      .action(run(again)),
    'hearth import run alice/garden',
  );
  withExamples(
    imports
      .command('switch-over')
      .description('run an import for the last time and stop following the source')
      .argument('<owner/name>', 'repository')
      .option('--archive', 'make the source repository read-only, if the token allows it')
      .action(run(switchOver)),
    'hearth import switch-over alice/garden --archive',
  );
  withExamples(
    imports
      .command('end')
      .description('stop following the source; imported content stays')
      .argument('<owner/name>', 'repository')
      .action(run(end)),
    'hearth import end alice/garden',
  );
  withExamples(
    imports
      .command('people')
      .description('list imported authors')
      .option('--host <host>', 'only authors from this server')
      .action(run(people)),
    'hearth import people --host git.example.org',
  );
  withExamples(
    imports
      .command('claim')
      .description(
        'assign imported authors to local accounts, using a file with lines like alice@git.example.org = alice',
      )
      .argument('<file>', 'mapping file')
      .action(run(claim)),
    'hearth import claim people.txt',
  );
  withExamples(
    imports
      .command('unclaim')
      .description("undo a user's claim of an imported author")
      .argument('<person>', 'alice@git.example.org')
      .action(run(unclaim)),
    'hearth import unclaim alice@git.example.org',
  );
}

const people: Action<{ host?: string }, []> = async (cli, { host }) => {
  const modules = await cli.openModules();
  const found = await modules.imports.people.list(host);
  const accounts = await modules.accounts.peopleById(new Set(found.flatMap(({ userId }) => userId ?? [])));
  const rows = found.map(({ person, name, email, userId }) => ({
    ...{ person, name, email },
    account: userId === null ? '' : nameOf(accounts.get(userId)),
  }));
  const shown: Column<(typeof rows)[number]>[] = [
    { title: 'PERSON', cell: (row) => row.person, whole: true },
    { title: 'NAME', cell: (row) => row.name },
    { title: 'ADDRESS', cell: (row) => row.email },
    { title: 'ACCOUNT', cell: (row) => row.account },
  ];
  cli.output.list(rows, shown, ['person', 'people'], (row) => row);
};

const claim: Action<object, [string]> = async (cli, _options, file) => {
  const given = readGivenFile(cli, file, { what: 'The file', reason: 'unreadable_file', maxBytes: maxMappingBytes });
  const [modules, { parseMapping }] = await Promise.all([cli.openModules(), import('../../imports/index.ts')]);
  const mapped = parseMapping(given.toString('utf8'));
  const claims: { person: string; userId: string }[] = [];
  for (const { person, username } of mapped) claims.push({ person, userId: (await findPerson(modules, username)).id });
  await modules.imports.people.claimAll(localAdministrator, claims);
  cli.output.result(`Assigned ${mapped.length} imported authors to local accounts.`, { claimed: mapped.length });
};

const unclaim: Action<object, [string]> = async (cli, _options, person) => {
  const modules = await cli.openModules();
  await modules.imports.people.unclaim(localAdministrator, person);
  cli.output.result(`${person} is no longer assigned to an account.`, { person });
};

interface StartOptions extends SourceOptions {
  from?: string;
  public?: true;
  private?: true;
  dryRun?: true;
}

/** A folder needs no token, contains its own format, and does not change. Throws `usage`. */
function refuseApiOptions(options: StartOptions): void {
  const given = [
    ...(options.secretFile === undefined ? [] : ['--secret-file']),
    ...(options.secretStdin ? ['--secret-stdin'] : []),
    ...(options.kind === undefined ? [] : ['--kind']),
    ...(options.watch === undefined ? [] : ['--watch']),
  ];
  if (given.length > 0) throw invalid('usage', `${given.join(' and ')} cannot be used with --from.`);
}

const start: Action<StartOptions, [string, string | undefined]> = async (cli, options, address, text) => {
  if (options.public && options.private) throw invalid('usage', 'Use only one of --public and --private.');
  const kind = readKind(options.kind);
  if (options.from !== undefined) refuseApiOptions(options);
  const from = options.from === undefined ? undefined : path.resolve(cli.process.cwd(), options.from);
  const hasToken = options.secretFile !== undefined || options.secretStdin;
  const token = hasToken ? await readSecret(cli, options) : '';
  const { modules, isServed } = await openForImports(cli);
  if (options.dryRun) {
    const { project, repository, counts, problems } = await (from === undefined
      ? modules.imports.try({ address, token, kind })
      : modules.imports.fromFiles.try({ address, from }));
    const named = Object.entries(counts).map(([what, count]) => `${count ?? '?'} ${what}`);
    cli.output.result(
      [`${project}: ${repository.isPrivate ? 'private' : 'public'}, ${named.join(', ')}`, ...problems.map(lineOf)].join(
        '\n',
      ),
      { project, counts, problems },
    );
    return;
  }
  if (text === undefined) throw invalid('usage', 'Specify the new repository: hearth import start ADDRESS OWNER/NAME');
  const visibility = options.public ? ('PUBLIC' as const) : options.private ? ('PRIVATE' as const) : undefined;
  const wishes = { ...splitName(text), address, ...readWishes(options), ...(visibility && { visibility }) };
  const { id } = await (from === undefined
    ? modules.imports.start(localAdministrator, { ...wishes, token, kind })
    : modules.imports.fromFiles.start(localAdministrator, { ...wishes, from }));
  await follow(cli, { modules, isServed, id }, text);
};

const again: Action<{ full?: true; secretFile?: string; secretStdin?: true }, [string]> = async (
  cli,
  options,
  text,
) => {
  const hasToken = options.secretFile !== undefined || options.secretStdin;
  const token = hasToken ? await readSecret(cli, options) : '';
  const found = await find(cli, text, true);
  await found.modules.imports.again(localAdministrator, found.id, { token, isFull: options.full === true });
  await follow(cli, found, text);
};

const switchOver: Action<{ archive?: true }, [string]> = async (cli, { archive }, text) => {
  const found = await find(cli, text, true);
  await found.modules.imports.again(localAdministrator, found.id, { isLast: true, archivesSource: archive === true });
  await follow(cli, found, text);
};

const end: Action<object, [string]> = async (cli, _options, text) => {
  const { modules, id } = await find(cli, text);
  await modules.imports.end(localAdministrator, id);
  cli.output.result(`${text} no longer follows its source.`, { name: text, state: 'ended' });
};

interface Named extends Import {
  name: string;
}

const columns: Column<Named>[] = [
  { title: 'NAME', cell: ({ name }) => name, whole: true },
  { title: 'FROM', cell: ({ url }) => url },
  { title: 'STATE', cell: (one) => stateOf(one), whole: true },
];

const status: Action<object, [string | undefined]> = async (cli, _options, text) => {
  if (text !== undefined) {
    const { modules, id } = await find(cli, text);
    return show(cli, modules, id, text);
  }
  const modules = await cli.openModules();
  const all = await modules.imports.list();
  const places = await modules.repositories.locate(all.map(({ repositoryId }) => repositoryId));
  const named = all.flatMap((one): Named[] => {
    const place = places.get(one.repositoryId);
    return place === undefined ? [] : [{ ...one, name: `${place.owner.handle}/${place.repository.name}` }];
  });
  cli.output.list(named, columns, ['import', 'imports'], ({ name, ...one }) => ({ name, ...toJson(one) }));
};

/** Shows the progress of a run until it ends, waits or fails, whether it runs here or in the server. */
async function follow(cli: Cli, { modules, isServed, id }: FoundImport, text: string): Promise<void> {
  const isSilent = cli.flags.quiet || cli.flags.json;
  const running = runImports(modules, isServed);
  let shown = '';
  for (;;) {
    const found = (await modules.imports.find(id))!;
    const line = stateOf(found);
    if (!isSilent && line !== shown) cli.process.stderr.write(`${line}\n`);
    shown = line;
    const isOver = found.state !== 'running' && found.nextAt > cli.clock.now();
    if (isOver || found.waitsUntil !== null || found.lastError !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  await running;
  await show(cli, modules, id, text);
  const { lastError, waitsUntil } = (await modules.imports.find(id))!;
  if (lastError !== null)
    throw withHint(unavailable('import_failed', lastError), `hearth import run ${text} goes on where it stopped`);
  if (waitsUntil !== null) cli.output.message('The server continues automatically when the rate limit resets.');
}

async function show(cli: Cli, modules: Modules, id: string, text: string): Promise<void> {
  const found = (await modules.imports.find(id))!;
  const problems = await modules.imports.problems(found.id);
  const { written, unchanged } = found.progress;
  cli.output.result(
    [
      `${text} from ${found.url}: ${stateOf(found)}`,
      `run ${found.run}: ${written} issues and pull requests written, ${unchanged} unchanged, ${found.requests} requests`,
      ...problems.map(lineOf),
    ].join('\n'),
    { name: text, ...toJson(found), problems: problems.map(({ item, problem, run }) => ({ item, problem, run })) },
  );
}

const lineOf = ({ item, problem }: { item: string; problem: string }): string => `  ${item}: ${problem}`;

const phaseNames: Readonly<Record<Import['phase'], string>> = {
  describe: 'reading its description',
  refs: 'fetching code',
  lfs: 'fetching files of Git LFS',
  wiki: 'fetching the wiki',
  labels: 'reading labels and milestones',
  issues: 'reading issues',
  pulls: 'reading pull requests',
  comments: 'reading comments',
  write: 'writing issues and pull requests',
  times: 'reading tracked times',
  files: 'fetching attached files',
  people: 'reading addresses of authors',
  releases: 'fetching releases',
  settings: 'reading settings',
  finish: 'finishing',
};

function stateOf({ state, phase, progress, waitsUntil, watchMs, transfer, lastError }: Import): string {
  if (state === 'ended') return 'ended';
  if (state === 'paused') return `paused: ${lastError ?? 'by hand'}`;
  if (waitsUntil !== null) return `waits for the limit of the other server until ${new Date(waitsUntil).toISOString()}`;
  if (state === 'done') return watchMs === null ? 'done' : 'done, looks for changes';
  const { issues, comments } = progress.found;
  const counted =
    issues + comments === 0 ? '' : ` (${issues} issues, ${comments} comments, ${progress.written} written)`;
  return `${transfer ?? phaseNames[phase]}${counted}`;
}

const toJson = ({
  url,
  state,
  phase,
  run,
  progress,
  requests,
  waitsUntil,
  lastError,
  watchMs,
}: Omit<Import, 'name'>) => ({
  ...{ from: url, state, phase, run, requests, waitsUntil, lastError, watchMs },
  found: progress.found,
  written: progress.written,
  unchanged: progress.unchanged,
});

interface FoundImport {
  modules: Modules;
  /** The repository. */
  id: string;
  /** Whether a running server runs the import. */
  isServed: boolean;
}

async function find(cli: Cli, text: string, willRun = false): Promise<FoundImport> {
  const { modules, isServed } = willRun
    ? await openForImports(cli)
    : { modules: await cli.openModules(), isServed: false };
  const { repository } = await findRepository(modules, text);
  if ((await modules.imports.find(repository.id)) === null)
    throw notFound('import_not_found', `${text} was not imported from another forge.`);
  return { modules, id: repository.id, isServed };
}
