import { Option } from 'commander';
import type { Command } from 'commander';
import type { Modules } from '../../app/index.ts';
import type { CiScope, Runner } from '../../ci/index.ts';
import { conflict, invalid } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { readSecret } from '../terminal/read-secret.ts';
import { withHint } from '../report-error.ts';
import { namesOfScopes, readScope } from './ci-scope.ts';

interface ScopeOptions {
  scope?: string;
}

interface RegisterOptions extends ScopeOptions {
  name: string;
  labels?: string;
  secretStdin?: true;
  secretFile?: string;
}

const scopeOption = ['--scope <owner>', 'organisation, user, or owner/name'] as const;

/** `hearth runner …`: CI runners. */
export function addRunnerCommands(program: Command, run: Run): void {
  const runner = addNoun(program, 'runner', 'CI runners');
  withExamples(
    runner
      .command('list')
      .description('list runners')
      .option(
        '--scope <owner>',
        'only runners of an organisation, user, or owner/name; "instance" for runners of the whole server',
      )
      .action(run(listRunners)),
    'hearth runner list',
    'hearth runner list --scope acme',
  );
  withExamples(
    runner.command('show').description('show a runner').argument('<id>', 'number').action(run(showRunner)),
    'hearth runner show 3',
  );
  withExamples(
    runner
      .command('token')
      .description('create a registration token and print it once')
      .option(...scopeOption)
      .option('--once', 'token for a single runner, valid for a day; the permanent token stays valid')
      .option('--reset', 'replace an existing token, which becomes invalid')
      .action(run(makeToken)),
    'TOKEN=$(hearth runner token --once)',
    'hearth runner token --scope alice/garden --reset',
  );
  withExamples(
    runner
      .command('register')
      .description('register a runner with a shared secret; repeat to change it')
      .requiredOption('--name <text>', 'name')
      .option(...scopeOption)
      .option('--labels <list>', 'labels, separated by commas, for a runner that declares none')
      .option('--secret-stdin', 'read the secret, 40 hex digits, from standard input')
      .option('--secret-file <path>', 'read the secret from a file')
      .action(run(registerRunner)),
    'openssl rand -hex 20 > secret',
    'hearth runner register --name builder --labels linux --secret-file secret',
  );
  withExamples(
    runner
      .command('disable')
      .alias('pause')
      .description('stop assigning jobs to a runner; its current job continues')
      .argument('<id>', 'number')
      .action(run(switchTo(true))),
    'hearth runner disable 3',
  );
  withExamples(
    runner
      .command('enable')
      .alias('resume')
      .description('assign jobs to a runner again')
      .argument('<id>', 'number')
      .action(run(switchTo(false))),
    'hearth runner enable 3',
  );
  withExamples(
    runner
      .command('edit')
      .description("change a runner's labels or which code it accepts")
      .argument('<id>', 'number')
      .addOption(
        new Option('--trusted-only <yes|no>', 'accept only code from users with write access').choices(['yes', 'no']),
      )
      .option(
        '--labels <list>',
        'labels, separated by commas, that replace the declared ones; "" restores the declared ones',
      )
      .action(run(editRunner)),
    'hearth runner edit 3 --trusted-only yes',
    'hearth runner edit 3 --labels linux,big',
  );
  withExamples(
    runner
      .command('remove')
      .alias('delete')
      .description('remove a runner; its credentials stop working immediately')
      .argument('<id>', 'number')
      .option('--dry-run', 'only show what would be removed')
      .action(run(removeRunner)),
    'hearth runner remove 3',
  );
}

type Row = Runner & { where: string };

const statusOf = ({ isDisabled, status }: Runner): string =>
  isDisabled ? 'disabled' : status === 'unspecified' ? 'never seen' : status;

