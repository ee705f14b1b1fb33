import type { Command } from 'commander';
import { invalid } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import { findRepository } from './find-repository.ts';
import { actorOf, splitList } from './issue-output.ts';
import type { AsOption } from './issue-output.ts';
import { readNumber, withRun } from './run-arguments.ts';

interface ReviewOptions extends AsOption {
  approve?: true;
  reject?: true;
  environments?: string;
  comment?: string;
}

/** `hearth run review`: jobs that wait for environments. */
export function addRunReviewCommand(runs: Command, run: Run): void {
  withExamples(
    withRun(runs.command('review').description('approve or reject jobs that are waiting for environments'))
      .option('--approve', 'approve them')
      .option('--reject', 'reject them, so that they fail')
      .option(
        '--environments <names>',
        'only these environments, separated by commas (default: all that the user can approve)',
      )
      .option('--comment <text>', 'why')
      .option('--as <user>', 'act as this user; if omitted, bypass the rules if administrators can')
      .action(run(review)),
    'hearth run review acme/shop 12 --approve --as bob',
    'hearth run review acme/shop 12 --reject --environments production --comment "Not on a Friday" --as bob',
  );
}

const review: Action<ReviewOptions, [string, string]> = async (cli, options, text, number) => {
  const { approve, reject, environments, comment = '' } = options;
  if (approve === reject) throw invalid('usage', 'Use either --approve or --reject.');
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const found = await findRepository(modules, text, viewer);
  const verdict = approve ? 'approved' : 'rejected';
  const reviews = await modules.ci.environments.review(viewer, found, readNumber(number), {
    verdict,
    environments: splitList(environments) ?? null,
    comment,
  });
  const names = [...new Set(reviews.map(({ environment }) => environment))];
  cli.output.result(`${approve ? 'Approved' : 'Rejected'}: ${names.join(', ')}.`, {
    run: readNumber(number),
    verdict,
    environments: names,
  });
};
