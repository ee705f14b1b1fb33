import type { Command } from 'commander';
import { conflict, notFound } from '../../kernel/index.ts';
import type { Run } from '../action.ts';
import { callServer } from '../call-server.ts';
import type { Cli } from '../cli.ts';
import { addNoun, withExamples } from '../help.ts';
import { isoOrNull, never } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';

/** `hearth cron …`: scheduled tasks. */
export function addCronCommands(program: Command, run: Run): void {
  const cron = addNoun(program, 'cron', 'scheduled tasks');
  withExamples(
    cron.command('list').description('list scheduled tasks with their last result').action(run(listTasks)),
    'hearth cron list',
  );
  withExamples(
    cron
      .command('run <name>')
      .description('run a scheduled task now, in the running server if there is one')
      .action(run(runTask)),
    'hearth cron run sessions.sweep',
    'hearth cron run backup.nightly --json',
  );
}

interface TaskRow {
  name: string;
  time: string;
  lastAt: number | null;
  tookMs: number | null;
  nextAt: number | null;
  error: string | null;
}

const columns: Column<TaskRow>[] = [
  { title: 'NAME', cell: (row) => row.name, whole: true },
  { title: 'SCHEDULE', cell: (row) => row.time, whole: true },
  { title: 'LAST', cell: (row) => never(row.lastAt) },
  { title: 'TOOK', cell: (row) => (row.tookMs === null ? '' : shownMs(row.tookMs)), align: 'right', whole: true },
  { title: 'NEXT', cell: (row) => ({ epochMs: row.nextAt, otherwise: 'when a server runs' }) },
  { title: 'ERROR', cell: (row) => row.error ?? '' },
];

async function listTasks(cli: Cli): Promise<void> {
  const modules = await cli.openModules();
  const { scheduledTasks } = await import('../../app/index.ts');
  const { createTaskRuns } = await import('../../scheduler/index.ts');
  const runs = new Map((await createTaskRuns(modules).list()).map((run) => [run.name, run]));
  const next = JSON.parse((await callServer(modules.config.dataDir, 'cron.next')) ?? '{}') as Record<string, number>;
  const rows = scheduledTasks(modules).map(({ name, time }): TaskRow => {
    const last = runs.get(name);
    return {
      name,
      time,
      lastAt: last?.lastStartedAt ?? null,
      tookMs: last?.lastTookMs ?? null,
      nextAt: next[name] ?? null,
      error: last?.lastError ?? null,
    };
  });
  cli.output.list(rows, columns, ['task', 'tasks'], ({ lastAt, nextAt, ...row }) => ({
    ...row,
    lastAt: isoOrNull(lastAt),
    nextAt: isoOrNull(nextAt),
  }));
}

async function runTask(cli: Cli, _options: object, name: string): Promise<void> {
  const { tookMs, error } = await runNamed(cli, name);
  if (error !== null) cli.exitCode = 1;
  cli.output.result(
    error === null ? `Ran ${name} in ${shownMs(tookMs)}.` : `${name} failed after ${shownMs(tookMs)}: ${error}`,
    { name, tookMs, error },
  );
}

/**
 * In the running server, or here if there is none. Throws `unknown_job`, `job_running` while another server runs it.
 */
export async function runNamed(cli: Cli, name: string): Promise<Outcome> {
  const { config } = await cli.loadConfig();
  const reply = await callServer(config.dataDir, 'cron.run', { name });
  if (reply === null) return runHere(cli, name);
  if (reply === '') refuse(name);
  const outcome = JSON.parse(reply) as Outcome | { elsewhere: true };
  if ('elsewhere' in outcome) throw runsElsewhere(name);
  return outcome;
}

interface Outcome {
  tookMs: number;
  error: string | null;
}

/** Without a server, this process runs the task. */
async function runHere(cli: Cli, name: string): Promise<Outcome> {
  const modules = await cli.openModules();
  const { scheduledTasks } = await import('../../app/index.ts');
  const { createTaskRuns } = await import('../../scheduler/index.ts');
  const task = scheduledTasks(modules).find((each) => each.name === name) ?? refuse(name);
  const [startedAt, startedAtMs] = [cli.clock.now(), performance.now()];
  const turn = task.onEachNode === true ? null : await modules.leases.take(`task:${name}`);
  if (turn === null && task.onEachNode !== true) throw runsElsewhere(name);
  const failure = await task.run().then(
    () => null,
    (error: Error) => error,
  );
  await turn?.end();
  const tookMs = Math.round(performance.now() - startedAtMs);
  await createTaskRuns(modules).record(name, startedAt, tookMs, failure);
  return { tookMs, error: failure?.message ?? null };
}

const runsElsewhere = (name: string) =>
  conflict('job_running', `Another server is running ${name} now. hearth cron list shows when it has finished.`);

function refuse(name: string): never {
  throw notFound('unknown_job', `The scheduled task ${JSON.stringify(name)} does not exist.`);
}

const shownMs = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`);