const columns: Column<Row>[] = [
  { title: 'ID', cell: ({ id }) => id, align: 'right' },
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'SCOPE', cell: ({ where }) => where },
  { title: 'STATUS', cell: statusOf, whole: true },
  { title: 'LABELS', cell: ({ labels }) => labels.join(',') },
  { title: 'VERSION', cell: ({ version }) => version },
  { title: 'LAST SEEN', cell: ({ lastSeenAt }) => never(lastSeenAt) },
];

function toJson({ where, ...runner }: Row): object {
  return {
    id: runner.id,
    uuid: runner.uuid,
    name: runner.name,
    scope: where,
    status: runner.status,
    disabled: runner.isDisabled,
    ephemeral: runner.ephemeral,
    trustedOnly: runner.trustedOnly,
    labels: runner.labels,
    declaredLabels: runner.declaredLabels,
    labelsChosen: runner.hasChosenLabels,
    capabilities: runner.capabilities,
    version: runner.version,
    createdAt: isoOrNull(runner.createdAt),
    lastSeenAt: isoOrNull(runner.lastSeenAt),
    lastActiveAt: isoOrNull(runner.lastActiveAt),
  };
}

async function toRow(modules: Modules, runner: Runner): Promise<Row> {
  return { ...runner, where: (await namesOfScopes(modules, [runner.scope]))(runner.scope) };
}

const listRunners: Action<ScopeOptions, []> = async (cli, { scope }) => {
  const modules = await cli.openModules();
  const runners = await modules.ci.runners.list(scope === undefined ? null : await readScope(modules, scope));
  const nameOf = await namesOfScopes(
    modules,
    runners.map((one) => one.scope),
  );
  cli.output.list(
    runners.map((one): Row => ({ ...one, where: nameOf(one.scope) })),
    columns,
    ['runner', 'runners'],
    toJson,
  );
};

function readId(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw invalid('usage', 'Enter a runner number, as shown by hearth runner list.');
  return Number(text);
}

/** The current job of a runner, as `alice/garden 7: build`. */
async function currentJobs({ ci, repositories }: Modules, id: number): Promise<string[]> {
  const tasks = await ci.runners.runningTasks([id]);
  const located = await repositories.locate([...new Set(tasks.map(({ repositoryId }) => repositoryId))]);
  return tasks.map(({ repositoryId, runNumber, jobName }) => {
    const place = located.get(repositoryId);
    return `${place === undefined ? repositoryId : `${place.owner.handle}/${place.repository.name}`} ${runNumber}: ${jobName}`;
  });
}

const showRunner: Action<object, [string]> = async (cli, _options, id) => {
  const modules = await cli.openModules();
  const row = await toRow(modules, await modules.ci.runners.find(null, readId(id)));
  const jobs = await currentJobs(modules, row.id);
  cli.output.show(
    [
      ['Runner', row.name],
      ['Id', row.id],
      ['Uuid', row.uuid],
      ['Scope', row.where],
      ['Status', statusOf(row)],
      ['Labels', row.labels.join(', ')],
      ...(row.hasChosenLabels ? [['Declares', row.declaredLabels.join(', ')] as [string, string]] : []),
      ['Current job', jobs.join('; ') || 'none'],
      ['Version', row.version],
      ['Capabilities', row.capabilities.join(', ')],
      ['Takes', row.ephemeral ? 'one job, then goes' : 'any number of jobs'],
      ['Code', row.trustedOnly ? 'only that of people with write access' : 'approved code of others, too'],
      ['Registered', never(row.createdAt)],
      ['Last seen', never(row.lastSeenAt)],
      ['Last report', never(row.lastActiveAt)],
    ],
    { ...toJson(row), jobs },
  );
};

