import type { Command } from 'commander';
import { Option } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import type { CiRepositorySettings, ListedWorkflow, PlannedRun } from '../../ci/index.ts';
import { invalid } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { absoluteTime } from '../terminal/times.ts';
import { findRepository } from './find-repository.ts';
import { addWorkflowProblemsCommand } from './workflow-problems.ts';

/** Loaded when it runs: it needs the CI module, which other commands do not need. */
const checkWorkflows: Action<object, [string[]]> = async (cli, options, files) =>
  (await import('./check-workflows.ts')).checkWorkflows(cli, options, files);

/** `hearth workflow …` and `hearth ci …`: workflows of a repository, its switches, and the key of identity tokens. */
export function addWorkflowCommands(program: Command, run: Run): void {
  const workflow = addNoun(program, 'workflow', 'workflow files');
  withExamples(
    workflow
      .command('list')
      .description('list the workflows on the default branch')
      .argument('<owner/name>', 'repository')
      .action(run(listWorkflows)),
    'hearth workflow list alice/garden',
  );
  const named = (command: Command): Command =>
    command.argument('<owner/name>', 'repository').argument('<file>', 'path below the workflow folder');
  withExamples(
    named(workflow.command('disable').description('disable a workflow on all branches')).action(run(switchTo(false))),
    'hearth workflow disable alice/garden nightly.yml',
  );
  withExamples(
    named(workflow.command('enable').description('enable a workflow')).action(run(switchTo(true))),
    'hearth workflow enable alice/garden nightly.yml',
  );
  withExamples(
    workflow
      .command('schedules')
      .description('list the next scheduled runs')
      .argument('<owner/name>', 'repository')
      .action(run(listSchedules)),
    'hearth workflow schedules alice/garden',
  );
  withExamples(
    workflow
      .command('check')
      .description('check workflow files; does not need a server')
      .argument('<file...>', 'files')
      .action(run(checkWorkflows)),
    'hearth workflow check .github/workflows/*.yml',
  );
  addWorkflowProblemsCommand(workflow, run);
  const ci = addNoun(program, 'ci', "a repository's CI settings, and identity tokens of jobs");
  withExamples(
    ci
      .command('settings')
      .description('show or change whether a repository runs workflows, and the default permissions of job tokens')
      .argument('<owner/name>', 'repository')
      .addOption(new Option('--enabled <yes|no>', 'whether workflows run').choices(['yes', 'no']))
      .addOption(
        new Option('--token-permissions <level>', 'default permissions of job tokens').choices([
          'read',
          'write',
          'default',
        ]),
      )
      .action(run(settings)),
    'hearth ci settings alice/garden',
    'hearth ci settings alice/garden --enabled no',
    'hearth ci settings alice/garden --token-permissions read',
  );
  withExamples(
    ci
      .command('rotate-key')
      .description('sign identity tokens of jobs with a new key; the current key stays published for another day')
      .action(run(rotateKey)),
    'hearth ci rotate-key',
  );
}

type Row = ListedWorkflow & { isEnabled: boolean };

const columns: Column<Row>[] = [
  { title: 'WORKFLOW', cell: ({ path }) => path },
  { title: 'NAME', cell: ({ name }) => name },
  { title: 'STATE', cell: ({ isEnabled }) => (isEnabled ? 'enabled' : 'disabled'), whole: true },
  { title: 'PROBLEM', cell: ({ problem }) => problem ?? '' },
];

const listWorkflows: Action<object, [string]> = async (cli, _options, text) => {
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const disabled = await modules.ci.settings.disabledWorkflows(found.repository.id);
  const rows = (await modules.ci.workflows.list(found)).map((one) => ({ ...one, isEnabled: !disabled.has(one.path) }));
  cli.output.list(rows, columns, ['workflow', 'workflows'], ({ path, name, isEnabled, problem }) => ({
    workflow: path,
    name,
    enabled: isEnabled,
    problem,
  }));
};

const plannedColumns: Column<PlannedRun>[] = [
  { title: 'NEXT', cell: ({ at }) => never(at) },
  { title: 'WORKFLOW', cell: ({ workflow }) => workflow },
  { title: 'SCHEDULE', cell: ({ cron }) => cron, whole: true },
  { title: 'ZONE', cell: ({ timeZone }) => timeZone, whole: true },
];

const listSchedules: Action<object, [string]> = async (cli, _options, text) => {
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const planned = await modules.ci.workflows.planned(found);
  cli.output.list(planned, plannedColumns, ['scheduled run', 'scheduled runs'], (run) => ({
    ...run,
    at: absoluteTime(run.at),
  }));
};

const switchTo =
  (isEnabled: boolean): Action<object, [string, string]> =>
  async (cli, _options, text, path) => {
    const modules = await cli.openModules();
    const found = await findRepository(modules, text);
    const known = await modules.ci.workflows.list(found);
    if (!isEnabled && !known.some((one) => one.path === path))
      throw invalid('usage', `The default branch does not have the workflow ${path}.`);
    await modules.ci.settings.switchWorkflow(localAdministrator, found, { path, isEnabled });
    cli.output.result(`The workflow ${path} is now ${isEnabled ? 'enabled' : 'disabled'}.`, {
      workflow: path,
      enabled: isEnabled,
    });
  };

interface SettingsOptions {
  enabled?: 'yes' | 'no';
  tokenPermissions?: 'read' | 'write' | 'default';
}

const settings: Action<SettingsOptions, [string]> = async (cli, { enabled, tokenPermissions }, text) => {
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const change: Partial<CiRepositorySettings> = {
    ...(enabled !== undefined && { isEnabled: enabled === 'yes' }),
    ...(tokenPermissions !== undefined && {
      tokenPermissions: tokenPermissions === 'default' ? null : tokenPermissions,
    }),
  };
  const { settings: ci } = modules.ci;
  const now =
    Object.keys(change).length === 0
      ? await ci.of(found.repository.id)
      : await ci.change(localAdministrator, found, change);
  cli.output.show(
    [
      ['Enabled', now.isEnabled ? 'yes' : 'no'],
      ['Token permissions', now.tokenPermissions ?? `${ci.server.tokenPermissions} (default of the server)`],
    ],
    { enabled: now.isEnabled, token_permissions: now.tokenPermissions },
  );
};

async function rotateKey(cli: Cli): Promise<void> {
  const { ci } = await cli.openModules();
  const { id } = await ci.identity.rotateKey();
  cli.output.result(`The key ${id} now signs identity tokens.`, { kid: id });
}
