import { allows } from './level.ts';
import { isLocalAdministrator } from './viewer.ts';
import type { Viewer } from './viewer.ts';
import { visibleRepositories } from './visible-repositories.ts';
import type { SqlCondition } from './visible-repositories.ts';

/**
 * The read half of the issue policy as a condition on rows of `issues` and `repositories`. It must agree with
 * `refusalOnIssue(…, 'read') === null`; a test compares the two over generated data.
 *
 * @param repository the table alias of `repositories` in the query, from code, never from input
 * @param issue the table alias of `issues`
 */
export function visibleIssues(viewer: Viewer, repository: string, issue: string): SqlCondition {
  const { sql, parameters } = visibleRepositories(viewer, repository);
  const present = `${issue}.deleted_at IS NULL`;
  if (isLocalAdministrator(viewer)) return { sql: `(${sql}) AND ${present}`, parameters };
  const reasons = [`${issue}.held_at IS NULL`];
  // A deploy key only serves git.
  if (viewer.kind === 'deployKey') return { sql: '1 = 0', parameters: {} };
  if (viewer.kind === 'task' && viewer.scope === 'write') reasons.push(`${repository}.id = :taskRepositoryId`);
  if (viewer.kind === 'person') {
    reasons.push(`${issue}.author_id = :viewerId`);
    if (allows(viewer.scope, 'write')) reasons.push(writes(viewer.repositoryIds, repository));
  }
  return { sql: `(${sql}) AND ${present} AND (${reasons.join(' OR ')})`, parameters };
}

/** Whether the viewer has `write`, with the parameters of `visibleRepositories`. */
function writes(repositoryIds: readonly string[] | null, repository: string): string {
  const tied = `(${repository}.owner_user_id = :viewerId
    OR EXISTS (SELECT 1 FROM organisation_members w
      WHERE w.organisation_id = ${repository}.owner_org_id AND w.user_id = :viewerId AND w.role IN ('MEMBER', 'OWNER'))
    OR EXISTS (SELECT 1 FROM collaborators w
      WHERE w.repository_id = ${repository}.id AND w.user_id = :viewerId AND w.role IN ('write', 'admin'))
    OR (${repository}.owner_org_id IS NOT NULL AND EXISTS (SELECT 1 FROM team_grants w
      WHERE w.repository_id = ${repository}.id AND w.user_id = :viewerId AND w.role IN ('write', 'admin'))))`;
  if (repositoryIds === null) return tied;
  const names = repositoryIds.map((_, index) => `:tokenRepository${index}`);
  return names.length === 0 ? '1 = 0' : `(${repository}.id IN (${names.join(', ')}) AND ${tied})`;
}
