import type { Viewer } from '../../access/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findRepositoryContext } from '../find-issue.ts';
import { countIssues } from '../repository-settings.ts';
import type { LabelScope } from './manage-labels.ts';

/** Limit of open issues to count: page time grows with them. */
const mostCounted = 10_000;

/**
 * Number of open issues of a repository per label id; omits unused labels. Null if there are too many to count, and for
 * an organisation's own list, which would count in repositories hidden from the viewer.
 */
export async function countIssuesPerLabel(
  deps: IssueDeps,
  viewer: Viewer,
  scope: LabelScope,
): Promise<ReadonlyMap<string, number> | null> {
  if (!('repository' in scope)) return null;
  const { repository } = await findRepositoryContext(deps, viewer, scope.repository);
  if ((await countIssues(deps, repository.id)).openIssues > mostCounted) return null;
  const rows: { id: string; n: number }[] = await deps.db.read.query(
    `SELECT x.label_id AS id, count(*) AS n FROM issues i CROSS JOIN issue_labels x
      WHERE i.repository_id = ? AND i.kind = 'ISSUE' AND i.state = 'OPEN' AND i.deleted_at IS NULL AND i.held_at IS NULL
        AND x.issue_id = i.id
      GROUP BY x.label_id`,
    [repository.id],
  );
  return new Map(rows.map(({ id, n }) => [id, Number(n)]));
}
