import { isLocalAdministrator } from './viewer.ts';
import type { Viewer } from './viewer.ts';

/** A SQL condition with named parameters, ready for a query builder's `where`. */
export interface SqlCondition {
  sql: string;
  parameters: Record<string, unknown>;
}

/**
 * The read half of the access policy as a condition on rows of `repositories`.
 *
 * Lists and searches filter with this in the query itself: a filter applied
 * afterwards leaks through counts, paging and time. It must agree with
 * `repositoryLevel(…) !== 'none'`; a test compares the two over generated data.
 *
 * @param alias the table alias of `repositories` in the query, from code, never from input
 */
export function visibleRepositories(viewer: Viewer, alias: string): SqlCondition {
  if (isLocalAdministrator(viewer)) return { sql: '1 = 1', parameters: {} };
  const present = `${alias}.deleted_at IS NULL`;
  const open = `${alias}.visibility = 'PUBLIC'`;
  if (viewer.kind === 'anonymous') return { sql: `${present} AND ${open}`, parameters: {} };
  if (viewer.kind === 'task') {
    return {
      sql: `${present} AND (${open} OR ${alias}.id = :taskRepositoryId)`,
      parameters: { taskRepositoryId: viewer.repositoryId },
    };
  }

  const parameters: Record<string, unknown> = { viewerId: viewer.id };
  let tied = `(${alias}.owner_user_id = :viewerId
    OR EXISTS (SELECT 1 FROM organisation_members m
      WHERE m.organisation_id = ${alias}.owner_org_id AND m.user_id = :viewerId)
    OR EXISTS (SELECT 1 FROM collaborators c
      WHERE c.repository_id = ${alias}.id AND c.user_id = :viewerId))`;
  if (viewer.repositoryIds !== null) {
    const names = viewer.repositoryIds.map((id, index) => {
      parameters[`tokenRepository${index}`] = id;
      return `:tokenRepository${index}`;
    });
    tied = names.length === 0 ? '1 = 0' : `(${alias}.id IN (${names.join(', ')}) AND ${tied})`;
  }
  return { sql: `${present} AND (${open} OR ${tied})`, parameters };
}
