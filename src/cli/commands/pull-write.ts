import type { Command } from 'commander';
import { invalid } from '../../kernel/index.ts';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import { readBytes, withBody } from '../terminal/read-body.ts';
import type { BodyOptions } from '../terminal/read-body.ts';
import { actorOf, splitList, repositoryOf } from './issue-output.ts';
import type { AsOption } from './issue-output.ts';
import { formatPullReference, pullAt, printChangedPull } from './pull-output.ts';
import { readCount } from './read-count.ts';

const repository = ['<owner/name>', 'repository'] as const;
const as = ['--as <user>', 'act as this user'] as const;

/** `hearth pull new|comment`: text from an option, a file, standard input or an editor. */
export function addPullWriteCommands(pull: Command, run: Run): void {
  withExamples(
    pull
      .command('new')
      .alias('add')
      .alias('create')
      .description('open a pull request from a branch or a patch')
      .argument(...repository)
      .option('--head <branch>', 'head branch: branch, owner:branch or owner/name:branch')
      .option('--patch <file>', 'file of git format-patch emails or a diff, instead of a branch; - for standard input')
      .option('--pull <number>', 'with --patch: add a new round to this pull request')
      .option('--base <branch>', 'branch to merge into (default: the default branch)')
      .option('--title <title>', 'title; optional with a patch')
      .option('--body <text>', 'text in Markdown')
      .option('--file <file>', 'read the text from this file; - for standard input')
      .option('--draft', 'open it as a draft')
      .option('--label <labels>', 'labels, separated by commas')
      .option('--assign <users>', 'users to assign, separated by commas')
      .option('--milestone <title>', 'milestone')
      .option('--publish-private', "make a private fork's commits visible to everyone who can see the repository")
      .option(...as)
      .action(run(newPull)),
    'hearth pull new alice/garden --head oiled --title "Oil the gate" --body "" --as bob',
    'hearth pull new alice/garden --head bob:oiled --base main --title "Oil the gate" --file text.md --draft',
    'git format-patch --stdout main | hearth pull new alice/garden --patch - --as bob',
  );
  withExamples(
    pull
      .command('comment')
      .description('comment on a pull request')
      .argument(...repository)
      .argument('<number>', 'pull request number')
      .option('--body <text>', 'text in Markdown')
      .option('--file <file>', 'read the text from this file; - for standard input')
      .option('--close', 'also close the pull request')
      .option('--reopen', 'also reopen the pull request')
      .option(...as)
      .action(run(comment)),
    'hearth pull comment alice/garden 7 --body "Please rebase."',
  );
}

interface NewOptions extends AsOption, BodyOptions {
  head?: string;
  patch?: string;
  pull?: string;
  base?: string;
  title?: string;
  draft?: true;
  label?: string;
  assign?: string;
  milestone?: string;
  publishPrivate?: true;
}

const newPull: Action<NewOptions, [string]> = async (cli, options, text) => {
  if (options.patch !== undefined) return sendPatch(cli, options, text);
  const { head, title } = options;
  if (head === undefined || options.pull !== undefined)
    throw invalid('usage', 'Use --head with a branch, or --patch with a file.');
  if (title === undefined) throw invalid('usage', 'Use --title to set a title.');
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const at = await repositoryOf(modules, viewer, text);
  await withBody(cli, options, '', async (body) => {
    const { issue } = await modules.pulls.open(viewer, at, {
      title,
      body,
      head,
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

/** Options of a branch, which are invalid for a patch. */
const ofBranch = ['head', 'label', 'assign', 'milestone', 'publishPrivate'] as const;

const sendPatch: Action<NewOptions, [string]> = async (cli, options, text) => {
  if (ofBranch.some((name) => options[name] !== undefined))
    throw invalid('usage', 'With --patch, use only --base, --title, --body, --file, --draft and --pull.');
  if (options.patch === '-' && options.file === '-')
    throw invalid('usage', 'Only one of --patch and --file can be standard input.');
  const modules = await cli.openModules();
  const { pullLimits } = await import('../../pulls/index.ts');
  const viewer = await actorOf(modules, options);
  const at = await repositoryOf(modules, viewer, text);
  const patch = await readBytes(cli, options.patch!, pullLimits.proposedPatchBytes);
  const hasBody = options.body !== undefined || options.file !== undefined;
  await withBody(cli, hasBody ? options : { body: '' }, '', async (body) => {
    const { number, round } = await modules.pulls.proposePatch(viewer, at, {
      patch,
      body,
      base: options.base,
      title: options.title,
      isDraft: options.draft ?? false,
      pull: options.pull === undefined ? undefined : readCount(options.pull),
    });
    const opened = { ...at, number };
    const line =
      options.pull === undefined
        ? `Opened ${formatPullReference(opened)}.`
        : `Added round ${round} to ${formatPullReference(opened)}.`;
    await printChangedPull(cli, modules, viewer, opened, line);
  });
};

interface CommentOptions extends AsOption, BodyOptions {
  close?: true;
  reopen?: true;
}

const comment: Action<CommentOptions, [string, string]> = async (cli, options, text, number) => {
  const { close, reopen } = options;
  if (close && reopen) throw invalid('usage', 'Use only one of --close and --reopen.');
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
