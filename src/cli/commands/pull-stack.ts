import type { Command } from 'commander';
import type { StackedPull } from '../../pulls/index.ts';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import type { Column } from '../terminal/output.ts';
import { actorOf } from './issue-output.ts';
import type { AsOption } from './issue-output.ts';
import { pullAt } from './pull-output.ts';

/** `hearth pull stack`: the pull requests that a pull request depends on, and those that depend on it. */
export function addPullStackCommand(pull: Command, run: Run): void {
  withExamples(
    pull
      .command('stack')
      .description("list a pull request's stack: the pull requests that merge before and after it")
      .argument('<owner/name>', 'repository')
      .argument('<number>', 'pull request number')
      .option('--as <user>', 'show only content visible to this user')
      .action(run(stack)),
    'hearth pull stack alice/garden 7',
  );
}

const stateOf = ({ state, isDraft }: StackedPull): string =>
  state === 'OPEN' && isDraft ? 'draft' : state.toLowerCase();

const columns: Column<StackedPull>[] = [
  { title: 'NUMBER', cell: ({ number }) => number, align: 'right' },
  { title: 'TITLE', cell: ({ title }) => title },
  { title: 'STATE', cell: stateOf },
  { title: 'NEEDS', cell: ({ below }) => below.map((number) => `#${number}`).join(',') },
];

const stack: Action<AsOption, [string, string]> = async (cli, options, repository, number) => {
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const rows = await modules.pulls.stack(viewer, await pullAt(modules, viewer, repository, number));
  cli.output.list(rows, columns, ['pull request', 'pull requests'], ({ below, state, ...row }) => ({
    ...row,
    state: state.toLowerCase(),
    needs: below,
  }));
};
