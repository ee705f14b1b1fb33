import type { Viewer } from '../../access/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findIssue } from '../find-issue.ts';
import type { IssueAt } from '../issue-context.ts';

/** Limit of texts to scan; later authors of a longer issue are not listed. */
const maxTexts = 1_000;
const maxParticipants = 50;

/** UUIDs of the authors in an issue, in the order of their first text; ignores held entries. */
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
