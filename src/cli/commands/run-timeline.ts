import type { Command } from 'commander';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import type { Column } from '../terminal/output.ts';
import { absoluteTime, duration } from '../terminal/times.ts';
import { findRepository } from './find-repository.ts';
import { readNumber, withRun } from './run-arguments.ts';

export function addRunTimelineCommands(runs: Command, run: Run): void {
  withExamples(
    withRun(runs.command('timeline').description("show how long a run's jobs and steps waited and ran"))
      .option('--attempt <count>', 'show an earlier attempt')
      .action(run(showTimeline)),
    'hearth run timeline alice/garden 12',
    'hearth run timeline alice/garden 12 --attempt 1 --json',
  );
  withExamples(
    withRun(runs.command('compare').description('compare the durations of the jobs and steps of two runs'))
      .argument('<other>', 'number of the run to compare with')
      .action(run(compareTimes)),
    'hearth run compare alice/garden 12 11',
  );
}

type Span = { fromMs: number; toMs: number } | null;

const lengthOf = (span: Span): string => (span === null ? '' : duration(span.fromMs, span.toMs));

interface NamedRow {
  name: string;
  /** Steps are indented below their job. */
  isStep: boolean;
}

const nameOf = ({ name, isStep }: NamedRow): string => (isStep ? `  ${name}` : name);

interface TimelineRow extends NamedRow {
  status: string;
  waited: Span;
  span: Span;
}

const timelineColumns: Column<TimelineRow>[] = [
  { title: 'JOB', cell: nameOf },
  { title: 'STATUS', cell: ({ status }) => status, whole: true },
  { title: 'WAITED', cell: ({ waited }) => lengthOf(waited), align: 'right', whole: true },
  {
    title: 'AFTER',
    cell: ({ span }) => (span === null ? '' : duration(0, span.fromMs)),
    align: 'right',
    whole: true,
  },
  { title: 'TOOK', cell: ({ span }) => lengthOf(span), align: 'right', whole: true },
];

const showTimeline: Action<{ attempt?: string }, [string, string]> = async (cli, { attempt }, text, number) => {
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const asked = attempt === undefined ? undefined : readNumber(attempt, '--attempt must be a number.');
  const { startedAt, jobs } = await modules.ci.timings.timeline(found, readNumber(number), asked);
  const rows = jobs.flatMap(({ job, waited, ran, steps }): TimelineRow[] => [
    { name: job.name, isStep: false, status: job.status, waited, span: ran },
    ...steps.map(({ name, status, span }) => ({ name, isStep: true, status, waited: null, span })),
  ]);
  cli.output.list(rows, timelineColumns, ['row', 'rows'], ({ name, isStep, ...row }) => ({
    name,
    isStep,
    startedAt: startedAt === null ? null : absoluteTime(startedAt),
    ...row,
  }));
};

interface ComparedRow extends NamedRow {
  beforeMs: number | null;
  afterMs: number | null;
}

const timeOf = (ms: number | null): string => (ms === null ? '' : duration(0, ms));

function changeOf({ beforeMs, afterMs }: ComparedRow): string {
  if (beforeMs === null || afterMs === null) return '';
  const change = afterMs - beforeMs;
  return `${change < 0 ? '-' : '+'}${duration(0, Math.abs(change))}`;
}

const compareColumns: Column<ComparedRow>[] = [
  { title: 'JOB', cell: nameOf },
  { title: 'BEFORE', cell: ({ beforeMs }) => timeOf(beforeMs), align: 'right', whole: true },
  { title: 'AFTER', cell: ({ afterMs }) => timeOf(afterMs), align: 'right', whole: true },
  { title: 'CHANGE', cell: changeOf, align: 'right', whole: true },
];

const compareTimes: Action<object, [string, string, string]> = async (cli, _options, text, number, other) => {
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const { jobs } = await modules.ci.timings.compare(found, readNumber(number), readNumber(other));
  const rows = jobs.flatMap(({ steps, name, ...times }): ComparedRow[] => [
    { name, isStep: false, ...times },
    ...steps.map(({ name: step, ...took }) => ({ name: step, isStep: true, ...took })),
  ]);
  cli.output.list(rows, compareColumns, ['row', 'rows'], (row) => row);
};
