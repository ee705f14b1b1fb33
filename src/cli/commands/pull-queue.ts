import { Option } from 'commander';
import type { Command } from 'commander';
import { invalid } from '../../kernel/index.ts';
import type { QueuePosition } from '../../pulls/index.ts';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import type { Column } from '../terminal/output.ts';
import { isoOrNull } from '../terminal/output.ts';
import { actorOf, repositoryOf } from './issue-output.ts';
import type { AsOption } from './issue-output.ts';
import { formatPullReference, pullAt } from './pull-output.ts';

/** `hearth pull queue`: the merge queue of a repository, and its pull requests. */
export function addPullQueueCommand(pull: Command, run: Run): void {
  withExamples(
    pull
      .command('queue')
      .description("show a repository's merge queues, or add a pull request to the queue of its base branch")
      .argument('<owner/name>', 'repository')
      .argument('[number]', 'number of the pull request to add')
      .addOption(
        new Option('--style <style>', 'merge method')
          .choices(['merge', 'squash', 'rebase', 'forward'])
          .default('merge'),
      )
      .option('--leave', 'remove it from the queue')
      .option('--first', 'move it to the front of the queue; requires repository administrator rights')
      .option('--as <user>', 'act as this user')
      .action(run(queue)),
    'hearth pull queue alice/garden',
    'hearth pull queue alice/garden 7 --as bob',
    'hearth pull queue alice/garden 7 --leave --as bob',
  );
}

interface QueueOptions extends AsOption {
  style: string;
  leave?: true;
  first?: true;
}

const columns: Column<QueuePosition>[] = [
  { title: 'BRANCH', cell: ({ baseBranch }) => baseBranch },
  { title: 'PLACE', cell: ({ place }) => place, align: 'right' },
  { title: 'NUMBER', cell: ({ number }) => number, align: 'right' },
  { title: 'TITLE', cell: ({ title }) => title },
  { title: 'STATE', cell: ({ state }) => state.toLowerCase() },
  { title: 'ADDED', cell: ({ addedAt }) => ({ epochMs: addedAt, otherwise: '' }) },
];

const toJson = ({ testedSince, addedAt, state, ...place }: QueuePosition): object => ({
  ...place,
  state: state.toLowerCase(),
  addedAt: isoOrNull(addedAt),
  testedSince: isoOrNull(testedSince),
});

const queue: Action<QueueOptions, [string, string | undefined]> = async (cli, options, repository, number) => {
  if (options.leave && options.first) throw invalid('usage', 'Use only one of --leave and --first.');
  if (number === undefined && (options.leave || options.first))
    throw invalid('usage', 'Specify a pull request number.');
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const { queue: queues } = modules.pulls;
  if (number === undefined) {
    const places = await queues.list(viewer, await repositoryOf(modules, viewer, repository));
    return cli.output.list(places, columns, ['queued pull request', 'queued pull requests'], toJson);
  }
  const at = await pullAt(modules, viewer, repository, number);
  if (options.leave) {
    await queues.leave(viewer, at);
    return cli.output.result(`Removed ${formatPullReference(at)} from the merge queue.`, { ...at, place: null });
  }
  if (options.first) await queues.moveToFront(viewer, at);
  else {
    const { pull } = await modules.pulls.find(viewer, at);
    await queues.enter(viewer, at, { style: options.style, round: pull.lastRound });
  }
  const place = await queues.placeOf(viewer, at);
  const line =
    place === null
      ? `${formatPullReference(at)} was merged immediately.`
      : `${formatPullReference(at)} is in the merge queue of ${place.baseBranch}, position ${place.place} of ${place.length}.`;
  cli.output.result(line, place === null ? { ...at, place: null } : toJson(place));
};
