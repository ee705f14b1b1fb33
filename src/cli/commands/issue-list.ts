import { Option } from 'commander';
import type { Command } from 'commander';
import type { DescribedIssue, IssueFilter } from '../../issues/index.ts';
import type { PersonViewer } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import type { Cli } from '../cli.ts';
import { actorOf, splitList, repositoryOf } from './issue-output.ts';
import type { AsOption } from './issue-output.ts';
import { readCount } from './read-count.ts';

/** Options of lists of issues and of pull requests. */
export interface ListOptions extends AsOption {
  state: IssueFilter['state'];
  label?: string;
  author?: string;
  assignee?: string;
  milestone?: string;
  search?: string;
  base?: string;
  head?: string;
  sort: IssueFilter['sort'];
  limit: string;
}

type Kind = Exclude<IssueFilter['kind'], 'any'>;

const states: Record<Kind, readonly IssueFilter['state'][]> = {
  issue: ['open', 'closed', 'all'],
  pull: ['open', 'closed', 'merged', 'all'],
};

/** Adds the options of a list; pull requests also have options for branches. */
export function withListOptions(command: Command, kind: Kind): Command {
  command
    .argument('<owner/name>', 'repository')
    .addOption(new Option('--state <state>', 'only issues in this state').choices(states[kind]).default('open'))
    .option('--label <labels>', 'with all of these labels, separated by commas')
    .option('--author <user>', 'opened by this user')
    .option('--assignee <user>', 'assigned to this user, or none')
    .option('--milestone <title>', 'in this milestone, or none')
    .option('--search <words>', 'with these words in the title, text or comments');
  if (kind === 'pull')
    command
      .option('--base <branch>', 'with this base branch')
      .option('--head <branch>', 'with this head branch: branch, owner:branch or owner/name:branch');
  return command
    .addOption(
      new Option('--sort <by>', 'order')
        .choices(['newest', 'oldest', 'updated', 'least-updated', 'comments', 'least-comments'])
        .default('newest'),
    )
    .option('--limit <number>', 'maximum number to list', '100')
    .option('--as <user>', 'show only content visible to this user');
}

/**
 * The rows of such a list, page by page up to the limit.
 * @param text `owner/name`
 * @param show additional fields of a row
 */
export async function readList<Row>(
  cli: Cli,
  options: ListOptions,
  text: string,
  kind: Kind,
  show: (modules: Modules, viewer: PersonViewer, issues: DescribedIssue[]) => Promise<Row[]>,
): Promise<Row[]> {
  const limit = readCount(options.limit);
  const modules = await cli.openModules();
  const { noFilter } = await import('../../issues/index.ts');
  const viewer = await actorOf(modules, options);
  const at = await repositoryOf(modules, viewer, text);
  const filter: IssueFilter = {
    ...noFilter,
    kind,
    state: options.state,
    labels: splitList(options.label) ?? [],
    author: options.author ?? null,
    assignee: options.assignee ?? null,
    milestone: options.milestone ?? null,
    base: options.base ?? null,
    head: options.head ?? null,
    words: (options.search ?? '').split(/\s+/).filter((word) => word !== ''),
    sort: options.sort,
  };
  const rows: Row[] = [];
  let after: string | null = null;
  do {
    const paging: { limit: number; after: string | null } = { limit: Math.min(limit - rows.length, 100), after };
    const page = await modules.issues.list(viewer, at, filter, paging);
    rows.push(...(await show(modules, viewer, await modules.issues.describe(page.rows))));
    after = page.next;
  } while (after !== null && rows.length < limit);
  return rows;
}
