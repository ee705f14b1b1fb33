import type { Viewer } from '../../access/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findIssue } from '../find-issue.ts';
import type { IssueAt } from '../issue-context.ts';

/** Texts that are looked at; who writes only later in a longer issue is not listed. */
const maxTexts = 1_000;
const maxParticipants = 50;

/** UUIDs of those who wrote in an issue, in the order of their first text; what waits for a member does not count. */
export async function listParticipants(deps: IssueDeps, viewer: Viewer, at: IssueAt): Promise<string[]> {
  const { issue } = await findIssue(deps, viewer, at);
  const rows: { id: string }[] = await deps.db.read.query(
    `SELECT e.author_id AS id FROM issue_entries e
     WHERE e.issue_id = ? AND e.kind IN ('opened', 'comment') AND e.author_id IS NOT NULL
       AND e.deleted_at IS NULL AND e.held_at IS NULL
     ORDER BY e.position LIMIT ?`,
    [issue.id, maxTexts],
  );
  return [...new Set(rows.map(({ id }) => id))].slice(0, maxParticipants);
}
