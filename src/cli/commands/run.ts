import type { Command } from 'commander';
import { Option } from 'commander';
import { localAdministrator } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import type { JobRow, RunRow } from '../../ci/index.ts';
import { invalid, shortRef } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { absoluteTime, duration } from '../terminal/times.ts';
import { findRepository } from './find-repository.ts';
import { findJob, readNumber, withRun } from './run-arguments.ts';
import { addRunLogCommand } from './run-log.ts';
import { addRunReviewCommand } from './run-review.ts';
import { addRunFlakyCommand } from './run-flaky.ts';
import { addRunTimelineCommands } from './run-timeline.ts';
import { addRunWatchCommand } from './run-watch.ts';
import { addRunRetentionCommand } from './run-retention.ts';

/** `hearth run …`: workflow runs of a repository. */
export function addRunCommands(program: Command, run: Run): void {
  const runs = addNoun(program, 'run', 'workflow runs and their logs');
  withExamples(
    runs
      .command('list')
      .description("list a repository's runs, newest first")
      .argument('<owner/name>', 'repository')
      .addOption(
        new Option('--status <status>', 'only runs with this status').choices([
          'active',
          'success',
          'failure',
          'cancelled',
          'skipped',
        ]),
      )
      .option('--workflow <file>', 'filter by workflow')
      .option('--branch <name>', 'filter by branch')
      .option('--limit <count>', 'maximum number to list', '30')
      .action(run(listRuns)),
    'hearth run list alice/garden',
    'hearth run list alice/garden --status failure --branch main --json',
  );
  withExamples(
    withRun(runs.command('show').description('show a run with its jobs'))
      .option('--attempt <count>', 'show an earlier attempt')
      .action(run(showRun)),
    'hearth run show alice/garden 12',
  );
  withExamples(
    withRun(runs.command('cancel').description('cancel a run; runners may finish cleanup steps'))
      .option('--force', 'do not wait for runners')
      .action(run(cancelRun)),
    'hearth run cancel alice/garden 12',
  );
  withExamples(
    withRun(
      runs.command('approve').description('approve a run for a pull request from a user without write access'),
    ).action(run(approveRun)),
    'hearth run approve alice/garden 12',
  );
  withExamples(
    withRun(runs.command('rerun').description('re-run jobs as a new attempt; earlier logs are kept'))
      .option('--failed', 'only failed and cancelled jobs, and the jobs that need them')
      .option('--job <job>', 'only one job, by number or name, and the jobs that need it')
      .action(run(rerun)),
    'hearth run rerun alice/garden 12 --failed',
  );
  addRunReviewCommand(runs, run);
  addRunLogCommand(runs, run);
  addRunWatchCommand(runs, run);
  addRunTimelineCommands(runs, run);
  addRunFlakyCommand(runs, run);
  addRunRetentionCommand(runs, run);
}

type Row = RunRow & { actor: string | null };

const statusOf = ({ status, approval, finishedAt }: Row): string =>
  approval === 'waiting' && finishedAt === null ? 'waiting for approval' : status;

const columns: Column<Row>[] = [
  { title: 'RUN', cell: ({ number }) => number, align: 'right' },
  { title: 'STATUS', cell: statusOf, whole: true },
  { title: 'TITLE', cell: ({ title }) => title },
  { title: 'WORKFLOW', cell: ({ workflowName }) => workflowName },
  { title: 'EVENT', cell: ({ event }) => event, whole: true },
  { title: 'REF', cell: ({ ref }) => shortRef(ref) },
  { title: 'STARTED', cell: ({ createdAt }) => never(createdAt) },
  {
    title: 'WAITED',
    cell: ({ attempt, createdAt, startedAt }) => (attempt > 1 ? '' : duration(createdAt, startedAt)),
    align: 'right',
    whole: true,
  },
  { title: 'TOOK', cell: ({ startedAt, finishedAt }) => duration(startedAt, finishedAt), align: 'right', whole: true },
];

async function toRows({ accounts }: Modules, runs: readonly RunRow[]): Promise<Row[]> {
  const people = await accounts.peopleById(runs.flatMap(({ actorId }) => actorId ?? []));
  return runs.map((run) => ({
    ...run,
    actor: run.actorId === null ? null : (people.get(run.actorId)?.username ?? null),
  }));
}

interface ListOptions {
  status?: string;
  workflow?: string;
  branch?: string;
  limit: string;
}