const makeToken: Action<ScopeOptions & { once?: true; reset?: true }, []> = async (
  cli,
  { scope: text, once, reset },
) => {
  if (once && reset)
    throw invalid('usage', '--once adds a token and --reset replaces the token. Use only one of them.');
  const modules = await cli.openModules();
  const scope = await readScope(modules, text ?? 'instance');
  if (!once && !reset && (await modules.ci.runners.registrationTokenMadeAt(scope)) !== null) {
    throw withHint(
      conflict('registration_token_exists', 'A registration token already exists, and only its hash is stored.'),
      '--once creates a token for a single runner; --reset replaces the current token, but registered runners keep working',
    );
  }
  const token = await (once
    ? modules.ci.runners.makeSingleUseToken(scope, null)
    : modules.ci.runners.resetRegistrationToken(scope, null));
  const where = (await namesOfScopes(modules, [scope]))(scope);
  const owner =
    where === 'instance'
      ? 'every repository on this server'
      : where.includes('/')
        ? where
        : `all repositories of ${where}`;
  const registrants = once
    ? 'The first runner that registers with this token within a day can run jobs'
    : 'Runners that register with this token can run jobs';
  cli.output.secret(token, `${registrants} for ${owner}. It is shown only once.`, {
    scope: where,
    token,
    once: once === true,
  });
};

const splitLabels = (text: string): string[] =>
  text
    .split(',')
    .map((label) => label.trim())
    .filter((label) => label !== '');

const registerRunner: Action<RegisterOptions, []> = async (cli, options) => {
  const secret = await readSecret(cli, options);
  const modules = await cli.openModules();
  const scope: CiScope = await readScope(modules, options.scope ?? 'instance');
  const labels = splitLabels(options.labels ?? '');
  const row = await toRow(
    modules,
    await modules.ci.runners.registerOffline(scope, { name: options.name, secret, labels }, { mayMove: true }),
  );
  cli.output.result(
    `Registered runner ${row.id}, ${row.name}, for ${row.where} with the UUID ${row.uuid}.`,
    toJson(row),
  );
};

function switchTo(isDisabled: boolean): Action<object, [string]> {
  return async (cli, _options, id) => {
    const modules = await cli.openModules();
    const row = await toRow(modules, await modules.ci.runners.setDisabled(null, readId(id), isDisabled));
    cli.output.result(
      isDisabled
        ? `Runner ${row.id}, ${row.name}, gets no more jobs.`
        : `Runner ${row.id}, ${row.name}, gets jobs again.`,
      toJson(row),
    );
  };
}

/** Throws `usage` without a change, and what `setLabels` refuses. */
const editRunner: Action<{ trustedOnly?: 'yes' | 'no'; labels?: string }, [string]> = async (
  cli,
  { trustedOnly, labels },
  id,
) => {
  if (trustedOnly === undefined && labels === undefined)
    throw invalid('usage', 'Specify at least one change: --labels or --trusted-only.');
  const modules = await cli.openModules();
  const { runners } = modules.ci;
  let runner = await runners.find(null, readId(id));
  if (labels !== undefined)
    runner = await runners.setLabels(null, runner.id, labels.trim() === '' ? null : splitLabels(labels));
  if (trustedOnly !== undefined) runner = await runners.setTrustedOnly(null, runner.id, trustedOnly === 'yes');
  const row = await toRow(modules, runner);
  const code = row.trustedOnly ? 'only code of people with write access' : 'approved code of others, too';
  cli.output.result(
    `Runner ${row.id}, ${row.name}, has the labels ${row.labels.join(', ')} and accepts ${code}.`,
    toJson(row),
  );
};

const removeRunner: Action<{ dryRun?: true }, [string]> = async (cli, { dryRun }, id) => {
  const modules = await cli.openModules();
  const row = await toRow(modules, await modules.ci.runners.find(null, readId(id)));
  const what = `runner ${row.id}, ${row.name}`;
  if (dryRun) return cli.output.result(`Would remove ${what}.`, toJson(row));
  await cli.confirm(`Remove ${what}?`);
  await modules.ci.runners.remove(null, row.id);
  cli.output.result(`Removed ${what}.`, toJson(row));
};
