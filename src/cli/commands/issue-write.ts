import { Option } from 'commander';
import type { Command } from 'commander';
import { invalid } from '../../kernel/index.ts';
import type { CloseReason, IssueUpdate, TemplateAnswers } from '../../issues/index.ts';
import type { Action, Run } from '../action.ts';
import { withExamples } from '../help.ts';
import { findRepository } from './find-repository.ts';
import { withBody } from '../terminal/read-body.ts';
import type { BodyOptions } from '../terminal/read-body.ts';
import { actorOf, describeOne, issueAt, splitList, formatIssueReference, printChangedIssue } from './issue-output.ts';
import type { AsOption } from './issue-output.ts';

export const closeReasons: readonly CloseReason[] = ['completed', 'not_planned', 'duplicate'];
const repository = ['<owner/name>', 'repository'] as const;
const number = ['<number>', 'issue number'] as const;
const as = ['--as <user>', 'act as this user'] as const;

/** `hearth issue new|comment|edit`: text from an option, a file, standard input or an editor. */
export function addIssueWriteCommands(issue: Command, run: Run): void {
  withExamples(
    issue
      .command('new')
      .alias('add')
      .alias('create')
      .description('open an issue')
      .argument(...repository)
      .requiredOption('--title <title>', 'title')
      .option('--body <text>', 'text in Markdown')
      .option('--file <file>', 'read the text from this file; - for standard input')
      .option('--label <labels>', 'labels, separated by commas')
      .option('--assign <users>', 'users to assign, separated by commas')
      .option('--milestone <title>', 'milestone')
      .option('--template <file>', 'file name of an issue template in the repository')
      .option('--answer <id=text...>', 'answer to a field of the template')
      .option(...as)
      .action(run(newIssue)),
    'hearth issue new alice/garden --title "The gate squeaks" --label kind/bug',
    'hearth issue new alice/garden --title "From a file" --file report.md --as bob',
    'hearth issue new alice/garden --title "It rusts" --template bug.yml --answer where=gate',
  );
  withExamples(
    issue
      .command('comment')
      .description('comment on an issue')
      .argument(...repository)
      .argument(...number)
      .option('--body <text>', 'text in Markdown')
      .option('--file <file>', 'read the text from this file; - for standard input')
      .option('--close', 'also close the issue')
      .option('--reopen', 'also reopen the issue')
      .option(...as)
      .action(run(comment)),
    'hearth issue comment alice/garden 7 --body "Oiled." --close',
  );
  withExamples(
    issue
      .command('edit')
      .description("edit an issue's title, text or milestone")
      .argument(...repository)
      .argument(...number)
      .option('--title <title>', 'title')
      .option('--body <text>', 'text in Markdown')
      .option('--file <file>', 'read the text from this file; - for standard input')
      .addOption(new Option('--milestone <title>', 'milestone; empty for none'))
      .option(...as)
      .action(run(editIssue)),
    'hearth issue edit alice/garden 7 --title "The gate no longer squeaks"',
    'hearth issue edit alice/garden 7                         the text, in your editor',
  );
}

interface NewOptions extends AsOption, BodyOptions {
  title: string;
  label?: string;
  assign?: string;
  milestone?: string;
  template?: string;
  answer?: string[];
}

const newIssue: Action<NewOptions, [string]> = async (cli, options, text) => {
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const found = await findRepository(modules, text, viewer);
  const at = found.canonical;
  const { findTemplate, useTemplate } = await import('../../issues/index.ts');
  const template = options.template === undefined ? null : await findTemplate(modules, found, options.template);
  const answers = answersIn(options.answer);
  // With answers to a form, no text is needed.
  const written = answers === undefined ? options : { ...options, body: options.body ?? '' };
  await withBody(cli, written, template?.body ?? '', async (body) => {
    const { number: given } = await modules.issues.open(viewer, at, {
      title: options.title,
      ...(template === null ? { body } : useTemplate(template, { body, answers })),
      labels: splitList(options.label) ?? [],
      assignees: splitList(options.assign) ?? [],
      milestone: options.milestone ?? null,
    });
    const opened = { ...at, number: given };
    await printChangedIssue(cli, modules, viewer, opened, `Opened ${formatIssueReference(opened)}.`);
  });
};

/** Groups `id=text` by id; a repeated id gives several answers. Throws `usage`. */
function answersIn(given: readonly string[] | undefined): TemplateAnswers | undefined {
  if (given === undefined) return undefined;
  const answers: Record<string, string[]> = {};
  for (const pair of given) {
    const at = pair.indexOf('=');
    if (at < 1) throw invalid('usage', 'Specify an answer as id=text.');
    (answers[pair.slice(0, at)] ??= []).push(pair.slice(at + 1));
  }
  return answers;
}

interface CommentOptions extends AsOption, BodyOptions {
  close?: true;
  reopen?: true;
}

const comment: Action<CommentOptions, [string, string]> = async (cli, options, text, given) => {
  const { close, reopen } = options;
  if (close && reopen) throw invalid('usage', 'Use only one of --close and --reopen.');
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const at = await issueAt(modules, viewer, text, given);
  await modules.issues.find(viewer, at);
  await withBody(cli, options, '', async (body) => {
    const state = close ? 'completed' : reopen ? 'open' : undefined;
    const { position } = await modules.issues.comment(viewer, at, { body, ...(state !== undefined && { state }) });
    cli.output.result(`Commented on ${formatIssueReference(at)} (e${position}).`, { ...at, position });
  });
};

interface EditOptions extends AsOption, BodyOptions {
  title?: string;
  milestone?: string;
}

const editIssue: Action<EditOptions, [string, string]> = async (cli, options, text, given) => {
  const { title, milestone, body, file } = options;
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const at = await issueAt(modules, viewer, text, given);
  const change: IssueUpdate = {
    ...(title !== undefined && { title }),
    ...(milestone !== undefined && { milestone: milestone === '' ? null : milestone }),
  };
  const done = async (update: IssueUpdate): Promise<void> => {
    await modules.issues.update(viewer, at, update);
    await printChangedIssue(cli, modules, viewer, at, `Edited ${formatIssueReference(at)}.`);
  };
  // Reads the text if its source is given, or if nothing else changes.
  const isTextOnly = Object.keys(change).length === 0;
  if (body === undefined && file === undefined && !isTextOnly) return done(change);
  const { body: before, revision } = await describeOne(modules, viewer, at);
  await withBody(cli, options, before, (edited) => done({ ...change, body: edited, revision }));
};
