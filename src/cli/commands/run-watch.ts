import type { Command } from 'commander';
import type { Action, Run } from '../action.ts';
import { Interrupted } from '../exit-codes.ts';
import { withExamples } from '../help.ts';
import { escapeControls } from '../terminal/escape-controls.ts';
import { absoluteTime, duration } from '../terminal/times.ts';
import { findRepository } from './find-repository.ts';
import { readNumber, withRun } from './run-arguments.ts';

export function addRunWatchCommand(runs: Command, run: Run): void {
  withExamples(
    withRun(runs.command('watch').description("print changes in a run's jobs until the run ends"))
      .option('--exit-status', 'exit with 1 if the run did not succeed')
      .action(run(watchRun)),
    'hearth run watch alice/garden 12',
    'hearth run watch alice/garden 12 --exit-status',
  );
}

const pollMs = 500;

const watchRun: Action<{ exitStatus?: true }, [string, string]> = async (cli, { exitStatus }, text, number) => {
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const asked = readNumber(number);
  let ended: Interrupted | null = null;
  cli.onSignal((signal) => (ended = new Interrupted(signal)));
  const shown = new Map<string, string>();
  for (;;) {
    const { run, jobs } = await modules.ci.runs.find(found, asked);
    for (const { id, name, status, startedAt, finishedAt, reason } of jobs) {
      const job = `${run.attempt} ${id}`;
      if (shown.get(job) === status) continue;
      shown.set(job, status);
      const words = [status, finishedAt === null ? '' : duration(startedAt, finishedAt), reason ?? ''];
      const line = cli.output.json
        ? JSON.stringify({ job: id, name, status, at: absoluteTime(modules.clock.now()) })
        : escapeControls(`${name}: ${words.filter((word) => word !== '').join(', ')}`);
      cli.output.print(`${line}\n`);
    }
    if (run.finishedAt !== null) {
      const words = run.reason === null ? run.status : `${run.status}, ${run.reason}`;
      cli.output.message(escapeControls(`Run ${run.number}: ${words}`));
      if (exitStatus && run.status !== 'success') cli.exitCode = 1;
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
    if (ended !== null) throw ended as Interrupted;
  }
};
