import type { Command } from 'commander';
import type { DescribedIssue } from '../../issues/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { escapeControls } from '../terminal/escape-controls.ts';
import { nameOf } from './find-person.ts';
import { addIssueChangeCommands } from './issue-change.ts';
import { readComments } from './issue-comments.ts';
import { readList, withListOptions } from './issue-list.ts';
import type { ListOptions } from './issue-list.ts';
import {
  actorOf,
  authorOf,
  describeOne,
  issueAt,
  issueColumns,
  issueToJson,
  formatIssueReference,
} from './issue-output.ts';
import type { AsOption } from './issue-output.ts';
import { addIssueWriteCommands } from './issue-write.ts';

/** `hearth issue …`: issues of repositories. */
export function addIssueCommands(program: Command, run: Run): void {
  const issue = addNoun(program, 'issue', 'issues');
  withExamples(
    withListOptions(issue.command('list').description('list issues, newest first'), 'issue').action(run(listIssues)),
    'hearth issue list alice/garden',
    'hearth issue list alice/garden --label kind/bug --state all --json',
  );
  withExamples(
    issue
      .command('show')
      .description('show an issue with its comments')
      .argument('<owner/name>', 'repository')
      .argument('<number>', 'issue number')
      .option('--as <user>', 'show only content visible to this user')
      .action(run(showIssue)),
    'hearth issue show alice/garden 7',
  );
  addIssueWriteCommands(issue, run);
  addIssueChangeCommands(issue, run);
}

const listIssues: Action<ListOptions, [string]> = async (cli, options, text) => {
  const rows = await readList(cli, options, text, 'issue', async (_modules, _viewer, issues) => issues);
  cli.output.list(rows, issueColumns, ['issue', 'issues'], issueToJson);
};

const showIssue: Action<AsOption, [string, string]> = async (cli, options, repository, number) => {
  const modules = await cli.openModules();
  const viewer = await actorOf(modules, options);
  const at = await issueAt(modules, viewer, repository, number);
  const issue = await describeOne(modules, viewer, at);
  const { comments, text } = await readComments(modules, viewer, at);
  cli.output.show(
    [
      ['Issue', formatIssueReference(at)],
      ['Title', issue.title],
      ['State', issue.state.toLowerCase() + (issue.closeReason === null ? '' : ` (${issue.closeReason})`)],
      ['Author', authorOf(issue)],
      ['Opened', { epochMs: issue.createdAt, otherwise: '' }],
      ['Changed', { epochMs: issue.updatedAt, otherwise: '' }],
      ['Labels', issue.labels.map(({ name }) => name).join(', ')],
      ['Assignees', issue.assigned.map(nameOf).join(', ')],
      ['Milestone', issue.milestone?.title ?? ''],
      ['Marks', marksOf(issue)],
    ],
    {
      ...issueToJson(issue),
      body: issue.body,
      revision: issue.revision,
      thread: comments,
    },
  );
  if (cli.output.json) return;
  const body = issue.body === '' ? '' : `${issue.body}\n`;
  cli.output.print(`\n${body}${text}`.split('\n').map(escapeControls).join('\n'));
};

const marksOf = ({ lockedAt, pinnedAt, heldAt }: DescribedIssue): string =>
  [lockedAt !== null && 'locked', pinnedAt !== null && 'pinned', heldAt !== null && 'waits for a member']
    .filter((mark) => mark !== false)
    .join(', ');
