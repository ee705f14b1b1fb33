import type { Command } from 'commander';
import type { Modules } from '../../app/index.ts';
import type { JobRow, StoredRow } from '../../ci/index.ts';
import type { Found } from '../../repositories/index.ts';
import { notFound } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import type { Cli } from '../cli.ts';
import { Interrupted } from '../exit-codes.ts';
import { withExamples } from '../help.ts';
import { escapeControls } from '../terminal/escape-controls.ts';
import { absoluteTime } from '../terminal/times.ts';
import { findRepository } from './find-repository.ts';
import { findJob, readNumber, withRun } from './run-arguments.ts';

interface LogOptions {
  follow?: true;
  attempt?: string;
  times?: true;
}

export function addRunLogCommand(runs: Command, run: Run): void {
  withExamples(
    withRun(runs.command('log').description('print the log of a run or of one of its jobs'))
      .argument('[job]', 'job number or name (default: all jobs, in order)')
      .option('-f, --follow', 'follow the log until the run ends')
      .option('--attempt <count>', 'show an earlier attempt')
      .option('--times', 'print the time before each line')
      .action(run(printLog)),
    'hearth run log alice/garden 12',
    'hearth run log alice/garden 12 "build (18)" --follow',
  );
}

/** Polling interval for jobs that begin while a run is followed, in milliseconds. */
const pollMs = 500;

const printLog: Action<LogOptions, [string, string, string | undefined]> = async (
  cli,
  options,
  text,
  number,
  wanted,
) => {
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const attempt =
    options.attempt === undefined ? undefined : readNumber(options.attempt, '--attempt must be a number.');
  const { run, attempt: shown, jobs } = await modules.ci.runs.find(found, readNumber(number), attempt);
  const chosen = wanted === undefined ? jobs : [findJob(jobs, wanted)];
  if (chosen.length === 0) throw notFound('log_not_found', run.reason ?? 'This run has no jobs, so it has no log.');
  const left = new AbortController();
  let ended: Interrupted | null = null;
  cli.onSignal((signal) => {
    ended = new Interrupted(signal);
    left.abort();
  });
  const reader = new LogReader(cli, modules, found, run.number, {
    ...options,
    hasTitles: chosen.length > 1,
    signal: left.signal,
  });
  const printed = new Set<number>();
  for (let waiting = chosen; waiting.length > 0; ) {
    for (const job of waiting) if (await reader.print(job)) printed.add(job.id);
    if (!options.follow || left.signal.aborted) break;
    // An expanded matrix has more jobs now.
    const now = wanted === undefined ? (await modules.ci.runs.find(found, run.number, shown)).jobs : chosen;
    waiting = now.filter(({ id }) => !printed.has(id));
    if (waiting.length > 0) await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  if (ended !== null) throw ended as Interrupted;
};

interface ReaderOptions extends LogOptions {
  hasTitles: boolean;
  signal: AbortSignal;
}

class LogReader {
  readonly #cli: Cli;
  readonly #modules: Modules;
  readonly #found: Found;
  readonly #number: number;
  readonly #options: ReaderOptions;

  constructor(cli: Cli, modules: Modules, found: Found, number: number, options: ReaderOptions) {
    this.#cli = cli;
    this.#modules = modules;
    this.#found = found;
    this.#number = number;
    this.#options = options;
  }

  /** Prints the log of a job to its end. Returns false if the job has not begun. */
  async print({ id }: JobRow): Promise<boolean> {
    const { ci } = this.#modules;
    const { follow = false, hasTitles, signal } = this.#options;
    const { job, task } = await ci.runs.findJob(this.#found, this.#number, id);
    if (task === null) {
      if (!follow)
        this.#cli.output.message(
          `${escapeControls(job.name)}: ${job.reason ?? (job.finishedAt === null ? 'no runner has started it' : 'it did not run')}.`.replace(
            /\.\.$/,
            '.',
          ),
        );
      return job.finishedAt !== null || !follow;
    }
    if (hasTitles && !this.#cli.output.json) this.#cli.output.print(`==> ${escapeControls(job.name)} <==\n`);
    if (task.logRemovedAt !== null) this.#cli.output.message('This log has expired and was removed.');
    if (follow) {
      for await (const { rows, from } of ci.logs.follow(task.id, 0, signal, { source: 'disk' }))
        this.#write(job, rows, from);
      return true;
    }
    for (let from = 0; ; ) {
      const { rows, total } = await ci.logs.read(task.id, from, rowsAtOnce);
      this.#write(job, rows, from);
      from += rows.length;
      if (rows.length === 0 || from >= total) return true;
    }
  }

  #write(job: JobRow, rows: readonly StoredRow[], from: number): void {
    const { output } = this.#cli;
    const lines = output.json
      ? rows.map(({ at, content }, place) =>
          JSON.stringify({ job: job.id, line: from + place + 1, at: new Date(at).toISOString(), content }),
        )
      : rows.map(
          ({ at, content }) => (this.#options.times ? `${absoluteTime(at)} ` : '') + showContent(content, this.#cli),
        );
    if (lines.length > 0) output.print(lines.map((line) => `${line}\n`).join(''));
  }
}

const rowsAtOnce = 1_000;

/** Keeps colours, which build logs rely on, and removes all other control sequences. */
function showContent(content: string, { output }: Cli): string {
  const isColoured = output.style('red', 'x') !== 'x';
  const parts = content.split(/(\u001b\[[0-9;]*m|\t)/);
  const shown = parts
    .map((part, at) => (at % 2 === 0 ? escapeControls(part) : part === '\t' || isColoured ? part : ''))
    .join('');
  return isColoured && content.includes('\u001b[') ? `${shown}\u001b[0m` : shown;
}
