import type { PersonViewer } from '../../access/index.ts';
import type { Modules } from '../../app/index.ts';
import type { DescribedIssue, IssueAt } from '../../issues/index.ts';
import type { DescribedPull } from '../../pulls/index.ts';
import type { Cli } from '../cli.ts';
import { isoOrNull } from '../terminal/output.ts';
import type { Column } from '../terminal/output.ts';
import { authorOf, issueAt, issueToJson, formatIssueReference } from './issue-output.ts';

/** A pull request in the output of commands. */
interface ShownPull extends DescribedPull {
  issue: DescribedIssue;
}

/** Location of a pull request. Throws `usage` for an invalid number. */
export const pullAt = issueAt;
export const formatPullReference = formatIssueReference;

/** Pull requests among described issues, in their order. */
export async function describePulls(
  modules: Modules,
  viewer: PersonViewer,
  issues: readonly DescribedIssue[],
): Promise<ShownPull[]> {
  const pulls = await modules.pulls.describe(viewer, issues);
  return issues.flatMap((issue) => {
    const pull = pulls.get(issue.id);
    return pull === undefined ? [] : [{ ...pull, issue }];
  });
}

/** One pull request. Refuses what `pulls.find` does. */
export async function findPull(modules: Modules, viewer: PersonViewer, at: IssueAt): Promise<ShownPull> {
  const { issue } = await modules.pulls.find(viewer, at);
  const [shown] = await describePulls(modules, viewer, await modules.issues.describe([issue]));
  return shown!;
}

/** An open draft is `draft`. */
export const stateOf = ({ issue, pull }: ShownPull): string =>
  issue.state === 'OPEN' && pull.isDraft ? 'draft' : issue.state.toLowerCase();

export const pullColumns: Column<ShownPull>[] = [
  { title: 'NUMBER', cell: ({ issue }) => issue.number, align: 'right' },
  { title: 'TITLE', cell: ({ issue }) => issue.title },
  { title: 'STATE', cell: stateOf },
  { title: 'AUTHOR', cell: ({ issue }) => authorOf(issue) },
  { title: 'BRANCH', cell: ({ head }) => head.label },
  { title: 'INTO', cell: ({ pull }) => pull.baseBranch },
  { title: 'ROUND', cell: ({ pull }) => pull.lastRound, align: 'right' },
  { title: 'REVIEW', cell: ({ review }) => review ?? '' },
  { title: 'CHECKS', cell: ({ checks }) => checks ?? '' },
  { title: 'UPDATED', cell: ({ issue }) => ({ epochMs: issue.updatedAt, otherwise: '' }) },
];

export const pullToJson = (shown: ShownPull): object => {
  const { issue, pull, head, review, checks } = shown;
  return {
    ...issueToJson(issue),
    draft: pull.isDraft,
    base: pull.baseBranch,
    head: head.label,
    headOid: pull.headOid,
    baseOid: pull.baseOid,
    round: pull.lastRound,
    review,
    checks,
    mergeState: pull.mergeState.toLowerCase(),
    mergedAt: isoOrNull(pull.mergedAt),
    mergedOid: issue.state === 'MERGED' ? pull.mergedOid : null,
  };
};

/** Output of a command that changed a pull request: one line, or the whole pull request. */
export async function printChangedPull(
  cli: Cli,
  modules: Modules,
  viewer: PersonViewer,
  at: IssueAt,
  line: string,
): Promise<void> {
  cli.output.result(line, pullToJson(await findPull(modules, viewer, at)));
}
