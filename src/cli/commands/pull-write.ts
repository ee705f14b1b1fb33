import type { Command } from 'commander';
import { invalid } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import { withBody } from '../terminal/read-body.ts';
import type { BodyOptions } from '../terminal/read-body.ts';
import { actorOf, splitList, repositoryOf } from './issue-output.ts';
import type { AsOption } from './issue-output.ts';
import { formatPullReference, pullAt, printChangedPull } from './pull-output.ts';

const repository = ['<owner/name>', 'repository'] as const;
const as = ['--as <user>', 'act as this user'] as const;

/** `hearth pull new|comment`: texts, from an option, a file, standard input or an editor. */
export function addPullWriteCommands(pull: Command, run: Run): void {
  withExamples(
    pull
      .command('new')
      .alias('add')
      .alias('create')
      .description('open a pull request from a branch')
      .argument(...repository)
      .requiredOption('--head <branch>', 'branch to merge: branch, owner:branch or owner/name:branch')
      .option('--base <branch>', 'branch to merge into; left out: the default branch')
      .requiredOption('--title <title>', 'title')
      .option('--body <text>', 'text, Markdown')
      .option('--file <file>', 'read the text from this file; - is standard input')
      .option('--draft', 'open it as a draft')
      .option('--label <labels>', 'labels, separated by commas')
      .option('--assign <users>', 'users who are to work on it, separated by commas')
      .option('--milestone <title>', 'milestone')
      .option('--publish-private', 'all who see the repository may see the commits of a private fork')
      .option(...as)
      .action(run(newPull)),
    'hearth pull new alice/garden --head oiled --title "Oil the gate" --body "" --as bob',
    'hearth pull new alice/garden --head bob:oiled --base main --title "Oil the gate" --file text.md --draft',
  );
  withExamples(
    pull
      .command('comment')
      .description('comment on a pull request')
      .argument(...repository)
      .argument('<number>', 'number of the pull request')
      .option('--body <text>', 'text, Markdown')
      .option('--file <file>', 'read the text from this file; - is standard input')
      .option('--close', 'also close it')
      .option('--reopen', 'also reopen it')
      .option(...as)
      .action(run(comment)),
    'hearth pull comment alice/garden 7 --body "Please rebase."',
  );
}

interface NewOptions extends AsOption, BodyOptions {
  head: string;
  base?: string;
  title: string;
  draft?: true;
  label?: string;
  assign?: string;
  milestone?: string;
  publishPrivate?: true;
}

const newPull: Action<NewOptions, [string]> = async (cli, options, text) => {
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const at = await repositoryOf(modules, viewer, text);
  await withBody(cli, options, '', async (body) => {
    const { issue } = await modules.pulls.open(viewer, at, {
      title: options.title,
      body,
      head: options.head,
      base: options.base,
      isDraft: options.draft ?? false,
      labels: splitList(options.label) ?? [],
      assignees: splitList(options.assign) ?? [],
      milestone: options.milestone ?? null,
      publishes: options.publishPrivate ?? false,
    });
    const opened = { ...at, number: issue.number };
    await printChangedPull(cli, modules, viewer, opened, `Opened ${formatPullReference(opened)}.`);
  });
};

interface CommentOptions extends AsOption, BodyOptions {
  close?: true;
  reopen?: true;
}

const comment: Action<CommentOptions, [string, string]> = async (cli, options, text, number) => {
  const { close, reopen } = options;
  if (close && reopen) throw invalid('usage', 'Give one of --close and --reopen.');
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const at = await pullAt(modules, viewer, text, number);
  await modules.pulls.find(viewer, at);
  await withBody(cli, options, '', async (body) => {
    const state = close ? 'completed' : reopen ? 'open' : undefined;
    const { position } = await modules.issues.comment(viewer, at, { body, ...(state !== undefined && { state }) });
    cli.output.result(`Commented on ${formatPullReference(at)} (e${position}).`, { ...at, position });
  });
};