const listRuns: Action<ListOptions, [string]> = async (cli, { status, workflow, branch, limit }, text) => {
  const count = readNumber(limit, '--limit must be a number of runs.');
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const filter = { status, workflow, ref: branch === undefined ? undefined : `refs/heads/${branch}` };
  const { runs } = await modules.ci.runs.list(found, filter, { limit: Math.min(count, 100_000) });
  const { describeRun } = await shapes();
  cli.output.list(await toRows(modules, runs), columns, ['run', 'runs'], (row) =>
    describeRun(row, row.actor, absoluteTime),
  );
};

/** The JSON shapes belong to the module, which is already loaded. */
const shapes = () => import('../../ci/index.ts');

async function toJson(row: Row): Promise<object> {
  return (await shapes()).describeRun(row, row.actor, absoluteTime);
}

/** Leaves out waits of less than a second. */
const waitOf = ({ waitingSince, startedAt }: JobRow): string => {
  const waited = duration(waitingSince, startedAt);
  return waited === '' || waited === '0s' ? '' : `waited ${waited}`;
};

const showRun: Action<{ attempt?: string }, [string, string]> = async (cli, { attempt }, text, number) => {
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const shown = await modules.ci.runs.find(
    found,
    readNumber(number),
    attempt === undefined ? undefined : readNumber(attempt, '--attempt must be a number.'),
  );
  const [row] = (await toRows(modules, [shown.run])) as [Row];
  const reasons = new Map((await modules.ci.tasks.explainQueue(found)).map(({ job, reason }) => [job.id, reason]));
  const { describeJob } = await shapes();
  const about = (job: JobRow): string =>
    [job.status, duration(job.startedAt, job.finishedAt), waitOf(job), job.reason ?? reasons.get(job.id) ?? '']
      .filter((word) => word !== '')
      .join(', ');
  cli.output.show(
    [
      ['Run', row.number],
      ['Title', row.title],
      ['Status', statusOf(row)],
      ...(row.reason === null ? [] : [['Reason', row.reason] as const]),
      ['Workflow', `${row.workflowName} (${row.workflowPath})`],
      ['Event', row.event],
      ['Ref', shortRef(row.ref)],
      ['Commit', row.sha],
      ['By', row.actor ?? (row.deployKey === null ? '' : `deploy key ${row.deployKey}`)],
      ['Attempt', shown.attempt === row.attempt ? row.attempt : `${shown.attempt} of ${row.attempt}`],
      ['Created', never(row.createdAt)],
      ['Ended', never(row.finishedAt)],
      ...shown.jobs.map((job) => [`Job ${job.id}`, `${job.name}: ${about(job)}`] as const),
    ],
    {
      ...(await toJson(row)),
      shownAttempt: shown.attempt,
      jobs: shown.jobs.map((job) => describeJob(job, reasons.get(job.id) ?? null, absoluteTime)),
    },
  );
};

const cancelRun: Action<{ force?: true }, [string, string]> = async (cli, { force = false }, text, number) => {
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const run = await modules.ci.runs.cancel(localAdministrator, found, readNumber(number), { force });
  const [row] = (await toRows(modules, [run])) as [Row];
  cli.output.result(
    row.status === 'cancelling' ? `Run ${row.number} is being cancelled.` : `Run ${row.number} is cancelled.`,
    await toJson(row),
  );
};

const approveRun: Action<object, [string, string]> = async (cli, _options, text, number) => {
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const run = await modules.ci.pulls.approve(localAdministrator, found, readNumber(number));
  const [row] = (await toRows(modules, [run])) as [Row];
  cli.output.result(`Run ${row.number} is approved.`, await toJson(row));
};

const rerun: Action<{ failed?: true; job?: string }, [string, string]> = async (cli, { failed, job }, text, number) => {
  if (failed && job !== undefined) throw invalid('usage', 'Use only one of --failed and --job.');
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const { jobs } = await modules.ci.runs.find(found, readNumber(number));
  const choice = job === undefined ? (failed ? 'failed' : 'all') : { jobId: findJob(jobs, job).id };
  const [row] = (await toRows(modules, [
    await modules.ci.runs.rerun(localAdministrator, found, readNumber(number), choice),
  ])) as [Row];
  cli.output.result(`Run ${row.number} is running again as attempt ${row.attempt}.`, await toJson(row));
};
