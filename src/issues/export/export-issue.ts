import type { Viewer } from '../../access/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findIssue } from '../find-issue.ts';
import { issueNotFound } from '../issue-errors.ts';
import type { IssueAt } from '../issue-context.ts';
import { withDetails } from '../lists/read-issues.ts';
import { issueAsJson } from './issue-json.ts';
import { issueAsMarkdown } from './issue-markdown.ts';

/**
 * The log of one issue for a viewer who can read it, in chunks: the content of a repository export, without user ids
 * and previous texts. Throws `repository_not_found`, `issue_not_found`; held issues have no export.
 */
export async function exportIssue(
  deps: IssueDeps,
  viewer: Viewer,
  at: IssueAt,
  format: 'json' | 'markdown',
): Promise<AsyncGenerator<string>> {
  const { issue } = await findIssue(deps, viewer, at);
  if (issue.heldAt !== null) throw issueNotFound();
  const [listed] = await withDetails(deps, [issue]);
  return format === 'json' ? issueAsJson(deps, listed!) : issueAsMarkdown(deps, listed!);
}
