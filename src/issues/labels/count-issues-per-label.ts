import type { Viewer } from '../../access/index.ts';
import type { IssueDeps } from '../deps.ts';
import { findRepositoryContext } from '../find-issue.ts';
import { countIssues } from '../repository-settings.ts';
import type { LabelScope } from './manage-labels.ts';

/** Open issues up to which they are counted: the time of a page grows with them. */
const mostCounted = 10_000;

/**
 * How many open issues of a repository have each label, by its id; labels of none are left out. Null where there are
 * too many to count, and for an organisation's own list, which would count in repositories that the viewer may not see.
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
