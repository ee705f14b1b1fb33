import { Option } from 'commander';
import type { Command } from 'commander';
import type { DescribedIssue, IssueFilter } from '../../issues/index.ts';
import type { Action, Run } from '../action.ts';
import { addNoun, withExamples } from '../help.ts';
import { escapeControls } from '../terminal/escape-controls.ts';
import { nameOf } from './find-person.ts';
import { addIssueChangeCommands } from './issue-change.ts';
import { readComments } from './issue-comments.ts';
import {
  actorOf,
  authorOf,
  describeOne,
  issueAt,
  issueColumns,
  issueToJson,
  listIn,
  nameIssue,
  repositoryOf,
} from './issue-row.ts';
import type { AsOption } from './issue-row.ts';
import { addIssueWriteCommands } from './issue-write.ts';
import { readCount } from './read-count.ts';

/** `hearth issue …`: issues of repositories. */
export function addIssueCommands(program: Command, run: Run): void {
  const issue = addNoun(program, 'issue', 'issues');
  withExamples(
    issue
      .command('list')
      .description('list issues, the newest first')
      .argument('<owner/name>', 'repository')
      .addOption(new Option('--state <state>', 'only these').choices(['open', 'closed', 'all']).default('open'))
      .option('--label <labels>', 'with all of these labels, separated by commas')
      .option('--author <user>', 'opened by this user')
      .option('--assignee <user>', 'assigned to this user, or none')
      .option('--milestone <title>', 'in this milestone, or none')
      .option('--search <words>', 'with these words in the title')
      .addOption(
        new Option('--sort <by>', 'order')
          .choices(['newest', 'oldest', 'updated', 'least-updated', 'comments', 'least-comments'])
          .default('newest'),
      )
      .option('--limit <number>', 'at most as many', '100')
      .option('--as <user>', 'show what this user sees')
      .action(run(listIssues)),
    'hearth issue list alice/garden',
    'hearth issue list alice/garden --label kind/bug --state all --json',
  );
  withExamples(
    issue
      .command('show')
      .description('show one issue with its comments')
      .argument('<owner/name>', 'repository')
      .argument('<number>', 'number of the issue')
      .option('--as <user>', 'show what this user sees')
      .action(run(showIssue)),
    'hearth issue show alice/garden 7',
  );
  addIssueWriteCommands(issue, run);
  addIssueChangeCommands(issue, run);
}

interface ListOptions extends AsOption {
  state: IssueFilter['state'];
  label?: string;
  author?: string;
  assignee?: string;
  milestone?: string;
  search?: string;
  sort: IssueFilter['sort'];
  limit: string;
}

const listIssues: Action<ListOptions, [string]> = async (cli, options, text) => {
  const limit = readCount(options.limit);
  const modules = await cli.openModules();
  const { noFilter } = await import('../../issues/index.ts');
  const viewer = await actorOf(modules, options);
  const at = await repositoryOf(modules, viewer, text);
  const filter: IssueFilter = {
    ...noFilter,
    state: options.state,
    labels: listIn(options.label) ?? [],
    author: options.author ?? null,
    assignee: options.assignee ?? null,
    milestone: options.milestone ?? null,
    words: (options.search ?? '').split(/\s+/).filter((word) => word !== ''),
    sort: options.sort,
  };
  const rows: DescribedIssue[] = [];
  let after: string | null = null;
  do {
    const paging: { limit: number; after: string | null } = { limit: Math.min(limit - rows.length, 100), after };
    const page = await modules.issues.list(viewer, at, filter, paging);
    rows.push(...(await modules.issues.describe(page.rows)));
    after = page.next;
  } while (after !== null && rows.length < limit);
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
      ['Issue', nameIssue(at)],
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
