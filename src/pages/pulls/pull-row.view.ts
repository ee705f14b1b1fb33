import type { ListedIssue } from '../../issues/index.ts';
import type { DescribedPull } from '../../pulls/index.ts';
import { t, translated } from '../../translation/index.ts';
import { viewCommitState } from '../app/commit-state.view.ts';
import { viewName } from '../app/printable-names.ts';
import type { StatusIconView } from '../app/status-icon.view.ts';
import { viewIssueRow } from '../issues/issue-row.view.ts';
import type { IssueRowView, RowContext } from '../issues/issue-row.view.ts';

interface PullRowView extends IssueRowView {
  isDraft: boolean;
  /** `topic → main`. */
  branches: string | null;
  review: { icon: string; tone: 'good' | 'bad'; text: string } | null;
  checks: StatusIconView | null;
}

const reviews = translated({
  approved: { icon: 'check', tone: 'good', text: 'pulls.pull_row.approved' },
  changes_requested: { icon: 'alert', tone: 'bad', text: 'pulls.pull_row.changes_requested' },
} as const);

/** A row in a list of pull requests; if its details were deleted since the query, the row of an issue. */
export function viewPullRow(issue: ListedIssue, described: DescribedPull | undefined, around: RowContext): PullRowView {
  const row = viewIssueRow(issue, around);
  if (described === undefined) return { ...row, isDraft: false, branches: null, review: null, checks: null };
  const { pull, head, review, checks } = described;
  const isOpen = issue.state === 'OPEN';
  const isDraft = isOpen && pull.isDraft;
  return {
    ...row,
    state: isDraft ? { icon: 'pull', tone: 'off', title: t('pulls.pull_row.draft') } : row.state,
    isDraft,
    branches: `${viewName(head.label)} → ${viewName(pull.baseBranch)}`,
    review: review === null || !isOpen ? null : reviews[review],
    checks: checks === null ? null : viewChecks(checks, row.url),
  };
}

function viewChecks(state: Parameters<typeof viewCommitState>[0], url: string): StatusIconView {
  const view = viewCommitState(state);
  return { ...view, url: `${url}#merge`, title: t('pulls.pull_row.checks_text', { text: view.text.toLowerCase() }) };
}
