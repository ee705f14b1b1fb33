import type { Command } from 'commander';
import type { FlakyTest } from '../../ci/index.ts';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import type { Column } from '../terminal/output.ts';
import { findRepository } from './find-repository.ts';
import { readNumber, withRun } from './run-arguments.ts';

export function addRunFlakyCommand(runs: Command, run: Run): void {
  const command = runs.command('flaky').description("list a run's tests that failed and passed later");
  withExamples(withRun(command).action(run(listFlaky)), 'hearth run flaky alice/garden 12');
}

const occasion = ({ run, attempt }: FlakyTest['failed']): string => `run ${run}, attempt ${attempt}`;

const columns: Column<FlakyTest>[] = [
  { title: 'TEST', cell: ({ name }) => name },
  { title: 'SUITE', cell: ({ suite, group }) => [...new Set([suite, group])].filter((one) => one !== '').join(', ') },
  { title: 'FAILED', cell: ({ failed }) => occasion(failed), whole: true },
  { title: 'PASSED', cell: ({ passed }) => occasion(passed), whole: true },
];

const listFlaky: Action<object, [string, string]> = async (cli, _options, text, number) => {
  const modules = await cli.openModules();
  const found = await findRepository(modules, text);
  const tests = await modules.ci.flakyTests(found, readNumber(number));
  cli.output.list(tests, columns, ['flaky test', 'flaky tests'], (test) => test);
};
